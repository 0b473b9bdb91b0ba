"""Individual ranking of a table in pieces, from frequencies alone.

Call, in this order:

1. :func:`~microagg.engines.counts.rules.find_unsupported_counts` with the recipe: nothing must stand in the way.
2. :func:`plan_ranking`: one pass for the frequencies (or one for every few attributes), and one more if a value lies
   across the border of runs. Every refusal of :func:`microagg.release` is raised here.
3. For every batch, :meth:`Ranking.part_of`: to which part of the release each record goes (-1: left out). Records that
   are alike in all columns go to the same part.
4. For every part, :meth:`Ranking.release_part` on all its records together: what is written, in an order of chance.
5. On the written files, :func:`count_ranked_parts` and :func:`state_ranking`; the manifest has
   ``ranking.stages.as_list(recipe.entry, recipe.k)``.

What is equal to what. Every column of the release has the same values, each as often and to the last digit, as in
:func:`microagg.release` of the whole table, however the table is cut into pieces. Whole rows are those of
:func:`microagg.release` of the records sorted by :func:`~microagg.engines.counts.ties.numbers_of_rows`: of equal values
on both sides of a border, :func:`microagg.release` puts those first that stand first in the table, which says nothing
here, and so rows may differ from those of another order where values tie. Two exceptions: where fewer than k missing
values are merged with others, they are placed at the mean of the attribute, and a value that equals it may come before
or after them; and small strata that join the smallest of the others may join another one of the same size.

Memory: that of the frequencies, some 24 bytes for each distinct value of the attributes that are counted together;
afterwards some 40 bytes for each run (n / k of them) of each attribute.
"""

from __future__ import annotations

from collections.abc import Sequence
from dataclasses import dataclass, replace
from pathlib import Path
from typing import TYPE_CHECKING

import numpy as np

from microagg._progress import report
from microagg._typing import IntArray
from microagg.engines.counts.passes import Passes
from microagg.engines.counts.ranked import RankedAttribute, RankedFacts, rank_attribute
from microagg.engines.counts.tally import FrequencyTally, count_values, records_that_stay, strata_texts
from microagg.engines.counts.ties import Borders, find_borders, numbers_of_rows, staying_records
from microagg.engines.planning.survey import column_of
from microagg.engines.shard_release import canonical_order
from microagg.engines.shards import generator_for, key_of
from microagg.errors import TableError
from microagg.methods.output import Stages
from microagg.privacy.verify import require_k
from microagg.recipe.choices import MissingPolicy
from microagg.recipe.recipe import Recipe
from microagg.releases.prepare import refuse_missing
from microagg.releases.strategy import strategy_of
from microagg.statements.exposure import Categories, Exposure
from microagg.statements.parts import PartsCount, count_parts, joint_exposure
from microagg.statements.promises import describe_aggregation, describe_space
from microagg.statements.statement import Statement
from microagg.tables.frames import Frame

if TYPE_CHECKING:
    import pyarrow as pa

__all__ = ["Ranking", "count_ranked_parts", "plan_ranking", "state_ranking"]


@dataclass(frozen=True)
class Ranking:
    """What every value of every attribute publishes, for pieces of the table; can be pickled.

    Attributes
    ----------
    recipe : Recipe
    secret : bytes
        The run's; never published.
    attributes : tuple of RankedAttribute
        In the order of the table.
    borders : tuple of Borders
        One for each attribute.
    facts : tuple of RankedFacts
    n_input, n_records : int
        Records of the table, and those that take part.
    """

    recipe: Recipe
    secret: bytes
    attributes: tuple[RankedAttribute, ...]
    borders: tuple[Borders, ...]
    facts: tuple[RankedFacts, ...]
    n_input: int
    n_records: int

    @property
    def stages(self) -> Stages:
        """What the manifest says of space, partition and aggregate."""
        cells = tuple(one.cells for one in self.facts)
        return Stages(cells=cells, space=describe_space(self.recipe), aggregate=describe_aggregation(self.recipe))

    @property
    def information_loss(self) -> float:
        """100 SSE/SST of the runs; of missing values nothing is counted as lost."""
        lost, spread = sum(one.lost for one in self.facts), sum(one.spread for one in self.facts)
        return 100.0 * lost / spread if spread > 0 else 0.0

    @property
    def remarks(self) -> tuple[str, ...]:
        """What the statement says of records and groups."""
        left_out = self.n_input - self.n_records
        remarks = [f"{left_out} records with a missing quasi-identifier were left out"] if left_out else []
        return tuple(dict.fromkeys([*remarks, *(remark for one in self.facts for remark in one.remarks)]))

    def part_of(self, table: pa.Table, n_parts: int) -> IntArray:
        """The part of each record of a batch, 0 to `n_parts` - 1; -1 of those that are left out."""
        numbers = numbers_of_rows(table, key_of(self.secret, "parts"))
        parts = (numbers % np.uint64(n_parts)).astype(np.int64)
        stays = records_that_stay(table, self.recipe)
        return parts if stays is None else np.where(stays, parts, -1)

    def release_part(self, table: pa.Table, part: int) -> pa.Table:
        """What is published of a part: all records of the table that :meth:`part_of` puts there.

        The order of rows comes from what is published and from chance alone: the same for any order of `table`.
        """
        recipe = self.recipe
        table = staying_records(table, recipe)
        numbers, strata = numbers_of_rows(table, _key_of_ties(self.secret)), strata_texts(table, recipe)
        arrays = {}
        for attribute, borders in zip(self.attributes, self.borders, strict=True):
            segments = attribute.segments_of(column_of(table, attribute.name), strata)
            pieces = np.full(len(segments), len(attribute.published) - 1)  # of missing values
            pieces[segments >= 0] = attribute.middle[segments[segments >= 0]]
            split = attribute.split_of(segments)
            rows = np.flatnonzero(split >= 0)
            if len(rows):
                split = split[rows]
                is_low, is_high = borders.sides(split, numbers[rows])
                ends = np.where(is_high, attribute.high[split], pieces[rows])
                pieces[rows] = np.where(is_low, attribute.low[split], ends)
            arrays[attribute.name] = attribute.published.take(pieces)
        released = Frame.wrap(table).with_arrays(arrays).table
        order = canonical_order(released)
        order = order[generator_for(self.secret, "order", "ranked", part).permutation(len(order))]
        return Frame.wrap(released.take(order)).without_unused_categories().table


def plan_ranking(passes: Passes, recipe: Recipe, secret: bytes, *, at_once: int | None = None) -> Ranking:
    """Count, rank and cut every attribute.

    Parameters
    ----------
    passes : Passes
    recipe : Recipe
        One that :mod:`~microagg.engines.counts.rules` does not refuse.
    secret : bytes
        What the run's chance comes from.
    at_once : int, optional
        How many attributes are counted in one pass: fewer take less memory and more passes. Default: all.

    Raises
    ------
    InputError
        What :func:`microagg.release` raises of the table; or the files changed while they were read.
    """
    names = list(recipe.schema.quasi_identifiers)
    step = len(names) if at_once is None else max(at_once, 1)
    found: dict[str, tuple[RankedAttribute, RankedFacts]] = {}
    for start in range(0, len(names), step):
        report("counting values", start / len(names))
        tally = count_values(passes, recipe, names[start : start + step])
        frequencies = {name: counts.finish() for name, counts in tally.counts.items()}
        tally.counts.clear()
        for name, one in frequencies.items():
            one.whole().encoded(recipe.attributes[name])  # whatever is wrong with a value is said before all else
        if start + step >= len(names) or not _is_refused(tally):
            _refuse_records(tally)
            found |= {name: rank_attribute(frequencies.pop(name), recipe) for name in list(frequencies)}
    in_order = [found[name] for name in tally.columns if name in found]
    attributes = tuple(one for one, _ in in_order)
    borders = find_borders(passes, recipe, attributes, _key_of_ties(secret))
    facts = tuple(one for _, one in in_order)
    return Ranking(recipe, secret, attributes, tuple(borders), facts, tally.n_input, tally.n_records)


def _is_refused(tally: FrequencyTally) -> bool:
    """Whether what is missing forbids a release."""
    has_missing = any(tally.n_missing.values()) and tally.recipe.missing.policy is MissingPolicy.ERROR
    return has_missing or tally.n_records < tally.recipe.k


def _refuse_records(tally: FrequencyTally) -> None:
    recipe = tally.recipe
    if recipe.missing.policy is MissingPolicy.ERROR:
        refuse_missing("quasi-identifiers", {name: n for name in tally.columns if (n := tally.n_missing[name])})
    if tally.n_records < recipe.k:
        raise TableError(f"only {tally.n_records} records are complete; k = {recipe.k} needs at least {recipe.k}")


def _key_of_ties(secret: bytes) -> int:
    return key_of(secret, "ties")


def count_ranked_parts(paths: Sequence[Path], ranking: Ranking) -> list[PartsCount]:
    """Count every attribute alone on all written files together.

    Raises
    ------
    GuaranteeError
        If an attribute's rarest value has fewer than k records.
    """
    counted = []
    for attribute in ranking.attributes:
        one = count_parts(paths, [attribute.name], ranking.recipe)
        require_k(one.recount, "the written files together")
        counted.append(one)
    return counted


def state_ranking(ranking: Ranking, counted: Sequence[PartsCount], seed: int | None) -> Statement:
    """The statement of a release whose files were counted, attribute by attribute."""
    recipe = ranking.recipe
    strategy = strategy_of(recipe)
    recounts = tuple(one.recount for one in counted)
    return Statement(
        strategy.guarantees([(one.attributes, ()) for one in recounts]),
        recounts,
        recounts[0].n_records,
        remarks=(*ranking.remarks, *strategy.remarks(seed)),
        seeded=seed is not None,
        exposure=tuple(_exposure(ranking, counted).public()),
    )


def _exposure(ranking: Ranking, counted: Sequence[PartsCount]) -> Exposure:
    """What k does not hide: of several attributes the worst for each confidential one."""
    before = {
        attribute.name: facts.categories for attribute, facts in zip(ranking.attributes, ranking.facts, strict=True)
    }
    after = {name: of_label for one in counted for name, of_label in one.categories.items()}
    named = [name for name in ranking.recipe.schema.quasi_identifiers if name in after]
    return replace(
        joint_exposure(counted),
        categories=tuple(Categories.between(name, before[name], after[name]) for name in named),
    )
