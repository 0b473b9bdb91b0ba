"""Reports and evaluations from the folder of a release: the receipt tells which record each row stands for."""

from __future__ import annotations

import json
from pathlib import Path

import numpy as np
import pyarrow as pa
import pytest
from pyarrow import csv
from typer.testing import CliRunner

import microagg
from microagg.cli.app import app
from microagg.recipe.recipe import Recipe

RECIPE = """
k = 5
[attributes]
id = "identifier"
[attributes.age]
role = "quasi_identifier"
kind = "numeric"
[attributes.hours]
role = "quasi_identifier"
kind = "numeric"
[attributes.region]
role = "quasi_identifier"
kind = "nominal"
[attributes.sick]
role = "confidential"
kind = "nominal"
"""
MARGINALS = """
method = "dp_individual_ranking"
k = 5
[privacy]
epsilon = 1.0
[attributes]
id = "identifier"
region = "identifier"
hours = "identifier"
sick = "identifier"
[attributes.age]
role = "quasi_identifier"
kind = "numeric"
bounds = [0, 120]
"""
N = 300


@pytest.fixture
def folder(tmp_path, monkeypatch):
    """A folder with a table, its recipe and a shuffled release, as the working directory."""
    monkeypatch.chdir(tmp_path)
    rng = np.random.default_rng(8)
    age = rng.integers(20, 80, N)
    table = {"id": [f"canary{i}" for i in range(N)], "age": age, "hours": rng.integers(0, 60, N)}
    table["region"] = rng.choice(["n", "s"], N)
    csv.write_csv(pa.table(table | {"sick": np.where(age + rng.normal(0, 9, N) > 60, "yes", "no")}), "data.csv")
    Path("recipe.toml").write_text(RECIPE)
    run("release", "data.csv", "-r", "recipe.toml", "-o", "out")
    return tmp_path


def run(*arguments, code=0):
    result = CliRunner().invoke(app, [str(argument) for argument in arguments])
    assert result.exit_code == code, result.output
    assert "canary" not in result.output
    return result


def evaluated(*arguments):
    found = json.loads(run("evaluate", "data.csv", *arguments, "--json").stdout)
    return {name: one["value"] for name, one in found.items()}


def reported(name="internal", *arguments):
    run("report", "data.csv", "out", "-o", f"{name}.html", "--internal", "--overwrite", *arguments)
    return json.loads(Path(f"{name}.json").read_text())


def receipt():
    (found,) = Path().glob("out.receipt-*.json")
    return found


def measures_of(facts):
    return {one["name"]: one["value"] for about in ("utility", "risk") for one in facts["measures"][about]}


def test_a_report_from_the_folder_has_the_figures_of_the_evaluation(folder):
    facts, found = reported(), evaluated("out")
    figures = measures_of(facts)
    assert {"SSE_SST", "label_purity", "interval_disclosure_value", "k"} <= set(figures)
    assert figures == {name: found[name] for name in figures}
    assert None not in figures.values()
    text = Path("internal.html").read_text()
    assert "the caller says" not in text
    assert "no cells" not in text


def test_a_full_report_from_the_folder_is_the_whole_evaluation(folder):
    figures, found = measures_of(reported("internal", "--full")), evaluated("out")
    assert figures == found
    assert figures["distance_linkage"] <= 1 / 5


def test_the_figures_are_those_of_the_release_itself(folder):
    recipe = Recipe.load("recipe.toml")
    table = csv.read_csv("data.csv")
    made = microagg.evaluate(table, microagg.release(table, recipe))
    found = evaluated("out")
    assert {one.name: one.value for one in made} == pytest.approx(found, nan_ok=True)


def test_a_report_from_the_folder_tells_of_cells_and_classes(folder):
    manifest = json.loads(Path("out/manifest.json").read_text())
    (block,) = next(stage for stage in manifest["stages"] if stage["stage"] == "partition")["blocks"]
    cells, classes = reported()["cells"]["blocks"]
    assert (cells["of"], cells["n_cells"]) == ("cell", block["n_cells"])
    table = csv.read_csv("out/table.csv")
    combinations = table.group_by(["age", "hours", "region"]).aggregate([([], "count_all")])
    assert (classes["of"], classes["n_classes"]) == ("class", combinations.num_rows)
    assert classes["smallest"] == min(combinations["count_all"].to_pylist()) >= 5


def test_without_a_receipt_nobody_is_said_to_have_said_anything(folder):
    receipt().unlink()
    facts = reported()
    assert measures_of(facts)["SSE_SST"] is None
    assert measures_of(facts)["label_purity"] == evaluated("out")["label_purity"]
    text = Path("internal.html").read_text()
    assert "the caller says" not in text
    assert "--receipt" in text


def test_a_receipt_may_lie_elsewhere(folder):
    Path("kept").mkdir()
    moved = receipt().rename("kept/proof.json")
    with_it = evaluated("out", "--receipt", moved)
    assert with_it["SSE_SST"] is not None
    assert evaluated("out/table.csv", "-r", "recipe.toml", "--receipt", moved) == with_it
    assert measures_of(reported("internal", "--receipt", moved))["SSE_SST"] == with_it["SSE_SST"]


@pytest.mark.parametrize("command", ["evaluate", "report"])
def test_a_receipt_of_another_release_or_original_is_refused(folder, command):
    more = ["-o", "page.html", "--internal", "--overwrite"] if command == "report" else []
    run("release", "data.csv", "-r", "recipe.toml", "-o", "again")
    (other,) = Path().glob("again.receipt-*.json")
    refused = run(command, "data.csv", "out", "--receipt", other, *more, code=2)
    assert "receipt of another release" in refused.stderr
    lines = Path("data.csv").read_text().splitlines()
    Path("turned.csv").write_text("\n".join([lines[0], *lines[:0:-1]]) + "\n")
    for given in ([], ["--receipt", receipt()]):
        assert "not the one that 'out' was made from" in run(command, "turned.csv", "out", *given, *more, code=2).stderr
    run(command, "turned.csv", "out", "--shuffled", *more)
    Path("broken.json").write_text("{}")
    assert (
        "is not the receipt of a release"
        in run(command, "data.csv", "out", "--receipt", "broken.json", *more, code=2).stderr
    )
    assert "leave out" in run(command, "data.csv", "out", "--receipt", receipt(), "--aligned", *more, code=2).stderr


def test_a_file_that_only_lies_beside_a_release_is_not_taken_for_its_table(folder):
    Path("out/table.csv").write_text(Path("out/table.csv").read_text() + "44,20,n,no\n")
    assert evaluated("out/table.csv", "-r", "recipe.toml")["SSE_SST"] is None


def test_marginals_are_known_by_their_folder_their_recipe_or_a_flag(folder):
    Path("private.toml").write_text(MARGINALS)
    run("release", "data.csv", "-r", "private.toml", "-o", "dp")
    Path("plain.toml").write_text(MARGINALS.replace('method = "dp_individual_ranking"\n', "").split("[privacy]")[0])
    Path("plain.toml").write_text("k = 5\n[attributes]" + MARGINALS.split("[attributes]")[1])
    for arguments in (
        ["dp"],
        ["dp", "-r", "plain.toml"],
        ["dp/table.csv", "-r", "private.toml"],
        ["dp/table.csv", "-r", "plain.toml", "--rows", "ranks"],
    ):
        shown = run("evaluate", "data.csv", *arguments)
        assert "JSD" in shown.stdout
        assert not {"k", "correlation_difference", "distance_linkage", "pMSE"} & set(shown.stdout.split())
        assert "k, " in shown.stderr
        assert "ranks, not records" in shown.stderr
    run("report", "data.csv", "dp", "-o", "dp.html", "--internal", "--full")
    facts = json.loads(Path("dp.json").read_text())
    assert measures_of(facts)["k"] is None
    assert "ranks, not records" in facts["correlations"]["note"]


def test_a_file_needs_a_recipe(folder):
    assert "--recipe" in run("evaluate", "data.csv", "out/table.csv", code=2).stderr
    assert "--recipe" in run("report", "data.csv", "out/table.csv", "-o", "x.html", code=2).stderr


def test_an_internal_report_lies_beside_the_folder_unless_told_otherwise(folder):
    run("report", "data.csv", "out", "--internal")
    assert "INTERNAL" in Path("out.internal.html").read_text()
    assert "--output" in run("report", "data.csv", "out", code=2).stderr
    run("check", "out")


@pytest.mark.parametrize("said", [("dp",), ("dp/table.csv", "-r", "dp.toml"), ("dp/table.csv", "-r", "recipe.toml")])
@pytest.mark.parametrize("rows", ["records", "means"])
def test_what_the_rows_of_a_release_are_is_not_for_a_flag_to_say(folder, said, rows):
    Path("dp.toml").write_text(MARGINALS)
    run("release", "data.csv", "-r", "dp.toml", "-o", "dp")
    refused = run("evaluate", "data.csv", *said, "--rows", rows, "--aligned", code=2)
    assert f"leave out --rows {rows}" in refused.stderr.replace("\n", " ")
    evaluated("dp", "--rows", "ranks")


def test_a_release_in_python_knows_its_rows_too(folder):
    made = microagg.release(csv.read_csv("data.csv"), Recipe.load("recipe.toml"))
    with pytest.raises(microagg.errors.ParameterError, match="rows of this release are records"):
        microagg.evaluate(csv.read_csv("data.csv"), made, rows="ranks")


@pytest.mark.parametrize("content", ["", "{", "[]", '{"id": 1}', None])
def test_damaged_receipts_and_folders_named_like_one_are_passed_over(folder, content):
    expected = evaluated("out")
    other = Path("out.receipt-000000000000.json")
    if content is None:
        other.mkdir()
    else:
        other.write_text(content)
    assert evaluated("out") == expected
    assert measures_of(reported())["SSE_SST"] == expected["SSE_SST"]
    run("report", "data.csv", "out", "-o", "out/report.html", "--overwrite")
    refused = run("evaluate", "data.csv", "out", "--receipt", other, code=2)
    assert "receipt-000000000000.json" in refused.stderr
