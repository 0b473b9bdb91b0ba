"""Search for cells that satisfy requirements and lose little: races between starts, then annealing of the best."""

from __future__ import annotations

import time
from collections.abc import Sequence
from concurrent.futures import ThreadPoolExecutor
from contextvars import copy_context
from dataclasses import dataclass, field
from typing import TYPE_CHECKING

import numpy as np
import numpy.typing as npt

from microagg._halt import StopCondition
from microagg._labels import cells_in_order
from microagg._progress import report
from microagg._threads import cores
from microagg._typing import IntArray
from microagg.partition.base import within_cell_sse
from microagg.partition.local_search.search import near_records
from microagg.partition.nominal import nominal_of
from microagg.partition.rearrange.rules import Demands
from microagg.space.points import Points

if TYPE_CHECKING:
    from microagg.partition._kernels.rearrange.cells import LinkedCells

__all__ = ["SEARCH_EFFORTS", "Arrangement", "SearchEffort"]

_PORTIONS = 60  # of a run: after each, sums are formed anew and the temperature falls
_COLD_FROM = 0.9  # share of a run after which only gains are accepted, and cells may be split
_EXCHANGED_UP_TO = 400  # records of a cell; larger ones are joined at once
_HOPELESS = 3.0  # times the SSE of the best start: not worth a try
_MOST_COORDINATES = 200
_FEW_VALUES = 100  # of a confidential attribute: with more, near records have others anyhow
_UNLIKE, _DRAWN, _ROUNDS = 8, 40, 2  # near records of another value: how many, and how they are looked for
_AFTER_LEAD = 1.0  # steps of a run after its cells were led towards the requirements, relative to those of others
_CHEAPEST, _DEAREST = 2.0, 200.0  # price of a missed requirement at the start and at the end of these
_LED_HEAT = 0.5  # temperature after them, relative to the start
_COST_OF_SIZE = 12.0  # records of a cell for which a step costs twice as much as for a few


@dataclass(frozen=True)
class SearchEffort:
    """How long to search.

    Attributes
    ----------
    steps : float
        Per record, in each of the last runs, for up to 1,000 records and small cells.
    shrink : float
        How fast they fall with the number of records above 1,000.
    least : float
        Where they stop to fall.
    tried : float
        Share of them that every start gets before the best ones are chosen.
    runs : int
        How many of these are searched to the end, on as many cores.
    hottest : float
        The temperature at the start, relative to the SSE per record.
    """

    steps: float
    shrink: float
    least: float
    tried: float
    runs: int = 2
    hottest: float = 0.3


SEARCH_EFFORTS = {
    "fast": SearchEffort(steps=600.0, shrink=0.6, least=30.0, tried=0.25, runs=1, hottest=0.15),
    "default": SearchEffort(steps=8000.0, shrink=0.85, least=100.0, tried=0.12),
    "best": SearchEffort(steps=30000.0, shrink=0.72, least=500.0, tried=0.08, runs=4),
}


@dataclass
class Run:
    """The best partition of a run so far; all its cells satisfy the requirements.

    A run may begin with cells that miss requirements, `led_from`, and be led towards them.
    """

    labels: IntArray
    sse: float
    led_from: IntArray | None = None
    share: float = 0.0
    trace: list[tuple[float, float]] = field(default_factory=list)  # CPU seconds of the thread, SSE

    def offer(self, labels: IntArray, sse: float) -> None:
        if sse < self.sse:
            self.labels, self.sse = labels.copy(), sse
        self.trace.append((time.thread_time(), self.sse))


class Arrangement:
    """Records whose cells are rearranged, with their near records and the requirements.

    Parameters
    ----------
    points : Points
        Where there are codes, in the form of `Points.telling`; on a scale near one.
    k : int
    demands : Demands
        About all records of the table.
    members : ndarray
        Which of them `points` are.
    halt : StopCondition
    """

    def __init__(self, points: Points, k: int, demands: Demands, members: IntArray, halt: StopCondition) -> None:
        self.points, self.k, self.halt = points.centred(), k, halt
        self.X, self.nominal = self.points.values, nominal_of(self.points)
        if (
            points.nominal and points.n_coordinates <= _MOST_COORDINATES
        ):  # a cell's sums are then quicker than its codes
            self.X, self.nominal = Points(self.points.coordinates()).centred().values, None
        self.rules = demands.rules(members)
        # A time limit ends the search, not what it starts from: without any valid cells all records would be one.
        self.unlimited = halt.then(None)
        self.near = near_records(self.points, k, self.unlimited)
        self.unlike = np.empty((len(self), 0), dtype=np.int32)

    def __len__(self) -> int:
        return len(self.points)

    @property
    def has_few_values(self) -> bool:
        """Whether the confidential values are so few that near records may have none but the same."""
        return 1 < len(np.unique(self.rules.codes[0])) <= _FEW_VALUES

    def link(self, labels: IntArray) -> LinkedCells:
        from microagg.partition._kernels.rearrange.cells import link_cells

        most_cells = max(len(self) // self.k, int(labels.max()) + 1)
        cells: LinkedCells = link_cells(self.X, cells_in_order(labels), most_cells, self.nominal)
        return cells

    def exchanged(self, labels: IntArray) -> IntArray:
        """Cells between which records were exchanged as long as that brought them nearer to the requirements."""
        from microagg.partition._kernels.rearrange.repair import exchange_towards

        cells, scratch = self.link(labels), self._scratch()
        flag = self.unlimited.flag
        exchange_towards(self.X, self.near, cells, self.rules, scratch, _EXCHANGED_UP_TO, flag, self.nominal)
        return cells_in_order(cells.label)

    def joined(self, labels: IntArray) -> IntArray | None:
        """Cells joined until all satisfy the requirements; None if that was interrupted."""
        from microagg.partition._kernels.rearrange.repair import join_until_all_hold

        cells, scratch = self.link(labels), self._scratch()
        n_missing = join_until_all_hold(
            self.X, self.near, cells, self.rules, scratch, self.unlimited.flag, self.nominal
        )
        return None if n_missing else cells_in_order(cells.label)

    def mended(self, labels: IntArray, *, exchanges: bool = True) -> IntArray:
        """Cells that satisfy the requirements, by exchanges of records and by joining cells."""
        joined = self.joined(self.exchanged(labels) if exchanges else labels)
        if joined is None:
            raise KeyboardInterrupt
        return joined

    def sse(self, labels: IntArray) -> float:
        return within_cell_sse(self.points, labels, int(labels.max()) + 1)

    def search(
        self,
        starts: Sequence[IntArray],
        led_from: Sequence[IntArray],
        effort: SearchEffort,
        chances: Sequence[IntArray],
    ) -> list[Run]:
        """Race all starts for a while, then search from the best ones; `chances` has one state for each of them all.

        The cells of `starts` satisfy the requirements; those of `led_from` need not.
        """
        self.unlike = self._unlike_records()
        runs = [Run(start, self.sse(start)) for start in starts]
        promising = _HOPELESS * min(run.sse for run in runs)
        runs = [run for run in runs if run.sse <= promising]
        runs += [Run(starts[0], np.inf, start) for start in led_from]
        self._all(runs, effort, effort.tried, chances[: len(runs)])
        best = sorted(runs, key=lambda run: run.sse)[: max(effort.runs, 1)]
        # One start again and again if there are fewer than runs: they differ by chance.
        chosen = [best[i % len(best)] for i in range(effort.runs)]
        last = [Run(run.labels, run.sse, run.led_from) for run in chosen]
        self._all(last, effort, 1.0, chances[-effort.runs :])
        return [*last, *runs]

    def _steps(self, effort: SearchEffort, start: IntArray) -> int:
        """Steps of one run: those of large cells cost more, and large tables get fewer for each record."""
        n_records = len(self)
        size = n_records / len(np.unique(start))
        per_record = max(effort.steps / max(1.0, n_records / 1_000) ** effort.shrink, effort.least)
        return int(per_record * n_records / (1.0 + size / _COST_OF_SIZE))

    def _all(self, runs: Sequence[Run], effort: SearchEffort, share: float, chances: Sequence[IntArray]) -> None:
        """Make runs, each with this share of its steps."""
        with ThreadPoolExecutor(max_workers=max(1, min(len(runs), cores()))) as workers:
            futures = [
                workers.submit(copy_context().run, self._anneal, run, effort, share, chance)
                for run, chance in zip(runs, chances, strict=True)
            ]
            for future in futures:
                future.result()

    def _anneal(self, run: Run, effort: SearchEffort, share: float, chance: IntArray) -> None:
        from microagg.partition._kernels.rearrange.annealing import FORBIDDEN, anneal
        from microagg.partition._kernels.rearrange.cells import total_sse

        heat = effort.hottest
        if run.led_from is not None:
            heat *= _LED_HEAT
            self._lead(run, effort, share, chance)
            share *= _AFTER_LEAD
        cells, scratch = self.link(run.labels), self._scratch()
        work, missed = np.empty(2 * len(self), dtype=np.int64), np.zeros(len(cells.size))
        steps = int(share * self._steps(effort, run.labels))
        for portion in range(_PORTIONS):
            sse = float(total_sse(self.X, cells, self.nominal))
            run.offer(cells.label, sse)
            if self.halt.now() or sse <= 0.0:
                break
            warmth = heat * max(0.0, 1.0 - portion / _PORTIONS / _COLD_FROM) ** 2
            count, unit = max(steps // _PORTIONS, 1), sse / len(self)
            settings = (self.k, count, unit, warmth, chance, self.halt.flag, self.nominal)
            anneal(self.X, self.near, self.unlike, cells, self.rules, scratch, missed, FORBIDDEN, work, *settings)
            run.share = (portion + 1) / _PORTIONS
            report("rearranging cells", run.share)
        run.offer(cells.label, float(total_sse(self.X, cells, self.nominal)))

    def _lead(self, run: Run, effort: SearchEffort, share: float, chance: IntArray) -> None:
        """Lead cells that miss requirements towards them, at a price that rises, and mend what is left."""
        from microagg.partition._kernels.rearrange.annealing import anneal, note_missed
        from microagg.partition._kernels.rearrange.cells import total_sse

        assert run.led_from is not None
        cells, scratch = self.link(run.led_from), self._scratch()
        work, missed = np.empty(0, dtype=np.int64), np.zeros(len(cells.size))
        count = max(int(share * self._steps(effort, run.led_from)) // _PORTIONS, 1)
        unit = self.sse(run.led_from) / len(self)
        for portion in range(_PORTIONS):
            total_sse(self.X, cells, self.nominal)  # sums anew
            note_missed(cells, self.rules, scratch, missed)
            if self.halt.now():
                break
            reached = min(portion / _PORTIONS / _COLD_FROM, 1.0)
            price = unit * _CHEAPEST * (_DEAREST / _CHEAPEST) ** reached
            settings = (
                self.k,
                count,
                unit,
                effort.hottest * (1.0 - reached) ** 2,
                chance,
                self.halt.flag,
                self.nominal,
            )
            anneal(self.X, self.near, self.unlike, cells, self.rules, scratch, missed, price, work, *settings)
        labels = self.mended(cells.label)
        run.labels, run.sse = labels, self.sse(labels)

    def _unlike_records(self) -> npt.NDArray[np.int32]:
        """For each record, near ones of another confidential value; none where values are many."""
        from microagg._kernels.random import seed_rng
        from microagg.partition._kernels.rearrange.unlike import unlike_records

        codes, chance = self.rules.codes[0], seed_rng([1, 2, 3, 4])
        wanted = _UNLIKE if self.has_few_values else 0
        found: npt.NDArray[np.int32] = unlike_records(
            self.points.values,
            self.near,
            codes,
            wanted,
            _DRAWN,
            _ROUNDS,
            chance,
            self.halt.flag,
            nominal_of(self.points),
        )
        return found

    def _scratch(self) -> tuple[IntArray, ...]:
        from microagg.partition._kernels.rearrange.rules import allocate_scratch

        scratch: tuple[IntArray, ...] = allocate_scratch(len(self), max(len(self.rules.total), 1))
        return scratch
