"""Count again, in the input, what draws may publish: for the data holder, who has it."""

from __future__ import annotations

from typing import TYPE_CHECKING

import numpy as np

from microagg._typing import FloatArray, IntArray
from microagg.aggregate.shared_values.intervals import find_shared_numbers
from microagg.aggregate.units import count_units, units_per_code
from microagg.recipe.recipe import Recipe
from microagg.releases.representatives import filled_in, round_draws
from microagg.releases.units import Units
from microagg.schema.attribute import Kind
from microagg.schema.encode import EncodedColumn

if TYPE_CHECKING:
    import pyarrow as pa

__all__ = ["count_unfounded"]


def count_unfounded(column: EncodedColumn, released: pa.ChunkedArray, recipe: Recipe, units: Units | None) -> int:
    """How many published values are neither shared by enough records (or units) of the input nor made by them.

    Parameters
    ----------
    column : EncodedColumn
        The attribute of the records of the input that took part.
    released : Arrow array
        What is published of it, read with types.
    recipe : Recipe
    units : Units or None
    """
    import pyarrow as pa
    import pyarrow.compute as pc

    allowed = column.publish(_that_may_be(column, recipe, None if units is None else units.codes))
    if pa.types.is_dictionary(allowed.type):
        allowed = allowed.cast(allowed.type.value_type)
    if pa.types.is_dictionary(released.type):
        released = released.cast(released.type.value_type)
    try:
        released = released.cast(allowed.type)
    except (pa.ArrowInvalid, pa.ArrowNotImplementedError):  # values that the column of the input could not hold
        return int(pc.count(released).as_py())
    founded = pc.is_in(released.drop_null(), value_set=allowed)
    return len(founded) - int(pc.sum(founded, min_count=0).as_py())


def _that_may_be(column: EncodedColumn, recipe: Recipe, units: IntArray | None) -> FloatArray:
    """Numbers, ranks or codes that draws of an attribute may have."""
    k, choice = recipe.k, recipe.aggregate
    imputed = filled_in(column)  # it counts for nobody
    own = ~column.missing & ~imputed
    if count_units(units, ~column.missing) < k:
        return np.empty(0)
    if column.kind is Kind.NUMERIC:
        found = find_shared_numbers(column.values, k, share=choice.share, units=units, filled_in=imputed)
        return np.unique(found.places(lambda numbers: round_draws(column, numbers)))
    holders = units_per_code(
        column.values[own].astype(np.int64), len(column.labels), None if units is None else units[own]
    )
    return np.flatnonzero(holders >= choice.rarest(k)).astype(np.float64)
