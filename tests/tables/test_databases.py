"""Addresses of tables in databases, the types that SQLite keeps, and whether two tables hold the same records."""

import sqlite3
from datetime import date, datetime, time
from decimal import Decimal

import pyarrow as pa
import pytest

from microagg.errors import TableError
from microagg.tables.databases.address import Address, is_address
from microagg.tables.databases.database import connected, quoted
from microagg.tables.databases.spool import kind_of_bytes
from microagg.tables.databases.sqlite import Sqlite
from microagg.tables.databases.storable import same_records
from microagg.tables.formats.registry import writable_names
from microagg.tables.write import write_table

TABLE = pa.table(
    {
        "whole": pa.array([1, None, 2**63 - 1, -(2**63)]),
        "small": pa.array([1, None, 2, -3], pa.int16()),
        "decimal": pa.array([Decimal("0.10"), None, Decimal("-12345678.91"), Decimal("5.00")], pa.decimal128(10, 2)),
        "long decimal": pa.array(
            [Decimal("12345678901234567890.12"), None, Decimal("0.01"), Decimal(0)], pa.decimal128(22, 2)
        ),
        "number": pa.array([0.1, None, 1e300, 3.0]),
        "single": pa.array([0.1, None, 2.5, 3.0], pa.float32()),
        "truth": pa.array([True, None, False, True]),
        "day": pa.array([date(2024, 2, 29), None, date(1, 1, 1), date(9999, 12, 31)]),
        "moment": pa.array([datetime(2024, 2, 29, 13, 45, 1, 4), None, datetime(1931, 1, 1), datetime(2000, 1, 1)]),
        "zoned": pa.array([datetime(2024, 2, 29, 13, 45), None, None, datetime(2000, 1, 1)], pa.timestamp("us", "UTC")),
        "clock": pa.array([time(13, 45, 1, 4), None, time(0), time(23, 59, 59)], pa.time64("us")),
        "text": pa.array(["", None, 'it\'s "żółw"\n', "NULL"]),
        'a"b; drop table "c': pa.array(["007", None, "1e5", "2024-02-29"]),
    }
)


def test_an_address_says_what_it_names_and_nothing_more():
    address = Address.parse('postgresql://ann:canary@host:5432/db?sslmode=require&table="odd.schema"."a""b"')
    assert (address.schema, address.table) == ("odd.schema", 'a"b')
    assert address.database == "postgresql://ann:canary@host:5432/db?sslmode=require"
    assert "canary" not in repr(address)
    assert "host" not in repr(address)
    assert Address.parse("sqlite:////data/x.db?table=t").database == "/data/x.db"
    assert Address.parse("sqlite:///x%20y.db?table=main.t").database == "x y.db"
    assert Address.parse("sqlite:///x.db?table=people%232").table == "people#2"
    assert not is_address("C:/data.csv")
    assert not is_address("data.csv")


@pytest.mark.parametrize(
    "text",
    [
        "mysql://canary@host/db?table=t",
        "postgresql://canary@host/db",
        "postgresql://canary@host/db?table=",
        "postgresql://canary@host/db?table=a.b.c",
        "postgresql://canary@[host/db?table=a",
        "sqlite://canary.db?table=t",
        "sqlite:///canary.db?mode=ro&table=t",
        "sqlite:///canary.db?table=other.t",
        "sqlite:///?table=canary",
        "postgresql://host/db?table=people#canary",  # not the table people
        "postgresql://ann:ca#nary@host/db?table=canary",
    ],
)
def test_an_address_that_cannot_be_read_is_not_quoted(text):
    with pytest.raises(TableError) as caught:
        Address.parse(text)
    assert "canary" not in str(caught.value)
    assert caught.value.__cause__ is None


def test_a_name_with_a_nul_is_refused():
    with pytest.raises(TableError, match="NUL"):
        quoted("a\0b")


def write(path, table, name="t"):
    address = Address("sqlite", str(path), None, name)
    with connected(address, writes=True) as database:
        stored = database.storable(table)
        database.write(address, stored, "a mark", replaces=False)
        database.commit()
    return address


def read(address):
    with connected(address) as database:
        return database.read(address)


def test_sqlite_gives_back_every_type(tmp_path):
    address = write(tmp_path / "x.db", TABLE, 'odd "name"; --')
    again = read(address)
    assert again.schema == TABLE.schema
    assert again.to_pydict() == TABLE.to_pydict()
    with connected(address) as database:
        assert database.mark_of(address) == "a mark"


def test_sqlite_makes_categories_text_and_what_is_no_number_missing(tmp_path):
    table = pa.table({"c": pa.array(["b", "a"]).dictionary_encode(), "x": [float("nan"), 1.0]})
    assert read(write(tmp_path / "x.db", table)).to_pydict() == {"c": ["b", "a"], "x": [None, 1.0]}


def test_what_was_not_committed_leaves_no_file(tmp_path):
    address = Address("sqlite", str(tmp_path / "x.db"), None, "t")
    with connected(address, writes=True) as database:
        database.write(address, database.storable(TABLE), "", replaces=False)
    assert not list(tmp_path.iterdir())


def test_a_new_file_that_somebody_else_has_committed_to_stays(tmp_path):
    address = Address("sqlite", str(tmp_path / "x.db"), None, "t")
    late = Sqlite.__new__(Sqlite)
    with connected(address, writes=True) as database:
        late._new = tmp_path / "x.db"  # it looked before the file was there
        database.write(address, database.storable(TABLE), "", replaces=False)
        database.commit()
    late._connection = sqlite3.connect(tmp_path / "x.db")
    late.close()
    assert read(address).num_rows == TABLE.num_rows


def test_a_large_table_that_was_not_committed_leaves_no_file(tmp_path):
    address = Address("sqlite", str(tmp_path / "x.db"), None, "t")
    with connected(address, writes=True) as database:
        database.write(address, pa.table({"x": ["x" * 10_000] * 1000}), "", replaces=False)
        assert (tmp_path / "x.db").stat().st_size > 0  # more than is kept in memory
    assert not list(tmp_path.iterdir())


@pytest.fixture
def of_others(tmp_path):
    """A table as other programs leave it in SQLite, where a column may hold anything."""

    def make(declared, values):
        with sqlite3.connect(tmp_path / "x.db") as connection:
            connection.execute(f"CREATE TABLE t (x {declared})")
            connection.executemany("INSERT INTO t VALUES (?)", [(value,) for value in values])
        connection.close()
        return read(Address("sqlite", str(tmp_path / "x.db"), None, "T"))["x"]

    return make


@pytest.mark.parametrize(
    ("declared", "values", "kind", "expected"),
    [
        ("", [1, 2], "int64", [1, 2]),
        ("NUMERIC", [1, 2.5], "double", [1.0, 2.5]),
        ("VARCHAR(5)", ["007", None], "string", ["007", None]),
        ("DATE", ["2024-02-29", None], "date32[day]", [date(2024, 2, 29), None]),
        ("DATE", [20240229, None], "int64", [20240229, None]),
        ("BOOLEAN", [1, 0], "bool", [True, False]),
        ("BOOLEAN", [1, 2], "int64", [1, 2]),
        ("INTEGER", [1, 2.5], "double", [1.0, 2.5]),
        ("DECIMAL(5, 1)", [1.25, 2], "double", [1.25, 2.0]),
        ("BLOB", [b"\x01", None], "string", ["01", None]),
    ],
)
def test_columns_of_sqlite_are_what_they_declare_if_their_values_are(of_others, declared, values, kind, expected):
    column = of_others(declared, values)
    assert str(column.type) == kind
    assert column.to_pylist() == expected


def test_a_column_that_mixes_text_and_numbers_is_refused_without_its_values(of_others):
    with pytest.raises(TableError, match="column 'x' mixes types: 1 of its 3 values are text") as caught:
        of_others("INTEGER", [1, "canary", 2])
    assert "canary" not in str(caught.value)


def test_the_same_records_are_the_same_in_any_order():
    assert same_records(TABLE, TABLE.take([2, 0, 3, 1]))
    assert not same_records(TABLE, TABLE.take([2, 0, 3, 3]))
    assert not same_records(TABLE, TABLE.slice(0, 3))
    assert not same_records(TABLE, TABLE.rename_columns([*TABLE.column_names[:-1], "other"]))


@pytest.mark.parametrize("other", [[1.0, None, None], [1.0, float("nan"), 2.0], [1.0, 1.0, float("nan")]])
def test_missing_and_not_a_number_are_told_apart(other):
    one = pa.table({"x": pa.array([1.0, float("nan"), None])})
    assert same_records(one, one.take([1, 2, 0]))
    assert not same_records(one, pa.table({"x": pa.array(other)}))


def test_streams_are_known_by_their_first_bytes(tmp_path):
    for name in set(writable_names()) - {"tsv"}:  # which looks like a csv
        write_table(pa.table({"x": [1, 2], "y": ["a", "b"]}), tmp_path / f"t.{name}")
        assert kind_of_bytes((tmp_path / f"t.{name}").read_bytes()[:16]) == name


@pytest.mark.parametrize("start", [b"\xef\xbb\xbf{", b"\n {", b"[{", b"[\n  {", b"\xef\xbb\xbf[{"])
def test_records_of_a_stream_are_never_taken_for_names_of_columns(start):
    assert kind_of_bytes(start + b'"a": 1}') == "jsonl"
    assert kind_of_bytes(b"\xef\xbb\xbfa,b\n1,2\n") == "csv"
