"""Numbers and codes as kernels take them."""

from __future__ import annotations

import numpy as np

from microagg._kernels.codes import NO_TABLE, Nominal
from microagg.partition.uncompiled.sums import add_compensated, place_centroid
from microagg.space.points import Points

__all__ = ["nominal_of"]


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
            for count, distances in zip(counted, column.table, strict=True):
                high[places], low[places] = add_compensated(high[places], low[places], count * distances)
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
