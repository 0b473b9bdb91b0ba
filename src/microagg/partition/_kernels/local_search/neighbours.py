"""Near records of every record: from all pairs where records are few, otherwise from several overlapping splits."""

from __future__ import annotations

import numpy as np

from microagg._kernels.jit import compiled
from microagg._kernels.nominal import add_code_distances_at, numbers_of

NOBODY = -1


@compiled
def insert_sorted(distances, records, distance, record):
    """Put a record into an ascending list of fixed length, from which the last falls out."""
    place = len(distances) - 1
    while place > 0 and distances[place - 1] > distance:  # ends: place falls
        distances[place] = distances[place - 1]
        records[place] = records[place - 1]
        place -= 1
    distances[place] = distance
    records[place] = record


@compiled
def distances_in_run(columns, start, stop, at, buffer, nominal):
    """Squared distances of the record at place ``at`` to those at start..stop-1."""
    buffer[: stop - start] = 0.0
    for j in range(numbers_of(nominal, columns.shape[0])):
        row = columns[j]
        here = row[at]
        for i in range(stop - start):
            gap = row[start + i] - here
            buffer[i] += gap * gap
    add_code_distances_at(nominal, columns, at, start, stop, buffer)


@compiled
def nearest_of_all(columns, nearest, stop, nominal):
    """Fill ``nearest`` with the nearest other records of each record, nearest first; of equals the lowest first."""
    n_records, wanted = nearest.shape
    buffer = np.empty(n_records)
    near = np.empty(wanted)
    for record in range(n_records):
        if stop[0] != 0:
            return
        distances_in_run(columns, 0, n_records, record, buffer, nominal)
        buffer[record] = np.inf
        near[:] = np.inf
        limit = np.inf
        for other in range(n_records):
            if buffer[other] < limit:
                insert_sorted(near, nearest[record], buffer[other], other)
                limit = near[wanted - 1]


@compiled
def improve_nearest(columns, order, starts, nearest, near, stop, nominal):
    """Improve the lists of near records by those in the same run; ``columns`` are in the order of ``order``.

    ``near`` holds the squared distances that belong to ``nearest``.
    """
    wanted = nearest.shape[1]
    longest = 0
    for run in range(len(starts) - 1):
        longest = max(longest, starts[run + 1] - starts[run])
    buffer = np.empty(longest)
    for run in range(len(starts) - 1):
        start, end = starts[run], starts[run + 1]
        for at in range(start, end):
            if stop[0] != 0:
                return
            record = order[at]
            distances_in_run(columns, start, end, at, buffer, nominal)
            buffer[at - start] = np.inf
            for i in range(end - start):
                if buffer[i] < near[record, wanted - 1]:
                    other = order[start + i]
                    known = False
                    for place in range(wanted):
                        if nearest[record, place] == other:
                            known = True
                            break
                    if not known:
                        insert_sorted(near[record], nearest[record], buffer[i], other)
