"""V-MDAV, compiled: cells that may grow from k to 2k - 1 records where the next record is close."""

from __future__ import annotations

import numpy as np

from microagg._kernels.jit import compiled
from microagg.partition._kernels.mdav.plain.cells import BLOCK, scan, squared_distances


@compiled
def drop(points, record_at, place_of, remaining, record):
    """Take a record out: the last remaining one goes into its place."""
    hole = place_of[record]
    last = remaining - 1
    moved = record_at[last]
    for j in range(points.shape[0]):
        points[j, hole] = points[j, last]
    record_at[hole] = moved
    place_of[moved] = hole
    return last


@compiled
def lower_to_distance(points, record_at, remaining, query, distance_to_cell, buffer, nominal):
    """Update each remaining record's squared distance to the nearest member of the cell by a new member."""
    start = 0
    while start < remaining:  # ends: start grows by a block
        stop = min(start + BLOCK, remaining)
        squared_distances(points, query, start, stop, buffer, nominal)
        for i in range(stop - start):
            record = record_at[start + i]
            if buffer[i] < distance_to_cell[record]:
                distance_to_cell[record] = buffer[i]
        start = stop


@compiled
def closest_to_cell(record_at, remaining, distance_to_cell):
    """The remaining record nearest to the cell; the lowest record index of several."""
    closest = record_at[0]
    for i in range(1, remaining):
        record = record_at[i]
        gap = distance_to_cell[record] - distance_to_cell[closest]
        if gap < 0 or (gap == 0 and record < closest):
            closest = record
    return closest


@compiled
def form_variable_cells(X, k, gamma, outside_in, points, record_at, place_of, labels, state, work, stop, nominal):
    """Form cells until about ``work`` distances were computed or fewer than k records remain.

    ``outside_in`` lists records from the farthest to the nearest to the overall centroid; ``state`` holds the
    number of remaining records, of cells so far, and the place in ``outside_in``. When ``stop`` is set, it leaves a
    cell unfinished.
    """
    n_records = X.shape[0]
    buffer = np.empty(BLOCK)
    near_distances = np.empty(k - 1)
    near_records = np.empty(k - 1, dtype=np.int64)
    one_distance = np.empty(1)
    one_record = np.empty(1, dtype=np.int64)
    distance_to_cell = np.empty(n_records)
    remaining, cell, place = state[0], state[1], state[2]
    while remaining >= k and work > 0 and stop[0] == 0:  # ends: k records or more leave with every cell
        while labels[outside_in[place]] >= 0:  # ends: some record remains, and all are listed
            place += 1
        seed = outside_in[place]
        labels[seed] = cell
        remaining = drop(points, record_at, place_of, remaining, seed)
        scan(points, record_at, remaining, X[seed], k - 1, near_distances, near_records, buffer, nominal)
        work -= remaining
        for i in range(k - 1):
            labels[near_records[i]] = cell
            remaining = drop(points, record_at, place_of, remaining, near_records[i])
        if remaining > 0 and gamma > 0:
            for i in range(remaining):
                distance_to_cell[record_at[i]] = np.inf
            lower_to_distance(points, record_at, remaining, X[seed], distance_to_cell, buffer, nominal)
            for i in range(k - 1):
                if stop[0] != 0:
                    break
                lower_to_distance(points, record_at, remaining, X[near_records[i]], distance_to_cell, buffer, nominal)
            work -= k * remaining
            size = k
            while size < 2 * k - 1 and remaining > 0 and stop[0] == 0:  # ends: the cell grows, or the loop breaks
                candidate = closest_to_cell(record_at, remaining, distance_to_cell)
                remaining = drop(points, record_at, place_of, remaining, candidate)
                scan(points, record_at, remaining, X[candidate], 1, one_distance, one_record, buffer, nominal)
                work -= remaining
                # With no other record outside, the scan leaves an infinite distance: the last one joins.
                if not np.sqrt(distance_to_cell[candidate]) < gamma * np.sqrt(one_distance[0]):
                    for j in range(points.shape[0]):  # it stays: put it back behind the others
                        points[j, remaining] = X[candidate, j]
                    record_at[remaining] = candidate
                    place_of[candidate] = remaining
                    remaining += 1
                    break
                labels[candidate] = cell
                size += 1
                lower_to_distance(points, record_at, remaining, X[candidate], distance_to_cell, buffer, nominal)
                work -= remaining
        cell += 1
    state[0], state[1], state[2] = remaining, cell, place
