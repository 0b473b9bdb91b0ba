"""``microagg budget``: a steward's way from the first release to the cap, and what a reader of a release can check."""

from __future__ import annotations

import contextlib
import hashlib
import json
import os
import signal
import stat
import subprocess
import sys
import time
from pathlib import Path

import pytest
from typer.testing import CliRunner

import microagg
from microagg.cli.app import app

RECIPE = """
method = "dp_individual_ranking"
k = 3
[privacy]
epsilon = 1.0
[attributes]
name = "identifier"
[attributes.age]
role = "quasi_identifier"
kind = "numeric"
bounds = [0, 120]
"""
LEDGER = Path("data.csv.budget.jsonl")


@pytest.fixture(autouse=True)
def folder(tmp_path, monkeypatch):
    monkeypatch.chdir(tmp_path)
    Path("data.csv").write_text("name,age\n" + "".join(f"canary{i},{20 + i}\n" for i in range(12)))
    Path("recipe.toml").write_text(RECIPE)
    return tmp_path


def run(*arguments, code=0):
    result = CliRunner().invoke(app, [str(argument) for argument in arguments])
    assert result.exit_code == code, result.output
    assert "canary" not in result.output
    assert "Traceback" not in result.output
    return result


def release(output, *more, code=0):
    return run("release", "data.csv", "-r", "recipe.toml", "-o", output, "--no-report", *more, code=code)


def test_from_a_cap_to_the_refusal_and_beyond():
    assert "3 is left" in run("budget", "start", "data.csv", "--cap", 3).stderr
    assert stat.S_IMODE(LEDGER.stat().st_mode) == 0o600
    assert "1 of 3 is spent, 2 left" in release("first").stderr
    assert "1.5 of 3 is spent" in run("budget", "add", "data.csv", 0.5, "--note", "a histogram").stderr
    release("second")
    refused = release("third", code=1)
    assert "above the cap of 3; the largest epsilon that is left is 0.5" in refused.stderr
    assert not Path("third").exists()
    command = refused.stderr.rpartition("raise the cap: microagg ")[2].split()
    assert command == ["budget", "cap", "data.csv", "3.5"]
    run(*command)
    release("third")
    shown = " ".join(run("budget", "show", "data.csv").stdout.split())
    assert "3.5 of 3.5 is spent, 0 is left" in shown
    assert "private for the original records with epsilon = 3.5:" in shown
    assert "a histogram: entered by hand" in shown
    told = json.loads(run("budget", "show", "data.csv", "--json").stdout)
    assert [one["folders"] for one in told["releases"]] == [["first"], [], ["second"], ["third"]]
    for folder in ("first", "second", "third"):
        assert LEDGER.name not in {path.name for path in Path(folder).iterdir()}
        run("check", folder)


def test_a_refusal_comes_before_the_file_is_read():
    run("budget", "start", "data.csv", "--cap", 0.5)
    Path("data.csv").write_text("no such column\n1\n")
    assert "above the cap" in release("out", code=1).stderr


def test_messages_name_what_is_wrong_and_what_mends_it():
    assert "microagg budget start data.csv --cap EPSILON" in run("budget", "show", "data.csv", code=2).stderr
    assert "no ledger is kept" in release("out", "--state-total", code=2).stderr
    assert "cap must be a finite number above 0" in run("budget", "start", "data.csv", "--cap", 0, code=2).stderr
    assert "no data file" in run("budget", "start", "none.csv", "--cap", 1, code=2).stderr
    run("budget", "start", "data.csv", "--cap", 1)
    assert "is there already" in run("budget", "start", "data.csv", "--cap", 1, code=2).stderr
    LEDGER.write_text(LEDGER.read_text().replace('"cap": 1.0', '"cap": 9.0'))
    assert "damaged in line 1" in release("out", code=2).stderr
    assert "damaged in line 1" in run("budget", "add", "data.csv", 1, code=2).stderr
    assert not Path("out").exists()


def test_a_format_that_cannot_hold_the_release_is_refused_before_anything_is_spent():
    run("budget", "start", "data.csv", "--cap", 1)
    recipe = RECIPE.replace('name = "identifier"', "") + (
        '[attributes.name]\nrole = "quasi_identifier"\nkind = "ordinal"\ncategories = ["", '
        + ", ".join(f'"canary{i}"' for i in range(12))
        + "]\n"
    )
    Path("recipe.toml").write_text(recipe)
    assert "hold no empty text" in release("out", "--format", "sav", code=2).stderr
    assert json.loads(run("budget", "show", "data.csv", "--json").stdout)["spent"] == 0


def test_an_error_after_noise_says_that_what_is_spent_stays_spent(monkeypatch):
    from microagg.releases import release as module

    run("budget", "start", "data.csv", "--cap", 1)

    def fail(*_):
        raise RuntimeError("canary")

    monkeypatch.setattr(module, "write_table", fail)
    said = release("out", code=70).stderr
    assert "Note: epsilon = 1 stays spent in data.csv.budget.jsonl" in said
    assert "failed, stays spent" in run("budget", "show", "data.csv").stdout


def test_an_interrupted_release_stays_spent(tmp_path):
    run("budget", "start", "data.csv", "--cap", 1)
    script = (
        "import time; from microagg.releases import pipeline; from microagg.cli.app import app\n"
        "def wait(*_):\n    open('drawn', 'w').close()\n    time.sleep(60)\n"
        "pipeline._put_together = wait\n"
        "app(['release', 'data.csv', '-r', 'recipe.toml', '-o', 'out'])\n"
    )
    source = str(Path(microagg.__file__).parents[1])
    process = subprocess.Popen(
        [sys.executable, "-c", script], stderr=subprocess.PIPE, text=True, env={**os.environ, "PYTHONPATH": source}
    )
    for _ in range(6_000):
        if Path("drawn").exists():
            break
        time.sleep(0.01)
    process.send_signal(signal.SIGINT)
    said = process.communicate(timeout=60)[1]
    assert process.returncode == 130, said
    assert "epsilon = 1 stays spent" in said
    assert "interrupted; nothing was written" in said
    assert json.loads(run("budget", "show", "data.csv", "--json").stdout)["spent"] == 1


def _restate(folder: str, **changes) -> None:
    """Change the stated total, in JSON and in words, and mend the hashes, as a forger would."""
    from microagg.statements.statement import Statement

    content = json.loads(Path(folder, "statement.json").read_text())
    content["total"].update(changes)
    Path(folder, "statement.json").write_text(json.dumps(content, indent=2, ensure_ascii=False) + "\n")
    with contextlib.suppress(ValueError):  # no words can be made of it
        Path(folder, "statement.txt").write_text(str(Statement.from_dict(content)))
    manifest = json.loads(Path(folder, "manifest.json").read_text())
    for name in ("statement.json", "statement.txt"):
        manifest["output"]["sha256"][name] = hashlib.sha256(Path(folder, name).read_bytes()).hexdigest()
    Path(folder, "manifest.json").write_text(json.dumps(manifest, indent=2, ensure_ascii=False) + "\n")


@pytest.mark.parametrize(
    ("changes", "fault"),
    [
        ({}, ""),
        ({"epsilon": 5.5, "releases": 4}, ""),  # who could know?
        ({"epsilon": 0.5}, "below the release's own epsilon"),
        ({"epsilon": 1.0}, "no more than the epsilon of this one"),
        ({"releases": 1}, "of this release alone, and another epsilon"),
        ({"releases": 0}, "has no release, and yet an epsilon"),
        ({"epsilon": 0.0, "releases": 0}, "does not count this release"),
        ({"epsilon": 1e400}, "damaged"),
        ({"epsilon": -1.0}, "damaged"),
        ({"epsilon": "2"}, "damaged"),
        ({"others": -1}, "damaged"),
        ({"releases": True}, "damaged"),
        ({"note": "all is well"}, "does not follow from the rest"),
    ],
    ids=str,
)
def test_a_stated_total_is_checked_as_far_as_it_can_be(changes, fault):
    run("budget", "start", "data.csv", "--cap", 9)
    run("budget", "add", "data.csv", 0.5)
    release("out", "--state-total")
    next(Path().glob("out.receipt-*")).unlink()
    assert "epsilon = 1.5 in 2 releases, 0 others" in run("check", "out").stderr
    _restate("out", **changes)
    checked = run("check", "out", code=1 if fault else 0)
    assert fault in checked.stderr


def test_a_total_of_a_release_that_is_no_part_of_it_counts_it_among_the_others():
    Path("recipe.toml").write_text(RECIPE.replace("epsilon = 1.0", 'epsilon = 1.0\nform = "aligned"'))
    run("budget", "start", "data.csv", "--cap", 9)
    release("out", "--state-total")
    next(Path().glob("out.receipt-*")).unlink()
    run("check", "out")
    assert "No release that protects the original records was recorded." in Path("out/statement.txt").read_text()
    _restate("out", others=0)
    assert "does not count this release" in run("check", "out", code=1).stderr


def test_a_total_in_a_release_without_noise_is_refused():
    Path("recipe.toml").write_text(
        RECIPE.replace("dp_individual_ranking", "mdav").replace("[privacy]\nepsilon = 1.0\n", "")
    )
    release("out")
    next(Path().glob("out.receipt-*")).unlink()
    content = json.loads(Path("out/statement.json").read_text())
    content["total"] = {}
    Path("out/statement.json").write_text(json.dumps(content))
    _restate("out", epsilon=1.0, releases=1, others=0)
    assert "of a release that spends nothing" in run("check", "out", code=1).stderr


@pytest.mark.parametrize("command", ["start", "show", "cap", "add"])
def test_every_subcommand_is_helped(command):
    assert "its ledger lies beside it" in " ".join(run("budget", command, "--help").output.split())
