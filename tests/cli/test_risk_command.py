"""``microagg risk``: what a steward reads before any release."""

from __future__ import annotations

import json
from pathlib import Path

import pytest
from typer.testing import CliRunner

from microagg.cli.app import app

RECIPE = """
k = 3
sampling_weight = "weight"
[attributes]
name = "identifier"
illness = "confidential"
weight = "non_confidential"
[attributes.age]
role = "quasi_identifier"
kind = "numeric"
[attributes.zip]
role = "quasi_identifier"
kind = "nominal"
"""


@pytest.fixture(autouse=True)
def folder(tmp_path, monkeypatch):
    monkeypatch.chdir(tmp_path)
    rows = [f"canary{i},{918200 + i // 2},0{8001 + i % 2},canary-ill,12.5" for i in range(12)]
    Path("data.csv").write_text("name,age,zip,illness,weight\n" + "\n".join(rows) + "\n")
    Path("pop.csv").write_text("zip,age\n" + "".join(f"0{8001 + i % 2},{918200 + i // 2}\n" for i in range(11)) * 4)
    Path("recipe.toml").write_text(RECIPE)
    return tmp_path


def run(*arguments, code=0):
    result = CliRunner().invoke(app, ["risk", "data.csv", "-r", "recipe.toml", *map(str, arguments)])
    assert result.exit_code == code, result.output
    for value in ("canary", "9182", "0800"):
        assert value not in result.output
    assert "Traceback" not in result.output
    return result


def test_a_steward_reads_sentences():
    said = run("--threshold", 0.05, "--threshold", 0.5).stdout
    assert "All 12 records are unique: whoever knows their quasi-identifiers finds them." in said
    assert "All 12 records are in a class of fewer than k = 3, which the recipe asks for." in said
    assert "which sum to 150 people: 2.6 of 12 records are expected to be named rightly" in said
    assert "None of 12 records have an estimated risk above 0.5." in said
    assert " 0 %" not in said
    assert "not for publication" in said


def test_a_program_reads_json():
    found = json.loads(run("--json").stdout)
    counts = found["combinations"]
    assert counts.pop("unique_without") == {"age": 0, "zip": 0}
    assert counts == {"classes": 12, "smallest": 1, "unique": 12, "in_pairs": 0, "below_k": 12}
    assert found["prosecutor"]["above"] == [{"threshold": 0.1, "records": 12}]
    assert found["special_uniques"]["records"] == 0
    assert found["population"] is None


def test_a_population_is_counted():
    found = json.loads(run("--json", "--population", "pop.csv").stdout)
    assert found["population"] == {
        "population": 44, "k_map": 4, "without": 1, "unique": 0, "below_k": 0, "incomplete": 1,
    }  # fmt: skip
    assert found["marketer"]["population"] == pytest.approx((11 / 4 + 1) / 12)
    assert "the rarest combination that both tables have is that of 4 there" in run("--population", "pop.csv").stdout


def test_a_population_without_the_columns_is_refused():
    Path("pop.csv").write_text("zip\n08001\n")
    assert "lacks the quasi-identifiers column 'age'" in run("--population", "pop.csv", code=2).stderr


def test_what_is_wrong_is_said():
    assert "at least 0 and below 1" in run("--threshold", 1, code=2).stderr
    assert "sampling_fraction" in run("--sampling-fraction", 2, code=2).stderr
    assert "no such file" in run("--population", "nowhere.csv", code=2).stderr


def test_flags_say_how_a_file_is_written():
    Path("data.csv").write_text(Path("data.csv").read_text().replace(",", ";"))
    assert json.loads(run("--separator", ";", "--json").stdout)["n_records"] == 12


def test_special_uniques_are_named_by_what_singles_them_out():
    rows = ["a,1,08001,x,2"] * 5 + ["b,2,08001,x,2"]
    Path("data.csv").write_text("name,age,zip,illness,weight\n" + "\n".join(rows) + "\n")
    result = CliRunner().invoke(app, ["risk", "data.csv", "-r", "recipe.toml"])
    assert "1 of 6 records (17 %) needs a single one, no fewer." in result.output
    assert "What singles them out: age in 100 % of all scores." in result.output
