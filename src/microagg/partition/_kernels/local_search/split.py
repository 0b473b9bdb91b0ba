"""Median splits: halve records along their widest attribute, again and again; O(n d log n).

Codes are halved between two categories, as near to the middle as there is a border. An attribute without one in the
middle half has a category that half of the records share, and is not halved. Where no other attribute varies, records
are halved by their distance from one of them.
"""

from __future__ import annotations

import numpy as np

from microagg._kernels.codes import NO_TABLE
from microagg._kernels.jit import compiled
from microagg._kernels.nominal import numbers_of
from microagg._kernels.random import draw_below, draw_share


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
def widest_attribute(columns, order, start, stop, rng, wobble, nominal):
    """The attribute with the largest variance among the records; each first shrunk by up to the share ``wobble``."""
    widest, most = 0, -1.0
    count = stop - start
    for j in range(numbers_of(nominal, columns.shape[0])):
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
    return widest, most


@compiled
def border_near_middle(counts, n_categories, start, stop, unit):
    """The place between two categories that is nearest to the middle, or -1 if none is in the middle half."""
    count = stop - start
    least, nearest, below = max(count // 4, unit), -1, 0
    for code in range(n_categories):
        below += counts[code]
        if below < least or count - below < least:
            continue
        if nearest < 0 or abs(2 * below - count) < abs(2 * nearest - count):
            nearest = below
    return start + nearest if nearest >= 0 else -1


@compiled
def widest_code(columns, order, start, stop, unit, rng, wobble, nominal, counts, most):
    """The column of codes that varies more than ``most`` and any other, and where it is halved; -1 if there is none.

    What codes have in the sum of squared distances to a centroid is, by a weight per mismatch, known from their
    counts. By a table it is judged by pairs of records half of the run apart.
    """
    widest, middle = -1, -1
    if nominal is None:
        return widest, middle
    count = stop - start
    for j in range(nominal.weights.shape[0]):
        codes = columns[nominal.first + j]
        for i in range(start, stop):
            counts[np.int64(codes[order[i]])] += 1
        spread = 0.0
        if nominal.table_at[j] == NO_TABLE:
            squares = np.int64(0)
            for i in range(start, stop):
                squares += counts[np.int64(codes[order[i]])]
            spread = 0.5 * nominal.weights[j] * (count - squares / count)
        else:
            half = count // 2
            for i in range(start, start + half):
                row = nominal.table_at[j] + np.int64(codes[order[i]]) * nominal.sizes[j]
                spread += nominal.looks[row + np.int64(codes[order[i + half]])]
        if wobble > 0.0:
            spread *= 1.0 - wobble * draw_share(rng)
        if spread > most:
            border = border_near_middle(counts, nominal.sizes[j], start, stop, unit)
            if border >= 0:
                widest, most, middle = nominal.first + j, spread, border
        for i in range(start, stop):
            counts[np.int64(codes[order[i]])] = 0
    return widest, middle


@compiled
def room_for_codes(nominal, n_records):
    """Working space: for counts of categories, and for distances of records."""
    if nominal is None:
        return np.zeros(0, dtype=np.int64), np.empty(0)
    return np.zeros(nominal.sizes.max(), dtype=np.int64), np.empty(n_records)


@compiled
def halve_by_distance(order, columns, start, stop, middle, rng, wobble, nominal, distances):
    """Put the records with codes near those of one record before ``middle``, the others behind it."""
    if nominal is None:
        return
    place = start + (draw_below(rng, stop - start) if wobble > 0.0 else (stop - start) // 2)
    centre = order[place]
    for i in range(start, stop):
        record, total = order[i], 0.0
        for j in range(nominal.weights.shape[0]):
            codes = columns[nominal.first + j]
            if nominal.table_at[j] == NO_TABLE:
                total += nominal.weights[j] if codes[record] != codes[centre] else 0.0
            else:
                row = nominal.table_at[j] + np.int64(codes[centre]) * nominal.sizes[j]
                total += nominal.looks[row + np.int64(codes[record])]
        distances[record] = total
    part_at(distances, order, start, stop, middle)


@compiled
def split_records(columns, order, unit, rng, wobble, stop, nominal):
    """Halve the records in ``order`` down to runs of unit to 2 unit - 1; return where each run starts, and the end.

    ``columns`` has one row per attribute. All runs but those at the far end of a split have exactly ``unit`` records,
    unless codes are halved. When ``stop`` is set, it halves nothing further, and runs are longer.
    """
    n_records = len(order)
    starts = np.empty(n_records // unit + 2, dtype=np.int64)
    n_runs = 0
    counts, distances = room_for_codes(nominal, n_records)
    pending = np.empty((128, 2), dtype=np.int64)  # a piece has at most three quarters of the records of the one before
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
        axis, most = widest_attribute(columns, order, start, end, rng, wobble, nominal)
        code, border = widest_code(columns, order, start, end, unit, rng, wobble, nominal, counts, most)
        if code >= 0:
            axis, middle = code, border
        if most > 0.0 or code >= 0 or nominal is None:
            part_at(columns[axis], order, start, end, middle)
        else:
            halve_by_distance(order, columns, start, end, middle, rng, wobble, nominal, distances)
        pending[n_pending, 0], pending[n_pending, 1] = middle, end
        pending[n_pending + 1, 0], pending[n_pending + 1, 1] = start, middle
        n_pending += 2
    starts[n_runs] = n_records
    return starts[: n_runs + 1]
