"""Exact search for near points: many queries against many points, without a matrix of all pairs."""

from __future__ import annotations

from collections.abc import Callable
from concurrent.futures import ThreadPoolExecutor
from dataclasses import dataclass, field

import numpy as np

from microagg._progress import report
from microagg._threads import cores
from microagg._typing import FloatArray, IntArray

__all__ = ["PointTree"]


_LEAF = 100
_QUERIES_AT_ONCE = 4096


@dataclass(frozen=True)
class PointTree:
    """Points in a balanced tree of boxes; searches are exact and run on all cores.

    Examples
    --------
    >>> tree = PointTree.of(np.array([[0.0], [1.0], [5.0]]))
    >>> squared, rows = tree.nearest(np.array([[1.2], [4.0]]))
    >>> squared.round(2).tolist(), rows.tolist()
    ([0.04, 1.0], [1, 2])
    """

    columns: FloatArray = field(repr=False)
    lows: FloatArray = field(repr=False)
    highs: FloatArray = field(repr=False)
    starts: IntArray = field(repr=False)
    order: IntArray = field(repr=False)

    @classmethod
    def of(cls, points: FloatArray) -> PointTree:
        """Build the tree: halves across the side along which points vary most, down to leaves of some dozens.

        Parameters
        ----------
        points : ndarray of shape (n_points, n_columns)
            At least one of each, without missing values.
        """
        points = np.asarray(points, dtype=np.float64)
        n_points, n_columns = points.shape
        n_leaves = 1
        while n_points > _LEAF * n_leaves:
            n_leaves *= 2
        order = np.arange(n_points)
        lows, highs = np.empty((2, 2 * n_leaves - 1, n_columns))
        cuts, halves, level = [0, n_points], [0], 1
        for node in range(2 * n_leaves - 1):
            if node == 2 * level - 1:  # the level above is done, and halved
                cuts, halves, level = halves, [0], 2 * level
            start, stop = cuts[node - level + 1], cuts[node - level + 2]
            inside = points[order[start:stop]]
            lows[node], highs[node] = inside.min(axis=0), inside.max(axis=0)
            if level < n_leaves:
                middle = (stop - start) // 2
                widest = int(inside.var(axis=0).argmax())
                order[start:stop] = order[start:stop][np.argpartition(inside[:, widest], middle)]
                halves += [start + middle, stop]
        return cls(np.ascontiguousarray(points[order].T), lows, highs, np.array(cuts, dtype=np.int64), order)

    def nearest(self, queries: FloatArray) -> tuple[FloatArray, IntArray]:
        """Squared distance of each query to its nearest point, and that point's row (any one of several)."""
        from microagg.evaluation._kernels.near_points import nearest_points

        squared, places = np.empty(len(queries)), np.empty(len(queries), dtype=np.int64)

        def search(rows: IntArray) -> None:
            found, where = np.empty(len(rows)), np.empty(len(rows), dtype=np.int64)
            nearest_points(self.columns, self.lows, self.highs, self.starts, queries[rows], found, where)
            squared[rows], places[rows] = found, where

        _in_runs(search, queries)
        return squared, self.order[places]

    def ties_unless_closer(self, queries: FloatArray, closer: FloatArray, as_close: FloatArray) -> IntArray:
        """The number of points within `as_close` of each query, or 0 if one is nearer than `closer` (both squared)."""
        from microagg.evaluation._kernels.near_points import ties_unless_closer

        ties = np.empty(len(queries), dtype=np.int64)

        def search(rows: IntArray) -> None:
            found = np.empty(len(rows), dtype=np.int64)
            arrays = (self.columns, self.lows, self.highs, self.starts)
            ties_unless_closer(*arrays, queries[rows], closer[rows], as_close[rows], found)
            ties[rows] = found

        _in_runs(search, queries)
        return ties


def _in_runs(search: Callable[[IntArray], None], queries: FloatArray) -> None:
    """Search for runs of queries that lie close together: they walk through the same leaves."""
    if len(queries) <= _QUERIES_AT_ONCE:
        search(np.arange(len(queries)))
        return
    order = PointTree.of(queries).order
    runs = [order[start : start + _QUERIES_AT_ONCE] for start in range(0, len(order), _QUERIES_AT_ONCE)]
    with ThreadPoolExecutor(cores()) as pool:
        for done, _ in enumerate(pool.map(search, runs), 1):
            report("searching for near records", done / len(runs))
