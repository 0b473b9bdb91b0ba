"""Tables that differ in one record, and the ways in which people hand a table over."""

from __future__ import annotations

import datetime as dt
import gzip
import math
from collections.abc import Callable
from dataclasses import dataclass
from pathlib import Path
from typing import Any

from optional_packages import pandas as pd
from optional_packages import polars as pl

N_RECORDS = 15
HUGE = 10**25  # within the bounds of "amount", and beyond 64 bits
TREE = {"clerk": "office", "manager": "office", "farmer": "field", "miner": "field", "office": "work", "field": "work"}
_DAYS = [dt.date(2000, 1, 1), dt.date(2020, 12, 31)]
_MOMENTS = [dt.datetime(2000, 1, 1), dt.datetime(2020, 12, 31)]
_ZONED = [moment.replace(tzinfo=dt.UTC) for moment in _MOMENTS]


def _numeric(**more: Any) -> dict[str, Any]:
    return {"role": "quasi_identifier", "kind": "numeric", **more}


def _categories(kind: str, **more: Any) -> dict[str, Any]:
    return {"role": "quasi_identifier", "kind": kind, **more}


DECLARED = {
    "whole": _numeric(bounds=[0, 100]),
    "count": _numeric(bounds=[0, 100], resolution=1),
    "amount": _numeric(bounds=[-1e30, 1e30]),
    "share": _numeric(bounds=[0.0, 1.0], resolution=0.05),
    "day": _numeric(bounds=_DAYS),
    "moment": _numeric(bounds=_MOMENTS),
    "zoned": _numeric(bounds=_ZONED),
    "clock": _numeric(bounds=[0, 86_400], resolution=1),
    "level": _categories("ordinal", categories=["low", "middle", "high", "top"]),
    "grade": _categories("ordinal", categories=[1, 2, 3, 4]),
    "mark": _categories("ordinal", categories=[1, 1.5, 2, 2.5]),
    "job": _categories("nominal", taxonomy=TREE),
    "code": _categories("nominal", categories=[1, 2, 3]),
    "flag": _categories("nominal", categories=[True, False]),
}
_CYCLES: dict[str, list[Any]] = {
    "whole": [1, 20, 33, 47, 52],
    "count": [3, 5, 8, 60, 61],
    "amount": [10, 2_000, -7, 40, 123],
    "share": [0.05, 0.1, 0.5, 0.95, 0.25],
    "day": [dt.date(2001, 2, day) for day in (1, 5, 9, 13, 28)],
    "moment": [dt.datetime(2001, 2, day, 12) for day in (1, 5, 9, 13, 28)],
    "zoned": [dt.datetime(2001, 2, day, 12) for day in (1, 5, 9, 13, 28)],
    "clock": [dt.time(hour, 30) for hour in (0, 5, 9, 13, 23)],
    "level": ["low", "middle", "high", "low", "low"],
    "grade": [1, 2, 3, 2, 1],
    "mark": [1, 2, 2, 1, 2],
    "job": ["clerk", "manager", "farmer", "clerk", "clerk"],
    "code": [1, 2, 2, 1, 1],
    "flag": [True, False, False, True, True],
}


@dataclass(frozen=True)
class Nasty:
    """A value that one record gets in the place of its own.

    Attributes
    ----------
    column : str
    value : object
    impossible : bool
        The recipe declares that no record has it (or, without `clamp`, outside the bounds): it may be refused.
    """

    column: str
    value: Any
    impossible: bool = False


def _each(column: str, *values: Any, impossible: bool = False) -> list[Nasty]:
    return [Nasty(column, value, impossible) for value in values]


_NO_NUMBERS = (None, math.nan, math.inf, -math.inf, "text", "", " ", "7,5", "0x1F", True)
NASTIES: tuple[Nasty, ...] = (
    *_each("whole", 3.5, 0, 100, -0.0, 5e-324, 2.0**-1074 * 3, 1e-300, 99.99999999999999, 7.0, 1e1),
    *_each("whole", 101, -1, 1e300, -1e300, 2**53 + 1, 2**63, 10**19, 10**25, 100.00000000000001, impossible=True),
    *_each("whole", *_NO_NUMBERS, "01:00:00", dt.date(2001, 2, 3), impossible=True),
    *_each("count", 3.5, 0, 100, -0.0, 5e-324, 2.5, 99.999999, 7.0),
    *_each("count", -1, 1e19, None, "text", impossible=True),
    *_each("amount", 0.1, 1e29, 2**62, 2**63 - 1, -(2**63), 1e-320, -0.0, 123_456_789.123456789, 1e30, -1e30, HUGE),
    *_each("amount", 1.1e30, 1.7e308, math.inf, None, "text", impossible=True),
    *_each("share", 1, 0, 0.333, 5e-324, 0.05000000000000001, 1.0),
    *_each("share", 1.0000000000000002, -5e-324, None, True, impossible=True),
    *_each("day", dt.date(2000, 1, 1), dt.date(2020, 12, 31), dt.date(2004, 2, 29), dt.datetime(2001, 2, 3)),
    *_each("day", dt.date(1500, 1, 1), dt.date(9999, 12, 31), dt.date(1, 1, 1), impossible=True),
    *_each("day", dt.datetime(2001, 2, 3, 12), "2001-02-30", "yesterday", None, 5, "", impossible=True),
    *_each("moment", dt.datetime(2000, 1, 1), dt.datetime(2001, 2, 3, 4, 5, 6), dt.datetime(2001, 2, 3, 4, 5, 6, 7)),
    *_each("moment", "2001-02-03 12:00:00.000000001", "2001-02-03T12:00:00Z", "2001-02-03", "2001-02-03T12:00"),
    *_each("moment", dt.datetime(1500, 1, 1), dt.datetime(9999, 12, 31, 23, 59, 59), impossible=True),
    *_each("moment", "2001-02-03 12:00:00+25:00", "noon", None, 5.5, "", impossible=True),
    *_each("zoned", "2001-02-03T12:00:00+02:00", "2001-02-03T12:00:00.5Z", dt.datetime(2001, 2, 3, 4, 5, 6, 7)),
    *_each("zoned", dt.datetime(1700, 1, 1), None, "noon", impossible=True),
    *_each("clock", dt.time(0), dt.time(23, 59, 59), dt.time(23, 59, 59, 999_999), dt.time(12, 0, 0, 1)),
    *_each("clock", None, "noon", "24:61:00", dt.timedelta(hours=30), impossible=True),
    *_each("level", "high", "top"),
    *_each("level", "nope", " low", "LOW", "", None, "low ", "3", impossible=True),
    *_each("grade", 4, 1.0, 3),
    *_each("grade", 2.5, 5, "x", None, True, math.nan, math.inf, 2**63, impossible=True),
    *_each("mark", 1.5, 2.5, 1, 2.0),
    *_each("mark", 1.25, 3, None, impossible=True),
    *_each("job", "miner", "office", "work"),
    *_each("job", "pilot", "Clerk", "clerk ", "", None, 1, impossible=True),
    *_each("code", 3),
    *_each("code", 2.0, 4, 1.5, "one", None, "01", impossible=True),
    *_each("flag", False),
    *_each("flag", "yes", None, 2, impossible=True),
)


def records_of(names: list[str]) -> dict[str, list[Any]]:
    """An ordinary table of the named columns."""
    return {name: [_CYCLES[name][i % len(_CYCLES[name])] for i in range(N_RECORDS)] for name in names}


class NoSuchTableError(Exception):
    """The library, or the kind of file, cannot hold this table: there is nothing to release."""


def as_pandas(table: dict[str, list[Any]]) -> Any:
    try:
        return pd.DataFrame(table)
    except (OverflowError, TypeError, ValueError) as error:
        raise NoSuchTableError from error


def as_polars(table: dict[str, list[Any]]) -> Any:
    try:
        return pl.DataFrame(table)
    except Exception as error:  # polars has many kinds of refusal
        raise NoSuchTableError from error


def as_arrow(table: dict[str, list[Any]]) -> Any:
    import pyarrow as pa

    try:
        return pa.table(table)
    except (pa.ArrowException, OverflowError, TypeError, ValueError) as error:
        raise NoSuchTableError from error


def _write_text(path: Path, table: dict[str, list[Any]]) -> None:
    import csv

    opened = gzip.open if path.suffix == ".gz" else open
    with opened(path, "wt", encoding="utf-8", newline="") as file:
        writer = csv.writer(file, delimiter="\t" if path.suffix == ".tsv" else ",", lineterminator="\n")
        writer.writerow(table)
        writer.writerows(zip(*([_field(value) for value in column] for column in table.values()), strict=True))


def _field(value: Any) -> str:
    return "" if value is None else str(value).lower() if isinstance(value, bool) else str(value)


def _write_arrow(path: Path, table: dict[str, list[Any]]) -> None:
    """As pandas writes it, with the types that pandas guessed."""
    import pyarrow as pa

    frame = as_pandas(table)
    try:
        frame.to_parquet(path) if path.suffix == ".parquet" else frame.to_feather(path)
    except (pa.ArrowException, OverflowError, TypeError, ValueError) as error:
        raise NoSuchTableError from error


def _write_excel(path: Path, table: dict[str, list[Any]]) -> None:
    import openpyxl

    book = openpyxl.Workbook()
    book.active.append(list(table))
    try:
        for row in zip(*table.values(), strict=True):
            book.active.append(list(row))
        book.save(path)
    except (ValueError, TypeError, OverflowError) as error:
        raise NoSuchTableError from error


# Formats that show no decimals, and for times of day ones that a value outside a day does not fit.
_FORMATS = {
    "sav": {"whole": "F8.0", "count": "F8.0", "grade": "F8.0", "clock": "TIME8"},
    "dta": {"whole": "%9.0f", "count": "%9.0f", "grade": "%9.0f", "clock": "%tcHH:MM:SS"},
}


def _write_statistics(path: Path, table: dict[str, list[Any]]) -> None:
    """As pyreadstat writes it: doubles under formats of whole numbers, with labels, and times as numbers."""
    import pyreadstat

    if "flag" in table:
        raise NoSuchTableError("these files have no truth values")
    kind = path.suffix[1:]
    per_second = 1_000 if kind == "dta" else 1
    columns = {name: _as_doubles(values, per_second) for name, values in table.items()}
    frame = as_pandas(columns)
    if kind in _FORMATS and any(not _are_numbers(columns[name]) for name in _FORMATS[kind] if name in columns):
        raise NoSuchTableError("a format for numbers on text")
    formats = {name: form for name, form in _FORMATS.get(kind, {}).items() if name in table}
    labels = {"grade": {1: "poor", 2: "fair", 3: "good"}} if "grade" in table else {}
    about: dict[str, Any] = {"column_labels": {name: f"The {name}" for name in table}}
    write: Callable[..., Any] = {"sav": pyreadstat.write_sav, "dta": pyreadstat.write_dta}.get(
        kind, pyreadstat.write_xport
    )
    if kind in _FORMATS:
        about |= {"variable_format": formats, "variable_value_labels": labels}
    try:
        write(frame, str(path), **about)
    except Exception as error:  # pyreadstat has no error of its own for what it cannot write
        raise NoSuchTableError from error


def _are_numbers(values: list[Any]) -> bool:
    return all(value is None or isinstance(value, float) for value in values)


def _as_doubles(values: list[Any], per_second: int) -> list[Any]:
    return [_as_double(value, per_second) for value in values]


def _as_double(value: Any, per_second: int) -> Any:
    if isinstance(value, dt.time):
        seconds = 3600 * value.hour + 60 * value.minute + value.second
        return seconds * float(per_second) + value.microsecond / (10**6 / per_second)
    return float(value) if isinstance(value, int) and not isinstance(value, bool) else value


FILES: dict[str, Callable[[Path, dict[str, list[Any]]], None]] = {
    "csv": _write_text,
    "csv.gz": _write_text,
    "tsv": _write_text,
    "parquet": _write_arrow,
    "feather": _write_arrow,
    "xlsx": _write_excel,
    "sav": _write_statistics,
    "dta": _write_statistics,
    "xpt": _write_statistics,
}
FRAMES: dict[str, Callable[[dict[str, list[Any]]], Any]] = {
    "pandas": as_pandas,
    "polars": as_polars,
    "pyarrow": as_arrow,
}
