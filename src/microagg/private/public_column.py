"""A column on a scale that depends on nothing but what the recipe declares."""

from __future__ import annotations

from dataclasses import dataclass
from typing import TYPE_CHECKING, Any

import numpy as np

from microagg._typing import FloatArray
from microagg.aggregate.centroid import round_to_resolution
from microagg.errors import TableError
from microagg.privacy.mechanism import Grid
from microagg.private.public_types import public_labels, public_type
from microagg.private.public_values import MICROSECONDS, bound_as_number, values_as_numbers
from microagg.schema.attribute import FROM_DATA_FACTOR, Attribute, Kind, domain_from_data
from microagg.schema.encode import ranks_of
from microagg.schema.taxonomy import category_text
from microagg.tables.frames import Column
from microagg.tables.type_ranges import stored_range

if TYPE_CHECKING:
    import pyarrow as pa

__all__ = ["FROM_DATA_FACTOR", "PublicColumn", "blank_column", "put_on_public_scale"]


_LARGEST = 1e300
_NARROWEST = 1e-280  # width of bounds: sums are counted in steps of a fraction of it, which must be floats still
_END_OF_DAY = 86_400.0 * MICROSECONDS
_LARGEST_INTEGER = 2.0**62


@dataclass(frozen=True)
class PublicColumn:
    """The values of one attribute, each measured by itself.

    :class:`microagg.schema.encode.EncodedColumn` counts dates from the earliest one and categories as they are found.
    Here no record's number depends on another record, so tables that differ in one record differ in one number.

    Attributes
    ----------
    name : str
    attribute : Attribute
    type : Arrow type
        What is published, as the recipe decides it (:func:`~microagg.private.public_types.public_type`).
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

    name: str
    attribute: Attribute
    type: pa.DataType
    values: FloatArray
    low: float
    high: float
    labels: tuple[Any, ...] = ()
    domain: tuple[int, ...] = ()
    bounds_from_data: bool = False

    @property
    def kind(self) -> Kind:
        assert self.attribute.kind is not None
        return self.attribute.kind

    @property
    def grid(self) -> Grid:
        """The grid on which sums over all records are exact."""
        return Grid.for_sums(self.low, self.high, len(self.values))

    def publish(self, values: FloatArray) -> pa.Array:
        """An array of the public type: clamped to the domain and rounded to the resolution, or categories."""
        import pyarrow as pa

        if self.kind is Kind.NUMERIC:
            numbers = self.round_values(values)
            if not self._in_steps:
                return pa.array(numbers, self.type)
            stored = stored_range(self.type)
            whole = np.rint(np.clip(numbers, -_LARGEST_INTEGER, _LARGEST_INTEGER)).astype(np.int64)
            # As a double the last moment there is may be one too late.
            integers = pa.array(whole if stored is None else np.clip(whole, *stored))
            return (
                integers.cast(pa.int32()).cast(self.type) if pa.types.is_date(self.type) else integers.cast(self.type)
            )
        codes = pa.array(np.rint(np.clip(values, 0, len(self.labels) - 1)).astype(np.int32))
        labels = public_labels(self.attribute)
        if not pa.types.is_dictionary(self.type):
            return labels.take(codes)
        return pa.DictionaryArray.from_arrays(codes, labels, ordered=self.type.ordered)

    def round_values(self, values: FloatArray) -> FloatArray:
        """Numbers as they are published: multiples of the resolution, within the bounds."""
        low, high = self.low, self.high
        resolution = self.resolution
        result = np.clip(values, low, high)
        if resolution is not None:
            result = round_to_resolution(np.clip(result, -_LARGEST_INTEGER, _LARGEST_INTEGER), resolution)
        if self._in_steps:
            return np.clip(result, np.ceil(low), min(np.floor(high), self._last_of_day()))
        return np.clip(result, low, high)

    @property
    def steps_per_unit(self) -> int:
        """What 1 of what a person declares is on the scale of `values`: a second of times is a million steps."""
        import pyarrow as pa

        return MICROSECONDS if pa.types.is_temporal(self.type) and not pa.types.is_date(self.type) else 1

    @property
    def _in_steps(self) -> bool:
        """Whether the public type counts whole steps: whole numbers, days or microseconds."""
        import pyarrow as pa

        return bool(pa.types.is_integer(self.type) or pa.types.is_temporal(self.type))

    def _last_of_day(self) -> float:
        """The last time of a day, of a column of such times: the end of the day is not one."""
        import pyarrow as pa

        return _END_OF_DAY - 1.0 if pa.types.is_time(self.type) else np.inf

    @property
    def resolution(self) -> float | None:
        """The declared one on the scale of `values`, or the step of the public type."""
        if self.attribute.resolution is None:
            return 1.0 if self._in_steps else None
        return self.attribute.resolution * self.steps_per_unit


def put_on_public_scale(
    column: Column,
    attribute: Attribute,
    *,
    stored_format: str = "",
    clamp: bool = False,
    bounds_from_data: bool = False,
) -> PublicColumn:
    """Measure a column against its declaration.

    Parameters
    ----------
    stored_format : str
        The display format that a file of a statistics package declares: it tells times of day from numbers.
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
    kind = public_type(column, attribute, stored_format)
    if attribute.kind is Kind.NUMERIC:
        return _numeric(column, attribute, kind, stored_format, clamp, bounds_from_data)
    codes, found = column.encoded
    if attribute.kind is Kind.ORDINAL:
        assert attribute.categories is not None
        labels = tuple(attribute.categories)
        ranks = ranks_of(column, codes, found, labels)
        return PublicColumn(column.name, attribute, kind, ranks, 0.0, float(max(len(labels) - 1, 1)), labels)
    return _nominal(column, attribute, kind, codes, found)


def blank_column(
    name: str, attribute: Attribute, n_records: int, *, is_time: bool = False, bounds_from_data: bool = False
) -> PublicColumn:
    """A column on its public scale with no record's value in it, each at the lower end: what public facts alone decide.

    Bounds that were read from the data are not known, and taken as 0 and 1.
    """
    import pyarrow as pa

    values = np.zeros(n_records)
    if attribute.kind is not Kind.NUMERIC:
        labels, domain = tuple(attribute.categories or ()), tuple[int, ...]()
        if attribute.kind is Kind.NOMINAL:
            labels, domain = _labels_and_domain(attribute)
            values = np.full(n_records, float(domain[0]))
        kind = public_type(Column(name, pa.array([], pa.string())), attribute)
        return PublicColumn(name, attribute, kind, values, 0.0, float(max(len(labels) - 1, 1)), labels, domain)
    kind = public_type(Column(name, pa.array([], pa.time64("us") if is_time else pa.float64())), attribute)
    low, high = 0.0, 1.0
    if not bounds_from_data:
        assert attribute.bounds is not None
        low, high = (bound_as_number(bound, kind) for bound in attribute.bounds)
    return PublicColumn(name, attribute, kind, values + low, low, high, bounds_from_data=bounds_from_data)


def _numeric(
    column: Column, attribute: Attribute, kind: pa.DataType, stored_format: str, clamp: bool, bounds_from_data: bool
) -> PublicColumn:
    import pyarrow as pa

    from_data = attribute.bounds is None and bounds_from_data
    if from_data and (column.is_temporal or pa.types.is_temporal(kind)):
        raise TableError(f"column {column.name!r} holds dates or times, whose bounds must be declared")
    values = values_as_numbers(column, kind, stored_format)
    unfit = int((~np.isfinite(values) | (np.abs(values) > _LARGEST)).sum())
    if unfit:
        raise TableError(f"column {column.name!r} holds {unfit} values that are infinite or beyond {_LARGEST:g}")
    if from_data:
        low, high = _bounds_of(column, values)
    else:
        assert attribute.bounds is not None
        low, high = (bound_as_number(bound, kind) for bound in attribute.bounds)
    if not np.isfinite(high - low):
        raise TableError(f"column {column.name!r}: its bounds are too far apart to measure with")
    _require_room(column, kind, low, high)
    if high - low < _NARROWEST:
        raise TableError(f"column {column.name!r}: its bounds are too near each other to measure with")
    outside = int(((values < low) | (values > high)).sum())
    if outside and not clamp:
        raise TableError(
            f"column {column.name!r} has {outside} values outside its declared bounds. Declare wider ones, or set "
            "[privacy] clamp = true to move them to the nearest bound"
        )
    clipped = np.clip(values, low, high)
    return PublicColumn(column.name, attribute, kind, clipped, low, high, bounds_from_data=from_data)


def _require_room(column: Column, kind: pa.DataType, low: float, high: float) -> None:
    """Refuse bounds between which the public type has no value, whatever the records are."""
    import pyarrow as pa

    in_steps = pa.types.is_integer(kind) or pa.types.is_temporal(kind)
    if not low < high or (in_steps and np.ceil(low) > np.floor(high)):
        raise TableError(f"column {column.name!r} is published as {kind}: no two of them lie within its bounds")
    if pa.types.is_time(kind) and not 0 <= low < high <= _END_OF_DAY:
        raise TableError(f"column {column.name!r} holds times of day: its bounds must lie within 0 and 86400 seconds")
    if pa.types.is_duration(kind) and max(-low, high) > _LARGEST_INTEGER:
        raise TableError(f"column {column.name!r} is published as {kind}, which cannot hold its bounds")


def _bounds_of(column: Column, values: FloatArray) -> tuple[float, float]:
    low, high = float(values.min()), float(values.max())
    if low == high == 0.0:
        raise TableError(
            f"column {column.name!r} is zero throughout: its bounds cannot be read from the data; declare them"
        )
    return domain_from_data(low, high)


def _nominal(column: Column, attribute: Attribute, kind: pa.DataType, codes: Any, found: Any) -> PublicColumn:
    labels, domain = _labels_and_domain(attribute)
    allowed = tuple(labels[code] for code in domain)
    where = "among the declared ones" if attribute.categories is not None else "in its taxonomy"
    within = ranks_of(column, codes, found, allowed, where=where).astype(np.int64)
    values = np.asarray(domain, dtype=np.float64)[within]
    high = float(max(len(labels) - 1, 1))
    return PublicColumn(column.name, attribute, kind, values, 0.0, high, labels, domain)


def _labels_and_domain(attribute: Attribute) -> tuple[tuple[Any, ...], tuple[int, ...]]:
    """All that may be published of a nominal attribute, and the places in it of what records may have."""
    tree, declared = attribute.taxonomy, attribute.categories
    labels = tuple(tree.nodes) if tree is not None else tuple(declared or ())
    allowed = labels if tree is None or declared is None else tuple(category_text(one) for one in declared)
    place = {label: code for code, label in enumerate(labels)}
    return labels, tuple(place[label] for label in allowed)
