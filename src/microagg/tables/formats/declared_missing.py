"""How many values a file of a statistics package declares as missing: a refusal to answer is no gap in the file."""

from __future__ import annotations

import os
from pathlib import Path
from typing import Any

from microagg.tables.formats.names import refusing
from microagg.tables.read import format_of

__all__ = ["count_declared_missing", "declared_missing_phrase"]


def count_declared_missing(path: str | os.PathLike[str]) -> dict[str, int]:
    """Count, column by column, the values that `read_table` reads as missing because the file declares them so.

    Those are SPSS's user-missing codes and ranges, and ``.a`` to ``.z`` of Stata and SAS; not the plain missing value.
    Columns without any are left out, and so are files of other formats. Of SAS transport files, whose reader tells
    nothing of them, none are counted.

    Parameters
    ----------
    path : str or path
        A file that `read_table` reads.
    """
    path = Path(path)
    file_format = format_of(path)
    if file_format not in ("sav", "dta", "sas7bdat"):
        return {}
    with refusing(path, file_format):
        found = _in_spss(path) if file_format == "sav" else _tagged(path, file_format)
    return {name: count for name, count in found.items() if count}


def declared_missing_phrase(path: str | os.PathLike[str]) -> str:
    """The counts in a sentence for the data holder; empty if there are none."""
    found = count_declared_missing(path)
    if not found:
        return ""
    counts = ", ".join(f"{name!r} ({count})" for name, count in found.items())
    return f"values that the file declares as missing codes were read as missing: {counts}"


def _in_spss(path: Path) -> dict[str, int]:
    import pyreadstat

    source = str(path.absolute())
    ways: dict[str, Any] = {"output_format": "dict", "user_missing": True, "disable_datetime_conversion": True}
    _, about = pyreadstat.read_sav(source, metadataonly=True, **ways)
    if not about.missing_ranges:
        return {}
    columns, _ = pyreadstat.read_sav(source, usecols=list(about.missing_ranges), **ways)
    return {
        name: sum(value is not None and _is_within(value, about.missing_ranges[name]) for value in values)
        for name, values in columns.items()
    }


def _is_within(value: Any, ranges: list[dict[str, Any]]) -> bool:
    of_text = isinstance(value, str)
    return any(isinstance(one["lo"], str) == of_text and one["lo"] <= value <= one["hi"] for one in ranges)


def _tagged(path: Path, file_format: str) -> dict[str, int]:
    """A tagged missing value is delivered as its letter, among numbers."""
    import pyreadstat

    read = pyreadstat.read_dta if file_format == "dta" else pyreadstat.read_sas7bdat
    columns, about = read(
        str(path.absolute()), output_format="dict", user_missing=True, disable_datetime_conversion=True
    )
    return {
        name: sum(isinstance(value, str) for value in values)
        for name, values in columns.items()
        if about.readstat_variable_types[name] != "string"
    }
