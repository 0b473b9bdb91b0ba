"""Best cuts of ordered records in NumPy: the starts of ``_kernels/univariate.py`` and ``_kernels/projection.py``."""

from __future__ import annotations

import numpy as np

from microagg._typing import FloatArray, IntArray

__all__ = ["label_runs", "optimal_starts", "shortest_path_starts"]


_SHORT = 8  # below this k every cut is tried, from it on halves bound each other: as in the kernel
_COSTS_AT_ONCE = 1_000_000  # numbers held of the costs of cells


def label_runs(start_of_last: IntArray) -> IntArray:
    """Cell of each position, from where the last cell of each best prefix starts."""
    cuts, stop = [len(start_of_last) - 1], len(start_of_last) - 1
    while stop > 0:  # ends: a cell starts before it stops
        stop = int(start_of_last[stop])
        cuts.append(stop)
    sizes = np.diff(cuts[::-1])
    return np.repeat(np.arange(len(sizes)), sizes)


def shortest_path_starts(X: FloatArray, k: int, stop: IntArray) -> IntArray:
    """For records in order: where the last cell of each best prefix starts (cells of k to 2k - 1).

    Told to ``stop``, it returns what means nothing.
    """
    n_records = len(X)
    columns = np.ascontiguousarray(X.T)
    best = np.full(n_records + 1, np.inf)
    best[0] = 0.0
    start_of_last: IntArray = np.zeros(n_records + 1, dtype=np.int64)
    at_once = max(_COSTS_AT_ONCE // k, k)
    with np.errstate(under="ignore"):
        for first in range(k, n_records + 1, at_once):
            ends = np.arange(first, min(first + at_once, n_records + 1))
            costs = _costs_of_cells(columns, ends, k, stop)
            # All prefixes that end within k records depend on shorter ones only.
            for place in range(0, len(ends), k):
                if stop[0] != 0:
                    return np.zeros_like(start_of_last)
                some = ends[place : place + k]
                sizes = np.arange(2 * k - 1, k - 1, -1)  # the longest first: of equal totals, it is the one
                starts = some - sizes[:, np.newaxis]
                totals = np.where(starts >= 0, best[starts] + costs[::-1, place : place + k], np.inf)
                longest = np.argmin(totals, axis=0)
                best[some] = totals[longest, np.arange(len(some))]
                start_of_last[some] = some - sizes[longest]
    return start_of_last


def _costs_of_cells(columns: FloatArray, ends: IntArray, k: int, stop: IntArray) -> FloatArray:
    """The SSE of the cell of each size from k to 2k - 1 (a row) that ends before each of `ends` (a column).

    Cells grow backwards, mean and SSE updated as in Welford's recurrence, attribute after attribute. Where a cell would
    begin before the first record, its cost means nothing.
    """
    means = np.zeros((len(columns), len(ends)))
    sse = np.zeros(len(ends))
    costs = np.empty((k, len(ends)))
    for size in range(1, 2 * k):
        if stop[0] != 0:
            break
        starts = np.maximum(ends - size, 0)
        for mean, column in zip(means, columns, strict=True):
            values = column[starts]
            step = values - mean
            mean += step / size
            sse += step * (values - mean)
        if size >= k:
            costs[size - k] = sse
    return costs


def optimal_starts(x: FloatArray, k: int, stop: IntArray) -> IntArray:
    """For sorted x (at least k values): where the last cell of each optimal prefix starts.

    Told to ``stop``, it returns what means nothing.
    """
    with np.errstate(under="ignore"):
        return _OptimalCuts(x, k).starts(stop)


class _OptimalCuts:
    """The best cuts, block by block of k values; see ``_kernels/univariate.py`` for why nothing cancels."""

    def __init__(self, x: FloatArray, k: int) -> None:
        self.n, self.k = len(x), k
        self.best = np.full(self.n + 1, np.inf)
        self.best[0] = 0.0
        self.inverse = 1.0 / np.maximum(np.arange(2 * k + 1), 1)
        self._summarise_blocks(x)

    def _summarise_blocks(self, x: FloatArray) -> None:
        """Mean and SSE of the runs from each value to the end of its block (`suffix`), to that of the next (`past`),
        and from the begin of its block to each value (`prefix`). All blocks take a step together.
        """
        n, k = self.n, self.k
        begins = np.arange(0, n, k)
        stops = np.minimum(begins + k, n)
        self.suffix_mean, self.suffix_sse = np.empty(n), np.empty(n)
        self.prefix_mean, self.prefix_sse = np.empty(n), np.empty(n)
        for outward, means, sses in (
            (False, self.suffix_mean, self.suffix_sse),
            (True, self.prefix_mean, self.prefix_sse),
        ):
            mean, sse = np.zeros(len(begins)), np.zeros(len(begins))
            for turn in range(min(k, n)):
                running = stops - begins > turn  # only the last block may be shorter
                here = (begins + turn if outward else stops - 1 - turn)[running]
                border = (begins if outward else stops - 1)[running]
                value = x[here] - x[border]
                step = value - mean[running]
                mean[running] += step / (turn + 1)
                sse[running] += step * (value - mean[running])
                means[here], sses[here] = mean[running], sse[running]
        # Means of prefixes are measured from the last value before the block.
        across = x[begins] - x[np.maximum(begins - 1, 0)]
        self.prefix_mean += np.repeat(across, stops - begins)
        self.past_mean, self.past_sse = np.empty(n), np.empty(n)
        if len(begins) == 1:
            return
        followed = np.arange(stops[-2])  # all values but those of the last block
        block = followed // k
        stop, next_stop = stops[block], stops[block + 1]
        count, n_next = stop - followed, next_stop - stop
        total = count + n_next
        border = x[next_stop - 1] - x[stop - 1]
        mean_next, sse_next = self.prefix_mean[next_stop - 1], self.prefix_sse[next_stop - 1]
        mean, sse = self.suffix_mean[followed], self.suffix_sse[followed]
        gap = mean - mean_next
        self.past_mean[followed] = mean - gap * (n_next / total) - border
        self.past_sse[followed] = sse + sse_next + gap * gap * (count * (n_next / total))

    def starts(self, stop: IntArray) -> IntArray:
        start_of_last: IntArray = np.zeros(self.n + 1, dtype=np.int64)
        for begin in range(0, self.n, self.k):
            if stop[0] != 0:
                return np.zeros_like(start_of_last)
            first, last = max(begin + 1, self.k), min(begin + self.k, self.n)
            if self.k < _SHORT:
                for j in range(first, last + 1):
                    start_of_last[j] = self._cut(j, 0, self.n, begin)
                continue
            # Prefixes first..last with cuts between low and high; the middle one splits both.
            pending = [(first, last, 0, self.n)]
            while pending:  # ends: each turn drops an empty range, or parts one without its middle
                first, last, low, high = pending.pop()
                if first > last:
                    continue
                j = (first + last) // 2
                cut = start_of_last[j] = self._cut(j, low, high, begin)
                pending += [(first, j - 1, low, cut), (j + 1, last, cut, high)]
        return start_of_last

    def _cut(self, j: int, low: int, high: int, begin: int) -> int:
        """The first start of the last cell, between `low` and `high`, with the least total of the first j values."""
        k, n_right = self.k, j - begin
        low, high = max(j - 2 * k + 1, low), min(j - k, high)
        mean, sse = self.prefix_mean[j - 1], self.prefix_sse[j - 1]
        near = begin - k  # before it, a start is two blocks back, and its run to there goes past a block
        least, cut = np.inf, low
        for start, stop, means, sses in (
            (low, min(high + 1, near), self.past_mean, self.past_sse),
            (max(low, near), min(high + 1, begin), self.suffix_mean, self.suffix_sse),
        ):
            if start >= stop:
                continue
            sizes = np.arange(j - start, j - stop, -1)
            gap = means[start:stop] - mean
            weights = (sizes - n_right) * n_right * self.inverse[sizes]
            totals = self.best[start:stop] + (sses[start:stop] + sse + gap * gap * weights)
            place = int(np.argmin(totals))
            if totals[place] < least:
                least, cut = totals[place], start + place
        if high == begin and self.best[begin] + sse < least:  # the cell is the block itself
            least, cut = self.best[begin] + sse, begin
        self.best[j] = least
        return cut
