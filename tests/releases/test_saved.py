"""Saved releases: whole or not at all, checked as written, and silent about the input."""

from __future__ import annotations

import hashlib
import json
import os
import subprocess
import sys
import textwrap
from pathlib import Path

import numpy as np
import pyarrow as pa
import pytest

import microagg
from declarations import nominal, numeric
from microagg import Recipe
from microagg.errors import TableError
from microagg.releases.check.check import check_release, check_table
from microagg.tables.formats.registry import writable_names
from microagg.tables.read import read_table
from optional_packages import pandas as pd

RECIPE = Recipe(
    k=3,
    attributes={"person": "identifier", "x": numeric(), "c": nominal(), "income": "confidential"},
)


def survey(n_records=30, seed=0):
    rng = np.random.default_rng(seed)
    return pa.table(
        {
            "person": [f"canary-{i}" for i in range(n_records)],
            "x": rng.integers(0, 50, n_records),
            "c": rng.choice(["u", "v", "w"], n_records),
            "income": np.round(rng.normal(1000, 100, n_records), 2),
        }
    )


@pytest.mark.parametrize("file_format", writable_names())
def test_every_format_is_written_checked_and_read_back(tmp_path, file_format):
    made = microagg.release(survey(), RECIPE)
    folder = made.save(tmp_path / "out", format=file_format)
    assert all(finding.holds for finding in check_release(folder))
    again = read_table(folder / f"table.{file_format}")
    assert again.column_names == ["x", "c", "income"]
    assert again["x"].to_pylist() == made.table["x"].to_pylist()
    assert again["c"].to_pylist() == made.table["c"].to_pylist()


def test_the_folder_holds_table_statement_and_manifest_and_the_receipt_lies_beside_it(tmp_path):
    made = microagg.release(survey(), RECIPE)
    made.save(tmp_path / "out")
    assert sorted(path.name for path in (tmp_path / "out").iterdir()) == [
        "manifest.json",
        "statement.json",
        "statement.txt",
        "table.csv",
    ]
    assert sorted(path.name for path in tmp_path.iterdir()) == ["out", made.receipt_path("out").name]


def test_the_manifest_records_recipe_versions_and_hashes(tmp_path):
    folder = microagg.release(survey(), RECIPE).save(tmp_path / "out")
    manifest = json.loads((folder / "manifest.json").read_text())
    assert Recipe(**manifest["recipe"]) == RECIPE
    assert manifest["microagg"] == microagg.__version__
    assert manifest["versions"]["numpy"] == np.__version__
    assert [stage["stage"] for stage in manifest["stages"]] == ["schema", "space", "partition", "aggregate"]
    table = (folder / "table.csv").read_bytes()
    assert manifest["output"]["sha256"]["table.csv"] == hashlib.sha256(table).hexdigest()


def test_the_receipt_proves_the_input_and_the_manifest_alone_does_not(tmp_path):
    path = tmp_path / "data.csv"
    path.write_text("x\n1\n2\n3\n")
    made = microagg.release(read_table(path), Recipe(k=3, attributes={"x": numeric()}), source=path)
    folder = made.save(tmp_path / "out")
    published = json.loads((folder / "manifest.json").read_text())["input"]["sha256_salted"]
    receipt = json.loads(made.receipt_path(folder).read_text())
    assert receipt["input_sha256"] == hashlib.sha256(path.read_bytes()).hexdigest()
    assert published == hashlib.sha256(bytes.fromhex(receipt["salt"]) + path.read_bytes()).hexdigest()
    everything = "".join(file.read_text() for file in folder.iterdir())
    assert receipt["salt"] not in everything
    assert receipt["input_sha256"] not in everything


def test_no_public_file_holds_an_identifier_a_path_or_a_seed(tmp_path):
    made = microagg.release(survey(), RECIPE, seed=918273645)
    folder = made.save(tmp_path / "out")
    everything = "".join(file.read_text() for file in folder.iterdir())
    assert "canary" not in everything
    assert str(tmp_path) not in everything
    assert "918273645" not in everything


def test_a_changed_table_fails_the_check(tmp_path):
    folder = microagg.release(survey(), RECIPE).save(tmp_path / "out")
    table = folder / "table.csv"
    lines = table.read_text().splitlines()
    lines[1] = '999,"u",5.0'
    table.write_text("\n".join(lines) + "\n")
    failed = {finding.name for finding in check_release(folder) if not finding.holds}
    assert failed == {
        "file table.csv",
        "k-anonymity (k = 3) on x, c",
        "cells",
        "recounts",
        "receipt",
        "form of table.csv",
    }


@pytest.mark.parametrize("victim", ["table.csv", "statement.json", "statement.txt"])
def test_a_missing_file_fails_the_check_or_is_explained(tmp_path, victim):
    folder = microagg.release(survey(), RECIPE).save(tmp_path / "out")
    (folder / victim).unlink()
    if victim == "table.csv":
        with pytest.raises(TableError, match=r"table\.csv"):
            check_release(folder)
    else:
        assert not all(finding.holds for finding in check_release(folder))


@pytest.mark.parametrize("content", [None, "{", "[]", "{}", '{"recipe": {}, "output": 3}'])
def test_a_folder_that_is_no_release_is_explained(tmp_path, content):
    folder = tmp_path / "out"
    folder.mkdir()
    if content is not None:
        (folder / "manifest.json").write_text(content)
    with pytest.raises(microagg.InputError):
        check_release(folder)


def test_a_file_of_another_tool_is_checked_against_a_recipe(tmp_path):
    path = tmp_path / "other.csv"
    pd.DataFrame({"x": [1, 1, 1, 2], "c": list("uuuv"), "income": 4}).to_csv(path, index=False)
    findings = {finding.name: finding for finding in check_table(path, RECIPE)}
    assert findings["columns"].holds
    assert not findings["k-anonymity (k = 3) on x, c"].holds
    assert "1 records are in combinations rarer" in findings["k-anonymity (k = 3) on x, c"].detail


def test_identifiers_undeclared_and_absent_columns_fail_the_check(tmp_path):
    path = tmp_path / "other.csv"
    for data, said in [
        ({"person": [1, 2, 3], "x": 1, "c": "u"}, "identifiers are published"),
        ({"extra": [1, 2, 3], "x": 1, "c": "u"}, "not declared"),
        ({"x": [1, 2, 3]}, "cannot be counted without column 'c'"),
    ]:
        pd.DataFrame(data).to_csv(path, index=False)
        failed = [finding.detail for finding in check_table(path, RECIPE) if not finding.holds]
        assert any(said in detail for detail in failed)


def test_numbers_that_are_written_apart_are_counted_apart(tmp_path):
    """A check of a CSV counts text: 1 and 1.0 can be told apart by a reader, so they are two values."""
    path = tmp_path / "other.csv"
    path.write_text("x\n1\n1\n1.0\n1.0\n")
    (_, finding) = check_table(path, Recipe(k=3, attributes={"x": numeric()}))
    assert not finding.holds


def test_overwriting_replaces_the_whole_folder(tmp_path):
    made = microagg.release(survey(), RECIPE)
    made.save(tmp_path / "out", format="parquet")
    made.save(tmp_path / "out", format="csv", overwrite=True)
    assert not (tmp_path / "out" / "table.parquet").exists()
    assert all(finding.holds for finding in check_release(tmp_path / "out"))


KILLED_AT_EACH_STEP = """
import os, signal, sys, traceback
from pathlib import Path
import pyarrow as pa, numpy as np, microagg
import microagg.reports.document, pyarrow.csv  # else most of the steps are imports
from microagg import Recipe
from microagg.releases.check.check import check_release

microagg.reports.document._environment().get_template("report.html")

root = Path(sys.argv[1])
quasi = {"role": "quasi_identifier", "kind": "numeric"}
made = microagg.release(pa.table({"x": np.arange(20.0)}), Recipe(k=3, attributes={"x": quasi}))
STEPS = ("open", "os.", "shutil.", "tempfile.")
state = {"left": None}

def kill_at_the_chosen_step(event, args):
    if state["left"] is not None and event.startswith(STEPS):
        if state["left"] == 0:
            state["left"] = None
            os.kill(os.getpid(), signal.SIGKILL)
        state["left"] -= 1

sys.addaudithook(kill_at_the_chosen_step)

def in_a_child(work, killed_at=None):
    # Files are read and written in children only: a process that has run Arrow's threads should not be forked.
    child = os.fork()
    if child == 0:
        try:
            state["left"] = killed_at
            work()
            state["left"] = None
            os._exit(0)
        except BaseException:
            traceback.print_exc()
            os._exit(1)
    _, status = os.waitpid(child, 0)
    if os.WIFSIGNALED(status):
        assert os.WTERMSIG(status) == signal.SIGKILL, status
        return "killed"
    assert os.WEXITSTATUS(status) == 0, status
    return "done"

def check(target):
    findings = check_release(target)
    assert all(finding.holds for finding in findings), findings

step, outcomes = 0, []
while True:
    target = root / f"out{step}"
    end = in_a_child(lambda: made.save(target, report=True), killed_at=step)
    if target.exists():
        in_a_child(lambda: check(target))
    outcomes.append("whole" if target.exists() else "nothing")
    if end == "done":
        break
    in_a_child(lambda: made.save(target, overwrite=True))
    left = [path.name for path in root.iterdir() if path.name.endswith(".partial")]
    assert not left, (step, left)
    step += int(sys.argv[2])
assert outcomes.count("nothing") > 10 and outcomes[-1] == "whole", outcomes
print(len(outcomes), "steps:", outcomes.count("nothing"), "left nothing,", outcomes.count("whole"), "left all")
"""


@pytest.mark.skipif(sys.platform == "win32", reason="kills a forked process")
def test_a_process_killed_at_a_step_leaves_nothing_or_everything(tmp_path):
    script = tmp_path / "killed.py"
    script.write_text(textwrap.dedent(KILLED_AT_EACH_STEP))
    root = tmp_path / "root"
    root.mkdir()
    source = str(Path(microagg.__file__).parents[1])
    done = subprocess.run(
        [sys.executable, str(script), str(root), "7"],  # the campaign of kills meets the others
        capture_output=True,
        text=True,
        timeout=600,
        env={**os.environ, "PYTHONPATH": source},
        check=False,
    )
    assert done.returncode == 0, done.stderr[-2000:]
    assert "left nothing" in done.stdout


def test_overwriting_never_removes_what_a_release_did_not_write(tmp_path):
    made = microagg.release(survey(), RECIPE)
    job = tmp_path / "job"
    job.mkdir()
    (job / "table.csv").write_text("the only copy of the data")
    with pytest.raises(microagg.InputError, match="did not write; it is not overwritten"):
        made.save(job, overwrite=True)
    made.save(tmp_path / "out")
    (tmp_path / "out" / "notes.txt").write_text("mine")
    with pytest.raises(microagg.InputError, match="1 files that an earlier release did not write"):
        made.save(tmp_path / "out", overwrite=True)
    with pytest.raises(microagg.InputError, match="is a file"):
        made.save(job / "table.csv", overwrite=True)
    assert (job / "table.csv").read_text() == "the only copy of the data"


def test_a_receipt_is_never_replaced(tmp_path):
    first = microagg.release(survey(), RECIPE)
    first.save(tmp_path / "out")
    (tmp_path / "out").rename(tmp_path / "published")
    second = microagg.release(survey(), RECIPE)
    second.save(tmp_path / "out")
    assert first.receipt_path(tmp_path / "out").exists()
    assert second.receipt_path(tmp_path / "out").exists()


def test_an_overwrite_killed_between_its_two_renames_is_undone_by_the_next_run(tmp_path):
    made = microagg.release(survey(), RECIPE)
    made.save(tmp_path / "out")
    finished = subprocess.Popen(["true"])
    finished.wait()
    aside = tmp_path / f".out.{finished.pid}.x.replaced"
    aside.mkdir()
    (tmp_path / "out").rename(aside / "out")
    with pytest.raises(microagg.InputError, match="exists"):
        made.save(tmp_path / "out")
    assert all(finding.holds for finding in check_release(tmp_path / "out"))
    assert not aside.exists()


def test_an_unlisted_file_or_an_emptied_manifest_fails_the_check(tmp_path):
    folder = microagg.release(survey(), RECIPE).save(tmp_path / "out")
    (folder / "original_with_names.csv").write_text("x")
    failed = [finding for finding in check_release(folder) if not finding.holds]
    assert [finding.name for finding in failed] == ["other files", "receipt"]
    manifest = json.loads((folder / "manifest.json").read_text())
    manifest["output"]["sha256"] = {}
    (folder / "manifest.json").write_text(json.dumps(manifest))
    assert {"file table.csv", "file statement.json"} <= {f.name for f in check_release(folder) if not f.holds}


@pytest.mark.parametrize("damage", [{"sha256": ["x"]}, {"table": 3}, {"table": "../table.csv"}, {}])
def test_a_damaged_manifest_is_explained(tmp_path, damage):
    folder = microagg.release(survey(), RECIPE).save(tmp_path / "out")
    manifest = json.loads((folder / "manifest.json").read_text())
    manifest["output"] = {**manifest["output"], **damage} if damage else damage
    (folder / "manifest.json").write_text(json.dumps(manifest))
    with pytest.raises(TableError, match="is damaged"):
        check_release(folder)


def test_blank_lines_in_a_one_column_file_are_not_passed_over(tmp_path):
    path = tmp_path / "other.csv"
    path.write_text("x\n20\n\n20\n")
    with pytest.raises(TableError, match="1 blank lines, which may be records"):
        check_table(path, Recipe(k=2, attributes={"x": numeric()}))


def test_metadata_of_another_program_fails_the_check(tmp_path):
    path = tmp_path / "other.parquet"
    pd.DataFrame({"x": [1, 1, 1], "c": "u", "income": 4.0}).to_parquet(path)
    failed = [finding for finding in check_table(path, RECIPE) if not finding.holds]
    assert "metadata of another program, under 'pandas'" in failed[0].detail


def test_control_characters_of_a_name_are_escaped_in_the_statement():
    made = microagg.release(pa.table({"x\x1b[2J": [1, 2]}), Recipe(k=2, attributes={"x\x1b[2J": numeric()}))
    assert "\x1b" not in str(made.statement)


def test_medoids_are_confessed():
    recipe = Recipe(k=2, aggregate={"numeric": "medoid"}, attributes={"x": numeric()})
    assert "real values" in str(microagg.release(pa.table({"x": [1, 2]}), recipe).statement)
