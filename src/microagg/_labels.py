"""Label records by what they share: cells, groups and combinations, numbered by first occurrence."""

from __future__ import annotations

from collections.abc import Sequence

import numpy as np
import numpy.typing as npt

from microagg._typing import IntArray

__all__ = ["cells_in_order", "label_combinations"]


def cells_in_order(labels: IntArray) -> IntArray:
    """Renumber cells by their first record, so that equal partitions have equal labels.

    Examples
    --------
    >>> cells_in_order(np.array([7, 7, 2, 7, 2]))
    array([0, 0, 1, 0, 1])
    """
    if labels.min() < 0 or labels.max() >= 4 * len(labels):  # too sparse to be looked up
        labels = np.unique(labels, return_inverse=True)[1]
    n_labels = int(labels.max()) + 1
    first = np.full(n_labels, -1, dtype=np.int64)
    first[labels[::-1]] = np.arange(len(labels))[::-1]  # of several assignments the last one stays
    starts_a_cell = np.zeros(len(labels), dtype=bool)
    starts_a_cell[first[first >= 0]] = True
    rank = np.empty(n_labels, dtype=np.int64)
    in_order = labels[starts_a_cell]
    rank[in_order] = np.arange(len(in_order))
    renumbered: IntArray = rank[labels]
    return renumbered


def label_combinations(codes: Sequence[npt.NDArray[np.generic]], n_records: int) -> IntArray:
    """One label per distinct combination of several codes, numbered by first occurrence.

    Examples
    --------
    >>> label_combinations([np.array([0, 0, 1]), np.array([1, 1, 1])], 3)
    array([0, 0, 1])
    """
    labels = np.zeros(n_records, dtype=np.int64)
    for code in codes:
        _, dense = np.unique(code, return_inverse=True)
        labels = cells_in_order(labels * (int(dense.max(initial=0)) + 1) + dense)
    return labels
