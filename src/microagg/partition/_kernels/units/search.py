"""Search for cells of k units that lose little: records are moved and exchanged while every cell keeps k units.

Descent takes the best change for each record in turn; annealing draws changes and accepts losses ever more rarely.
Kernels look at ``stop``, an array of one number that another thread sets, and end when it is not 0.
"""

from __future__ import annotations

import numpy as np

from microagg._kernels.jit import compiled
from microagg._kernels.random import draw_below, draw_share
from microagg.partition._kernels.rearrange.annealing import most_change, other_cell
from microagg.partition._kernels.rearrange.cells import draw_member
from microagg.partition._kernels.units.mend import (
    MOST_RECORDS,
    NONE,
    PARTNERS,
    carry_out,
    change_of_exchange,
    change_of_move,
    units_after,
)

LEAST_GAIN = 1e-9  # relative to the SSE per record; less is rounding
MOVES = 0.35  # how often a record is moved rather than exchanged


@compiled
def keeps_enough(cells, units, n_units, k, one, two, there):
    """Whether both cells hold k units once ``one`` goes there and ``two`` (NONE: none) comes back."""
    if units_after(cells, units, n_units, cells.label[one], one, two) < k:
        return False
    return two < 0 or units_after(cells, units, n_units, there, two, one) >= k


@compiled
def best_change(X, near, cells, units, n_units, k, record, least, nominal):
    """The cell that a record had best go to, and the record that comes back; NONE if nothing gains enough."""
    here = cells.label[record]
    target, partner = NONE, NONE
    looked_at = np.empty(PARTNERS, dtype=np.int64)
    count = 0
    for place in range(near.shape[1]):
        neighbour = near[record, place]
        if neighbour < 0 or count == PARTNERS:
            break
        there = cells.label[neighbour]
        known = there == here or cells.size[there] > MOST_RECORDS
        for i in range(count):
            known = known or looked_at[i] == there
        if known:
            continue
        looked_at[count] = there
        count += 1
        if cells.size[here] > k:
            change = change_of_move(X, cells, record, there, nominal)
            if change < least and keeps_enough(cells, units, n_units, k, record, NONE, there):
                target, partner, least = there, NONE, change
        other = cells.first[there]
        for _ in range(cells.size[there]):
            change = change_of_exchange(X, cells, record, other, nominal)
            if change < least and keeps_enough(cells, units, n_units, k, record, other, there):
                target, partner, least = there, other, change
            other = cells.after[other]
    return target, partner


@compiled
def descend(X, near, cells, units, n_units, k, touched, unit, stop, nominal):
    """Make the best change of each record of touched cells, one after the other; returns how many were made.

    The cells between which a record moved are the touched ones of the next round. ``unit`` is the SSE per record.
    """
    made, least = 0, -LEAST_GAIN * unit
    changed = np.zeros(len(touched), dtype=np.bool_)
    for record in range(X.shape[0]):
        if stop[0] != 0:
            return made
        here = cells.label[record]
        if not touched[here] or cells.size[here] > MOST_RECORDS:
            continue
        there, partner = best_change(X, near, cells, units, n_units, k, record, least, nominal)
        if there != NONE:
            carry_out(X, cells, units, n_units, record, partner, there, nominal)
            changed[here] = changed[there] = True
            made += 1
    touched[:] = changed
    return made


@compiled
def anneal_units(X, near, cells, units, n_units, k, steps, unit, warmth, rng, stop, nominal):
    """Try ``steps`` moves and exchanges at a temperature of ``warmth`` times ``unit``; returns how many were made."""
    n_records, made = X.shape[0], 0
    for _ in range(steps):
        if stop[0] != 0:
            break
        record = draw_below(rng, n_records)
        here, there = cells.label[record], other_cell(cells, near, record, rng)
        if there == here or max(cells.size[here], cells.size[there]) > MOST_RECORDS:
            continue
        if draw_share(rng) < MOVES:
            if cells.size[here] <= k:
                continue
            partner = NONE
            change = change_of_move(X, cells, record, there, nominal)
        else:
            partner = draw_member(cells, there, rng)
            change = change_of_exchange(X, cells, record, partner, nominal)
        if change < most_change(unit, warmth, rng) and keeps_enough(cells, units, n_units, k, record, partner, there):
            carry_out(X, cells, units, n_units, record, partner, there, nominal)
            made += 1
    return made
