"""Compensated sums and squared distances, rounded as the kernels round them."""

from __future__ import annotations

import numpy as np

from microagg._kernels.codes import CENTROID, NO_TABLE, Nominal
from microagg._typing import FloatArray

__all__ = ["add_compensated", "place_centroid", "squared_distances", "sum_columns", "take_codes_off"]


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


def squared_distances(columns: FloatArray, query: FloatArray, nominal: Nominal | None = None) -> FloatArray:
    """The squared distance of every record to a point; `columns` has one row per attribute.

    Attributes are added one after the other: ``sum`` would add some of them in pairs.
    """
    n_numbers = len(columns) if nominal is None else nominal.first
    gaps = columns[:n_numbers] - query[:n_numbers, np.newaxis]
    np.multiply(gaps, gaps, out=gaps)
    total: FloatArray = gaps[0]
    for squares in gaps[1:]:
        total += squares
    if nominal is not None:
        for j, codes in enumerate(columns[n_numbers:]):
            total += _distances_of_codes(codes, query[n_numbers + j], j, nominal)
    return total


def _distances_of_codes(codes: FloatArray, here: float, j: int, nominal: Nominal) -> FloatArray:
    """What the codes of column j have in the squared distances to a point that has the code `here` or is a centroid."""
    start, size, table = nominal.look_at[j], nominal.sizes[j], nominal.table_at[j]
    if here != CENTROID and table == NO_TABLE:
        mismatches: FloatArray = np.where(codes != here, nominal.weights[j], 0.0)
        return mismatches
    first = start if here == CENTROID else table + int(here) * size
    found: FloatArray = nominal.looks[first : first + size][codes.astype(np.int64)]
    return found


def place_centroid(nominal: Nominal, n_records: int) -> None:
    """Look up the squared distances of all categories to the centroid of the records that are counted."""
    for j, weight in enumerate(nominal.weights):
        places = slice(nominal.look_at[j], nominal.look_at[j] + nominal.sizes[j])
        counts = nominal.counts[places]
        if nominal.table_at[j] == NO_TABLE:
            parts = n_records * n_records - 2 * n_records * counts + (counts * counts).sum()
            nominal.looks[places] = weight * (parts / (2.0 * float(n_records * n_records)))
        else:
            means = nominal.high[places] / n_records
            spread = np.cumsum(counts * nominal.high[places])[-1]  # one after the other
            nominal.looks[places] = np.maximum(means - 0.5 * (spread / float(n_records * n_records)), 0.0)


def take_codes_off(nominal: Nominal, codes: FloatArray) -> None:
    """Take a record with these codes off what the centroid is computed from."""
    for j, code in enumerate(codes.astype(np.int64)):
        start, size, table = nominal.look_at[j], nominal.sizes[j], nominal.table_at[j]
        nominal.counts[start + code] -= 1
        if table != NO_TABLE:
            places, row = slice(start, start + size), table + code * size
            nominal.high[places], nominal.low[places] = add_compensated(
                nominal.high[places], nominal.low[places], -nominal.looks[row : row + size]
            )
