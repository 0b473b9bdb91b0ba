"""Which heap a leaf's records go to, and which heaps make up a shard."""

from __future__ import annotations

from collections.abc import Sequence
from dataclasses import dataclass
from itertools import pairwise

import numpy as np

from microagg._typing import IntArray
from microagg.engines.planning.plan import Plan
from microagg.engines.shards import merge_small

__all__ = ["Layout"]


@dataclass(frozen=True)
class Layout:
    """Heaps of a plan: one for each leaf of a tree, but small groups share one; several for a very frequent row.

    Attributes
    ----------
    heap_of_leaf : tuple of int
        For the leaves of all trees, in their order.
    first_of_row : tuple of int
        The first heap of each frequent row; at the end, how many heaps there are.
    """

    heap_of_leaf: tuple[int, ...]
    first_of_row: tuple[int, ...]

    @classmethod
    def of(cls, plan: Plan) -> Layout:
        heaps: list[int] = []
        number, room = -1, -1
        for tree, n in zip(plan.trees, plan.n_light, strict=True):
            if tree.n_leaves > 1:
                heaps += range(number + 1, number + 1 + tree.n_leaves)
                number, room = number + tree.n_leaves, -1
                continue
            if n > room:
                number, room = number + 1, plan.shard_records
            heaps.append(number)
            room -= int(n)
        pieces = [max(1, -(-int(n) // plan.shard_records)) for n in plan.n_heavy]
        return cls(tuple(heaps), tuple(np.cumsum([number + 1, *pieces]).tolist()))

    @property
    def n_heaps(self) -> int:
        return self.first_of_row[-1]

    def heaps(self, leaves: IntArray, spread: IntArray) -> IntArray:
        """The heap of each record; `spread` are numbers of chance that decide where a frequent row's records go."""
        n_trees = len(self.heap_of_leaf)
        found = np.array(self.heap_of_leaf, dtype=np.int64)[np.minimum(leaves, n_trees - 1)]
        rows = np.flatnonzero(leaves >= n_trees)
        if len(rows):
            first = np.array(self.first_of_row, dtype=np.int64)
            place = leaves[rows] - n_trees
            found[rows] = first[place] + spread[rows] % (first[place + 1] - first[place])
        return found

    def shards(self, plan: Plan, counts: IntArray, k: int) -> list[list[int]]:
        """Heaps in shards of at least k records each, which hold every heap that has records, once."""
        shards: list[list[int]] = []
        first = plan.first_leaves
        shared: set[int] = set()
        for place, tree in enumerate(plan.trees):
            start, stop = (self.heap_of_leaf[leaf] for leaf in (first[place], first[place + 1] - 1))
            if tree.n_leaves > 1:
                merged = merge_small(tree, counts[start : stop + 1].tolist(), k)
                shards += [[start + leaf for leaf in group] for group in merged]
            elif counts[start] and start not in shared:
                shared.add(start)
                shards.append([start])
        for start, stop in pairwise(self.first_of_row):
            shards += _pieces(range(start, stop), counts, k)
        return shards


def _pieces(heaps: Sequence[int], counts: IntArray, k: int) -> list[list[int]]:
    """The heaps of one frequent row, in shards."""
    pieces: list[list[int]] = []
    for heap in heaps:
        if pieces and sum(counts[one] for one in pieces[-1]) < k:
            pieces[-1].append(heap)
        elif counts[heap]:
            pieces.append([heap])
    if len(pieces) > 1 and sum(counts[one] for one in pieces[-1]) < k:
        pieces[-2:] = [pieces[-2] + pieces[-1]]
    return [[heap for heap in piece if counts[heap]] for piece in pieces]
