"""How the values of one attribute are distributed within cells: what is promised, enforced and measured of them.

Every definition stands here once. Functions take the values of one attribute as codes or numbers and the cell of each
record, 0 to n_cells - 1, each in use; a missing value is a value of its own. Shares are formed in whole numbers and
divided once, so that a cell that just reaches a bound reaches it to the last bit.

All of them are monotone: where two cells satisfy a bound, the cell that holds the records of both does.
"""

from __future__ import annotations

from collections.abc import Sequence
from dataclasses import dataclass
from typing import Any

import numpy as np
import numpy.typing as npt

from microagg._typing import FloatArray, IntArray
from microagg.schema.taxonomy import Taxonomy, category_text

__all__ = [
    "ValueTree",
    "counts_in_cells",
    "distinct_per_cell",
    "earth_movers_nominal",
    "earth_movers_ordered",
    "earth_movers_tree",
    "entropy_per_cell",
    "fits_whole_numbers",
    "largest_share_per_cell",
    "range_per_cell",
    "recursive_per_cell",
]


def fits_whole_numbers(n_records: int, n_values: int) -> bool:
    """Whether distances of cells of so many records can be formed in 64-bit whole numbers; else they are rounded.

    Examples
    --------
    >>> fits_whole_numbers(1_000_000, 1_000_000), fits_whole_numbers(3_000_000, 3_000_000)
    (True, False)
    """
    return n_records * n_records * max(n_values, 1) < 2**62


def counts_in_cells(codes: npt.NDArray[Any], labels: IntArray) -> tuple[IntArray, IntArray]:
    """The cell and the count of each value in each cell, in the order of the cells.

    Examples
    --------
    >>> counts_in_cells(np.array([5, 5, 7, 7]), np.array([0, 0, 0, 1]))
    (array([0, 0, 1]), array([2, 1, 1]))
    """
    dense = codes
    if not np.issubdtype(codes.dtype, np.integer) or codes.min() < 0 or codes.max() > len(codes):
        _, dense = np.unique(codes, return_inverse=True)
    n_codes = int(dense.max()) + 1
    pairs = labels * n_codes + dense
    if (int(labels.max()) + 1) * n_codes <= 4 * len(labels):  # counting is quicker than sorting
        counts = np.bincount(pairs).astype(np.int64)
        found = np.flatnonzero(counts)
        return found // n_codes, counts[found]
    found, counts = np.unique(pairs, return_counts=True)
    return found // n_codes, counts


def distinct_per_cell(codes: npt.NDArray[Any], labels: IntArray) -> tuple[IntArray, IntArray]:
    """For each cell, the number of different codes and the count of the most frequent one.

    Examples
    --------
    >>> distinct_per_cell(np.array([1, 1, 2, 3]), np.array([0, 0, 0, 1]))
    (array([2, 1]), array([2, 1]))
    """
    cell, counts = counts_in_cells(codes, labels)
    distinct = np.bincount(cell).astype(np.int64)
    largest = np.zeros(len(distinct), dtype=np.int64)
    np.maximum.at(largest, cell, counts)
    return distinct, largest


def largest_share_per_cell(codes: npt.NDArray[Any], labels: IntArray) -> FloatArray:
    """For each cell, the share of its records that have its most frequent value.

    Examples
    --------
    >>> largest_share_per_cell(np.array([1, 1, 2, 3]), np.array([0, 0, 0, 0])).tolist()
    [0.5]
    """
    _, largest = distinct_per_cell(codes, labels)
    shares: FloatArray = largest / np.bincount(labels)
    return shares


def entropy_per_cell(codes: npt.NDArray[Any], labels: IntArray) -> FloatArray:
    """For each cell, exp of the entropy of its codes: as diverse as that many equally frequent values.

    The smallest over all cells is the largest l of entropy l-diversity.

    Examples
    --------
    >>> entropy_per_cell(np.array([1, 2, 3, 1, 1, 2]), np.array([0, 0, 0, 1, 1, 1])).round(3).tolist()
    [3.0, 1.89]
    """
    cell, counts = counts_in_cells(codes, labels)
    shares = counts / np.bincount(labels)[cell]
    entropies = np.bincount(cell, -shares * np.log(shares))
    return np.exp(np.maximum(entropies, 0.0))


def recursive_per_cell(codes: npt.NDArray[Any], labels: IntArray, rarest: int = 2) -> FloatArray:
    """For each cell, r_1 / (r_l + ... + r_m), with r the counts of its values from the most frequent and l = `rarest`.

    The table has recursive (c, l)-diversity for every c above the largest of them. Infinite for a cell of fewer than l
    values: no c is large enough.

    Examples
    --------
    >>> recursive_per_cell(np.array([1, 1, 2, 3, 1, 1]), np.array([0, 0, 0, 0, 1, 1])).tolist()
    [1.0, inf]
    """
    cell, counts = counts_in_cells(codes, labels)
    order = np.lexsort((-counts, cell))
    cell, counts = cell[order], counts[order]
    distinct = np.bincount(cell)
    first = np.cumsum(distinct) - distinct
    tail = np.arange(len(cell)) - first[cell] >= rarest - 1
    rest = np.bincount(cell, counts * tail)
    with np.errstate(divide="ignore"):
        return np.asarray(counts[first] / rest, dtype=np.float64)


def range_per_cell(values: FloatArray, labels: IntArray) -> FloatArray:
    """For each cell, its largest number less its smallest; 0 for a cell with fewer than two numbers that are there.

    Examples
    --------
    >>> range_per_cell(np.array([1.0, 4.0, np.nan, 7.0, np.nan]), np.array([0, 0, 0, 1, 1])).tolist()
    [3.0, 0.0]
    """
    present = ~np.isnan(values)
    n_cells = int(labels.max()) + 1
    low, high = np.full(n_cells, np.inf), np.full(n_cells, -np.inf)
    np.minimum.at(low, labels[present], values[present])
    np.maximum.at(high, labels[present], values[present])
    spread: FloatArray = np.where(high > low, high, 0.0) - np.where(high > low, low, 0.0)
    return spread


@dataclass(frozen=True)
class ValueTree:
    """A tree over the values of a nominal attribute: how far two of them are apart.

    The height of a leaf is 0, that of another node one more than that of its highest child; two leaves are as far apart
    as their lowest common ancestor is high, relative to the root. An edge is half as long as its ends differ in height,
    so that this is the way along the edges. A value that is an inner node of a taxonomy is a leaf below it, so that the
    same holds of it.

    Attributes
    ----------
    parents : ndarray of shape (n_nodes,)
        The parent of each node; -1 for the root, which is the last one. Parents come after their children.
    nodes : ndarray of shape (n_values,)
        The node of each value.

    References
    ----------
    .. [1] Li, N., Li, T. & Venkatasubramanian, S. (2007). t-closeness: privacy beyond k-anonymity and l-diversity.
       ICDE 2007, 106-115 (hierarchical distance). doi:10.1109/ICDE.2007.367856
    """

    parents: IntArray
    nodes: IntArray

    @classmethod
    def star(cls, n_values: int) -> ValueTree:
        """All values at distance 1 from each other."""
        parents = np.full(n_values + 1, n_values, dtype=np.int64)
        parents[-1] = -1
        return cls(parents, np.arange(n_values, dtype=np.int64))

    @classmethod
    def of_taxonomy(cls, taxonomy: Taxonomy, values: Sequence[Any]) -> ValueTree:
        """The declared tree, with the nodes that values stand for; None, for missing, is a leaf under the root.

        Examples
        --------
        >>> tree = Taxonomy({"office": "any", "clerk": "office", "boss": "office", "smith": "any"})
        >>> ValueTree.of_taxonomy(tree, ["clerk", "boss", "smith", None]).distances().tolist()[0]
        [0.0, 0.5, 1.0, 1.0]
        """
        inner = {taxonomy.root, *taxonomy.parents.values()}
        names = [None if value is None else category_text(value) for value in values]
        # Each leaf that is added has a number for a name, which no category has.
        parent_of: dict[str | int, str] = {}
        parent_of.update(taxonomy.parents)
        leaves: list[str | int] = []
        for place, name in enumerate(names):
            leaf: str | int = place if name is None or name in inner else name
            if leaf == place:
                parent_of[place] = taxonomy.root if name is None else str(name)
            leaves.append(leaf)
        depths = {node: len(taxonomy.ancestors(node)) for node in inner}
        order = sorted(parent_of, key=lambda node: -depths[parent_of[node]])  # children before their parents
        place_of: dict[str | int, int] = {node: place for place, node in enumerate([*order, taxonomy.root])}
        parents = [*(place_of[parent_of[node]] for node in order), -1]
        return cls(np.array(parents, dtype=np.int64), np.array([place_of[leaf] for leaf in leaves], dtype=np.int64))

    @property
    def heights(self) -> IntArray:
        heights = np.zeros(len(self.parents), dtype=np.int64)
        for node, parent in enumerate(self.parents[:-1]):
            heights[parent] = max(heights[parent], heights[node] + 1)
        return heights

    @property
    def steps(self) -> IntArray:
        """By how much the parent of each node is higher; 0 for the root."""
        heights = self.heights
        return np.append(heights[self.parents[:-1]] - heights[:-1], 0)

    @property
    def height(self) -> int:
        """Of the root; 1 if it is the only node, so that it can be divided by."""
        return max(int(self.heights[-1]), 1)

    def totals(self, counts: IntArray) -> IntArray:
        """How many records are at each node or below it, from the counts of the values (along the last axis)."""
        found = np.zeros((*counts.shape[:-1], len(self.parents)), dtype=np.int64)
        for value, node in enumerate(self.nodes):
            found[..., node] += counts[..., value]
        for node, parent in enumerate(self.parents[:-1]):
            found[..., parent] += found[..., node]
        return found

    @property
    def paths(self) -> IntArray:
        """For each value its node, the parent of that, and so on up to the root, then -1."""
        levels = [self.nodes]
        while (levels[-1] >= 0).any():  # ends: parents come after their children
            levels.append(np.where(levels[-1] >= 0, self.parents[levels[-1]], -1))
        return np.array(levels).T

    def distances(self) -> FloatArray:
        """The distance between every two values."""
        ones = np.eye(len(self.nodes), dtype=np.int64)
        below = self.totals(ones)
        apart: FloatArray = (np.abs(below[:, None] - below[None, :]) * self.steps).sum(axis=2) / (2 * self.height)
        return apart


def earth_movers_tree(codes: IntArray, tree: ValueTree, labels: IntArray) -> FloatArray:
    """Distance of each cell's distribution to the table's along the edges of a tree.

    Over the nodes but the root, the sum of abs(q - p) of the shares at the node or below it, times the length of the
    edge to its parent: what it costs to move the one distribution to the other.

    Examples
    --------
    >>> tree = Taxonomy({"office": "any", "clerk": "office", "boss": "office", "smith": "any"})
    >>> tree = ValueTree.of_taxonomy(tree, ["clerk", "boss", "smith"])
    >>> earth_movers_tree(np.array([0, 1, 0, 2]), tree, np.array([0, 0, 1, 1])).tolist()
    [0.25, 0.25]
    """
    n_records, n_nodes = len(codes), len(tree.parents)
    whole = fits_whole_numbers(n_records, 4 * tree.height * n_nodes)
    sizes = np.bincount(labels).astype(np.int64 if whole else np.float64)
    overall = tree.totals(np.bincount(codes, minlength=len(tree.nodes)).astype(np.int64))
    steps = tree.steps
    # Where a cell has nothing at a node or below it, abs(q - p) is p: only its own nodes are looked at one by one.
    moved = sizes * int((steps * overall).sum())
    paths = tree.paths[codes]
    there = paths >= 0
    pairs, counts = np.unique((labels[:, None] * n_nodes + paths)[there], return_counts=True)
    cell, node = np.divmod(pairs, n_nodes)
    due = sizes[cell] * overall[node]
    np.add.at(moved, cell, steps[node] * (np.abs(counts * n_records - due) - due))
    return np.asarray(moved / (2 * tree.height * sizes * n_records), dtype=np.float64)


def earth_movers_nominal(codes: npt.NDArray[np.generic], labels: IntArray) -> FloatArray:
    """Distance of each cell's distribution to the table's, all values at distance 1: half the sum of abs(q - p).

    Examples
    --------
    >>> earth_movers_nominal(np.array(["a", "b", "a", "a"]), np.array([0, 0, 1, 1])).tolist()
    [0.25, 0.25]
    """
    found, dense = np.unique(codes, return_inverse=True)
    return earth_movers_tree(dense.astype(np.int64), ValueTree.star(len(found)), labels)


def earth_movers_ordered(values: FloatArray, labels: IntArray) -> FloatArray:
    """Earth mover's distance of each cell's distribution to the table's, along the order of the values.

    Neighbours among the m different values are at distance 1 / (m - 1). Missing values (NaN) are at distance 1 from
    all others: their difference in share is moved at that price, and the present values in proportion. With missing
    values this is what a feasible plan costs, so the distance is never understated.

    Notes
    -----
    The distance is the mean of abs(Q - P) of the cumulative shares over the first m - 1 values. Between two values of
    the cell, Q is constant and P rises, so abs(Q - P) is summed from running sums of P on both sides of the place where
    they meet: n log n for all cells together, however many different values there are.

    Examples
    --------
    >>> earth_movers_ordered(np.array([1.0, 2.0, 3.0, 3.0]), np.array([0, 0, 1, 1])).round(3).tolist()
    [0.375, 0.375]

    References
    ----------
    .. [1] Li, N., Li, T. & Venkatasubramanian, S. (2007). t-closeness: privacy beyond k-anonymity and l-diversity.
       ICDE 2007, 106-115. doi:10.1109/ICDE.2007.367856
    """
    missing = np.isnan(values)
    number = np.int64 if fits_whole_numbers(len(values), len(np.unique(values))) else np.float64
    sizes = np.bincount(labels).astype(number)
    present, n_present = np.bincount(labels[~missing], minlength=len(sizes)).astype(number), int((~missing).sum())
    moved, steps = _moved_along_order(values[~missing], labels[~missing], present)
    if n_present == len(values):
        return np.asarray(moved / (present * n_present * max(steps, 1)), dtype=np.float64)
    n_records, lacking, n_missing = len(values), sizes - present, len(values) - n_present
    between = np.abs(lacking * n_records - n_missing * sizes) / (sizes * n_records)
    # What is present moves along the order, as much of it as both have.
    both = np.where(lacking * n_records >= n_missing * sizes, sizes * n_present, n_records * present)
    along = np.divide(moved, both * max(steps, 1), out=np.zeros(len(sizes)), where=moved > 0)
    distance: FloatArray = between + along
    return distance


def _moved_along_order(values: FloatArray, labels: IntArray, sizes: npt.NDArray[Any]) -> tuple[npt.NDArray[Any], int]:
    """For each cell the sum of abs(n Q - size P) in counts of records, over the first m - 1 values; and m - 1."""
    n_records, n_cells = len(values), len(sizes)
    different, ranks, totals = np.unique(values, return_inverse=True, return_counts=True)
    steps = len(different) - 1
    if steps < 1:
        return np.zeros(n_cells, dtype=sizes.dtype), 0
    cumulative = np.cumsum(totals)[:-1]  # records up to the first, second, ... value; up to the last it is all
    running = np.append(0, np.cumsum(cumulative))
    order = np.lexsort((ranks, labels))
    cells, ranks = labels[order], ranks[order]
    first = np.append(0, np.cumsum(sizes))[:-1].astype(np.int64)
    used = first[sizes > 0]
    # From one value of the cell (or the beginning) to the next, Q is the number of the cell's records up to there.
    ahead = (np.arange(len(cells)) - first[cells] + 1).astype(sizes.dtype) * n_records
    size = sizes[cells]
    until = np.append(ranks[1:], steps)
    until[used[1:] - 1] = steps
    until = np.minimum(until, steps)
    start = np.minimum(ranks, steps)
    # Up to where they meet the cell is ahead of the table, from there on the table of the cell.
    meet = np.clip(np.searchsorted(cumulative, -(-ahead // size)), start, until)
    parts = ahead * (meet - start) - size * (running[meet] - running[start])
    parts += size * (running[until] - running[meet]) - ahead * (until - meet)
    moved = np.zeros(n_cells, dtype=sizes.dtype)
    np.add.at(moved, cells, parts)
    moved[cells[used]] += size[used] * running[start[used]]
    return moved, steps
