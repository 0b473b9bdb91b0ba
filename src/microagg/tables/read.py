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

from microagg.errors import TableError, did_you_mean
from microagg.tables.formats.excel import read_excel
from microagg.tables.formats.labels import read_labelled
from microagg.tables.formats.names import DELIMITERS, FORMATS, check_names, refusing
from microagg.tables.joined import refuse_joined_rows
from microagg.tables.missing_codes import table_without_codes
from microagg.tables.text.dialect import DEFAULT_MISSING, STANDARD, Dialect
from microagg.tables.text.read import read_text
from microagg.tables.text.written import retyped

if TYPE_CHECKING:
    import pyarrow as pa

__all__ = ["DEFAULT_MISSING", "DELIMITERS", "EXTENSIONS", "FORMATS", "check_is_file", "format_of", "read_table"]

EXTENSIONS = {f".{name}": name for name in FORMATS} | {
    ".tab": "tsv",
    ".dat": "txt",
    ".arrow": "feather",
    ".zsav": "sav",
}


def format_of(path: str | os.PathLike[str]) -> str:
    """Return the format of a file, one of the keys of `FORMATS`, from the extension of its name.

    Parameters
    ----------
    path : str or path
        The file need not exist. Upper and lower case are the same.

    Raises
    ------
    TableError
        If the extension is not one of `EXTENSIONS`.

    Examples
    --------
    >>> format_of("survey.CSV.gz")
    'csv.gz'
    """
    name = Path(path).name
    for extension in sorted(EXTENSIONS, key=len, reverse=True):
        if name.lower().endswith(extension):
            return EXTENSIONS[extension]
    suffix = Path(path).suffix.lower()
    if suffix in (".xls", ".xlsb", ".ods"):
        raise TableError(f"{name}: of the spreadsheet formats only .xlsx is read; save the sheet as .xlsx or .csv.")
    known = ", ".join(EXTENSIONS)
    raise TableError(f"{name}: unknown extension. Known are {known}.{did_you_mean(suffix, EXTENSIONS)}")


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
        Its extension, one of `EXTENSIONS`, tells the format.
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
        SPSS, Stata and SAS labels are in the metadata of its fields, see `microagg.tables.formats.labels`.

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

    *Excel*: the sheet with values (of several, the dialect's), with a header in its first row and the cached values
    of formulas. A column is
    int64, double (integers and decimals), bool, timestamp, time or, with any other mixture, string. Empty
    cells and errors such as ``#DIV/0!`` are missing; empty rows at the end are not records.

    *SPSS, Stata, SAS*: an empty text and a value that the file declares as missing (a missing range, ``.a``
    to ``.z``) are missing; `microagg.tables.formats.declared_missing` counts the latter.
    SPSS and SAS have no integers: a column becomes int64 if its format shows no
    decimals (``F8.0``) and all its values are whole. Columns with a date format become dates, timestamps or
    times. A transport file (``.xpt``) does not say how many records it has: one that was cut between two
    records may look whole. SAS value labels lie in a catalogue file, which is not read. The tests read SPSS,
    Stata and transport files; of ``.sas7bdat``, which no free library writes, they only see that damaged
    files are refused.
    """
    path = Path(path)
    file_format = format_of(path)
    check_is_file(path)
    if missing is not None:
        dialect = replace(dialect, missing_values=tuple(missing))
    if file_format in DELIMITERS:
        table = read_text(path, file_format, dialect, text_columns, number_columns)
    elif file_format in ("parquet", "feather"):
        table = _read_arrow(path, file_format)
    elif file_format == "xlsx":
        table = read_excel(path, dialect, text_columns, number_columns)
    else:
        with refusing(path, file_format):
            table = read_labelled(path, file_format)
    if file_format not in (*DELIMITERS, "xlsx"):
        table = table_without_codes(table, dialect.missing)
        asked = {*number_columns, *dialect.date_formats}
        table = retyped(table, dialect, [name for name in table.column_names if name not in asked], number_columns)
    check_names(table.column_names, path)
    refuse_joined_rows(table, dialect.separator)
    return table_without_codes(table, dialect.missing)


def check_is_file(path: Path) -> None:
    """Refuse a path where there is no file that can be opened."""
    if path.is_dir():
        raise TableError(f"{path.name} is a directory, not a file.")
    try:
        with path.open("rb"):
            pass
    except FileNotFoundError:
        raise TableError(f"{path.name}: no such file.") from None
    except OSError as error:
        raise TableError(f"{path.name} cannot be opened: {error.strerror}.") from None


# Files of Arrow's own kind


def _read_arrow(path: Path, file_format: str) -> pa.Table:
    with refusing(path, file_format):
        if file_format == "parquet":
            from pyarrow import parquet

            with parquet.ParquetFile(path) as file:
                table = file.read()
        else:
            from pyarrow import feather

            table = feather.read_table(path, memory_map=False)
        table.validate(full=True)
    return table
