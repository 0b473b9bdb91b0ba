"""Plain versions of the kernels, close to the papers' listings: what the fast ones are tested against."""

from __future__ import annotations

import math

import numpy as np
import numpy.typing as npt


def mdav_generic(X: npt.NDArray[np.float64], k: int) -> npt.NDArray[np.int64]:
    """MDAV-generic as Domingo-Ferrer & Torra (2005) list it; ties to the lowest record index."""
    labels = np.full(len(X), -1, dtype=np.int64)
    remaining = np.arange(len(X))
    cell = 0
    while len(remaining) >= 3 * k:
        r = _farthest(X, remaining, _centroid(X, remaining))
        remaining = _form_cell(X, remaining, r, k, labels, cell)
        s = _farthest(X, remaining, X[r])
        remaining = _form_cell(X, remaining, s, k, labels, cell + 1)
        cell += 2
    if len(remaining) >= 2 * k:
        r = _farthest(X, remaining, _centroid(X, remaining))
        remaining = _form_cell(X, remaining, r, k, labels, cell)
        cell += 1
    labels[remaining] = cell
    return labels


def mdav_down_to_2k(X: npt.NDArray[np.float64], k: int) -> npt.NDArray[np.int64]:
    """MDAV as later papers list it: two cells while 2k records remain, fewer than k leftovers to the last."""
    labels = np.full(len(X), -1, dtype=np.int64)
    remaining = np.arange(len(X))
    cell = 0
    while len(remaining) >= 2 * k:
        r = _farthest(X, remaining, _centroid(X, remaining))
        remaining = _form_cell(X, remaining, r, k, labels, cell)
        s = _farthest(X, remaining, X[r])
        remaining = _form_cell(X, remaining, s, k, labels, cell + 1)
        cell += 2
    labels[remaining] = cell if len(remaining) >= k else cell - 1
    return labels


def _centroid(X: npt.NDArray[np.float64], remaining: npt.NDArray[np.int64]) -> npt.NDArray[np.float64]:
    return np.array([math.fsum(column) / len(remaining) for column in X[remaining].T])


def _squared_distances(
    X: npt.NDArray[np.float64], remaining: npt.NDArray[np.int64], point: npt.NDArray[np.float64]
) -> npt.NDArray[np.float64]:
    total = np.zeros(len(remaining))
    for j in range(X.shape[1]):  # in the order of columns, so that rounding is the same everywhere
        total += (X[remaining, j] - point[j]) ** 2
    return total


def _farthest(X: npt.NDArray[np.float64], remaining: npt.NDArray[np.int64], point: npt.NDArray[np.float64]) -> int:
    return int(remaining[np.argmax(_squared_distances(X, remaining, point))])


def _form_cell(
    X: npt.NDArray[np.float64],
    remaining: npt.NDArray[np.int64],
    seed: int,
    k: int,
    labels: npt.NDArray[np.int64],
    cell: int,
) -> npt.NDArray[np.int64]:
    """Label the seed and its k - 1 nearest; return the others, in ascending order."""
    others = remaining[remaining != seed]
    distances = _squared_distances(X, others, X[seed])
    chosen = np.argsort(distances, kind="stable")[: k - 1]
    labels[seed] = cell
    labels[others[chosen]] = cell
    return np.delete(others, chosen)
