"""V-MDAV in NumPy: the cells of ``_kernels/mdav/plain/variable_cells.py``."""

from __future__ import annotations

import math
from collections.abc import Callable

import numpy as np

from microagg._kernels.codes import CENTROID
from microagg._typing import FloatArray, IntArray
from microagg.partition.nominal import nominal_of
from microagg.partition.uncompiled.remaining import Remaining, nearest
from microagg.partition.uncompiled.sums import add_compensated, squared_distances, sum_columns
from microagg.space.points import Points, code_distances_to_cells

__all__ = ["form_vmdav_cells", "join_nearest", "order_outside_in"]


_GONE = np.inf  # never the nearest


def form_vmdav_cells(points: Points, k: int, gamma: float, goes_on: Callable[[int, int], bool]) -> IntArray:
    """Label records by V-MDAV's cells.

    Parameters
    ----------
    points : Points
        Scaled so that no square overflows; where there are codes, in the form of `Points.telling`.
    k : int
    gamma : float
        How eagerly cells grow; 0: never.
    goes_on : callable
        Asked before every cell, and before it grows by a record, with the number of records that have no cell yet and
        how often distances to all of them come next. If it says no, they keep -1.
    """
    with np.errstate(under="ignore"):  # kernels do not mind either
        X = points.values
        sums, _ = sum_columns(points.numbers)
        labels: IntArray = np.full(len(X), -1, dtype=np.int64)
        remaining = Remaining(X, nominal_of(points))
        n_cells = 0
        for seed in order_outside_in(points, sums):
            if remaining.count < k:
                break
            if labels[seed] >= 0:
                continue
            finished = goes_on(remaining.count, k) and _form_cell(
                X, int(seed), k, gamma, goes_on, remaining, labels, n_cells
            )
            if not finished:
                return labels
            n_cells += 1
            remaining.pack()
        join_nearest(points, labels, n_cells)
        return labels


def order_outside_in(points: Points, sums: FloatArray) -> IntArray:
    """The records from the farthest to the nearest to the centroid of all; `sums` are those of the numbers."""
    nominal = nominal_of(points)
    centroid = np.full(points.values.shape[1], CENTROID)
    centroid[: len(sums)] = sums / len(points)
    with np.errstate(under="ignore"):
        return np.argsort(-squared_distances(np.array(points.values.T, order="C"), centroid, nominal), kind="stable")


def _form_cell(
    X: FloatArray,
    seed: int,
    k: int,
    gamma: float,
    goes_on: Callable[[int, int], bool],
    remaining: Remaining,
    labels: IntArray,
    cell: int,
) -> bool:
    """Make a cell of a record and its nearest, and let it grow; whether it was finished."""
    place = remaining.place_of(seed)
    to_cell = remaining.distances_from(X[seed], of_those_gone=_GONE)
    to_cell[place] = _GONE
    others = nearest(to_cell, k - 1)
    remaining.take([place, *others])
    labels[remaining.records[[place, *others]]] = cell
    if gamma == 0:
        return True
    # From here on, each remaining record's squared distance to the nearest member of the cell.
    for other in others:
        np.minimum(to_cell, remaining.distances_from(X[remaining.records[other]], of_those_gone=_GONE), out=to_cell)
    to_cell[others] = _GONE
    size = k
    while size < 2 * k - 1 and remaining.count > 0:  # ends: the cell grows, or the loop breaks
        if not goes_on(remaining.count, 1):
            return False
        candidate = int(np.argmin(to_cell))
        from_candidate = remaining.distances_from(X[remaining.records[candidate]], of_those_gone=_GONE)
        from_candidate[candidate] = _GONE
        # With no other record outside, the distance to the next is infinite: the last one joins.
        if not math.sqrt(to_cell[candidate]) < gamma * math.sqrt(from_candidate.min()):
            break
        remaining.take([candidate])
        labels[remaining.records[candidate]] = cell
        np.minimum(to_cell, from_candidate, out=to_cell)
        to_cell[candidate] = _GONE
        size += 1
    return True


def join_nearest(points: Points, labels: IntArray, n_cells: int) -> None:
    """Give each record without a cell to the cell with the nearest centroid (centroids as they were before)."""
    left_over = np.flatnonzero(labels < 0)
    if not len(left_over):
        return
    X = points.numbers
    members = np.argsort(labels, kind="stable")[len(left_over) :]  # cell by cell, each by record index
    sizes = np.bincount(labels[members], minlength=n_cells)
    starts = np.cumsum(sizes) - sizes
    high, low = np.zeros((n_cells, X.shape[1])), np.zeros((n_cells, X.shape[1]))
    for turn in range(int(sizes.max())):  # the next record of every cell that has one
        cells = np.flatnonzero(sizes > turn)
        high[cells], low[cells] = add_compensated(high[cells], low[cells], X[members[starts[cells] + turn]])
    centroids = np.ascontiguousarray((high / sizes[:, np.newaxis]).T)
    of_codes = code_distances_to_cells(points, members, labels[members], n_cells)
    with np.errstate(under="ignore"):
        for record in left_over:
            distances = squared_distances(centroids, X[record])
            for column in of_codes:
                distances += column(int(record))
            labels[record] = int(np.argmin(distances))
