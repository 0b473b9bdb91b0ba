"""Partitions to begin a search with, and cells cut down to fewer than 2k records."""

from __future__ import annotations

import time

import numpy as np

from microagg._halt import INTERRUPT, StopCondition
from microagg._typing import IntArray
from microagg.partition._mdav_search import mdav_cells_unless
from microagg.partition.base import cells_in_order
from microagg.partition.nominal import nominal_of
from microagg.space.points import Points

__all__ = ["MDAV", "MEDIAN_SPLITS", "SPLIT", "cells_below_2k", "split_cells", "start_of_search"]


MDAV, SPLIT, MEDIAN_SPLITS = "mdav", "split", "median splits"

_MDAV_UP_TO = 20_000  # records; above, MDAV is the start only where it costs little
_NEVER_CUT_UP_TO = 5_000  # records; of these, MDAV takes a fraction of a second, and no limit cuts it
_WORTH_MDAV = 40.0  # microseconds per record: about what the shortest search costs
_SHARE_OF_LIMIT = 0.9  # MDAV must be done by then, as far as its pace tells
_PACE_FROM = 0.2  # seconds after which the pace is believed
_BLOCK = 8_000  # records, at least


def start_of_search(points: Points, k: int, wanted: str, halt: StopCondition) -> tuple[IntArray, str]:
    """The cells to begin with, and how they were formed: by MDAV, by MDAV in blocks, or some by median splits alone.

    Parameters
    ----------
    points : Points
        Where there are codes, in the form of `Points.telling`.
    k : int
    wanted : {"auto", "mdav", "split"}
        "auto" takes MDAV where that costs no more than a short search: always up to 20,000 records, above by a count
        of the distances that its first cells took, so that every machine decides alike.
    halt : StopCondition
        MDAV is given up where its pace says that the time limit would end before it. Records that have no cell when
        the limit is over get theirs by median splits.
    """
    labels = np.full(len(points), -1, dtype=np.int64)
    how = SPLIT
    if wanted != SPLIT:
        labels = mdav_cells_unless(points, k, _Patience(len(points), judged=wanted == "auto", halt=halt))
        how = MDAV
    if halt.reason == INTERRUPT:
        raise KeyboardInterrupt
    if (labels < 0).any() and not halt.now():
        labels = split_cells(points, k, halt)
        how = SPLIT
    if (labels < 0).any():
        labels = _others_split(points, labels, k, halt)
        how = MEDIAN_SPLITS
    return cells_in_order(labels), how


class _Patience:
    """Whether MDAV is given up: for its cost, counted once, or because it would outlast the time limit."""

    def __init__(self, n_records: int, *, judged: bool, halt: StopCondition) -> None:
        self.judged = judged and n_records > _MDAV_UP_TO
        self.cut_by_limit = n_records > _NEVER_CUT_UP_TO
        self.halt = halt
        self.begun: tuple[float, float] | None = None

    def __call__(self, share: float, cost: float, scans: bool) -> bool:
        if self.halt.now():
            return self.cut_by_limit or self.halt.reason == INTERRUPT
        if self.judged and np.isfinite(cost):
            self.judged = False
            return cost > _WORTH_MDAV
        if self.halt.deadline is None or self.halt.time_limit is None or not self.cut_by_limit:
            return False
        done, now = 1.0 - (1.0 - share) ** 2 if scans else share, time.monotonic()
        if self.begun is None:  # what came before, building and compiling, says nothing about the pace
            self.begun = done, now
        first, when = self.begun
        if now - when < _PACE_FROM or done <= first:
            return False
        late = (1.0 - _SHARE_OF_LIMIT) * self.halt.time_limit
        return now + (1.0 - done) * (now - when) / (done - first) > self.halt.deadline - late


def split_cells(points: Points, k: int, halt: StopCondition) -> IntArray:
    """Halve the records along their widest attribute down to small blocks, and form cells by MDAV in each.

    Unlike MDAV of the whole, the time grows with n log n. Halted, blocks without cells have -1.
    """
    labels = np.full(len(points), -1, dtype=np.int64)
    n_cells = 0
    # Blocks of a multiple of k, so that all but one leave no records over.
    for block in _runs(points, k * max(-(-_BLOCK // k), 8), halt):
        if halt.now():
            break
        within = mdav_cells_unless(_some(points, block), k, _never)
        labels[block] = within + n_cells
        n_cells += int(within.max()) + 1
    return labels


def _never(share: float, cost: float, scans: bool) -> bool:
    return False


def _others_split(points: Points, labels: IntArray, k: int, halt: StopCondition) -> IntArray:
    """Give the records without a cell theirs by median splits; they are at least k."""
    others = np.flatnonzero(labels < 0)
    order, starts = _split(_some(points, others), k, halt)
    labels = labels.copy()
    labels[others[order]] = labels.max() + 1 + np.repeat(np.arange(len(starts) - 1), np.diff(starts))
    return labels


def cells_below_2k(points: Points, labels: IntArray, k: int) -> IntArray:
    """Split every cell of 2k records or more along its widest attribute; a split never raises the SSE."""
    sizes = np.bincount(labels)
    large = np.flatnonzero(sizes >= 2 * k)
    if not len(large):
        return labels.copy()
    labels = labels.copy()
    n_cells = len(sizes)
    order = np.argsort(labels, kind="stable")
    ends = np.cumsum(sizes)
    for cell in large:
        members = order[ends[cell] - sizes[cell] : ends[cell]]
        for run in _runs(_some(points, members), k, StopCondition())[1:]:
            labels[members[run]] = n_cells
            n_cells += 1
    return labels


def _some(points: Points, records: IntArray) -> Points:
    """Some of the records, in the form that kernels work on."""
    some = points.take(records)
    return some.telling() if points.nominal else some


def _runs(points: Points, unit: int, halt: StopCondition) -> list[IntArray]:
    """Records in runs of unit to 2 unit - 1."""
    order, starts = _split(points, unit, halt)
    return np.split(order, starts[1:-1])


def _split(points: Points, unit: int, halt: StopCondition) -> tuple[IntArray, IntArray]:
    """An order of the records, and where its runs of unit to 2 unit - 1 start, halved along the widest attribute.

    A time limit does not cut this, about a second for a million records: there has to be some start.
    """
    from microagg._kernels.random import seed_rng
    from microagg.partition._kernels.local_search.split import split_records

    order = np.arange(len(points))
    flag = halt.then(None).flag
    columns = np.ascontiguousarray(points.values.T)
    starts = split_records(columns, order, unit, seed_rng([0, 0, 0, 0]), 0.0, flag, nominal_of(points))
    if halt.reason == INTERRUPT:
        raise KeyboardInterrupt
    return order, starts
