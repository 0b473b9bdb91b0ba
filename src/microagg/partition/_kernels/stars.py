"""Exact pricing of cells: every cell that would lower the loss at given prices of records, found by its stars.

A cell G of s records costs SSE(G) = (sum of D over its pairs) / s and earns the prices pi of its records. Shared out to
pairs, its reduced cost is the sum of w(i, j) = D(i, j) / s - (pi[i] + pi[j]) / (s - 1): half the sum over its members v
of their stars, the sums of w(v, j) over the others. If it is negative, so is the star of some member v. To find all
cells with negative reduced cost it is enough to go through the negative stars around each record, of which there
are few once prices are good.
"""

from __future__ import annotations

from typing import NamedTuple

import numpy as np
from numba import njit

DONE, TOO_MANY = 0, 1


class Room(NamedTuple):
    """Working space of one thread."""

    to_centre: np.ndarray  # (n_records,) D from the centre of the star
    candidate: np.ndarray  # (n_records,) records that can be in a negative star
    ray: np.ndarray  # (n_records,) w from the centre to each candidate
    between: np.ndarray  # (most candidates, most candidates) D
    to_chosen: np.ndarray  # (2k, most candidates) sum of D to the records chosen so far, by depth
    chosen: np.ndarray  # (2k,) place of the candidate chosen at each depth
    star: np.ndarray  # (2k,) sums over what is chosen, by depth: of w,
    pairs: np.ndarray  # ... of D over pairs,
    earned: np.ndarray  # ... of prices
    least: np.ndarray  # (2k,)
    best_cost: np.ndarray  # (kept,) the best cells around this centre
    best_cell: np.ndarray  # (kept, 2k - 1)


@njit(cache=True, nogil=True)
def room_for_stars(n_records, k, most_candidates, kept):
    return Room(
        to_centre=np.empty(n_records),
        candidate=np.empty(n_records, dtype=np.int64),
        ray=np.empty(n_records),
        between=np.empty((most_candidates, most_candidates)),
        to_chosen=np.empty((2 * k, most_candidates)),
        chosen=np.empty(2 * k, dtype=np.int64),
        star=np.empty(2 * k),
        pairs=np.empty(2 * k),
        earned=np.empty(2 * k),
        least=np.empty(2 * k),
        best_cost=np.empty(kept),
        best_cell=np.empty((kept, 2 * k - 1), dtype=np.int64),
    )


@njit(cache=True, nogil=True)
def distances_from(columns, centre, distances):
    distances[:] = 0.0
    for j in range(columns.shape[0]):
        here = columns[j, centre]
        for i in range(len(distances)):
            gap = columns[j, i] - here
            distances[i] += gap * gap


@njit(cache=True, nogil=True)
def insert_least(least, count, value):
    """Keep the ``count`` least values, ascending."""
    if value < least[count - 1]:
        place = count - 1
        while place > 0 and least[place - 1] > value:  # ends: place falls
            least[place] = least[place - 1]
            place -= 1
        least[place] = value


@njit(cache=True, nogil=True)
def choose_candidates(room, prices, centre, size):
    """Records whose ray can be in a negative star with size - 2 others, by ray, ascending; returns how many."""
    others = size - 2
    room.least[: max(others, 1)] = np.inf
    for i in range(len(prices)):
        if i != centre:
            ray = room.to_centre[i] / size - (prices[centre] + prices[i]) / (size - 1)
            room.ray[i] = ray
            if others > 0:
                insert_least(room.least, others, ray)
    best_others = 0.0
    for i in range(others):
        best_others += room.least[i]
    count = 0
    for i in range(len(prices)):
        if i != centre and room.ray[i] + min(best_others, 0.0) < 0.0:
            room.candidate[count] = i
            count += 1
    found = room.candidate[:count].copy()
    order = np.argsort(room.ray[found])
    for i in range(count):
        room.candidate[i] = found[order[i]]
    return count


@njit(cache=True, nogil=True)
def distances_between(columns, room, count):
    for a in range(count):
        for b in range(a):
            total = 0.0
            for j in range(columns.shape[0]):
                gap = columns[j, room.candidate[a]] - columns[j, room.candidate[b]]
                total += gap * gap
            room.between[a, b] = total
            room.between[b, a] = total


@njit(cache=True, nogil=True)
def least_completion(room, prices, depth, last, wanted, size, count):
    """A lower bound of what ``wanted`` more candidates after ``last`` add, and their sums of D for the next depth."""
    room.least[:wanted] = np.inf
    for c in range(last + 1, count):
        to_chosen = room.to_chosen[depth, c] + room.between[last, c]
        room.to_chosen[depth + 1, c] = to_chosen
        insert_least(room.least, wanted, to_chosen / size - prices[room.candidate[c]])
    total = 0.0
    for i in range(wanted):
        total += room.least[i]
    return total


@njit(cache=True, nogil=True)
def keep_cell(room, centre, size, n_kept, cost):
    """Note the chosen cell among the best around this centre; returns how many those are."""
    if n_kept < len(room.best_cost):
        place = n_kept
        n_kept += 1
    else:
        place = np.argmax(room.best_cost)
        if cost >= room.best_cost[place]:
            return n_kept
    room.best_cost[place] = cost
    room.best_cell[place, :] = -1
    room.best_cell[place, 0] = centre
    for depth in range(size - 1):
        room.best_cell[place, 1 + depth] = room.candidate[room.chosen[depth]]
    return n_kept


@njit(cache=True, nogil=True)
def go_through_stars(room, prices, centre, size, count, tolerance, deficit, nodes, n_kept, stop):
    """Go through the negative stars of ``size`` around a centre, depth first; returns nodes left and cells kept.

    ``deficit`` is lowered to the least reduced cost per record of the cells each record is in. Nodes below 0 say that
    not all were gone through: there were too many, or it was told to ``stop``.
    """
    depth = 0
    room.chosen[0] = -1
    room.star[0], room.pairs[0], room.earned[0] = 0.0, 0.0, prices[centre]
    for c in range(count):
        room.to_chosen[0, c] = room.to_centre[room.candidate[c]]
    while depth >= 0:  # ends: a node is spent, or a level left; between two nodes at most all levels are left
        room.chosen[depth] += 1
        c = room.chosen[depth]
        wanted = size - 1 - depth
        # Rays ascend: if this one fails with equals after it, all later ones do.
        if c > count - wanted or room.star[depth] + wanted * room.ray[room.candidate[c]] >= 0.0:
            depth -= 1
            continue
        nodes -= 1
        if stop[0] != 0:
            nodes = -1
        if nodes < 0:
            break
        record = room.candidate[c]
        pairs = room.pairs[depth] + room.to_chosen[depth, c]
        earned = room.earned[depth] + prices[record]
        cost = pairs / size - earned
        if wanted == 1:
            if cost < -tolerance:
                share = cost / size
                deficit[centre] = min(deficit[centre], share)
                for i in range(size - 1):
                    member = room.candidate[room.chosen[i]]
                    deficit[member] = min(deficit[member], share)
                n_kept = keep_cell(room, centre, size, n_kept, cost)
            continue
        if cost + least_completion(room, prices, depth, c, wanted - 1, size, count) >= -tolerance:
            continue
        room.star[depth + 1] = room.star[depth] + room.ray[record]
        room.pairs[depth + 1] = pairs
        room.earned[depth + 1] = earned
        depth += 1
        room.chosen[depth] = c
    return nodes, n_kept


@njit(cache=True, nogil=True)
def price_cells(columns, prices, k, first, last, most_candidates, exact, kept, tolerance, nodes, stop):
    """Find cells of negative reduced cost with a negative star around the records first..last-1.

    Returns the cells found (rows padded with -1), the deficit per record, and whether all stars were gone through;
    without ``exact`` only the ``most_candidates`` best candidates of each star are tried.
    """
    n_records = len(prices)
    room = room_for_stars(n_records, k, most_candidates, kept)
    cells = np.empty(((last - first) * kept, 2 * k - 1), dtype=np.int64)
    n_cells = 0
    deficit = np.zeros(n_records)
    state = DONE
    for centre in range(first, last):
        distances_from(columns, centre, room.to_centre)
        n_kept = 0
        for size in range(k, 2 * k):
            count = choose_candidates(room, prices, centre, size)
            if count > most_candidates:
                if exact:
                    state = TOO_MANY
                count = most_candidates
            if count < size - 1:
                continue
            distances_between(columns, room, count)
            nodes, n_kept = go_through_stars(room, prices, centre, size, count, tolerance, deficit, nodes, n_kept, stop)
            if nodes < 0:
                return cells[:n_cells], deficit, TOO_MANY
        for i in range(n_kept):
            cells[n_cells] = room.best_cell[i]
            n_cells += 1
    return cells[:n_cells], deficit, state
