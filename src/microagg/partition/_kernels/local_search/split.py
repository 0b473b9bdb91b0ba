"""Median splits: halve records along their widest attribute, again and again; O(n d log n)."""

from __future__ import annotations

import numpy as np

from microagg._kernels.jit import compiled
from microagg.partition._kernels.random import draw_share


@compiled
def before(values, order, i, value, record):
    """Whether the record at place i comes before (value, record); equal values go by record index."""
    other = values[order[i]]
    return other < value or (other == value and order[i] < record)


@compiled
def after(values, order, i, value, record):
    other = values[order[i]]
    return other > value or (other == value and order[i] > record)


@compiled
def part_at(values, order, start, stop, place):
    """Reorder order[start:stop] so that the records before ``place`` are those with the least values (quickselect)."""
    left, right = start, stop - 1
    while left < right:  # ends: i and j pass each other, so the run left over is shorter
        record = order[(left + right) // 2]
        value = values[record]
        i, j = left, right
        while i <= j:  # ends: the pivot, or what was swapped, stops both walks, and then i and j step on
            while before(values, order, i, value, record):  # ends
                i += 1
            while after(values, order, j, value, record):  # ends
                j -= 1
            if i <= j:
                order[i], order[j] = order[j], order[i]
                i += 1
                j -= 1
        if place <= j:
            right = j
        elif place >= i:
            left = i
        else:
            return


@compiled
def widest_attribute(columns, order, start, stop, rng, wobble):
    """The attribute with the largest variance among the records; each first shrunk by up to the share ``wobble``."""
    widest, most = 0, -1.0
    count = stop - start
    for j in range(columns.shape[0]):
        column = columns[j]
        mean = 0.0
        for i in range(start, stop):
            mean += column[order[i]]
        mean /= count
        spread = 0.0
        for i in range(start, stop):
            gap = column[order[i]] - mean
            spread += gap * gap
        if wobble > 0.0:
            spread *= 1.0 - wobble * draw_share(rng)
        if spread > most:
            widest, most = j, spread
    return widest


@compiled
def split_records(columns, order, unit, rng, wobble, stop):
    """Halve the records in ``order`` down to runs of unit to 2 unit - 1; return where each run starts, and the end.

    ``columns`` has one row per attribute. All runs but those at the far end of a split have exactly ``unit`` records.
    When ``stop`` is set, it halves nothing further, and runs are longer.
    """
    n_records = len(order)
    starts = np.empty(n_records // unit + 2, dtype=np.int64)
    n_runs = 0
    pending = np.empty((64, 2), dtype=np.int64)
    pending[0, 0], pending[0, 1] = 0, n_records
    n_pending = 1
    while n_pending > 0:  # ends: each turn makes a run, or two shorter pieces of one
        n_pending -= 1
        start, end = pending[n_pending, 0], pending[n_pending, 1]
        n_units = (end - start) // unit
        if n_units < 2 or stop[0] != 0:
            starts[n_runs] = start
            n_runs += 1
            continue
        middle = start + (n_units // 2) * unit
        axis = widest_attribute(columns, order, start, end, rng, wobble)
        part_at(columns[axis], order, start, end, middle)
        pending[n_pending, 0], pending[n_pending, 1] = middle, end
        pending[n_pending + 1, 0], pending[n_pending + 1, 1] = start, middle
        n_pending += 2
    starts[n_runs] = n_records
    return starts[: n_runs + 1]
