"""Files that are read batch by batch: Parquet or CSV, one, a folder or a pattern of them."""

from __future__ import annotations

import glob as patterns
from collections.abc import Iterable, Iterator, Sequence
from dataclasses import dataclass, field
from itertools import groupby, takewhile
from pathlib import Path
from typing import TYPE_CHECKING, Any

from microagg.engines.batches import finish_batch, refuse_columns
from microagg.errors import InputError, TableError
from microagg.recipe.recipe import Recipe
from microagg.releases.account.ledger import ENDING, is_kept, ledger_of
from microagg.releases.release import MANIFEST
from microagg.schema.attribute import Kind, Role
from microagg.statements.manifest import InputDigest, sha256_of_file
from microagg.tables.formats.registry import format_of
from microagg.tables.joined import refuse_joined_rows

if TYPE_CHECKING:
    import pyarrow as pa

__all__ = ["BATCH_RECORDS", "FileSource", "find_files"]

BATCH_RECORDS = 400_000
_TEXT = ("csv", "csv.gz", "tsv")
_BLOCK = 8 << 20
_RECORDS_OF_PIECE, _BYTES_OF_PIECE = 1_000_000, 64 << 20
_ONLY_PLAIN = {
    "thousands": None,
    "negatives": "sign",
    "units": (),
    "date_format": None,
    "sheet": None,
}


def find_files(source: str | Path) -> tuple[Path, ...]:
    """The files of a table, by name: one, all of a folder and its folders, or those that fit a pattern.

    Hidden files, and those whose names begin with an underscore, are no part of a table.

    Raises
    ------
    InputError
        If there is none, or they are not all of one format.
    """
    path = Path(source)
    if path.is_file():
        found = [path]
    elif path.is_dir():
        found = _visible(path.rglob("*"), path)
    else:
        fixed = Path(*takewhile(lambda part: not patterns.has_magic(part), path.parts))
        found = _visible((Path(name) for name in patterns.iglob(str(source), recursive=True)), fixed)  # noqa: PTH207
    if not found:
        raise InputError(
            f"there is no file at {path.name!r}. Name a file, a folder, or a pattern in quotes: 'data/*.csv'"
        )
    found = _once(found)
    formats = {format_of(file).name for file in found}
    if len(formats) > 1:
        raise InputError(f"the files at {path.name!r} are of several formats ({', '.join(sorted(formats))}); give one")
    return tuple(sorted(found))


def _visible(paths: Iterable[Path], root: Path) -> list[Path]:
    """Files below a folder, without hidden ones, those of hidden folders, and ledgers."""
    return [
        path
        for path in paths
        if path.is_file()
        and not any(part[0] in "._" and part != ".." for part in path.relative_to(root).parts)
        and not path.name.endswith(ENDING)
    ]


def _once(paths: Sequence[Path]) -> list[Path]:
    """Each file once, however many names and links lead to it: k counts records, not copies.

    Of several names the one counts that a ledger is kept of, then the first.

    Raises
    ------
    InputError
        If two files hold the same bytes, or one is part of a release.
    """
    found: dict[tuple[int, int], Path] = {}
    for path in sorted(set(paths), key=lambda path: (not is_kept(ledger_of(path)), path)):
        about = path.stat()
        found.setdefault((about.st_dev, about.st_ino), path)
    by_size: dict[int, list[Path]] = {}
    for path in found.values():
        if len(found) > 1 and (path.parent / MANIFEST).exists():
            raise InputError(
                f"{path.name} lies beside a {MANIFEST}: it is part of a release, not of the table. Write releases "
                "elsewhere, and name the files of the table"
            )
        by_size.setdefault(path.stat().st_size, []).append(path)
    for same_size in by_size.values():
        hashes: dict[str, Path] = {}
        for path in same_size if len(same_size) > 1 else ():
            other = hashes.setdefault(sha256_of_file(path), path)
            if other is not path and not _is_empty(path):
                raise InputError(
                    f"{other.name} and {path.name} are the same, byte for byte: k would be counted on copies of "
                    "records. Remove one of them"
                )
    return sorted(found.values())


def _is_empty(path: Path) -> bool:
    """Whether a file has no record: such files may well be equal."""
    import pyarrow as pa
    from pyarrow import parquet

    if format_of(path).name != "parquet":
        return path.stat().st_size < 1 << 16 and path.read_bytes().count(b"\n") <= 1
    try:
        with parquet.ParquetFile(path) as file:
            return bool(file.metadata.num_rows == 0)
    except (OSError, pa.ArrowException):  # said in full by who reads it
        return True


@dataclass(frozen=True)
class Stretch:
    """A file, by its place among the files; of Parquet one group of its rows."""

    file: int
    group: int = 0


@dataclass
class FileSource:
    """The published columns of a table that lies in one or more files.

    Attributes
    ----------
    paths : tuple of Path
    names : list of str
        Columns that are published, in the order of the first file.
    n_columns : int
        Of the files.
    """

    paths: tuple[Path, ...]
    recipe: Recipe
    batch_records: int = BATCH_RECORDS
    names: list[str] = field(default_factory=list)
    n_columns: int = 0
    n_rows: int | None = None
    types: dict[str, Any] = field(default_factory=dict)
    pieces: list[list[Stretch]] = field(default_factory=list)

    @classmethod
    def open(cls, source: str | Path, recipe: Recipe, batch_records: int = BATCH_RECORDS) -> FileSource:
        """Find the files and look at their columns.

        Raises
        ------
        InputError
            If their format cannot be read in parts, or their columns are not those of the recipe.
        """
        found = cls(find_files(source), recipe, batch_records)
        kind = format_of(found.paths[0])
        if kind.name != "parquet" and kind.name not in _TEXT:
            raise InputError(
                f"{kind.title} files cannot be read in parts; only Parquet and CSV can. Convert them, or choose "
                "--engine local"
            )
        for path in found.paths:
            found._look_at(path)
        found.pieces = found._cut()
        if found.is_text:
            found._find_numbers()
        return found

    @property
    def n_pieces(self) -> int:
        return len(self.pieces)

    def digest(self) -> InputDigest:
        """The fingerprint of the files' bytes."""
        return InputDigest.of_files(self.paths)

    def _cut(self) -> list[list[Stretch]]:
        """Pieces of many records: small files together, and of large Parquet files some groups of rows."""
        from pyarrow import parquet

        stretches: list[tuple[Stretch, float]] = []
        for place, path in enumerate(self.paths):
            if self.is_text:  # where a line of it begins shows only when it is read
                stretches.append((Stretch(place), path.stat().st_size / _BYTES_OF_PIECE))
                continue
            with parquet.ParquetFile(path) as file:
                about = file.metadata
                self.n_rows = (self.n_rows or 0) + about.num_rows
                for group in range(about.num_row_groups):
                    share = about.row_group(group).num_rows / _RECORDS_OF_PIECE
                    stretches.append((Stretch(place, group), share))
        pieces: list[list[Stretch]] = []
        room = 0.0
        for stretch, share in stretches:
            if not pieces or room < share:
                pieces.append([])
                room = 1.0
            pieces[-1].append(stretch)
            room -= share
        return pieces

    @property
    def is_text(self) -> bool:
        return format_of(self.paths[0]).name in _TEXT

    def _look_at(self, path: Path) -> None:
        schema = self._schema_of(path)
        names = list(schema.names)
        refuse_columns(schema, self.recipe, path.name)
        published = set(self.recipe.schema.published)
        if not self.names:
            self.names, self.n_columns = [name for name in names if name in published], len(names)
            self.types = {name: schema.field(name).type for name in self.names}
            return
        other = [name for name in self.names if schema.field(name).type != self.types[name]]
        if other:
            raise TableError(
                f"column {other[0]!r} is {schema.field(other[0]).type} in {path.name} and {self.types[other[0]]} in "
                f"{self.paths[0].name}. Write all files with the same types"
            )

    def _schema_of(self, path: Path) -> pa.Schema:
        import pyarrow as pa
        from pyarrow import parquet

        if self.is_text:
            with self._csv(path, all_columns=True) as reader:
                return reader.schema
        try:
            with parquet.ParquetFile(path) as file:
                return file.schema_arrow
        except MemoryError:
            raise
        except (OSError, pa.ArrowException):
            raise TableError(f"{path.name} is not a Parquet file, or is damaged") from None

    def read(self, piece: int) -> Iterator[pa.Table]:
        """The published columns of a piece, some records at a time; codes that stand for missing are missing."""
        yield from self._batches(self.pieces[piece])

    def batches(self) -> Iterator[pa.Table]:
        """All pieces, one after the other."""
        yield from self._batches([stretch for piece in self.pieces for stretch in piece])

    def _batches(self, stretches: Sequence[Stretch]) -> Iterator[pa.Table]:
        waiting: list[pa.Table] = []
        n_waiting = 0
        for batch in self._raw(stretches):
            waiting.append(batch)
            n_waiting += batch.num_rows
            if n_waiting >= self.batch_records:
                yield self._finish(waiting)
                waiting, n_waiting = [], 0
        if n_waiting:
            yield self._finish(waiting)

    def _finish(self, tables: Sequence[pa.Table]) -> pa.Table:
        return finish_batch(tables, self.recipe)

    def _raw(self, stretches: Sequence[Stretch]) -> Iterator[pa.Table]:
        import pyarrow as pa
        from pyarrow import parquet

        for place, stretches_of_file in groupby(stretches, key=lambda one: one.file):
            path = self.paths[place]
            try:
                if self.is_text:
                    with self._csv(path) as reader:
                        for batch in reader:
                            yield self._typed(pa.Table.from_batches([batch]))
                    continue
                groups = [one.group for one in stretches_of_file]
                with parquet.ParquetFile(path) as file:
                    for batch in file.iter_batches(131_072, groups, columns=self.names, use_threads=False):
                        yield pa.Table.from_batches([batch]).select(self.names).replace_schema_metadata(None)
            except (OSError, pa.ArrowInvalid):  # what the library says may quote records
                raise TableError(f"{path.name} cannot be read to its end: it is damaged, or not a table") from None

    def _csv(self, path: Path, *, all_columns: bool = False) -> Any:
        """A reader of text: every field as it is written."""
        import pyarrow as pa
        from pyarrow import csv

        given = self.recipe.input
        changed = [key for key, plain in _ONLY_PLAIN.items() if getattr(given, key) != plain]
        if changed:
            raise InputError(
                f"[input] {changed[0]} cannot be followed when a table is read in parts. Write the files plainly or as "
                "Parquet, or choose --engine local"
            )
        separator = given.separator or format_of(path).separator or ","
        read = csv.ReadOptions(block_size=_BLOCK, encoding=given.encoding or "utf8", use_threads=False)
        read.skip_rows = given.skip_rows
        if given.columns is not None:
            read.column_names = list(given.columns)
        names = list(given.columns or ()) or self._header(path, separator)
        convert = csv.ConvertOptions(
            column_types=dict.fromkeys(names, pa.string()),
            null_values=list(given.missing_values),
            strings_can_be_null=True,
            quoted_strings_can_be_null=False,
            include_columns=None if all_columns else self.names,
        )
        parse = csv.ParseOptions(delimiter=separator, newlines_in_values=True)
        try:
            stream = pa.input_stream(str(path), compression="detect")
            return csv.open_csv(stream, read, parse, convert)
        except (OSError, pa.ArrowInvalid, UnicodeDecodeError):
            raise TableError(f"{path.name} cannot be read as text with {separator!r} between fields") from None

    def _header(self, path: Path, separator: str) -> list[str]:
        import csv
        import io

        import pyarrow as pa

        with pa.input_stream(str(path), compression="detect") as stream:
            text = io.TextIOWrapper(stream, encoding=self.recipe.input.encoding or "utf-8-sig", newline="")
            rows = csv.reader(text, delimiter=separator)
            try:
                for _ in range(self.recipe.input.skip_rows):
                    next(text)
                return next(rows)
            except UnicodeDecodeError:
                raise TableError(
                    f"{path.name} is not written in {self.recipe.input.encoding or 'UTF-8'}. Say how it is: [input] "
                    'encoding = "latin-1"'
                ) from None
            except (StopIteration, csv.Error):
                raise TableError(f"{path.name} has no header that can be read") from None

    def _find_numbers(self) -> None:
        """Which numeric columns hold whole numbers and which fractions: decided by all records, not by the first."""
        import pyarrow as pa

        attributes = self.recipe.attributes
        numeric = [
            name
            for name in self.names
            if (attributes[name].role is Role.QUASI_IDENTIFIER and attributes[name].kind is Kind.NUMERIC)
            or name == self.recipe.sampling_weight
        ]
        kinds: dict[str, Any] = dict.fromkeys(numeric, pa.int64())
        self.types = {}
        is_first = True
        self.n_rows = 0
        for batch in self._raw([stretch for piece in self.pieces for stretch in piece]):
            self.n_rows += batch.num_rows
            if is_first:
                refuse_joined_rows(batch, self.recipe.input.separator)
                is_first = False
            for name in numeric:
                if kinds[name] == pa.int64() and self._numbers(batch.column(name), pa.int64()) is None:
                    kinds[name] = pa.float64()
                if kinds[name] == pa.float64() and self._numbers(batch.column(name), pa.float64()) is None:
                    raise TableError(
                        f"column {name!r} is declared numeric but holds text, numbers beyond 64 bits, or other points "
                        "than [input] decimal. Dates and numbers that are not written plainly can be read in parts "
                        "from Parquet files only; or choose --engine local"
                    )
        self.types = kinds

    def _numbers(self, column: pa.ChunkedArray, kind: pa.DataType) -> pa.ChunkedArray | None:
        """Text as numbers; None if some of it is none."""
        import pyarrow as pa
        import pyarrow.compute as pc

        text = pc.utf8_trim_whitespace(column)
        if kind == pa.float64():
            if pc.any(pc.match_substring_regex(text, r"^[+-]?\d{19,}$")).as_py():
                return None  # whole numbers beyond 64 bits: as doubles different ones would be equal
            if self.recipe.input.decimal != ".":
                if pc.any(pc.match_substring(text, ".")).as_py():
                    return None
                text = pc.replace_substring(text, self.recipe.input.decimal, ".")
        try:
            return text.cast(kind)
        except pa.ArrowInvalid:
            return None

    def _typed(self, table: pa.Table) -> pa.Table:
        for name, kind in self.types.items():
            numbers = self._numbers(table.column(name), kind)
            if numbers is None:
                raise TableError(f"column {name!r} changed while it was read")
            table = table.set_column(table.column_names.index(name), name, numbers)
        return table.select(self.names)
