"""SQLite, through Python's own module: its values have types, its columns only say what they should be."""

from __future__ import annotations

import contextlib
import re
import sqlite3
import time
from decimal import Decimal, InvalidOperation
from pathlib import Path
from typing import TYPE_CHECKING, Any

from microagg.errors import TableError
from microagg.tables.databases.address import Address
from microagg.tables.databases.database import Database, quoted
from microagg.tables.databases.storable import in_common_types

if TYPE_CHECKING:
    import pyarrow as pa

__all__ = ["Sqlite"]

_BATCH = 10_000
_PATIENCE = 30.0  # seconds to wait for a lock of others
_AWAKE = 0.1  # seconds of it in which Python hears neither Ctrl-C nor a time limit


class Sqlite(Database):
    """A transaction on a file; while it writes, nobody else does."""

    title = "SQLite"

    def __init__(self, address: Address, *, writes: bool) -> None:
        path = Path(address.database)
        self._new = None if path.exists() else path
        self._undone = False
        if self._new is not None and not writes:
            raise TableError(f"there is no SQLite file named {path.name!r}")
        if not path.absolute().parent.is_dir():
            raise TableError(f"the folder of the SQLite file {path.name!r} does not exist")
        with self.told("open the file"):
            self._connection = sqlite3.connect(path, isolation_level=None, timeout=_AWAKE)
            try:
                self._wait_to("BEGIN IMMEDIATE" if writes else "BEGIN")
                self._wait_to("SELECT count(*) FROM sqlite_master")
            except BaseException:
                self.close()
                raise

    def _wait_to(self, statement: str) -> None:
        """Run what may have to wait for others."""
        end = time.monotonic() + _PATIENCE
        while True:
            try:
                self._connection.execute(statement)
                return
            except sqlite3.OperationalError as error:
                if error.sqlite_errorcode & 0xFF != sqlite3.SQLITE_BUSY or time.monotonic() >= end:
                    raise

    def reason_of(self, error: Exception) -> str:
        return str(getattr(error, "sqlite_errorname", type(error).__name__))

    def _description(self, address: Address) -> tuple[str, str] | None:
        with self.told(f"look for the table {address.table!r}"):
            row = self._connection.execute(
                "SELECT type, sql FROM sqlite_master WHERE lower(name) = lower(?) AND type IN ('table', 'view')",
                (address.table,),
            ).fetchone()
        return None if row is None else (row[0], row[1] or "")

    def has(self, address: Address) -> bool:
        return self._description(address) is not None

    def is_one(self, address: Address, other: Address) -> bool:
        with self.told(f"look for the table {address.table!r}"):
            ((equal,),) = self._connection.execute("SELECT lower(?) = lower(?)", (address.table, other.table))
        return bool(equal)

    def mark_of(self, address: Address) -> str:
        kind, statement = self._description(address) or ("", "")
        found = re.search(r"\n-- (.*)\n\)$", statement)
        return found.group(1) if found and kind == "table" else ""

    def read(self, address: Address) -> pa.Table:
        import pyarrow as pa

        if not self.has(address):
            raise TableError(f"there is no table {address.table!r} in the SQLite file")
        place = quoted(address.table)
        with self.told(f"read the table {address.table!r}"):
            columns = [(row[1], row[2] or "") for row in self._connection.execute(f"PRAGMA table_xinfo({place})")]
            chosen = ", ".join(quoted(name) for name, _ in columns)
            records = self._connection.execute(f"SELECT {chosen} FROM {place}").fetchall()
        values = list(zip(*records, strict=True)) if records else [()] * len(columns)
        arrays = [_typed(name, kind, list(one)) for (name, kind), one in zip(columns, values, strict=True)]
        return pa.table(arrays, names=[name for name, _ in columns])

    def storable(self, table: pa.Table) -> pa.Table:
        import pyarrow as pa
        import pyarrow.compute as pc

        table = in_common_types(table)
        lower = [name.lower() for name in table.column_names]
        if len(set(lower)) < len(lower):
            raise TableError("SQLite takes names of columns that differ in large and small letters alone for the same")
        for place, field in enumerate(table.schema):
            if pa.types.is_floating(field.type):  # there is one kind of missing in SQLite
                column = table.column(place)
                table = table.set_column(place, field.name, pc.if_else(pc.is_nan(column), None, column))
        return table

    def write(self, address: Address, table: pa.Table, mark: str, *, replaces: bool) -> None:
        place = quoted(address.table)
        columns = ",\n".join(f"{quoted(field.name)} {_sql_type(field.type)}" for field in table.schema)
        with self.told(f"write the table {address.table!r}"):
            if replaces:
                self._connection.execute(f"DROP TABLE {place}")
            self._connection.execute(f"CREATE TABLE {place} (\n{columns}\n-- {mark}\n)")
            insert = f"INSERT INTO {place} VALUES ({', '.join('?' * table.num_columns)})"
            for batch in table.to_batches(_BATCH):
                stored = [_stored(column) for column in batch.columns]
                self._connection.executemany(insert, zip(*stored, strict=True))

    def commit(self) -> None:
        try:
            with self.told("commit"):
                self._wait_to("COMMIT")
        except BaseException:
            self._undone = self._connection.in_transaction  # what is closed like that is rolled back
            raise
        self._new = None

    def is_undone(self) -> bool:
        return self._undone

    def close(self) -> None:
        self._connection.close()  # what was not committed is rolled back
        if self._new is not None:
            with contextlib.suppress(FileNotFoundError):
                if not self._new.stat().st_size:  # else somebody else has committed to it meanwhile
                    self._new.unlink()


def _sql_type(kind: pa.DataType) -> str:
    from pyarrow import types as t

    if t.is_decimal(kind):
        # SQLite makes a double of digits that are not text, which keeps 15 of them.
        name = "DECIMAL" if kind.precision <= 15 else "DECIMAL_TEXT"
        return f"{name}({kind.precision}, {kind.scale})"
    if t.is_timestamp(kind):
        return "TIMESTAMP" if kind.tz is None else "TIMESTAMP_TZ"
    return {
        "int16": "SMALLINT",
        "int32": "INTEGER",
        "int64": "BIGINT",
        "float": "FLOAT4",
        "double": "DOUBLE",
        "bool": "BOOLEAN",
        "string": "TEXT",
        "date32[day]": "DATE",
        "time64[us]": "TIME",
    }[str(kind)]


def _stored(column: pa.Array) -> list[Any]:
    import pyarrow as pa
    from pyarrow import types as t

    if t.is_boolean(column.type):
        return list(column.cast(pa.int8()).to_pylist())
    if t.is_temporal(column.type) or t.is_decimal(column.type):
        return list(column.cast(pa.string()).to_pylist())
    return list(column.to_pylist())


def _typed(name: str, declared: str, values: list[Any]) -> pa.Array:
    """A column in the type that it declares, if every value is of it; else, if all are of one kind, as they are."""
    import pyarrow as pa

    blobs = sum(isinstance(value, bytes) for value in values)
    if blobs:
        values = [value.hex() if isinstance(value, bytes) else value for value in values]
    kind = _arrow_type(declared)
    if kind is not None:
        try:
            return _as_type(values, kind)
        except (pa.ArrowException, ValueError, TypeError, OverflowError, InvalidOperation, KeyError):
            pass  # SQLite keeps what it is given: then the values say what they are
    found = {type(value) for value in values if value is not None}
    if not found:
        return pa.array(values, pa.string() if kind is None else kind)
    if found == {int}:
        return pa.array(values, pa.int64())
    if found <= {int, float}:
        return pa.array([None if value is None else float(value) for value in values], pa.float64())
    if found == {str}:
        return pa.array(values, pa.string())
    texts = sum(isinstance(value, str) for value in values)
    raise TableError(f"column {name!r} mixes types: {texts} of its {len(values)} values are text, others are numbers")


def _arrow_type(declared: str) -> pa.DataType | None:
    """What a column says that it holds; None if SQLite knows no more than its values."""
    import pyarrow as pa

    word = declared.upper().strip()
    sized = re.match(r"(?:DECIMAL|NUMERIC|DECIMAL_TEXT)\s*\(\s*(\d+)\s*(?:,\s*(\d+)\s*)?\)", word)
    if sized and int(sized[2] or 0) <= int(sized[1]) <= 38:
        return pa.decimal128(int(sized[1]), int(sized[2] or 0))
    for start, kind in (
        ("BOOL", pa.bool_()),
        ("DATETIME", pa.timestamp("us")),
        ("TIMESTAMP_TZ", pa.timestamp("us", "UTC")),
        ("TIMESTAMP", pa.timestamp("us")),
        ("DATE", pa.date32()),
        ("TIME", pa.time64("us")),
        ("SMALLINT", pa.int16()),
        ("FLOAT4", pa.float32()),
        ("FLOAT", pa.float64()),
    ):
        if word.startswith(start):
            return kind
    if "INT" in word:
        return pa.int64()
    if any(part in word for part in ("CHAR", "CLOB", "TEXT")):
        return pa.string()
    return pa.float64() if any(part in word for part in ("REAL", "DOUB")) else None


def _as_type(values: list[Any], kind: pa.DataType) -> pa.Array:
    """Values as an Arrow array; an error if one of them is not of the type, to the last digit."""
    import pyarrow as pa
    import pyarrow.compute as pc
    from pyarrow import types as t

    there = {type(value) for value in values if value is not None}
    if t.is_decimal(kind):
        return pa.array([None if value is None else Decimal(str(value)) for value in values], kind)
    if t.is_boolean(kind):
        return pa.array([None if value is None else {0: False, 1: True}[value] for value in values], kind)
    if t.is_floating(kind):
        if not there <= {int, float}:
            raise TypeError
        exact = pa.array([None if value is None else float(value) for value in values], pa.float64())
        if not exact.cast(kind).cast(pa.float64()).equals(exact):
            raise ValueError
        return exact.cast(kind)
    if t.is_temporal(kind):
        if not there <= {str}:
            raise TypeError
        texts = pa.array(values, pa.string())
        if t.is_time(kind):
            return pc.binary_join_element_wise("1970-01-01", texts, " ").cast(pa.timestamp("us")).cast(kind)
        return texts.cast(kind)
    if there - ({int} if t.is_integer(kind) else {str}):
        raise TypeError
    return pa.array(values, kind)
