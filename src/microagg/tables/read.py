"""Read a table from a file into a `pyarrow.Table`; the extension of the file's name tells its format.

A file that is cut short, damaged or not of its format is refused with the file's name and the format, never
with what a library says about it, because such messages may quote records.
"""

from __future__ import annotations

import os
from collections.abc import Collection, Sequence
from dataclasses import replace
from pathlib import Path
from typing import TYPE_CHECKING

from microagg.tables.formats.base import ReadOptions
from microagg.tables.formats.registry import format_of
from microagg.tables.text.dialect import STANDARD, Dialect

if TYPE_CHECKING:
    import pyarrow as pa

__all__ = ["read_table"]


def read_table(
    path: str | os.PathLike[str],
    *,
    text_columns: Collection[str] = (),
    number_columns: Collection[str] = (),
    missing: Sequence[str] | None = None,
    dialect: Dialect = STANDARD,
) -> pa.Table:
    """Read a table from a file.

    Parameters
    ----------
    path : str or path
        Its extension tells the format, see `microagg.tables.formats.registry`.
    text_columns : collection of str, default ()
        Columns of a text file or an Excel sheet to read as text, so that a code such as ``007`` keeps its
        zeros. Names that the file does not have are ignored. The other formats say themselves what is text.
    number_columns : collection of str, default ()
        Columns of text to read as numbers, if all their text can be read so.
    missing : sequence of str, default ("", "NA", "NaN")
        Fields of a text file that stand for "missing", if they are not in quotes. A number such as -999 is a
        number unless it is named here. Instead of the dialect's `missing_values`.
    dialect : Dialect, optional
        How the file writes the table. Codes for missing act in every format, and so do forms of numbers and dates in
        `number_columns` and in columns with a date format of their own; the rest in text files and Excel sheets.

    Returns
    -------
    pyarrow.Table
        SPSS, Stata and SAS labels are in the metadata of its fields, see `microagg.tables.labels`.

    Raises
    ------
    TableError
        If the file does not exist, is not of its format, is damaged, or has columns without a name or with
        the same name.

    Notes
    -----
    *Text files* (``.csv``, ``.csv.gz``, ``.tsv``, and ``.txt`` with a separator) are UTF-8, with or without a byte
    order mark, and have a header, unless the dialect says otherwise. A file that looks as if whole rows were one
    field is refused, unless its separator is given. A column gets the first type that fits all its values: int64,
    bool (only the words true and false), date, time, timestamp, double, string; a column without any value has
    Arrow's type null. Quotes around a number do not make it text. Integers that int64 cannot hold are kept as text
    rather than rounded. Blank lines are skipped.

    *Excel*: the sheet with values (if there are several, the dialect's), with a header in its first row and the cached
    values of formulas. A column is int64, double (integers and decimals), bool, timestamp, time or, with any other
    mixture, string. Empty cells and errors such as ``#DIV/0!`` are missing; empty rows at the end are not records.

    *SPSS, Stata, SAS*: an empty text and a value that the file declares as missing (a missing range, ``.a`` to ``.z``)
    are missing; `microagg.tables.formats.declared_missing` counts the latter. SPSS and SAS have no integers: a column
    becomes int64 if its format shows no decimals (``F8.0``) and all its values are whole. Columns with a date format
    become dates, timestamps or times. A transport file (``.xpt``) does not say how many records it has: one that was
    cut between two records may look whole. SAS value labels lie in a catalogue file, which is not read. The tests read
    SPSS, Stata and transport files; no free library writes ``.sas7bdat``, so they only see that damaged ones are
    refused.
    """
    path = Path(path)
    if missing is not None:
        dialect = replace(dialect, missing_values=tuple(missing))
    return format_of(path).read(path, ReadOptions(text_columns, number_columns, dialect))
