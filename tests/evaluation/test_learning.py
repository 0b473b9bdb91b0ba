"""Models trained on a release and tested on records that had no part in it."""

from __future__ import annotations

import numpy as np
import pyarrow as pa
import pytest
from sklearn.tree import DecisionTreeClassifier

import microagg
from declarations import nominal, numeric
from microagg import Recipe
from microagg.errors import ParameterError, TableError
from microagg.evaluation.learning import repeated_splits

ATTRIBUTES = {
    "x": numeric(),
    "c": nominal(),
    "label": {"role": "confidential", "kind": "nominal"},
    "pay": {"role": "confidential", "kind": "numeric"},
}
RECIPE = Recipe(k=5, attributes=ATTRIBUTES)


def people(n, seed):
    rng = np.random.default_rng(seed)
    x, c = rng.normal(size=n), rng.choice(["a", "b"], n)
    label = np.where((x > 0) ^ (c == "a"), "yes", "no")
    return pa.table({"x": x, "c": c, "label": label, "pay": 2 * x + (c == "a")})


def test_a_model_is_trained_on_the_release_and_tested_on_untouched_records():
    before, test = people(300, 1), people(200, 2)
    released = microagg.release(before, RECIPE).table
    tree = DecisionTreeClassifier(random_state=0)
    found = microagg.evaluate(before, released, RECIPE, target="label", test=test, model=tree)
    assert found["accuracy"].value > 0.9
    assert found["accuracy_unprotected"].value > 0.97
    # Released quasi-identifiers that say nothing must teach nothing: the scores are of the release, not the original.
    blank = released.set_column(0, "x", pa.array(np.zeros(300)))
    blank = blank.set_column(1, "c", pa.array(["a"] * 300))
    poor = microagg.evaluate(before, blank, RECIPE, target="label", test=test, model=tree)
    assert poor["accuracy"].value < 0.65
    assert poor["f_measure"].value < poor["f_measure_unprotected"].value


def test_numbers_are_predicted_too_and_a_linear_model_can_be_asked_for():
    before, test = people(300, 1), people(200, 2)
    released = microagg.release(before, RECIPE).table
    found = microagg.evaluate(before, released, RECIPE, target="pay", test=test, model="logistic_regression")
    assert found["r_squared"].value > 0.95
    assert found["r_squared_unprotected"].value == pytest.approx(1.0)


def test_splits_are_repeated_paired_and_keep_test_records_out():
    table = people(200, 3)
    seen = []

    def make_release(part):
        seen.append(part["pay"].to_numpy())
        return microagg.release(part, RECIPE).table

    found = repeated_splits(table, RECIPE.schema, "label", make_release, n_splits=3, model=DecisionTreeClassifier())
    assert [len(part) for part in seen] == [150] * 3
    assert not np.array_equal(seen[0], seen[1])
    assert found.of("accuracy").shape == found.of("accuracy", "original").shape == (3,)
    assert (found.of("accuracy", "original") >= 0.9).all()
    again = repeated_splits(table, RECIPE.schema, "label", lambda part: part, n_splits=2)  # gradient boosting
    np.testing.assert_array_equal(again.of("accuracy"), again.of("accuracy", "original"))


def test_bad_requests_are_explained():
    table = people(50, 4)
    with pytest.raises(ParameterError, match=r"model must be one of .* Did you mean 'gradient_boosting'"):
        repeated_splits(table, RECIPE.schema, "label", lambda part: part, model="gradient_bosting")
    with pytest.raises(ParameterError, match=r"'lable' is not declared. Did you mean 'label'"):
        repeated_splits(table, RECIPE.schema, "lable", lambda part: part)
    with pytest.raises(ParameterError, match="n_splits must be"):
        repeated_splits(table, RECIPE.schema, "label", lambda part: part, n_splits=0)
    lone = table.set_column(2, "label", pa.array(["one"] + ["other"] * 49))
    with pytest.raises(TableError, match="1 classes with one record"):
        repeated_splits(lone, RECIPE.schema, "label", lambda part: part)
    lacking = table.set_column(2, "label", pa.array([None] * 4 + ["yes", "no"] * 23))
    with pytest.raises(TableError, match="has 4 missing values"):
        microagg.evaluate(table, table, RECIPE, target="label", test=lacking)
