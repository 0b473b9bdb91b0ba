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
    while len(remaining) >= 3 * k:  # ends: k records leave with every cell
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
    while len(remaining) >= 2 * k:  # ends: k records leave with every cell
        r = _farthest(X, remaining, _centroid(X, remaining))
        remaining = _form_cell(X, remaining, r, k, labels, cell)
        s = _farthest(X, remaining, X[r])
        remaining = _form_cell(X, remaining, s, k, labels, cell + 1)
        cell += 2
    labels[remaining] = cell if len(remaining) >= k else cell - 1
    return labels


def vmdav(X: npt.NDArray[np.float64], k: int, gamma: float) -> npt.NDArray[np.int64]:
    """V-MDAV as Solanas & Martinez-Balleste (2006) describe it; ties to the lowest record index."""
    labels = np.full(len(X), -1, dtype=np.int64)
    remaining = np.arange(len(X))
    centre = _centroid(X, remaining)
    cell = 0
    while len(remaining) >= k:  # ends: k records leave with every cell
        remaining = _form_cell(X, remaining, _farthest(X, remaining, centre), k, labels, cell)
        while len(remaining) > 0 and (labels == cell).sum() < 2 * k - 1:  # ends: the cell grows, or the loop breaks
            members = np.flatnonzero(labels == cell)
            to_cell = np.min([_squared_distances(X, remaining, X[member]) for member in members], axis=0)
            candidate = remaining[np.argmin(to_cell)]
            others = remaining[remaining != candidate]
            to_others = _squared_distances(X, others, X[candidate]).min(initial=np.inf)
            if gamma == 0 or not math.sqrt(to_cell.min()) < gamma * math.sqrt(to_others):
                break
            labels[candidate] = cell
            remaining = others
        cell += 1
    centroids = [_centroid(X, np.flatnonzero(labels == c)) for c in range(cell)]
    for record in remaining:
        labels[record] = np.argmin([_squared_distances(X, np.array([record]), c)[0] for c in centroids])
    return labels


def optimal_univariate(ordered: npt.NDArray[np.float64], k: int) -> npt.NDArray[np.int64]:
    """Cells of at least k ascending values with the least SSE: the shortest path of Hansen & Mukherjee (2003)."""
    return shortest_path(ordered[:, np.newaxis], k)


def shortest_path(X: npt.NDArray[np.float64], k: int) -> npt.NDArray[np.int64]:
    """Cells of k to 2k - 1 neighbouring records with the least SSE of all attributes; records come in their order.

    Node j stands for the first j records, and an edge from i to j for the cell i, ..., j - 1.
    """
    n_records = len(X)
    least = [0.0] + [math.inf] * n_records
    start_of_last = [0] * (n_records + 1)
    for j in range(1, n_records + 1):
        for i in range(max(j - 2 * k + 1, 0), j - k + 1):
            total = least[i] + _sse(X[i:j])
            if total < least[j]:
                least[j], start_of_last[j] = total, i
    labels = np.zeros(n_records, dtype=np.int64)
    stop = n_records
    while stop > 0:  # ends: a cell starts before it stops
        labels[stop:] += 1
        stop = start_of_last[stop]
    return labels


def mic1d(X: npt.NDArray[np.float64], k: int) -> npt.NDArray[np.float64]:
    """What Mic1D-k publishes, in the steps of Nin's paper, section 3."""
    values: list[float] = X.reshape(-1).tolist()  # vectorisation
    places = sorted(range(len(values)), key=lambda place: values[place])
    once = _normalised(values, places, k)
    scaled = [once[place][0] for place in range(len(values))]
    twice = _normalised(scaled, sorted(places, key=lambda place: scaled[place]), k)
    published = np.empty(len(values))
    for place in range(len(values)):
        _, low, span, partition = twice[place]
        mean = low + span * (sum(twice[other][0] for other in partition) / len(partition))
        _, low, span, _ = once[place]
        published[place] = low + span * mean
    return published.reshape(X.shape)


def _normalised(
    values: list[float], places: list[int], k: int
) -> dict[int, tuple[float, float, float, tuple[int, ...]]]:
    """For each place: the value scaled within its partition, the partition's lowest value and span, its places."""
    result = {}
    for start in range(0, len(places), k):
        partition = tuple(places[start : start + k])
        low = min(values[place] for place in partition)
        span = max(values[place] for place in partition) - low
        for place in partition:
            result[place] = ((values[place] - low) / span if span > 0 else 0.5, low, span, partition)
    return result


def _sse(X: npt.NDArray[np.float64]) -> float:
    deviations = X - X[0]  # exact for neighbouring values
    return float(((deviations - deviations.mean(axis=0)) ** 2).sum())


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
