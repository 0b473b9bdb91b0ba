"""Releases from and into databases: the same table, counted on what the database returns, whole or not at all."""

import json
import os
import signal
import sqlite3
import subprocess
import sys
import threading
import time
from contextlib import closing, contextmanager
from datetime import date, timedelta
from decimal import Decimal

import pyarrow as pa
import pytest
from typer.testing import CliRunner

import microagg
from microagg.cli.app import app
from microagg.errors import GuaranteeError, InputError, TableError
from microagg.releases.check.check import check_release
from microagg.releases.folder import delivery
from microagg.tables.databases.address import Address
from microagg.tables.databases.database import MARK, connected, quoted
from microagg.tables.databases.postgresql import Postgresql
from microagg.tables.databases.sqlite import Sqlite
from postgresql_server import running

CANARY = "canary"
HOSTILE = 'peo"ple; drop table x --'
RECIPE = microagg.Recipe(
    k=3,
    attributes={
        "name": "identifier",
        "age": {"role": "quasi_identifier", "kind": "numeric"},
        "born": {"role": "quasi_identifier", "kind": "numeric"},
        "pay": {"role": "quasi_identifier", "kind": "numeric"},
        "sick": "confidential",
        'no"te': "non_confidential",
        "big": "non_confidential",
    },
)
N = 40
PEOPLE = pa.table(
    {
        "name": [f"{CANARY}-{i}" for i in range(N)],
        "age": pa.array([20 + 7 * i % 50 for i in range(N)], pa.int32()),
        "born": [date(1950, 1, 1) + timedelta(days=331 * i % 9000) for i in range(N)],
        "pay": pa.array([Decimal(1000 + 37 * i % 900) / 100 for i in range(N)], pa.decimal128(8, 2)),
        "sick": [i % 3 == 0 for i in range(N)],
        'no"te': [None if i % 5 == 0 else "it's" for i in range(N)],
        "big": [2**62 + i % 4 for i in range(N)],
    }
)


class SqliteFile:
    """The part of a database that tests use."""

    def __init__(self, path):
        self.path = path

    def address(self, table):
        return f"sqlite:///{self.path}?table={table}"

    def run(self, *statements):
        with closing(sqlite3.connect(self.path, isolation_level=None)) as connection:
            return [connection.execute(statement).fetchall() for statement in statements][-1]

    def names(self):
        return {row[0] for row in self.run("SELECT name FROM sqlite_master WHERE type = 'table'")}


class PostgresqlServer:
    def __init__(self, server):
        self.address, self.run = server.address, server.run
        self.run("DROP SCHEMA IF EXISTS public CASCADE", "CREATE SCHEMA public")

    def names(self):
        return {
            row[0]
            for row in self.run(
                "SELECT relname::text FROM pg_class WHERE relkind = 'r' AND relnamespace = 'public'::regnamespace"
            )
        }


@pytest.fixture(scope="module")
def server():
    with running() as started:
        yield started


@pytest.fixture(params=["sqlite", "postgresql"])
def place(request, tmp_path):
    """A database that holds the people under a hostile name."""
    if request.param == "sqlite":
        found = SqliteFile(tmp_path / f"{CANARY}.db")
    else:
        found = PostgresqlServer(request.getfixturevalue("server"))
    found.people = found.address('"' + HOSTILE.replace('"', '""') + '"')
    fill(found.people, PEOPLE)
    return found


def fill(text, table, mark=""):
    address = Address.parse(text)
    with connected(address, writes=True) as database:
        database.write(address, database.storable(table), mark, replaces=False)
        database.commit()


def content(text):
    address = Address.parse(text)
    with connected(address) as database:
        return database.read(address)


def command(*words):
    return CliRunner().invoke(app, [str(word) for word in words])


@pytest.fixture
def recipe_file(tmp_path):
    RECIPE.save(tmp_path / "recipe.toml")
    return tmp_path / "recipe.toml"


def by_all(table):
    return table.sort_by([(name, "ascending") for name in table.column_names]).to_pylist()


def test_a_table_goes_in_and_comes_out_released_in_one_command(place, recipe_file, tmp_path):
    out, target = tmp_path / "out", place.address("released")
    done = command("release", place.people, "-r", recipe_file, "-o", target, "--papers", out, "--json")
    assert done.exit_code == 0, done.output
    assert all(finding.holds for finding in check_release(out))
    released, original = content(target), content(place.people)
    assert released.schema.types == original.select(released.column_names).schema.types
    assert by_all(released) == by_all(microagg.read_table(out / "table.parquet", RECIPE))
    assert by_all(released.select(['no"te', "big"])) == by_all(original.select(['no"te', "big"]))
    smallest = min(released.group_by(["age", "born", "pay"]).aggregate([([], "count_all")])["count_all"].to_pylist())
    assert smallest >= RECIPE.k
    shown = done.output + "".join(path.read_text() for path in tmp_path.rglob("*.json"))
    assert CANARY not in shown + (out / "report.html").read_text()
    assert "sqlite://" not in shown + done.stderr
    assert "postgresql://" not in shown + done.stderr


def test_a_database_is_read_from_python_and_written_from_there(place, tmp_path):
    table = microagg.read_table(place.people, RECIPE)
    assert by_all(table) == by_all(PEOPLE)
    release = microagg.release(table, RECIPE)
    release.save(tmp_path / "out", to=place.address("released"))
    assert content(place.address("released")).num_rows == N
    with pytest.raises(InputError, match="table 'released' exists"):
        release.save(tmp_path / "more", to=place.address("released"))
    release.save(tmp_path / "more", to=place.address("released"), overwrite=True)


def test_other_tables_and_the_records_themselves_are_never_replaced(place, recipe_file, tmp_path):
    fill(place.address("other"), PEOPLE.select(["age"]), mark="by somebody else")
    for target, words in ((place.address("other"), "was not written by microagg"), (place.people, "would replace the")):
        done = command(
            "release", place.people, "-r", recipe_file, "-o", target, "--papers", tmp_path / "out", "--overwrite"
        )
        assert done.exit_code == 2
        assert words in done.output
    assert by_all(content(place.people)) == by_all(PEOPLE)
    assert place.names() == {HOSTILE, "other"}
    assert not (tmp_path / "out").exists()


@pytest.mark.parametrize("how", ["a changed value", "a broken guarantee"])
def test_what_the_database_returns_decides(place, tmp_path, monkeypatch, how):
    release = microagg.release(microagg.read_table(place.people, RECIPE), RECIPE)
    target = place.address("released")
    with connected(Address.parse(target)) as one:
        kind = type(one)
    read = kind.read

    def altered(self, address):
        table = read(self, address)
        ages = [0, *table["age"].to_pylist()[1:]]
        return table.set_column(table.column_names.index("age"), "age", pa.array(ages, table["age"].type))

    monkeypatch.setattr(kind, "read", altered)
    if how == "a broken guarantee":  # the comparison alone would find it, too: the count must not lean on it
        monkeypatch.setattr(delivery, "same_records", lambda one, other: True)
    words = "does not return the records" if how == "a changed value" else r"k-anonymity \(k = 3\) does not hold on the"
    with pytest.raises(GuaranteeError, match=words):
        release.save(tmp_path / "out", to=target)
    assert place.names() == {HOSTILE}
    assert not list(tmp_path.glob("out*"))


KILLED = """
import os, signal, sys
import microagg
from microagg.releases.folder import delivery
from microagg.tables.databases import {kind}

def kill(*args, **more):
    os.kill(os.getpid(), signal.SIGKILL)

if sys.argv[1] == "while it is written":
    delivery.same_records = kill
else:
    {kind}.{name}.commit = kill
recipe = microagg.Recipe.load(sys.argv[2])
release = microagg.release(microagg.read_table(sys.argv[3], recipe), recipe)
release.save(sys.argv[5], to=sys.argv[4], overwrite=True)
"""


@pytest.mark.parametrize(
    ("place", "when"),
    [
        ("postgresql", "while it is written"),
        ("postgresql", "before it is committed"),
        ("sqlite", "before it is committed"),
    ],
    indirect=["place"],
)
def test_killed_in_the_middle_the_database_is_as_before(place, recipe_file, tmp_path, when):
    target, out = place.address("released"), tmp_path / "out"
    microagg.release(PEOPLE, RECIPE).save(out, to=target)
    before, manifest = by_all(content(target)), (out / "manifest.json").read_bytes()
    kind = Address.parse(target).kind
    script = KILLED.format(kind=kind, name=kind.capitalize())
    words = [when, str(recipe_file), place.people, target, str(out)]
    done = subprocess.run([sys.executable, "-c", script, *words], capture_output=True, timeout=120)
    assert done.returncode == -9, done.stderr
    assert by_all(content(target)) == before
    assert by_all(content(place.people)) == by_all(PEOPLE)
    if when == "while it is written":
        assert (out / "manifest.json").read_bytes() == manifest
    assert all(finding.holds for finding in check_release(out))
    microagg.release(PEOPLE, RECIPE).save(tmp_path / "again", to=target, overwrite=True)  # nothing is locked


@pytest.mark.parametrize("kind", ["sqlite", "postgresql"])
def test_a_release_that_is_released_again_is_not_replaced_under_another_spelling(kind, recipe_file, request, tmp_path):
    if kind == "sqlite":
        one = SqliteFile(tmp_path / "x.db")
        others = [one.address("PEOPLE"), SqliteFile(tmp_path / "." / "linked.db").address("people")]
        (tmp_path / "linked.db").symlink_to("x.db")
    else:
        one = PostgresqlServer(request.getfixturevalue("server"))
        others = [one.address("public.people"), one.address('"people"')]
    fill(one.address("people"), PEOPLE, mark=f"{MARK}0")
    for target in (one.address("people"), *others):
        words = ("-r", recipe_file, "-o", target, "--papers", tmp_path / "out", "--overwrite")
        done = command("release", one.address("people"), *words)
        assert (done.exit_code, "would replace the records" in done.stderr) == (2, True)
    assert content(one.address("people")).num_rows == N


def test_parameters_of_the_address_reach_the_server_as_they_are_written(server):
    server.run("DROP SCHEMA IF EXISTS apart CASCADE", "CREATE SCHEMA apart", "CREATE TABLE apart.t AS SELECT 1 AS x")
    address = server.address("t") + "&options=-c%20search_path%3Dapart"
    assert content(address).to_pydict() == {"x": [1]}


def test_a_table_that_the_database_cannot_hold_is_refused_before_anything_stays(place, tmp_path):
    recipe = microagg.Recipe(
        k=2, attributes={"x": {"role": "quasi_identifier", "kind": "numeric"}, "y": "confidential"}
    )
    table = pa.table({"x": [1, 1, 2, 2], "y": pa.array([2**64 - 1, 1, 2, 3], pa.uint64())})
    with pytest.raises(TableError, match="column 'y' of type uint64") as caught:
        microagg.release(table, recipe).save(tmp_path / "out", to=place.address("released"))
    assert str(2**64 - 1) not in str(caught.value)
    assert place.names() == {HOSTILE}
    assert not list(tmp_path.glob("out*"))


def test_refusals_of_a_server_quote_neither_password_nor_value(server, tmp_path):
    for address, words in (
        (server.address("nothing"), "there is no table 'nothing'"),
        (server.address("t", user="nobody-canary"), "PostgreSQL refused to connect"),
        ("postgresql://canary:canary@127.0.0.1:1/canary?table=t", "PostgreSQL refused to connect"),
    ):
        with pytest.raises(TableError, match=words) as caught:
            microagg.read_table(address, RECIPE)
        assert CANARY not in str(caught.value)
        assert caught.value.__context__ is None or caught.value.__suppress_context__
    server.run("CREATE ROLE reader LOGIN")
    with pytest.raises(TableError, match=r"permission for it \(SQLSTATE 42501\)"):
        microagg.release(PEOPLE, RECIPE).save(tmp_path / "out", to=server.address("pg_catalog.t", user="reader"))
    assert not list(tmp_path.glob("out*"))


def test_columns_of_types_that_are_not_published_can_be_identifiers(server):
    server.run(
        "DROP TABLE IF EXISTS odd",
        "CREATE TABLE odd (u uuid, j jsonb, b bytea, a int[], n numeric, e numeric(6, 2), c char(3), t timestamptz)",
        "INSERT INTO odd VALUES (gen_random_uuid(), '{\"a\": 1}', '\\x01', '{1,2}', 1.5, 2.5, 'x', '2024-02-29Z')",
        "INSERT INTO odd VALUES (NULL, NULL, NULL, NULL, 100.25, NULL, NULL, NULL)",
    )
    table = content(server.address("odd"))
    kinds = {field.name: str(field.type) for field in table.schema}
    assert kinds == {
        **dict.fromkeys("ujbac", "string"),
        "n": "decimal128(5, 2)",
        "e": "decimal128(6, 2)",
        "t": "timestamp[us, tz=UTC]",
    }
    assert table["n"].to_pylist() == [Decimal("1.50"), Decimal("100.25")]
    assert table["j"].to_pylist() == ['{"a": 1}', None]
    server.run("INSERT INTO odd (n) VALUES ('NaN')")
    with pytest.raises(TableError, match="column 'n' has 1 numbers that are NaN"):
        content(server.address("odd"))


@pytest.mark.parametrize(
    ("kind", "value", "words"),
    [
        ("date", "infinity", "column 'n\"o' has 2 values that are infinite"),
        ("timestamp", "-infinity", "column 'n\"o' has 2 values that are infinite"),
        ("timestamptz", "infinity", "column 'n\"o' has 2 values that are infinite"),
        ("time", "24:00", "column 'n\"o' has 2 values that are 24:00"),
        ("numeric", "1e40", "column 'n\"o' has numbers of more than 38 digits"),
    ],
)
def test_values_that_would_come_as_others_are_refused(server, kind, value, words):
    server.run(
        "DROP TABLE IF EXISTS odd",
        f'CREATE TABLE odd ("n""o" {kind})',
        f"INSERT INTO odd VALUES ('{value}'), ('{value}')",
    )
    with pytest.raises(TableError, match=words):
        content(server.address("odd"))


@pytest.mark.parametrize(
    ("kind", "value", "expected"),
    [
        ("numeric(5, -2)", "12345", Decimal(12300)),
        ("numeric(3, 5)", "0.00123", Decimal("0.00123")),
        ("numeric(45, 3)", "1.5", Decimal("1.500")),
        ("date", "0001-01-01", date(1, 1, 1)),
    ],
)
def test_numbers_and_dates_of_unusual_columns_come_as_they_are(server, kind, value, expected):
    server.run(
        "DROP TABLE IF EXISTS odd", f"CREATE TABLE odd (n {kind})", f"INSERT INTO odd VALUES ('{value}'), (NULL)"
    )
    assert content(server.address("odd"))["n"].to_pylist() == [expected, None]


def test_a_release_in_one_transaction_does_not_see_what_others_change(server, recipe_file, tmp_path, monkeypatch):
    """The state of the source is that of the begin, also for what is written beside it."""
    place = PostgresqlServer(server)
    fill(place.address("people"), PEOPLE)
    from microagg.releases import pipeline

    made = pipeline.release

    def meanwhile(*args, **more):
        place.run("DELETE FROM people")
        return made(*args, **more)

    monkeypatch.setattr(pipeline, "release", meanwhile)
    done = command(
        "release",
        place.address("people"),
        "-r",
        recipe_file,
        "-o",
        place.address("released"),
        "--papers",
        tmp_path / "out",
    )
    assert done.exit_code == 0, done.output
    assert content(place.address("released")).num_rows == N
    assert json.loads((tmp_path / "out" / "statement.json").read_text())["n_records"] == N


@contextmanager
def locked(place):
    """Somebody else is at work with the people, and does not end."""
    if isinstance(place, SqliteFile):
        with closing(sqlite3.connect(place.path, isolation_level=None)) as other:
            other.execute("BEGIN EXCLUSIVE")
            yield
        return
    with connected(Address.parse(place.people), writes=True) as other:
        other._cursor.execute(f"LOCK TABLE {quoted(HOSTILE)} IN ACCESS EXCLUSIVE MODE")
        yield


@pytest.mark.parametrize(
    ("words", "code"),
    [
        (("--time-limit", "0.3"), 124),
        ((), 130),
    ],
)
def test_who_waits_for_a_lock_of_others_hears_time_limits_and_interrupts(place, recipe_file, tmp_path, words, code):
    if not words:
        threading.Timer(0.3, os.kill, (os.getpid(), signal.SIGINT)).start()
    address = place.people + ("&options=-clock_timeout%3D12s" if "postgresql:" in place.people else "")
    begun = time.monotonic()
    with locked(place):
        done = command("release", address, "-r", recipe_file, "-o", tmp_path / "out", *words)
    assert done.exit_code == code, done.output
    assert time.monotonic() - begun < 10
    assert not list(tmp_path.glob("out*"))


def interrupted_at_commit(place, recipe_file, folder, monkeypatch, commit):
    """The last line of a release that hears Ctrl-C while the database commits."""
    kind = Sqlite if place.people.startswith("sqlite:") else Postgresql
    usual = kind.commit
    monkeypatch.setattr(kind, "commit", lambda self: commit(lambda: usual(self)))
    words = ("-r", recipe_file, "-o", place.address("released"), "--papers", folder)
    done = command("release", place.people, *words)
    monkeypatch.undo()
    assert done.exit_code == 130, done.output
    assert all(finding.holds for finding in check_release(folder))
    return done.stderr.splitlines()[-1]


def test_whoever_interrupts_a_commit_is_told_what_the_database_has(place, recipe_file, tmp_path, monkeypatch):
    def commit(usual):
        usual()
        os.kill(os.getpid(), signal.SIGINT)
        time.sleep(1)

    told = interrupted_at_commit(place, recipe_file, tmp_path / "out", monkeypatch, commit)
    assert "whether the database has it, too, is not known" in told
    assert "comment ends with the id of manifest.json" in told
    made = json.loads((tmp_path / "out" / "manifest.json").read_text())["id"]
    address = Address.parse(place.address("released"))
    with connected(address) as database:
        assert database.mark_of(address) == MARK + made


def test_a_file_that_others_read_is_as_before_when_the_wait_for_them_is_interrupted(recipe_file, tmp_path, monkeypatch):
    place = SqliteFile(tmp_path / "x.db")
    place.people = place.address("people")
    fill(place.people, PEOPLE)

    def commit(usual):
        threading.Timer(0.3, os.kill, (os.getpid(), signal.SIGINT)).start()
        usual()

    with closing(sqlite3.connect(place.path, isolation_level=None)) as reader:
        reader.execute("BEGIN")
        reader.execute("SELECT count(*) FROM people").fetchall()
        told = interrupted_at_commit(place, recipe_file, tmp_path / "out", monkeypatch, commit)
    assert told == "interrupted. The database is as it was before; the release is whole in 'out', without it"
    assert place.names() == {"people"}


def test_a_server_that_does_not_end_its_commit_hears_interrupts(server, recipe_file, tmp_path, monkeypatch):
    place = PostgresqlServer(server)
    place.people = place.address("people")
    fill(place.people, PEOPLE)

    def commit(usual):
        threading.Timer(0.3, os.kill, (os.getpid(), signal.SIGINT)).start()
        usual()

    def waits_for(standby):
        server.run(f"ALTER SYSTEM SET synchronous_standby_names = '{standby}'", "SELECT pg_reload_conf()")

    waits_for("nobody")
    begun = time.monotonic()
    try:
        told = interrupted_at_commit(place, recipe_file, tmp_path / "out", monkeypatch, commit)
    finally:
        waits_for("")
    assert time.monotonic() - begun < 20
    assert "whether the database has it, too, is not known" in told
    assert place.names() == {"people", "released"}  # committed there, and not on the server that it waited for
