"""Distinct rows of a matrix, each with the records that have it.

Every search treats records with equal values as one row. They are taken in ascending order of their index (of equal
distances the lowest index wins), so those still without a cell are always the tail of the row's list, and a row is
gone when its list is used up. Merging only saves time: equal rows that are not merged are compared by index like any
tie.
"""

from __future__ import annotations

from typing import NamedTuple

import numpy as np
import numpy.typing as npt


class Rows(NamedTuple):
    """``members[first[row]:end[row]]`` are the records of a row that have no cell yet."""

    values: npt.NDArray[np.float64]  # (n_rows, n_attributes)
    members: npt.NDArray[np.int64]
    first: npt.NDArray[np.int64]
    end: npt.NDArray[np.int64]


def distinct_rows(X: npt.NDArray[np.float64]) -> Rows:
    """Merge records with equal values."""
    n_records = len(X)
    hashes = hashes_of_rows(X)
    in_order = np.sort(hashes)
    if not (in_order[1:] == in_order[:-1]).any():
        members = np.arange(n_records)
        return Rows(X, members, members.copy(), members + 1)
    members = np.argsort(hashes, kind="stable")
    # Two different rows with one hash are told apart here; at worst equal rows between them stay unmerged.
    is_new = np.zeros(n_records, dtype=np.bool_)
    is_new[0] = True
    for column in X.T:
        values = column[members]
        is_new[1:] |= values[1:] != values[:-1]
    first = np.flatnonzero(is_new)
    return Rows(X[members[first]], members, first, np.append(first[1:], n_records))


def hashes_of_rows(X: npt.NDArray[np.float64]) -> npt.NDArray[np.uint64]:
    """Mix the bits of each row into 64 (multiply and shift after each value, as splitmix64 does)."""
    mixed = np.zeros(len(X), dtype=np.uint64)
    for column in X.T:
        mixed ^= (column + 0.0).view(np.uint64)  # + 0.0 makes -0.0 the 0.0 it equals
        mixed ^= mixed >> np.uint64(30)
        mixed *= np.uint64(0xBF58476D1CE4E5B9)
        mixed ^= mixed >> np.uint64(27)
    return mixed


def select_rows(rows: Rows, chosen: npt.NDArray[np.integer]) -> Rows:
    """The chosen rows, in their order; members are shared, not copied."""
    return Rows(np.take(rows.values, chosen, axis=0), rows.members, rows.first[chosen], rows.end[chosen])
