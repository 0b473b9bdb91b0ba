"""A column on a scale that depends on nothing but what the recipe declares."""

from __future__ import annotations

from dataclasses import dataclass
from typing import TYPE_CHECKING, Any

import numpy as np
import numpy.typing as npt

from microagg.aggregate.centroid import round_to_resolution
from microagg.errors import TableError
from microagg.privacy.mechanism import Grid
from microagg.schema.attribute import Attribute, Kind
from microagg.schema.measure import ranks_of
from microagg.schema.taxonomy import category_text
from microagg.tables.frames import Column
from microagg.tables.type_ranges import float_range

if TYPE_CHECKING:
    import pyarrow as pa

__all__ = ["FROM_DATA_FACTOR", "PublicColumn", "put_on_public_scale"]

FloatArray = npt.NDArray[np.float64]

FROM_DATA_FACTOR = 1.5  # of the largest value: the papers' domain
_LARGEST = 1e300
_NARROWEST = 1e-280  # width of bounds: sums are counted in steps of a fraction of it, which must be floats still
_SECONDS_OF_DAY = 86_400
_LARGEST_INTEGER = 2.0**62


@dataclass(frozen=True)
class PublicColumn:
    """The values of one attribute, each measured by itself.

    :class:`microagg.schema.measure.Measured` counts dates from the earliest one and categories as they are found; here
    no record's number depends on another record, so tables that differ in one record differ in one number.

    Attributes
    ----------
    values : ndarray of float64
        Numbers within the bounds; ranks of an ordinal attribute; codes of a nominal one, places in `labels`.
    low, high : float
        The public domain of `values`.
    labels : tuple
        What ranks or codes stand for; empty for numeric attributes.
    domain : tuple of int
        The codes of a nominal attribute that records may have.
    bounds_from_data : bool
    """

    column: Column
    attribute: Attribute
    values: FloatArray
    low: float
    high: float
    labels: tuple[Any, ...] = ()
    domain: tuple[int, ...] = ()
    bounds_from_data: bool = False

    @property
    def name(self) -> str:
        return self.column.name

    @property
    def kind(self) -> Kind:
        assert self.attribute.kind is not None
        return self.attribute.kind

    @property
    def grid(self) -> Grid:
        """The grid on which sums over all records are exact."""
        return Grid.for_sums(self.low, self.high, len(self.values))

    def published(self, values: FloatArray) -> pa.Array:
        """An array of the column's own type: clamped to the domain and rounded to the resolution, or categories."""
        if self.kind is Kind.NUMERIC:
            return self.column.array_of(self.rounded(values), origin=0)
        codes = np.rint(np.clip(values, 0, len(self.labels) - 1)).astype(np.int64)
        return _labels_as(self.column, self.labels).take(_arrow(codes))

    def rounded(self, values: FloatArray) -> FloatArray:
        """Numbers as they are published: multiples of the resolution, within the bounds."""
        low, high = self.low, self.high
        resolution = self._resolution()
        result = np.clip(values, low, high)
        if resolution is not None:
            result = round_to_resolution(np.clip(result, -_LARGEST_INTEGER, _LARGEST_INTEGER), resolution)
        if self.column.is_integer or self.column.is_temporal:
            return np.clip(result, np.ceil(low), min(np.floor(high), self._last_of_day()))
        return np.clip(result, low, high)

    def _last_of_day(self) -> float:
        """The last time of a day, of a column of such times: the end of the day is not one."""
        import pyarrow as pa

        return _SECONDS_OF_DAY * self.column.unit - 1.0 if pa.types.is_time(self.column.values.type) else np.inf

    def _resolution(self) -> float | None:
        """The declared one, or the type's; never one that was read from the data, as that of times is."""
        if self.attribute.resolution is not None:
            return self.attribute.resolution * self.column.unit
        if self.column.is_temporal:
            import pyarrow as pa

            return float(self.column.unit) if pa.types.is_date(self.column.values.type) else 1.0
        return self.column.resolution


def put_on_public_scale(
    column: Column, attribute: Attribute, *, clamp: bool = False, bounds_from_data: bool = False
) -> PublicColumn:
    """Measure a column against its declaration.

    Parameters
    ----------
    clamp : bool
        Move values outside the bounds to the nearest one, instead of refusing them.
    bounds_from_data : bool
        Take [0, 1.5 x maximum] of the data (with negative values, 1.5 x minimum) where no bounds are declared.

    Raises
    ------
    TableError
        Missing or non-finite values, values outside the bounds, undeclared categories; counts are named, not values.
    """
    missing = int(column.missing.sum())
    if missing:
        raise TableError(
            f"column {column.name!r} has {missing} missing values, which a differentially private method does not "
            "take: leave them out before, or fill them in by a rule that does not look at other records"
        )
    if attribute.kind is Kind.NUMERIC:
        return _numeric(column, attribute, clamp, bounds_from_data)
    codes, found = column.encoded
    if attribute.kind is Kind.ORDINAL:
        assert attribute.categories is not None
        labels = attribute.categories
        ranks = ranks_of(column, codes, found, labels)
        _labels_as(column, labels)
        return PublicColumn(column, attribute, ranks, 0.0, float(max(len(labels) - 1, 1)), tuple(labels))
    return _nominal(column, attribute, codes, found)


def _numeric(column: Column, attribute: Attribute, clamp: bool, bounds_from_data: bool) -> PublicColumn:
    values = column.absolute()
    unfit = int((~np.isfinite(values) | (np.abs(values) > _LARGEST)).sum())
    if unfit:
        raise TableError(f"column {column.name!r} holds {unfit} values that are infinite or beyond {_LARGEST:g}")
    from_data = attribute.bounds is None and bounds_from_data
    if from_data:
        low, high = _bounds_of(column, values)
    else:
        assert attribute.bounds is not None
        low, high = (column.absolute_number_of(bound) for bound in attribute.bounds)
    if not np.isfinite(high - low):
        raise TableError(f"column {column.name!r}: its bounds are too far apart to measure with")
    _require_room(column, attribute, low, high)
    if high - low < _NARROWEST:
        raise TableError(f"column {column.name!r}: its bounds are too near each other to measure with")
    outside = int(((values < low) | (values > high)).sum())
    if outside and not clamp:
        raise TableError(
            f"column {column.name!r} has {outside} values outside its declared bounds. Declare wider ones, or set "
            "[privacy] clamp = true to move them to the nearest bound"
        )
    return PublicColumn(column, attribute, np.clip(values, low, high), low, high, bounds_from_data=from_data)


def _require_room(column: Column, attribute: Attribute, low: float, high: float) -> None:
    """Refuse bounds that the column's type cannot publish, whatever the records are."""
    import pyarrow as pa

    kind = column.values.type
    whole = column.is_integer or column.is_temporal
    if not low < high or (whole and np.ceil(low) > np.floor(high)):
        raise TableError(f"column {column.name!r} holds {kind} values: no two of them lie within its bounds")
    if pa.types.is_time(kind) and not 0 <= low < high <= _SECONDS_OF_DAY * column.unit:
        raise TableError(f"column {column.name!r} holds times of day: its bounds must lie within 0 and 86400 seconds")
    fraction = not (whole or pa.types.is_null(kind))
    if fraction and max(-low, high) > float_range(kind) * (1 + 1e-12):  # a bound may be the last that it holds
        raise TableError(f"column {column.name!r} holds {kind} values, which cannot hold its bounds")


def _bounds_of(column: Column, values: FloatArray) -> tuple[float, float]:
    if column.is_temporal:
        raise TableError(f"column {column.name!r} holds dates or times, whose bounds must be declared")
    low, high = min(0.0, float(values.min())), max(0.0, float(values.max()))
    if low == high:
        raise TableError(
            f"column {column.name!r} is zero throughout: its bounds cannot be read from the data; declare them"
        )
    return FROM_DATA_FACTOR * low, FROM_DATA_FACTOR * high


def _nominal(column: Column, attribute: Attribute, codes: Any, found: Any) -> PublicColumn:
    tree, declared = attribute.taxonomy, attribute.categories
    labels = tuple(tree.nodes) if tree is not None else tuple(declared or ())
    allowed = labels if tree is None or declared is None else tuple(category_text(one) for one in declared)
    place = {label: code for code, label in enumerate(labels)}
    domain = tuple(place[label] for label in allowed)
    where = "among the declared ones" if declared is not None else "in its taxonomy"
    within = ranks_of(column, codes, found, allowed, where=where).astype(np.int64)
    values = np.asarray(domain, dtype=np.float64)[within]
    _labels_as(column, labels)
    return PublicColumn(column, attribute, values, 0.0, float(max(len(labels) - 1, 1)), labels, domain)


def _arrow(codes: npt.NDArray[np.int64]) -> pa.Array:
    import pyarrow as pa

    return pa.array(codes)


def _labels_as(column: Column, labels: tuple[Any, ...]) -> pa.Array:
    """Every label as a value of the column's type; refused if the type cannot hold one."""
    import pyarrow as pa

    held = column.ordered_categories
    unfit = (
        [] if held is None or not column.is_text else [label for label in labels if category_text(label) not in held]
    )
    try:
        if unfit:
            raise pa.ArrowInvalid("not among the categories of the dtype")
        array = pa.array([category_text(label) for label in labels] if column.is_text else list(labels))
        array = array.cast(column.values.type)
    except (pa.ArrowInvalid, pa.ArrowNotImplementedError, pa.ArrowTypeError):
        raise TableError(
            f"column {column.name!r} holds {column.array.type} values, which cannot hold every category that may be "
            "published: every declared category, and with a taxonomy every node of it"
        ) from None
    if not pa.types.is_dictionary(column.array.type):
        return array
    indices = pa.array(range(len(labels)), type=pa.int32())
    kind = column.array.type
    return pa.DictionaryArray.from_arrays(indices, array, ordered=kind.ordered)
