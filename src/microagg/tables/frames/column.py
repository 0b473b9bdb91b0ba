"""One attribute of a table as numbers, codes and Arrow values."""

from __future__ import annotations

import datetime as dt
import math
from dataclasses import dataclass, replace
from functools import cached_property
from typing import TYPE_CHECKING, Any

import numpy as np

from microagg._typing import BoolArray, FloatArray, IntArray
from microagg.errors import TableError
from microagg.tables.type_ranges import float_range, stored_range, within

if TYPE_CHECKING:
    import pyarrow as pa

__all__ = ["Column"]

# Above this a float64 cannot hold every integer, so such columns are counted from their smallest value.
EXACT_INTEGERS = 2**52


@dataclass(frozen=True)
class Column:
    """One attribute of a table: its Arrow values, and the order of its categories where the dtype has one."""

    name: str
    array: pa.Array
    ordered_categories: tuple[Any, ...] | None = None
    counted_from: int | None = None  # in place of the smallest value, see `origin`

    @cached_property
    def values(self) -> pa.Array:
        """The values with any dictionary encoding undone."""
        import pyarrow as pa

        return self.array.dictionary_decode() if pa.types.is_dictionary(self.array.type) else self.array

    @cached_property
    def missing(self) -> BoolArray:
        """True where the value is null or NaN."""
        import pyarrow.compute as pc

        mask: BoolArray = pc.is_null(self.values, nan_is_null=True).to_numpy(zero_copy_only=False)
        return mask

    @property
    def is_boolean(self) -> bool:
        import pyarrow.types as types

        return bool(types.is_boolean(self.values.type))

    @property
    def is_text(self) -> bool:
        import pyarrow.types as types

        t = self.values.type
        return bool(types.is_string(t) or types.is_large_string(t) or types.is_string_view(t))

    @property
    def is_temporal(self) -> bool:
        import pyarrow.types as types

        return bool(types.is_temporal(self.values.type) and not types.is_interval(self.values.type))

    @property
    def is_integer(self) -> bool:
        import pyarrow.types as types

        return bool(types.is_integer(self.values.type))

    @property
    def is_float(self) -> bool:
        import pyarrow.types as types

        return bool(types.is_floating(self.values.type))

    @property
    def is_number(self) -> bool:
        """True for integers, floats and decimals; not for booleans, text or dates."""
        import pyarrow.types as types

        t = self.values.type
        return bool(types.is_integer(t) or types.is_floating(t) or types.is_decimal(t))

    @cached_property
    def integers(self) -> IntArray | None:
        """Integer and temporal values as int64 with missing as 0; None for other types."""
        import pyarrow as pa
        import pyarrow.compute as pc

        t = self.values.type
        if not (self.is_integer or self.is_temporal):
            return None
        array = self.values
        if pa.types.is_uint64(t):
            if len(array) and (pc.max(array).as_py() or 0) > np.iinfo(np.int64).max:
                raise TableError(f"column {self.name!r} holds integers beyond the range of 64-bit signed integers")
        elif pa.types.is_date32(t) or pa.types.is_time32(t):
            array = array.cast(pa.int32())
        integers: IntArray = pc.fill_null(array.cast(pa.int64()), 0).to_numpy(zero_copy_only=False)
        return integers

    @cached_property
    def origin(self) -> int:
        """What :meth:`numbers` counts from: 0, or the smallest value of dates and of very large integers.

        Where one was given (:attr:`counted_from`), as by declared bounds, it is that one, whatever the values are.
        """
        integers = self.integers
        if integers is not None and self.counted_from is not None:
            return self.counted_from
        if integers is None or self.missing.all():
            return 0
        present = integers[~self.missing]
        low, high = int(present.min()), int(present.max())
        if high - low >= 2**62:
            raise TableError(f"column {self.name!r} spans more than 64-bit arithmetic can average")
        return low if self.is_temporal or max(-low, high) > EXACT_INTEGERS else 0

    @property
    def _stored_range(self) -> tuple[int, int]:
        """What integers of this column may be published: those its type can hold, and what it holds already."""
        limits = stored_range(self.values.type)
        assert limits is not None
        assert self.integers is not None
        present = self.integers[~self.missing]
        if not len(present):
            return limits
        return min(limits[0], int(present.min())), max(limits[1], int(present.max()))

    @property
    def resolution(self) -> float | None:
        """The step between neighbouring values that the dtype (or, for times, the data) has; None for floats."""
        import pyarrow as pa

        t = self.values.type
        if self.is_integer:
            return 1.0
        if pa.types.is_decimal(t):
            return float(10.0**-t.scale)
        if self.is_temporal:
            return self._temporal_step()
        return None

    @property
    def unit(self) -> int:
        """How many steps of the stored integers make 1 of what a person declares: a day of dates, a second of times."""
        import pyarrow as pa

        t = self.values.type
        if not self.is_temporal or pa.types.is_date32(t):
            return 1
        return 86_400_000 if pa.types.is_date64(t) else {"s": 1, "ms": 10**3, "us": 10**6, "ns": 10**9}[t.unit]

    def _temporal_step(self) -> float:
        """The coarsest of day, hour, minute, second ... in which all times of the column are whole."""
        import pyarrow as pa

        if pa.types.is_date(self.values.type):
            return float(self.unit)
        assert self.integers is not None
        present = self.integers[~self.missing]
        for seconds in (86_400, 3_600, 60, 1):
            step = seconds * self.unit
            if not (present % step).any():
                return float(step)
        return 1.0

    def numbers(self) -> FloatArray:
        """The values as float64, missing as NaN, counted from :attr:`origin`.

        Raises
        ------
        TableError
            If the column holds text, booleans or nested values; the message has counts, not values.
        """
        import pyarrow as pa

        integers = self.integers
        if integers is not None:
            numbers = (integers - self.origin).astype(np.float64)
            numbers[self.missing] = np.nan
            return numbers
        if self.is_number:
            return np.array(self.values.cast(pa.float64()).to_numpy(zero_copy_only=False), dtype=np.float64)
        if pa.types.is_null(self.values.type):
            return np.full(len(self.values), np.nan)
        if self.is_text:
            bad, present = _count_not_numbers(self.values), int((~self.missing).sum())
            reason = (
                f"{bad} of {present} values are not numbers"
                if bad
                else "numbers stored as text, or too long for 64 bits"
            )
            raise TableError(f"column {self.name!r} is declared numeric but holds text: {reason}")
        raise TableError(f"column {self.name!r} is declared numeric but holds {self.values.type} values")

    def absolute(self) -> FloatArray:
        """The values as float64, missing as NaN, counted from zero: each number depends on its own record only.

        Beyond 2^53 a float cannot hold every integer, and near ones fall together; :meth:`numbers` keeps them
        apart, but counts from the smallest value of the column.
        """
        integers = self.integers
        if integers is None:
            return self.numbers()
        numbers = integers.astype(np.float64)
        numbers[self.missing] = np.nan
        return numbers

    def number_of(self, value: float | dt.date | dt.datetime) -> float:
        """Where a declared bound lies on the scale of :meth:`numbers`."""
        return float(self._bound(value) - self.origin)

    def absolute_number_of(self, value: float | dt.date | dt.datetime) -> float:
        """Where a declared bound lies on the scale of :meth:`absolute`."""
        return float(self._bound(value))

    def counted_from_bounds(self, low: float | dt.date, high: float | dt.date) -> Column:
        """The same column, its :attr:`origin` set by declared bounds alone and by nothing that a record holds.

        Values must lie within the bounds (:meth:`n_outside`).
        """
        if self.integers is None:
            return self
        first, last = (min(max(math.floor(self._bound(bound)), -(2**63)), 2**63 - 1) for bound in (low, high))
        # From the middle where differences to an end could be beyond 64 bits.
        return replace(self, counted_from=first if last - first < 2**63 else (first + last + 1) // 2)

    def n_outside(self, low: float | dt.date, high: float | dt.date) -> int:
        """How many values lie outside declared bounds; integers and moments are compared exactly."""
        first, last = self._bound(low), self._bound(high)
        integers = self.integers
        if integers is None:
            numbers = self.absolute()
            return int(((numbers < first) | (numbers > last)).sum())
        least, most = max(math.ceil(first), -(2**63)), min(math.floor(last), 2**63 - 1)
        if most < -(2**63) or least > 2**63 - 1:
            return int((~self.missing).sum())
        return int((((integers < least) | (integers > most)) & ~self.missing).sum())

    def _bound(self, value: float | dt.date | dt.datetime) -> float:
        """A declared bound on the scale of :meth:`absolute`; of moments a whole number, which no float rounds."""
        import pyarrow as pa

        t = self.values.type
        takes_dates = self.is_temporal and (pa.types.is_date(t) or pa.types.is_timestamp(t))
        if takes_dates is not isinstance(value, dt.date):
            wanted = "dates" if takes_dates else "seconds" if self.is_temporal else "numbers"
            raise TableError(f"column {self.name!r} holds {t} values: its bounds must be {wanted}")
        if not isinstance(value, dt.date):
            return float(value) * self.unit
        if not isinstance(value, dt.datetime):
            value = dt.datetime(value.year, value.month, value.day)
        utc = value.astimezone(dt.UTC).replace(tzinfo=None) if value.tzinfo is not None else value
        since = utc - dt.datetime(1970, 1, 1)
        if pa.types.is_date(t):
            return self.unit * since.days
        return since // dt.timedelta(microseconds=1) * self.unit // 10**6

    def array_of(self, numbers: FloatArray, *, origin: int | None = None) -> pa.Array:
        """The inverse of :meth:`numbers` (``origin=0``: of :meth:`absolute`): this column's type, NaN as missing.

        Numbers beyond what the type can hold, as a time of day after 23:59:59, become the last that it can.
        """
        import pyarrow as pa

        origin = self.origin if origin is None else origin

        missing = np.isnan(numbers)
        t = self.values.type
        if pa.types.is_null(t):
            return pa.nulls(len(numbers))
        if self.integers is None:
            most = float_range(t)
            array = pa.array(np.clip(numbers, -most, most), mask=missing, type=pa.float64()).cast(t)
        else:
            integers = within(np.where(missing, 0.0, numbers), origin, *self._stored_range)
            array = pa.array(integers, mask=missing, type=pa.int64())
            if pa.types.is_date32(t) or pa.types.is_time32(t):
                array = array.cast(pa.int32())
            array = array.cast(t)
        return array.dictionary_encode() if pa.types.is_dictionary(self.array.type) else array

    @cached_property
    def encoded(self) -> tuple[IntArray, tuple[Any, ...]]:
        """Codes (-1 where missing) and the sorted distinct values they stand for."""
        codes, values = self._coded
        try:
            return codes, tuple(values.to_pylist())
        except (ValueError, OverflowError):  # Arrow's message has the value
            raise TableError(
                f"column {self.name!r} holds {values.type} values that Python cannot hold, as nanoseconds without "
                "pandas: install pandas, or round them to microseconds"
            ) from None

    @property
    def codes(self) -> IntArray:
        """The codes of `encoded`; also of values that Python cannot hold, such as dates after the year 9999."""
        return self._coded[0]

    @property
    def distinct(self) -> pa.Array:
        """The sorted distinct values that `codes` stand for."""
        return self._coded[1]

    @cached_property
    def _coded(self) -> tuple[IntArray, pa.Array]:
        import pyarrow as pa
        import pyarrow.compute as pc

        values = self.values
        if pa.types.is_null(values.type):
            return np.full(len(values), -1, dtype=np.int64), pa.nulls(0)
        if pa.types.is_floating(values.type):
            values = pc.if_else(pa.array(self.missing), pa.scalar(None, values.type), values)
        try:
            dictionary = pc.dictionary_encode(values)
            order = pc.sort_indices(dictionary.dictionary).to_numpy()
        except (pa.ArrowNotImplementedError, pa.ArrowInvalid):
            raise TableError(
                f"column {self.name!r} holds {values.type} values, which cannot be compared as categories: turn them "
                "into text or numbers first"
            ) from None
        rank = np.empty(len(order) + 1, dtype=np.int64)
        rank[order] = np.arange(len(order))
        rank[-1] = -1
        codes = rank[pc.fill_null(dictionary.indices, -1).to_numpy(zero_copy_only=False)]
        return codes, dictionary.dictionary.take(pa.array(order))


def _count_not_numbers(text: pa.Array) -> int:
    import pyarrow as pa
    import pyarrow.compute as pc

    number = r"^\s*[+-]?(\d+\.?\d*|\.\d+)([eE][+-]?\d+)?\s*$"
    return int(pc.sum(pc.invert(pc.match_substring_regex(text.cast(pa.large_string()), number))).as_py() or 0)
