"""PostgreSQL, through its ADBC driver: one transaction that sees one state of the database from begin to end."""

from __future__ import annotations

from collections.abc import Callable
from decimal import Decimal
from typing import TYPE_CHECKING, Any, TypeVar

from microagg._halt import StopCondition, attend, current_halt
from microagg.errors import TableError
from microagg.tables.databases.address import Address
from microagg.tables.databases.database import Database, quoted
from microagg.tables.databases.storable import in_common_types

if TYPE_CHECKING:
    import pyarrow as pa

__all__ = ["Postgresql"]

T = TypeVar("T")

_KEPT = {
    *("int2", "int4", "int8", "float4", "float8", "bool", "date", "timestamp", "timestamptz", "time"),
    *("text", "varchar", "bpchar"),
}
_REASONS = {
    "08": "the connection failed",
    "22": "a value does not fit",
    "23": "a constraint of the table is not met",
    "25": "the transaction is read-only or has ended",
    "28": "the user or the password is not accepted",
    "3D000": "there is no such database",
    "3F000": "there is no such schema",
    "40": "another transaction changed the same; run it again",
    "42501": "the user has no permission for it",
    "42P01": "there is no such table",
    "42P07": "the table exists",
    "2BP01": "views or other objects depend on the table",
    "53": "it has no room or no memory left",
    "57": "it was shut down or the statement was cancelled",
}
# Values that Arrow has not, each with what they are: the driver would give others in their place.
_WITHOUT_ARROW = {
    "date": ("NOT isfinite({})", "are infinite"),
    "timestamp": ("NOT isfinite({})", "are infinite"),
    "timestamptz": ("NOT isfinite({})", "are infinite"),
    "time": ("{} = '24:00'", "are 24:00, the end of a day"),
}
_NO_ANSWER = {"08", "57"}  # what a server did that failed or was shut down meanwhile, nobody can tell
_PATIENCE = 5.0  # seconds that the server has to cancel
_LONGEST_NAME = 63  # bytes; longer names would be cut without a word


class Postgresql(Database):
    """A transaction with isolation level REPEATABLE READ."""

    title = "PostgreSQL"

    def __init__(self, address: Address, *, writes: bool) -> None:
        try:
            from adbc_driver_postgresql import dbapi
        except ModuleNotFoundError:
            raise TableError("tables in PostgreSQL need the extra 'sql': pip install 'microagg[sql]'") from None
        self._undone = False
        with self.told("connect"):
            self._connection = attend(lambda: _connection(dbapi.connect, address.database), StopCondition())
            self._cursor = self._connection.cursor()
            mode = "READ WRITE" if writes else "READ ONLY"
            try:
                self._execute(f"SET TRANSACTION ISOLATION LEVEL REPEATABLE READ, {mode}")
            except BaseException:
                self.close()
                raise

    def _execute(self, statement: str, values: tuple[Any, ...] | None = None) -> None:
        self._attend(lambda: self._cursor.execute(statement, values))

    def _attend(self, work: Callable[[], T]) -> T:
        """Let the driver work where it keeps neither Ctrl-C nor a time limit from Python, which cancel the work."""
        return attend(work, _Cancelling(self._cursor))

    def reason_of(self, error: Exception) -> str:
        state = getattr(error, "sqlstate", None) or ""
        words = _REASONS.get(state) or _REASONS.get(state[:2])
        if words:
            return f"{words} (SQLSTATE {state})"
        return f"SQLSTATE {state}" if state else "no connection, no such server, user or database, or a wrong password"

    def _rows(self, statement: str, values: tuple[Any, ...] = ()) -> list[tuple[Any, ...]]:
        self._execute(statement, values or None)
        return list(self._cursor.fetchall())

    def _found(self, address: Address) -> int | None:
        """The number under which the database knows the table, or None."""
        for name in (address.schema, address.table):
            if name is not None and len(name.encode()) > _LONGEST_NAME:
                raise TableError(
                    f"names in PostgreSQL have at most {_LONGEST_NAME} bytes; the address has a longer one"
                )
        with self.told(f"look for the table {address.table!r}"):
            ((number,),) = self._rows("SELECT to_regclass($1)::oid::bigint", (quoted(address.schema, address.table),))
        return None if number is None else int(number)

    def has(self, address: Address) -> bool:
        return self._found(address) is not None

    def is_one(self, address: Address, other: Address) -> bool:
        return address == other or self._found(address) == self._found(other) is not None

    def mark_of(self, address: Address) -> str:
        with self.told(f"look at the table {address.table!r}"):
            ((words, kind),) = self._rows(
                "SELECT coalesce(obj_description($1::bigint::oid, 'pg_class'), ''), relkind::text FROM pg_class "
                "WHERE oid = $1::bigint::oid",
                (self._found(address),),
            )
        return str(words) if kind == "r" else ""

    def read(self, address: Address) -> pa.Table:
        import pyarrow as pa

        number = self._found(address)
        if number is None:
            raise TableError(f"there is no table {address.table!r} in the database, or the user may not see its schema")
        with self.told(f"read the table {address.table!r}"):
            columns = self._rows(
                "SELECT a.attname::text, t.typname::text, a.atttypmod::bigint FROM pg_attribute a JOIN pg_type t "
                "ON t.oid = a.atttypid WHERE a.attrelid = $1::bigint::oid AND a.attnum > 0 AND NOT a.attisdropped "
                "ORDER BY a.attnum",
                (number,),
            )
            if not columns:
                raise TableError(f"the table {address.table!r} has no columns")
            self._refuse_without_arrow(address, {name: kind for name, kind, _ in columns})
            wanted = [quoted(name) if kind in _KEPT else f"{quoted(name)}::text" for name, kind, _ in columns]
            self._execute(f"SELECT {', '.join(wanted)} FROM {quoted(address.schema, address.table)}")
            read = self._attend(self._cursor.fetch_arrow_table)
        arrays = [
            _as_decimals(column, modifier, name) if kind == "numeric" else column
            for column, (name, kind, modifier) in zip(read.columns, columns, strict=True)
        ]
        return pa.table(arrays, names=[name for name, _, _ in columns])

    def _refuse_without_arrow(self, address: Address, kinds: dict[str, str]) -> None:
        """Refuse dates and times that would come as others, such as an infinite future as a distant past."""
        looked = {name: _WITHOUT_ARROW[kind] for name, kind in kinds.items() if kind in _WITHOUT_ARROW}
        if not looked:
            return
        counts = [f"count(*) FILTER (WHERE {test.format(quoted(name))})" for name, (test, _) in looked.items()]
        (found,) = self._rows(f"SELECT {', '.join(counts)} FROM {quoted(address.schema, address.table)}")
        for count, (name, (_, what)) in zip(found, looked.items(), strict=True):
            if count:
                raise TableError(
                    f"column {name!r} has {count} values that {what}, which tables here cannot hold: mend them, or "
                    "read a view that has NULL or another value in their place"
                )

    def storable(self, table: pa.Table) -> pa.Table:
        for name in table.column_names:
            if len(name.encode()) > _LONGEST_NAME:
                raise TableError(f"column {name!r}: names in PostgreSQL have at most {_LONGEST_NAME} bytes")
        return in_common_types(table)

    def write(self, address: Address, table: pa.Table, mark: str, *, replaces: bool) -> None:
        place = quoted(address.schema, address.table)
        columns = ", ".join(f"{quoted(field.name)} {_sql_type(field.type)}" for field in table.schema)
        with self.told(f"write the table {address.table!r}"):
            if replaces:
                self._execute(f"DROP TABLE {place}")
            self._execute(f"CREATE TABLE {place} ({columns})")
            literal = mark.replace("'", "''")
            self._execute(f"COMMENT ON TABLE {place} IS '{literal}'")
            if table.num_rows:
                self._attend(
                    lambda: self._cursor.adbc_ingest(address.table, table, mode="append", db_schema_name=address.schema)
                )

    def commit(self) -> None:
        with self.told("commit"):
            try:
                self._attend(self._connection.commit)
            except Exception as error:
                state = getattr(error, "sqlstate", None) or ""
                self._undone = bool(state) and state[:2] not in _NO_ANSWER
                raise

    def is_undone(self) -> bool:
        return self._undone

    def close(self) -> None:
        self._cursor.close()
        self._connection.close()  # what was not committed is rolled back


def _connection(connect: Callable[[str], Any], database: str) -> Any:
    """A new connection, closed at once if nobody waits for it any more."""
    opened = connect(database)
    if current_halt().now():
        opened.close()
    return opened


class _Cancelling(StopCondition):
    """Stops a statement at the server."""

    def __init__(self, cursor: Any) -> None:
        super().__init__()
        self.patience = _PATIENCE
        self._cursor = cursor

    def stop(self, reason: str) -> None:
        super().stop(reason)
        self._cursor.adbc_cancel()


def _sql_type(kind: pa.DataType) -> str:
    from pyarrow import types as t

    if t.is_decimal(kind):
        return f"numeric({kind.precision}, {kind.scale})"
    if t.is_timestamp(kind):
        return "timestamp" if kind.tz is None else "timestamp with time zone"
    return {
        "int16": "smallint",
        "int32": "integer",
        "int64": "bigint",
        "float": "real",
        "double": "double precision",
        "bool": "boolean",
        "string": "text",
        "date32[day]": "date",
        "time64[us]": "time",
    }[str(kind)]


def _as_decimals(texts: pa.ChunkedArray, modifier: int, name: str) -> pa.ChunkedArray:
    """Numbers of any length as decimals of the precision that the column states, or that its longest value needs."""
    import pyarrow as pa
    import pyarrow.compute as pc

    odd = int(pc.sum(pc.is_in(texts, pa.array(["NaN", "Infinity", "-Infinity"]))).as_py() or 0)
    if odd:
        raise TableError(f"column {name!r} has {odd} numbers that are NaN or infinite: mend them before")
    precision, scale = ((modifier - 4) >> 16) & 0xFFFF, (modifier - 4) & 0x7FF
    if modifier < 4 or not scale <= precision <= 38:  # a scale below 0 reads here as one above 1023
        shapes = [Decimal(text).as_tuple() for text in pc.unique(texts.drop_null()).to_pylist()]
        scale = max((-int(shape.exponent) for shape in shapes), default=0)
        whole = max((len(shape.digits) + int(shape.exponent) for shape in shapes), default=1)
        precision = max(whole, 1) + max(scale, 0)
    if precision > 38:
        raise TableError(f"column {name!r} has numbers of more than 38 digits: round them in a view, and read that")
    return texts.cast(pa.decimal128(precision, scale))
