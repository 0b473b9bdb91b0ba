"""Optimal cells of one sorted attribute, compiled.

``best[j]`` is the least SSE of the first j values. The last cell of such a prefix is values i..j-1, of k to 2k-1
values (a longer one can be split without loss)::

    best[j] = min over i in [j - 2k + 1, j - k] of best[i] + sse(i, j)

**No cancellation.** Prefix sums lose all digits on values like 1e9 + small. Instead values lie in blocks of k, and each
position keeps summaries (count, mean, SSE) of runs that end at block borders. A cell of fewer than 2k values spans at
most three blocks, so it is a run up to a border plus a run from that border, and the SSE of a union is a sum of
non-negative terms::

    sse = sse_left + sse_right + (mean_left - mean_right)^2 * n_left * n_right / (n_left + n_right)

Means are kept as differences to the value at the border, the last one of a run before it and the first one of a run
behind it. So all that is ever rounded is a distance between values of one cell: neither an offset of all values nor
another cluster of values far away costs digits.

**Time that does not grow with k.** All j of one block depend on i of earlier blocks only, and sse(i, j) satisfies the
quadrangle inequality, also with the band's borders (outside, the value is infinite). So the best i grows with j, and
the j of a block are solved middle first: O(k log k) for a block, O(n log k) in all.
"""

from __future__ import annotations

import numpy as np

from microagg._kernels.jit import compiled

SHORT = 8  # below this k trying every i is quicker than halving


@compiled
def summaries_of_block(x, start, stop, next_stop, suffix_mean, suffix_sse, past_mean, past_sse):
    """For each i in the block: values i..stop-1, and values i..next_stop-1 (to the end of the next block)."""
    mean, sse = 0.0, 0.0
    for i in range(stop - 1, start - 1, -1):
        value = x[i] - x[stop - 1]
        step = value - mean
        mean += step / (stop - i)
        sse += step * (value - mean)
        suffix_mean[i] = mean
        suffix_sse[i] = sse
    if next_stop == stop:  # nothing comes after the last block
        return
    mean_next, sse_next = 0.0, 0.0
    for i in range(stop, next_stop):
        value = x[i] - x[stop]
        step = value - mean_next
        mean_next += step / (i - stop + 1)
        sse_next += step * (value - mean_next)
    mean_next += x[stop] - x[stop - 1]
    border = x[next_stop - 1] - x[stop - 1]
    n_next = next_stop - stop
    for i in range(start, stop):
        count = stop - i
        total = count + n_next
        gap = suffix_mean[i] - mean_next
        past_mean[i] = suffix_mean[i] - gap * (n_next / total) - border
        past_sse[i] = suffix_sse[i] + sse_next + gap * gap * (count * (n_next / total))


@compiled
def least_total(j, low, high, n_right, mean, sse, means, sses, best, inverse, least, cut):
    """The first i in low..high-1 with the least best[i] + sse(i, j), if below ``least``.

    ``means`` and ``sses`` summarise the values from i up to where the last ``n_right`` values before j begin.
    """
    size = j - low
    for i in range(low, high):
        gap = means[i] - mean
        # n_left n_right / (n_left + n_right), with 1/size from a table: no division in the loop
        value = best[i] + (sses[i] + sse + gap * gap * ((size - n_right) * n_right * inverse[size]))
        size -= 1
        if value < least:
            least = value
            cut = i
    return least, cut


@compiled
def best_cut(
    j, low, high, block_start, k, mean_to, sse_to, suffix_mean, suffix_sse, past_mean, past_sse, best, inverse
):
    """The first i in low..high with the least total."""
    n_right = j - block_start
    mean, sse = mean_to[n_right], sse_to[n_right]
    previous = block_start - k  # before it, i is two blocks back
    least, cut = least_total(
        j, low, min(high + 1, previous), n_right, mean, sse, past_mean, past_sse, best, inverse, np.inf, low
    )
    least, cut = least_total(
        j, max(low, previous), min(high + 1, block_start), n_right, mean, sse, suffix_mean, suffix_sse, best, inverse,
        least, cut,
    )  # fmt: skip
    if high == block_start and best[block_start] + sse < least:  # the cell is the block itself
        return best[block_start] + sse, block_start
    return least, cut


@compiled
def optimal_starts(x, k):
    """For sorted x (at least k values): where the last cell of each optimal prefix starts."""
    n = x.shape[0]
    best = np.full(n + 1, np.inf)
    best[0] = 0.0
    start_of_last = np.zeros(n + 1, dtype=np.int64)
    suffix_mean, suffix_sse = np.empty(n), np.empty(n)
    past_mean, past_sse = np.empty(n), np.empty(n)
    mean_to, sse_to = np.empty(k + 1), np.empty(k + 1)
    inverse = 1.0 / np.maximum(np.arange(2 * k + 1), 1)
    pending = np.empty((2 * 64 + 2, 4), dtype=np.int64)
    for block_start in range(0, n, k):
        block_stop = min(block_start + k, n)
        # Prefixes of this block: values block_start..j-1, their means from the last value before the border.
        mean, sse = 0.0, 0.0
        across = x[block_start] - x[max(block_start - 1, 0)]
        for j in range(block_start + 1, block_stop + 1):
            value = x[j - 1] - x[block_start]
            step = value - mean
            mean += step / (j - block_start)
            sse += step * (value - mean)
            mean_to[j - block_start] = mean + across
            sse_to[j - block_start] = sse
        if k < SHORT:
            for j in range(max(block_start + 1, k), block_stop + 1):
                best[j], start_of_last[j] = best_cut(
                    j, max(j - 2 * k + 1, 0), j - k, block_start, k, mean_to, sse_to,
                    suffix_mean, suffix_sse, past_mean, past_sse, best, inverse,
                )  # fmt: skip
        else:
            # Rows first..last with cuts between low and high; the middle row splits both.
            depth = 1
            pending[0] = max(block_start + 1, k), block_stop, 0, n
            while depth > 0:  # ends: each turn drops an empty range, or parts one without its middle
                depth -= 1
                first, last, low, high = pending[depth]
                if first > last:
                    continue
                j = (first + last) // 2
                best[j], cut = best_cut(
                    j, max(j - 2 * k + 1, low), min(j - k, high), block_start, k, mean_to, sse_to,
                    suffix_mean, suffix_sse, past_mean, past_sse, best, inverse,
                )  # fmt: skip
                start_of_last[j] = cut
                pending[depth] = first, j - 1, low, cut
                pending[depth + 1] = j + 1, last, cut, high
                depth += 2
        # The summaries of the block before this one can now reach past it; those of this one come next round.
        summaries_of_block(
            x, block_start, block_stop, min(block_stop + k, n), suffix_mean, suffix_sse, past_mean, past_sse
        )
    return start_of_last, best[n]


@compiled
def cells_from_starts(start_of_last):
    """Cell of each position of the sorted values."""
    n = start_of_last.shape[0] - 1
    labels = np.empty(n, dtype=np.int64)
    n_cells = 0
    stop = n
    while stop > 0:  # ends: a cell starts before it stops
        n_cells += 1
        stop = start_of_last[stop]
    stop = n
    cell = n_cells - 1
    while stop > 0:  # ends, like the one above
        start = start_of_last[stop]
        labels[start:stop] = cell
        cell -= 1
        stop = start
    return labels
