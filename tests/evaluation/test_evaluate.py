"""Measures against hand counts and plain loops, and what cannot be measured says so."""

from __future__ import annotations

import json

import numpy as np
import pyarrow as pa
import pytest

import microagg
from declarations import nominal, numeric, ordinal
from microagg import Recipe
from microagg.errors import ParameterError, TableError
from optional_packages import need

PAY = {"role": "confidential", "kind": "numeric"}


def small_recipe(**attributes):
    return Recipe(k=2, attributes=attributes)


@pytest.fixture
def survey():
    rng = np.random.default_rng(4)
    x = rng.normal(size=120)
    return pa.table({"x": x, "c": rng.choice(["a", "b", "d"], 120), "pay": x + rng.normal(size=120)})


SURVEY = {"x": numeric(), "c": nominal(), "pay": PAY}


def test_distortion_counts_every_kind():
    before = pa.table({"n": [0.0, 2.0, 0.0, 2.0], "o": ["l", "l", "h", "h"], "c": ["a", "b", "a", None]})
    after = pa.table({"n": [1.0, 1.0, 1.0, 1.0], "o": ["l", "l", "h", "l"], "c": ["a", "a", "a", "a"]})
    recipe = small_recipe(n=numeric(), o=ordinal(categories=["l", "h"]), c=nominal())
    found = microagg.evaluate(before, after, recipe, aligned=True)
    # n: every value moves by one deviation; o: one of four by two deviations; c: one changed, one no longer missing.
    assert found["D_X"].value == pytest.approx((1.0 + 4.0 / 4 + 2.0 / 4) / 3)


def test_a_taxonomy_gives_semantic_distances():
    tree = {"clerk": "office", "boss": "office", "farmer": "field", "office": "work", "field": "work"}
    before, after = pa.table({"c": ["clerk", "farmer"]}), pa.table({"c": ["boss", "clerk"]})
    found = microagg.evaluate(before, after, small_recipe(c=nominal(taxonomy=tree)), aligned=True)
    assert found["D_X"].value == pytest.approx((np.log2(1.5) + np.log2(1.8)) / 2)


def test_dependence_and_diversity_agree_with_plain_loops(survey):
    recipe = Recipe(k=4, output={"order": "kept"}, attributes=SURVEY)
    made = microagg.release(survey, recipe)
    found = microagg.evaluate(survey, made.table, recipe, lambda_=0.25)
    pay = survey["pay"].to_numpy()
    pay = (pay - pay.mean()) / pay.std()
    combos = list(zip(*(made.table[name].to_pylist() for name in ("x", "c")), strict=True))
    cells = [np.array([combo == one for one in combos]) for combo in set(combos)]
    d_y = sum(((pay[cell] - pay[cell].mean()) ** 2).sum() for cell in cells) / len(pay)
    assert found["D_Y"].value == pytest.approx(d_y)
    assert found["l_avg"].value == pytest.approx(np.mean([len(set(np.floor(pay[cell] / 0.2))) for cell in cells]))
    assert found["distinct_l_min"].value == min(len(set(pay[cell])) for cell in cells)
    assert found["D"].value == pytest.approx(0.75 * found["D_X"].value + 0.25 * d_y)
    assert found["distance_linkage"].value <= 1 / 4
    assert found["distance_linkage_by_chance"].value == pytest.approx(1 / 120)


def test_linkage_agrees_with_all_distances():
    rng = np.random.default_rng(2)
    before = rng.normal(size=(60, 3)) * [1, 10, 100]
    after = before + rng.normal(size=(60, 3)) * [1, 10, 100] * 0.7
    tables = [pa.table({f"v{j}": values[:, j] for j in range(3)}) for values in (before, after)]
    found = microagg.evaluate(*tables, small_recipe(v0=numeric(), v1=numeric(), v2=numeric()), aligned=True)
    a, b = ((values - values.mean(0)) / values.std(0) for values in (before, after))
    nearest = ((a[:, None] - b[None]) ** 2).sum(-1).argmin(0)
    share = (nearest == np.arange(60)).mean()
    assert found["distance_linkage"].value == pytest.approx(share)
    assert 0.05 < share < 0.95


def test_a_shuffled_release_gets_no_nonsense(survey):
    recipe = Recipe(k=4, attributes=SURVEY)
    found = microagg.evaluate(survey, microagg.release(survey, recipe).table, recipe)
    for name in ("D_X", "D", "distance_linkage"):
        assert found[name].value is None
        assert 'order = "kept"' in found[name].note
    assert found["D_Y"].value > 0
    kept = microagg.evaluate(survey, survey, recipe)
    assert kept["D_X"].value == 0.0


def test_rows_that_cannot_be_told_apart_must_be_declared():
    table = pa.table({"x": [1.0, 2.0, 3.0, 4.0], "pay": [5.0, 5.0, 5.0, 5.0]})
    recipe = small_recipe(x=numeric(), pay=PAY)
    assert "say aligned" in microagg.evaluate(table, table, recipe)["D_X"].note
    assert "caller says" in microagg.evaluate(table, table, recipe, aligned=False)["D_X"].note
    assert microagg.evaluate(table, table, recipe, aligned=True)["D_X"].value == 0.0
    with pytest.raises(ParameterError, match="4 and 3 records"):
        microagg.evaluate(table, table.slice(1), recipe, aligned=True)


def test_without_cells_or_kinds_nothing_is_claimed(survey):
    recipe = Recipe(k=4, attributes=SURVEY)
    found = microagg.evaluate(survey, survey, recipe)
    assert found["l_avg"].value is None
    assert "120 of 120 records have a combination" in found["l_avg"].note
    bare = Recipe(k=4, output={"order": "kept"}, attributes=SURVEY | {"pay": "confidential"})
    found = microagg.evaluate(survey, microagg.release(survey, bare).table, bare)
    assert found["D_Y"].value is None
    assert "without column 'pay': no kind is declared" in found["D_Y"].note


@pytest.mark.parametrize("kind", ["pyarrow", "pandas", "polars"])
def test_an_evaluation_is_a_table_of_any_library(survey, kind):
    need(kind)
    found = microagg.evaluate(survey, survey, Recipe(k=4, attributes=SURVEY), measures=["SSE"], aligned=True)
    column = found.as_frame(kind)["name"]
    assert list(column.to_pylist() if kind == "pyarrow" else column) == [measure.name for measure in found]


def test_an_evaluation_is_json_and_told_in_ranges(survey):
    recipe = Recipe(k=4, attributes=SURVEY)
    found = microagg.evaluate(survey, microagg.release(survey, recipe).table, recipe)
    content = json.loads(found.as_json())
    assert list(content) == [measure.name for measure in found]
    assert content["l_avg"]["better"] == "higher"
    for measure in found:
        in_range = measure.value is None or (measure.low or 0) <= measure.value <= (measure.high or np.inf)
        assert in_range, measure.name
        assert measure.seconds >= 0
    with pytest.raises(KeyError, match="there are: D_X"):
        found["no"]
    with pytest.raises(ParameterError, match="kind must be one of"):
        found.as_frame("csv")


def test_tables_of_any_library_and_another_tools_types_are_taken(constructor):
    data = {"x": [1, 2, 3, 4, 5, 6], "pay": [1.5, 2.5, 3.5, 4.5, 6.5, 8.5]}
    before = constructor(data)
    after = constructor({**data, "x": [1.5, 1.5, 3.5, 3.5, 5.5, 5.5]})
    found = microagg.evaluate(before, after, small_recipe(x=numeric(), pay=PAY), aligned=True)
    assert found["D_X"].value == pytest.approx(0.25 / (35 / 12))


def test_bad_input_is_explained(survey):
    recipe = Recipe(k=4, attributes=SURVEY)
    with pytest.raises(TableError, match="the released table lacks the quasi-identifiers column 'c'"):
        microagg.evaluate(survey, survey.drop_columns(["c"]), recipe)
    flags = survey.set_column(0, "x", pa.array([True] * 120))
    with pytest.raises(TableError, match="column 'x' cannot be compared"):
        microagg.evaluate(survey, flags, recipe)
    with pytest.raises(ParameterError, match="schema must be"):
        microagg.evaluate(survey, survey, {"x": "identifier"})
    with pytest.raises(ParameterError, match="parameter of evaluate must be a finite number"):
        microagg.evaluate(survey, survey, recipe, lambda_=2)
    with pytest.raises(ParameterError, match="target and test belong together"):
        microagg.evaluate(survey, survey, recipe, target="pay")
