"""Draws dealt to the records of their cell: by chance, with the odds of a model of at least k records in a leaf."""

from __future__ import annotations

import numpy as np
import pytest

from microagg._random import uniforms_from
from microagg.aggregate.centroid import Cells
from microagg.aggregate.pairing import odds_of_a_model, pair_draws


def test_draws_stay_in_their_cell_and_each_goes_to_one_record():
    rng = np.random.default_rng(0)
    labels = np.concatenate([np.arange(7), rng.integers(0, 7, 200)])  # cells of different sizes, in no order
    wanted, offered = rng.normal(size=(2, 207, 3))
    dealt = pair_draws(wanted, offered, Cells(labels), uniforms_from(1))
    np.testing.assert_array_equal(np.sort(dealt), np.arange(207))
    np.testing.assert_array_equal(labels[dealt], labels)
    assert (dealt != np.arange(207)).mean() > 0.5


def test_dealings_have_the_probability_of_their_labels():
    """Of three draws for labels yes, no, no, the one that gets "yes" is chosen with odds p / (1 - p)."""
    p = np.array([0.2, 0.5, 0.9])
    cells = 20_000
    labels = np.repeat(np.arange(cells), 3)
    wanted = np.tile([[0.0, 1.0], [1.0, 0.0], [1.0, 0.0]], (cells, 1))
    offered = np.tile(np.log(np.column_stack([1 - p, p])), (cells, 1))
    dealt = pair_draws(wanted, offered, Cells(labels), uniforms_from(2))
    shares = np.bincount(dealt[::3] % 3) / cells
    odds = p / (1 - p)
    # The standard error is at most 0.33 / sqrt(20000) = 0.0023: false alarm below 1e-4 per share; the seed is fixed.
    np.testing.assert_allclose(shares, odds / odds.sum(), atol=0.01)


def test_without_odds_dealing_is_chance():
    labels = np.repeat(np.arange(5000), 4)
    nothing = np.zeros((20_000, 1))
    dealt = pair_draws(nothing, nothing, Cells(labels), uniforms_from(3))
    # Each of the four draws of a cell is as likely for its first record; the standard error is 0.006, the seed fixed.
    np.testing.assert_allclose(np.bincount(dealt[::4] % 4) / 5000, 0.25, atol=0.03)


def test_a_number_is_dealt_to_the_draw_that_expects_it():
    rng = np.random.default_rng(4)
    X = rng.uniform(-1, 1, size=(2000, 1))
    y = 1e6 + 1e3 * X[:, 0] + 100 * rng.normal(size=2000)
    drawn = rng.uniform(-1, 1, size=(2000, 1))
    wanted, offered = odds_of_a_model(X, y, drawn, 50, classes=False)
    dealt = pair_draws(wanted, offered, Cells(np.arange(2000) % 20), uniforms_from(5))
    assert abs(np.corrcoef(drawn[:, 0], y)[0, 1]) < 0.1
    # The original correlation is 577 / sqrt(577^2 + 100^2) = 0.985.
    assert 0.95 < np.corrcoef(drawn[dealt, 0], y)[0, 1] < 0.99


def test_codes_are_no_numbers_and_unknown_labels_fit_anywhere():
    rng = np.random.default_rng(6)
    codes = rng.integers(0, 6, 3000).astype(float)
    y = np.isin(codes, [0.0, 3.0, 4.0]).astype(float) * 2  # classes 0 and 2
    unknown = np.arange(3000) % 10 == 0
    labels = np.where(unknown, np.nan, y)
    wanted, offered = odds_of_a_model(
        codes[:, None], labels, np.arange(6.0)[:, None], 100, classes=True, n_categories=[6]
    )
    assert (wanted[unknown] == 0).all()
    np.testing.assert_array_equal(offered.argmax(axis=1), [1, 0, 0, 1, 1, 0])
    numbers = np.where(unknown, np.nan, codes)
    wanted, _ = odds_of_a_model(codes[:, None], numbers, codes[:, None], 100, classes=False)
    assert (wanted[unknown] == 0).all()
    assert np.isfinite(wanted).all()


@pytest.mark.parametrize("classes", [True, False])
@pytest.mark.parametrize("k", [5, 60])
def test_every_leaf_of_the_model_holds_at_least_k_records(monkeypatch, classes, k):
    """What the statement says of the model."""
    import sklearn.ensemble

    name = "HistGradientBoostingClassifier" if classes else "HistGradientBoostingRegressor"
    fitted = []

    class Spied(getattr(sklearn.ensemble, name)):
        def fit(self, *data):
            fitted.append(self)
            return super().fit(*data)

    monkeypatch.setattr(sklearn.ensemble, name, Spied)
    rng = np.random.default_rng(7)
    X = np.column_stack([rng.normal(size=700), rng.integers(0, 9, 700)])
    y = (X[:, 0] * (X[:, 1] - 4) > 0).astype(float)
    odds_of_a_model(X, y, X, k, classes=classes, n_categories=[0, 9])
    (model,) = fitted
    leaves = [node["count"] for trees in model._predictors for tree in trees for node in tree.nodes if node["is_leaf"]]
    assert len(leaves) > 50  # trees were split at all
    assert min(leaves) >= k


def test_a_label_that_never_varies_says_nothing():
    X = np.zeros((10, 1))
    for y in (np.ones(10), np.full(10, np.nan)):
        wanted, offered = odds_of_a_model(X, y, X, 2, classes=True)
        assert not wanted.any()
        assert not offered.any()
