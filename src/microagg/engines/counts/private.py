"""Differentially private releases of a table in pieces, from counts alone; noise is drawn once, by the caller.

Call, in this order:

1. :func:`~microagg.engines.counts.rules.find_unsupported_counts` with the recipe: nothing must stand in the way.
2. :func:`release_from_counts`, with what must be paid before noise is drawn (the `pay` of a
   :class:`~microagg.releases.account.spending.Spending`). Every refusal of :func:`microagg.release` is raised here.
3. Write ``drawn.table`` and ``drawn.statement``; the manifest has ``drawn.stages.as_list(recipe.entry, recipe.k)``,
   ``drawn.n_records`` and no fingerprint of the input.

What is equal to what. With the same seed everything is the same as in :func:`microagg.release` of the whole table, to
the last digit: the table, row by row, and its statement with the budget. The methods ask counts of the records and
nothing else; counts are whole numbers, whose sum no order of pieces changes.

Memory grows with the number of records: the published table is drawn whole, here, and
``dp_individual_ranking`` holds one number for each record of each attribute beside it.
"""

from __future__ import annotations

from collections.abc import Callable, Sequence
from dataclasses import dataclass, replace
from typing import TYPE_CHECKING

import numpy as np

from microagg._progress import report
from microagg.engines.counts.frequencies import Frequencies
from microagg.engines.counts.passes import Passes
from microagg.engines.counts.records import CountedRecords, PointsOf
from microagg.engines.counts.tally import count_values
from microagg.methods.output import MethodOutput, Stages
from microagg.privacy.budget import Budget
from microagg.privacy.noise import Noise, noise_from
from microagg.privacy.verify import require_public
from microagg.private.base import bounds_read_from_data, protect_columns
from microagg.private.public_column import PublicColumn
from microagg.private.public_types import public_field
from microagg.private.strict.method import RankedGraph
from microagg.private.strict.scales import Scale
from microagg.recipe.recipe import Recipe
from microagg.releases.account.spending import pay_first
from microagg.releases.strategy import strategy_of
from microagg.statements.statement import Statement
from microagg.tables.frames import Frame

if TYPE_CHECKING:
    import pyarrow as pa

    from microagg._typing import IntArray

__all__ = ["DrawnRelease", "release_from_counts"]

AS_WRITTEN = "the table as it would be written"


@dataclass(frozen=True)
class DrawnRelease:
    """A private release of a table that was counted in pieces.

    Attributes
    ----------
    table : Arrow table
        As it is to be written.
    statement : Statement
    stages : Stages
        For the manifest.
    n_records : int
        Of the input.
    """

    table: pa.Table
    statement: Statement
    stages: Stages
    n_records: int


def release_from_counts(
    passes: Passes,
    recipe: Recipe,
    *,
    seed: int | None = None,
    before_noise: Callable[[], None] = lambda: None,
) -> DrawnRelease:
    """Count a table in pieces and release it under differential privacy.

    Parameters
    ----------
    passes : Passes
    recipe : Recipe
        One that :mod:`~microagg.engines.counts.rules` does not refuse.
    seed : int, optional
        For research: noise then protects nothing, and the statement says so.
    before_noise : function
        Called before the first noise is drawn.

    Raises
    ------
    InputError
        What :func:`microagg.release` raises of the table; or the files changed while they were read.
    GuaranteeError
        If the budget was not spent as the recipe says, or the table does not look like what the method makes.
    """
    report("counting values", 0.0)
    tally = count_values(passes, recipe)
    frequencies = [tally.counts[name].finish() for name in tally.columns if name in tally.counts]
    tally.counts.clear()
    measured = [_public(one, recipe) for one in frequencies]
    noise = pay_first(noise_from(seed), before_noise)
    output = _protect(passes, measured, [one.stored_format for one in frequencies], recipe, noise)
    strategy = strategy_of(recipe)
    table = _published(output, frequencies, recipe)
    require_public(strategy.findings(table), AS_WRITTEN)
    remarks = dict.fromkeys([*output.remarks, *strategy.remarks(seed)])
    statement = Statement(
        strategy.guarantees(()),
        (),
        table.num_rows,
        remarks=tuple(remarks),
        seeded=seed is not None,
        budget=strategy.describe_budget(output),
    )
    return DrawnRelease(table, statement, output.stages, tally.n_input)


def _public(frequencies: Frequencies, recipe: Recipe) -> tuple[PublicColumn, IntArray]:
    assert recipe.privacy is not None
    name = frequencies.name
    return frequencies.public(
        recipe.attributes[name],
        clamp=recipe.privacy.clamp,
        bounds_from_data=name in bounds_read_from_data(recipe),
    )


def _protect(
    passes: Passes,
    measured: Sequence[tuple[PublicColumn, IntArray]],
    formats: Sequence[str],
    recipe: Recipe,
    noise: Noise,
) -> MethodOutput:
    """Let the recipe's method spend its budget on what was counted."""
    method = recipe.entry.private
    if not isinstance(method, RankedGraph):
        # Sums of runs are those of the values in any order.
        return protect_columns(
            [replace(column, values=np.repeat(column.values, counts)) for column, counts in measured], recipe, noise
        )
    columns = tuple(replace(column, values=np.empty(0)) for column, _ in measured)
    frequencies = [(column.values, counts) for column, counts in measured]

    def records_on(scales: Sequence[Scale]) -> CountedRecords:
        return CountedRecords(passes, PointsOf(columns, tuple(scales), tuple(formats)), frequencies)

    def spend(columns: Sequence[PublicColumn], recipe: Recipe, noise: Noise, budget: Budget) -> MethodOutput:
        n_records = int(measured[0][1].sum())
        return method.protect_records(columns, n_records, records_on, recipe, noise, budget)

    return protect_columns(columns, recipe, noise, spend)


def _published(output: MethodOutput, frequencies: Sequence[Frequencies], recipe: Recipe) -> pa.Table:
    """The protected columns as a table, with nothing of the originals but their names and labels."""
    import pyarrow as pa

    fields = [public_field(one.field, recipe.attributes[one.name], output.arrays[one.name]) for one in frequencies]
    table = pa.Table.from_arrays([output.arrays[one.name] for one in frequencies], schema=pa.schema(fields))
    return Frame.wrap(table).without_unused_categories().table
