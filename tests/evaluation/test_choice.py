"""Which measures are taken, how rows are aligned, and the forms in which evaluations are told."""

from __future__ import annotations

import json
from pathlib import Path

import numpy as np
import pyarrow as pa
import pytest

import microagg
from declarations import numeric
from microagg import Recipe
from microagg._progress import shown_by
from microagg.errors import ParameterError, TableError
from microagg.evaluation.definition import Definition, MeasureResult
from microagg.evaluation.evaluate import DEFINITIONS
from microagg.evaluation.result import Evaluation, Measure, PerRecord, Values
from optional_packages import need

RECIPE = Recipe(k=2, attributes={"x": numeric(), "y": numeric(), "id": "identifier"})


@pytest.fixture
def people():
    rng = np.random.default_rng(1)
    return pa.table({"x": rng.normal(size=40), "y": rng.normal(size=40), "id": [f"p{i}" for i in range(40)]})


def masked(people):
    return people.set_column(0, "x", pa.array(np.round(people["x"].to_numpy())))


def test_measures_are_chosen_by_name_group_and_side(people):
    found = microagg.evaluate(people, people, RECIPE, measures=["D_X", "distribution"], aligned=True)
    assert [measure.name for measure in found] == ["D_X", "JSD", "wasserstein", "KS", "categories_lost"]
    assert {measure.about for measure in microagg.evaluate(people, people, RECIPE, measures="utility")} == {"utility"}
    by_default = {one.name for one in DEFINITIONS if one.default}
    assert {measure.name for measure in microagg.evaluate(people, people, RECIPE)} == by_default
    with pytest.raises(ParameterError, match=r"called 'distributon'. Did you mean 'distribution'"):
        microagg.evaluate(people, people, RECIPE, measures="distributon")


def test_names_are_unique_and_every_definition_is_complete():
    names = [one.name for one in DEFINITIONS]
    assert len(set(names)) == len(names)
    words = {one.group for one in DEFINITIONS} | {"utility", "risk", "all", "default"}
    assert not words & set(names)
    for one in DEFINITIONS:
        assert one.better in ("lower", "higher")
        assert len(one.formula) > 5


def test_what_a_measure_lacks_is_said(people):
    found = microagg.evaluate(people, people, RECIPE, measures=["utility", "learning"], aligned=False)
    assert "needs aligned rows" in found["SSE"].note
    assert found["semantic_distance"].note == "needs a nominal quasi-identifier"
    assert "no confidential attribute" in found["D_Y"].note
    assert found["accuracy"].note == "needs a target"


def test_rows_are_aligned_by_a_key(people):
    after = masked(people)
    order = np.random.default_rng(2).permutation(40)
    straight = microagg.evaluate(people, after, RECIPE, aligned=True, measures="utility")
    keyed = microagg.evaluate(people, after.take(order), RECIPE, key="id", measures="utility")
    for measure in straight:
        assert measure.value is None or keyed[measure.name].value == pytest.approx(measure.value, rel=1e-9)
        assert measure.note == keyed[measure.name].note
    part = microagg.evaluate(people, after.take(order[:30]), RECIPE, key="id", measures="SSE")
    x, y = people["x"].to_numpy()[order[:30]], after["x"].to_numpy()[order[:30]]
    assert part["SSE"].value == pytest.approx(((x - y) ** 2).sum())


def test_a_key_that_cannot_align_is_explained(people):
    after = masked(people)
    with pytest.raises(ParameterError, match="only one of key, aligned and origins"):
        microagg.evaluate(people, after, RECIPE, key="id", aligned=True)
    with pytest.raises(TableError, match="the released table has no column 'id'"):
        microagg.evaluate(people, after.drop_columns(["id"]), RECIPE, key="id")
    twice = after.set_column(2, "id", pa.array(["p0", "p0", None, *(f"p{i}" for i in range(3, 40))]))
    with pytest.raises(TableError, match=r"released table cannot align rows: 1 values are missing and 1 repeat"):
        microagg.evaluate(people, twice, RECIPE, key="id")
    with pytest.raises(TableError, match="10 of 40 released records have a 'id' that no original record has"):
        microagg.evaluate(people.slice(10), after, RECIPE, key="id")


def test_values_of_single_records_stay_apart(people):
    found = microagg.evaluate(people, masked(people), RECIPE, aligned=True, per_record=True)
    internal = found.per_record
    linked = internal["distance_linkage"]
    assert linked.mean() == pytest.approx(found["distance_linkage"].value)
    assert internal.as_frame("released")["record"].to_pylist() == list(range(40))
    assert "must not be published" in repr(internal)
    assert "must not be published" in internal.notice
    plain = microagg.evaluate(people, masked(people), RECIPE, aligned=True)
    assert plain.per_record is None
    assert set(json.loads(found.as_json())) == set(json.loads(plain.as_json()))
    for shown in (found.as_json(), str(found), repr(found)):
        assert "per_record" not in shown
    odd = PerRecord({"a": Values("original", np.array([0.5])), "b": Values("released", np.array([1.0, 0.0]))})
    assert odd.as_frame("original").to_pylist() == [{"record": 0, "a": 0.5}]


def test_details_and_text(people):
    found = microagg.evaluate(people, masked(people), RECIPE, aligned=True, measures=["D_X", "distance_linkage"])
    details = found.as_frame(details=True).to_pylist()
    assert [(row["name"], row["of"]) for row in details] == [("D_X", "x"), ("D_X", "y")]
    assert found["D_X"].value == pytest.approx(np.mean([row["value"] for row in details]))
    lines = found.as_text(details=True).splitlines()
    assert lines[0].split() == ["utility", "value", "by", "chance", "range", "better"]
    assert lines[2].startswith("  x ")
    assert lines[-1].split()[:3] == ["distance_linkage", f"{found['distance_linkage'].value:.4g}", "0.025"]


def test_evaluations_side_by_side_mark_the_better(people):
    near, far = masked(people), people.set_column(0, "x", pa.array(np.zeros(40)))
    names = ["D_X", "KS", "log2_SSE", "distance_linkage"]
    evaluations = {
        "near": microagg.evaluate(people, near, RECIPE, aligned=True, measures=names),
        "far": microagg.evaluate(people, far, RECIPE, aligned=True, measures=[*names, "IL1s"]),
    }
    found = microagg.compare(evaluations)
    assert found.best("D_X") == "near"
    assert found.best("distance_linkage") == "far"
    assert found.best("IL1s") is None  # only one has it
    assert found.values("IL1s")["near"] is None
    need("pandas")
    frame = found.as_frame("pandas")
    assert list(frame.columns) == ["name", "about", "better", "near", "far", "best"]
    lines = {line.split()[0]: line for line in str(found).splitlines() if line}
    assert f"{evaluations['near']['D_X'].value:.4g}*" in lines["D_X"]
    assert json.loads(found.as_json())["far"]["KS"]["better"] == "lower"
    with pytest.raises(ParameterError, match="two or more"):
        microagg.compare({"near": evaluations["near"]})
    with pytest.raises(ParameterError, match="cannot be called 'best'"):
        microagg.compare({"best": evaluations["near"], "far": evaluations["far"]})


def test_equal_releases_have_no_winner():
    one = Evaluation((Measure("l", 3.0, 1.0, None, "higher", "a count"),))
    rounded = Evaluation((Measure("l", 3.0 + 1e-14, 1.0, None, "higher", "a count"),))
    assert microagg.compare({"a": one, "b": rounded}).best("l") is None
    two = Evaluation((Measure("l", 4.0, 1.0, None, "higher", "a count"),))
    assert microagg.compare({"a": one, "b": one}).best("l") is None
    assert microagg.compare({"a": one, "b": two, "c": one}).best("l") == "b"


def test_a_value_that_is_not_finite_is_no_value(people):
    from microagg.evaluation.alignment import Rows
    from microagg.evaluation.context import Context
    from microagg.tables.frames import Frame

    frame = Frame.wrap(people)
    context = Context(frame, frame, RECIPE.schema, (), Rows(), options={"lambda_": 0.25})
    definition = Definition("odd", "utility", "odd", "lower", "lambda = {lambda_:g}", lambda _: MeasureResult(np.inf))
    measure, _ = definition.measure(context)
    assert (measure.value, measure.note, measure.formula) == (None, "not defined for these tables", "lambda = 0.25")


def test_progress_is_told_measure_by_measure(people):
    heard = []
    with shown_by(lambda task, share: heard.append((task, share))):
        microagg.evaluate(people, people, RECIPE, measures=["D_X", "KS"], aligned=True)
    assert heard == [("measuring: D_X", 0.0), ("measuring: KS", 0.5), ("measuring", 1.0)]


def test_every_measure_is_on_its_page():
    page = (Path(__file__).parents[2] / "docs" / "measures.md").read_text(encoding="utf-8")
    rows = {line.split("|")[1].strip(" `"): line for line in page.splitlines() if line.startswith("| `")}
    for one in DEFINITIONS:
        assert one.name in rows, f"docs/measures.md lacks {one.name}"
        assert f" {one.better} " in rows[one.name], one.name
        assert ("yes" if one.default else "no") in [cell.strip() for cell in rows[one.name].split("|")], one.name
    assert set(rows) == {one.name for one in DEFINITIONS}, "docs/measures.md has measures that are not there"
