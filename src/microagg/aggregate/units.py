"""Counts of units where one may have several records: of values, codes and cells, and what makes sure of k of them."""

from __future__ import annotations

import numpy as np

from microagg._typing import BoolArray, IntArray

__all__ = ["count_units", "counted_word", "records_of_units", "units_per_code"]


def count_units(units: IntArray | None, marks: BoolArray) -> int:
    """How many units have one of the marked records; without `units`, how many records are marked.

    Examples
    --------
    >>> marks = np.array([True, True, False, True])
    >>> count_units(np.array([7, 7, 8, 9]), marks), count_units(None, marks)
    (2, 3)
    """
    return int(np.count_nonzero(marks)) if units is None else len(np.unique(units[marks]))


def counted_word(units: IntArray | None) -> str:
    """What is counted, in a word."""
    return "records" if units is None else "units"


def units_per_code(codes: IntArray, n_codes: int, units: IntArray | None) -> IntArray:
    """How many units have records of each code; without `units`, how many records there are of it.

    Examples
    --------
    >>> units_per_code(np.array([0, 0, 0, 2]), 3, np.array([5, 5, 6, 5]))
    array([2, 0, 1])
    """
    if units is not None and len(units):
        codes = np.unique(codes * (int(units.max()) + 1) + units) // (int(units.max()) + 1)
    return np.bincount(codes, minlength=n_codes)


def records_of_units(units: IntArray | None, k: int) -> int:
    """The fewest records that are sure to be of at least k units, whichever records they are.

    The k - 1 units with the most records have S of them together. S records may be theirs alone; one more cannot, so
    more than S records are always of k units or more. Where each unit has one record, it is k.

    Parameters
    ----------
    units : ndarray of shape (n_records,) or None
        Whose each record is; None: each is somebody else's.
    k : int

    Examples
    --------
    >>> records_of_units(np.array([0, 0, 0, 1, 1, 2, 3]), 3), records_of_units(None, 3)
    (6, 3)
    """
    if units is None:
        return k
    largest = np.sort(np.unique(units, return_counts=True)[1])[::-1][: k - 1]
    return max(int(largest.sum()), k - 1) + 1
