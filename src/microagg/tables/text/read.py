"""Read text files: decode them, check them, and let Arrow read them."""

from __future__ import annotations

import csv
import io
import json
from collections.abc import Collection, Iterator
from contextlib import contextmanager
from dataclasses import dataclass
from pathlib import Path
from typing import TYPE_CHECKING, Any, NoReturn, TextIO

from microagg.errors import TableError
from microagg.tables.columns import with_columns
from microagg.tables.missing_codes import table_without_codes
from microagg.tables.refusal import check_names
from microagg.tables.text.compression import is_compressed, open_bytes
from microagg.tables.text.dialect import Dialect, encoding_name
from microagg.tables.text.layout import (
    SAMPLE,
    advice,
    guess_encoding,
    joining_separator,
    separator_name,
    sniff_layout,
)
from microagg.tables.text.quotes import every_line_is_a_row, first_bad_quote
from microagg.tables.text.swallowed import lines_of_swallowed_rows
from microagg.tables.text.written import as_dates, retype

if TYPE_CHECKING:
    import pyarrow as pa

__all__ = ["TextFile", "read_text"]

_BLOCK = 1 << 24
_LEAST_LINES = 20


def read_text(
    path: Path,
    dialect: Dialect,
    text_columns: Collection[str],
    number_columns: Collection[str],
    *,
    separator: str | None,
    title: str,
) -> pa.Table:
    """Read a text file; errors of libraries are passed on as they are.

    Parameters
    ----------
    path : Path
    dialect : Dialect
    text_columns, number_columns : collection of str
    separator : str or None
        The one that the file's extension stands for, if the dialect names none.
    title : str
        What the format is called, for a message.
    """
    import pyarrow as pa

    separator = dialect.separator or separator
    if separator is None:
        _ask_for_separator(path, dialect, title)
    file = TextFile(path, separator, dialect)
    file.check_encoding()
    file.check_quotes()
    names, has_rows = file.header()
    file.check_layout(names)
    check_names(names, path)
    types = dict.fromkeys(text_columns, pa.string())
    types |= {name: pa.string() for name in dialect.date_formats if name not in types}
    if not has_rows:
        return pa.table({name: pa.array([], types.get(name, pa.null())) for name in names})
    table = file.parse(types)
    too_long = file.columns_with_too_long_integers(table)
    if too_long:
        table = file.parse(types | dict.fromkeys(too_long, pa.string()))
    table = file.with_dates_by_format(table)
    table = table_without_codes(table, dialect.missing)
    table = retype(table, dialect, {*text_columns, *too_long}, number_columns)
    return table_without_codes(table, dialect.missing)


def _ask_for_separator(path: Path, dialect: Dialect, title: str) -> NoReturn:
    """Refuse a file whose extension stands for no separator, with the line to add to the recipe."""
    file = TextFile(path, ",", dialect)
    file.check_encoding()
    lines = advice(file.sample(), dialect, None)
    raise TableError(f"{path.name}: {title} can have any separator between its fields.{lines or ANY_SEPARATOR}")


ANY_SEPARATOR = ' Add to the recipe:\n    [input]\n    separator = ","   # or ";", "\\t", "|" ...'


@dataclass(frozen=True)
class TextFile:
    """A text file with a separator and a dialect.

    Attributes
    ----------
    path : Path
    delimiter : str
    dialect : Dialect
    """

    path: Path
    delimiter: str
    dialect: Dialect

    @property
    def is_plain(self) -> bool:
        """True if Arrow can read the bytes as they are."""
        return encoding_name(self.dialect.encoding) == "utf-8" and not self.dialect.skip_rows

    @contextmanager
    def decoded(self, *, skip: bool = True) -> Iterator[TextIO]:
        """The text without a byte order mark and, with `skip`, without the rows above the header."""
        name = encoding_name(self.dialect.encoding)
        with open_bytes(self.path) as stream:
            text = io.TextIOWrapper(stream, "utf-8-sig" if name == "utf-8" else name, newline="")
            for _ in range(self.dialect.skip_rows if skip else 0):
                if not text.readline():
                    break
            yield text

    def sample(self) -> str:
        """The beginning of the text from the first line on: whole lines, and some of them however long they are."""
        lines: list[str] = []
        size = 0
        try:
            with self.decoded(skip=False) as text:
                while size < SAMPLE or len(lines) < _LEAST_LINES + self.dialect.skip_rows:
                    line = text.readline()
                    if not line:
                        break
                    lines.append(line)
                    size += len(line)
        except UnicodeError:  # whoever reads on refuses the file
            return ""
        return "".join(lines).removeprefix("\ufeff")

    def check_encoding(self) -> None:
        """Refuse other encodings."""
        with self.decoded() as text:
            try:
                start = block = text.read(_BLOCK)
                while block:
                    block = text.read(_BLOCK)
            except UnicodeError:
                raise self._wrong_encoding() from None
        if "\0" in start[:SAMPLE]:
            raise self._wrong_encoding()

    def check_quotes(self) -> None:
        """Refuse quotes that do not enclose whole fields: Arrow would read on to the next one, over any records."""
        with self.decoded() as text:
            bad = first_bad_quote(text, self.delimiter)
        if bad is None:
            self._check_rows_in_quotes()
            return
        if bad.fault == "inside":
            with self.decoded() as text:
                if every_line_is_a_row(text, self.delimiter):
                    return
        if bad.fault != "open":  # with another separator the quotes may be right
            self.check_layout(self.header()[0])
        with self.decoded() as text:
            sentence = bad.sentence(text, self.dialect.skip_rows)
        raise TableError(f"{self.path.name} {sentence}{advice(self.sample(), self.dialect, self.delimiter)}")

    def _check_rows_in_quotes(self) -> None:
        with self.decoded() as one, self.decoded() as two, self.decoded() as three:
            found = lines_of_swallowed_rows([one, two, three], self.delimiter)
        if found is not None:
            first, last = (self.dialect.skip_rows + line for line in found)
            raise TableError(
                f"{self.path.name} has a quote in line {first} that is closed in line {last}, and each of these lines "
                "looks like a row: remove the quotes if they stand there by mistake, or the line ends between them."
            )

    def _wrong_encoding(self) -> TableError:
        chosen = self.dialect.encoding
        what = "UTF-8" if encoding_name(chosen) == "utf-8" else str(chosen)
        with open_bytes(self.path) as stream:
            better = guess_encoding(stream)
        message = f"{self.path.name} is not in {what}; save it in UTF-8"
        if better is None or encoding_name(better) == encoding_name(chosen):
            return TableError(f"{message}, or say its encoding: [input] encoding = ...")
        return TableError(f'{message}, or add to the recipe:\n    [input]\n    encoding = "{better}"')

    def header(self) -> tuple[list[str], bool]:
        """Return the names of the columns, and whether any row follows them."""
        dialect = self.dialect
        with self.decoded() as text:
            rows = csv.reader(text, delimiter=self.delimiter)
            try:
                first: list[str] = next((row for row in rows if row), [])
            except csv.Error:
                lines = advice(self.sample(), dialect, self.delimiter)
                raise TableError(
                    f"{self.path.name}: a field of its first row is longer than a name is.{lines}"
                ) from None
            if not first:
                below = f" below the {dialect.skip_rows:,} lines skipped" if dialect.skip_rows else ""
                raise TableError(f"{self.path.name} is empty{below}: it has no header.")
            first[0] = first[0].removeprefix("\ufeff")
            if dialect.has_header:
                return first, any(line.strip("\r\n") for line in text)
        columns = list(dialect.columns or [f"column_{i + 1}" for i in range(len(first))])
        if len(columns) != len(first):
            raise TableError(
                f"{self.path.name}: its first row has {len(first)} fields, and input.columns names {len(columns)}."
                f"{advice(self.sample(), dialect, self.delimiter)}"
            )
        return columns, True

    def check_layout(self, names: list[str]) -> None:
        """Refuse what looks like whole rows in one column, unless the separator was chosen."""
        if self.dialect.separator is not None:
            return
        has_header, skip_rows = self.dialect.has_header, self.dialect.skip_rows
        other = joining_separator(self.sample(), names, self.delimiter, skip_rows, has_header=has_header)
        if other is None:
            return
        found = sniff_layout(self.sample(), skip_rows=skip_rows)
        even = (found.separator, *found.rivals) if found.rivals else ()
        rivals = [_as_toml(one) for one in even if one is not None and one not in (other, self.delimiter)]
        remark = f"   # or {', '.join(rivals)}" if rivals else ""
        what = "its only column holds" if len(names) == 1 else "a column's name and values hold"
        raise TableError(
            f"{self.path.name}: {what} {separator_name(other)}, as if whole rows were one field. Add "
            f"to the recipe (or pass as a flag):\n    [input]\n    separator = {_as_toml(other)}{remark}\n"
            f"or, if the columns are right as they are: separator = {_as_toml(self.delimiter)}"
        )

    def parse(self, types: dict[str, Any]) -> pa.Table:
        ragged: list[Any] = []
        table = self._parse(types, ragged, use_threads=True)
        if ragged:
            ragged.clear()  # only a single thread knows at which row it is
            self._parse(types, ragged, use_threads=False)
            first = ragged[0]
            counted = "the header is row 1" if self.dialect.has_header else "the first record is row 1"
            above = f", counted below the {self.dialect.skip_rows} rows skipped" if self.dialect.skip_rows else ""
            raise TableError(
                f"{self.path.name} has {first.expected_columns} columns, but {len(ragged)} of its rows have "
                f"another number of fields. The first is row {first.number} with {first.actual_columns} "
                f"({counted}{above}).{advice(self.sample(), self.dialect, self.delimiter)}"
            )
        return table

    def _parse(self, types: dict[str, Any], ragged: list[Any], *, use_threads: bool) -> pa.Table:
        import pyarrow as pa
        from pyarrow import csv as arrow_csv

        def note_and_skip(row: Any) -> str:
            ragged.append(row)
            return "skip"

        names = None if self.dialect.has_header else self.header()[0]
        reading = arrow_csv.ReadOptions(use_threads=use_threads, block_size=_BLOCK, column_names=names)
        parsing = arrow_csv.ParseOptions(
            delimiter=self.delimiter, newlines_in_values=True, invalid_row_handler=note_and_skip
        )
        converting = arrow_csv.ConvertOptions(
            column_types=types,
            null_values=list(self.dialect.missing_values),
            strings_can_be_null=True,
            quoted_strings_can_be_null=False,
            true_values=["true", "True", "TRUE"],
            false_values=["false", "False", "FALSE"],
            decimal_point=self.dialect.decimal,
        )
        if self.is_plain:
            with pa.input_stream(str(self.path), compression="gzip" if is_compressed(self.path) else None) as stream:
                return arrow_csv.read_csv(stream, reading, parsing, converting)
        with self.decoded() as text, pa.PythonFile(_InUtf8(text), mode="r") as stream:
            return arrow_csv.read_csv(stream, reading, parsing, converting)

    def with_dates_by_format(self, table: pa.Table) -> pa.Table:
        """The table with dates that Arrow takes for year, month, day as the dialect's format says, where all fit it."""
        import pyarrow as pa

        pattern = self.dialect.date_format
        dates = {i: one.name for i, one in enumerate(table.schema) if pa.types.is_date(one.type)}
        dates |= {i: one.name for i, one in enumerate(table.schema) if pa.types.is_timestamp(one.type)}
        if pattern is None or not dates:
            return table
        written = self.parse(dict.fromkeys(dates.values(), pa.string()))
        read = {place: as_dates(written.column(place), pattern) for place in dates}
        return with_columns(table, {place: column for place, column in read.items() if column is not None})

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


class _InUtf8(io.RawIOBase):
    """Text as a stream of UTF-8 bytes."""

    def __init__(self, text: TextIO) -> None:
        self._text = text
        self._rest = b""
        self._at_start = True

    def readable(self) -> bool:
        return True

    def read(self, size: int = -1) -> bytes:
        if size is None or size < 0:
            raise io.UnsupportedOperation("read all")
        while not self._rest:
            block = self._text.read(max(size // 2, 1 << 16))
            if not block:
                return b""
            self._rest = (block.removeprefix("\ufeff") if self._at_start else block).encode("utf-8")
            self._at_start = False
        given, self._rest = self._rest[:size], self._rest[size:]
        return given


def _as_toml(text: str) -> str:
    return json.dumps(text, ensure_ascii=False)
