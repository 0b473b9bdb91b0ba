"""The values of a protected column as numbers, each from its own record: whatever type a reader gave the column.

A reader that guesses types gives a whole column another one when a single value does not fit: text instead of times,
nanoseconds instead of seconds, doubles instead of integers. So nothing here looks at the type alone: every value that
the recipe's type can hold becomes a number on that type's scale, and what is none is counted and refused.
"""

from __future__ import annotations

import datetime as dt
import re
from collections.abc import Callable
from typing import TYPE_CHECKING

import numpy as np
import numpy.typing as npt

from microagg._typing import FloatArray
from microagg.errors import TableError
from microagg.tables.formats.display_formats import meaning_of_format, microseconds_from_numbers
from microagg.tables.frames import Column

if TYPE_CHECKING:
    import pyarrow as pa

__all__ = ["MICROSECONDS", "bound_as_number", "holds_durations", "holds_times", "values_as_numbers"]


MICROSECONDS = 10**6  # of a second
_DAY = 86_400 * MICROSECONDS
_EPOCH = dt.datetime(1970, 1, 1)
_NUMBER = re.compile(r"[+-]?(\d+\.?\d*|\.\d+)([eE][+-]?\d+)?")
# In a sheet of times, Excel's 24:00 is the midnight of its first day.
_TIME = re.compile(r"(1900-01-01T)?(\d{1,5}):([0-5]\d)(?::([0-5]\d)(\.\d+)?)?")


def holds_times(column: Column, stored_format: str) -> bool:
    """Whether a column is of times of day: by its type, its declared display format, or what its text looks like.

    Values that are no times do not make it another column; they are refused where they are measured.
    """
    import pyarrow as pa

    if pa.types.is_time(column.values.type):
        return True
    if column.is_number:
        return meaning_of_format(stored_format) == "time"
    # One of another kind does not decide: a column that has both kinds is refused, whichever it is taken for.
    return column.is_text and 2 * sum(_TIME.fullmatch(text.strip()) is not None for text in _texts(column)) > len(
        column.values
    )


def holds_durations(column: Column) -> bool:
    """Whether a column is of lengths of time, which no file that is written can hold."""
    import pyarrow as pa

    return bool(pa.types.is_duration(column.values.type))


def values_as_numbers(column: Column, kind: pa.DataType, stored_format: str) -> FloatArray:
    """Every value on the scale of `kind`: days of dates, microseconds of other moments, else the number itself.

    Parameters
    ----------
    column : Column
        Without missing values.
    kind : Arrow type
        The type that the recipe decides: a date, timestamp, time, duration or number.
    stored_format : str
        The display format that a file of a statistics package declares, as in `Labels.format`.

    Raises
    ------
    TableError
        If values cannot be of that type; the message has counts, not values.
    """
    import pyarrow as pa

    if pa.types.is_date(kind):
        return _days(column)
    if pa.types.is_timestamp(kind):
        return _since_1970(column, "datetimes")
    if pa.types.is_time(kind) or pa.types.is_duration(kind):
        return _microseconds_of_time(column, stored_format)
    if column.is_temporal:
        raise _wrong_bounds(column, "dates")
    if column.is_text:
        return _from_text(column, _number_of, "numbers", "declared numeric but holds text: ")
    if column.is_integer:
        return np.array(column.values.cast(pa.float64(), safe=False).to_numpy(zero_copy_only=False), dtype=np.float64)
    return column.numbers()


def bound_as_number(bound: float | dt.date | dt.datetime, kind: pa.DataType) -> float:
    """Where a declared bound lies on the scale of `kind`."""
    import pyarrow as pa

    if not isinstance(bound, dt.date):
        return float(bound) * (MICROSECONDS if pa.types.is_time(kind) or pa.types.is_duration(kind) else 1)
    moment = bound if isinstance(bound, dt.datetime) else dt.datetime(bound.year, bound.month, bound.day)
    since = _in_utc(moment) - _EPOCH
    return float(since.days) if pa.types.is_date(kind) else float(since // dt.timedelta(microseconds=1))


def _days(column: Column) -> FloatArray:
    micros = _since_1970(column, "dates")
    days = np.floor(micros / _DAY)
    timed = int((days * _DAY != micros).sum())
    if timed:
        raise TableError(
            f"column {column.name!r} has {timed} values with a time of day, and its bounds are dates. Declare bounds "
            "with times, like [1990-01-01T00:00:00, 2030-12-31T23:59:59]"
        )
    return days


def _since_1970(column: Column, what: str) -> FloatArray:
    import pyarrow as pa

    kind = column.values.type
    if column.is_text:
        return _from_text(column, _moment_of, what, f"bounded by {what} but holds text: ")
    if pa.types.is_date(kind):
        return _integers(column).astype(np.float64) * (_DAY / column.unit)
    if pa.types.is_timestamp(kind):
        return _in_microseconds(column)
    raise _wrong_bounds(column, "numbers" if not column.is_temporal else "seconds")


def _microseconds_of_time(column: Column, stored_format: str) -> FloatArray:
    if column.is_text:
        return _from_text(column, _time_of, "times of day", "of times of day but holds text: ")
    if column.is_number:
        return microseconds_from_numbers(column.numbers() + column.origin, stored_format)
    return _in_microseconds(column)


def _in_microseconds(column: Column) -> FloatArray:
    """Of what is finer than a microsecond, the whole ones."""
    integers = _integers(column)
    if column.unit > MICROSECONDS:  # before they become floats, which lack the digits
        return (integers // (column.unit // MICROSECONDS)).astype(np.float64)
    return integers.astype(np.float64) * (MICROSECONDS / column.unit)


def _integers(column: Column) -> npt.NDArray[np.int64]:
    import pyarrow as pa

    values = column.values
    if pa.types.is_date32(values.type) or pa.types.is_time32(values.type):
        values = values.cast(pa.int32())
    integers: npt.NDArray[np.int64] = values.cast(pa.int64()).to_numpy(zero_copy_only=False)
    return integers


def _wrong_bounds(column: Column, wanted: str) -> TableError:
    return TableError(f"column {column.name!r} holds {column.values.type} values: its bounds must be {wanted}")


def _texts(column: Column) -> list[str]:
    return [text for text in column.values.to_pylist() if text is not None]


def _from_text(column: Column, parse: Callable[[str], float | None], what: str, how: str) -> FloatArray:
    found = [parse(text.strip()) for text in _texts(column)]
    bad = sum(number is None for number in found)
    if bad:
        raise TableError(f"column {column.name!r} is {how}{bad} of {len(found)} values are not {what}")
    return np.array(found, dtype=np.float64)


def _number_of(text: str) -> float | None:
    return float(text) if _NUMBER.fullmatch(text) else None


def _time_of(text: str) -> float | None:
    parts = _TIME.fullmatch(text)
    if parts is None:
        return None
    next_day, hours, minutes, seconds, fraction = parts.groups()
    whole = 86_400 * bool(next_day) + 3600 * int(hours) + 60 * int(minutes) + int(seconds or 0)
    return float(whole * MICROSECONDS + int((fraction or ".0")[1:7].ljust(6, "0")))


def _moment_of(text: str) -> float | None:
    try:
        moment = dt.datetime.fromisoformat(text)
        return float((_in_utc(moment) - _EPOCH) // dt.timedelta(microseconds=1))
    except (ValueError, OverflowError):
        return None


def _in_utc(moment: dt.datetime) -> dt.datetime:
    return moment if moment.tzinfo is None else moment.astimezone(dt.UTC).replace(tzinfo=None)
