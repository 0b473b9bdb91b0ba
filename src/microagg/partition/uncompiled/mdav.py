"""MDAV in NumPy: the cells of ``_kernels/mdav/plain/cells.py``, which is the definition."""

from __future__ import annotations

from collections.abc import Callable

import numpy as np

from microagg._kernels.codes import CENTROID, Nominal
from microagg._typing import FloatArray, IntArray
from microagg.partition.uncompiled.remaining import Remaining, nearest
from microagg.partition.uncompiled.sums import add_compensated, place_centroid, sum_columns, take_codes_off

__all__ = ["form_mdav_cells"]


_GONE_NEAR, _GONE_FAR = np.inf, -1.0  # never the nearest, never the farthest


def form_mdav_cells(
    X: FloatArray, k: int, two_cells_from: int, goes_on: Callable[[int], bool], nominal: Nominal | None = None
) -> IntArray:
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
    nominal : Nominal or None
        What is known of the last columns, if they hold codes.
    """
    with np.errstate(under="ignore"):  # kernels do not mind either
        return _Cells(X, k, nominal).form(two_cells_from, goes_on)


class _Cells:
    """MDAV under way: the remaining records, and their sums."""

    def __init__(self, X: FloatArray, k: int, nominal: Nominal | None = None) -> None:
        self.X, self.k, self.nominal = X, k, nominal
        self.remaining = Remaining(X, nominal)
        self.numbers = X if nominal is None else X[:, : nominal.first]
        self.high, self.low = sum_columns(self.numbers)
        self.labels: IntArray = np.full(len(X), -1, dtype=np.int64)
        self.n_cells = 0

    def form(self, two_cells_from: int, goes_on: Callable[[int], bool]) -> IntArray:
        remaining = self.remaining
        while remaining.count >= 2 * self.k:  # ends: k records leave with every cell
            if not goes_on(remaining.count):
                return self.labels
            two_cells = remaining.count >= two_cells_from
            seed = int(np.argmax(remaining.distances_from(self._centroid(), of_those_gone=_GONE_FAR)))
            opposite = self._form_cell(seed, finds_opposite=two_cells)
            if two_cells:
                self._form_cell(opposite, finds_opposite=False)
            remaining.pack()
        # What is left is the last cell, or joins it where two cells are formed down to 2k records.
        self.labels[self.labels < 0] = self.n_cells if remaining.count >= self.k else self.n_cells - 1
        return self.labels

    def _centroid(self) -> FloatArray:
        centroid = np.full(self.X.shape[1], CENTROID)
        centroid[: len(self.high)] = self.high / self.remaining.count
        if self.nominal is not None:
            place_centroid(self.nominal, self.remaining.count)
        return centroid

    def _form_cell(self, seed: int, *, finds_opposite: bool) -> int:
        """Make a cell of the record at a place and its nearest; the place then farthest from it, if asked for."""
        remaining = self.remaining
        distances = remaining.distances_from(self.X[remaining.records[seed]], of_those_gone=_GONE_NEAR)
        distances[seed] = _GONE_NEAR
        members = [seed, *nearest(distances, self.k - 1)]
        records = remaining.records[members]
        self.labels[records] = self.n_cells
        self.n_cells += 1
        for record in records:  # the seed, then its nearest by distance and index: one order on every road
            self.high, self.low = add_compensated(self.high, self.low, -self.numbers[record])
            if self.nominal is not None:
                take_codes_off(self.nominal, self.X[record, self.nominal.first :])
        remaining.take(members)
        if not finds_opposite:
            return -1
        distances[members] = _GONE_FAR
        distances[distances == _GONE_NEAR] = _GONE_FAR
        return int(np.argmax(distances))
