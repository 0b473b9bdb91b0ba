"""A pool: a few neighbouring cells that are taken together, and what is known about them.

Within a pool everything follows from the squared distances D between its records. For a cell g and a record x,
W[g, x] is the sum of D(x, z) over the members z of g (``to_cell``), own[x] is W[cell of x, x], and Q[g] is the sum of D
over the pairs of g (``pair_sum``). Then SSE(g) = Q[g] / |g|, and no centroid and no coordinate is needed again.
"""

from __future__ import annotations

from typing import NamedTuple

import numpy as np

from microagg._kernels.jit import compiled, entry, inner
from microagg._kernels.nominal import add_code_distances_at, numbers_of
from microagg._kernels.random import draw_share


class Pool(NamedTuple):
    """Working space for the cells that are rearranged together; allocated once."""

    cell: np.ndarray  # numbers of the pool's cells
    record: np.ndarray  # its records
    columns: np.ndarray  # their numbers and codes, a row per attribute
    distance: np.ndarray  # D
    label: np.ndarray  # each record's cell within the pool
    size: np.ndarray
    per_record: np.ndarray  # 1 / size of each cell
    weight: np.ndarray  # 1 / size of each record's cell
    to_cell: np.ndarray  # W
    own: np.ndarray
    pair_sum: np.ndarray  # Q
    mean_to_cell: np.ndarray  # W / size, of one record
    change: np.ndarray  # of the SSE by a swap, without the part that depends on the partner's cell
    to_seed: np.ndarray  # distance to the nearest seed, while rebuilding
    seed: np.ndarray  # the record each cell is rebuilt around
    left: np.ndarray  # the records not yet in a cell
    turn: np.ndarray  # the order in which cells take their records


@compiled
def allocate_pool(most_cells, k, n_attributes):
    """A pool of up to ``most_cells`` cells, which may become one more."""
    records = most_cells * (2 * k - 1)
    cells = most_cells + 1
    return Pool(
        cell=np.empty(cells, dtype=np.int64),
        record=np.empty(records, dtype=np.int64),
        columns=np.empty((n_attributes, records)),
        distance=np.empty((records, records)),
        label=np.empty(records, dtype=np.int64),
        size=np.empty(cells, dtype=np.int64),
        per_record=np.empty(cells),
        weight=np.empty(records),
        to_cell=np.empty((cells, records)),
        own=np.empty(records),
        pair_sum=np.empty(cells),
        mean_to_cell=np.empty(cells),
        change=np.empty(records),
        to_seed=np.empty(records),
        seed=np.empty(cells, dtype=np.int64),
        left=np.empty(records, dtype=np.int64),
        turn=np.empty(cells, dtype=np.int64),
    )


@inner
def choose_cells(cells, pool, near, record, wanted, skipped, rng):
    """The record's cell and the next ones met along its neighbours, up to ``wanted``; returns how many."""
    pool.cell[0] = cells.label[record]
    found = 1
    for place in range(len(near)):
        if found == wanted:
            break
        if skipped > 0.0 and draw_share(rng) < skipped:
            continue
        candidate = cells.label[near[place]]
        known = False
        for i in range(found):
            if pool.cell[i] == candidate:
                known = True
                break
        if not known:
            pool.cell[found] = candidate
            found += 1
    return found


@entry
def gather(X, cells, pool, n_cells, stop, nominal):
    """Collect the records of the chosen cells and their distances; returns how many, or 0 when ``stop`` is set."""
    count = 0
    for c in range(n_cells):
        cell = pool.cell[c]
        for i in range(cells.size[cell]):
            record = cells.members[cell, i]
            pool.record[count] = record
            pool.label[count] = c
            for j in range(X.shape[1]):
                pool.columns[j, count] = X[record, j]
            count += 1
    for x in range(count):
        if stop[0] != 0:
            return 0
        row = pool.distance[x]
        for y in range(count):
            row[y] = 0.0
        for j in range(numbers_of(nominal, X.shape[1])):
            column = pool.columns[j]
            here = column[x]
            for y in range(count):
                gap = column[y] - here
                row[y] += gap * gap
        add_code_distances_at(nominal, pool.columns, x, 0, count, row)
    return count


@entry
def sum_up(pool, count, n_cells):
    """Sizes and the sums W, own and Q of the pool's labels; returns its SSE."""
    label, size, per_record, weight = pool.label, pool.size, pool.per_record, pool.weight
    distance, to_cell, own, pair_sum = pool.distance, pool.to_cell, pool.own, pool.pair_sum
    for c in range(n_cells):
        size[c] = 0
        pair_sum[c] = 0.0
        for x in range(count):
            to_cell[c, x] = 0.0
    for z in range(count):
        c = label[z]
        size[c] += 1
        for x in range(count):
            to_cell[c, x] += distance[z, x]
    for c in range(n_cells):
        per_record[c] = 1.0 / size[c]
    for x in range(count):
        c = label[x]
        own[x] = to_cell[c, x]
        weight[x] = per_record[c]
        pair_sum[c] += 0.5 * own[x]
    return pool_sse(pool, n_cells)


@entry
def pool_sse(pool, n_cells):
    total = 0.0
    for c in range(n_cells):
        total += pool.pair_sum[c] * pool.per_record[c]
    return total


@inner
def sse_before(cells, pool, count, n_cells):
    """The SSE of the pool's cells as they are in the partition, summed up only where it is not known."""
    total = 0.0
    for c in range(n_cells):
        total += cells.sse[pool.cell[c]]
    return total if total == total else sum_up(pool, count, n_cells)


@inner
def put_back(cells, pool, count, n_before, n_after):
    """Make the pool's labels those of the partition."""
    if n_after < n_before:
        cells.free[cells.n_free[0]] = pool.cell[n_after]
        cells.n_free[0] += 1
        cells.size[pool.cell[n_after]] = 0
    elif n_after > n_before:
        cells.n_free[0] -= 1
        pool.cell[n_before] = cells.free[cells.n_free[0]]
    for c in range(n_after):
        cells.size[pool.cell[c]] = 0
        cells.sse[pool.cell[c]] = pool.pair_sum[c] * pool.per_record[c]
    for x in range(count):
        cell, record = pool.cell[pool.label[x]], pool.record[x]
        cells.members[cell, cells.size[cell]] = record
        cells.size[cell] += 1
        cells.label[record] = cell
