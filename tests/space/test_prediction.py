"""Predictions as coordinates: no record's own label shapes its own."""

from __future__ import annotations

import numpy as np
import pytest
from sklearn.tree import DecisionTreeClassifier, DecisionTreeRegressor

from microagg.space.prediction import cross_fitted, prediction_space


@pytest.fixture(name="X")
def points():
    return np.random.default_rng(0).normal(size=(120, 3))


def test_no_record_s_own_label_shapes_its_own_coordinate(X):
    rng = np.random.default_rng(1)
    y = (X[:, 0] + rng.normal(size=120) > 0).astype(float)
    # A full tree repeats every label it was trained on: the hardest model to keep out of fold.
    tree = DecisionTreeClassifier(random_state=0)
    before = cross_fitted(X, y, classes=True, model=tree)
    moved_others = 0
    for record in range(0, 120, 10):
        flipped = y.copy()
        flipped[record] = 1 - flipped[record]
        after = cross_fitted(X, flipped, classes=True, model=tree)
        np.testing.assert_array_equal(after[record], before[record])
        moved_others += int((after != before).any())
    assert moved_others > 0  # labels do matter, to other records
    assert (tree.fit(X, y).predict(X) == y).all()
    assert ((before[:, 0] > 0.5) == y).mean() < 0.95


def test_predictions_find_what_no_straight_line_does(X):
    y = (X[:, 0] * X[:, 1] > 0).astype(float)
    predicted = cross_fitted(
        X.repeat(4, axis=0) + np.random.default_rng(2).normal(size=(480, 3)) / 50, y.repeat(4), classes=True
    )
    assert predicted.shape == (480, 1)
    assert ((predicted[:, 0] > 0.5) == y.repeat(4)).mean() > 0.9


def test_classes_numbers_and_unknown_labels(X):
    three = np.digitize(X[:, 0], [-0.5, 0.5]).astype(float)
    tree = DecisionTreeClassifier(max_depth=2)
    probabilities = cross_fitted(X, three, classes=True, model=tree)
    assert probabilities.shape == (120, 3)
    np.testing.assert_allclose(probabilities.sum(axis=1), 1.0)
    numbers = cross_fitted(X, 2 * X[:, 0], classes=False, model=DecisionTreeRegressor())
    assert np.corrcoef(numbers[:, 0], X[:, 0])[0, 1] > 0.9
    unknown = three.copy()
    unknown[:60] = np.nan
    assert np.isfinite(cross_fitted(X, unknown, classes=True, model=tree)).all()


def test_a_class_of_one_record_is_no_obstacle(X):
    y = np.zeros(120)
    y[5] = 1.0
    y[6] = 2.0
    predicted = cross_fitted(X, y, classes=True, model=DecisionTreeClassifier())
    assert predicted.shape == (120, 3)
    assert np.isfinite(predicted).all()


@pytest.mark.parametrize("weight", [0.5, 2.0])
def test_the_weight_is_against_all_quasi_identifiers_together(X, weight):
    X = (X - X.mean(0)) / X.std(0)
    rng = np.random.default_rng(1)
    predictions = [rng.normal(size=(120, 1)) * 100, rng.dirichlet([1, 1, 1], 120)]
    space = prediction_space(X, predictions, weight, m_x=3)
    variances = space.var(axis=0)
    assert variances[:3].sum() == pytest.approx(3.0)
    assert variances[3:].sum() == pytest.approx(3.0 * weight)
    assert variances[3] == pytest.approx(variances[4:].sum())


def test_a_prediction_that_says_nothing_adds_nothing(X):
    space = prediction_space(X, [np.full((120, 1), 0.3)], 1.0, m_x=3)
    np.testing.assert_array_equal(space[:, 3], np.zeros(120))
