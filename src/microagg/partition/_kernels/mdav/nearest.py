"""From float32 distances to nearest and farthest records: what passes the filter is compared in float64.

`Nearest` is a max-heap of the nearest records so far on (squared distance, record index): its root is the one to beat.
"""

from __future__ import annotations

from typing import NamedTuple

import numpy as np
import numpy.typing as npt

from microagg._kernels.jit import inlined, inner
from microagg._kernels.simd import (
    WIDTH,
    broadcast,
    load,
    lowest_bit,
    mask_at_least,
    mask_at_most,
    maximum,
    minimum,
    store,
)
from microagg.partition._kernels.mdav.filter_space import exact_distance, far_limit, farthest_reach, near_limit

NO_RECORD = np.iinfo(np.int64).max


class Nearest(NamedTuple):
    distances: npt.NDArray[np.float64]
    records: npt.NDArray[np.int64]
    rows: npt.NDArray[np.int64]


def allocate_nearest(wanted: int) -> Nearest:
    return Nearest(np.empty(wanted), np.empty(wanted, dtype=np.int64), np.empty(wanted, dtype=np.int64))


@inner
def forget(nearest):
    for i in range(nearest.distances.shape[0]):
        nearest.distances[i], nearest.records[i] = np.inf, NO_RECORD


@inner
def comes_before(distance, record, other_distance, other_record):
    return distance < other_distance or (distance == other_distance and record < other_record)


@inner
def sink(nearest, size, distance, record, row):
    """Put an entry in place of the root and let it sink to where it belongs among the first ``size``."""
    distances, records, rows = nearest
    hole = 0
    while True:  # ends: the hole goes down one level every time
        child = 2 * hole + 1
        if child >= size:
            break
        right = child + 1
        if right < size and comes_before(distances[child], records[child], distances[right], records[right]):
            child = right
        if not comes_before(distance, record, distances[child], records[child]):
            break
        distances[hole], records[hole], rows[hole] = distances[child], records[child], rows[child]
        hole = child
    distances[hole], records[hole], rows[hole] = distance, record, row


@inner
def sort_nearest(nearest):
    """Turn the heap into ascending order of (distance, record): cells are then taken off the sums in one order."""
    distances, records, rows = nearest
    for size in range(distances.shape[0] - 1, 0, -1):
        distance, record, row = distances[size], records[size], rows[size]
        distances[size], records[size], rows[size] = distances[0], records[0], rows[0]
        sink(nearest, size, distance, record, row)


@inner
def offer_row(rows, row, distance, nearest):
    """Offer the records of a row, lowest index first, until one is refused: the others would be too."""
    wanted = nearest.distances.shape[0]
    for place in range(rows.first[row], rows.end[row]):
        record = rows.members[place]
        if not comes_before(distance, record, nearest.distances[0], nearest.records[0]):
            return
        sink(nearest, wanted, distance, record, row)


@inlined
def keep_smallest(kept, start, n_vectors, value):
    """Put a value among ascending ones and push out the largest; minus infinity stands in front of them.

    Without a branch: a place keeps what it has, or takes the value, or takes what stood before it.
    """
    value = broadcast(value)
    for vector in range(n_vectors - 1, -1, -1):
        place = start + vector * WIDTH
        store(kept, place, minimum(load(kept, place), maximum(load(kept, place - 1), value)))


@inner
def limit_from_block(totals, count, wanted, kept, space, slack):
    """A limit from a block's distances alone: as many of its points as are wanted are no farther than that.

    ``kept`` holds the smallest ones; if it is too short, or there are too few points, there is no limit.
    """
    n_vectors = (wanted + WIDTH - 1) // WIDTH
    if count < wanted or kept.shape[0] < (n_vectors + 1) * WIDTH:
        return np.float32(np.inf)
    for place in range((n_vectors + 1) * WIDTH):
        kept[place] = np.float32(-np.inf) if place < WIDTH else np.float32(np.inf)
    for place in range(count):
        keep_smallest(kept, WIDTH, n_vectors, totals[place])
    reach = (farthest_reach(kept[WIDTH + wanted - 1], space, slack) + slack) * (1.0 + space.relative)
    return np.float32(reach * reach)


@inlined
def offer_near(totals, count, row_at, start, rows, query, nearest, limit, space, slack):
    """Offer a block's points within ``limit``, by their float64 distances; returns the limit from now on."""
    for offset in range(0, count, WIDTH):
        mask = mask_at_most(load(totals, offset), limit)
        while mask != 0:  # ends: the mask loses a bit every time
            place = offset + lowest_bit(mask)
            mask &= mask - 1
            if place >= count:
                break
            if totals[place] <= limit:
                row = np.int64(row_at[start + place])
                offer_row(rows, row, exact_distance(rows.values, row, query, space.nominal), nearest)
                limit = min(limit, near_limit(nearest.distances[0], space, slack))
    return limit


@inner
def offer_far(totals, count, row_at, start, rows, query, farthest, distance, limit, space, slack):
    """Compare a block's points beyond ``limit`` in float64; returns the farthest row, its distance and the new limit.

    Of equally far rows the one with the lowest record index is kept; rows without records left do not count.
    """
    for offset in range(0, count, WIDTH):
        mask = mask_at_least(load(totals, offset), limit)
        while mask != 0:  # ends: the mask loses a bit every time
            place = offset + lowest_bit(mask)
            mask &= mask - 1
            if place >= count:
                break
            row = np.int64(row_at[start + place])
            if totals[place] < limit or rows.first[row] == rows.end[row]:
                continue
            candidate = exact_distance(rows.values, row, query, space.nominal)
            if candidate > distance or (
                candidate == distance and rows.members[rows.first[row]] < rows.members[rows.first[farthest]]
            ):
                farthest, distance = row, candidate
                limit = far_limit(distance, space, slack)
    return farthest, distance, limit
