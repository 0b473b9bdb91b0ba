"""Local search in pools: sweeps of descent, and annealed steps that ruin a pool and let descent recreate it.

Kernels look at ``stop``, an array of one number that another thread sets, and end when it is not 0. The partition is
valid at any time.
"""

from __future__ import annotations

import numpy as np

from microagg._kernels.jit import entry, inner
from microagg._kernels.random import draw_below, draw_share
from microagg.partition._kernels.local_search.descent import descend
from microagg.partition._kernels.local_search.pool import choose_cells, gather, put_back, sse_before, sum_up
from microagg.partition._kernels.local_search.ruin import disturb

SKIPPED_NEIGHBOURS = 0.25  # share of neighbours passed over when a pool is gathered, so that pools vary
FAR_SEEDS = 0.5  # how often a pool starts at a record drawn by its distance from its centroid
LEAST_GAIN = 1e-10  # relative to the pool's SSE; less is rounding


@entry
def sweep(X, near, cells, pool, k, seeds, pool_cells, rng, stop, nominal):
    """Descend in the pool around each seed record; returns by how much the SSE fell."""
    gain = 0.0
    for seed in seeds:
        if stop[0] != 0:
            break
        n_cells = choose_cells(cells, pool, near[seed], seed, pool_cells, 0.0, rng)
        if n_cells < 2:
            continue
        count = gather(X, cells, pool, n_cells, stop, nominal)
        if count == 0:
            break
        old = sum_up(pool, count, n_cells)
        new = descend(pool, count, n_cells, k, LEAST_GAIN * old, stop)
        if new < old:
            put_back(cells, pool, count, n_cells, n_cells)
            gain += old - new
    return gain


@inner
def draw_pool_seed(n_records, summed_weights, rng):
    """A record: any, or with a probability proportional to its weight."""
    if draw_share(rng) < FAR_SEEDS:
        total = summed_weights[n_records - 1]
        return min(np.searchsorted(summed_weights, draw_share(rng) * total), n_records - 1)
    return draw_below(rng, n_records)


@inner
def is_accepted(change, old, temperature, rng):
    """Accept gains always, and losses at random, relative to the pool's own SSE; no change is not worth writing."""
    if change < -1e-9 * old:
        return True
    if temperature <= 0.0 or change <= 1e-9 * old:
        return False
    return change < -temperature * old * np.log(draw_share(rng))


@entry
def anneal(X, near, cells, pool, k, steps, fewest, most, temperature, summed_weights, rng, stop, nominal):
    """Ruin and recreate pools of ``fewest`` to ``most`` cells around random records, ``steps`` times."""
    for _ in range(steps):
        if stop[0] != 0:
            break
        seed = draw_pool_seed(len(X), summed_weights, rng)
        wanted = fewest + draw_below(rng, most - fewest + 1)
        n_cells = choose_cells(cells, pool, near[seed], seed, wanted, SKIPPED_NEIGHBOURS, rng)
        if n_cells < 2:
            continue
        count = gather(X, cells, pool, n_cells, stop, nominal)
        if count == 0:
            break
        old = sse_before(cells, pool, count, n_cells)
        if old <= 0.0:
            continue
        n_after = disturb(pool, count, n_cells, k, rng)
        sum_up(pool, count, n_after)
        new = descend(pool, count, n_after, k, LEAST_GAIN * old, stop)
        if is_accepted(new - old, old, temperature, rng):
            put_back(cells, pool, count, n_cells, n_after)
