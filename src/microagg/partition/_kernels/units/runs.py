"""Runs of sorted values with at least k different units in each, of little loss, compiled."""

from __future__ import annotations

import numpy as np

from microagg._kernels.jit import compiled


@compiled
def latest_starts(units, n_units, k):
    """For each j the largest i such that records i..j-1 are of at least k units; -1 if there is none."""
    n = units.shape[0]
    counts = np.zeros(n_units, dtype=np.int64)
    latest = np.full(n + 1, -1, dtype=np.int64)
    start, n_different = 0, 0
    for j in range(n):
        counts[units[j]] += 1
        if counts[units[j]] == 1:
            n_different += 1
        # ends: every turn takes away one record of those from start to j
        while n_different > k or (n_different == k and counts[units[start]] > 1):
            counts[units[start]] -= 1
            if counts[units[start]] == 0:
                n_different -= 1
            start += 1
        if n_different == k:
            latest[j + 1] = start
    return latest


@compiled
def unit_run_starts(x, latest, most_tried):
    """For sorted x, where the last run of the best prefix starts, as in `univariate.optimal_starts`.

    A run that can be divided into two that hold is never better than both: so a run starts behind the latest start of
    what ends where the latest run begins. Of the starts that are left the last `most_tried` are tried.
    """
    n = x.shape[0]
    sums, squares = np.zeros(n + 1), np.zeros(n + 1)
    middle = x.mean()
    for i in range(n):
        gap = x[i] - middle
        sums[i + 1] = sums[i] + gap
        squares[i + 1] = squares[i] + gap * gap
    best = np.full(n + 1, np.inf)
    best[0] = 0.0
    start_of_last = np.zeros(n + 1, dtype=np.int64)
    for j in range(1, n + 1):
        last = latest[j]
        if last < 0:
            continue
        first = max(latest[last] + 1, last - most_tried + 1, 0)
        for i in range(first, last + 1):
            if best[i] == np.inf:
                continue
            total = sums[j] - sums[i]
            value = best[i] + max(squares[j] - squares[i] - total * total / (j - i), 0.0)
            if value < best[j]:
                best[j] = value
                start_of_last[j] = i
        if best[j] == np.inf:  # no start that was tried has runs before it: the whole prefix is one
            best[j] = max(squares[j] - sums[j] * sums[j] / j, 0.0)
    return start_of_last
