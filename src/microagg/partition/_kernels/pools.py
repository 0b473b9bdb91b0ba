"""Local search in pools: a few neighbouring cells are taken together, rearranged, and put back if that pays.

Within a pool everything is told by squared distances D between its records. For a cell g and a record x,
W[g, x] is the sum of D(x, z) over the members z of g (``to_cell``), own[x] is W[cell of x, x], and Q[g] is the sum of D
over the pairs of g (``pair_sum``). Then SSE(g) = Q[g] / |g|, and with a = |A|, b = |B|

* moving x from A to B changes the SSE by (Q[A] - own[x]) / (a - 1) - Q[A] / a + (Q[B] + W[B, x]) / (b + 1) - Q[B] / b,
* swapping x of A with y of B by (W[A, y] - own[x] - D(x, y)) / a + (W[B, x] - own[y] - D(x, y)) / b,

so that no centroid and no coordinate is needed again. Cells have k to 2k - 1 records at all times: a cell of 2k can be
cut in two without loss.
"""

from __future__ import annotations

from typing import NamedTuple

import numpy as np
from numba import njit

from microagg.partition._kernels.chance import draw_below, draw_share, shuffle

SKIPPED_NEIGHBOURS = 0.25  # share of neighbours passed over when a pool is gathered, so that pools vary
FEWER_CELLS = 0.1  # how often a pool is rebuilt with one cell less, where that is possible
MORE_CELLS = 0.2  # ... with one cell more
REBUILT = 0.5  # how often a pool is rebuilt from seeds; otherwise a few labels are exchanged
FAR_SEEDS = 0.5  # how often a pool starts at a record drawn by its distance from its centroid
LEAST_GAIN = 1e-10  # relative to the pool's SSE; less is rounding


class Cells(NamedTuple):
    """A partition that can be changed cell by cell."""

    label: np.ndarray  # (n_records,)
    members: np.ndarray  # (most cells, 2k - 1)
    size: np.ndarray  # (most cells,); 0 for a free number
    sse: np.ndarray  # (most cells,); nan until a pool with the cell was summed up
    free: np.ndarray  # (most cells,); the first n_free are free numbers
    n_free: np.ndarray  # (1,)


class Pool(NamedTuple):
    """Room for the cells that are rearranged together; allocated once."""

    cell: np.ndarray  # numbers of the pool's cells
    record: np.ndarray  # its records
    columns: np.ndarray  # their coordinates, a row per attribute
    distance: np.ndarray  # D
    label: np.ndarray  # each record's cell within the pool
    size: np.ndarray
    per_record: np.ndarray  # 1 / size of each cell
    weight: np.ndarray  # 1 / size of each record's cell
    to_cell: np.ndarray  # W
    own: np.ndarray
    pair_sum: np.ndarray  # Q
    mean_to_cell: np.ndarray  # W / size, of one record
    change: np.ndarray  # of the SSE by a swap, but for what depends on the partner's cell
    to_seed: np.ndarray  # distance to the nearest seed, while rebuilding
    seed: np.ndarray  # the record each cell is rebuilt around
    left: np.ndarray  # the records not yet in a cell
    turn: np.ndarray  # the order in which cells take their records


@njit(cache=True, nogil=True)
def cells_of(label, k):
    """The partition's lists of members, from labels 0, 1, ... with k to 2k - 1 records each."""
    most_cells = len(label) // k
    members = np.empty((most_cells, 2 * k - 1), dtype=np.int64)
    size = np.zeros(most_cells, dtype=np.int64)
    for record in range(len(label)):
        cell = label[record]
        members[cell, size[cell]] = record
        size[cell] += 1
    free = np.empty(most_cells, dtype=np.int64)
    n_free = np.zeros(1, dtype=np.int64)
    for cell in range(most_cells - 1, -1, -1):
        if size[cell] == 0:
            free[n_free[0]] = cell
            n_free[0] += 1
    return Cells(label, members, size, np.full(most_cells, np.nan), free, n_free)


@njit(cache=True, nogil=True)
def room_for_pools(most_cells, k, n_attributes):
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


@njit(cache=True, nogil=True)
def choose_cells(cells, pool, near, record, wanted, skipped, chance):
    """The record's cell and the next ones met along its neighbours, up to ``wanted``; returns how many."""
    pool.cell[0] = cells.label[record]
    found = 1
    for place in range(len(near)):
        if found == wanted:
            break
        if skipped > 0.0 and draw_share(chance) < skipped:
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


@njit(cache=True, nogil=True)
def gather(X, cells, pool, n_cells):
    """Collect the records of the chosen cells and their mutual distances; returns how many."""
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
        row = pool.distance[x]
        for y in range(count):
            row[y] = 0.0
        for j in range(X.shape[1]):
            column = pool.columns[j]
            here = column[x]
            for y in range(count):
                gap = column[y] - here
                row[y] += gap * gap
    return count


@njit(cache=True, nogil=True)
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


@njit(cache=True, nogil=True)
def pool_sse(pool, n_cells):
    total = 0.0
    for c in range(n_cells):
        total += pool.pair_sum[c] * pool.per_record[c]
    return total


@njit(cache=True, nogil=True)
def sse_before(cells, pool, count, n_cells):
    """The SSE of the pool's cells as they are in the partition, summed up only where it is not known."""
    total = 0.0
    for c in range(n_cells):
        total += cells.sse[pool.cell[c]]
    return total if total == total else sum_up(pool, count, n_cells)


@njit(cache=True, nogil=True)
def best_move(x, n_cells, k, label, size, to_cell, own, pair_sum):
    """The cell into which x moves with the greatest gain, and the change of SSE (negative for a gain)."""
    A = label[x]
    a = size[A]
    leaving = (pair_sum[A] - own[x]) / (a - 1) - pair_sum[A] / a
    best, least = -1, np.inf
    for B in range(n_cells):
        b = size[B]
        if B != A and b < 2 * k - 1:
            change = leaving + (pair_sum[B] + to_cell[B, x]) / (b + 1) - pair_sum[B] / b
            if change < least:
                best, least = B, change
    return best, least


@njit(cache=True, nogil=True)
def weigh_cells(x, n_cells, label, per_record, to_cell, mean_to_cell):
    """Prepare the part of a swap's change that depends on the partner's cell alone; infinite for x's own cell."""
    for B in range(n_cells):
        mean_to_cell[B] = to_cell[B, x] * per_record[B]
    mean_to_cell[label[x]] = np.inf


@njit(cache=True, nogil=True)
def best_swap(x, count, label, weight, distance, to_cell, own, mean_to_cell, change):
    """The record of another cell that changes places with x with the greatest gain, and the change of SSE.

    The first loop runs over neighbouring numbers and without a branch, so that it is vectorised.
    """
    A = label[x]
    own_x, per_a = own[x], weight[x]
    for y in range(count):
        apart = distance[x, y]
        change[y] = (to_cell[A, y] - own_x - apart) * per_a - (own[y] + apart) * weight[y]
    best, least = -1, np.inf
    for y in range(count):
        total = change[y] + mean_to_cell[label[y]]
        if total < least:
            best, least = y, total
    return best, least


@njit(cache=True, nogil=True)
def move(x, B, count, label, size, per_record, weight, distance, to_cell, own, pair_sum):
    A = label[x]
    pair_sum[A] -= own[x]
    pair_sum[B] += to_cell[B, x]
    size[A] -= 1
    size[B] += 1
    per_record[A] = 1.0 / size[A]
    per_record[B] = 1.0 / size[B]
    label[x] = B
    for z in range(count):
        to_cell[A, z] -= distance[x, z]
        to_cell[B, z] += distance[x, z]
    renew(count, A, B, label, per_record, weight, to_cell, own)


@njit(cache=True, nogil=True)
def swap(x, y, count, label, per_record, weight, distance, to_cell, own, pair_sum):
    A, B = label[x], label[y]
    apart = distance[x, y]
    pair_sum[A] += to_cell[A, y] - own[x] - apart
    pair_sum[B] += to_cell[B, x] - own[y] - apart
    label[x] = B
    label[y] = A
    for z in range(count):
        difference = distance[y, z] - distance[x, z]
        to_cell[A, z] += difference
        to_cell[B, z] -= difference
    renew(count, A, B, label, per_record, weight, to_cell, own)


@njit(cache=True, nogil=True)
def renew(count, A, B, label, per_record, weight, to_cell, own):
    """What is kept per record, for the members of two changed cells."""
    for z in range(count):
        if label[z] == A:
            own[z] = to_cell[A, z]
            weight[z] = per_record[A]
        elif label[z] == B:
            own[z] = to_cell[B, z]
            weight[z] = per_record[B]


@njit(cache=True, nogil=True)
def descend(pool, count, n_cells, k, tolerance):
    """Apply each record's best move, then its best swap, until a whole round brings nothing; returns the SSE."""
    # Taken out of the pool once: taking an array out of a tuple costs more than a distance.
    label, size, per_record, weight, distance = pool.label, pool.size, pool.per_record, pool.weight, pool.distance
    to_cell, own, pair_sum, mean, changes = pool.to_cell, pool.own, pool.pair_sum, pool.mean_to_cell, pool.change
    x, idle = 0, 0
    while idle < count:
        if size[label[x]] > k:
            target, change = best_move(x, n_cells, k, label, size, to_cell, own, pair_sum)
            if change < -tolerance:
                move(x, target, count, label, size, per_record, weight, distance, to_cell, own, pair_sum)
                idle = 0
        weigh_cells(x, n_cells, label, per_record, to_cell, mean)
        partner, change = best_swap(x, count, label, weight, distance, to_cell, own, mean, changes)
        idle += 1
        if change < -tolerance:
            swap(x, partner, count, label, per_record, weight, distance, to_cell, own, pair_sum)
            idle = 0
        x += 1
        if x == count:
            x = 0
    return pool_sse(pool, n_cells)


@njit(cache=True, nogil=True)
def exchange_labels(pool, count, k, chance):
    """Exchange the labels of a few random pairs."""
    most = max(1, min(count // 3, 2 * k))
    for _ in range(1 + draw_below(chance, most)):
        x, y = draw_below(chance, count), draw_below(chance, count)
        pool.label[x], pool.label[y] = pool.label[y], pool.label[x]


@njit(cache=True, nogil=True)
def draw_seed(pool, count, far, chance):
    """A record without a cell: any, or with a chance proportional to its distance from the seeds so far."""
    if not far:
        while True:
            x = draw_below(chance, count)
            if pool.label[x] < 0:
                return x
    total = 0.0
    for x in range(count):
        if pool.label[x] < 0:
            total += pool.to_seed[x]
    left = draw_share(chance) * total
    last = -1
    for x in range(count):
        if pool.label[x] < 0:
            last = x
            left -= pool.to_seed[x]
            if left <= 0.0:
                break
    return last


@njit(cache=True, nogil=True)
def fill_up_to_k(cell, k, n_left, left, seed, label, size, distance):
    """Let a cell of one record, its seed, take the nearest of the records left until it has k; returns how many stay.

    ``left`` lists the records without a cell in its first n_left places.
    """
    here = seed[cell]
    while size[cell] < k:
        nearest, least = 0, np.inf
        for i in range(n_left):
            apart = distance[here, left[i]]
            if apart < least:
                nearest, least = i, apart
        label[left[nearest]] = cell
        size[cell] += 1
        n_left -= 1
        left[nearest] = left[n_left]
    return n_left


@njit(cache=True, nogil=True)
def draw_seeds(pool, count, n_cells, far, chance):
    """Draw the first record of each cell; the others are left without a cell."""
    for x in range(count):
        pool.label[x] = -1
        pool.to_seed[x] = np.inf
    for c in range(n_cells):
        seed = draw_seed(pool, count, far and c > 0, chance)
        pool.seed[c] = seed
        pool.label[seed] = c
        pool.size[c] = 1
        if far:
            for x in range(count):
                pool.to_seed[x] = min(pool.to_seed[x], pool.distance[seed, x])


@njit(cache=True, nogil=True)
def rebuild(pool, count, n_cells, k, far, chance):
    """Forget the pool's cells and form n_cells around random seeds, which take their nearest in random order."""
    label, size, seed, left, distance = pool.label, pool.size, pool.seed, pool.left, pool.distance
    draw_seeds(pool, count, n_cells, far, chance)
    n_left = 0
    for x in range(count):
        if label[x] < 0:
            left[n_left] = x
            n_left += 1
    for c in range(n_cells):
        pool.turn[c] = c
    shuffle(chance, pool.turn[:n_cells])
    for i in range(n_cells):
        n_left = fill_up_to_k(pool.turn[i], k, n_left, left, seed, label, size, distance)
    for i in range(n_left):
        nearest, least = -1, np.inf
        for c in range(n_cells):
            apart = distance[seed[c], left[i]]
            if size[c] < 2 * k - 1 and apart < least:
                nearest, least = c, apart
        label[left[i]] = nearest
        size[nearest] += 1


@njit(cache=True, nogil=True)
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


@njit(cache=True, nogil=True)
def sweep(X, near, cells, pool, k, seeds, pool_cells, chance):
    """Descend in the pool around each seed record; returns by how much the SSE fell."""
    gain = 0.0
    for seed in seeds:
        n_cells = choose_cells(cells, pool, near[seed], seed, pool_cells, 0.0, chance)
        if n_cells < 2:
            continue
        count = gather(X, cells, pool, n_cells)
        old = sum_up(pool, count, n_cells)
        new = descend(pool, count, n_cells, k, LEAST_GAIN * old)
        if new < old:
            put_back(cells, pool, count, n_cells, n_cells)
            gain += old - new
    return gain


@njit(cache=True, nogil=True)
def draw_pool_seed(n_records, summed_weights, chance):
    """A record: any, or with a chance proportional to its weight."""
    if draw_share(chance) < FAR_SEEDS:
        total = summed_weights[n_records - 1]
        return min(np.searchsorted(summed_weights, draw_share(chance) * total), n_records - 1)
    return draw_below(chance, n_records)


@njit(cache=True, nogil=True)
def disturb(pool, count, n_cells, k, chance):
    """Change the pool's labels by chance, and perhaps the number of its cells; returns that number."""
    turn = draw_share(chance)
    if turn < FEWER_CELLS and count <= (n_cells - 1) * (2 * k - 1):
        n_after = n_cells - 1
    elif turn < FEWER_CELLS + MORE_CELLS and count >= (n_cells + 1) * k:
        n_after = n_cells + 1
    else:
        n_after = n_cells
    if n_after != n_cells or draw_share(chance) < REBUILT:
        rebuild(pool, count, n_after, k, draw_share(chance) < 0.5, chance)
    else:
        exchange_labels(pool, count, k, chance)
    return n_after


@njit(cache=True, nogil=True)
def is_accepted(change, old, temperature, chance):
    """Gains always, losses by chance and relative to the pool's own SSE; no change at all is not worth the writing."""
    if change < -1e-9 * old:
        return True
    if temperature <= 0.0 or change <= 1e-9 * old:
        return False
    return change < -temperature * old * np.log(draw_share(chance))


@njit(cache=True, nogil=True)
def anneal(X, near, cells, pool, k, steps, fewest, most, temperature, summed_weights, chance):
    """Ruin and recreate pools of ``fewest`` to ``most`` cells around random records, ``steps`` times."""
    for _ in range(steps):
        seed = draw_pool_seed(len(X), summed_weights, chance)
        wanted = fewest + draw_below(chance, most - fewest + 1)
        n_cells = choose_cells(cells, pool, near[seed], seed, wanted, SKIPPED_NEIGHBOURS, chance)
        if n_cells < 2:
            continue
        count = gather(X, cells, pool, n_cells)
        old = sse_before(cells, pool, count, n_cells)
        if old <= 0.0:
            continue
        n_after = disturb(pool, count, n_cells, k, chance)
        sum_up(pool, count, n_after)
        new = descend(pool, count, n_after, k, LEAST_GAIN * old)
        if is_accepted(new - old, old, temperature, chance):
            put_back(cells, pool, count, n_cells, n_after)


@njit(cache=True, nogil=True)
def distances_to_centroids(X, label, most_cells, distances):
    """Fill in each record's distance to the centroid of its cell; returns the SSE."""
    n_records, n_attributes = X.shape
    sums = np.zeros((most_cells, n_attributes))
    size = np.zeros(most_cells)
    for i in range(n_records):
        size[label[i]] += 1.0
        for j in range(n_attributes):
            sums[label[i], j] += X[i, j]
    total = 0.0
    for i in range(n_records):
        squared = 0.0
        for j in range(n_attributes):
            gap = X[i, j] - sums[label[i], j] / size[label[i]]
            squared += gap * gap
        distances[i] = np.sqrt(squared)
        total += squared
    return total


@njit(cache=True, nogil=True)
def one_of_each_cell(cells, chance):
    """A random member of each cell, in random order."""
    records = np.empty(len(cells.size), dtype=np.int64)
    count = 0
    for cell in range(len(cells.size)):
        if cells.size[cell] > 0:
            records[count] = cells.members[cell, draw_below(chance, cells.size[cell])]
            count += 1
    drawn = records[:count]
    shuffle(chance, drawn)
    return drawn
