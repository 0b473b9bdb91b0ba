"""Distinct rows of a matrix, each with the records that have it.

Records with equal values are one row to every search. They are taken in ascending order of their index (of equal
distances the lowest index wins), so those still without a cell are always the tail of the row's list, and a row is
gone when its list is used up. Merging saves time only: equal rows left unmerged are compared by index like any tie.
"""

from __future__ import annotations

from typing import NamedTuple

import numpy as np
import numpy.typing as npt
from numba import njit


class Rows(NamedTuple):
    """``members[first[row]:end[row]]`` are the records of a row that have no cell yet."""

    values: npt.NDArray[np.float64]  # (n_rows, n_attributes)
    members: npt.NDArray[np.int64]
    first: npt.NDArray[np.int64]
    end: npt.NDArray[np.int64]


def distinct_rows(X: npt.NDArray[np.float64]) -> Rows:
    """Merge records with equal values."""
    n_records = len(X)
    hashes = np.empty(n_records, dtype=np.uint64)
    hash_rows(X.view(np.uint64), hashes)
    in_order = np.sort(hashes)
    if not (in_order[1:] == in_order[:-1]).any():
        members = np.arange(n_records)
        return Rows(X, members, members.copy(), members + 1)
    members = np.argsort(hashes, kind="stable")
    # Two different rows with one hash are told apart here; at worst equal rows between them stay unmerged.
    is_new = np.concatenate([[True], np.empty(n_records - 1, dtype=np.bool_)])
    mark_new_rows(X, members, is_new)
    first = np.flatnonzero(is_new)
    return Rows(X[members[first]], members, first, np.append(first[1:], n_records))


def chosen_rows(rows: Rows, chosen: npt.NDArray[np.int64]) -> Rows:
    """The chosen rows, in their order; members are shared, not copied."""
    return Rows(rows.values[chosen], rows.members, rows.first[chosen], rows.end[chosen])


@njit(cache=True, nogil=True)
def hash_rows(bits, hashes):
    """Mix the bits of each row into 64 (multiply and shift after each value, as splitmix64 does)."""
    minus_zero = np.uint64(0x8000000000000000)
    for i in range(bits.shape[0]):
        mixed = np.uint64(0)
        for j in range(bits.shape[1]):
            value = bits[i, j]
            if value != minus_zero:  # -0.0 equals 0.0, whose bits are all 0
                mixed ^= value
            mixed = (mixed ^ (mixed >> np.uint64(30))) * np.uint64(0xBF58476D1CE4E5B9) + np.uint64(j + 1)
            mixed ^= mixed >> np.uint64(27)
        hashes[i] = mixed


@njit(cache=True, nogil=True)
def mark_new_rows(X, order, is_new):
    """Say of each record in ``order`` whether its values differ from those of the one before."""
    for place in range(1, order.shape[0]):
        is_new[place] = False
        for j in range(X.shape[1]):
            if X[order[place], j] != X[order[place - 1], j]:
                is_new[place] = True
                break
