"""Standard input and output: the same table as from a file and into one, and never without its papers."""

import json
import os
import subprocess
import sys
from pathlib import Path

import pyarrow as pa
import pytest
from pyarrow import parquet
from typer.testing import CliRunner

from microagg.cli.app import app
from microagg.releases.check.check import check_release

CSV = b"name,age,sick\ncanary-1,20,yes\ncanary-2,22,no\ncanary-3,61,no\ncanary-4,64,yes\n"
RECIPE = """k = 2
[attributes]
name = "identifier"
age = {role = "quasi_identifier", kind = "numeric"}
sick = "confidential"
"""


@pytest.fixture(autouse=True)
def folder(tmp_path, monkeypatch):
    monkeypatch.chdir(tmp_path)
    monkeypatch.setenv("TMPDIR", str(tmp_path))
    monkeypatch.setattr("tempfile.tempdir", None)
    Path("recipe.toml").write_text(RECIPE)
    return tmp_path


def run(*words, given=None):
    return CliRunner().invoke(app, [str(word) for word in words], input=given)


def test_what_goes_out_is_what_was_counted_and_its_papers_are_kept():
    done = run("release", "-", "-r", "recipe.toml", "-o", "-", "--papers", "out", given=CSV)
    assert done.exit_code == 0, done.output
    assert done.stdout_bytes == Path("out/table.csv").read_bytes()
    assert all(finding.holds for finding in check_release(Path("out")))
    (receipt,) = (json.loads(path.read_text()) for path in Path().glob("out.receipt-*.json"))
    Path("same.csv").write_bytes(CSV)
    again = run("check", "out", "--json")
    assert json.loads(again.stdout)["holds"]
    assert receipt["input_sha256"] == __import__("hashlib").sha256(CSV).hexdigest()
    assert not list(Path().glob("microagg-*"))  # nothing of the input is left on the disk
    assert "canary" not in done.output


@pytest.mark.parametrize("kind", ["parquet", "jsonl"])
def test_binary_streams_are_known_by_their_first_bytes_and_any_format_goes_out(kind):
    table = pa.table({"name": ["a", "b", "c", "d"], "age": [20, 22, 61, 64], "sick": [True, False, False, True]})
    parquet.write_table(table, "t.parquet")
    given = Path("t.parquet").read_bytes()
    if kind == "jsonl":
        given = "".join(f"{json.dumps(record)}\n" for record in table.to_pylist()).encode()
    words = ("release", "-", "-r", "recipe.toml", "-o", "-", "--papers", "out", "--format", "arrows")
    done = run(*words, given=given)
    assert done.exit_code == 0, done.output
    assert f"Standard input is read as {kind}" in done.stderr
    released = pa.ipc.open_stream(done.stdout_bytes).read_all()
    assert released.schema.types == [pa.int64(), pa.bool_()]
    assert sorted(released["age"].to_pylist()) == [21, 21, 62, 62]


@pytest.mark.parametrize(
    ("words", "message"),
    [
        (("-o", "-"), "--papers out/"),
        (("-o", "sqlite:///canary.db?table=t"), "--papers out/"),
        (("-o", "out", "--papers", "papers"), "--papers is for a table that goes to"),
        (("-o", "-", "--papers", "out", "--json"), "standard output is taken by the table"),
        (("-o", "-", "--papers", "out", "--engine", "outofcore"), "a table in parts comes from files"),
        (("-o", "-", "--papers", "out", "--input-format", "cvs"), "unknown extension"),
        (("-o", "mysql://canary/db?table=t", "--papers", "out"), "sqlite:// and postgresql://"),
    ],
)
def test_what_would_lose_a_paper_or_mix_two_results_is_refused(words, message):
    done = run("release", "-", "-r", "recipe.toml", *words, given=CSV)
    assert done.exit_code == 2
    assert message in done.stderr
    assert "canary" not in done.stderr
    assert not done.stdout
    assert {path.name for path in Path().iterdir()} == {"recipe.toml"}


def test_an_empty_standard_input_is_said_to_be_empty():
    done = run("release", "-", "-r", "recipe.toml", "-o", "out", given=b"")
    assert (done.exit_code, "standard input is empty" in done.stderr) == (2, True)


def test_other_commands_read_standard_input_and_suggest_it():
    drafted = run("init", "-", "-o", "draft.toml", given=CSV)
    assert drafted.exit_code == 0, drafted.output
    assert "microagg release - -r draft.toml -o release/" in drafted.stderr
    assert json.loads(run("risk", "-", "-r", "recipe.toml", "--json", given=CSV).stdout)
    assert run("check", "-", "-r", "recipe.toml", given=CSV).exit_code == 1  # every age occurs once


def test_a_suggested_command_shows_no_address():
    import sqlite3

    connection = sqlite3.connect("canary.db")
    connection.execute("CREATE TABLE people (age INTEGER, town TEXT)")
    connection.executemany("INSERT INTO people VALUES (?, ?)", [(20 + i, "Ulm") for i in range(9)])
    connection.commit()
    connection.close()
    done = run("init", "sqlite:///canary.db?table=people", "-o", "draft.toml")
    assert done.exit_code == 0, done.output
    assert "microagg release ADDRESS -r" in done.stderr
    assert "canary" not in done.output + Path("draft.toml").read_text()


def test_a_reader_that_leaves_early_gets_no_traceback_and_the_papers_stay(folder):
    words = [sys.executable, "-m", "microagg", "release", "-", "-r", "recipe.toml", "-o", "-", "--papers", "out"]
    reading, writing = os.pipe()
    os.close(reading)  # nobody reads
    done = subprocess.run([*words, "--no-report"], input=CSV, stdout=writing, stderr=subprocess.PIPE, cwd=folder)
    os.close(writing)
    assert done.returncode == 141
    assert b"Traceback" not in done.stderr
    assert all(finding.holds for finding in check_release(folder / "out"))


@pytest.mark.skipif(os.name != "posix", reason="there are no such files elsewhere")
@pytest.mark.parametrize("stdout", ["full", "closed"])
def test_what_standard_output_does_not_take_is_told_and_stays_whole(folder, stdout):
    if stdout == "full" and not Path("/dev/full").exists():
        pytest.skip("needs /dev/full")
    into = ">/dev/full" if stdout == "full" else ">&-"
    for words in ("-o - --papers out", "-o more --json"):
        line = f"{sys.executable} -m microagg release - -r recipe.toml --no-report {words} {into}"
        done = subprocess.run(["sh", "-c", line], input=CSV, capture_output=True)
        assert done.returncode == 2
        assert b"error: standard output did not take the" in done.stderr.splitlines()[-1]
        assert b"Exception" not in done.stderr
    assert all(finding.holds for name in ("out", "more") for finding in check_release(Path(name)))


@pytest.mark.skipif(os.name != "posix", reason="streams are closed by a shell")
def test_closed_streams_change_nothing_but_what_goes_through_them(folder):
    Path("data.csv").write_bytes(CSV)
    start = f"{sys.executable} -m microagg release"
    line = f"{start} data.csv -r recipe.toml --no-report -o out <&- >&- 2>&-"
    assert subprocess.run(["sh", "-c", line]).returncode == 0
    assert all(finding.holds for finding in check_release(Path("out")))
    done = subprocess.run(["sh", "-c", f"{start} - -r recipe.toml -o more <&-"], capture_output=True)
    assert (done.returncode, b"standard input is empty" in done.stderr) == (2, True)


@pytest.mark.skipif(os.name != "posix", reason="there are no such files elsewhere")
@pytest.mark.parametrize("log", ["full", "left"])
@pytest.mark.parametrize("form", [(), ("--log-json",)])
def test_a_log_that_cannot_be_written_changes_neither_work_nor_exit_code(folder, log, form):
    if log == "full" and not Path("/dev/full").exists():
        pytest.skip("needs /dev/full")
    Path("data.csv").write_bytes(CSV)
    reading, writing = os.pipe()
    os.close(reading)
    start = [
        sys.executable,
        "-m",
        "microagg",
        "release",
        "data.csv",
        "-r",
        "recipe.toml",
        "--no-report",
        "--json",
        *form,
    ]
    with os.fdopen(os.open("/dev/full", os.O_WRONLY) if log == "full" else writing, "wb") as into:
        done = subprocess.run([*start, "-o", "out"], stdout=subprocess.PIPE, stderr=into)
        assert done.returncode == 0
        assert json.loads(done.stdout)["n_records"] == 4
        assert subprocess.run([*start, "-o", "out"], stdout=subprocess.PIPE, stderr=into).returncode == 2  # it exists


def test_released_tables_are_judged_where_they_lie():
    Path("t.csv").write_bytes(CSV)
    for table in ("one", "two"):
        target = f"sqlite:///x.db?table={table}"
        assert run("release", "t.csv", "-r", "recipe.toml", "-o", target, "--papers", table).exit_code == 0
    measures = ("--measures", "k", "--json", "--shuffled", "-r", "recipe.toml")
    for names, called in ((("one", "two"), {"one", "two"}), (("one", "one"), {"one (1)", "one (2)"})):
        done = run("evaluate", "t.csv", *(f"sqlite:///x.db?table={name}" for name in names), *measures)
        assert done.exit_code == 0, done.output
        assert set(json.loads(done.stdout)) == called
    done = run("evaluate", "t.csv", "-", *measures, given=Path("one/table.parquet").read_bytes())
    assert done.exit_code == 0, done.output
    done = run("report", "t.csv", "sqlite:///x.db?table=one", "-r", "recipe.toml", "-o", "page.html", "--shuffled")
    assert done.exit_code == 0, done.output


@pytest.mark.parametrize(
    "words",
    [
        ("budget", "show", "ADDRESS"),
        ("studio", "ADDRESS"),
        ("init", "recipe.toml", "-o", "ADDRESS"),
        ("sweep", "t.csv", "-r", "recipe.toml", "-o", "ADDRESS"),
        ("release", "t.csv", "-r", "ADDRESS", "-o", "out"),
        ("release", "t.csv", "-r", "recipe.toml", "-o", "-", "--papers", "ADDRESS"),
    ],
)
@pytest.mark.parametrize("address", ["postgresql://ann:canary@host?table=t", "https://ann:canary@host/t.csv"])
def test_an_address_where_a_file_belongs_is_refused_and_not_shown(folder, words, address):
    Path("t.csv").write_bytes(CSV)
    before = set(folder.iterdir())
    done = run(*(address if word == "ADDRESS" else word for word in words))
    assert done.exit_code == 2
    assert "takes a file or a folder here, not an address" in done.stderr
    assert "canary" not in done.output
    assert set(folder.iterdir()) == before
