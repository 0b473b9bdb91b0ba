"""The search behind near-optimal cells: sweeps and annealed ruin-and-recreate over pools of neighbouring cells."""

from __future__ import annotations

import secrets
import time
from collections.abc import Callable, Sequence
from concurrent.futures import FIRST_COMPLETED, ThreadPoolExecutor, wait
from contextvars import copy_context
from dataclasses import dataclass, field
from typing import Any

import numpy as np
import numpy.typing as npt

from microagg._halt import INTERRUPT, StopCondition
from microagg._progress import report
from microagg._threads import cores
from microagg._typing import FloatArray, IntArray
from microagg.partition.base import within_cell_sse
from microagg.partition.local_search.efforts import Effort, annealing_steps
from microagg.partition.nominal import nominal_of
from microagg.space.points import Points

__all__ = ["Found", "Pools", "chance_states", "search_cells"]


_ALL_PAIRS_UP_TO = 6_000  # records; above, near records come from several overlapping splits
_SPLITS = 4
_SWEPT_CELLS = 6  # cells in the pool of a sweep
_LARGEST_POOL = 6_000  # records; where two cells may hold more, nothing is searched
_ENOUGH_GAIN = 1e-3  # a sweep that gains less, relative to the SSE, is the last
_MET_FROM = 0.5  # share of the steps after which the partitions met are kept, where runs are recombined
_COLD_FROM = 0.9  # share of the steps after which only gains are accepted
_STEPS_PER_PORTION = 100_000  # for k = 1: about a tenth of a second for every k


def chance_states(random_state: int | None, count: int) -> list[IntArray]:
    """As many independent states of chance, from a seed or, without one, from the system's source of randomness."""
    from microagg._kernels.random import seed_rng

    seed = secrets.randbits(128) if random_state is None else int(random_state)
    return [seed_rng(child.generate_state(4)) for child in np.random.SeedSequence(seed).spawn(count)]


@dataclass
class Found:
    """The best partition of a run so far; a thread writes it, another may look."""

    labels: IntArray
    sse: float
    share: float = 0.0  # of the run that is done
    trace: list[tuple[float, float]] = field(default_factory=list)  # CPU seconds of the thread, SSE
    met: list[IntArray] = field(default_factory=list)  # partitions on the way, to be recombined

    def offer(self, labels: IntArray, sse: float) -> None:
        if sse < self.sse:
            self.labels, self.sse = labels.copy(), sse
        self.trace.append((time.thread_time(), self.sse))


class Pools:
    """Records with their near records, ready to be searched for cells of k to 2k - 1; not if it was halted before."""

    def __init__(self, points: Points, k: int, halt: StopCondition) -> None:
        self.k = k
        points, n_records = points.centred(), len(points)
        self.total = within_cell_sse(points, np.zeros(n_records, dtype=np.int64), 1)
        self.swept_cells = min(max(1_200 // (2 * k - 1), 2), _SWEPT_CELLS)
        # Large cells make large pools: fewer of them at a time.
        self.fewest, self.most = (3, 5) if k < 50 else (2, min(4, self.swept_cells))
        self.searchable = n_records >= 2 * k and 2 * (2 * k - 1) <= _LARGEST_POOL
        # Records that are near each other lie near each other in memory: many searches spend their time fetching.
        self.order = split_order(points, halt) if n_records > _ALL_PAIRS_UP_TO else np.arange(n_records)
        points = points.take(self.order)
        self.X, self.nominal = points.values, nominal_of(points)
        if self.searchable:
            self.near = near_records(points, k, halt)
            self.searchable = not halt.now()

    def search(self, start: IntArray, effort: Effort, chance: IntArray, halt: StopCondition, found: Found) -> None:
        """Improve a partition; `found` holds the best so far at any time."""
        from microagg.partition._kernels.local_search.cell_lists import list_cells
        from microagg.partition._kernels.local_search.pool import allocate_pool

        if not self.searchable:
            return
        cells = list_cells(start.copy(), self.k)
        pool = allocate_pool(max(self.swept_cells, self.most), self.k, self.X.shape[1])
        self._sweep(cells, pool, effort.sweeps, chance, halt, found)
        steps = annealing_steps(effort, len(self.X), self.k)
        self._anneal(cells, pool, steps, effort, chance, halt, found)

    def _sweep(self, cells: Any, pool: Any, sweeps: int, chance: IntArray, halt: StopCondition, found: Found) -> None:
        from microagg.partition._kernels.local_search.annealing import sweep
        from microagg.partition._kernels.local_search.cell_lists import one_of_each_cell

        portion = self._steps_per_portion()
        for _ in range(sweeps):
            seeds = one_of_each_cell(cells, chance)
            gain = 0.0
            for first in range(0, len(seeds), portion):
                if halt.now():
                    break
                some = seeds[first : first + portion]
                gain += sweep(
                    self.X, self.near, cells, pool, self.k, some, self.swept_cells, chance, halt.flag, self.nominal
                )
            _, sse = self._distances(cells)
            found.offer(cells.label, sse)
            if gain <= _ENOUGH_GAIN * sse or halt.now():
                break

    def _anneal(
        self, cells: Any, pool: Any, steps: int, effort: Effort, chance: IntArray, halt: StopCondition, found: Found
    ) -> None:
        from microagg.partition._kernels.local_search.annealing import anneal

        done = 0
        portion = max(1, min(max(self._steps_per_portion(), len(self.X) // 20), steps // 50))
        distances, sse = self._distances(cells)
        while done < steps and sse > 0.0 and not halt.now():
            now = min(portion, steps - done)
            warmth = effort.hottest * max(0.0, 1.0 - done / steps / _COLD_FROM) ** 2
            weights = np.cumsum(distances)
            sizes = (now, self.fewest, self.most)
            anneal(self.X, self.near, cells, pool, self.k, *sizes, warmth, weights, chance, halt.flag, self.nominal)
            done += now
            distances, sse = self._distances(cells)
            found.offer(cells.label, sse)
            found.share = done / steps if not halt.now() else found.share
            if effort.several and found.share > _MET_FROM:
                found.met.append(cells.label.copy())

    def in_given_order(self, labels: IntArray) -> IntArray:
        """The labels of the records as they were given, from those of the records as they lie in memory."""
        given = np.empty_like(labels)
        given[self.order] = labels
        return given

    def _steps_per_portion(self) -> int:
        return max(1, int(_STEPS_PER_PORTION / self.k**1.5))

    def _distances(self, cells: Any) -> tuple[FloatArray, float]:
        """Each record's distance to the centroid of its cell, and the SSE."""
        return self.distances_to_centroids(cells.label, len(cells.size))

    def distances_to_centroids(self, labels: IntArray, most_cells: int) -> tuple[FloatArray, float]:
        """Each record's distance to the centroid of its cell, and the SSE; records as they lie in memory."""
        from microagg.partition._kernels.local_search.cell_lists import distances_to_centroids

        distances = np.empty(len(self.X))
        sse = distances_to_centroids(self.X, labels, most_cells, distances, self.nominal)
        return distances, float(sse)


def split_order(points: Points, halt: StopCondition) -> IntArray:
    """The records in the order of a median split."""
    from microagg._kernels.random import seed_rng
    from microagg.partition._kernels.local_search.split import split_records

    order = np.arange(len(points))
    columns = np.ascontiguousarray(points.values.T)
    split_records(columns, order, 8, seed_rng([0, 0, 0, 0]), 0.0, halt.flag, nominal_of(points))
    return order


def near_records(points: Points, k: int, halt: StopCondition) -> npt.NDArray[np.int32]:
    """Near records of each record, nearest first: exactly where records are few, nearly where they are many.

    Halted, some have none.
    """
    from microagg._kernels.random import seed_rng
    from microagg.partition._kernels.local_search.neighbours import NOBODY, improve_nearest, nearest_of_all
    from microagg.partition._kernels.local_search.split import split_records

    n_records, nominal = len(points), nominal_of(points)
    few = n_records <= _ALL_PAIRS_UP_TO
    wanted = min(max(32 if few else 16, min(2 * k, 128)), n_records - 1)
    nearest = np.full((n_records, wanted), NOBODY, dtype=np.int32)
    columns = np.ascontiguousarray(points.values.T)
    if few:
        nearest_of_all(columns, nearest, halt.flag, nominal)
        return nearest
    near = np.full((n_records, wanted), np.inf)
    for turn in range(_SPLITS):
        # A fixed chance: the near records belong to the table, not to a run.
        order = np.arange(n_records)
        chance, wobble = seed_rng([1, 2, 3, turn]), 0.9 if turn else 0.0
        starts = split_records(columns, order, 3 * wanted, chance, wobble, halt.flag, nominal)
        if halt.now():
            break
        improve_nearest(np.ascontiguousarray(columns[:, order]), order, starts, nearest, near, halt.flag, nominal)
    return nearest


def search_cells(
    pools: Pools,
    starts: Sequence[IntArray],
    effort: Effort,
    chances: Sequence[IntArray],
    halt: StopCondition,
    *,
    tell: Callable[[float, float], None] | None = None,
) -> list[Found]:
    """Search from each start, on as many cores as there are runs; an interrupt ends all and keeps what they found."""
    found = [Found(start[pools.order], _sse(pools, start[pools.order])) for start in starts]
    with ThreadPoolExecutor(max_workers=max(1, min(len(found), cores()))) as workers:
        pending = {
            workers.submit(copy_context().run, pools.search, one.labels, effort, chance, halt, one)
            for one, chance in zip(found, chances, strict=True)
        }
        futures = list(pending)
        while pending:
            try:
                _, pending = wait(pending, timeout=0.2, return_when=FIRST_COMPLETED)
                halt.now()
                (tell or _tell)(float(np.mean([one.share for one in found])), _loss(pools, found))
            except KeyboardInterrupt:
                halt.stop(INTERRUPT)
    for future in futures:
        future.result()
    for one in found:
        one.labels = pools.in_given_order(one.labels)
        one.met = [pools.in_given_order(labels) for labels in one.met]
    return found


def _sse(pools: Pools, labels: IntArray) -> float:
    return pools.distances_to_centroids(labels, int(labels.max()) + 1)[1]


def _loss(pools: Pools, found: Sequence[Found]) -> float:
    return 100.0 * min(one.sse for one in found) / pools.total if pools.total > 0 else 0.0


def _tell(share: float, loss: float) -> None:
    report(f"searching cells: loses {loss:.3f} %", share)
