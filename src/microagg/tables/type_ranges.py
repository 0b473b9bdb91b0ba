"""What a column's type can hold and show: the smallest and the largest of its stored numbers."""

from __future__ import annotations

from typing import TYPE_CHECKING

import numpy as np

from microagg._typing import FloatArray, IntArray
from microagg.tables.columns import is_text

if TYPE_CHECKING:
    import pyarrow as pa

__all__ = ["OUT_OF_RANGE_TEXT", "float_range", "stored_range", "values_out_of_range", "within"]

OUT_OF_RANGE_TEXT = "<value out of range"  # what Arrow writes into text files for a moment that does not exist

_SECONDS_OF_DAY = 86_400
_FIRST_DAY, _LAST_DAY = -719_162, 2_932_896  # 0001-01-01 and 9999-12-31, counted from 1970-01-01
_PER_SECOND = {"s": 1, "ms": 10**3, "us": 10**6, "ns": 10**9}


def stored_range(kind: pa.DataType) -> tuple[int, int] | None:
    """The range of the whole numbers that stand for values of a type; None for types that are not counted so.

    Dates and timestamps are of the years 1 to 9999, which is all that most programs can show; with a time zone one day
    less at both ends, which is not of these years everywhere. The smallest 64-bit number is not a moment: it stands for
    a missing one.

    Examples
    --------
    >>> import pyarrow as pa
    >>> stored_range(pa.time32("s")), stored_range(pa.uint8()), stored_range(pa.float64())
    ((0, 86399), (0, 255), None)
    """
    from pyarrow import types as t

    if t.is_integer(kind):
        limits = np.iinfo(kind.to_pandas_dtype())
        return max(int(limits.min), -(2**63)), min(int(limits.max), 2**63 - 1)
    if t.is_time(kind):
        return 0, _SECONDS_OF_DAY * _PER_SECOND[kind.unit] - 1
    if t.is_date32(kind):
        return _FIRST_DAY, _LAST_DAY
    if t.is_date64(kind):
        return _FIRST_DAY * _SECONDS_OF_DAY * 1000, _LAST_DAY * _SECONDS_OF_DAY * 1000
    if t.is_timestamp(kind):
        unit = _SECONDS_OF_DAY * _PER_SECOND[kind.unit]
        low, high = max(_FIRST_DAY * unit, -(2**63) + 1), min((_LAST_DAY + 1) * unit - 1, 2**63 - 1)
        return (low, high) if kind.tz is None else (low + unit, high - unit)
    if t.is_duration(kind):
        return -(2**63) + 1, 2**63 - 1
    return None


def float_range(kind: pa.DataType) -> float:
    """The largest float64 that a type of fractions can hold, on either side of zero.

    Examples
    --------
    >>> import pyarrow as pa
    >>> float_range(pa.decimal128(4, 2)) < 100.0, float_range(pa.float64())
    (True, 1.7976931348623157e+308)
    """
    from pyarrow import types as t

    if t.is_decimal(kind):
        most = (10**kind.precision - 1) * 10.0**-kind.scale
        return float(np.nextafter(most, 0.0))
    return float(np.finfo(kind.to_pandas_dtype()).max)


def within(numbers: FloatArray, origin: int, low: int, high: int) -> IntArray:
    """Whole numbers nearest to ``numbers + origin``, moved to `low` or `high` where they are beyond; no NaN.

    Examples
    --------
    >>> within(np.array([-1e300, 2.4, 1e300]), 2**62, -(2**63), 2**63 - 1).tolist() == [-(2**63), 2**62 + 2, 2**63 - 1]
    True
    """
    rounded = np.rint(numbers)
    # Floats need not hold the limits: beyond them, or at what they are rounded to, the limit itself is meant.
    above, below = rounded >= float(high - origin), rounded <= float(low - origin)
    inside = np.where(above | below, 0.0, rounded).astype(np.int64) + np.where(above | below, 0, origin)
    result: IntArray = np.select([above, below], [high, low], inside)
    return result


def values_out_of_range(column: pa.ChunkedArray | pa.Array, *, written: bool = True) -> int:
    """How many values of a column do not exist: times beyond a day, dates beyond the year 9999 or `written` as such."""
    import pyarrow as pa
    import pyarrow.compute as pc
    from pyarrow import types as t

    kind = column.type
    if t.is_dictionary(kind):
        column, kind = column.cast(kind.value_type), kind.value_type
    if is_text(kind):
        if not written:
            return 0
        return int(pc.sum(pc.starts_with(column, OUT_OF_RANGE_TEXT)).as_py() or 0)
    if not (t.is_time(kind) or t.is_date(kind) or t.is_timestamp(kind)):
        return 0
    limits = stored_range(kind)
    assert limits is not None
    whole = pa.int32() if t.is_time32(kind) or t.is_date32(kind) else pa.int64()
    numbers = column.cast(whole).cast(pa.int64())
    beyond = pc.or_(pc.less(numbers, limits[0]), pc.greater(numbers, limits[1]))
    return int(pc.sum(beyond).as_py() or 0)
