"""A guide is one file and one line: that of the docs goes through everything, and leaves no trace."""

from __future__ import annotations

import hashlib
import importlib
import json
import re
import sys
from pathlib import Path

import numpy as np
import pyarrow as pa
import pytest
from joblib.externals.loky import get_reusable_executor

import microagg
from declarations import numeric
from microagg import Recipe
from microagg.errors import GuaranteeError, ParameterError, RecipeError
from microagg.frontier.grid import grid_of, settings_of_points
from microagg.frontier.tradeoff import tradeoff
from microagg.releases.check.check import check_release
from microagg.space.guides import registered_guides, unregister_guide

PAGE = Path(__file__).parents[2] / "docs" / "algorithms" / "guided_spaces.md"
ATTRIBUTES = {"x": numeric(), "y": numeric(), "pay": numeric(role="confidential"), "age": numeric(role="confidential")}
SPREAD = {"spread": {"target": "pay", "scale": 2.0}}


@pytest.fixture
def spread(tmp_path, monkeypatch):
    """The guide of the docs, as one file that is imported in one line."""
    (code,) = re.findall(r"```python\n(.*?)```", PAGE.read_text(encoding="utf-8"), re.DOTALL)
    (tmp_path / "modules").mkdir()
    (tmp_path / "modules" / "spread_guide.py").write_text(code, encoding="utf-8")
    monkeypatch.syspath_prepend(tmp_path / "modules")
    guide = importlib.import_module("spread_guide").SpreadChoice
    yield guide
    unregister_guide(guide)
    del sys.modules["spread_guide"]


@pytest.fixture
def people():
    rng = np.random.default_rng(3)
    x, y, pay, age = rng.normal(size=(4, 90))
    return pa.table({"x": x, "y": y, "pay": pay, "age": age})


def declared(**tables):
    return Recipe(**({"k": 3, "attributes": ATTRIBUTES, "output": {"order": "kept"}} | tables))


def facts_of(made):
    return next(stage for stage in made.manifest.stages if stage["stage"] == "space")["guided"][0]


def failed(folder):
    return {finding.name for finding in check_release(folder) if not finding.holds}


def rewritten(folder, name, change):
    """Change a JSON file of a release, and mend the hashes after, as a clever forger would."""
    content = json.loads((folder / name).read_text())
    change(content)
    (folder / name).write_text(json.dumps(content, indent=2, ensure_ascii=False) + "\n")
    manifest = json.loads((folder / "manifest.json").read_text())
    hashes = manifest["output"]["sha256"]
    hashes |= {file: hashlib.sha256((folder / file).read_bytes()).hexdigest() for file in hashes}
    (folder / "manifest.json").write_text(json.dumps(manifest, indent=2, ensure_ascii=False) + "\n")


def saved_without_receipt(made, folder):
    saved = made.save(folder, report=True)
    made.receipt_path(saved).unlink()
    return saved


@pytest.mark.parametrize(("name", "lie"), [("is_idle", True), ("did_shape", lambda self, facts: False)])
def test_a_guide_that_hides_its_influence_makes_no_release(spread, people, monkeypatch, name, lie):
    monkeypatch.setattr(spread, name, lie)
    with pytest.raises(GuaranteeError, match="SpreadChoice changed the space of the cells, and says by"):
        microagg.release(people, declared(space=SPREAD))
    idle = microagg.release(people, declared(space={"spread": {"target": "pay", "scale": 0.0}}))
    assert idle.table.equals(microagg.release(people, declared()).table)


@pytest.mark.usefixtures("spread")
def test_a_recipe_knows_its_table():
    recipe = declared(space=SPREAD)
    assert recipe.guides == ("pay",)
    assert recipe.space.spread.scale == 2.0
    assert recipe.space.guide is recipe.space.spread
    assert recipe.space.dependence is None
    assert '[space.spread]\ntarget = "pay"\nscale = 2.0\n' in recipe.dumps()
    assert Recipe.loads(recipe.dumps()) == recipe
    assert recipe.as_dict()["space"] == {"standardize": "zscore", "spread": {"target": "pay", "scale": 2.0}}
    assert recipe.changed({"space.spread.scale": 0.5}).space.spread.scale == 0.5
    assert recipe.changed({"space.spread": None}) == declared()


@pytest.mark.usefixtures("spread")
@pytest.mark.parametrize(
    ("space", "message"),
    [
        (
            {"sprad": {"target": "pay"}},
            r"space.sprad: unknown key. Did you mean 'spread'\? Known keys: .*prediction, s",
        ),
        ({"spread": {"target": "pay", "scal": 1.0}}, r"space.spread.scal: unknown key. Did you mean 'scale'"),
        ({"spread": {"scale": 1.0}}, "space.spread.target: this key is required"),
        (
            {"spread": {"target": "pay", "scale": -1.0}},
            "space.spread.scale: input should be greater than or equal to 0",
        ),
        ({"spread": {"target": "pey"}}, "space.spread.target names 'pey', which is not declared. Did you mean 'pay'"),
        ({"spread": {"target": "x"}}, "space.spread.target names 'x', which is quasi_identifier"),
        ({**SPREAD, "dependence": {"lambda": 0.5}}, "guided in one way: keep one of dependence, spread"),
    ],
)
def test_a_recipe_refuses_what_its_table_cannot_be(space, message):
    with pytest.raises(RecipeError, match=message):
        declared(space=space)


@pytest.mark.usefixtures("spread")
def test_a_release_is_guided_by_it_and_says_so(people):
    plain, made = microagg.release(people, declared()), microagg.release(people, declared(space=SPREAD))
    assert not made.table.equals(plain.table)
    facts = facts_of(made)
    assert {key: facts[key] for key in ("form", "scale", "attributes")} == {
        "form": "spread",
        "scale": 2.0,
        "attributes": ["pay"],
    }
    said = " ".join(str(made.statement).split())
    assert "with the help of confidential attributes (spread, scale = 2): column 'pay'" in said
    assert "diversity of pay within cells" in said
    assert "diversity of pay within cells" not in " ".join(str(plain.statement).split())


def test_a_guide_that_contradicts_itself_is_refused_before_anything_is_written(spread, people, monkeypatch):
    monkeypatch.setattr(spread, "fact_keys", frozenset({"scale", "shift"}))
    with pytest.raises(ParameterError, match="the guide SpreadChoice gave the facts form, scale, attributes, D_X, D_Y"):
        microagg.release(people, declared(space=SPREAD))


@pytest.mark.usefixtures("spread")
def test_an_idle_guide_forms_the_plain_cells_and_says_so(people):
    idle = microagg.release(people, declared(space={"spread": {"target": "pay", "scale": 0.0}}))
    assert idle.table.equals(microagg.release(people, declared()).table)
    said = " ".join(str(idle.statement).split())
    assert "spread, scale = 0: cells are those of the quasi-identifiers alone" in said
    assert "diversity of pay within cells, which were formed with their help" not in said


@pytest.mark.usefixtures("spread")
def test_a_saved_release_is_sound_and_its_report_names_the_guide(people, tmp_path):
    saved = microagg.release(people, declared(space=SPREAD)).save(tmp_path / "out", report=True)
    assert failed(saved) == set()
    assert "spread, scale = 2" in (saved / "report.html").read_text(encoding="utf-8")


@pytest.mark.usefixtures("spread")
@pytest.mark.parametrize(
    ("change", "finding"),
    [
        (lambda facts: facts.update(scale=1.0), "manifest"),
        (lambda facts: facts.pop("scale"), "manifest"),
        (lambda facts: facts.update(form="dependence"), "manifest"),
        (lambda facts: facts.update(promise="row 3 is somebody"), "manifest"),
        (lambda facts: facts.update(D_Y="little"), "manifest"),
    ],
)
def test_a_manifest_that_says_otherwise_is_found(people, tmp_path, change, finding):
    saved = saved_without_receipt(microagg.release(people, declared(space=SPREAD)), tmp_path / "out")
    assert failed(saved) == set()
    rewritten(saved, "manifest.json", lambda manifest: change(manifest["stages"][1]["guided"][0]))
    assert finding in failed(saved)


@pytest.mark.usefixtures("spread")
def test_a_statement_that_says_otherwise_is_found(people, tmp_path):
    saved = saved_without_receipt(microagg.release(people, declared(space=SPREAD)), tmp_path / "out")

    def milder(statement):
        statement["remarks"] = [one.replace("scale = 2", "scale = 0.1") for one in statement["remarks"]]

    rewritten(saved, "statement.json", milder)
    assert "remarks" in failed(saved)


@pytest.mark.usefixtures("spread")
def test_a_sweep_varies_its_key(people, tmp_path):
    recipe = declared(space=SPREAD, sweep={"methods": ["mdav"], "k": [3], "scale": [0.0, 4.0]})
    assert list(recipe.as_dict()["sweep"]) == ["methods", "k", "scale", "repeats"]
    assert Recipe.loads(recipe.dumps()) == recipe
    frontier = microagg.sweep(people, recipe, workers=1, folder=tmp_path / "sweep")
    assert [point.name for point in frontier.points] == ["mdav-k3-scale0", "mdav-k3-scale4"]
    assert not any(point.failures for point in frontier.points)
    assert frontier.frame()["scale"].to_pylist() == [0.0, 4.0]
    loss = [point.values["D_Y"] for point in frontier.points]
    assert loss[1] < loss[0]
    get_reusable_executor().shutdown(wait=True)  # processes that were started before know nothing of the guide's file
    try:
        again = microagg.sweep(people, recipe, workers=2)  # in processes that have to find the guide
    finally:
        get_reusable_executor().shutdown(wait=True)  # so that they do not know it in other tests
    assert [point.values for point in again.points] == [point.values for point in frontier.points]


@pytest.mark.usefixtures("spread")
def test_a_sweep_derives_values_and_refuses_others():
    own = declared(space={"spread": {"target": "pay", "scale": 5.0}})
    mdav = [point for point in grid_of(own).points if point.settings["method"] == "mdav" and point.settings["k"] == 3]
    assert [point.settings["scale"] for point in mdav] == [0.0, 1.0, 2.0, 5.0]
    both = grid_of(declared(space=SPREAD, sweep={"methods": ["mdav"], "k": [3], "lambda": [0.5], "scale": [1.0]}))
    assert [point.name for point in both.points] == ["mdav-k3-lambda0.5", "mdav-k3-scale1"]
    assert [point.recipe.space.guide.name for point in both.points] == ["dependence", "spread"]
    with pytest.raises(RecipeError, match=r"sweep.scale.0: input should be greater than or equal to 0"):
        declared(space=SPREAD, sweep={"scale": [-1.0]})
    with pytest.raises(RecipeError, match=r"sweep.scale needs a target. Name it: \[space.spread\]"):
        declared(sweep={"scale": [1.0]})


@pytest.mark.usefixtures("spread")
def test_a_tradeoff_varies_its_key(people):
    found = tradeoff(people, declared(space=SPREAD), "scale", (0.0, 4.0))
    assert found.columns[0] == "scale"
    assert found.rows[1]["D_Y"] < found.rows[0]["D_Y"]


def test_an_unregistered_guide_leaves_no_trace(spread, people):
    assert spread in registered_guides()
    before = declared(space=SPREAD)
    made = microagg.release(people, before)
    unregister_guide(spread)
    assert [guide.name for guide in registered_guides()] == ["dependence", "discriminant", "prediction"]
    assert settings_of_points() == ("method", "k", "epsilon", "l", "t", "lambda", "alpha")
    for tables, message in (
        ({"space": SPREAD}, "space.spread: unknown key. Known keys: standardize, dependence, discriminant, prediction"),
        ({"sweep": {"scale": [1.0]}}, "sweep.scale: unknown key."),
    ):
        with pytest.raises(RecipeError) as refused:
            declared(**tables)
        assert str(refused.value).startswith(message)
    assert microagg.release(people, before).table.equals(made.table)  # recipes stay as they were validated
