"""Should a report fail in a way nobody foresaw, the release is written without it, and says so."""

from __future__ import annotations

import json
import warnings
from pathlib import Path

import numpy as np
import pyarrow as pa
import pytest
from typer.testing import CliRunner

import microagg
from declarations import numeric
from microagg import Recipe
from microagg.cli.app import app
from microagg.errors import ReportWarning
from microagg.releases.check.check import check_release
from microagg.reports.document import Report

SECRET = "canary 4711"


@pytest.fixture
def broken(monkeypatch):
    def fail(material):
        raise ZeroDivisionError(SECRET)

    monkeypatch.setattr(Report, "of", fail)


def made():
    return microagg.release(pa.table({"x": np.arange(40.0)}), Recipe(k=4, attributes={"x": numeric()}))


def test_a_release_is_whole_without_its_report(tmp_path, broken):
    with pytest.warns(ReportWarning, match=r"unforeseen ZeroDivisionError at test_report_fails\.py") as heard:
        folder = made().save(tmp_path / "out", report=True)
    assert SECRET not in str(heard[0].message)
    assert all(finding.holds for finding in check_release(folder))
    assert sorted(path.name for path in folder.iterdir()) == [
        "manifest.json",
        "statement.json",
        "statement.txt",
        "table.csv",
    ]
    assert "report.html" not in json.loads((folder / "manifest.json").read_text())["output"]["sha256"]


def test_the_command_line_says_so_and_exits_with_three(tmp_path, monkeypatch, broken):
    monkeypatch.chdir(tmp_path)
    Path("data.csv").write_text("x\n" + "\n".join(str(i) for i in range(40)) + "\n")
    Path("recipe.toml").write_text('k = 4\n[attributes.x]\nrole = "quasi_identifier"\nkind = "numeric"\n')
    result = CliRunner().invoke(app, ["release", "data.csv", "-r", "recipe.toml", "-o", "out"])
    assert result.exit_code == 3
    assert "the report could not be made" in result.stderr
    assert "is whole without it" in result.stderr
    assert "To read, print and sign" not in result.stderr
    assert SECRET not in result.output
    checked = CliRunner().invoke(app, ["check", "out"])
    assert checked.exit_code == 0


def test_a_guarantee_that_fails_is_not_taken_for_a_report_that_fails(tmp_path, monkeypatch):
    from microagg.errors import GuaranteeError

    def refuse(count, where):
        raise GuaranteeError("does not hold")

    release = made()
    monkeypatch.setattr("microagg.releases.release.require_k", refuse)
    with pytest.raises(GuaranteeError):
        release.save(tmp_path / "out", report=True)
    assert list(tmp_path.iterdir()) == []


def test_other_warnings_are_heard_as_ever():
    from microagg.cli.terminal import hears_report_warnings

    def both():
        with hears_report_warnings() as found:
            warnings.warn("other", RuntimeWarning, stacklevel=1)
            warnings.warn("mine", ReportWarning, stacklevel=1)
        return found

    with pytest.warns(RuntimeWarning, match="other"):
        assert both() == ["mine"]
