"""Exact search for near points: many queries against many points, without a matrix of all pairs."""

from __future__ import annotations

from collections.abc import Callable
from concurrent.futures import ThreadPoolExecutor
from dataclasses import dataclass, field

import numpy as np
import numpy.typing as npt

from microagg._progress import report
from microagg._threads import cores
from microagg._typing import FloatArray, IntArray
from microagg.evaluation._kernels.codes import NO_LIST, NONE_MISSING, CodeColumns
from microagg.space.points import NominalColumn, Points

__all__ = ["PointTree"]

Codes = npt.NDArray[np.int32]
Bits = npt.NDArray[np.uint64]

_LEAF = 100
_BITS = 64
_QUERIES_AT_ONCE = 4096


@dataclass(frozen=True)
class PointTree:
    """Points in a balanced tree of boxes; searches are exact and run on all cores.

    Points and queries are rows of numbers, or of numbers and codes (`Points`) whose columns mean the same in both.

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
    codes: CodeColumns | None = field(default=None, repr=False)

    @classmethod
    def of(cls, points: FloatArray | Points) -> PointTree:
        """Build the tree: halves across the column along which points vary most, down to leaves of some dozens.

        Parameters
        ----------
        points : ndarray of shape (n_points, n_columns) or Points
            At least one of each, without missing values.
        """
        numbers, codes = _numbers_and_codes(points)
        order, starts, lows, highs = _halve(numbers, codes, _mean_distances(points, codes))
        columns = np.ascontiguousarray(numbers[order].T)
        described = None
        if isinstance(points, Points) and codes is not None:
            described = _code_columns(points.nominal, codes[order], starts)
        return cls(columns, lows, highs, starts, order, described)

    def nearest(self, queries: FloatArray | Points) -> tuple[FloatArray, IntArray]:
        """Squared distance of each query to its nearest point, and that point's row (any one of several)."""
        from microagg.evaluation._kernels.near_points import nearest_points

        numbers, codes = _numbers_and_codes(queries)
        squared, places = np.empty(len(numbers)), np.empty(len(numbers), dtype=np.int64)

        def search(rows: IntArray) -> None:
            found, where = np.empty(len(rows)), np.empty(len(rows), dtype=np.int64)
            nearest_points(*self._arrays, numbers[rows], None if codes is None else codes[rows], found, where)
            squared[rows], places[rows] = found, where

        _in_runs(search, queries)
        return squared, self.order[places]

    def ties_unless_closer(self, queries: FloatArray | Points, closer: FloatArray, as_close: FloatArray) -> IntArray:
        """The number of points within `as_close` of each query, or 0 if one is nearer than `closer` (both squared)."""
        from microagg.evaluation._kernels.near_points import ties_unless_closer

        numbers, codes = _numbers_and_codes(queries)
        ties = np.empty(len(numbers), dtype=np.int64)

        def search(rows: IntArray) -> None:
            found = np.empty(len(rows), dtype=np.int64)
            asked = numbers[rows], None if codes is None else codes[rows]
            ties_unless_closer(*self._arrays, *asked, closer[rows], as_close[rows], found)
            ties[rows] = found

        _in_runs(search, queries)
        return ties

    @property
    def _arrays(self) -> tuple[FloatArray, FloatArray, FloatArray, IntArray, CodeColumns | None]:
        return self.columns, self.lows, self.highs, self.starts, self.codes


def _halve(
    numbers: FloatArray, codes: Codes | None, mean_distances: FloatArray
) -> tuple[IntArray, IntArray, FloatArray, FloatArray]:
    """An order in which the points of a leaf stand together, where leaves start, and the boxes of all nodes.

    The variance of a column of codes is half of the mean squared distance of two records: as far as two that differ are
    from each other in the whole table, times the share of pairs that differ.
    """
    n_points, n_numbers = numbers.shape
    n_leaves = 1
    while n_points > _LEAF * n_leaves:
        n_leaves *= 2
    order = np.arange(n_points)
    lows, highs = np.empty((2, 2 * n_leaves - 1, n_numbers))
    cuts, halves, level = [0, n_points], [0], 1
    for node in range(2 * n_leaves - 1):
        if node == 2 * level - 1:  # the level above is done, and halved
            cuts, halves, level = halves, [0], 2 * level
        start, stop = cuts[node - level + 1], cuts[node - level + 2]
        inside = numbers[order[start:stop]]
        lows[node], highs[node] = inside.min(axis=0), inside.max(axis=0)
        if level < n_leaves:
            middle = (stop - start) // 2
            variances = inside.var(axis=0)
            widest = int(variances.argmax()) if n_numbers else -1
            along: FloatArray | Codes = inside[:, widest] if n_numbers else np.empty(0)
            if codes is not None:
                codes_inside = codes[order[start:stop]]
                differing = np.array([_share_of_differing_pairs(column) for column in codes_inside.T])
                spreads = 0.5 * mean_distances * differing
                if not n_numbers or spreads.max() > variances[widest]:
                    along = codes_inside[:, int(spreads.argmax())]
            order[start:stop] = order[start:stop][np.argpartition(along, middle)]
            halves += [start + middle, stop]
    return order, np.array(cuts, dtype=np.int64), lows, highs


def _share_of_differing_pairs(codes: Codes) -> float:
    largest = int(codes.max())
    counts = np.bincount(codes) if largest < len(codes) else np.unique(codes, return_counts=True)[1]
    return 1.0 - float((counts.astype(np.float64) ** 2).sum()) / len(codes) ** 2


def _numbers_and_codes(points: FloatArray | Points) -> tuple[FloatArray, Codes | None]:
    if not isinstance(points, Points):
        return np.asarray(points, dtype=np.float64), None
    if not points.nominal:
        return points.values, None
    return np.ascontiguousarray(points.numbers), points.values[:, points.n_numbers :].astype(np.int32)


def _mean_distances(points: FloatArray | Points, codes: Codes | None) -> FloatArray:
    """For every column of codes the mean squared distance of two records that differ in it."""
    if not isinstance(points, Points) or codes is None:
        return np.empty(0)
    found = np.array([column.weight for column in points.nominal])
    for j, column in enumerate(points.nominal):
        differing = _share_of_differing_pairs(codes[:, j])
        if column.table is not None and differing > 0:
            shares = np.bincount(codes[:, j], minlength=column.n_categories)[: column.n_categories] / len(codes)
            found[j] = shares @ column.table @ shares / differing
    return found


def _bits(n_codes: int) -> Bits:
    """For every code a bit of its own or, of many codes, two bits that few others share.

    The codes of a node are often a range. Of a wide one, high up in the tree, the bit that neighbours share tells which
    codes are absent; of a narrow one, far down, the bit that they do not share.
    """
    codes = np.arange(n_codes, dtype=np.uint64)
    one, half = np.uint64(1), np.uint64(_BITS // 2)
    if n_codes <= _BITS:
        return one << codes
    return one << codes % half | one << half + codes * half // np.uint64(n_codes)


def _bits_in_nodes(bits: Bits, starts: IntArray) -> Bits:
    """For each node and column the bits of all its points, which are in the order of the leaves."""
    levels = [np.bitwise_or.reduceat(bits, starts[:-1], axis=0)]
    while len(levels[-1]) > 1:  # ends: each level has half of the nodes of the one below
        levels.append(levels[-1][::2] | levels[-1][1::2])
    return np.concatenate(levels[::-1])


def _code_columns(nominal: tuple[NominalColumn, ...], codes: Codes, starts: IntArray) -> CodeColumns:
    """The codes of a tree's points, in the order of its leaves, as kernels take them."""
    lists = [_listed_distances(column) for column in nominal]
    least = [_distances_to_nearest_other(column) for column in nominal]
    list_sizes = np.array([listed.size for listed in lists])
    n_codes = np.array([len(one) for one in least])
    place_at = (np.cumsum(n_codes) - n_codes).astype(np.int64)
    bits = np.concatenate([_bits(n) for n in n_codes.tolist()])
    with_table = np.array([column.table is not None for column in nominal])
    has_missing = np.array([column.to_missing is not None for column in nominal])
    n_categories = np.array([column.n_categories for column in nominal])
    return CodeColumns(
        rows=np.ascontiguousarray(codes.T),
        present=_bits_in_nodes(bits[codes + place_at], starts),
        weights=np.array([column.weight for column in nominal]),
        missing=np.where(has_missing & ~with_table, n_categories, NONE_MISSING).astype(np.int32),
        list_at=np.where(list_sizes > 0, np.cumsum(list_sizes) - list_sizes, NO_LIST).astype(np.int64),
        row_lengths=np.where(with_table, n_categories + has_missing, 0).astype(np.int64),
        lists=np.concatenate([listed.ravel() for listed in lists]),
        place_at=place_at,
        bits=bits,
        least=np.concatenate(least),
    )


def _listed_distances(column: NominalColumn) -> FloatArray:
    """Squared distances that a weight does not tell: of a table all, otherwise those to a missing value."""
    to_missing = None if column.to_missing is None else np.append(column.to_missing, 0.0)
    if column.table is None:
        return np.empty(0) if to_missing is None else to_missing
    if to_missing is None:
        return column.table
    return np.vstack([np.column_stack([column.table, to_missing[:-1]]), to_missing])


def _distances_to_nearest_other(column: NominalColumn) -> FloatArray:
    """For every code, a missing value's last, the squared distance to the nearest other one."""
    least = np.full(column.n_categories, column.weight)
    if column.table is not None:
        for code, distances in enumerate(column.table):
            least[code] = min(distances[:code].min(initial=np.inf), distances[code + 1 :].min(initial=np.inf))
    if column.to_missing is None:
        return least
    return np.append(np.minimum(least, column.to_missing), column.to_missing.min(initial=np.inf))


def _in_runs(search: Callable[[IntArray], None], queries: FloatArray | Points) -> None:
    """Search for runs of queries that lie close together: they walk through the same leaves."""
    if len(queries) <= _QUERIES_AT_ONCE:
        search(np.arange(len(queries)))
        return
    order = _order_of_queries(queries)
    runs = [order[start : start + _QUERIES_AT_ONCE] for start in range(0, len(order), _QUERIES_AT_ONCE)]
    with ThreadPoolExecutor(cores()) as pool:
        for done, _ in enumerate(pool.map(search, runs), 1):
            report("searching for near records", done / len(runs))


def _order_of_queries(queries: FloatArray | Points) -> IntArray:
    numbers, codes = _numbers_and_codes(queries)
    return _halve(numbers, codes, _mean_distances(queries, codes))[0]
