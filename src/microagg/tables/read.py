"""Read a table from a file into a `pyarrow.Table`; the extension of the file's name tells its format.

A file that is cut short, damaged or not of its format is refused with the file's name and the format, never
with what a library says about it, because such messages may quote records.
"""

from __future__ import annotations

import csv
import gzip
import io
import os
from collections.abc import Collection, Iterator, Sequence
from contextlib import contextmanager
from dataclasses import dataclass
from pathlib import Path
from typing import TYPE_CHECKING, Any, BinaryIO, TextIO, cast

from microagg.errors import TableError, did_you_mean
from microagg.tables._excel import read_excel
from microagg.tables._formats import FORMATS, check_names, refusing
from microagg.tables.labels import read_labelled

if TYPE_CHECKING:
    import pyarrow as pa

__all__ = ["DEFAULT_MISSING", "EXTENSIONS", "FORMATS", "format_of", "read_table"]

DEFAULT_MISSING = ("", "NA", "NaN")

EXTENSIONS = {f".{name}": name for name in FORMATS} | {".arrow": "feather", ".zsav": "sav"}
DELIMITERS = {"csv": ",", "csv.gz": ",", "tsv": "\t"}

_BLOCK = 1 << 24


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
    missing: Sequence[str] = DEFAULT_MISSING,
) -> pa.Table:
    """Read a table from a file.

    Parameters
    ----------
    path : str or path
        Its extension, one of `EXTENSIONS`, tells the format.
    text_columns : collection of str, default ()
        Columns of a text file or an Excel sheet to read as text, so that a code such as ``007`` keeps its
        zeros. Names that the file does not have are ignored. The other formats say themselves what is text.
    missing : sequence of str, default ("", "NA", "NaN")
        Fields of a text file that stand for "missing", if they are not in quotes. A number such as -999 is a
        number unless it is named here.

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
    *Text files* (``.csv``, ``.csv.gz``, ``.tsv``) are UTF-8, with or without a byte order mark, and have a
    header. A column gets the first type that fits all its values: int64, bool (only the words true and
    false), date, time, timestamp, double, string; a column without any value has Arrow's type null. Quotes
    around a number do not make it text. Integers that int64 cannot hold are kept as text rather than rounded.
    Blank lines are skipped.

    *Excel*: the first sheet, with a header in its first row and the cached values of formulas. A column is
    int64, double (integers and decimals), bool, timestamp, time or, with any other mixture, string. Empty
    cells and errors such as ``#DIV/0!`` are missing; empty rows at the end are not records.

    *SPSS, Stata, SAS*: an empty text and a value that the file declares as missing (a missing range, ``.a``
    to ``.z``) are missing; `microagg.tables.declared_missing` counts the latter.
    SPSS and SAS have no integers: a column becomes int64 if its format shows no
    decimals (``F8.0``) and all its values are whole. Columns with a date format become dates, timestamps or
    times. A transport file (``.xpt``) does not say how many records it has: one that was cut between two
    records may look whole. SAS value labels lie in a catalogue file, which is not read. The tests read SPSS,
    Stata and transport files; of ``.sas7bdat``, which no free library writes, they only see that damaged
    files are refused.
    """
    path = Path(path)
    file_format = format_of(path)
    _check_is_file(path)
    if file_format in DELIMITERS:
        table = _read_text(path, file_format, text_columns, missing)
    elif file_format in ("parquet", "feather"):
        table = _read_arrow(path, file_format)
    elif file_format == "xlsx":
        table = read_excel(path, text_columns)
    else:
        with refusing(path, file_format):
            table = read_labelled(path, file_format)
    check_names(table.column_names, path)
    return table


def _check_is_file(path: Path) -> None:
    if path.is_dir():
        raise TableError(f"{path.name} is a directory, not a file.")
    try:
        with path.open("rb"):
            pass
    except FileNotFoundError:
        raise TableError(f"{path.name}: no such file.") from None
    except OSError as error:
        raise TableError(f"{path.name} cannot be opened: {error.strerror}.") from None


# Text files


def _read_text(path: Path, file_format: str, text_columns: Collection[str], missing: Sequence[str]) -> pa.Table:
    import pyarrow as pa

    file = _TextFile(path, DELIMITERS[file_format], tuple(missing))
    with refusing(path, file_format):
        file.check_encoding_and_quotes()
        names, has_rows = file.header()
    check_names(names, path)
    types = dict.fromkeys(text_columns, pa.string())
    if not has_rows:
        return pa.table({name: pa.array([], types.get(name, pa.null())) for name in names})
    with refusing(path, file_format):
        table = file.parse(types)
        too_long = file.columns_with_too_long_integers(table)
        return file.parse(types | dict.fromkeys(too_long, pa.string())) if too_long else table


@dataclass(frozen=True)
class _TextFile:
    path: Path
    delimiter: str
    missing: tuple[str, ...]

    @property
    def is_compressed(self) -> bool:
        return self.path.suffix.lower() == ".gz"

    @contextmanager
    def open(self, encoding: str) -> Iterator[TextIO]:
        with (gzip.open if self.is_compressed else open)(self.path, "rb") as stream:
            yield io.TextIOWrapper(cast(BinaryIO, stream), encoding, newline="")

    def check_encoding_and_quotes(self) -> None:
        """Refuse other encodings, and a quote that is never closed: Arrow would read on to the file's end."""
        n_quotes = 0
        with self.open("utf-8") as text:
            try:
                while block := text.read(_BLOCK):
                    n_quotes += block.count('"')
            except UnicodeDecodeError:
                raise TableError(f"{self.path.name} is not in UTF-8; save it in this encoding.") from None
        if n_quotes % 2 == 0:
            return
        with self.open("utf-8") as text:
            try:
                for _ in csv.reader(text, delimiter=self.delimiter, strict=True):
                    pass
            except csv.Error:
                raise TableError(
                    f"{self.path.name} has a quoted field that does not end: "
                    "the file is cut short, or a quote inside a field is not doubled."
                ) from None

    def header(self) -> tuple[list[str], bool]:
        """Return the names of the columns, and whether any row follows them."""
        with self.open("utf-8-sig") as text:
            names: list[str] = next((row for row in csv.reader(text, delimiter=self.delimiter) if row), [])
            if not names:
                raise TableError(f"{self.path.name} is empty: it has no header.")
            return names, any(line.strip("\r\n") for line in text)

    def parse(self, types: dict[str, Any]) -> pa.Table:
        ragged: list[Any] = []
        table = self._parse(types, ragged, use_threads=True)
        if ragged:
            ragged.clear()  # only a single thread knows at which row it is
            self._parse(types, ragged, use_threads=False)
            first = ragged[0]
            raise TableError(
                f"{self.path.name} has {first.expected_columns} columns, but {len(ragged)} of its rows have "
                f"another number of fields. The first is row {first.number} with {first.actual_columns} "
                "(the header is row 1)."
            )
        return table

    def _parse(self, types: dict[str, Any], ragged: list[Any], *, use_threads: bool) -> pa.Table:
        import pyarrow as pa
        from pyarrow import csv as arrow_csv

        def note_and_skip(row: Any) -> str:
            ragged.append(row)
            return "skip"

        reading = arrow_csv.ReadOptions(use_threads=use_threads, block_size=_BLOCK)
        parsing = arrow_csv.ParseOptions(
            delimiter=self.delimiter, newlines_in_values=True, invalid_row_handler=note_and_skip
        )
        converting = arrow_csv.ConvertOptions(
            column_types=types,
            null_values=list(self.missing),
            strings_can_be_null=True,
            quoted_strings_can_be_null=False,
            true_values=["true", "True", "TRUE"],
            false_values=["false", "False", "FALSE"],
        )
        with pa.input_stream(str(self.path), compression="gzip" if self.is_compressed else None) as stream:
            return arrow_csv.read_csv(stream, reading, parsing, converting)

    def columns_with_too_long_integers(self, table: pa.Table) -> list[str]:
        """Return the columns whose integers int64 cannot hold; as doubles, different ones would be equal."""
        import pyarrow as pa
        import pyarrow.compute as pc

        doubles = [field.name for field in table.schema if pa.types.is_float64(field.type)]
        large = [name for name in doubles if pc.any(pc.greater_equal(pc.abs(table[name]), 2.0**63)).as_py()]
        if not large:
            return []
        as_text = self.parse(dict.fromkeys(large, pa.string()))
        integer = r"^\s*[+-]?\d{19,}\s*$"
        return [name for name in large if pc.any(pc.match_substring_regex(as_text[name], integer)).as_py()]


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
