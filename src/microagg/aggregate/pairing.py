"""Which of a cell's draws stands beside which of its records: by chance, with the odds of a model."""

from __future__ import annotations

from collections.abc import Sequence
from typing import Any

import numpy as np

from microagg._scaling import near_one
from microagg._threads import threads_for
from microagg._typing import FloatArray, IntArray
from microagg.aggregate.centroid import Cells
from microagg.aggregate.sampling import Uniforms
from microagg.aggregate.units import records_of_units

__all__ = ["odds_of_a_model", "pair_draws"]


_SMALLEST_LEAF = 20  # of the model, where k is less
_ROUNDS = 50  # of boosting
_MEETINGS = (50, 200)  # of a record with others of its cell: at least, at most
_MOST_CATEGORIES = 255  # that the model can tell apart
_LEAST_PROBABILITY = 1e-6


def odds_of_a_model(
    X: FloatArray,
    y: FloatArray,
    drawn: FloatArray,
    k: int,
    *,
    classes: bool,
    n_categories: Sequence[int] = (),
    units: IntArray | None = None,
) -> tuple[FloatArray, FloatArray]:
    """How well each draw fits each record's label, as a product of two matrices.

    Parameters
    ----------
    X : ndarray of shape (n_records, n_attributes)
        Numbers, ranks and codes of the original records; NaN is missing.
    y : ndarray of shape (n_records,)
        Codes of classes, or numbers; NaN where unknown: such records teach nothing and fit any draw.
    drawn : ndarray of shape (n_draws, n_attributes)
        On the scales of `X`.
    k : int
        Every leaf of every tree of the model holds at least this many records.
    classes : bool
        Whether `y` holds classes.
    n_categories : sequence of int, optional
        For each attribute the number of its codes, 0 of numbers and ranks; default: no codes.
    units : ndarray of shape (n_records,), optional
        Whose each record is: every leaf then holds records of at least k units.

    Returns
    -------
    wanted : ndarray of shape (n_records, n_terms)
    offered : ndarray of shape (n_draws, n_terms)
        ``wanted[i] @ offered[j]`` is the log-likelihood of the label of record i at draw j, up to terms of i alone.

    Notes
    -----
    Classes have the model's probabilities; numbers are taken as normal around its prediction, with the variance of its
    residuals. Codes beyond 255 are taken as numbers.
    """
    from sklearn.ensemble import HistGradientBoostingClassifier, HistGradientBoostingRegressor

    known = ~np.isnan(y)
    least = records_of_units(None if units is None else units[known], k)
    found, codes = np.unique(y[known], return_inverse=True)
    if int(known.sum()) < least or len(found) < 2:
        return np.zeros((len(X), 1)), np.zeros((len(drawn), 1))
    telling = np.asarray(~np.isnan(X[known]).all(axis=0))  # a model learns nothing of an attribute that nobody has
    if not telling.any():
        return np.zeros((len(X), 1)), np.zeros((len(drawn), 1))
    X, drawn = X[:, telling], drawn[:, telling]
    n_categories = [count for count, is_telling in zip(n_categories, telling, strict=False) if is_telling]
    options: dict[str, Any] = {
        "random_state": 0,
        "early_stopping": False,
        "max_iter": _ROUNDS,
        "min_samples_leaf": max(least, _SMALLEST_LEAF),
        "categorical_features": [j for j, count in enumerate(n_categories) if 0 < count <= _MOST_CATEGORIES],
    }
    with threads_for(len(X)):
        if classes:
            classifier = HistGradientBoostingClassifier(**options).fit(X[known], codes)
            wanted = np.zeros((len(X), len(found)))
            wanted[np.flatnonzero(known), codes] = 1.0
            return wanted, np.log(np.maximum(classifier.predict_proba(drawn), _LEAST_PROBABILITY))
        y = near_one(y)
        centre, width = float(y[known].mean()), float(y[known].std())
        numbers = (y - centre) / width
        regressor = HistGradientBoostingRegressor(**options).fit(X[known], numbers[known])
        variance = float(((numbers[known] - regressor.predict(X[known])) ** 2).mean())
        expected = regressor.predict(drawn)
    # The square of (number - expected), without the part that is the record's alone.
    wanted = np.column_stack([numbers, np.full(len(X), -0.5)]) / max(variance, _LEAST_PROBABILITY)
    wanted[~known] = 0.0
    return wanted, np.column_stack([expected, expected**2])


def pair_draws(wanted: FloatArray, offered: FloatArray, cells: Cells, uniforms: Uniforms) -> IntArray:
    """Deal the draws of each cell to its records, so that likely pairs are likely.

    Parameters
    ----------
    wanted, offered : ndarray of shape (n_records, n_terms)
        As :func:`odds_of_a_model` gives them; draw j was made for a record of the cell of record j.
    cells : Cells
    uniforms : callable
        The source of chance.

    Returns
    -------
    ndarray of shape (n_records,)
        The draw of each record; of its own cell, and each draw of one record.

    Notes
    -----
    A dealing has the probability of its labels given its draws, as the model sees them: records meet in pairs and swap
    draws with the odds of the two ways (a Gibbs sampler). In one round the places p and s - p of a cell meet, so over
    all s each pair does. Each record meets every other of its cell at least twice, or 200 of them. What is dealt is
    what was drawn: no record's own quasi-identifiers are looked at, and the draws and labels of a cell stay the same as
    a whole.

    Examples
    --------
    >>> wanted = np.array([[1.0, 0.0], [0.0, 1.0]])
    >>> offered = np.log([[0.001, 0.999], [0.999, 0.001]])
    >>> pair_draws(wanted, offered, Cells(np.array([0, 0])), np.random.default_rng(0).random)
    array([1, 0])
    """
    from scipy.special import logit

    dealt = np.arange(len(wanted))
    starts, sizes = (of_cell[cells.labels[cells.order]] for of_cell in (cells.starts, cells.sizes))
    places = np.arange(len(wanted)) - starts
    for meeting in range(int(np.clip(2 * cells.sizes.max(), *_MEETINGS))):
        others = (meeting - places) % sizes
        meets = places < others  # each pair once; who meets themself does nothing
        first, second = cells.order[meets], cells.order[(starts + others)[meets]]
        gain = ((wanted[first] - wanted[second]) * (offered[dealt[second]] - offered[dealt[first]])).sum(axis=1)
        swap = logit(uniforms(len(gain))) < gain
        first, second = first[swap], second[swap]
        dealt[first], dealt[second] = dealt[second], dealt[first]
    return dealt
