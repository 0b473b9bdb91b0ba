"""One name, one definition, one number: terminal, statement, report, evaluation and sweep agree."""

from __future__ import annotations

import json
import re
from pathlib import Path

import numpy as np
import pyarrow as pa
import pytest
from pyarrow import csv
from typer.testing import CliRunner

import microagg
from microagg import Recipe
from microagg.cli.app import app
from microagg.reports.disclosure import coarse

RECIPE = """
method = "mdav"
k = 4
[space]
standardize = "minmax"
[attributes]
[attributes.age]
role = "quasi_identifier"
kind = "numeric"
[attributes.pay]
role = "quasi_identifier"
kind = "numeric"
weight = 3.0
[attributes.region]
role = "quasi_identifier"
kind = "nominal"
[attributes.sick]
role = "confidential"
kind = "nominal"
[sweep]
methods = ["mdav"]
k = [4]
"""
N = 240


def run(*arguments, code=0):
    result = CliRunner().invoke(app, [str(argument) for argument in arguments])
    assert result.exit_code == code, result.output
    return result


@pytest.fixture
def folder(tmp_path, monkeypatch):
    monkeypatch.chdir(tmp_path)
    rng = np.random.default_rng(2)
    age = rng.integers(18, 90, N)
    columns = {"age": age, "pay": rng.lognormal(8, 1, N).round(), "region": rng.choice(["n", "e", "s"], N)}
    csv.write_csv(pa.table(columns | {"sick": np.where(rng.random(N) < age / 120, "yes", "no")}), "data.csv")
    Path("recipe.toml").write_text(RECIPE)
    return tmp_path


def test_a_figure_is_the_same_number_wherever_its_name_appears(folder):
    told = run("release", "data.csv", "-r", "recipe.toml", "-o", "out", "--json")
    terminal = json.loads(told.stdout)
    run("report", "data.csv", "out", "-o", "internal.html", "--internal", "--full")
    run("report", "data.csv", "out", "-o", "quick.html", "--internal")
    figures = {}
    for where, released in (("evaluate", ["out"]), ("evaluate the file", ["out/table.csv", "-r", "recipe.toml"])):
        found = json.loads(run("evaluate", "data.csv", *released, "--json").stdout)
        figures[where] = {name: one["value"] for name, one in found.items()}
    for name in ("internal", "quick"):
        facts = json.loads(Path(f"{name}.json").read_text())["measures"]
        figures[f"{name} report"] = {one["name"]: one["value"] for about in ("utility", "risk") for one in facts[about]}
    recipe, table = Recipe.load("recipe.toml"), csv.read_csv("data.csv")
    (point,) = microagg.sweep(table, recipe, workers=1).points
    figures["sweep"] = dict(point.values)
    wanted = figures["evaluate"]
    assert {"SSE_SST", "label_purity", "agreement", "k", "distance_linkage"} <= set(wanted)
    for where, found in figures.items():
        for name, value in found.items():
            assert value == pytest.approx(wanted[name]), f"{name}: {where}"
    # The public report rounds the same numbers.
    public = json.loads(Path("out/report.json").read_text())["measures"]
    shown = {one["name"]: one["value"] for about in ("utility", "risk") for one in public[about]}
    assert shown["SSE_SST"] == coarse(wanted["SSE_SST"])
    assert shown["label_purity"] == coarse(wanted["label_purity"])
    # The statement is the same on the terminal, in its file and in the report, and counts what evaluate does.
    statement = json.loads(Path("out/statement.json").read_text())
    assert terminal["statement"] == statement
    agreement = next(one for one in statement["exposure"] if one["what"] == "agreement")
    assert agreement["share"] == round(wanted["agreement"], 2)
    assert json.loads(Path("out/report.json").read_text())["exposure"]["entries"] == statement["exposure"]
    assert statement["recounts"][0]["smallest"] == wanted["k"]


def test_the_loss_of_cells_and_the_loss_of_published_values_have_two_names(folder):
    told = run("release", "data.csv", "-r", "recipe.toml", "-o", "out", "--json")
    loss = json.loads(told.stdout)["information_loss"]
    sse_sst = json.loads(run("evaluate", "data.csv", "out", "--json").stdout)["SSE_SST"]["value"]
    assert abs(loss / 100 - sse_sst) > 0.001  # weights, another scale, modes: truly two figures
    (line,) = re.findall(r"^Information loss: .*$", told.stderr, re.MULTILINE)
    assert float(line.split()[2]) == pytest.approx(loss, abs=1e-4)
    assert "within cells" in line
    assert "SSE/SST" not in told.stderr


def test_where_both_losses_measure_the_same_they_are_equal():
    table = pa.table({"x": np.random.default_rng(0).normal(size=200), "y": np.random.default_rng(1).normal(size=200)})
    kinds = {name: {"role": "quasi_identifier", "kind": "numeric"} for name in ("x", "y")}
    made = microagg.release(table, Recipe(k=4, attributes=kinds))
    assert 100 * microagg.evaluate(table, made)["SSE_SST"].value == pytest.approx(made.information_loss)
