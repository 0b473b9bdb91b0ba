"""From a column and its declaration to numbers and codes that can be compared, with every refusal on the way."""

from __future__ import annotations

from collections.abc import Sequence
from dataclasses import dataclass, replace
from typing import TYPE_CHECKING, Any

import numpy as np

from microagg._typing import BoolArray, FloatArray, IntArray
from microagg.errors import TableError
from microagg.schema.attribute import Attribute, Kind
from microagg.schema.taxonomy import category_text
from microagg.tables.frames import Column

if TYPE_CHECKING:
    import pyarrow as pa

__all__ = ["EncodedColumn", "encode", "ranks_of"]

_LARGEST = 1e300


@dataclass(frozen=True)
class EncodedColumn:
    """A column on its scale.

    Attributes
    ----------
    values : ndarray of float64
        Numbers of a numeric attribute; ranks 0, 1, ... of an ordinal one; codes of a nominal one. NaN is missing.
    labels : tuple
        What the ranks or codes stand for; empty for numeric attributes.
    bounds : pair of float or None
        Declared bounds on the scale of `values`; for an ordinal attribute its first and last rank.
    """

    column: Column
    attribute: Attribute
    values: FloatArray
    labels: tuple[Any, ...] = ()
    bounds: tuple[float, float] | None = None

    @property
    def name(self) -> str:
        return self.column.name

    @property
    def kind(self) -> Kind:
        assert self.attribute.kind is not None
        return self.attribute.kind

    @property
    def missing(self) -> BoolArray:
        return np.isnan(self.values)

    @property
    def resolution(self) -> float | None:
        """Published numbers are multiples of this; None leaves them as computed."""
        declared = self.attribute.resolution
        return self.column.resolution if declared is None else declared * self.column.unit

    def take(self, rows: IntArray) -> EncodedColumn:
        """The same attribute of some of the records."""
        import pyarrow as pa

        # Counted from where it was counted before: the smallest value may be among the records left out.
        column = replace(self.column, array=self.column.array.take(pa.array(rows)), counted_from=self.column.origin)
        return replace(self, column=column, values=self.values[rows])

    def publish(self, values: FloatArray) -> pa.Array:
        """An array of the column's own type that says `values` (of this scale; NaN is missing)."""
        import pyarrow as pa

        if self.kind is Kind.NUMERIC:
            return self.column.array_of(values)
        # Records whose value was imputed hold nothing that could be published: look only at those that had one.
        present = np.flatnonzero(~self.column.missing)
        if (
            self.column.is_float
        ):  # text shows -0.0 as a number of its own: one record's sign must not become that of all
            present = present[np.argsort(~np.signbit(self.column.numbers()[present]), kind="stable")]
        record_with = np.zeros(max(len(self.labels), 1), dtype=np.int64)
        record_with[self.values[present].astype(np.int64)] = present
        missing = np.isnan(values)
        rows = record_with[np.where(missing, 0, values).astype(np.int64)]
        return self.column.array.take(pa.array(rows, mask=missing))


def encode(column: Column, attribute: Attribute, *, data_free: bool = False) -> EncodedColumn:
    """Put a column on the scale its declaration names.

    Parameters
    ----------
    data_free : bool
        Count dates and large integers from the declared bounds, not from the smallest value: no record's number then
        depends on another record.

    Raises
    ------
    TableError
        Text or non-finite values in a numeric attribute, values outside its bounds, categories that were not
        declared or are not in the taxonomy, an ordinal attribute without an order. Counts are named, values never.
    """
    if attribute.kind is Kind.NUMERIC:
        return _encode_numeric(column, attribute, data_free)
    if attribute.kind is Kind.ORDINAL:
        return _encode_ordinal(column, attribute)
    return _encode_nominal(column, attribute)


def _encode_numeric(column: Column, attribute: Attribute, data_free: bool) -> EncodedColumn:
    bounds = None
    if attribute.bounds is not None:
        outside = column.n_outside(*attribute.bounds)
        if outside:
            raise TableError(f"column {column.name!r} has {outside} values outside its declared bounds")
        if data_free:
            column = column.counted_from_bounds(*attribute.bounds)
        low, high = (column.number_of(bound) for bound in attribute.bounds)
        bounds = (low, high)
    values = column.numbers()
    infinite = int(np.isinf(values).sum())
    if infinite:
        raise TableError(f"column {column.name!r} holds {infinite} infinite values; a distance needs finite ones")
    huge = int((np.abs(values) > _LARGEST).sum())
    if huge:
        raise TableError(f"column {column.name!r} holds {huge} values beyond {_LARGEST:g}; their mean cannot be taken")
    return EncodedColumn(column, attribute, values, bounds=bounds)


def _encode_ordinal(column: Column, attribute: Attribute) -> EncodedColumn:
    codes, found = column.encoded
    order = attribute.categories or column.ordered_categories
    if order is None and (column.is_text or column.is_boolean):
        raise TableError(
            f"column {column.name!r} is ordinal, but the order of its {len(found)} categories is not known. "
            "Add to its declaration: categories = [first, ..., last]"
        )
    labels = tuple(found) if order is None else tuple(order)
    values = ranks_of(column, codes, found, labels)
    return EncodedColumn(column, attribute, values, labels, (0.0, float(max(len(labels) - 1, 1))))


def _encode_nominal(column: Column, attribute: Attribute) -> EncodedColumn:
    codes, found = column.encoded
    labels = tuple(found) if attribute.categories is None else tuple(attribute.categories)
    if attribute.taxonomy is not None:
        absent = attribute.taxonomy.absent(labels)
        if absent:
            raise TableError(f"column {column.name!r} has {len(absent)} categories that are not in its taxonomy")
    return EncodedColumn(column, attribute, ranks_of(column, codes, found, labels), labels)


def ranks_of(
    column: Column,
    codes: IntArray,
    found: Sequence[Any],
    labels: Sequence[Any],
    *,
    where: str = "among the declared ones",
) -> FloatArray:
    """Place of each record's category in `labels`; NaN where missing."""
    place = {category_text(label): rank for rank, label in enumerate(labels)}
    places = np.array([place.get(category_text(label), -1) for label in found] + [-1], dtype=np.float64)
    undeclared = int((places[:-1] < 0).sum())
    if undeclared:
        raise TableError(f"column {column.name!r} has {undeclared} categories that are not {where}")
    ranks = places[codes]
    ranks[codes < 0] = np.nan
    return ranks
