"""Make every cell satisfy its requirements: exchange records while that brings cells nearer, join cells until it does.

Requirements are monotone: what two cells satisfy, the cell of their records does. So joining ends, at the latest with
one cell, which satisfies them if any partition does.
"""

from __future__ import annotations

import numpy as np

from microagg._kernels.jit import compiled
from microagg.partition._kernels.rearrange.cells import (
    NOBODY,
    between,
    centroid_distance,
    join,
    link,
    list_members,
    sum_up_cell,
    to_cell,
    unlink,
)
from microagg.partition._kernels.rearrange.rules import excess_of_cell

ASKED = 200  # records of a large cell whose neighbours are looked at
PARTNERS = 6  # near cells that a cell exchanges records with


@compiled
def excess(cells, rules, scratch, cell):
    """By how much a cell misses its requirements."""
    return excess_of_cell(rules, scratch, list_members(cells, cell, scratch.records, 0), False)


@compiled
def excess_with(cells, rules, scratch, cell, leaves, joins):
    """By how much a cell would miss its requirements with another record in the place of one of its own."""
    size = list_members(cells, cell, scratch.records, 0)
    for place in range(size):
        if scratch.records[place] == leaves:
            scratch.records[place] = joins
            break
    return excess_of_cell(rules, scratch, size, False)


@compiled
def nearest_cell(X, near, cells, cell, nominal):
    """The cell whose joining with this one adds least, among those of near records; among all if these are its own."""
    best, least = NOBODY, np.inf
    record = cells.first[cell]
    for _ in range(min(cells.size[cell], ASKED)):
        known = NOBODY
        for place in range(near.shape[1]):
            neighbour = near[record, place]
            if neighbour < 0:
                break
            other = cells.label[neighbour]
            if other in (cell, best, known):
                continue
            known = other
            added = centroid_distance(X, cells, cell, other, nominal)
            if added < least or (added == least and other < best):
                best, least = other, added
        record = cells.after[record]
    if best != NOBODY:
        return best
    for other in range(len(cells.size)):
        if other != cell and cells.size[other] > 0:
            added = centroid_distance(X, cells, cell, other, nominal)
            if added < least or best == NOBODY:
                best, least = other, added
    return best


@compiled
def join_until_all_hold(X, near, cells, rules, scratch, stop, nominal):
    """Join every cell that misses a requirement with the nearest one, turn by turn, until none does.

    Returns how many cells still miss one: none, unless it was stopped or a single cell is left.
    """
    n_cells = len(cells.size)
    missing = np.zeros(n_cells, dtype=np.bool_)
    for cell in range(n_cells):
        missing[cell] = cells.size[cell] > 0 and excess(cells, rules, scratch, cell) > 0.0
    for _ in range(n_cells):  # every turn joins, or is the last
        joined = False
        for cell in range(n_cells):
            if stop[0] != 0:
                return missing.sum()
            if not missing[cell]:
                continue
            other = nearest_cell(X, near, cells, cell, nominal)
            if other == NOBODY:
                continue
            join(X, cells, cell, other, nominal)
            missing[other] = False
            missing[cell] = excess(cells, rules, scratch, cell) > 0.0
            joined = True
        if not joined:
            break
    return missing.sum()


@compiled
def near_cells(near, cells, cell, found):
    """Up to ``len(found)`` cells of records near the cell's own, nearest neighbours first; returns how many."""
    count = 0
    for place in range(near.shape[1]):
        record = cells.first[cell]
        for _ in range(cells.size[cell]):
            neighbour = near[record, place]
            record = cells.after[record]
            if neighbour < 0 or cells.label[neighbour] == cell:
                continue
            known = False
            for i in range(count):
                known = known or found[i] == cells.label[neighbour]
            if not known:
                found[count] = cells.label[neighbour]
                count += 1
                if count == len(found):
                    return count
    return count


@compiled
def best_exchange(X, cells, rules, scratch, cell, other, own, others, nominal):
    """The exchange between two cells that lowers what both miss most, of equal ones that with the least SSE.

    Returns the two records, and by how much less is missed; NOBODY if no exchange lowers it.
    """
    before = excess(cells, rules, scratch, cell) + excess(cells, rules, scratch, other)
    n_own, n_others = list_members(cells, cell, own, 0), list_members(cells, other, others, 0)
    one, two, most, least = NOBODY, NOBODY, 0.0, np.inf
    for i in range(n_own):
        leaves = to_cell(X, cells, own[i], other, nominal) / n_others - to_cell(X, cells, own[i], cell, nominal) / n_own
        for j in range(n_others):
            after = excess_with(cells, rules, scratch, cell, own[i], others[j])
            if before - after <= most - 1e-12:
                continue
            after += excess_with(cells, rules, scratch, other, others[j], own[i])
            gain = before - after
            if gain <= 1e-12 or gain < most - 1e-12:
                continue
            added = leaves + to_cell(X, cells, others[j], cell, nominal) / n_own
            added -= to_cell(X, cells, others[j], other, nominal) / n_others
            added -= between(X, own[i], others[j], nominal) * (1.0 / n_own + 1.0 / n_others)
            if gain > most + 1e-12 or added < least:
                one, two, most, least = own[i], others[j], max(gain, most), added
    return one, two, most


@compiled
def exchange_towards(X, near, cells, rules, scratch, most_records, stop, nominal):
    """Exchange records of cells that miss a requirement with near cells, as long as both together miss less.

    Cells of more than ``most_records`` are left alone. Every exchange lowers what is missed, and a cell makes at most
    as many as it has records.
    """
    own, others = np.empty(most_records, dtype=np.int64), np.empty(most_records, dtype=np.int64)
    partners = np.empty(PARTNERS, dtype=np.int64)
    made = 0
    for cell in range(len(cells.size)):
        if cells.size[cell] == 0 or cells.size[cell] > most_records:
            continue
        for _ in range(cells.size[cell]):
            if stop[0] != 0:
                return made
            if excess(cells, rules, scratch, cell) == 0.0:
                break
            one, two, most = NOBODY, NOBODY, 0.0
            for place in range(near_cells(near, cells, cell, partners)):
                other = partners[place]
                if cells.size[other] <= most_records:
                    first, second, gain = best_exchange(X, cells, rules, scratch, cell, other, own, others, nominal)
                    if gain > most:
                        one, two, most = first, second, gain
            if one == NOBODY:
                break
            other = cells.label[two]
            unlink(X, cells, one)
            unlink(X, cells, two)
            link(X, cells, one, other)
            link(X, cells, two, cell)
            sum_up_cell(X, cells, cell, nominal)
            sum_up_cell(X, cells, other, nominal)
            made += 1
    return made
