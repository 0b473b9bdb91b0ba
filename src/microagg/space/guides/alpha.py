"""Choose alpha by cross-validation inside the data that is released, never on records kept for a test."""

from __future__ import annotations

from collections.abc import Callable
from dataclasses import dataclass

import numpy as np

from microagg._threads import threads_for
from microagg._typing import FloatArray, IntArray
from microagg.aggregate.centroid import Cells, cell_means
from microagg.space.discriminant import Discriminant

__all__ = ["ALPHAS", "ChosenAlpha", "choose_alpha", "smallest_table"]


ALPHAS = (1.0, 2.0, 4.0, 8.0, 16.0)
_FOLDS = 5


@dataclass(frozen=True)
class ChosenAlpha:
    """The alpha that was chosen, and the mean scores that it was chosen by (accuracy, or R squared of numbers)."""

    alpha: float
    scores: tuple[float, ...]


def smallest_table(k: int) -> int:
    """The fewest records of which the part without one fold still makes a cell of k.

    Examples
    --------
    >>> smallest_table(8)
    10
    """
    return -(-k * _FOLDS // (_FOLDS - 1))


def choose_alpha(
    X: FloatArray,
    y: FloatArray,
    form_cells: Callable[[FloatArray], IntArray],
    *,
    classes: bool,
    alphas: tuple[float, ...] = ALPHAS,
) -> ChosenAlpha:
    """The smallest alpha whose score is within one standard error of the best.

    Each fold is left out once: the others are put into cells in the stretched space, a gradient boosting model learns
    from the cells' means, and is scored on the fold as it is. Differences to alpha = 1 are paired by fold. One standard
    error is what chance alone makes of equal alphas; below it nothing speaks against the plain space.
    """
    scores = np.full((_FOLDS, len(alphas)), np.nan)
    fold_of = np.random.default_rng(0).permutation(len(X)) % _FOLDS
    labelled = ~np.isnan(y)
    for fold in range(_FOLDS):
        train, test = fold_of != fold, (fold_of == fold) & labelled
        for j, alpha in enumerate(alphas):
            fitted = Discriminant.fit(X[train], y[train], alpha, classes=classes)
            cells = Cells(form_cells(fitted.apply(X[train])))
            means = np.column_stack([cell_means(np.ascontiguousarray(column), cells) for column in X[train].T])
            known = labelled[train]
            scores[fold, j] = _score(means[cells.labels][known], y[train][known], X[test], y[test], classes)
    mean = scores.mean(axis=0)
    best = int(mean.argmax())
    for j, alpha in enumerate(alphas[: best + 1]):
        behind = scores[:, best] - scores[:, j]
        if j == best or behind.mean() <= behind.std(ddof=1) / np.sqrt(_FOLDS):
            return ChosenAlpha(alpha, tuple(float(value) for value in mean))
    raise AssertionError("the best alpha is among those tried")


def _score(X: FloatArray, y: FloatArray, X_test: FloatArray, y_test: FloatArray, classes: bool) -> float:
    from sklearn.ensemble import HistGradientBoostingClassifier, HistGradientBoostingRegressor

    if classes and len(np.unique(y)) < 2:
        return float((y_test == y[0]).mean())
    kind = HistGradientBoostingClassifier if classes else HistGradientBoostingRegressor
    with threads_for(len(X)):
        # Cells' means are few: small trees say what there is to say, in half the time.
        model = kind(random_state=0, early_stopping=False, max_iter=50, max_leaf_nodes=15)
        return float(model.fit(X, y).score(X_test, y_test))
