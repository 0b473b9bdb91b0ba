"""Two tables side by side: the same attribute before and after, and whether their rows belong together."""

from __future__ import annotations

import math
from collections.abc import Sequence
from dataclasses import dataclass, replace
from typing import TYPE_CHECKING

import numpy as np

from microagg._labels import label_combinations
from microagg._typing import BoolArray, FloatArray, IntArray
from microagg.errors import TableError
from microagg.schema.attribute import Attribute, Kind, domain_from_data
from microagg.schema.encode import EncodedColumn, encode
from microagg.space.mixed import mixed_space
from microagg.tables.frames import Column, Frame

if TYPE_CHECKING:
    import pyarrow as pa

__all__ = ["Pair", "codes_of", "combinations", "join", "join_columns", "pair", "rows_belong_together", "same_values"]


_BY_CHANCE = 1e-6


@dataclass(frozen=True)
class Pair:
    """One attribute of two tables, measured on one scale.

    Attributes
    ----------
    joint : EncodedColumn
        The first table's values followed by the second's.
    n_first : int
    bounds_from_data : bool
        Whether the release took the domain of a number without declared bounds from the data.
    """

    joint: EncodedColumn
    n_first: int
    bounds_from_data: bool = False

    @property
    def name(self) -> str:
        return self.joint.name

    @property
    def values(self) -> tuple[FloatArray, FloatArray]:
        """Numbers, ranks or codes of both tables, on one scale; NaN is missing."""
        return self.joint.values[: self.n_first], self.joint.values[self.n_first :]

    @property
    def missing(self) -> tuple[BoolArray, BoolArray]:
        return self.joint.missing[: self.n_first], self.joint.missing[self.n_first :]

    @property
    def scale(self) -> tuple[float, float]:
        """Mean and standard deviation of the first table's numbers or ranks; the deviation is 1 if all are equal."""
        return _scale(self.values[0])

    @property
    def is_constant(self) -> bool:
        """Whether the first table's present values are all equal (or there are none)."""
        present = self.values[0][~self.missing[0]]
        return not len(present) or bool((present == present[0]).all())

    @property
    def domain(self) -> tuple[float, float]:
        """Declared bounds of numbers, or those that the release read from the data, or the first table's range."""
        if self.joint.bounds is not None:
            return self.joint.bounds
        present = self.values[0][~self.missing[0]]
        if not len(present):
            return 0.0, 0.0
        low, high = float(present.min()), float(present.max())
        reads = self.bounds_from_data and self.joint.kind is Kind.NUMERIC
        return domain_from_data(low, high) if reads else (low, high)

    def points(self, *, own_scale: bool = False) -> tuple[FloatArray, FloatArray]:
        """Coordinates of both tables' values; numbers and ranks are z-scores, categories points at distance 1.

        Numbers are scaled by the first table's mean and deviation, or each table by its own if `own_scale`. A missing
        value sits at the mean; the caller decides what it means.
        """
        values = self.joint.values
        if self.joint.kind is Kind.NOMINAL:
            plain = self.joint.attribute.model_copy(update={"weight": 1.0})
            # A missing value differs in the indicator (the last coordinate) only; it is left to the caller.
            points = mixed_space([replace(self.joint, attribute=plain)]).matrix
            points = points[:, :-1] if self.joint.missing.any() else points
            return points[: self.n_first], points[self.n_first :]
        first, second = values[: self.n_first], values[self.n_first :]
        mean, deviation = _scale(first)
        mean_2, deviation_2 = _scale(second) if own_scale else (mean, deviation)
        scaled = (first - mean) / deviation, (second - mean_2) / deviation_2
        return np.nan_to_num(scaled[0])[:, None], np.nan_to_num(scaled[1])[:, None]


def _scale(values: FloatArray) -> tuple[float, float]:
    present = values[~np.isnan(values)]
    largest = float(np.abs(present).max(initial=0.0))
    if largest == 0.0:
        return 0.0, 1.0
    # Squares of what is left cannot overflow.
    mean, deviation = float((present / largest).mean()) * largest, float((present / largest).std()) * largest
    return mean, deviation if deviation > 0 else 1.0


def pair(first: Frame, second: Frame, name: str, attribute: Attribute, *, bounds_from_data: bool = False) -> Pair:
    """Measure an attribute of two tables on one scale.

    Another tool's release may leave the declared bounds (noise) or the declared nominal categories (generalisation):
    that is to be judged, not refused.
    """
    column = join_columns(first, second, name)
    loose = {"bounds": None} if attribute.kind is not Kind.NOMINAL else {"categories": None}
    found = encode(column, attribute.model_copy(update=loose))
    if attribute.bounds is not None:
        found = replace(found, bounds=(column.number_of(attribute.bounds[0]), column.number_of(attribute.bounds[1])))
    return Pair(replace(found, attribute=attribute), first.n_records, bounds_from_data)


def join_columns(first: Frame, second: Frame, name: str) -> Column:
    """A column of the first table followed by the second's, as one type that holds both."""
    return join(first.column(name), second.column(name))


def join(first: Column, second: Column) -> Column:
    """A column followed by another of the same name, as one type that holds both."""
    import pyarrow as pa

    columns, name = [first, second], first.name
    try:
        values = _alike([_plain(column.values) for column in columns])
        wanted = pa.unify_schemas([pa.schema([("v", value.type)]) for value in values], promote_options="permissive")
        both = pa.concat_arrays([value.cast(wanted.field(0).type) for value in values])
    except (pa.ArrowInvalid, pa.ArrowTypeError, pa.ArrowNotImplementedError):
        types = " and ".join(str(column.values.type) for column in columns)
        raise TableError(f"column {name!r} cannot be compared: the two tables hold {types} values") from None
    return Column(name, both, columns[0].ordered_categories)


def _plain(values: pa.Array) -> pa.Array:
    import pyarrow as pa

    return values.cast(pa.string()) if pa.types.is_large_string(values.type) else values


def _alike(values: list[pa.Array]) -> list[pa.Array]:
    """Moments of different types as one, and what is text in one of the tables as text."""
    import pyarrow as pa

    kinds = [value.type for value in values]
    if kinds[0] == kinds[1]:
        return values
    if all(pa.types.is_date(kind) or pa.types.is_timestamp(kind) for kind in kinds):
        return [value.cast(pa.timestamp("us"), safe=False) for value in values]
    if any(pa.types.is_string(kind) for kind in kinds):
        return [value.cast(pa.string()) for value in values]
    return values


def codes_of(table: Frame, name: str) -> IntArray:
    """Whole numbers that are equal where the values are; missing is a value of its own."""
    return table.column(name).codes


def combinations(table: Frame, names: Sequence[str]) -> IntArray:
    """Label records by their combination of values: 0 to the number of combinations - 1, by first occurrence."""
    return label_combinations((codes_of(table, name) for name in names), table.n_records)


def rows_belong_together(original: Frame, released: Frame, untouched: Sequence[str]) -> bool | None:
    """Find out if row i of both tables is the same record: None if the tables do not show it.

    Columns that are published as they are show it, unless so few values differ that rows in another order could look
    the same by chance.
    """
    if original.n_records != released.n_records:
        return False
    shared = [name for name in untouched if name in original.names and name in released.names]
    if not shared:
        return None
    for name in shared:
        if not same_values(original.column(name), released.column(name)):
            return False
    sizes = np.bincount(combinations(released, shared))
    orders = math.lgamma(original.n_records + 1)
    same_orders = sum(math.lgamma(size + 1) for size in sizes)
    return True if same_orders - orders < math.log(_BY_CHANCE) else None


def same_values(first: Column, second: Column) -> bool:
    """Whether two columns hold the same values in the same order, whatever types their libraries gave them."""
    import pyarrow as pa

    try:
        return bool(first.values.cast(second.values.type).equals(second.values)) or np.array_equal(
            first.numbers(), second.numbers(), equal_nan=True
        )
    except (pa.ArrowInvalid, pa.ArrowNotImplementedError, TableError):
        return False
