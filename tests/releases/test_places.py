"""Where outputs go: never among published files, and what killed runs left is gone at the next start."""

from __future__ import annotations

import fcntl
import os
import subprocess
import time

import pytest
from typer.testing import CliRunner

import microagg
from microagg import InputError, Recipe
from microagg.cli.app import app
from microagg.releases.check.check import check_release
from microagg.releases.folder.atomic import write_file_whole
from microagg.releases.input import read_released, read_table
from optional_packages import need
from release_kinds import RECIPES, made, people

RECIPE = Recipe(**RECIPES["individual ranking"])
OLD = time.time() - 3600


def dead_pid():
    finished = subprocess.Popen(["true"])
    finished.wait()
    return finished.pid


def run(*arguments, code):
    result = CliRunner().invoke(app, [str(argument) for argument in arguments])
    assert result.exit_code == code, result.output
    assert "Traceback" not in result.output
    return result


@pytest.fixture
def here(tmp_path, monkeypatch):
    """A working directory with a table, its recipe and a release of it."""
    from microagg.tables.write import write_table

    monkeypatch.chdir(tmp_path)
    write_table(people("individual ranking"), tmp_path / "data.csv")
    RECIPE.save(tmp_path / "recipe.toml")
    made("individual ranking").save(tmp_path / "published")
    return tmp_path


COMMANDS = {
    "release": ("release", "data.csv", "-r", "recipe.toml", "-o"),
    "sweep": ("sweep", "data.csv", "-r", "recipe.toml", "-o"),
    "tradeoff": ("tradeoff", "data.csv", "-r", "recipe.toml", "--lambda", "0,1", "-o"),
    "init": ("init", "data.csv", "-o"),
    "demo": ("demo", "-o"),
    "keygen": ("keygen",),
}


@pytest.mark.parametrize("command", COMMANDS)
@pytest.mark.parametrize("place", ["published/inner", "published/a/b", "link/inner"])
def test_nothing_is_written_into_a_published_folder(here, command, place):
    (here / "link").symlink_to(here / "published")
    before = sorted(here.rglob("*"))
    said = run(*COMMANDS[command], place, code=2)
    assert "the folder of a release, which is published whole" in said.output.replace("\n", " ")
    assert sorted(here.rglob("*")) == before


def test_no_receipt_and_no_internal_report_lands_in_a_published_folder(here):
    release = made("individual ranking")
    before = sorted(here.rglob("*"))
    with pytest.raises(InputError, match="published whole"):
        release.save(here / "published" / "again")
    with pytest.raises(InputError, match="published whole"):
        release.report(here / "published" / "inner" / "internal.html", internal=True)
    with pytest.raises(InputError, match="published whole"):
        microagg.sweep(people("individual ranking"), RECIPE, folder=here / "published" / "frontier", workers=1)
    assert sorted(here.rglob("*")) == before


def test_a_release_does_not_go_into_the_folder_of_a_sweep(here):
    (here / "frontier" / "points").mkdir(parents=True)
    (here / "frontier" / "INTERNAL.txt").write_text("Internal: do not publish.")
    with pytest.raises(InputError, match="the folder of a sweep"):
        made("individual ranking").save(here / "frontier" / "out")


@pytest.mark.parametrize("command", [*(one for one in COMMANDS if one != "release"), "report"])
def test_a_dash_is_no_place(here, command):
    report = ("report", "data.csv", "published", "-r", "recipe.toml", "-o")
    arguments = COMMANDS.get(command, report)
    arguments = (*arguments, "--", "-") if command == "keygen" else (*arguments, "-")
    said = run(*arguments, code=2)
    assert "'-' would be a stream" in said.output
    assert not (here / "-").exists()


# What killed runs leave


def orphan(path, *, folder=True):
    if folder:
        path.mkdir()
        (path / "table.csv").write_text("values of records")
    else:
        path.write_text("values of records")
    os.utime(path, (OLD, OLD))
    return path


def test_the_next_start_in_a_place_sweeps_what_any_killed_run_left_there(here):
    pid = dead_pid()
    (here / "frontier" / "points").mkdir(parents=True)
    (here / "frontier" / "INTERNAL.txt").write_text("Internal: do not publish.")
    left = [
        orphan(here / f".other.{pid}.abcdefgh.partial"),
        orphan(here / f".other.{pid}.abcdefgi.replaced"),
        orphan(here / f".recipe.toml.{pid}.abcdefgh.partial", folder=False),
        orphan(here / "frontier" / f".frontier.csv.{pid}.abcdefgh.partial"),
        orphan(here / "frontier" / "points" / f".mdav-k3.0.json.{pid}.abcdefgh.partial", folder=False),
        # A living process has the number by now, but holds nothing.
        orphan(here / f".other.{os.getpid()}.abcdefgh.partial"),
    ]
    mine = [
        orphan(here / name) for name in (".git", ".other.partial", f".other.{pid}.abcdefgh.txt", ".other.x.y.partial")
    ]
    made("individual ranking").save(here / "out")
    assert not [path for path in left if path.exists()]
    assert all(path.exists() for path in mine)


def test_what_a_living_run_holds_is_left_alone(here):
    held = orphan(here / f".other.{dead_pid()}.abcdefgh.partial")
    handle = os.open(held, os.O_RDONLY)
    try:
        fcntl.flock(handle, fcntl.LOCK_EX)
        made("individual ranking").save(here / "out")
        assert held.exists()
    finally:
        os.close(handle)
    fresh = here / f".other.{os.getpid()}.abcdefgh.partial"
    fresh.mkdir()  # of this moment, and not yet held
    made("individual ranking").save(here / "out2")
    assert fresh.exists()
    assert not held.exists()


def test_a_receipt_whose_run_was_killed_in_the_last_instant_is_put_beside_its_release(here):
    release = made("individual ranking")
    saved = release.save(here / "out")
    pending = here / f".out.{dead_pid()}.abcdefgh.pending"
    pending.mkdir()
    receipt = release.receipt_path(saved)
    receipt.rename(pending / receipt.name)
    assert {finding.name: finding.holds for finding in check_release(saved)}["receipt"]
    release.save(here / "next")
    assert receipt.exists()
    assert not pending.exists()


def test_a_receipt_whose_release_never_came_is_swept(here):
    pid = dead_pid()
    partial, pending = here / f".out.{pid}.abcdefgh.partial", here / f".out.{pid}.abcdefgh.pending"
    partial.mkdir()
    pending.mkdir()
    (pending / "out.receipt-0123456789ab.json").write_text("which record each row stands for")
    made("individual ranking").save(here / "next")
    assert not partial.exists()
    assert not pending.exists()
    assert not list(here.glob("out*"))


def test_a_file_is_written_whole_and_leaves_nothing_hidden(tmp_path):
    write_file_whole(tmp_path / "a.txt", "text")
    (tmp_path / "folder" / "full").mkdir(parents=True)
    with pytest.raises(OSError, match="folder"):
        write_file_whole(tmp_path / "folder", "text")
    assert sorted(path.name for path in tmp_path.iterdir()) == ["a.txt", "folder"]
    assert (tmp_path / "a.txt").stat().st_mode & 0o077 == 0


def test_signing_from_the_command_line(here):
    need("cryptography")
    run("keygen", "ours", code=0)
    run("keygen", "theirs", code=0)
    run("release", "data.csv", "-r", "recipe.toml", "-o", "out", "--sign", "ours.pem", code=0)
    assert "by the expected key SHA256:" in run("check", "out", "--signed-by", "ours.pub.pem", code=0).output
    assert "FAIL  signature" in run("check", "out", "--signed-by", "theirs.pub.pem", code=1).output
    assert "FAIL  signature: there is none" in run("check", "published", "--signed-by", "ours.pub.pem", code=1).output
    (receipt,) = here.glob("out.receipt-*.json")
    run("check", "out", "--receipt", receipt, code=0)
    (other,) = here.glob("published.receipt-*.json")
    assert "FAIL  receipt" in run("check", "out", "--receipt", other, code=1).output
    refused = run("release", "data.csv", "-r", "recipe.toml", "-o", "again", "--sign", "ours.pub.pem", code=2)
    assert "not a private Ed25519 key" in refused.output
    assert not (here / "again").exists()


def test_init_asks_about_formulas_only_where_there_are_some(here):
    run("init", "data.csv", "-o", "plain.toml", code=0)
    assert "formulas" not in (here / "plain.toml").read_text()
    (here / "text.csv").write_text("age,note\n" + "".join(f"{i},=SUM(A{i})\n" for i in range(30)))
    run("init", "text.csv", "-o", "text.toml", code=0)
    drafted = (here / "text.toml").read_text()
    assert '# DECIDE: "keep" them in a CSV' in drafted
    assert "SUM" not in drafted
    assert Recipe.load(here / "text.toml").output.formulas == "keep"


def test_an_escaped_release_is_evaluated_as_what_it_says(here):
    names = ["=a", "+b", "'=a"]
    rows = "".join(f"{i % 3},{names[i % 3]}\n" for i in range(30))
    (here / "text.csv").write_text(f"x,note\n{rows}")
    recipe = Recipe(
        k=3,
        output={"formulas": "escape"},
        attributes={"x": RECIPE.attributes["x"], "note": {"role": "confidential", "kind": "nominal"}},
    )
    recipe.save(here / "escape.toml")
    run("release", "text.csv", "-r", "escape.toml", "-o", "escaped", code=0)
    path = here / "escaped" / "table.csv"
    written = read_table(path, recipe)
    assert "=a" not in written["note"].to_pylist()
    assert sorted(read_released(path, recipe)["note"].to_pylist()) == sorted(names * 10)
    run("evaluate", "text.csv", "escaped", "-r", "escape.toml", "--measures", "JSD", code=0)
    run("report", "text.csv", "escaped", "-r", "escape.toml", "-o", "escaped/report.html", code=0)
    run("check", "escaped", code=0)


def test_what_a_sweep_left_that_was_killed_while_it_wrote_its_notice_is_swept(here):
    from microagg.releases.folder.orphans import sweep_orphans

    (here / "frontier").mkdir()
    left = here / "frontier" / ".INTERNAL.txt.999999.abc.partial"
    left.write_text("half")
    sweep_orphans(here)
    assert not left.exists()
