"""A model of labels: what it expects of each draw, and how labels and expectations are compared."""

from __future__ import annotations

from collections.abc import Sequence
from dataclasses import dataclass
from typing import Any

import numpy as np

from microagg._scaling import near_one
from microagg._threads import threads_for
from microagg._typing import BoolArray, FloatArray, IntArray
from microagg.aggregate.units import records_of_units

__all__ = ["LabelModel", "calibrated", "fit_labels"]


_ROUNDS = 200  # of boosting
_LEAVES = 8  # of a tree
_SMALLEST_LEAF = 20  # where k is less
_MOST_CATEGORIES = 255  # that the model can tell apart
_LEAST_VARIANCE = 1e-6
_LEAST_PROBABILITY = 1e-6
_RAKES = 100
_CLOSE = 1e-3  # of a label, over a whole cell


@dataclass(frozen=True)
class LabelModel:
    """What a label is, as one or several terms, and a model that expects them.

    Attributes
    ----------
    labels : ndarray of shape (n_records, n_terms)
        Of classes 1 for the record's own and 0 for others, without the first of two; a number in standard deviations.
        0 where unknown.
    known : ndarray of bool, shape (n_records,)
    classes : bool
    weight : float
        One over the variance of what the model cannot tell, over all terms.
    """

    labels: FloatArray
    known: BoolArray
    classes: bool
    weight: float
    _fitted: Any
    _columns: IntArray  # of the attributes that it learned from; categories first, as scikit-learn puts them

    def expected(self, X: FloatArray) -> FloatArray:
        """What the model expects at each point, of shape (n_points, n_terms)."""
        X = X[:, self._columns]
        with threads_for(len(X)):
            if not self.classes:
                return np.asarray(self._fitted.predict(X), dtype=np.float64)[:, None]
            odds = np.asarray(self._fitted.predict_proba(X), dtype=np.float64)
        return odds[:, 1:] if odds.shape[1] == 2 else odds

    def log_likelihood(self, expected: FloatArray) -> tuple[FloatArray, FloatArray]:
        """How well draws fit labels, as :func:`microagg.aggregate.pairing.odds_of_a_model` gives it.

        Classes have the probabilities that are expected; numbers are taken as normal around what is expected.
        """
        if not self.classes:
            wanted = np.column_stack([self.labels[:, 0], np.full(len(self.labels), -0.5)]) * self.weight
            wanted[~self.known] = 0.0
            return wanted, np.column_stack([expected[:, 0], expected[:, 0] ** 2])
        wanted = self.labels.copy()
        if wanted.shape[1] == 1:
            wanted, expected = (np.column_stack([1.0 - one, one]) for one in (wanted, expected))
        wanted[~self.known] = 0.0
        return wanted, np.log(np.maximum(expected, _LEAST_PROBABILITY))

    def cuts(self, column: int) -> FloatArray | None:
        """Where the model's trees cut a number, sorted; None if the library does not tell."""
        if column not in self._columns:
            return np.empty(0)
        place = int(np.flatnonzero(self._columns == column)[0])
        try:
            nodes = np.concatenate([tree.nodes for round_ in self._fitted._predictors for tree in round_])
            cut = nodes["num_threshold"][(nodes["is_leaf"] == 0) & (nodes["feature_idx"] == place)]
        except (AttributeError, ValueError, IndexError):  # scikit-learn's own: it may move
            return None
        return np.unique(cut)


def fit_labels(
    X: FloatArray,
    y: FloatArray,
    k: int,
    *,
    classes: bool,
    n_categories: Sequence[int] = (),
    units: IntArray | None = None,
) -> LabelModel | None:
    """Fit a gradient boosting model of many small trees, every leaf of which holds at least k records.

    Parameters
    ----------
    X : ndarray of shape (n_records, n_attributes)
        Numbers, ranks and codes of the original records; NaN is missing.
    y : ndarray of shape (n_records,)
        Codes of classes, or numbers; NaN where unknown: such records teach nothing.
    k : int
    classes : bool
    n_categories : sequence of int, optional
        For each attribute the number of its codes, 0 of numbers and ranks.
    units : ndarray of shape (n_records,), optional
        Whose each record is: every leaf then holds labelled records of at least k units.

    Returns
    -------
    LabelModel or None
        None if there is nothing to learn: one label only, or no attribute that any labelled record has; and if fewer
        than k records have a label, as no leaf could then hold k of them. With `units`, k stands for the records that
        are sure to be of k units (:func:`microagg.aggregate.units.records_of_units`).
    """
    from sklearn.ensemble import HistGradientBoostingClassifier, HistGradientBoostingRegressor

    known = ~np.isnan(y)
    least = records_of_units(None if units is None else units[known], k)
    found, codes = np.unique(y[known], return_inverse=True)
    telling = np.asarray(~np.isnan(X[known]).all(axis=0))
    if int(known.sum()) < least or len(found) < 2 or not telling.any():
        return None
    counts = np.array([*n_categories] or [0] * X.shape[1])
    is_category = (counts > 0) & (counts <= _MOST_CATEGORIES)
    columns = np.flatnonzero(telling)
    columns = columns[np.argsort(~is_category[columns], kind="stable")]
    options: dict[str, Any] = {
        "random_state": 0,
        "early_stopping": False,
        "max_iter": _ROUNDS,
        "max_leaf_nodes": _LEAVES,
        "min_samples_leaf": max(least, _SMALLEST_LEAF),
        "categorical_features": list(range(int(is_category[columns].sum()))),
    }
    rows = X[known][:, columns]
    with threads_for(len(X)):
        if classes:
            labels = np.zeros((len(X), len(found)))
            labels[np.flatnonzero(known), codes] = 1.0
            labels = labels[:, 1:] if len(found) == 2 else labels
            fitted: Any = HistGradientBoostingClassifier(**options).fit(rows, codes)
        else:
            numbers = near_one(y)
            centre, width = float(numbers[known].mean()), float(numbers[known].std())
            labels = np.where(known, (numbers - centre) / width, 0.0)[:, None]
            fitted = HistGradientBoostingRegressor(**options).fit(rows, labels[known, 0])
    model = LabelModel(labels, known, classes, 1.0, fitted, columns)
    unexplained = ((labels[known] - model.expected(X[known])) ** 2).sum(axis=1).mean()
    return LabelModel(labels, known, classes, 1.0 / max(float(unexplained), _LEAST_VARIANCE), fitted, columns)


def calibrated(odds: FloatArray, model: LabelModel, labels: IntArray) -> FloatArray:
    """Expectations at the draws of each cell, shifted so that their sum is that of the cell's labels.

    Parameters
    ----------
    odds : ndarray of shape (n_draws, n_terms)
        As the model expects them; draw j is for the cell of record j.
    model : LabelModel
    labels : ndarray of shape (n_draws,)
        The cell of each record.
    """
    n_cells = int(labels.max()) + 1
    known = np.bincount(labels, weights=model.known, minlength=n_cells)
    share = np.bincount(labels, minlength=n_cells) / np.maximum(known, 1.0)
    due = (
        np.column_stack([np.bincount(labels, weights=one, minlength=n_cells) for one in model.labels.T])
        * share[:, None]
    )
    unknown = known == 0
    if not model.classes:
        off = due[:, 0] - np.bincount(labels, weights=odds[:, 0], minlength=n_cells)
        off[unknown] = 0.0
        return odds + (off / np.bincount(labels, minlength=n_cells))[labels][:, None]
    two = odds.shape[1] == 1
    if two:
        odds = np.column_stack([1.0 - odds, odds])
        due = np.column_stack([np.bincount(labels, minlength=n_cells) - due[:, 0], due[:, 0]])
    odds = np.maximum(odds, _LEAST_PROBABILITY)
    result = odds / odds.sum(axis=1, keepdims=True)
    factors = np.ones_like(due)
    for _ in range(_RAKES):
        now = np.column_stack([np.bincount(labels, weights=one, minlength=n_cells) for one in result.T])
        if np.abs(now - due)[~unknown].max(initial=0.0) < _CLOSE:
            break
        factors *= np.divide(due, now, out=np.zeros_like(due), where=now > 0)
        factors[unknown] = 1.0
        factors /= np.maximum(factors.max(axis=1, keepdims=True), 1e-300)
        result = odds * factors[labels]
        result /= result.sum(axis=1, keepdims=True)
    calibrated_odds: FloatArray = result[:, 1:] if two else result
    return calibrated_odds
