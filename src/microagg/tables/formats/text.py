"""Text files with a separator between fields: ``.csv``, ``.csv.gz``, ``.tsv``, and ``.txt``, which is only read."""

from __future__ import annotations

from collections.abc import Collection
from dataclasses import replace
from pathlib import Path
from typing import TYPE_CHECKING, ClassVar

from microagg.errors import TableError
from microagg.tables.formats.base import FileFormat, ReadOptions, Sniffed, WritableFormat
from microagg.tables.formats.form import FormFinding
from microagg.tables.formats.registry import register_format
from microagg.tables.text.compression import open_bytes
from microagg.tables.text.dialect import Dialect
from microagg.tables.text.form import find_fault_of_text
from microagg.tables.text.formulas import formula_cells_of_file
from microagg.tables.text.read import read_text
from microagg.tables.text.sniff import sniff_text
from microagg.tables.text.write import write_text

if TYPE_CHECKING:
    import pyarrow as pa

__all__ = ["CommaSeparated", "CompressedCommaSeparated", "PlainText", "TabSeparated"]


class _Text(FileFormat):
    """Lines of fields; what types they have is guessed."""

    is_text = True
    states_types = False

    def parse(self, path: Path, options: ReadOptions) -> pa.Table:
        return read_text(
            path,
            options.dialect,
            options.text_columns,
            options.number_columns,
            separator=self.separator,
            title=self.title,
        )

    def guess_layout(self, path: Path, given: Dialect, fixed: Collection[str]) -> Sniffed:
        return Sniffed(*sniff_text(path, given, fixed, separator=self.separator))

    def read_as_written(self, path: Path, dialect: Dialect | None = None) -> pa.Table:
        """Read every field as the text that is written there."""
        dialect = dialect or Dialect(separator=self.separator)
        names = self.read(path, ReadOptions(dialect=dialect)).column_names
        missing = "" if len(names) > 1 else "NA"
        if len(names) == 1:
            # In a table of one column a missing value is NA: readers differ on whether an empty line is a record.
            blank = _count_blank_lines(path)
            if blank:
                raise TableError(
                    f"{path.name} has one column and {blank} blank lines, which may be records with a missing value "
                    "or nothing: write NA for missing"
                )
        return self.read(path, ReadOptions(text_columns=names, dialect=replace(dialect, missing_values=(missing,))))


def _count_blank_lines(path: Path) -> int:
    with open_bytes(path) as file:
        return sum(not line.strip(b"\r\n") for line in file)


@register_format
class CommaSeparated(_Text, WritableFormat):
    """Text that is read and written with a comma between fields."""

    name = "csv"
    title = "comma-separated text"
    separator: ClassVar[str] = ","

    def write(self, table: pa.Table, path: Path) -> None:
        write_text(table, path, self.separator, self.name)

    def compare_form(self, path: Path, *, same_libraries: bool) -> FormFinding:
        """Compare every byte: no library but this one decides how text is written."""
        fault = find_fault_of_text(path, self.read_as_written(path), self.separator)
        return FormFinding(fault, not fault)

    def count_formula_cells(self, path: Path, table: pa.Table) -> dict[str, int]:
        return formula_cells_of_file(path, table, self.separator)


@register_format
class CompressedCommaSeparated(CommaSeparated):
    """The same, compressed; the name of the file tells readers and writers to do so."""

    name = "csv.gz"
    title = "comma-separated text compressed with gzip"


@register_format
class TabSeparated(CommaSeparated):
    """The same with tabs."""

    name = "tsv"
    title = "tab-separated text"
    separator = "\t"
    other_extensions = (".tab",)


@register_format
class PlainText(_Text):
    """Text with any separator, which a recipe must name."""

    name = "txt"
    title = "plain text"
    other_extensions = (".dat",)
