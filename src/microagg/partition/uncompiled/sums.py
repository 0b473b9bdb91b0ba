"""Compensated sums and squared distances, rounded as the kernels round them."""

from __future__ import annotations

import numpy as np

from microagg._typing import FloatArray

__all__ = ["add_compensated", "squared_distances", "sum_columns"]


def add_compensated(high: FloatArray, low: FloatArray, values: FloatArray) -> tuple[FloatArray, FloatArray]:
    """Add to sums kept as unevaluated pairs of floats (Knuth's exact two-term sum), one sum per entry."""
    total = high + values
    back = total - high
    error = (high - (total - back)) + (values - back)
    low = low + error
    renormalised = total + low
    return renormalised, low - (renormalised - total)


def sum_columns(X: FloatArray) -> tuple[FloatArray, FloatArray]:
    """Sum each column of a matrix, record after record, as a pair of floats."""
    high, low = np.zeros(X.shape[1]), np.zeros(X.shape[1])
    for record in X:
        high, low = add_compensated(high, low, record)
    return high, low


def squared_distances(columns: FloatArray, query: FloatArray) -> FloatArray:
    """The squared distance of every record to a point; `columns` has one row per attribute.

    Attributes are added one after the other: ``sum`` would add some of them in pairs.
    """
    gaps = columns - query[:, np.newaxis]
    np.multiply(gaps, gaps, out=gaps)
    total: FloatArray = gaps[0]
    for squares in gaps[1:]:
        total += squares
    return total
