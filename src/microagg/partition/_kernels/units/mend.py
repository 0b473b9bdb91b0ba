"""Give every cell records of at least k units: exchange and move records, join cells, divide large ones again.

``units`` says whose each record is, ``n_units`` how many units each cell holds. A record that joins a cell never lowers
that number, and one that leaves lowers it by one if no other record of its unit stays. Joining cells ends, at the
latest with one cell, which holds all units.
"""

from __future__ import annotations

import numpy as np

from microagg._kernels.jit import compiled
from microagg.partition._kernels.rearrange.cells import (
    NOBODY,
    between,
    join,
    link,
    list_members,
    sum_up_cell,
    to_cell,
    unlink,
)
from microagg.partition._kernels.rearrange.repair import nearest_cell

MOST_RECORDS = 400  # of a cell; records of larger ones are not exchanged, since whose they are is looked up one by one
NONE = np.int64(NOBODY)  # of a type of its own, so that what takes it is compiled once
PARTNERS = 6  # near cells of a record that it may be exchanged with


@compiled
def count_units(cells, units, cell, seen, mark):
    """How many units a cell holds; ``seen`` has a place for each unit, and no ``mark`` yet."""
    count, record = 0, cells.first[cell]
    for _ in range(cells.size[cell]):
        if seen[units[record]] != mark:
            seen[units[record]] = mark
            count += 1
        record = cells.after[record]
    return count


@compiled
def count_all_units(cells, units):
    """How many units each cell holds."""
    seen = np.full(units.max() + 1, -1)
    n_units = np.zeros(len(cells.size), dtype=np.int64)
    for cell in range(len(cells.size)):
        n_units[cell] = count_units(cells, units, cell, seen, cell)
    return n_units


@compiled
def has_unit(cells, units, cell, unit, but):
    """Whether a cell has a record of a unit, other than the record ``but``."""
    record = cells.first[cell]
    for _ in range(cells.size[cell]):
        if units[record] == unit and record != but:
            return True
        record = cells.after[record]
    return False


@compiled
def units_after(cells, units, n_units, cell, leaves, joins):
    """How many units a cell holds once one record leaves and another joins (NONE: none does)."""
    count = n_units[cell]
    if leaves >= 0 and not has_unit(cells, units, cell, units[leaves], leaves):
        count -= 1
    if joins >= 0:
        comes_back = leaves >= 0 and units[joins] == units[leaves]
        if comes_back:
            if count < n_units[cell]:
                count += 1
        elif not has_unit(cells, units, cell, units[joins], NONE):
            count += 1
    return count


@compiled
def change_of_move(X, cells, record, there, nominal):
    """What moving a record to another cell adds to the SSE."""
    here = cells.label[record]
    less = cells.pairs[here] - to_cell(X, cells, record, here, nominal)
    more = cells.pairs[there] + to_cell(X, cells, record, there, nominal)
    change = -cells.pairs[here] / cells.size[here] + more / (cells.size[there] + 1)
    change -= cells.pairs[there] / cells.size[there]
    return change + (less / (cells.size[here] - 1) if cells.size[here] > 1 else 0.0)


@compiled
def change_of_exchange(X, cells, one, two, nominal):
    """What exchanging two records of different cells adds to the SSE."""
    here, there = cells.label[one], cells.label[two]
    apart = between(X, one, two, nominal)
    at_here = to_cell(X, cells, two, here, nominal) - to_cell(X, cells, one, here, nominal) - apart
    at_there = to_cell(X, cells, one, there, nominal) - to_cell(X, cells, two, there, nominal) - apart
    return at_here / cells.size[here] + at_there / cells.size[there]


@compiled
def carry_out(X, cells, units, n_units, one, two, there, nominal):
    """Move a record to another cell, in exchange for a record of it unless that is NONE."""
    here = cells.label[one]
    at_here, at_there = (
        units_after(cells, units, n_units, here, one, two),
        units_after(cells, units, n_units, there, two, one),
    )
    unlink(X, cells, one)
    if two >= 0:
        unlink(X, cells, two)
        link(X, cells, two, here)
    link(X, cells, one, there)
    n_units[here], n_units[there] = at_here, at_there
    sum_up_cell(X, cells, here, nominal)
    sum_up_cell(X, cells, there, nominal)


@compiled
def take_in_one(X, near, cells, units, n_units, k, cell, own, nominal):
    """Bring a record of a further unit into a cell that has fewer than k, where that adds least to the SSE.

    It moves there if its own cell can spare it, or is exchanged for one of several that a unit has in the cell. No
    other cell is left with fewer units than k, or than it had if these were fewer. Returns whether there was one.
    """
    n_own = list_members(cells, cell, own, 0)
    best_in, best_out, least = NONE, NONE, np.inf
    for i in range(n_own):
        for place in range(near.shape[1]):
            record = near[own[i], place]
            if record < 0:
                break
            there = cells.label[record]
            if there == cell or cells.size[there] > MOST_RECORDS or record == best_in:
                continue
            if has_unit(cells, units, cell, units[record], NONE):
                continue
            enough = min(k, n_units[there])
            if cells.size[there] > k and units_after(cells, units, n_units, there, record, NONE) >= enough:
                added = change_of_move(X, cells, record, cell, nominal)
                if added < least:
                    best_in, best_out, least = record, NONE, added
            for j in range(n_own):
                added = change_of_exchange(X, cells, own[j], record, nominal)
                if added >= least or not has_unit(cells, units, cell, units[own[j]], own[j]):
                    continue
                if units_after(cells, units, n_units, there, record, own[j]) >= enough:
                    best_in, best_out, least = record, own[j], added
    if best_in == NONE:
        return False
    carry_out(X, cells, units, n_units, best_in, best_out, cell, nominal)
    return True


@compiled
def exchange_until_enough(X, near, cells, units, n_units, k, touched, stop, nominal):
    """Bring records of further units into every cell that has fewer than k, as long as there are any near it.

    ``touched`` marks cells whose records changed.
    """
    own = np.empty(MOST_RECORDS, dtype=np.int64)
    for cell in range(len(cells.size)):
        if cells.size[cell] == 0 or cells.size[cell] >= MOST_RECORDS:
            continue
        for _ in range(k):
            if stop[0] != 0 or n_units[cell] >= k or cells.size[cell] >= MOST_RECORDS:
                break
            touched[cell] = True
            if not take_in_one(X, near, cells, units, n_units, k, cell, own, nominal):
                break


@compiled
def join_until_enough(X, near, cells, units, n_units, k, touched, stop, nominal):
    """Join every cell of fewer than k units with the nearest one, turn by turn; returns how many are left."""
    n_cells = len(cells.size)
    seen, mark = np.full(units.max() + 1, -1), 0
    for _ in range(n_cells):  # every turn joins, or is the last
        joined = 0
        for cell in range(n_cells):
            if stop[0] != 0:
                return joined + 1
            if cells.size[cell] == 0 or n_units[cell] >= k:
                continue
            other = nearest_cell(X, near, cells, cell, nominal)
            if other == NONE:
                continue
            join(X, cells, cell, other, nominal)
            n_units[cell], n_units[other] = count_units(cells, units, cell, seen, mark), 0
            touched[cell] = True
            mark += 1
            joined += 1
        if joined == 0:
            break
    missing = 0
    for cell in range(n_cells):
        missing += cells.size[cell] > 0 and n_units[cell] < k
    return missing


@compiled
def list_along(X, cells, cell, records, places, nominal):
    """List a cell's records with their places along the line between two far ones; returns whether they differ."""
    size = list_members(cells, cell, records, 0)
    left, right = records[0], records[0]
    for _ in range(2):
        farthest = -1.0
        for i in range(size):
            apart = between(X, records[i], left, nominal)
            if apart > farthest:
                right, farthest = records[i], apart
        left, right = right, left
    for i in range(size):
        places[i] = between(X, records[i], left, nominal) - between(X, records[i], right, nominal)
    return between(X, left, right, nominal) > 0.0


@compiled
def part_off(X, cells, records, nominal):
    """Make some records of a cell a cell of their own, which gets a free number; returns it."""
    cell = cells.label[records[0]]
    cells.n_free[0] -= 1
    other = cells.free[cells.n_free[0]]
    for record in records:
        unlink(X, cells, record)
        link(X, cells, record, other)
    sum_up_cell(X, cells, cell, nominal)
    sum_up_cell(X, cells, other, nominal)
    return other
