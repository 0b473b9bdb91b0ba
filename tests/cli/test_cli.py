"""The command line: results on stdout, words on stderr, exit codes, nothing of the records in any message."""

from __future__ import annotations

import json
import os
import subprocess
import sys
from pathlib import Path

import pytest
from typer.testing import CliRunner

import microagg
from microagg.cli.app import app

runner = CliRunner()
RECIPE = """
k = 3
[attributes]
name = "identifier"
income = "confidential"
[attributes.age]
role = "quasi_identifier"
kind = "numeric"
[attributes.zip]
role = "quasi_identifier"
kind = "nominal"
"""


@pytest.fixture
def folder(tmp_path, monkeypatch):
    """A folder with a table and its recipe, as the working directory."""
    monkeypatch.chdir(tmp_path)
    rows = [f"canary{i},{20 + i},0{8001 + i % 2},{1000 + i}" for i in range(12)]
    Path("data.csv").write_text("name,age,zip,income\n" + "\n".join(rows) + "\n")
    Path("recipe.toml").write_text(RECIPE)
    return tmp_path


def run(*arguments, code=0):
    result = runner.invoke(app, [str(argument) for argument in arguments])
    assert result.exit_code == code, result.output
    assert "canary" not in result.output
    assert "Traceback" not in result.output
    return result


def test_from_a_table_to_a_checked_release(folder):
    drafted = run("init", "data.csv", "-o", "draft.toml")
    assert "DECIDE" in drafted.stderr
    run("release", "data.csv", "-r", "draft.toml", "-o", "first")
    run("release", "data.csv", "-r", "recipe.toml", "-o", "out")
    checked = run("check", "out")
    assert "ok    k-anonymity (k = 3)" in checked.stderr
    published = Path("out/table.csv").read_text()
    assert published.splitlines()[0] == '"age","zip","income"'
    assert "08001" in published  # a code keeps its leading zero


def test_what_is_published_as_it_is_is_not_retyped(folder):
    Path("codes.csv").write_text(
        "age,code,share,flag,amount\n" + "".join(f"{i},00{i % 3},0.50,TRUE,{i}\n" for i in range(9))
    )
    untouched = "\n".join(f'{name} = "confidential"' for name in ("code", "share", "flag", "amount"))
    Path("codes.toml").write_text(
        f'k = 3\n[attributes]\n{untouched}\n[attributes.age]\nrole = "quasi_identifier"\nkind = "numeric"\n'
    )
    run("release", "codes.csv", "-r", "codes.toml", "-o", "codes")
    lines = Path("codes/table.csv").read_text().splitlines()
    assert all('"00' in line and '"0.50"' in line and '"TRUE"' in line for line in lines[1:])
    assert not any(line.endswith('"') for line in lines[1:])  # amounts stay numbers


def test_an_overwrite_does_not_remove_the_input(folder):
    result = run("release", "data.csv", "-r", "recipe.toml", "-o", ".", "--overwrite", code=2)
    assert "did not write" in result.stderr
    assert Path("data.csv").exists()


def test_labels_that_a_csv_cannot_hold_are_noted(folder):
    import pyarrow as pa

    from microagg.tables.labels import Labels, with_labels
    from microagg.tables.write import write_table

    field = with_labels(pa.field("sex", pa.int64()), Labels("Sex", ((1, "female"), (2, "male"))))
    write_table(pa.table([pa.array([1, 2] * 5)], schema=pa.schema([field])), Path("l.sav"))
    drafted = json.loads(run("init", "l.sav", "-o", "l.toml", "--json").stdout)["guesses"][0]
    assert drafted["kind"] == "nominal"
    assert "cannot hold the labels" in run("release", "l.sav", "-r", "l.toml", "-o", "l", "--format", "csv").stderr
    assert "cannot hold" not in run("release", "l.sav", "-r", "l.toml", "-o", "l2").stderr


def test_init_drafts_what_cannot_be_protected_as_dropped(folder):
    import pyarrow as pa
    import pyarrow.parquet as pq

    pq.write_table(
        pa.table({"nested": [[1], [2]], "big": pa.array([2**63 + 1, 5], pa.uint64()), "x\x7f": [1, 2]}), "n.parquet"
    )
    guesses = {g["column"]: g for g in json.loads(run("init", "n.parquet", "-o", "n.toml", "--json").stdout)["guesses"]}
    assert guesses["nested"]["role"] == "identifier"
    assert "cannot be protected" in guesses["nested"]["decide"][0]


def test_init_explains_its_guesses_and_never_replaces_a_recipe(folder):
    result = run("init", "data.csv", "-o", "draft.toml", "--json")
    guesses = {guess["column"]: guess for guess in json.loads(result.stdout)["guesses"]}
    assert guesses["name"]["role"] == "identifier"
    assert guesses["zip"]["kind"] == "nominal"
    assert "leading zeros" in " ".join(guesses["zip"]["reasons"])
    assert "exists" in run("init", "data.csv", "-o", "draft.toml", code=2).stderr
    run("init", "data.csv", "-o", "draft.toml", "--overwrite")


def test_json_goes_to_stdout_and_words_to_stderr(folder):
    result = run("release", "data.csv", "-r", "recipe.toml", "-o", "out", "--json")
    content = json.loads(result.stdout)
    assert content["n_records"] == 12
    assert content["statement"]["recounts"][0]["holds"] is True
    assert "Wrote out" in result.stderr
    assert json.loads(run("check", "out", "--json").stdout)["holds"] is True
    assert json.loads(run("methods", "--json").stdout)[0]["name"] == "mdav"
    numbered = json.loads(run("methods", "--paper", "cross_moment", "--json").stdout)
    assert [entry["number"] for entry in numbered] == [*map(str, range(1, 27)), *(f"B{i}" for i in range(1, 6))]
    assert "Did you mean" in run("methods", "--paper", "cross_moments", code=2).stderr


def test_flags_override_the_recipe(folder):
    arguments = ["release", "data.csv", "-r", "recipe.toml", "-o", "out", "--json"]
    result = run(
        *arguments, "--k", "6", "--standardize", "minmax", "--order", "kept", "--format", "parquet", "--seed", 1
    )
    assert json.loads(result.stdout)["n_cells"] == 2
    recipe = json.loads(Path("out/manifest.json").read_text())["recipe"]
    assert (recipe["k"], recipe["space"]["standardize"], recipe["output"]["order"]) == (6, "minmax", "kept")
    assert Path("out/table.parquet").exists()
    assert "for research, not for publication" in result.stderr


@pytest.mark.parametrize(
    ("arguments", "said"),
    [
        (["--k", "1"], "k: "),
        (["--k", "13"], "the table has 12"),
        (["--standardize", "zscor"], "Did you mean 'zscore'?"),
        (["--method", "mdva"], "Did you mean 'mdav'?"),
        (["--missing", "drop"], "missing.policy: must be one of"),
        (["--format", "docx"], "format must be one of"),
        (["--seed", "-1"], "seed must be a whole number"),
    ],
)
def test_bad_flags_exit_with_two_and_write_nothing(folder, arguments, said):
    result = run("release", "data.csv", "-r", "recipe.toml", "-o", "out", *arguments, code=2)
    assert said in result.stderr
    assert result.stdout == ""
    assert sorted(path.name for path in folder.iterdir()) == ["data.csv", "recipe.toml"]


@pytest.mark.parametrize(
    ("name", "content"),
    [
        ("none.csv", None),
        ("data.xyz", b"a"),
        ("broken.parquet", b"PAR1 canary"),
        ("broken.feather", b"ARROW1 canary"),
        ("broken.sav", b"$FL2 canary"),
        ("broken.dta", b"<stata_dta> canary"),
        ("broken.sas7bdat", b"canary"),
        ("broken.xlsx", b"PK canary"),
        ("broken.csv.gz", b"\x1f\x8b canary"),
        ("ragged.csv", b"name,age,zip,income\ncanary,1,2\n"),
        ("empty.csv", b""),
    ],
)
def test_a_file_that_cannot_be_read_exits_with_two(folder, name, content):
    if content is not None:
        Path(name).write_bytes(content)
    for arguments in (["release", name, "-r", "recipe.toml", "-o", "out"], ["init", name, "-o", "new.toml"]):
        result = run(*arguments, code=2)
        assert "error: " in result.stderr
    assert not Path("out").exists()
    assert not Path("new.toml").exists()


def test_a_check_that_fails_exits_with_one(folder):
    result = run("check", "data.csv", "-r", "recipe.toml", code=1)
    assert "FAIL  columns: identifiers are published: column 'name'" in result.stderr
    assert "FAIL  k-anonymity (k = 3)" in result.stderr


def test_check_asks_for_what_it_needs(folder):
    assert "--recipe" in run("check", "data.csv", code=2).stderr
    assert "no file or folder named 'none'" in run("check", "none", code=2).stderr
    run("release", "data.csv", "-r", "recipe.toml", "-o", "out")
    assert "brings its own recipe" in run("check", "out", "-r", "recipe.toml", code=2).stderr
    assert run("check", "out/table.csv", "-r", "recipe.toml").exit_code == 0
    assert "FAIL" in run("check", "out/table.csv", "-r", "recipe.toml", "--k", "50", code=1).stderr


def test_an_unforeseen_error_withholds_its_message(folder, monkeypatch):
    def stumble(*args, **kwargs):
        raise RuntimeError("canary in a message")

    monkeypatch.setattr("microagg.releases.pipeline.release", stumble)
    result = run("release", "data.csv", "-r", "recipe.toml", "-o", "out", code=70)
    assert "unforeseen RuntimeError at test_cli.py:" in result.stderr


def test_demo_runs_offline_and_its_release_holds(folder):
    result = run("demo", "-o", "demo")
    assert "FAIL" not in result.stderr
    for name in ("mdav", "near_optimal", "guided", "private"):
        run("check", f"demo/{name}")
        assert (folder / "demo" / name / "report.html").exists()
    which = (folder / "demo" / "frontier" / "which.txt").read_text(encoding="utf-8")
    assert "partial" not in which
    (command, *_) = [line.split()[1:] for line in which.splitlines() if line.strip().startswith("microagg release")]
    run(*command)
    assert "exists" in run("demo", "-o", "demo", code=2).stderr
    run("release", "demo/survey.csv", "-r", "demo/recipe.toml", "-o", "again")


def test_datasets_are_listed(folder):
    assert "census" in run("datasets").stdout
    assert {entry["name"] for entry in json.loads(run("datasets", "--json").stdout)} >= {"census", "eia", "tarragona"}
    assert "Did you mean 'census'?" in run("datasets", "--fetch", "cenus", code=2).stderr


def test_version():
    assert run("--version").stdout.strip() == microagg.__version__


HEAVY = ("numba", "sklearn", "scipy", "pandas", "polars", "pyarrow", "pydantic", "pooch", "matplotlib")


@pytest.mark.parametrize("code", ["import microagg", "import microagg.cli.app", "import microagg.datasets"])
def test_importing_stays_light(code):
    source = str(Path(microagg.__file__).parents[1])
    script = f"{code}; import sys; print([name for name in {HEAVY!r} if name in sys.modules])"
    done = subprocess.run(
        [sys.executable, "-c", script],
        capture_output=True,
        text=True,
        check=True,
        env={**os.environ, "PYTHONPATH": source},
    )
    assert done.stdout.strip() == "[]"


def test_every_public_name_is_there():
    for name in microagg.__all__:
        assert getattr(microagg, name) is not None
    with pytest.raises(AttributeError, match="no attribute 'mdav'"):
        microagg.mdav  # noqa: B018


def test_a_release_is_evaluated(folder):
    declared = RECIPE.replace('income = "confidential"\n', "") + '[attributes.income]\nrole = "confidential"\n'
    Path("kinds.toml").write_text(declared + 'kind = "numeric"\n[space.dependence]\nlambda = 0.5\n')
    run("release", "data.csv", "-r", "kinds.toml", "-o", "out", "--order", "kept")
    shown = run("evaluate", "data.csv", "out", "-r", "kinds.toml")
    assert "D_X" in shown.stdout
    found = json.loads(run("evaluate", "data.csv", "out/table.csv", "-r", "kinds.toml", "--json").stdout)
    assert found["distance_linkage"]["value"] <= 1 / 3
    assert "lambda = 0.5" in found["D"]["formula"]
    run("release", "data.csv", "-r", "kinds.toml", "-o", "mixed", "--seed", 3)
    shuffled = run("evaluate", "data.csv", "mixed", "-r", "kinds.toml", "--measures", "D_X, D_Y", "--shuffled")
    assert "Note: D_X: needs aligned rows" in shuffled.stderr
    assert shuffled.stdout.split()[6] == "D_Y"  # what could not be had is not in the table
    arguments = ["evaluate", "data.csv", "out", "-r", "kinds.toml", "--target", "income", "--json"]
    assert "either --test" in run(*arguments, code=2).stderr
    learned = json.loads(run(*arguments, "--splits", 2, "--model", "logistic_regression").stdout)
    assert learned["r_squared"]["spread"] is not None
    assert "r_squared" in json.loads(run(*arguments, "--test", "data.csv").stdout)
    assert "--target" in run("evaluate", "data.csv", "out", "-r", "kinds.toml", "--splits", 2, code=2).stderr
    assert "one released table" in run(*arguments, "--splits", 2, "--test", "data.csv", code=2).stderr
    assert "not a release" in run("evaluate", "data.csv", ".", "-r", "kinds.toml", code=2).stderr


def test_releases_are_evaluated_side_by_side(folder):
    run("release", "data.csv", "-r", "recipe.toml", "-o", "small", "--order", "kept")
    Path("coarse.toml").write_text(RECIPE.replace("k = 3", "k = 6"))
    run("release", "data.csv", "-r", "coarse.toml", "-o", "large", "--order", "kept")
    both = ["evaluate", "data.csv", "small", "large", "-r", "recipe.toml", "--measures", "D_X,KS,pMSE"]
    lines = run(*both).stdout.splitlines()
    assert lines[0].split() == ["utility", "small", "large", "better"]
    assert "*" in lines[1].split()[1]
    assert set(json.loads(run(*both, "--json").stdout)) == {"small", "large"}
    details = run(*both[:3], "-r", "recipe.toml", "--measures", "KS", "--details").stdout.splitlines()
    assert len(details) > 2
    assert "no measure or group" in run(*both[:-1], "nothing", code=2).stderr
    assert "no column 'name'" in run(*both, "--key", "name", code=2).stderr
    kept = run(
        "evaluate", "data.csv", "data.csv", "-r", "recipe.toml", "--key", "name", "--holdout", "data.csv", "--json"
    )
    assert json.loads(kept.stdout)["SSE"]["value"] == 0


def test_a_tradeoff_is_tabled_and_plotted_or_says_what_is_missing(folder, monkeypatch):
    declared = RECIPE.replace('income = "confidential"\n', "") + '[attributes.income]\nrole = "confidential"\n'
    Path("kinds.toml").write_text(declared + 'kind = "numeric"\n')
    arguments = ["tradeoff", "data.csv", "-r", "kinds.toml", "--lambda", "0:1:0.5"]
    shown = run(*arguments)
    assert len(shown.stdout.splitlines()) == 4
    rows = json.loads(run(*arguments, "--json").stdout)["rows"]
    assert [row["lambda"] for row in rows] == [0.0, 0.5, 1.0]
    monkeypatch.setattr("microagg.frontier.tradeoff_plot.can_plot", lambda: False)
    said = run(*arguments, "-o", "traded").stderr
    assert "pip install 'microagg[plot]'" in said
    assert sorted(path.name for path in Path("traded").iterdir()) == ["tradeoff.csv", "tradeoff.json"]
    assert "exists" in run(*arguments, "-o", "traded", code=2).stderr
    run(*arguments, "-o", "traded", "--overwrite")
    assert "start:stop:step" in run("tradeoff", "data.csv", "-r", "kinds.toml", "--lambda", "x", code=2).stderr
    assert "either --lambda" in run("tradeoff", "data.csv", "-r", "kinds.toml", code=2).stderr


def test_a_release_carries_its_report_unless_told_otherwise(folder):
    made = run("release", "data.csv", "-r", "recipe.toml", "-o", "out")
    assert "report.html" in made.stderr
    run("check", "out")
    page = Path("out/report.html").read_text()
    assert "canary" not in page + Path("out/report.json").read_text()
    assert "k-anonymity (k = 3)" in page
    run("release", "data.csv", "-r", "recipe.toml", "-o", "out", "--overwrite", "--no-report")
    assert not Path("out/report.html").exists()
    run("check", "out")


def test_a_report_of_any_released_file(folder):
    run("release", "data.csv", "-r", "recipe.toml", "-o", "out", "--no-report")
    run("report", "data.csv", "out/table.csv", "-r", "recipe.toml", "-o", "public.html")
    run("report", "data.csv", "out/table.csv", "-r", "recipe.toml", "-o", "public.html", code=2)
    told = run("report", "data.csv", "out", "-r", "recipe.toml", "-o", "internal.html", "--internal")
    assert "do not publish" in told.stderr
    assert "INTERNAL" in Path("internal.html").read_text()
    facts = json.loads(Path("public.json").read_text())
    assert facts["form"] == "public"
    assert "k-anonymity holds for k = 3" in facts["verdict"]["text"]
    refused = run("report", "data.csv", "out", "-r", "recipe.toml", "-o", "out/report.html", "--internal", code=2)
    assert "published whole" in refused.stderr
    run("report", "data.csv", "out", "-r", "recipe.toml", "-o", "out/report.html")
    run("check", "out")


@pytest.mark.skipif(os.name != "posix", reason="calls the C library")
def test_what_a_compiled_library_says_does_not_spoil_a_result():
    script = """
import ctypes
from microagg.cli.terminal import print_json, shows_progress
with shows_progress():
    ctypes.CDLL(None).printf(b"a solver's remark\\n")
print_json({"holds": True})
"""
    done = subprocess.run([sys.executable, "-c", script], capture_output=True, text=True, check=True)
    assert json.loads(done.stdout) == {"holds": True}
    assert "a solver's remark" in done.stderr


def test_it_runs_as_a_module():
    done = subprocess.run(
        [sys.executable, "-m", "microagg", "methods", "--json"], capture_output=True, text=True, check=True
    )
    assert "mdav" in done.stdout
