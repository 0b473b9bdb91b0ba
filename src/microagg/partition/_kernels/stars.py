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

from microagg._kernels.jit import compiled

DONE, TOO_MANY = 0, 1


class Workspace(NamedTuple):
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


@compiled
def allocate_workspace(n_records, k, most_candidates, kept):
    return Workspace(
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


@compiled
def distances_from(columns, centre, distances):
    distances[:] = 0.0
    for j in range(columns.shape[0]):
        here = columns[j, centre]
        for i in range(len(distances)):
            gap = columns[j, i] - here
            distances[i] += gap * gap


@compiled
def insert_least(least, count, value):
    """Keep the ``count`` least values, ascending."""
    if value < least[count - 1]:
        place = count - 1
        while place > 0 and least[place - 1] > value:  # ends: place falls
            least[place] = least[place - 1]
            place -= 1
        least[place] = value


@compiled
def choose_candidates(workspace, prices, centre, size):
    """Records whose ray can be in a negative star with size - 2 others, by ray, ascending; returns how many."""
    others = size - 2
    workspace.least[: max(others, 1)] = np.inf
    for i in range(len(prices)):
        if i != centre:
            ray = workspace.to_centre[i] / size - (prices[centre] + prices[i]) / (size - 1)
            workspace.ray[i] = ray
            if others > 0:
                insert_least(workspace.least, others, ray)
    best_others = 0.0
    for i in range(others):
        best_others += workspace.least[i]
    count = 0
    for i in range(len(prices)):
        if i != centre and workspace.ray[i] + min(best_others, 0.0) < 0.0:
            workspace.candidate[count] = i
            count += 1
    found = workspace.candidate[:count].copy()
    order = np.argsort(workspace.ray[found])
    for i in range(count):
        workspace.candidate[i] = found[order[i]]
    return count


@compiled
def distances_between(columns, workspace, count):
    for a in range(count):
        for b in range(a):
            total = 0.0
            for j in range(columns.shape[0]):
                gap = columns[j, workspace.candidate[a]] - columns[j, workspace.candidate[b]]
                total += gap * gap
            workspace.between[a, b] = total
            workspace.between[b, a] = total


@compiled
def least_completion(workspace, prices, depth, last, wanted, size, count):
    """A lower bound of what ``wanted`` more candidates after ``last`` add, and their sums of D for the next depth."""
    workspace.least[:wanted] = np.inf
    for c in range(last + 1, count):
        to_chosen = workspace.to_chosen[depth, c] + workspace.between[last, c]
        workspace.to_chosen[depth + 1, c] = to_chosen
        insert_least(workspace.least, wanted, to_chosen / size - prices[workspace.candidate[c]])
    total = 0.0
    for i in range(wanted):
        total += workspace.least[i]
    return total


@compiled
def keep_cell(workspace, centre, size, n_kept, cost):
    """Note the chosen cell among the best around this centre; returns how many those are."""
    if n_kept < len(workspace.best_cost):
        place = n_kept
        n_kept += 1
    else:
        place = np.argmax(workspace.best_cost)
        if cost >= workspace.best_cost[place]:
            return n_kept
    workspace.best_cost[place] = cost
    workspace.best_cell[place, :] = -1
    workspace.best_cell[place, 0] = centre
    for depth in range(size - 1):
        workspace.best_cell[place, 1 + depth] = workspace.candidate[workspace.chosen[depth]]
    return n_kept


@compiled
def go_through_stars(workspace, prices, centre, size, count, tolerance, deficit, nodes, n_kept, stop):
    """Go through the negative stars of ``size`` around a centre, depth first; returns nodes left and cells kept.

    ``deficit`` is lowered to the least reduced cost per record of the cells each record is in. Nodes below 0 say that
    not all were gone through: there were too many, or ``stop`` was set.
    """
    depth = 0
    workspace.chosen[0] = -1
    workspace.star[0], workspace.pairs[0], workspace.earned[0] = 0.0, 0.0, prices[centre]
    for c in range(count):
        workspace.to_chosen[0, c] = workspace.to_centre[workspace.candidate[c]]
    while depth >= 0:  # ends: a node is spent, or a level left; between two nodes at most all levels are left
        workspace.chosen[depth] += 1
        c = workspace.chosen[depth]
        wanted = size - 1 - depth
        # Rays ascend: if this one fails with equals after it, all later ones do.
        if c > count - wanted or workspace.star[depth] + wanted * workspace.ray[workspace.candidate[c]] >= 0.0:
            depth -= 1
            continue
        nodes -= 1
        if stop[0] != 0:
            nodes = -1
        if nodes < 0:
            break
        record = workspace.candidate[c]
        pairs = workspace.pairs[depth] + workspace.to_chosen[depth, c]
        earned = workspace.earned[depth] + prices[record]
        cost = pairs / size - earned
        if wanted == 1:
            if cost < -tolerance:
                share = cost / size
                deficit[centre] = min(deficit[centre], share)
                for i in range(size - 1):
                    member = workspace.candidate[workspace.chosen[i]]
                    deficit[member] = min(deficit[member], share)
                n_kept = keep_cell(workspace, centre, size, n_kept, cost)
            continue
        if cost + least_completion(workspace, prices, depth, c, wanted - 1, size, count) >= -tolerance:
            continue
        workspace.star[depth + 1] = workspace.star[depth] + workspace.ray[record]
        workspace.pairs[depth + 1] = pairs
        workspace.earned[depth + 1] = earned
        depth += 1
        workspace.chosen[depth] = c
    return nodes, n_kept


@compiled
def price_cells(columns, prices, k, first, last, most_candidates, exact, kept, tolerance, nodes, stop):
    """Find cells of negative reduced cost with a negative star around the records first..last-1.

    Returns the cells found (rows padded with -1), the deficit per record, and whether all stars were gone through;
    without ``exact`` only the ``most_candidates`` best candidates of each star are tried.
    """
    n_records = len(prices)
    workspace = allocate_workspace(n_records, k, most_candidates, kept)
    cells = np.empty(((last - first) * kept, 2 * k - 1), dtype=np.int64)
    n_cells = 0
    deficit = np.zeros(n_records)
    state = DONE
    for centre in range(first, last):
        distances_from(columns, centre, workspace.to_centre)
        n_kept = 0
        for size in range(k, 2 * k):
            count = choose_candidates(workspace, prices, centre, size)
            if count > most_candidates:
                if exact:
                    state = TOO_MANY
                count = most_candidates
            if count < size - 1:
                continue
            distances_between(columns, workspace, count)
            nodes, n_kept = go_through_stars(
                workspace, prices, centre, size, count, tolerance, deficit, nodes, n_kept, stop
            )
            if nodes < 0:
                return cells[:n_cells], deficit, TOO_MANY
        for i in range(n_kept):
            cells[n_cells] = workspace.best_cell[i]
            n_cells += 1
    return cells[:n_cells], deficit, state
