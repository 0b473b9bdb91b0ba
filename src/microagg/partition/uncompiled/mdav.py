"""MDAV in NumPy: the cells of ``_kernels/mdav/plain/cells.py``, which is the definition."""

from __future__ import annotations

from collections.abc import Callable

import numpy as np

from microagg._typing import FloatArray, IntArray
from microagg.partition.uncompiled.remaining import Remaining, nearest
from microagg.partition.uncompiled.sums import add_compensated, sum_columns

__all__ = ["form_mdav_cells"]


_GONE_NEAR, _GONE_FAR = np.inf, -1.0  # never the nearest, never the farthest


def form_mdav_cells(X: FloatArray, k: int, two_cells_from: int, goes_on: Callable[[int], bool]) -> IntArray:
    """Label records by MDAV's cells.

    Parameters
    ----------
    X : ndarray of shape (n_records, n_attributes)
        Scaled so that no square overflows.
    k : int
    two_cells_from : int
        The smallest number of remaining records from which two cells are formed at once.
    goes_on : callable
        Asked before every round, with the number of records that have no cell yet. If it says no, they keep -1.
    """
    with np.errstate(under="ignore"):  # kernels do not mind either
        return _Cells(X, k).form(two_cells_from, goes_on)


class _Cells:
    """MDAV under way: the remaining records, and their sums."""

    def __init__(self, X: FloatArray, k: int) -> None:
        self.X, self.k = X, k
        self.remaining = Remaining(X)
        self.high, self.low = sum_columns(X)
        self.labels: IntArray = np.full(len(X), -1, dtype=np.int64)
        self.n_cells = 0

    def form(self, two_cells_from: int, goes_on: Callable[[int], bool]) -> IntArray:
        remaining = self.remaining
        while remaining.count >= 2 * self.k:  # ends: k records leave with every cell
            if not goes_on(remaining.count):
                return self.labels
            two_cells = remaining.count >= two_cells_from
            centroid = self.high / remaining.count
            seed = int(np.argmax(remaining.distances_from(centroid, of_those_gone=_GONE_FAR)))
            opposite = self._form_cell(seed, finds_opposite=two_cells)
            if two_cells:
                self._form_cell(opposite, finds_opposite=False)
            remaining.pack()
        # What is left is the last cell, or joins it where two cells are formed down to 2k records.
        self.labels[self.labels < 0] = self.n_cells if remaining.count >= self.k else self.n_cells - 1
        return self.labels

    def _form_cell(self, seed: int, *, finds_opposite: bool) -> int:
        """Make a cell of the record at a place and its nearest; the place then farthest from it, if asked for."""
        remaining = self.remaining
        distances = remaining.distances_from(self.X[remaining.records[seed]], of_those_gone=_GONE_NEAR)
        distances[seed] = _GONE_NEAR
        members = [seed, *nearest(distances, self.k - 1)]
        records = remaining.records[members]
        self.labels[records] = self.n_cells
        self.n_cells += 1
        for values in self.X[records]:  # the seed, then its nearest by distance and index: one order on every road
            self.high, self.low = add_compensated(self.high, self.low, -values)
        remaining.take(members)
        if not finds_opposite:
            return -1
        distances[members] = _GONE_FAR
        distances[distances == _GONE_NEAR] = _GONE_FAR
        return int(np.argmax(distances))
