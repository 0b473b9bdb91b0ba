"""Judge a release in parts against the files that it was made from: all records where they fit, else a sample."""

from __future__ import annotations

from collections.abc import Iterable, Iterator, Sequence
from dataclasses import dataclass, field, replace
from functools import cached_property
from pathlib import Path
from typing import TYPE_CHECKING, Any

import numpy as np

from microagg._typing import IntArray
from microagg._validation import Integer, Real, check_parameters
from microagg.engines.evaluation.marginals import MARGINAL, TOO_SMALL, compare_marginals
from microagg.engines.evaluation.sample import Chosen, choose_records, read_up_to
from microagg.engines.evaluation.totals import Totals, add_up
from microagg.engines.files import FileSource, find_files
from microagg.errors import InputError, ParameterError, TableError
from microagg.evaluation.alignment import Rows, rows_by_key
from microagg.evaluation.definition import MeasureResult, choose
from microagg.evaluation.evaluate import judge, reads_bounds
from microagg.evaluation.measures import all_measures
from microagg.evaluation.pairs import combinations
from microagg.evaluation.result import Evaluation, Measure, Sampled
from microagg.evaluation.utility.structure import OF_PUBLISHED_MOMENTS
from microagg.evaluation.utility.values import mean_of
from microagg.evaluation.utility.variation import OF_MOMENTS
from microagg.recipe.recipe import Recipe
from microagg.releases.folder.saved import SavedRelease
from microagg.releases.input import numbers_of_text
from microagg.schema.attribute import Role
from microagg.statements.parts import PartsCount, count_parts
from microagg.tables.formats.registry import format_of
from microagg.tables.frames import Frame
from microagg.tables.parts.files import read_part, rows_of_parts

if TYPE_CHECKING:
    import pyarrow as pa

__all__ = ["SAMPLE", "ComparedFiles", "Together", "evaluate_files"]

SAMPLE = 200_000
"""About so many records of each table are looked at if it has more."""

ESTIMATED = (
    *("D_X", "D_Y", "D", "SSE_SST", "IL1s", "relative_error", "semantic_distance", "IL", *MARGINAL),
    *("rank_correlation_difference", "pMSE", "range_query_error", "count_query_error", *OF_MOMENTS),
    *OF_PUBLISHED_MOMENTS,
    *("singled_out", "agreement", "l_avg", "distinct_l_mean", "label_purity", "attribute_disclosure"),
    *("attribute_disclosure_gain", "interval_disclosure_value", "interval_disclosure_rank"),
)
"""Measures that are means over records, classes or attributes: a sample of whole classes estimates them."""

_COUNTED = ("k", "k_prime", "singled_out", "unique_values", "agreement")
_NOT_OF_A_SAMPLE = (
    "a sample does not show it, as it is the smallest or largest of all, or depends on how many records there are; "
    "with a sample as large as the table it is measured"
)
_NULL_DOES_NOT_HOLD = (
    "of two samples of different records, one of them by classes, its value by chance is not known: name a key, so "
    "that the same records are compared"
)
_TOO_LARGE = "rather too large: shares and correlations of two samples are about"
_OF_TWO_SAMPLES = ("rank_correlation_difference", "range_query_error", "count_query_error")
_NOT_ALIGNED = (
    "needs aligned rows (row i of both tables the same record), and a release in parts keeps no record of which row "
    "stands for which: name a key, a column that tells records apart and is published as it is"
)


def evaluate_files(
    original: str | Path,
    released: str | Path,
    recipe: Recipe | None = None,
    *,
    sample: int = SAMPLE,
    measures: str | Iterable[str] | None = None,
    key: str | None = None,
    lambda_: float = 0.5,
    holdout: str | Path | None = None,
    target: str | None = None,
    test: str | Path | None = None,
    model: Any = "gradient_boosting",
    seed: int = 0,
) -> Evaluation:
    """Measure utility and risk of a release in parts, which need not fit in memory.

    Tables of no more than `sample` records are measured whole, as :func:`microagg.evaluate` does. Of larger ones, what
    can be added up or counted is of all records; other means are estimated on a sample; what a sample does not show has
    no value, and says so.

    Parameters
    ----------
    original : path or pattern
        A Parquet or CSV file, a folder of them, or a pattern like ``"data/*.parquet"``.
    released : path
        The folder of a release in parts.
    recipe : Recipe, optional
        What each column is; default: the release's own.
    sample : int, default 200_000
        About so many records of each table are looked at if it has more: of the release whole classes of equal
        quasi-identifiers.
    seed : int, default 0
        Fixes the sample and the draws of measures that draw: the same figures again, whatever files hold the records.
    measures, key, lambda_, target, model
        As in :func:`microagg.evaluate`.
    holdout, test : path or pattern, optional
        Files of records that had no part in the release.

    Returns
    -------
    Evaluation
        Its `sampled` says how many records of how many were looked at; None if all were.
    """
    check_parameters(
        "evaluate_files",
        {"lambda_": Real(0.0, 1.0), "seed": Integer(0), "sample": Integer(1)},
        {"lambda_": lambda_, "seed": seed, "sample": sample},
    )
    if (test is not None) if target is None else (test is None and holdout is None):
        raise ParameterError(
            "target and test belong together: what to predict, and records to test on that had no part in the release"
        )
    files = ComparedFiles.open(original, released, recipe, sample=sample, seed=seed, key=key)
    apart = None if holdout is None else files.read_others(holdout)
    options = {
        "lambda_": lambda_,
        "target": target,
        "test": apart if test is None else files.read_others(test),
        "model": model,
        "sampling_weight": files.recipe.sampling_weight,
    }
    return files.evaluate(measures, holdout=apart, options=options)


@dataclass(frozen=True)
class Together:
    """Records of both tables that are held in memory: all, or those that were chosen.

    Attributes
    ----------
    before, after : Frame
    rows : Rows
        Which original record each released one came from, if a key tells.
    original, released : Chosen or None
        What was chosen of which; None if all records are there.
    """

    before: Frame
    after: Frame
    rows: Rows
    original: Chosen | None = None
    released: Chosen | None = None

    @property
    def is_whole(self) -> bool:
        return self.released is None


@dataclass(frozen=True)
class ComparedFiles:
    """The files of an original and of a release in parts."""

    source: FileSource
    saved: SavedRelease
    recipe: Recipe
    most: int = SAMPLE
    seed: int = 0
    key: str | None = None
    n_released: int = field(default=0)

    @classmethod
    def open(
        cls,
        original: str | Path,
        released: str | Path,
        recipe: Recipe | None = None,
        *,
        sample: int = SAMPLE,
        seed: int = 0,
        key: str | None = None,
    ) -> ComparedFiles:
        """Find the files.

        Raises
        ------
        InputError
            If there are none, their columns are not those of the recipe, or the release is not in parts.
        """
        saved = SavedRelease.open(Path(released))
        if not saved.in_parts:
            raise InputError(f"the release {saved.folder.name!r} is not in parts: microagg.evaluate takes its table")
        recipe = saved.recipe if recipe is None else recipe
        source = _open(original, recipe)
        n_released = rows_of_parts(saved.tables, source.names)
        for name in {key} - {None, *source.names}:
            raise TableError(f"{name!r} is not a published column of both tables, which a key must be")
        return cls(source, saved, recipe, sample, seed, key, n_released)

    def released(self) -> Iterator[pa.Table]:
        """The released table, file by file."""
        for path in self.saved.tables:
            yield read_part(path, self.source.names).select(self.source.names).replace_schema_metadata(None)

    def read_others(self, files: str | Path) -> Frame:
        """Records that had no part in the release; a sample of them if there are many."""
        source = _open(files, self.recipe)
        table = read_up_to(source.batches(), self.most)
        if table is None:
            table = choose_records(source.batches, self.most, self.seed, what="other records").table
        return self._frame(table)

    def _frame(self, table: pa.Table) -> Frame:
        return Frame.wrap(numbers_of_text(table, self.recipe))

    @cached_property
    def together(self) -> Together:
        """All records of both tables if they are few enough; else those that were chosen."""
        if self.n_released <= self.most:
            before = read_up_to(self.source.batches(), self.most)
            if before is not None:
                import pyarrow as pa

                return self._put_together(before, pa.concat_tables(list(self.released())))
        names = self.recipe.schema.quasi_identifiers
        after = choose_records(self.released, self.most, self.seed, classes=names, what="classes of the release")
        if self.key is None:
            chosen = choose_records(self.source.batches, self.most, self.seed, what="records of the original")
        else:
            chosen = self._with_keys(after.table)
        return self._put_together(chosen.table, after.table, chosen, after)

    def _put_together(
        self, before: pa.Table, after: pa.Table, original: Chosen | None = None, released: Chosen | None = None
    ) -> Together:
        first, second = self._frame(before), self._frame(after)
        rows = Rows(None, _NOT_ALIGNED) if self.key is None else Rows(rows_by_key(first, second, self.key))
        return Together(first, second, rows, original, released)

    def _with_keys(self, after: pa.Table) -> Chosen:
        """The original records that have the keys of the released ones."""
        import pyarrow as pa
        import pyarrow.compute as pc

        assert self.key is not None
        n_records, kept = 0, []
        keys = after.column(self.key).combine_chunks()
        for batch in self.source.batches():
            n_records += batch.num_rows
            kept.append(
                batch.filter(pc.is_in(batch.column(self.key), value_set=keys.cast(batch.column(self.key).type)))
            )
        table = pa.concat_tables(kept)
        return Chosen(table.take(pc.sort_indices(table.column(self.key))), n_records)

    @cached_property
    def counted(self) -> PartsCount:
        """What was counted on all released files together."""
        return count_parts(self.saved.tables, self.recipe.schema.quasi_identifiers, self.recipe)

    @cached_property
    def totals(self) -> Totals:
        """What all records of both tables give."""
        both = self.together
        return add_up(self.source.batches(), self.released(), both.before, both.after, self.recipe)

    def evaluate(
        self,
        measures: str | Iterable[str] | None = None,
        *,
        holdout: Frame | None = None,
        options: dict[str, Any] | None = None,
    ) -> Evaluation:
        """Take measures on all records, or as many of them as can be had."""
        both, schema = self.together, self.recipe.schema

        def take(names: str | Iterable[str] | None) -> Evaluation:
            return judge(
                *(both.before, both.after, schema, both.rows),
                measures=names,
                holdout=holdout,
                options={**(options or {}), "bounds_from_data": reads_bounds(self.recipe)},
                seed=self.seed,
            )

        if both.is_whole:
            return take(measures)
        chosen = choose(all_measures(), measures)
        exact = self._exact([one.name for one in chosen])
        unknown = {} if self.key is not None else {"pMSE": _NULL_DOES_NOT_HOLD}
        found = take([one.name for one in chosen if one.name in {*ESTIMATED, *exact} - set(unknown)])
        listed: list[Measure] = []
        for one in chosen:
            if one.name not in found:
                why = unknown.get(one.name, _NOT_OF_A_SAMPLE)
                listed.append(one.without_value(why, {"lambda_": 0.5} | dict(options or {})))
                continue
            result = exact.get(one.name)
            listed.append(self._of_some(found[one.name]) if result is None else self._of_all(found[one.name], result))
        names = {one.name for one in listed}
        listed += [one for one in found if one.name not in names]  # of models, if there is a target
        estimated = tuple(one.name for one in listed if one.value is not None and one.name not in exact)
        said = [(one.name, one.note.rpartition("; ")[2]) for one in listed]
        remarks = tuple(f"{name}: {note}" for name, note in said if note.startswith((TOO_SMALL, _TOO_LARGE)))
        return Evaluation(tuple(listed), sampled=replace(self._sampled(estimated), remarks=remarks))

    def _of_all(self, found: Measure, result: MeasureResult) -> Measure:
        high = float(self.n_released) if found.name in ("k", "k_prime") else found.high
        return replace(found, value=result.value, details=result.details, note=result.note or found.note, high=high)

    def _of_some(self, found: Measure) -> Measure:
        """A measure of a sample; if the two samples are not of the same records, with what that may do to it."""
        if self.key is not None or found.value is None or found.name not in _OF_TWO_SAMPLES:
            return found
        said = f"{_TOO_LARGE} {self._noise:.1g} apart by chance"
        return replace(found, note=f"{found.note}; {said}" if found.note else said)

    @cached_property
    def _class_sizes(self) -> IntArray:
        return np.bincount(combinations(self.together.after, self.recipe.schema.quasi_identifiers)).astype(np.int64)

    @property
    def _noise(self) -> float:
        sizes = self._class_sizes.astype(np.float64)
        if not len(sizes) or not self.together.before.n_records:
            return 1.0
        independent = sizes.sum() ** 2 / (sizes**2).sum()  # records of a class come together
        return float(np.sqrt(1.0 / self.together.before.n_records + 1.0 / independent))

    def _exact(self, names: Sequence[str]) -> dict[str, MeasureResult]:
        """Measures that all records give, by counting them or adding them up."""
        found: dict[str, MeasureResult] = {}
        wanted = set(names)
        if wanted & set(_COUNTED):
            found |= self._counted_measures()
        if wanted & {*OF_MOMENTS, *OF_PUBLISHED_MOMENTS, *MARGINAL, "categories_lost"}:
            totals = self.totals
            if totals.of_quasi_identifiers is not None:
                found |= {name: of(totals.of_quasi_identifiers) for name, of in OF_MOMENTS.items()}
            if totals.of_published is not None:
                found |= {name: of(totals.of_published) for name, of in OF_PUBLISHED_MOMENTS.items()}
            if wanted & set(MARGINAL):
                found |= compare_marginals(self.source.batches(), self.released(), totals, self.recipe)
            lost = totals.categories_lost
            needs = "needs a nominal or ordinal quasi-identifier"
            found["categories_lost"] = mean_of(lost) if lost else MeasureResult(None, needs)
        chosen = self.together.original
        assert chosen is not None
        found["distance_linkage_by_chance"] = MeasureResult(1.0 / chosen.n_records)
        return {name: one for name, one in found.items() if name in wanted}

    def _counted_measures(self) -> dict[str, MeasureResult]:
        recount, exposure = self.counted.recount, self.counted.exposure
        n = recount.n_records
        found = {
            "k": MeasureResult(float(recount.smallest)),
            "k_prime": MeasureResult(n / recount.n_combinations),
        }
        if recount.smallest > 1:
            found["singled_out"] = MeasureResult(0.0)
        agreeing: dict[str, float | None] = {one.attribute: one.records / n for one in exposure.agreements}
        single: dict[str, float | None] = {one.attribute: one.values / n for one in exposure.singles}
        for name, details, roles in (
            ("agreement", agreeing, (Role.CONFIDENTIAL,)),
            ("unique_values", single, (Role.CONFIDENTIAL, Role.NON_CONFIDENTIAL)),
        ):
            ordered = {of: details[of] for of in self.recipe.schema.of_role(*roles) if of in details}
            if ordered:
                found[name] = MeasureResult(max(one or 0.0 for one in ordered.values()), details=ordered)
        return found

    def _sampled(self, estimated: tuple[str, ...]) -> Sampled:
        both = self.together
        assert both.original is not None
        assert both.released is not None
        return Sampled(
            released=both.after.n_records,
            of_released=self.n_released,
            classes=len(self._class_sizes),
            of_classes=self.counted.recount.n_combinations,
            in_part=both.released.n_in_part,
            original=both.before.n_records,
            of_original=both.original.n_records,
            noise=self._noise,
            estimated=estimated,
        )


def _open(files: str | Path, recipe: Recipe) -> FileSource:
    """The files of a table; in words that fit who compares tables."""
    kind = format_of(find_files(files)[0])
    if kind.name not in ("parquet", "csv", "csv.gz", "tsv"):
        raise InputError(f"{kind.title} files cannot be read in parts; only Parquet and CSV can. Convert them")
    return FileSource.open(files, recipe)
