"""Prediction: append to each record what a model, trained on other records, expects of its label."""

from __future__ import annotations

from collections.abc import Sequence
from typing import Any

import numpy as np

from microagg._threads import threads_for
from microagg._typing import FloatArray

__all__ = ["FOLDS", "cross_fitted", "prediction_space"]


FOLDS = 5


def cross_fitted(X: FloatArray, y: FloatArray, *, classes: bool, folds: int = FOLDS, model: Any = None) -> FloatArray:
    """Estimate E[Y | x] for each record by a model that was trained without it.

    Parameters
    ----------
    X : ndarray of shape (n_records, n_coordinates)
    y : ndarray of shape (n_records,)
        Codes of classes, or numbers; NaN where unknown: such records are predicted but teach nothing.
    classes : bool
        Whether `y` holds classes: the prediction is then the probability of each.
    folds : int >= 2
        Records are dealt into so many folds by their place alone; each fold is predicted from the others.
    model : scikit-learn estimator, optional
        With ``predict_proba`` (classes) or ``predict``; default: histogram gradient boosting.

    Returns
    -------
    ndarray of shape (n_records, n_columns)
        One column for numbers and for two classes; for L > 2 classes one per class.

    Notes
    -----
    A record's own label shapes no model that predicts it: not even the folds depend on labels. So the coordinate tells
    of the record's x, not of its y.
    """
    from sklearn.base import clone
    from sklearn.ensemble import HistGradientBoostingClassifier, HistGradientBoostingRegressor

    if model is None:
        default = HistGradientBoostingClassifier if classes else HistGradientBoostingRegressor
        model = default(random_state=0, early_stopping=False)
    labelled = ~np.isnan(y)
    found = np.unique(y[labelled])
    columns = len(found) if classes else 1
    predicted = np.zeros((len(X), columns))
    fold_of = np.random.default_rng(0).permutation(len(X)) % folds
    with threads_for(len(X)):
        for fold in range(folds):
            inside = fold_of == fold
            train = labelled & ~inside
            if not inside.any() or not train.any():
                continue
            if not classes:
                predicted[inside, 0] = clone(model).fit(X[train], y[train]).predict(X[inside])
                continue
            known = np.unique(y[train])
            places = np.searchsorted(found, known)
            if len(known) == 1:
                predicted[np.ix_(inside, places)] = 1.0
                continue
            predicted[np.ix_(inside, places)] = clone(model).fit(X[train], y[train]).predict_proba(X[inside])
    return predicted[:, 1:] if classes and columns == 2 else predicted


def prediction_space(X: FloatArray, predictions: Sequence[FloatArray], weight: float, *, m_x: int) -> FloatArray:
    """Append predictions to the quasi-identifiers.

    Cells formed on (x, E[Y | x]) keep records together that a model would treat alike: the discriminant without the
    straight line. The dependence paper points at it [1]_; out-of-fold estimates make it usable.

    Parameters
    ----------
    X : ndarray of shape (n_records, n_coordinates)
        The quasi-identifiers, standardised.
    predictions : sequence of ndarray of shape (n_records, n_columns)
        One per target, as :func:`cross_fitted` gives them.
    weight : float > 0
        How much all predictions together count beside all quasi-identifiers together: with 1 as much. It plays the part
        of ``lambda / (1 - lambda)`` in :mod:`microagg.space.dependence`.
    m_x : int
        The number of quasi-identifiers.

    References
    ----------
    .. [1] Rebollo-Monedero, D. et al. k-Anonymous microaggregation with preservation of statistical dependence.
       Information Sciences 342 (2016), 1-23.

    Examples
    --------
    >>> prediction_space(np.array([[0.0], [1.0]]), [np.array([[0.2], [0.4]])], 4.0, m_x=1)
    array([[ 0., -2.],
           [ 1.,  2.]])
    """
    factor = np.sqrt(weight * m_x / len(predictions))
    return np.ascontiguousarray(np.hstack([X, *(factor * _unit_variance(columns) for columns in predictions)]))


def _unit_variance(columns: FloatArray) -> FloatArray:
    """Centred, with a total variance of 1, as one standardised attribute has; constant columns become 0."""
    shifted = columns - columns[0]  # exactly 0 where a column is constant
    centred = shifted - shifted.mean(axis=0)
    deviation = float(np.sqrt((centred**2).sum(axis=1).mean()))
    scaled: FloatArray = centred / deviation if deviation > 0 else centred
    return scaled
