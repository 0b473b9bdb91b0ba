"""MDAV by scanning all remaining records in float64: the definition, which the faster kernels must equal.

Remaining records lie packed at the front of ``points`` (one row per attribute, so that the distance loops run
over neighbouring records and vectorise). A record that gets its cell is overwritten by the last remaining one.

Every comparison is on (squared distance, record index): the result does not depend on the packing.
"""

from __future__ import annotations

import numpy as np

from microagg._kernels.codes import CENTROID
from microagg._kernels.jit import compiled
from microagg._kernels.nominal import (
    add_code_distances,
    numbers_of,
    place_centroid,
    take_code_off,
)
from microagg._kernels.sums import add_compensated

BLOCK = 512  # records per distance buffer: small enough to stay in the first-level cache


@compiled
def sums_of_columns(X, high, low):
    """Sum up the first columns, as many as ``high`` has places."""
    for i in range(X.shape[0]):
        for j in range(high.shape[0]):
            high[j], low[j] = add_compensated(high[j], low[j], X[i, j])


@compiled
def squared_distances(points, query, start, stop, buffer, nominal):
    """Fill ``buffer`` with the squared distances of records start..stop-1, summed in the order of columns."""
    count = stop - start
    row = points[0]
    centre = query[0]
    for i in range(count):
        gap = row[start + i] - centre
        buffer[i] = gap * gap
    for j in range(1, numbers_of(nominal, points.shape[0])):
        row = points[j]
        centre = query[j]
        for i in range(count):
            gap = row[start + i] - centre
            buffer[i] += gap * gap
    add_code_distances(nominal, points, query, start, stop, buffer)


@compiled
def sift_down(distances, records, size):
    """Restore the order of a max-heap on (distance, record) whose root was replaced."""
    parent = 0
    while True:  # ends: the parent goes down one level every time
        child = 2 * parent + 1
        if child >= size:
            return
        right = child + 1
        if right < size and (
            distances[right] > distances[child]
            or (distances[right] == distances[child] and records[right] > records[child])
        ):
            child = right
        if distances[child] < distances[parent] or (
            distances[child] == distances[parent] and records[child] < records[parent]
        ):
            return
        distances[parent], distances[child] = distances[child], distances[parent]
        records[parent], records[child] = records[child], records[parent]
        parent = child


@compiled
def sort_heap(distances, records):
    """Turn the heap into ascending order: cells are then taken off the sums in one order, whatever the search."""
    for last in range(distances.shape[0] - 1, 0, -1):
        distances[0], distances[last] = distances[last], distances[0]
        records[0], records[last] = records[last], records[0]
        sift_down(distances, records, last)


@compiled
def scan(points, record_at, remaining, query, wanted, near_distances, near_records, buffer, nominal):
    """One pass over the remaining records: the ``wanted`` nearest to ``query`` (into a heap) and the farthest.

    Returns the record index of the farthest; nearest and farthest alike, ties go to the lowest record index.
    """
    near_distances[:] = np.inf
    near_records[:] = np.iinfo(np.int64).max
    farthest = np.int64(-1)
    largest = -1.0
    start = 0
    while start < remaining:  # ends: start grows by a block
        stop = min(start + BLOCK, remaining)
        squared_distances(points, query, start, stop, buffer, nominal)
        if wanted > 0:
            limit = near_distances[0]
            for i in range(stop - start):
                distance = buffer[i]
                if distance <= limit:
                    record = record_at[start + i]
                    if distance < limit or record < near_records[0]:
                        near_distances[0] = distance
                        near_records[0] = record
                        sift_down(near_distances, near_records, wanted)
                        limit = near_distances[0]
        for i in range(stop - start):
            distance = buffer[i]
            if distance >= largest:
                record = record_at[start + i]
                if distance > largest or record < farthest:
                    largest = distance
                    farthest = record
        start = stop
    return farthest


@compiled
def take_codes_off(nominal, points, place):
    """Take the record at a place off what the centroid's codes are counted from."""
    if nominal is None:
        return
    for j in range(nominal.weights.shape[0]):
        take_code_off(nominal, j, np.int64(points[nominal.first + j, place]))


@compiled
def remove(points, record_at, place_of, remaining, record, high, low, nominal):
    """Take a record out: off the sums, and the last remaining one into its place."""
    hole = place_of[record]
    last = remaining - 1
    moved = record_at[last]
    take_codes_off(nominal, points, hole)
    for j in range(high.shape[0]):
        high[j], low[j] = add_compensated(high[j], low[j], -points[j, hole])
    for j in range(points.shape[0]):
        points[j, hole] = points[j, last]
    record_at[hole] = moved
    place_of[moved] = hole
    return last


@compiled
def form_cells(X, k, two_cells_from, points, record_at, place_of, high, low, labels, state, work, nominal):
    """Form cells until about ``work`` distances were computed or all records have one.

    ``state`` holds the number of remaining records and of cells so far; call again while records remain.
    """
    dimension = X.shape[1]
    query = np.empty(dimension)
    buffer = np.empty(BLOCK)
    near_distances = np.empty(k - 1)
    near_records = np.empty(k - 1, dtype=np.int64)
    no_distances = np.empty(0)
    no_records = np.empty(0, dtype=np.int64)
    remaining, cell = state[0], state[1]
    while remaining >= 2 * k and work > 0:  # ends: k records leave with every cell
        place_centroid(nominal, remaining)
        for j in range(dimension):
            query[j] = high[j] / remaining if j < high.shape[0] else CENTROID
        cells_this_round = 2 if remaining >= two_cells_from else 1
        seed = scan(points, record_at, remaining, query, 0, no_distances, no_records, buffer, nominal)
        work -= remaining
        for turn in range(cells_this_round):
            query[:] = X[seed]
            labels[seed] = cell
            remaining = remove(points, record_at, place_of, remaining, seed, high, low, nominal)
            opposite = scan(points, record_at, remaining, query, k - 1, near_distances, near_records, buffer, nominal)
            sort_heap(near_distances, near_records)
            for i in range(k - 1):
                labels[near_records[i]] = cell
                remaining = remove(points, record_at, place_of, remaining, near_records[i], high, low, nominal)
            work -= remaining
            cell += 1
            if turn == 0 and cells_this_round == 2:
                if labels[opposite] >= 0:  # the farthest record went into the cell itself
                    opposite = scan(points, record_at, remaining, query, 0, no_distances, no_records, buffer, nominal)
                seed = opposite
    if remaining < 2 * k:
        if remaining < k:  # only where two cells are formed down to 2k: leftovers join the last one
            cell -= 1
        for i in range(remaining):
            labels[record_at[i]] = cell
        remaining = 0
    state[0] = remaining
    state[1] = cell
