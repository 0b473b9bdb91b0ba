"""MDAV by searching a wide kd-tree of the remaining rows (see `tree`, `search`)."""

from __future__ import annotations

import numpy as np

from microagg._kernels.jit import entry, inlined, merged
from microagg._kernels.simd import WIDTH
from microagg.partition._kernels.mdav.centroid_tracker import move_centroid, take_off
from microagg.partition._kernels.mdav.filter_space import place_query
from microagg.partition._kernels.mdav.nearest import sort_nearest
from microagg.partition._kernels.mdav.rows import Rows, select_rows
from microagg.partition._kernels.mdav.tree.search import (
    CELLS_FORMED,
    FAMILIES_SEEN,
    POINTS_SEEN,
    farthest_from_centroid,
    farthest_from_query,
    nearest_to_query,
)
from microagg.partition._kernels.mdav.tree.tree import FIRST, drop_row, refit


def remaining_rows(rows: Rows) -> Rows:
    """The rows that have records left."""
    return select_rows(rows, np.flatnonzero(rows.first < rows.end))


@inlined
def take_record(rows, tree, space, tracker, row, label, labels, changed, n_changed):
    """Give the row's first record the label; a row that is used up leaves the tree, its leaf is added to ``changed``.

    Returns the number of changed leaves.
    """
    labels[rows.members[rows.first[row]]] = label
    rows.first[row] += 1
    take_off(tracker, rows.values, row, space.nominal)
    if rows.first[row] == rows.end[row]:
        leaf = drop_row(tree, row, rows.values.shape[1])
        for i in range(n_changed):
            if changed[i] == leaf:
                return n_changed
        changed[n_changed] = leaf
        n_changed += 1
    return n_changed


@merged
def take_cell(rows, tree, space, tracker, search, nearest, seed, cell, labels):
    """Make a cell of the seed's first record and its nearest."""
    dimension = rows.values.shape[1]
    for j in range(dimension):
        search.query[j] = rows.values[seed, j]
    place_query(search.query, space, search.query32)
    n_changed = take_record(rows, tree, space, tracker, seed, cell, labels, search.changed, FIRST)
    nearest_to_query(rows, tree, space, tracker, search, nearest)
    sort_nearest(nearest)
    for i in range(nearest.rows.shape[0]):
        n_changed = take_record(rows, tree, space, tracker, nearest.rows[i], cell, labels, search.changed, n_changed)
    refit(tree, search.changed, n_changed, dimension)


@entry
def form_cells_tree(k, two_cells_from, rows, tree, space, tracker, search, nearest, labels, state, work):
    """Form cells until about ``work`` distances or bounds were computed or fewer than 2k records remain.

    ``state`` holds the number of remaining records and of cells so far.
    """
    remaining, cell = state[0], state[1]
    seen = search.seen
    stop = seen[POINTS_SEEN] + WIDTH * seen[FAMILIES_SEEN] + work
    # Ends: k records leave with every cell.
    while remaining >= 2 * k and seen[POINTS_SEEN] + WIDTH * seen[FAMILIES_SEEN] <= stop:
        move_centroid(tracker, remaining, space)
        seed = farthest_from_centroid(rows, tree, space, tracker, search)
        formed = 2 if remaining >= two_cells_from else 1
        for turn in range(formed):
            if turn == 1:
                seed = farthest_from_query(rows, tree, space, tracker, search)
            take_cell(rows, tree, space, tracker, search, nearest, seed, cell + turn, labels)
        cell += formed
        remaining -= formed * k
        seen[CELLS_FORMED] += formed
    state[0], state[1] = remaining, cell
