"""What the numbers of a statistics package mean: integers, dates and times differ in their display format only.

`typed_numbers` and `numbers_from_moments` translate between such numbers and Arrow's types.
"""

from __future__ import annotations

import re
from typing import TYPE_CHECKING, Literal, NamedTuple

if TYPE_CHECKING:
    import pyarrow as pa

    from microagg._typing import FloatArray

__all__ = ["Meaning", "meaning_of_format", "microseconds_from_numbers", "numbers_from_moments", "typed_numbers"]

Meaning = Literal["whole", "date", "datetime", "time", "text", "other"]

_MICROSECONDS_PER_DAY = 86_400_000_000


class _Clock(NamedTuple):
    """How a kind of file counts time: from which day, and in which units."""

    days_before_1970: int
    units_per_day_of_date: int
    units_per_second: int


_CLOCKS = {
    "sav": _Clock(141_428, 86_400, 1),  # SPSS: seconds since 1582-10-14, for dates too
    "dta": _Clock(3_653, 1, 1_000),  # Stata: days, or milliseconds, since 1960-01-01
    "sas": _Clock(3_653, 1, 1),  # SAS: days, or seconds, since 1960-01-01
}

_FORMAT_NAMES: dict[str, dict[Meaning, set[str]]] = {
    "sav": {
        "whole": {"F", "N", "COMMA", "DOT", "DOLLAR"},
        "date": {"DATE", "ADATE", "EDATE", "JDATE", "SDATE", "MOYR", "QYR", "WKYR"},
        "datetime": {"DATETIME", "YMDHMS"},
        "time": {"TIME", "DTIME", "MTIME"},
        "text": {"A", "AHEX"},
    },
    "sas": {
        "whole": {"", "F", "Z", "COMMA", "COMMAX", "DOLLAR"},
        "date": {"DATE", "WEEKDATE", "WEEKDATX", "IS8601DA", "E8601DA", "B8601DA"}
        | {order + mark for order in ("DDMMYY", "MMDDYY", "YYMMDD") for mark in ("", *"BCDNPS")},
        "datetime": {
            "DATETIME",
            "DATEAMPM",
            "MDYAMPM",
            "IS8601DT",
            "E8601DT",
            "B8601DT",
            "B8601DN",
            "DTDATE",
        },
        "time": {"TIME", "HHMM", "TOD", "TIMEAMPM", "IS8601TM", "E8601TM", "B8601TM"},
    },
}
_NAME_WIDTH_DECIMALS = re.compile(r"(?P<name>[A-Z][A-Z0-9]*[A-Z]|[A-Z]|)(?P<width>\d*)\.?(?P<decimals>\d*)")
_STATA_FORMATS: dict[Meaning, re.Pattern[str]] = {
    "whole": re.compile(r"%[-~]?\d+[.,]0fc?"),
    "date": re.compile(r"%-?t?d.*"),
    "time": re.compile(r"%-?tc(HH|Hh|hH|hh):MM(:SS)?(\.s+)?"),
    "datetime": re.compile(r"%-?tc.*"),
    "text": re.compile(r"%[-~]?\d*s"),
}


def meaning_of_format(stored_format: str) -> Meaning:
    """Return what the numbers under a display format are.

    Stata's ``%tC`` (with leap seconds), ``%tw``, ``%tm``, ``%tq``, ``%th`` and ``%ty`` count in units of
    their own; such columns stay numbers.

    Parameters
    ----------
    stored_format : str
        As in `Labels.format`.

    Returns
    -------
    {"whole", "date", "datetime", "time", "text", "other"}
        ``"whole"`` is a number shown without decimals, ``"other"`` any other number.

    Examples
    --------
    >>> [meaning_of_format(text) for text in ("sav:F8.0", "sav:F8.2", "dta:%tdDD/NN/CCYY", "sas:DATETIME19")]
    ['whole', 'other', 'date', 'datetime']
    """
    kind_of_file, _, text = stored_format.partition(":")
    if kind_of_file == "dta":
        return next((meaning for meaning, form in _STATA_FORMATS.items() if form.fullmatch(text)), "other")
    parts = _NAME_WIDTH_DECIMALS.fullmatch(text)
    if parts is None or kind_of_file not in _FORMAT_NAMES:
        return "other"
    names = _FORMAT_NAMES[kind_of_file]
    meaning: Meaning = next((known for known, group in names.items() if parts["name"] in group), "other")
    if meaning == "whole" and (not parts["width"] or int(parts["decimals"] or 0) > 0):
        return "other"
    return meaning


def typed_numbers(numbers: pa.Array, stored_format: str) -> pa.Array:
    """Give the numbers of a file the Arrow type that their display format stands for.

    Doubles shown without decimals become int64 if they are whole. Durations of a day or more under a format
    for times are not times of day, and stay numbers.
    """
    import pyarrow as pa
    import pyarrow.compute as pc

    meaning = meaning_of_format(stored_format)
    if meaning in ("other", "text") or (meaning == "whole" and pa.types.is_integer(numbers.type)):
        return numbers
    numbers = numbers.cast(pa.float64())
    if meaning == "whole":
        is_exact = pc.and_(pc.equal(pc.floor(numbers), numbers), pc.less_equal(pc.abs(numbers), 2.0**53))
        return numbers.cast(pa.int64()) if pc.all(is_exact, min_count=0).as_py() else numbers
    clock = _CLOCKS[stored_format.partition(":")[0]]
    if meaning == "date":
        days = pc.subtract(pc.floor(pc.divide(numbers, clock.units_per_day_of_date)), clock.days_before_1970)
        return days.cast(pa.int32()).cast(pa.date32())
    microseconds = pc.round(pc.multiply(numbers, 1_000_000 // clock.units_per_second)).cast(pa.int64())
    if meaning == "datetime":
        since_1970 = pc.subtract(microseconds, clock.days_before_1970 * _MICROSECONDS_PER_DAY)
        return since_1970.cast(pa.timestamp("us"))
    is_within_a_day = pc.and_(pc.greater_equal(microseconds, 0), pc.less(microseconds, _MICROSECONDS_PER_DAY))
    if not pc.all(is_within_a_day, min_count=0).as_py():
        return numbers
    return microseconds.cast(pa.time64("us"))


def microseconds_from_numbers(numbers: FloatArray, stored_format: str) -> FloatArray:
    """Turn the numbers of a file under a format for times into microseconds, also durations of a day or more."""
    import numpy as np

    clock = _CLOCKS[stored_format.partition(":")[0]]
    return np.rint(np.clip(numbers, -1e300, 1e300) * float(1_000_000 // clock.units_per_second))


def numbers_from_moments(moments: pa.ChunkedArray, kind_of_file: str) -> pa.ChunkedArray:
    """Turn dates, timestamps or times of day into the numbers that a kind of file stores."""
    import pyarrow as pa
    import pyarrow.compute as pc

    clock = _CLOCKS[kind_of_file]
    if pa.types.is_date(moments.type):
        days = pc.add(moments.cast(pa.date32(), safe=False).cast(pa.int32()).cast(pa.float64()), clock.days_before_1970)
        return pc.multiply(days, clock.units_per_day_of_date)
    since_start = 0
    if pa.types.is_timestamp(moments.type):
        # Down to what both can hold exactly: rounded up, the last moment of the last year would be one that is not.
        moments = pc.floor_temporal(moments.cast(pa.timestamp("us"), safe=False), unit="millisecond")
        since_start = clock.days_before_1970 * 86_400 * clock.units_per_second
    else:
        moments = moments.cast(pa.time64("us"), safe=False)
    # Not "safe": beyond 2^53 microseconds, in the year 2255, a double still tells milliseconds.
    units = pc.divide(moments.cast(pa.int64()).cast(pa.float64(), safe=False), 1_000_000 // clock.units_per_second)
    return pc.add(units, since_start)
