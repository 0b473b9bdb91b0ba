"""Runs of k along the sorted values of an attribute that is known by its frequencies.

A value that many records share fills whole runs, which publish what that value alone does; only the runs at both its
ends hold other values too. So no more than two runs for each distinct value are ever looked into, and a value publishes
at most three things: to its first records, to those in runs of their own, and to its last ones.
"""

from __future__ import annotations

from collections.abc import Callable
from dataclasses import dataclass

import numpy as np

from microagg._typing import FloatArray, IntArray
from microagg.partition.runs import Larger

__all__ = ["Pieces", "Runs", "cut_into_pieces"]

_AT_ONCE = 2_000_000  # records of runs that are looked into together


@dataclass(frozen=True)
class Runs:
    """The runs of :func:`~microagg.partition.runs.run_sizes`, without a list of them."""

    n_records: int
    k: int
    larger: Larger

    @property
    def n_runs(self) -> int:
        return self.n_records // self.k

    @property
    def largest(self) -> int:
        return self.k + self.n_records % self.k

    @property
    def place_of_larger(self) -> int:
        return {"first": 0, "middle": self.n_runs // 2, "last": self.n_runs - 1}[self.larger]

    def run_of(self, ranks: IntArray) -> IntArray:
        """The run that each rank falls into."""
        start = self.place_of_larger * self.k
        after = np.maximum((ranks - self.n_records % self.k) // self.k, self.place_of_larger)
        return np.where(ranks < start, ranks // self.k, after)

    def start_of(self, runs: IntArray) -> IntArray:
        """The first rank of each run; of the run after the last one, the number of records."""
        return runs * self.k + np.where(runs > self.place_of_larger, self.n_records % self.k, 0)


@dataclass(frozen=True)
class Pieces:
    """What the records of each value publish: the first `n_low` of them, the last `n_high`, and those between.

    Attributes
    ----------
    n_low, n_high : ndarray of int64
    low, middle, high : ndarray of float64
        NaN is missing; `low` and `high` mean nothing where they are of no record.
    lost : float
        Sum of squared differences between values and the means of their runs.
    """

    n_low: IntArray
    n_high: IntArray
    low: FloatArray
    middle: FloatArray
    high: FloatArray
    lost: float

    @property
    def is_split(self) -> IntArray:
        return np.flatnonzero((self.n_low > 0) | (self.n_high > 0))


def cut_into_pieces(
    values: FloatArray, counts: IntArray, runs: Runs, represent: Callable[[FloatArray, IntArray], FloatArray]
) -> Pieces:
    """What each distinct value publishes, rank by rank.

    Parameters
    ----------
    values : ndarray
        Distinct and ascending; a NaN stands for missing values, wherever their place is.
    counts : ndarray of int64
        Each above 0.
    runs : Runs
        Of as many records.
    represent : function
        For values and the run of each, 0 to n - 1 ascending, what each run publishes.
    """
    ends = np.cumsum(counts)
    first, last = runs.run_of(ends - counts), runs.run_of(ends - 1)
    looked_into = np.unique(np.concatenate([first, last]))
    published, lost = _represent_runs(looked_into, values, ends, runs, represent)
    low, high = (published[np.searchsorted(looked_into, one)] for one in (first, last))
    alone = represent(values, np.arange(len(values)))
    within = first == last
    n_low = np.where(within, 0, runs.start_of(first + 1) - (ends - counts))
    n_high = np.where(within, counts, ends - runs.start_of(last))
    n_middle = counts - n_low - n_high
    # What is published by all, or last of all, is called the middle.
    none_between = n_middle == 0
    middle = np.where(none_between, high, alone)
    n_high = np.where(none_between | _same(high, middle), 0, n_high)
    n_low = np.where(_same(low, middle), 0, n_low)
    return Pieces(n_low, n_high, low, middle, high, lost)


def _represent_runs(
    looked_into: IntArray,
    values: FloatArray,
    ends: IntArray,
    runs: Runs,
    represent: Callable[[FloatArray, IntArray], FloatArray],
) -> tuple[FloatArray, float]:
    """What some runs publish, and what is lost in them, so many of them at a time as memory likes."""
    starts, stops = runs.start_of(looked_into), runs.start_of(looked_into + 1)
    published, lost = np.empty(len(looked_into)), 0.0
    portion = np.cumsum(stops - starts) // _AT_ONCE
    for some in np.split(np.arange(len(looked_into)), np.flatnonzero(np.diff(portion)) + 1):
        sizes = stops[some] - starts[some]
        labels = np.repeat(np.arange(len(some)), sizes)
        ranks = np.arange(int(sizes.sum())) + np.repeat(starts[some] - (np.cumsum(sizes) - sizes), sizes)
        inside = values[np.searchsorted(ends, ranks, side="right")]
        published[some] = represent(inside, labels)
        with np.errstate(over="ignore", invalid="ignore"):
            centred = inside - np.repeat(inside[np.cumsum(sizes) - sizes], sizes)
            centred -= np.repeat(np.bincount(labels, centred) / sizes, sizes)
            lost += float(np.nansum(np.square(centred)))
    return published, lost


def _same(one: FloatArray, other: FloatArray) -> np.ndarray[tuple[int], np.dtype[np.bool_]]:
    return np.asarray((one == other) | (np.isnan(one) & np.isnan(other)))
