"""Ranked runs of a nominal attribute: a public order of categories, and centroids chosen by the exponential mechanism.

Distances between categories are those of the public taxonomy (the paper's equation 3), taken as whole numbers of 2^-20,
so that scores and their sensitivity are exact.
"""

from __future__ import annotations

import numpy as np

from microagg._typing import FloatArray, IntArray
from microagg.privacy.budget import Budget
from microagg.privacy.mechanism import select
from microagg.privacy.noise import Noise

__all__ = [
    "distance_counts",
    "marginality",
    "marginality_order",
    "noisy_run_centroids",
    "run_scores",
    "score_sensitivity",
]


STEP = 2.0**-20


def distance_counts(distances: FloatArray) -> IntArray:
    """Distances as whole numbers of 2^-20."""
    return np.rint(distances / STEP).astype(np.int64)


def marginality(distances: FloatArray) -> FloatArray:
    """How far each category lies from all others: the sum of its distances (equation 4).

    Examples
    --------
    >>> marginality(np.array([[0.0, 1.0, 1.0], [1.0, 0.0, 0.5], [1.0, 0.5, 0.0]]))
    array([2. , 1.5, 1.5])
    """
    total: FloatArray = distances.sum(axis=1)
    return total


def marginality_order(distances: FloatArray) -> IntArray:
    """A total order of the public categories: by distance to the most marginal one, by marginality, then as listed.

    Parameters
    ----------
    distances : ndarray of shape (n_categories, n_categories)
        Between the categories of the public domain, whether any record has them or not.

    Returns
    -------
    ndarray of shape (n_categories,)
        The categories in their order, the most marginal one first.

    Examples
    --------
    >>> marginality_order(np.array([[0.0, 0.2, 0.9], [0.2, 0.0, 0.8], [0.9, 0.8, 0.0]]))
    array([2, 1, 0])
    """
    counts = distance_counts(distances)
    marginal = counts.sum(axis=1)
    most = int(np.argmax(marginal))
    others_first = np.arange(len(counts)) != most  # a category at distance zero of the most marginal one comes after it
    return np.lexsort((np.arange(len(counts)), marginal, counts[most], others_first)).astype(np.int64)


def run_scores(places: IntArray, sizes: IntArray, distances: IntArray) -> IntArray:
    """Scores of every candidate in every run: minus the sum of distances to the run's records (minus equation 5's).

    Parameters
    ----------
    places : ndarray of shape (n_records,)
        Each record's place in the public order.
    sizes : ndarray of shape (n_runs,)
        Public sizes of the runs.
    distances : ndarray of int64, of shape (n_categories, n_candidates)
        Rows in the public order.

    Examples
    --------
    >>> run_scores(np.array([1, 0, 0, 1]), np.array([2, 2]), np.array([[0, 3], [3, 0]]))
    array([[ 0, -6],
           [-6,  0]])
    """
    ordered = np.sort(places)
    runs = np.repeat(np.arange(len(sizes)), sizes)
    counts = np.zeros((len(sizes), len(distances)), dtype=np.int64)
    np.add.at(counts, (runs, ordered), 1)
    scores: IntArray = -(counts @ distances)
    return scores


def score_sensitivity(distances: IntArray, n_runs: int) -> int:
    """The most that replacing one record changes the scores: over runs, the sum of the largest change of any score.

    Parameters
    ----------
    distances : ndarray of int64, of shape (n_categories, n_candidates)
        Rows in the public order.
    n_runs : int

    Notes
    -----
    Let ``s(a, b) = max_t |d(a, t) - d(b, t)|``, a distance between categories as the candidates see them; it obeys
    the triangle inequality whatever d is. Let v be the records' categories sorted in the public order, and v' the
    same after one record was replaced. As with numbers, entries between the old and the new place move by one, so
    ``sum_i s(v_(i), v'_(i))`` is the length of a chain that climbs through the order from the one category to the
    other; by the triangle inequality it is at most the length of the whole order, ``L = sum_j s(o_j, o_{j+1})``. The
    score of candidate t in a run is a sum over its ranks, so its change is at most ``sum s(v_(i), v'_(i))`` over the
    run's ranks, for all t at once; and over all runs at most L. On the other hand a run loses at most one record and
    gains at most one, so no run changes by more than ``max s``. The sensitivity is the smaller of L and n_runs max s.

    For numbers L is the width of the domain, since the order follows the line. Categories of a tree lie on no line: the
    largest single distance is *not* a bound, as the tests show by search.

    Examples
    --------
    >>> score_sensitivity(np.array([[0, 1, 2], [1, 0, 1], [2, 1, 0]]), n_runs=10)
    2
    """
    gaps = np.abs(distances[1:] - distances[:-1]).max(axis=1, initial=0)
    widest = max(int(np.abs(distances - row).max()) for row in distances)
    return max(min(int(gaps.sum()), n_runs * widest), 1)


def noisy_run_centroids(
    places: IntArray, sizes: IntArray, distances: IntArray, *, budget: Budget, noise: Noise, on: str
) -> IntArray:
    """For each run of the records in public order a candidate, by the exponential mechanism; spends all of `budget`.

    See :func:`run_scores` for the parameters and :func:`score_sensitivity` for the argument. Candidates must be
    public: the whole taxonomy, not what the records of a run have.

    Returns
    -------
    ndarray of shape (n_runs,)
        The place of a candidate among the columns of `distances`.
    """
    scores = run_scores(places, sizes, distances)
    sensitivity = score_sensitivity(distances, len(sizes))
    return select(scores, sensitivity, budget=budget, noise=noise, on=on, step=STEP)
