"""Label records by what they share: cells, groups and combinations, numbered by first occurrence."""

from __future__ import annotations

from collections.abc import Iterable

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
    first[labels[::-1]] = np.arange(len(labels))[::-1]  # the last of several assignments stays
    starts_a_cell = np.zeros(len(labels), dtype=bool)
    starts_a_cell[first[first >= 0]] = True
    rank = np.empty(n_labels, dtype=np.int64)
    in_order = labels[starts_a_cell]
    rank[in_order] = np.arange(len(in_order))
    renumbered: IntArray = rank[labels]
    return renumbered


def label_combinations(codes: Iterable[npt.NDArray[np.generic]], n_records: int) -> IntArray:
    """One label per distinct combination of several codes: 0 to the number of combinations - 1, by first occurrence.

    Parameters
    ----------
    codes : iterable of ndarray of shape (n_records,)
        Integers, truth values or floats; all NaN are one value. They are taken one after another, so that a generator
        need not hold the codes of a wide table at once.
    n_records : int
        The number of labels where there are no codes: all records then have the same label.

    Notes
    -----
    Complexity: O(n) per code. Hashing a million keys takes a tenth of the time of sorting them.

    Examples
    --------
    >>> label_combinations([np.array([0, 0, 1]), np.array([1, 1, 1])], 3)
    array([0, 0, 1])
    >>> label_combinations([np.array([np.nan, 2.5, np.nan])], 3)
    array([0, 1, 0])
    """
    labels = np.zeros(n_records, dtype=np.int64)
    for code in codes:
        dense = code.astype(np.int64) if _is_dense(code) else _by_first_occurrence(code)
        labels = _by_first_occurrence(labels * (int(dense.max(initial=0)) + 2) + dense + 1)
    return labels


def _is_dense(code: npt.NDArray[np.generic]) -> bool:
    """Whether these are whole numbers from -1 on, so few that keys made of them cannot overflow."""
    if code.dtype == np.bool_:
        return True
    if not np.issubdtype(code.dtype, np.integer):
        return False
    return int(code.min(initial=0)) >= -1 and int(code.max(initial=0)) <= 4 * len(code)


def _by_first_occurrence(values: npt.NDArray[np.generic]) -> IntArray:
    import pyarrow as pa

    if np.issubdtype(values.dtype, np.floating):
        # Hashes go by the bits: equal numbers must have the same, and so must all NaN.
        values = np.where(np.isnan(values), np.nan, np.add(values, 0.0))
    labels: IntArray = pa.array(values).dictionary_encode().indices.to_numpy().astype(np.int64)
    return labels
