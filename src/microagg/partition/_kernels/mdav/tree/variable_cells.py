"""V-MDAV by searching a wide kd-tree: the cells of `plain.variable_cells`, found without looking at every record.

A cell asks who is nearest to any of its members. Each member keeps its own nearest remaining record; only members whose
nearest has just joined the cell ask again.
"""

from __future__ import annotations

from typing import NamedTuple

import numpy as np
import numpy.typing as npt

from microagg._kernels.jit import entry, inner
from microagg._kernels.simd import WIDTH
from microagg.partition._kernels.mdav.filter_space import place_query
from microagg.partition._kernels.mdav.nearest import NO_RECORD, Nearest, allocate_nearest, comes_before
from microagg.partition._kernels.mdav.tree.cells import take_cell, take_record
from microagg.partition._kernels.mdav.tree.search import FAMILIES_SEEN, POINTS_SEEN, nearest_to_query
from microagg.partition._kernels.mdav.tree.tree import FIRST, refit


class Growing(NamedTuple):
    """A cell that may grow: its members, and the nearest remaining record of each."""

    members: npt.NDArray[np.int64]  # rows
    distances: npt.NDArray[np.float64]
    records: npt.NDArray[np.int64]
    rows: npt.NDArray[np.int64]
    two: Nearest  # a record itself and the nearest other one


def allocate_growing(k: int) -> Growing:
    largest = 2 * k
    whole = [np.empty(largest, dtype=np.int64) for _ in range(3)]
    return Growing(whole[0], np.empty(largest), whole[1], whole[2], allocate_nearest(2))


@inner
def two_nearest(rows, tree, space, tracker, search, row, two):
    """The two records nearest to a row's values, in no order: ``two`` has the farther one first."""
    for j in range(rows.values.shape[1]):
        search.query[j] = rows.values[row, j]
    place_query(search.query, space, search.query32)
    nearest_to_query(rows, tree, space, tracker, search, two)


@inner
def ask_again(rows, tree, space, tracker, search, growing, size, joined, stop):
    """Renew the nearest record of every member that has none or whose nearest was ``joined``.

    Members have left the tree, so the nearer of the two nearest is the one.
    """
    for i in range(size):
        if stop[0] != 0:
            break
        if growing.records[i] == joined:
            two_nearest(rows, tree, space, tracker, search, growing.members[i], growing.two)
            growing.distances[i] = growing.two.distances[1]
            growing.records[i] = growing.two.records[1]
            growing.rows[i] = growing.two.rows[1]


@inner
def closest_to_cell(growing, size):
    """Which member has the nearest remaining record; the lowest record index of several."""
    best = 0
    for i in range(1, size):
        if comes_before(growing.distances[i], growing.records[i], growing.distances[best], growing.records[best]):
            best = i
    return best


@entry
def form_variable_cells_tree(
    k, gamma, outside_in, row_of, rows, tree, space, tracker, search, nearest, growing, labels, state, work, stop
):
    """Form cells until about ``work`` distances or bounds were computed or fewer than k records remain.

    ``outside_in`` lists records from the farthest to the nearest to the overall centroid; ``state`` holds the
    number of remaining records, of cells so far, and the place in ``outside_in``. When ``stop`` is set, it leaves a
    cell unfinished.
    """
    dimension = rows.values.shape[1]
    remaining, cell, place = state[0], state[1], state[2]
    seen = search.seen
    enough = seen[POINTS_SEEN] + WIDTH * seen[FAMILIES_SEEN] + work
    # Ends: k records or more leave with every cell.
    while remaining >= k and seen[POINTS_SEEN] + WIDTH * seen[FAMILIES_SEEN] <= enough and stop[0] == 0:
        while labels[outside_in[place]] >= 0:  # ends: some record remains, and all are listed
            place += 1
        seed = row_of[outside_in[place]]
        take_cell(rows, tree, space, tracker, search, nearest, seed, cell, labels)
        remaining -= k
        size = k
        if gamma > 0:
            growing.members[0] = seed
            for i in range(k - 1):
                growing.members[i + 1] = nearest.rows[i]
            for i in range(k):
                growing.records[i] = NO_RECORD
            joined = NO_RECORD
            while size < 2 * k - 1 and remaining > 0 and stop[0] == 0:  # ends: the cell grows, or the loop breaks
                ask_again(rows, tree, space, tracker, search, growing, size, joined, stop)
                if stop[0] != 0:  # some members may not know their nearest yet
                    break
                best = closest_to_cell(growing, size)
                candidate, distance = growing.rows[best], growing.distances[best]
                joined = growing.records[best]
                # The candidate is its own nearest; with no other record outside the next is infinitely far.
                two_nearest(rows, tree, space, tracker, search, candidate, growing.two)
                if not np.sqrt(distance) < gamma * np.sqrt(growing.two.distances[0]):
                    break
                n_changed = take_record(rows, tree, space, tracker, candidate, cell, labels, search.changed, FIRST)
                refit(tree, search.changed, n_changed, dimension)
                growing.members[size], growing.records[size] = candidate, joined
                size += 1
                remaining -= 1
        cell += 1
    state[0], state[1], state[2] = remaining, cell, place
