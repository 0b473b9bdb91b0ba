"""Files of statistics packages, read and written through pyreadstat: what SPSS, Stata and SAS have in common."""

from __future__ import annotations

import re
from abc import abstractmethod
from collections.abc import Mapping, Sequence
from dataclasses import replace
from pathlib import Path
from typing import TYPE_CHECKING, Any, ClassVar, NamedTuple

from microagg.errors import TableError
from microagg.tables.columns import as_doubles, is_text, listed, without_dictionaries
from microagg.tables.formats.base import FileFormat, ReadOptions, WritableFormat
from microagg.tables.formats.display_formats import (
    Meaning,
    meaning_of_format,
    numbers_from_moments,
    typed_numbers,
)
from microagg.tables.labels import Labels, labels_of, with_labels

if TYPE_CHECKING:
    import pyarrow as pa

__all__ = [
    "Limits",
    "StatisticsFile",
    "StoredColumn",
    "Timestamp",
    "WritableStatisticsFile",
    "count_tagged",
    "cut_to_bytes",
    "integer_range",
    "load_with",
]

_HEADER = 1_024  # bytes; a file says within these when it was written


class StatisticsFile(FileFormat):
    """A file whose columns are numbers or text, with display formats and labels that say what they mean.

    Attributes
    ----------
    package : str
        Whose display formats its columns have: ``"sav"``, ``"dta"`` or ``"sas"``.
    """

    package: ClassVar[str]
    keeps_labels = True
    tells_missing_from_empty = False

    @abstractmethod
    def load(self, path: Path, **options: Any) -> tuple[dict[str, list[Any]], Any]:
        """Return what pyreadstat reads: values by column, and what the file says about them."""

    def check_end(self, path: Path) -> None:
        """Refuse a file that lacks its last bytes, if the library would not miss them."""

    def missing_ranges(self, path: Path) -> Mapping[str, Sequence[dict[str, Any]]]:
        """Return the ranges of values, by column, that the file declares as missing."""
        return {}

    def parse(self, path: Path, options: ReadOptions) -> pa.Table:
        import pyarrow as pa

        self.check_end(path)
        columns, about = self.load(path)
        missing_ranges = self.missing_ranges(path)
        fields, arrays = [], []
        for name, values in columns.items():
            labels = self._stored_labels(about, name, missing_ranges.get(name, ()))
            array = _typed_column(values, about.readstat_variable_types[name], labels.format)
            if pa.types.is_integer(array.type):
                labels = labels.with_values_as_integers()
            fields.append(with_labels(pa.field(name, array.type), labels))
            arrays.append(array)
        return pa.Table.from_arrays(arrays, schema=pa.schema(fields))

    def _stored_labels(self, about: Any, name: str, missing_ranges: Sequence[dict[str, Any]]) -> Labels:
        display_format = about.original_variable_types[name]
        measure = about.variable_measure[name]
        return Labels(
            label=about.column_names_to_labels[name] or "",
            value_labels=tuple(about.variable_value_labels.get(name, {}).items()),
            format=f"{self.package}:{display_format}" if display_format else "",
            measure=measure if measure in ("nominal", "ordinal", "scale") else "",
            missing_ranges=tuple(missing_ranges),
        )

    def cut_short_error(self, path: Path) -> TableError:
        return TableError(f"{path.name} is cut short: its end is not that of a .{self.name} file.")


def load_with(read: Any, path: Path, **options: Any) -> tuple[dict[str, list[Any]], Any]:
    """Let a function of pyreadstat read a file, dates as the numbers they are stored as."""
    source = str(path.absolute())  # pyreadstat would expand a leading "~" of a relative path
    columns, about = read(source, output_format="dict", disable_datetime_conversion=True, **options)
    return columns, about


def count_tagged(file_format: StatisticsFile, path: Path) -> dict[str, int]:
    """Count, by column, the values ``.a`` to ``.z``: pyreadstat delivers them as letters among numbers."""
    columns, about = file_format.load(path, user_missing=True)
    counts = {
        name: sum(isinstance(value, str) for value in values)
        for name, values in columns.items()
        if about.readstat_variable_types[name] != "string"
    }
    return {name: count for name, count in counts.items() if count}


def _typed_column(values: list[Any], stored_type: str, stored_format: str) -> pa.Array:
    import pyarrow as pa

    if stored_type == "string":
        return pa.array([value or None for value in values], pa.string())
    numbers = pa.array(values, pa.int64() if stored_type.startswith("int") else pa.float64())
    return typed_numbers(numbers, stored_format)


# Writing


class Limits(NamedTuple):
    """What a kind of file can hold."""

    name: re.Pattern[str]
    n_bytes_of_name: int
    reserved: frozenset[str]
    rule_for_names: str
    n_bytes_of_text: int
    largest_double: float


class Timestamp(NamedTuple):
    """Where a header says when the file was written, and what stands there instead: one moment for all files."""

    place: re.Pattern[bytes]
    instead: bytes


class StoredColumn(NamedTuple):
    """A column as a statistics package stores it: text, doubles or 32-bit integers, and how it is shown."""

    values: pa.ChunkedArray
    label: str | None
    value_labels: dict[float | str, str]
    format: str


class WritableStatisticsFile(StatisticsFile, WritableFormat):
    """A file of a statistics package that is written, too, within what it can hold."""

    limits: ClassVar[Limits]
    timestamp: ClassVar[Timestamp]
    default_formats: ClassVar[Mapping[str, str]]
    repeats_bytes = False
    labels_truth_values = True

    @abstractmethod
    def store(self, frame: Any, path: Path, about: Mapping[str, Any], table: pa.Table) -> None:
        """Let pyreadstat write a frame with what is said about its columns."""

    @abstractmethod
    def cut_label(self, label: str) -> str:
        """Cut the label of a column to what the file can hold."""

    @abstractmethod
    def storable_value_labels(
        self, labels: Labels, meaning: Meaning, values: pa.ChunkedArray
    ) -> dict[float | str, str]:
        """Return those labels of values that the file can hold."""

    def check_column_names(self, names: Sequence[str]) -> None:
        """Refuse names that the file cannot hold."""
        limits = self.limits
        bad = [
            name
            for name in names
            if not limits.name.fullmatch(name)
            or len(name.encode()) > limits.n_bytes_of_name
            or name.lower() in limits.reserved
        ]
        if bad:
            raise TableError(
                f"{self.title} cannot hold columns called {listed(bad)}. Its names have {limits.rule_for_names}."
            )

    def check_stored(self, stored: Mapping[str, StoredColumn]) -> None:
        """Refuse columns that the file cannot hold together with their labels."""

    def integer_type(self, low: int, high: int) -> pa.DataType:
        """Return the type in which whole numbers of a range are stored."""
        import pyarrow as pa

        return pa.float64()

    def format_of_integers(self, values: pa.ChunkedArray) -> str:
        """Return the display format of whole numbers that have none."""
        return self.default_formats.get("whole", "")

    def write(self, table: pa.Table, path: Path) -> None:
        import pyarrow as pa

        self.check_column_names(table.column_names)
        table = without_dictionaries(table)
        stored = {field.name: self._stored_column(table.column(i), field) for i, field in enumerate(table.schema)}
        self.check_stored(stored)
        frame = _frame_for_pyreadstat(pa.table({name: column.values for name, column in stored.items()}))
        about = {
            "column_labels": {name: column.label for name, column in stored.items()},
            "variable_value_labels": {name: c.value_labels for name, c in stored.items() if c.value_labels},
            "variable_format": {name: column.format for name, column in stored.items() if column.format},
        }
        self.store(frame, path, about, table)
        self.forget_the_clock(path)

    def forget_the_clock(self, path: Path) -> None:
        """Put a fixed moment in the place of when the file was written: the same table gives the same bytes."""
        with path.open("r+b") as file:
            found = self.timestamp.place.search(file.read(_HEADER))
            if found is not None:
                file.seek(found.start(1))
                file.write(self.timestamp.instead)

    def find_fault_beside_table(self, path: Path) -> str:
        with path.open("rb") as file:
            found = self.timestamp.place.search(file.read(_HEADER))
        if found is None or found[1] != self.timestamp.instead:
            return "it tells when it was written"
        _, about = self.load(path, metadataonly=True)
        if about.file_label or about.notes or getattr(about, "mr_sets", None):
            return "it has a label, notes or sets of its own"
        return ""

    def _stored_column(self, column: pa.ChunkedArray, field: pa.Field) -> StoredColumn:
        import pyarrow as pa

        labels = labels_of(field)
        if pa.types.is_boolean(column.type) and not labels.value_labels:
            labels = replace(labels, value_labels=((0, "false"), (1, "true")))
        values, meaning = self._storable_values(column, field.name)
        value_labels = self.storable_value_labels(labels, meaning, values)
        display_format = self._display_format(labels.format, meaning, values)
        return StoredColumn(values, self.cut_label(labels.label) or None, value_labels, display_format)

    def _storable_values(self, column: pa.ChunkedArray, name: str) -> tuple[pa.ChunkedArray, Meaning]:
        """Return text, doubles or 32-bit integers in place of the column, and what they mean."""
        import pyarrow as pa
        import pyarrow.compute as pc

        limits = self.limits
        if is_text(column.type):
            has_nul = pc.match_substring(column, "\0")
            _refuse(has_nul, name, f"with a NUL character, which ends a text in {self.name}")
            too_long = pc.greater(pc.binary_length(column), limits.n_bytes_of_text)
            _refuse(too_long, name, f"of more than {limits.n_bytes_of_text} bytes, too many for {self.name}")
            return pc.fill_null(column, ""), "text"
        if pa.types.is_temporal(column.type):
            if pa.types.is_timestamp(column.type) and column.type.tz is not None:
                raise TableError(f"Column {name!r} has a time zone, which {self.name} cannot hold.")
            is_time, is_date = pa.types.is_time(column.type), pa.types.is_date(column.type)
            meaning: Meaning = "time" if is_time else "date" if is_date else "datetime"
            return numbers_from_moments(column, self.package), meaning
        if pa.types.is_integer(column.type) or pa.types.is_boolean(column.type):
            low, high = integer_range(column)
            if low < -(2**53) or high > 2**53:
                raise TableError(f"Column {name!r} has integers beyond 2^53, which {self.name} would round.")
            return column.cast(self.integer_type(low, high)), "whole"
        doubles = as_doubles(column, name, self.name)
        doubles = pc.if_else(pc.is_nan(doubles), None, doubles)
        too_large = pc.greater_equal(pc.abs(doubles), limits.largest_double)
        _refuse(too_large, name, f"that are infinite or too large for {self.name}")
        return doubles, "other"

    def _display_format(self, given: str, meaning: Meaning, values: pa.ChunkedArray) -> str:
        """Return the column's own format if it still says what the values are, else one that does."""
        import pyarrow as pa

        is_long = pa.types.is_int32(values.type)
        package, _, shown_as = given.partition(":")
        fitting = {meaning, "other"} if is_long else {meaning}
        if meaning == "text":
            return ""
        if package == self.package and meaning_of_format(given) in fitting:
            return shown_as
        if is_long:
            return ""
        return self.format_of_integers(values) if meaning == "whole" else self.default_formats.get(meaning, "")


def _refuse(is_refused: pa.ChunkedArray, name: str, reason: str) -> None:
    import pyarrow.compute as pc

    n_refused = pc.sum(is_refused).as_py()
    if n_refused:
        raise TableError(f"Column {name!r} has {n_refused} values {reason}.")


def integer_range(column: pa.ChunkedArray) -> tuple[int, int]:
    """Return the smallest and the largest number; 0 for a column without any."""
    import pyarrow.compute as pc

    extremes = pc.min_max(column).as_py()
    return int(extremes["min"] or 0), int(extremes["max"] or 0)


def cut_to_bytes(text: str, n_bytes: int) -> str:
    """Cut a text after a number of bytes of UTF-8, between two characters."""
    return text.encode()[:n_bytes].decode(errors="ignore")


def _frame_for_pyreadstat(table: pa.Table) -> Any:
    """Wrap a table so that pyreadstat takes it, without pandas or polars.

    pyreadstat reads frames through narwhals, which knows Arrow tables as well; but it first looks at the name
    of the library and lets only pandas and polars pass. In polars as in Arrow a missing value is None.
    """
    import narwhals.stable.v2 as nw

    class ArrowFrame(nw.DataFrame[Any]):
        implementation = nw.Implementation.POLARS

    return ArrowFrame(nw.from_native(table, eager_only=True)._compliant_frame, level="full")
