"""Partitions to begin a search with, and cells cut down to fewer than 2k records."""

from __future__ import annotations

import numpy as np
import numpy.typing as npt

from microagg.partition.mdav import MDAV

__all__ = ["MDAV_UP_TO", "cells_below_2k", "split_cells"]

FloatArray = npt.NDArray[np.float64]
IntArray = npt.NDArray[np.int64]

MDAV_UP_TO = 20_000  # records; above, MDAV within the blocks of a split
_BLOCK = 8_000  # records, at least


def split_cells(X: FloatArray, k: int) -> IntArray:
    """Halve the records along their widest attribute down to small blocks, and form cells by MDAV in each.

    Unlike MDAV of the whole, the time grows with n log n.
    """
    labels = np.empty(len(X), dtype=np.int64)
    n_cells = 0
    # Blocks of a multiple of k, so that all but one leave no records over.
    for block in _runs(X, k * max(-(-_BLOCK // k), 8)):
        within = MDAV(k=k).fit(X[block]).labels_
        labels[block] = within + n_cells
        n_cells += int(within.max()) + 1
    return labels


def cells_below_2k(X: FloatArray, labels: IntArray, k: int) -> IntArray:
    """Split every cell of 2k records or more along its widest attribute; a split never raises the SSE."""
    sizes = np.bincount(labels)
    labels = labels.copy()
    n_cells = len(sizes)
    for cell in np.flatnonzero(sizes >= 2 * k):
        members = np.flatnonzero(labels == cell)
        for run in _runs(X[members], k)[1:]:
            labels[members[run]] = n_cells
            n_cells += 1
    return labels


def _runs(X: FloatArray, unit: int) -> list[IntArray]:
    """Records in runs of unit to 2 unit - 1, halved along the widest attribute."""
    from microagg.partition._kernels.chance import chance_from
    from microagg.partition._kernels.split import split_records

    order = np.arange(len(X))
    starts = split_records(np.ascontiguousarray(X.T), order, unit, chance_from([0, 0, 0, 0]), 0.0)
    return np.split(order, starts[1:-1])
