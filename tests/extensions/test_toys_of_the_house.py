"""The extensions of docs/architecture.md: each is one file and one line, and goes through everything."""

from __future__ import annotations

import importlib
import json
import pickle
import re
import sys
from dataclasses import replace
from pathlib import Path

import numpy as np
import pyarrow as pa
import pytest
from typer.testing import CliRunner

import microagg
from declarations import numeric
from microagg import Recipe
from microagg.cli.app import app
from microagg.errors import GuaranteeError, ParameterError, RecipeError
from microagg.evaluation.measures import all_measures, measure_named, register_measure, unregister_measure
from microagg.methods.catalogue import METHODS, Method, find_method, register_method, unregister_method
from microagg.methods.output import Stages
from microagg.partition.base import Partitioner
from microagg.releases.check.check import check_release

PAGE = Path(__file__).parents[2] / "docs" / "architecture.md"
EXAMPLES = dict(
    re.findall(r"^### ([^\n]*)\n\n```python\n(.*?)```", PAGE.read_text(encoding="utf-8"), re.DOTALL | re.MULTILINE)
)
PROTECTED = {"x": numeric(bounds=[0, 100]), "y": numeric(bounds=[0, 100])}


@pytest.fixture
def import_example(tmp_path, monkeypatch):
    """Write an example of the page to a file of its own, and import that: nothing else is done to add it."""
    (tmp_path / "modules").mkdir()
    monkeypatch.syspath_prepend(tmp_path / "modules")
    imported = []

    def write_and_import(title, name):
        (tmp_path / "modules" / f"{name}.py").write_text(EXAMPLES[title], encoding="utf-8")
        imported.append(name)
        return importlib.import_module(name)

    yield write_and_import
    for name in imported:
        del sys.modules[name]


@pytest.fixture
def table():
    rng = np.random.default_rng(0)
    return pa.table({"x": rng.uniform(0, 100, 60), "y": rng.uniform(0, 100, 60)})


@pytest.fixture
def slices(import_example):
    yield import_example("A method that forms cells", "slices")
    unregister_method("slices")


@pytest.fixture
def one_mean(import_example):
    yield import_example("A private method", "one_mean")
    unregister_method("dp_one_mean")


@pytest.fixture
def share_changed(import_example):
    yield import_example("A measure", "share_changed")
    unregister_measure("share_changed")


def failed(folder):
    return {finding.name for finding in check_release(folder) if not finding.holds}


def save_for_reader(release, folder):
    saved = release.save(folder, report=True)
    release.receipt_path(saved).unlink()
    return saved


def test_the_page_has_the_four_examples_that_are_tested_here():
    assert list(EXAMPLES) == ["A method that forms cells", "A private method", "A measure", "A command"]


@pytest.mark.usefixtures("slices")
def test_a_method_goes_through_release_report_check_and_sweep(table, tmp_path):
    recipe = Recipe(method="slices", k=5, attributes=PROTECTED)
    release = microagg.release(table, recipe)
    assert release.n_cells == 12
    folder = save_for_reader(release, tmp_path / "out")
    assert not failed(folder)
    assert "Slices" in (folder / "report.html").read_text(encoding="utf-8")
    swept = recipe.changed({"sweep": {"methods": ["mdav", "slices"], "k": [3, 5]}})
    found = microagg.sweep(table, swept, workers=1)
    assert {point.settings["method"] for point in found.points} == {"mdav", "slices"}


@pytest.mark.usefixtures("slices")
def test_a_method_of_cells_brings_its_moments(table):
    recipe = Recipe(method="dp_moments_slices", k=10, privacy={"epsilon": 1}, attributes=PROTECTED)
    assert microagg.release(table, recipe, seed=1).statement.guarantees[0].private


@pytest.mark.usefixtures("slices")
def test_a_manifest_of_other_cells_is_found(table, tmp_path):
    folder = save_for_reader(
        microagg.release(table, Recipe(method="slices", k=5, attributes=PROTECTED)), tmp_path / "out"
    )
    manifest = json.loads((folder / "manifest.json").read_text())
    partition = next(stage for stage in manifest["stages"] if stage["stage"] == "partition")
    partition["blocks"][0]["smallest_cell"] = 2
    (folder / "manifest.json").write_text(json.dumps(manifest, indent=2))
    assert "cells" in failed(folder)


def test_a_partitioner_with_too_small_a_cell_makes_no_release(table):
    class Alone(Partitioner):
        def __init__(self, k=5):
            self.k = k

        def _cells(self, X):
            return np.minimum(np.arange(len(X)), 1)

    register_method(Method("alone", "Alone", "One record alone.", "this test", Alone))
    try:
        with pytest.raises(GuaranteeError, match="k = 5"):
            microagg.release(table, Recipe(method="alone", k=5, attributes=PROTECTED))
    finally:
        unregister_method("alone")


@pytest.mark.usefixtures("one_mean")
def test_a_private_method_goes_through_release_report_check_and_sweep(table, tmp_path):
    recipe = Recipe(method="dp_one_mean", privacy={"epsilon": 1}, attributes=PROTECTED)
    release = microagg.release(table, recipe)
    assert len(set(release.table["x"].to_pylist())) == 1
    assert release.statement.budget["spent"] == 1
    folder = save_for_reader(release, tmp_path / "out")
    assert not failed(folder)
    swept = recipe.changed({"sweep": {"methods": ["dp_laplace", "dp_one_mean"], "epsilon": [1, 10]}})
    found = microagg.sweep(table, swept, workers=1)
    assert {point.settings["method"] for point in found.points} == {"dp_laplace", "dp_one_mean"}
    statement = json.loads((folder / "statement.json").read_text())
    statement["budget"]["expenses"][0]["scale"] /= 2
    (folder / "statement.json").write_text(json.dumps(statement, indent=2))
    assert "statement" in failed(folder)


@pytest.mark.parametrize(
    ("declared", "reason"),
    [
        ({"linked_forms": ("mean",)}, "on whether a row of form 'mean' is a record"),
        ({"own_columns": lambda self, recipe: ("mean",)}, "other columns than it declares"),
    ],
    ids=["rows", "columns"],
)
def test_a_private_method_that_makes_something_else_than_it_declares_makes_no_release(
    table, one_mean, declared, reason
):
    # A recipe may have confidential attributes beside rows that are records; these would stand in the input's order.
    liar = type("Liar", (one_mean.OneMean,), declared)
    register_method(replace(METHODS["dp_one_mean"], name="dp_liar", protected_by=liar))
    try:
        recipe = Recipe(method="dp_liar", privacy={"epsilon": 1}, attributes=PROTECTED)
        with pytest.raises(GuaranteeError, match=reason):
            microagg.release(table, recipe)
    finally:
        unregister_method("dp_liar")


@pytest.mark.usefixtures("share_changed")
def test_a_measure_is_evaluated_reported_and_swept(table, tmp_path):
    recipe = Recipe(k=5, attributes=PROTECTED)
    release = microagg.release(table, recipe)
    found = microagg.evaluate(table, release)
    assert 0.5 < found["share_changed"].value <= 1
    release.report(tmp_path / "internal.html", internal=True, full=True)
    assert "share_changed" in (tmp_path / "internal.html").read_text(encoding="utf-8")
    swept = microagg.sweep(
        table, recipe.changed({"sweep": {"methods": ["mdav"], "k": [3, 5]}}), risk="share_changed", workers=1
    )
    assert all(point.values["share_changed"] is not None for point in swept.points)


@pytest.mark.usefixtures("share_changed")
def test_a_registered_measure_is_in_no_public_report(table, tmp_path):
    release = microagg.release(table, Recipe(k=5, attributes=PROTECTED))
    folder = save_for_reader(release, tmp_path / "out")
    release.report(folder / "report.html", full=True, overwrite=True)
    assert "share_changed" not in (folder / "report.json").read_text(encoding="utf-8")
    assert '"IL1s"' in (folder / "report.json").read_text(encoding="utf-8")
    measure = measure_named("share_changed")
    unregister_measure(measure.name)
    try:
        assert not failed(folder)  # for a reader who does not know the measure
    finally:
        register_measure(measure)


@pytest.mark.usefixtures("share_changed")
@pytest.mark.parametrize("group", ["KS", "default", "risk", "mine"])
def test_a_group_of_measures_is_not_named_like_a_measure(group):
    # Quick reports ask for measures by name: a group of that name would come along.
    with pytest.raises(ParameterError, match=f"a group cannot be named '{group}'"):
        register_measure(replace(measure_named("share_changed"), name="mine", group=group))
    assert "mine" not in {one.name for one in all_measures()}


def test_a_command_is_run_and_helped(import_example, tmp_path, monkeypatch):
    monkeypatch.setattr(app, "registered_commands", list(app.registered_commands))
    import_example("A command", "columns_command")
    (tmp_path / "t.csv").write_text("a,b\n1,2\n")
    result = CliRunner().invoke(app, ["columns", str(tmp_path / "t.csv")])
    assert result.exit_code == 0, result.output
    assert result.output.split() == ["a", "b"]
    assert "List the columns of a table." in CliRunner().invoke(app, ["--help"]).output
    missing = CliRunner().invoke(app, ["columns", str(tmp_path / "none.csv")])
    assert missing.exit_code != 0
    assert "none.csv" in missing.output


@pytest.mark.usefixtures("slices", "share_changed")
def test_a_name_is_given_once():
    with pytest.raises(ParameterError, match="already"):
        register_method(METHODS["slices"])
    with pytest.raises(ParameterError, match="already"):
        register_measure(next(one for one in all_measures() if one.name == "share_changed"))


@pytest.mark.usefixtures("one_mean")
def test_the_moments_of_a_method_replace_no_other_method():
    own = replace(METHODS["dp_one_mean"], name="dp_moments_mine")
    register_method(own)
    try:
        with pytest.raises(ParameterError, match="'dp_moments_mine' already"):
            register_method(replace(METHODS["mdav"], name="mine"))
        assert find_method("mine") is None
        assert METHODS["dp_moments_mine"] is own
    finally:
        unregister_method("dp_moments_mine")


def test_a_copy_of_a_recipe_keeps_neither_the_entry_nor_the_roles_of_the_first():
    recipe = Recipe(method="mic1d", k=5, attributes=PROTECTED)
    assert recipe.entry.name == "mic1d"
    other = Recipe(k=5, attributes={"x": "identifier", "y": numeric()})
    copied = recipe.model_copy(update={"method": "mdav", "attributes": other.attributes})
    assert copied.entry.name == "mdav"
    assert copied.schema.published == ("y",)


def test_another_process_knows_the_method_of_a_recipe(slices):
    recipe = pickle.dumps(Recipe(method="slices", k=5, attributes=PROTECTED))
    unregister_method("slices")
    try:
        assert pickle.loads(recipe).entry.partitioner_class is slices.Slices
    finally:
        register_method(pickle.loads(recipe).entry)


def test_no_trace_is_left():
    assert find_method("slices") is None
    assert find_method("dp_moments_slices") is None
    assert find_method("dp_one_mean") is None
    assert "share_changed" not in {one.name for one in all_measures()}


def test_a_method_does_not_overwrite_what_the_manifest_says_of_every_method():
    with pytest.raises(GuaranteeError, match="'k', which is not its to say"):
        Stages(partition={"k": 99}).as_list(METHODS["mdav"], 5)


def test_a_guide_is_refused_for_a_private_method_that_has_a_space(one_mean, monkeypatch):
    monkeypatch.setattr(one_mean.OneMean, "uses_space", True)
    cells = replace(METHODS["mdav"], name="dp_spaced", protected_by=one_mean.OneMean)
    register_method(cells)
    try:
        attributes = {**PROTECTED, "pay": numeric(role="confidential")}
        with pytest.raises(RecipeError, match="only its mechanisms may look at the records"):
            Recipe(
                method="dp_spaced",
                k=3,
                privacy={"epsilon": 1},
                space={"dependence": {"lambda": 0.5}},
                attributes=attributes,
            )
    finally:
        unregister_method("dp_spaced")
