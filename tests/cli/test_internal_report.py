"""``release --internal-report``: the form for the data holder, outside of the folder and for its owner's eyes only."""

from __future__ import annotations

import json

import numpy as np
import pyarrow as pa
import pytest
from pyarrow import csv
from typer.testing import CliRunner

from declarations import numeric
from microagg import Recipe
from microagg.cli.app import app


def run(*arguments, code=0):
    result = CliRunner().invoke(app, list(arguments))
    assert result.exit_code == code, result.output
    return result


@pytest.fixture(autouse=True)
def _folder(tmp_path, monkeypatch):
    monkeypatch.chdir(tmp_path)
    rng = np.random.default_rng(0)
    csv.write_csv(pa.table({"x": rng.normal(size=40), "y": rng.normal(size=40)}), "data.csv")
    Recipe(k=5, attributes={"x": numeric(), "y": numeric()}).save("recipe.toml")


def test_it_is_written_beside_the_release_for_its_owner_only(tmp_path):
    told = run("release", "data.csv", "-r", "recipe.toml", "-o", "out", "--internal-report", "mine.html")
    assert "Keep, do not publish: mine.html" in told.stderr
    for name in ("mine.html", "mine.json"):
        assert (tmp_path / name).stat().st_mode & 0o777 == 0o600
    assert json.loads((tmp_path / "mine.json").read_text())["form"] == "internal"
    assert json.loads((tmp_path / "out/report.json").read_text())["form"] == "public"
    run("check", "out")


@pytest.mark.parametrize(
    ("place", "said"),
    [("out/mine.html", "published whole"), ("mine.txt", "must end in .html"), ("recipe.html", "exists")],
)
def test_a_wrong_place_is_refused_before_anything_is_made(tmp_path, place, said):
    (tmp_path / "recipe.html").write_text("kept")
    told = run("release", "data.csv", "-r", "recipe.toml", "-o", "out", "--internal-report", place, code=2)
    assert said in told.stderr
    assert not (tmp_path / "out").exists()
    assert (tmp_path / "recipe.html").read_text() == "kept"


def test_a_release_is_whole_if_it_fails(tmp_path, monkeypatch):
    monkeypatch.delenv("MICROAGG_DEBUG", raising=False)
    monkeypatch.setattr("microagg.releases.release.Release.report", lambda *_, **__: 1 / 0)
    told = run("release", "data.csv", "-r", "recipe.toml", "-o", "out", "--internal-report", "mine.html", code=3)
    assert "the internal report could not be made (unforeseen ZeroDivisionError" in told.stderr
    assert not (tmp_path / "mine.html").exists()
    run("check", "out")


def test_of_a_release_in_parts_it_is_written_too(tmp_path):
    told = run(
        *("release", "data.csv", "-r", "recipe.toml", "-o", "out", "--engine", "outofcore"),
        *("--internal-report", "mine.html"),
    )
    assert "Keep, do not publish: mine.html" in told.stderr
    assert (tmp_path / "mine.html").stat().st_mode & 0o777 == 0o600


def test_without_a_browser_a_pdf_is_refused_with_what_to_do_and_nothing_is_written(tmp_path, monkeypatch):
    monkeypatch.setenv("PATH", str(tmp_path))
    page = ("report", "data.csv", "data.csv", "-r", "recipe.toml", "-o", "page.html")
    assert "apt install chromium" in run(*page, "--pdf", "page.pdf", code=2).stderr
    assert "must end in .pdf" in run(*page, "--pdf", "page.ps", code=2).stderr
    assert not (tmp_path / "page.html").exists()
