"""Everything that is ever asked of records: counts. Nothing else of this folder sees a record.

Each question says how far one replaced record can move its answer; what mechanisms do with the answers is proved from
that in docs/algorithms/ranked_graph.md.
"""

from __future__ import annotations

from collections.abc import Sequence

import numpy as np

from microagg._typing import BoolArray, IntArray

__all__ = ["Records"]


class Records:
    """Records as points of public scales, one array for each attribute.

    The order of records never matters: every answer is a count.
    """

    def __init__(self, points: Sequence[IntArray]) -> None:
        self._points = list(points)
        self._sorted: dict[int, IntArray] = {}
        self._groups: list[IntArray] = []
        self._tables: dict[tuple[int, int], IntArray] = {}

    def count_runs(self, attribute: int, edges: IntArray) -> IntArray:
        """How many records lie in each run ``edges[i] .. edges[i+1] - 1``.

        A replaced record leaves one run and enters another: the counts change by at most 2 in all.
        """
        if attribute not in self._sorted:
            self._sorted[attribute] = np.sort(self._points[attribute])
        return np.diff(np.searchsorted(self._sorted[attribute], edges)).astype(np.int64)

    def count_points(self, attribute: int, size: int) -> IntArray:
        """How many records have each point. A replaced record changes the counts by at most 2 in all."""
        return np.bincount(self._points[attribute], minlength=size).astype(np.int64)

    def count_same_sides(self, attributes: Sequence[int], cuts: Sequence[int]) -> IntArray:
        """For each pair of attributes, how many records lie on the same side of both cuts (both below, or neither).

        A record is counted or not in each pair: each of the counts changes by at most 1.
        """
        above: list[BoolArray] = [self._points[one] >= cut for one, cut in zip(attributes, cuts, strict=True)]
        counts = [
            int(np.count_nonzero(above[i] == above[j])) for i in range(len(above)) for j in range(i + 1, len(above))
        ]
        return np.array(counts, dtype=np.int64)

    def group(self, edges: Sequence[IntArray], group_of_leaf: Sequence[IntArray]) -> None:
        """Recode points into groups, for tables: each record by itself."""
        self._groups = [
            groups[np.searchsorted(starts, points, side="right") - 1].astype(np.int16)
            for points, starts, groups in zip(self._points, edges, group_of_leaf, strict=True)
        ]
        self._sorted.clear()
        self._tables.clear()

    def count_table(self, one: int, other: int, shape: tuple[int, int]) -> IntArray:
        """How many records are in each pair of groups. A replaced record changes the table by at most 2 in all."""
        if (one, other) not in self._tables:  # each choice of a table compares all of them again
            cells = self._groups[one].astype(np.int64) * shape[1] + self._groups[other]
            self._tables[one, other] = np.bincount(cells, minlength=shape[0] * shape[1]).astype(np.int64)
        return self._tables[one, other].reshape(shape).copy()
