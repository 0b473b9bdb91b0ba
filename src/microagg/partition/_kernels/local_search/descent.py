"""Descent in a pool: moves and swaps of records as long as they lower its SSE.

With W, own and Q as in `pool` and a = |A|, b = |B|,

* moving x from A to B changes the SSE by (Q[A] - own[x]) / (a - 1) - Q[A] / a + (Q[B] + W[B, x]) / (b + 1) - Q[B] / b,
* swapping x of A with y of B by (W[A, y] - own[x] - D(x, y)) / a + (W[B, x] - own[y] - D(x, y)) / b.

Cells have k to 2k - 1 records at all times: a cell of 2k can be cut in two without loss.
"""

from __future__ import annotations

import numpy as np

from microagg._kernels.jit import entry, inner
from microagg.partition._kernels.local_search.pool import pool_sse, sum_up

TRUSTED_ROUNDS = 8  # rounds over a pool's records in which sums are only updated; few descents take more
MOST_ROUNDS = 1_000


@entry
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


@entry
def prepare_swaps(x, n_cells, label, per_record, to_cell, mean_to_cell):
    """Prepare the part of a swap's change that depends on the partner's cell alone; infinite for x's own cell."""
    for B in range(n_cells):
        mean_to_cell[B] = to_cell[B, x] * per_record[B]
    mean_to_cell[label[x]] = np.inf


@entry
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


@entry
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


@entry
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


@inner
def renew(count, A, B, label, per_record, weight, to_cell, own):
    """What is kept per record, for the members of two changed cells."""
    for z in range(count):
        if label[z] == A:
            own[z] = to_cell[A, z]
            weight[z] = per_record[A]
        elif label[z] == B:
            own[z] = to_cell[B, z]
            weight[z] = per_record[B]


@inner
def descend(pool, count, n_cells, k, tolerance, stop):
    """Apply each record's best move, then its best swap, until a whole round brings nothing; returns the SSE.

    Updated sums carry rounding, so the same moves can look like gains again and again where distances agree except in
    their last bits. So from some round on the sums are formed anew before each round, and a round that did not
    lower their SSE is the last.
    """
    # Taken out of the pool once: taking an array out of a tuple costs more than a distance.
    label, size, per_record, weight, distance = pool.label, pool.size, pool.per_record, pool.weight, pool.distance
    to_cell, own, pair_sum, mean, changes = pool.to_cell, pool.own, pool.pair_sum, pool.mean_to_cell, pool.change
    x, idle, rounds, least = 0, 0, 0, np.inf
    while idle < count and stop[0] == 0:  # ends: every turn either returns or goes on in one of MOST_ROUNDS rounds
        if x == 0:
            rounds += 1
            if rounds > TRUSTED_ROUNDS:
                anew = sum_up(pool, count, n_cells)
                if rounds > MOST_ROUNDS or not anew < least - tolerance:
                    return anew
                least = anew
        if size[label[x]] > k:
            target, change = best_move(x, n_cells, k, label, size, to_cell, own, pair_sum)
            if change < -tolerance:
                move(x, target, count, label, size, per_record, weight, distance, to_cell, own, pair_sum)
                idle = 0
        prepare_swaps(x, n_cells, label, per_record, to_cell, mean)
        partner, change = best_swap(x, count, label, weight, distance, to_cell, own, mean, changes)
        idle += 1
        if change < -tolerance:
            swap(x, partner, count, label, per_record, weight, distance, to_cell, own, pair_sum)
            idle = 0
        x += 1
        if x == count:
            x = 0
    return pool_sse(pool, n_cells)
