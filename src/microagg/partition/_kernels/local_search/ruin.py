"""Disturb a pool at random: exchange a few labels, or form new cells around random seeds."""

from __future__ import annotations

import numpy as np

from microagg._kernels.jit import inner
from microagg._kernels.random import draw_below, draw_share, shuffle

FEWER_CELLS = 0.1  # how often a pool is rebuilt with one cell less, where that is possible
MORE_CELLS = 0.2  # ... with one cell more
REBUILT = 0.5  # how often a pool is rebuilt from seeds; otherwise a few labels are exchanged
MOST_DRAWS = 64  # until a record of the wanted kind is drawn; every draw has a probability of a third or more


@inner
def draw_of_other_cell(pool, count, cell, rng):
    """A random record of another cell than the given one; a pool has at least two cells."""
    y = draw_below(rng, count)
    for _ in range(MOST_DRAWS):
        if pool.label[y] != cell:
            return y
        y = draw_below(rng, count)
    for _ in range(count):  # unlucky every time: take the next one
        if pool.label[y] != cell:
            break
        y = y + 1 if y + 1 < count else 0
    return y


@inner
def draw_of_no_cell(pool, count, rng):
    """A random record without a cell; at least half of a pool's records have none while seeds are drawn."""
    x = draw_below(rng, count)
    for _ in range(MOST_DRAWS):
        if pool.label[x] < 0:
            return x
        x = draw_below(rng, count)
    for _ in range(count):  # unlucky every time: take the next one
        if pool.label[x] < 0:
            break
        x = x + 1 if x + 1 < count else 0
    return x


@inner
def exchange_labels(pool, count, k, rng):
    """Exchange the labels of a few random pairs of different cells."""
    most = max(1, min(count // 3, 2 * k))
    for _ in range(1 + draw_below(rng, most)):
        x = draw_below(rng, count)
        y = draw_of_other_cell(pool, count, pool.label[x], rng)
        pool.label[x], pool.label[y] = pool.label[y], pool.label[x]


@inner
def draw_seed(pool, count, far, rng):
    """A record without a cell: any, or with a probability proportional to its distance from the seeds so far."""
    if not far:
        return draw_of_no_cell(pool, count, rng)
    total = 0.0
    for x in range(count):
        if pool.label[x] < 0:
            total += pool.to_seed[x]
    left = draw_share(rng) * total
    last = -1
    for x in range(count):
        if pool.label[x] < 0:
            last = x
            left -= pool.to_seed[x]
            if left <= 0.0:
                break
    return last


@inner
def fill_up_to_k(cell, k, n_left, left, seed, label, size, distance):
    """Let a cell of one record, its seed, take the nearest of the records left until it has k; returns how many stay.

    ``left`` lists the records without a cell in its first n_left places.
    """
    here = seed[cell]
    while size[cell] < k:  # ends: the cell grows every time
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


@inner
def draw_seeds(pool, count, n_cells, far, rng):
    """Draw the first record of each cell; the others are left without a cell."""
    for x in range(count):
        pool.label[x] = -1
        pool.to_seed[x] = np.inf
    for c in range(n_cells):
        seed = draw_seed(pool, count, far and c > 0, rng)
        pool.seed[c] = seed
        pool.label[seed] = c
        pool.size[c] = 1
        if far:
            for x in range(count):
                pool.to_seed[x] = min(pool.to_seed[x], pool.distance[seed, x])


@inner
def rebuild(pool, count, n_cells, k, far, rng):
    """Forget the pool's cells and form n_cells around random seeds, which take their nearest in random order."""
    label, size, seed, left, distance = pool.label, pool.size, pool.seed, pool.left, pool.distance
    draw_seeds(pool, count, n_cells, far, rng)
    n_left = 0
    for x in range(count):
        if label[x] < 0:
            left[n_left] = x
            n_left += 1
    for c in range(n_cells):
        pool.turn[c] = c
    shuffle(rng, pool.turn[:n_cells])
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


@inner
def disturb(pool, count, n_cells, k, rng):
    """Change the pool's labels at random, and perhaps the number of its cells; returns that number."""
    turn = draw_share(rng)
    if turn < FEWER_CELLS and count <= (n_cells - 1) * (2 * k - 1):
        n_after = n_cells - 1
    elif turn < FEWER_CELLS + MORE_CELLS and count >= (n_cells + 1) * k:
        n_after = n_cells + 1
    else:
        n_after = n_cells
    if n_after != n_cells or draw_share(rng) < REBUILT:
        rebuild(pool, count, n_after, k, draw_share(rng) < 0.5, rng)
    else:
        exchange_labels(pool, count, k, rng)
    return n_after
