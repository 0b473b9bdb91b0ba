"""Best cells of consecutive records in a given order, with the cost of all attributes, compiled."""

from __future__ import annotations

import numpy as np

from microagg._kernels.jit import compiled


@compiled
def shortest_path_starts(X, k, stop):
    """For records in order: where the last cell of each best prefix starts (cells of k to 2k - 1).

    The cell grows backwards record by record, mean and SSE updated as in Welford's recurrence, so no difference of
    large sums is taken. The SSE of several attributes along an order set by one number is not a Monge array: every cut
    is tried, O(n k d). When ``stop`` is set, the result means nothing.
    """
    n, dimension = X.shape
    best = np.full(n + 1, np.inf)
    best[0] = 0.0
    start_of_last = np.zeros(n + 1, dtype=np.int64)
    mean = np.empty(dimension)
    for j in range(k, n + 1):
        if stop[0] != 0:
            break
        mean[:] = 0.0
        sse = 0.0
        least = np.inf
        cut = -1
        for i in range(j - 1, max(j - 2 * k, -1), -1):
            size = j - i
            for a in range(dimension):
                step = X[i, a] - mean[a]
                mean[a] += step / size
                sse += step * (X[i, a] - mean[a])
            # Of equal totals the longer cell: the one that starts first.
            if size >= k and best[i] + sse <= least and best[i] < np.inf:
                least = best[i] + sse
                cut = i
        best[j] = least
        start_of_last[j] = cut
    return start_of_last
