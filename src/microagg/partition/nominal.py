"""Numbers and codes as kernels take them."""

from __future__ import annotations

import numpy as np

from microagg._kernels.codes import NO_TABLE, Nominal
from microagg._typing import FloatArray, IntArray
from microagg.partition.uncompiled.sums import add_compensated, place_centroid
from microagg.space.points import Points

__all__ = ["nominal_of"]

_HALF = 26  # bits; a float64 has 53, so that the upper ones of an entry are 27, and its lower ones at most 26


def nominal_of(points: Points) -> Nominal | None:
    """The codes as kernels see them, with the centroid of all records; None if there are none.

    The records are in the form of `telling`.
    """
    if not points.nominal:
        return None
    sizes = np.array([column.n_categories for column in points.nominal], dtype=np.int64)
    n_places = int(sizes.sum())
    look_at = np.cumsum(sizes) - sizes
    table_sizes = np.array([0 if column.table is None else column.table.size for column in points.nominal])
    table_at = np.where(table_sizes > 0, n_places + np.cumsum(table_sizes) - table_sizes, NO_TABLE)
    codes = points.values[:, points.n_numbers :].astype(np.int64).T
    counts = [np.bincount(of, minlength=size) for of, size in zip(codes, sizes, strict=True)]
    high, low = np.zeros(n_places), np.zeros(n_places)
    for column, counted, start in zip(points.nominal, counts, look_at, strict=True):
        if column.table is not None:
            places = slice(start, start + column.n_categories)
            high[places], low[places] = _sums_of_distances(column.table, counted)
    tables = [column.table.ravel() for column in points.nominal if column.table is not None]
    nominal = Nominal(
        first=points.n_numbers,
        weights=np.array([column.weight if column.table is None else 0.0 for column in points.nominal]),
        sizes=sizes,
        look_at=look_at,
        table_at=table_at.astype(np.int64),
        looks=np.concatenate([np.zeros(n_places), *tables]),
        counts=np.concatenate(counts).astype(np.int64),
        high=high,
        low=low,
    )
    place_centroid(nominal, len(points))
    return nominal


def _sums_of_distances(table: FloatArray, counts: IntArray) -> tuple[FloatArray, FloatArray]:
    """For each category the sum of its distances to all records, as a pair of floats.

    Records leave these sums one by one, each by its very entry, so no product of a count and an entry may be rounded:
    what is left of categories that tie would then differ. Halves of entries times counts below 2^26 are exact.
    """
    high, low = np.zeros(len(table)), np.zeros(len(table))
    few = counts & ((1 << _HALF) - 1)
    for some in (few, counts - few):
        for code in np.flatnonzero(some):
            count, row = some[code], np.ascontiguousarray(table[code])
            upper = (row.view(np.int64) & -(1 << _HALF)).view(np.float64)
            for half in (upper, row - upper):
                high, low = add_compensated(high, low, count * half)
    return high, low
