"""What a file format is: its names, what its files can tell, and how they are read and written.

A format derives from `FileFormat`, or from `WritableFormat` if releases may be saved in it. What it leaves out is safe:
messages of libraries are withheld, and a written file is compared to the byte.
"""

from __future__ import annotations

from abc import ABC, abstractmethod
from collections.abc import Collection, Mapping
from dataclasses import dataclass
from pathlib import Path
from typing import TYPE_CHECKING, ClassVar, NamedTuple

from microagg.tables.formats.form import FormFinding, compare_with_rewritten
from microagg.tables.joined import refuse_joined_rows
from microagg.tables.missing_codes import table_without_codes
from microagg.tables.refusal import check_is_file, check_names, refusing
from microagg.tables.text.dialect import STANDARD, Decision, Dialect
from microagg.tables.text.written import retype

if TYPE_CHECKING:
    import pyarrow as pa

__all__ = ["FileFormat", "ReadOptions", "Sniffed", "WritableFormat"]


@dataclass(frozen=True)
class ReadOptions:
    """How a table is wanted from a file.

    Attributes
    ----------
    text_columns, number_columns : collection of str
        Columns to read as text, and columns of text to read as numbers if all of it can be.
    dialect : Dialect
        How the file writes the table.
    """

    text_columns: Collection[str] = ()
    number_columns: Collection[str] = ()
    dialect: Dialect = STANDARD


class Sniffed(NamedTuple):
    """A dialect that was completed by looking at a file, and what was completed."""

    dialect: Dialect
    decisions: list[Decision]


class FileFormat(ABC):
    """A kind of file that tables are read from.

    Attributes
    ----------
    name : str
        The extension without its dot, which is also the word for ``--format``.
    title : str
        What people call it, for messages.
    other_extensions : tuple of str
        More endings of file names, with the dot and in lower case.
    refused_extensions : mapping of str to str
        Endings of kindred files that are not read, each with what to do instead.
    is_text : bool
        Whether a file is lines of fields without types, which a spreadsheet opens and may compute.
    separator : str or None
        What stands between the fields of a text file; None if the file does not tell, or there are no fields.
    states_types : bool
        Whether a file says which columns are text, numbers and dates, so that nothing is guessed.
    keeps_labels : bool
        Whether a file has room for labels of columns and of values.
    tells_missing_from_empty : bool
        Whether an empty text and a missing one are read as different.
    keeps_blanks_at_end : bool
        Whether a text is read with the blanks that it ends with.
    """

    name: ClassVar[str]
    title: ClassVar[str]
    other_extensions: ClassVar[tuple[str, ...]] = ()
    refused_extensions: ClassVar[Mapping[str, str]] = {}
    is_text: ClassVar[bool] = False
    separator: ClassVar[str | None] = None
    states_types: ClassVar[bool] = True
    keeps_labels: ClassVar[bool] = False
    tells_missing_from_empty: ClassVar[bool] = True
    keeps_blanks_at_end: ClassVar[bool] = True

    @property
    def extensions(self) -> tuple[str, ...]:
        """All endings of file names, with the dot and in lower case."""
        return (f".{self.name}", *self.other_extensions)

    @abstractmethod
    def parse(self, path: Path, options: ReadOptions) -> pa.Table:
        """Read a file that exists. Any error but a TableError is withheld, as it may quote records.

        A format that states types may ignore the options: `read` applies them.
        """

    def read(self, path: Path, options: ReadOptions | None = None) -> pa.Table:
        """Read a file, or refuse it in words that quote nothing from it."""
        options = options or ReadOptions()
        dialect = options.dialect
        check_is_file(path)
        with refusing(path, self.title):
            table = self.parse(path, options)
        if self.states_types:
            table = table_without_codes(table, dialect.missing)
            asked = {*options.number_columns, *dialect.date_formats}
            others = [name for name in table.column_names if name not in asked]
            table = retype(table, dialect, others, options.number_columns)
        check_names(table.column_names, path)
        refuse_joined_rows(table, dialect.separator)
        return table_without_codes(table, dialect.missing)

    def read_as_written(self, path: Path, dialect: Dialect | None = None) -> pa.Table:
        """Read a released file as a reader of it would, without guessing.

        Parameters
        ----------
        path : Path
        dialect : Dialect, optional
            By default the file is plain, as microagg writes it.
        """
        return self.read(path, ReadOptions(dialect=dialect or STANDARD))

    def sniff(self, path: Path, given: Dialect, fixed: Collection[str]) -> Sniffed:
        """Complete a dialect by what the file looks like.

        Parameters
        ----------
        path : Path
        given : Dialect
        fixed : collection of str
            The keys of `given` that were chosen; they are not doubted.

        Raises
        ------
        TableError
            If the first row looks like a record and nobody chose whether it is one, or if several separators fit; the
            message quotes nothing from the file.
        """
        check_is_file(path)
        with refusing(path, self.title):
            return self.guess_layout(path, given, fixed)

    def guess_layout(self, path: Path, given: Dialect, fixed: Collection[str]) -> Sniffed:
        """Do the work of `sniff` on a file that exists; a format without a layout has nothing to guess."""
        return Sniffed(given, [])

    def count_declared_missing(self, path: Path) -> dict[str, int]:
        """Count, by column, the values that the file itself declares as missing codes; no column without any."""
        return {}

    def count_formula_cells(self, path: Path, table: pa.Table) -> dict[str, int]:
        """Count, by column, the cells of a released file that a spreadsheet would take for a formula.

        Parameters
        ----------
        path : Path
        table : pyarrow.Table
            The file as `read_as_written` reads it.
        """
        return {}


class WritableFormat(FileFormat):
    """A kind of file that releases are saved in.

    Attributes
    ----------
    repeats_bytes : bool
        Whether a file that was written here, once read, is written again to the same bytes, with any version of any
        library. Then other bytes are a fault: they could mark a record.
    labels_truth_values : bool
        Whether truth values are stored as the numbers 0 and 1 with labels.
    """

    repeats_bytes: ClassVar[bool] = True
    labels_truth_values: ClassVar[bool] = False

    @abstractmethod
    def write(self, table: pa.Table, path: Path) -> None:
        """Write a table from `make_publishable`, or raise a TableError before anything is written.

        `write_table` withholds the message of any other error but of the system, as it may quote records.
        """

    def find_fault_beside_table(self, path: Path) -> str:
        """Find what a file holds beside its columns that `write` does not write; empty if nothing."""
        return ""

    def compare_form(self, path: Path, *, same_libraries: bool) -> FormFinding:
        """Compare how a file is written with how `write` writes: it must hold nothing but what its table shows.

        Parameters
        ----------
        path : Path
        same_libraries : bool
            Whether these versions of the libraries wrote the file, so that the same table gives the same bytes.
        """
        return compare_with_rewritten(self, path, same_libraries=same_libraries)
