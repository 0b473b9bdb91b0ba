"""How little can be lost at all: a proved lower bound by column generation.

Choosing cells so that every record is in exactly one, at least total SSE, is an integer programme. Its linear
relaxation has a price for each record as its dual, and any prices under which no cell earns more than it costs sum up
to a lower bound of every partition's SSE. Column generation finds good prices: solve the relaxation over the cells
known so far (HiGHS), look for cells that earn more than they cost, add them, repeat. Where a cell still earns more, the
prices of its records are lowered until none does; so there is a valid bound at every exact round, not only at the end.
"""

from __future__ import annotations

from collections.abc import Sequence
from concurrent.futures import ThreadPoolExecutor
from dataclasses import dataclass, replace

import numpy as np
import numpy.typing as npt

from microagg._halt import StopCondition, unless_halted
from microagg._progress import report
from microagg._scaling import times_power_of_two
from microagg._threads import cores
from microagg._typing import FloatArray, IntArray
from microagg.partition.base import within_cell_sse
from microagg.partition.local_search.recombine import distinct_cells, sse_of_cells
from microagg.space.points import Points

__all__ = ["Certificate", "certify"]


_GAP = 1e-5  # the bound is done when it is this close to the relaxation, relatively
_TOLERANCE = 1e-10  # relative to the mean SSE of a cell; a reduced cost above minus this counts as none
_NODES = 5_000_000  # of the search for cells around the records of one portion
_SMOOTHING = 0.6  # share of the earlier prices in those at which cells are looked for
_LOWERED = 0.97
_EXACT_FROM = 0.6  # share of the time after which rounds are exact, so that some bound is proved
_CANDIDATES = 2_000  # per star, in exact rounds
_KEPT = 4  # new cells around each record and round
_MOST_COORDINATES = 20_000_000
_COLUMNS_PER_RECORD = 15  # above, cells that cost far more than they earn are forgotten


@dataclass(frozen=True)
class Certificate:
    """What is known about the least possible loss.

    Attributes
    ----------
    lower_bound : float or None
        No partition of these records with cells of at least k has a smaller SSE. None if none was proved in time.
    sse : float
        SSE of the partition the certificate is about.
    total : float
        SSE of one cell of all records; losses are shares of it.
    k : int
    finished : bool
        Whether the bound is the best that this method can prove.
    """

    lower_bound: float | None
    sse: float
    total: float
    k: int
    finished: bool

    def scaled(self, exponent: int) -> Certificate:
        """The same certificate where every squared distance is ``2**exponent`` times as large."""
        sums = np.array([self.sse, self.total, self.lower_bound or 0.0])
        sse, total, lower_bound = times_power_of_two(sums, exponent).tolist()
        return replace(self, sse=sse, total=total, lower_bound=None if self.lower_bound is None else lower_bound)

    def __str__(self) -> str:
        loss = self._percent(self.sse)
        if self.lower_bound is None:
            return f"This partition loses {loss} %; no lower bound was proved within the limits."
        unfinished = "" if self.finished else " The search for a higher bound was not finished."
        return (
            f"No partition of these records with cells of at least {self.k} can lose less than "
            f"{self._percent(self.lower_bound, down=True)} %; this one loses {loss} %.{unfinished}"
        )

    def _percent(self, sse: float, *, down: bool = False) -> str:
        percent = 100.0 * sse / self.total if self.total > 0 else 0.0
        return f"{np.floor(percent * 1e4) / 1e4 if down else percent:.4f}"


def certify(points: Points, partitions: Sequence[IntArray], k: int, halt: StopCondition) -> Certificate:
    """Bound the SSE of every partition from below; the first of `partitions` is the one to judge, all give cells.

    `halt` has a time limit. Codes are searched as coordinates, if these are few enough for any bound to be proved.
    """
    points = points.centred()
    total = within_cell_sse(points, np.zeros(len(points), dtype=np.int64), 1)
    sse = float(sse_of_cells(points, distinct_cells(partitions[:1])).sum())
    if len(points) < 2 * k or sse <= 0.0 or total <= 0.0:
        return Certificate(sse, sse, total, k, True)  # one cell is all there is, or nothing is lost
    too_large = points.n_coordinates * len(points) > _MOST_COORDINATES
    if not np.isfinite(total) or too_large or halt.now():
        return Certificate(None, sse, total, k, False)
    known = [cell for cell in distinct_cells(partitions) if len(cell) < 2 * k]
    # Cells cost about 1, far above the solver's tolerances.
    scale = len(points) / (k * sse)
    X = points.coordinates()
    bound, finished = _ColumnGeneration(X * np.sqrt(scale), k, known, halt, 100.0 / (scale * total)).run()
    lower = None if bound is None else min(bound / scale, sse)
    return Certificate(lower, sse, total, k, finished)


class _ColumnGeneration:
    """Prices and cells in turn; a loss of 1 is `percent` of the total.

    With few cells known, the relaxation's prices are wild. They are kept in a box around a centre, which is moved to
    the latest prices when few new cells are found, until the box no longer matters (the boxstep method).
    """

    def __init__(
        self, X: FloatArray, k: int, cells: list[tuple[int, ...]], halt: StopCondition, percent: float
    ) -> None:
        self.X, self.k, self.percent = X, k, percent
        self.columns = np.ascontiguousarray(X.T)
        self.halt = halt
        self.seconds = halt.seconds_left or 1e-9
        self.cells = cells
        self.costs = sse_of_cells(Points(X), cells)
        self.known = set(cells)
        self.n_given = len(cells)
        self.bound: float | None = None
        self.tolerance = _TOLERANCE * float(self.costs.mean())
        self.centre = self._shares_of_records()
        self.smoothed = self.centre
        self.width = 0.5 * self.centre + 0.1 * self.centre.mean()
        self.most = 1.0  # how much of a record may be traded at the borders of the box

    def _shares_of_records(self) -> FloatArray:
        """First prices: each record's share in the mean SSE of its known cells, half equal, half by its distance."""
        shares, times = np.zeros(len(self.X)), np.zeros(len(self.X))
        for cell, cost in zip(self.cells, self.costs, strict=True):
            members = list(cell)
            points = self.X[members]
            shares[members] += 0.5 * cost / len(members) + 0.5 * ((points - points.mean(axis=0)) ** 2).sum(axis=1)
            times[members] += 1
        return shares / times

    def run(self) -> tuple[float | None, bool]:
        """The bound, or None, and whether it is the best there is."""
        tried = (self.k + 5, 2 * self.k + 6)  # candidates per star, in quick rounds before the exact ones
        stage, last = 0, np.inf
        while not self.halt.now():  # ends with its time limit
            solved = self._solve()
            if solved is None:
                break
            value, prices, boxed = solved
            if not boxed and self.bound is not None and value - self.bound <= _GAP * value:
                return self.bound, True
            self._forget(prices)
            if self._share() > _EXACT_FROM:
                stage = len(tried)
            exact = stage == len(tried)
            found = self._look_around(prices, None if exact else tried[stage])
            settled = len(found) <= len(self.X) // 10 or last - value <= _GAP * value
            last = value
            if settled:
                last = np.inf
                if boxed:
                    self.width = np.where(self._at_border(prices), 2.0 * self.width, self.width)
                    self.centre, self.most = prices, 0.3 * self.most
                elif not exact:
                    stage += 1
                elif not found:
                    return self.bound, self.bound is not None
            report(f"bounding the loss: at least {self.percent * (self.bound or 0.0):.3f} %", self._share())
        return self.bound, False

    def _look_around(self, prices: FloatArray, tried: int | None) -> list[tuple[int, ...]]:
        """Look for cells at the smoothed prices first; at the latest ones only if the smoothed ones give few.

        Where many prices are equally good, the latest ones are at a far corner of them, and another one each time: the
        cells found there say little. A running mean stays in the middle.
        """
        self.smoothed = _SMOOTHING * self.smoothed + (1.0 - _SMOOTHING) * prices
        found = self._look(self.smoothed, tried)
        self._add(found, self.smoothed)
        if len(found) <= len(self.X) // 100:
            more = self._look(prices, tried)
            self._add(more, prices)
            found = found + more
        if tried is None and self.bound is None:
            # Some bound is better than none: at lower prices fewer cells earn anything, and all are soon looked at.
            self._look(_LOWERED * self.smoothed, None)
        return found

    def _at_border(self, prices: FloatArray) -> npt.NDArray[np.bool_]:
        border: npt.NDArray[np.bool_] = np.abs(prices - self.centre) >= self.width * (1 - 1e-6)
        return border

    def _share(self) -> float:
        return min(1.0 - (self.halt.seconds_left or 0.0) / self.seconds, 1.0)

    def _solve(self) -> tuple[float, FloatArray, bool] | None:
        """The relaxation over the known cells: its value, the prices of the records, and whether the box held them."""
        from scipy.optimize import linprog
        from scipy.sparse import csc_array, eye_array, hstack

        n_records = len(self.X)
        sizes = np.array([len(cell) for cell in self.cells])
        records = np.fromiter((record for cell in self.cells for record in cell), dtype=np.int64, count=sizes.sum())
        starts = np.concatenate([[0], np.cumsum(sizes)])
        covers = csc_array((np.ones(len(records)), records, starts), shape=(n_records, len(self.cells)))
        n_columns = len(self.cells) + 2 * n_records
        # A little of a record may be bought at the upper and sold at the lower border: its price tends to stay between.
        each = eye_array(n_records, format="csc")
        bounds = np.column_stack([np.zeros(n_columns), np.repeat([np.inf, self.most], [len(sizes), 2 * n_records])])
        solved = unless_halted(
            lambda: linprog(
                np.concatenate([self.costs, self.centre + self.width, self.width - self.centre]),
                A_eq=hstack([covers, each, -each], format="csc"),
                b_eq=np.ones(n_records),
                bounds=bounds,
                method="highs-ds",
                options={"time_limit": max(self.halt.seconds_left or 0.0, 0.01)},
            ),
            self.halt,
        )
        if solved is None or solved.status != 0:
            return None
        traded = float(solved.x[len(self.cells) :].max())
        return float(solved.fun), np.asarray(solved.eqlin.marginals, dtype=np.float64), traded > 1e-6

    def _look(self, prices: FloatArray, tried: int | None) -> list[tuple[int, ...]]:
        """New cells that earn more than they cost; where all were looked at (`tried` is None), also a bound."""
        from microagg.partition._kernels.stars import DONE, price_cells

        n_records = len(self.X)
        most = tried or min(_CANDIDATES, n_records)
        portions = [(first, min(first + 64, n_records)) for first in range(0, n_records, 64)]

        def look(portion: tuple[int, int]) -> tuple[IntArray, FloatArray, int] | None:
            if self.halt.now():
                return None
            found: tuple[IntArray, FloatArray, int] = price_cells(
                self.columns,
                prices,
                self.k,
                *portion,
                most,
                tried is None,
                _KEPT,
                self.tolerance,
                _NODES,
                self.halt.flag,
            )
            return found

        with ThreadPoolExecutor(max_workers=cores()) as workers:
            results = list(workers.map(look, portions))
        done = [result for result in results if result is not None]
        if tried is None and len(done) == len(portions) and all(state == DONE for _, _, state in done):
            self._bound(prices, np.min([deficit for _, deficit, _ in done], axis=0))
        rows = (tuple(sorted(row[row >= 0].tolist())) for cells, _, _ in done for row in cells)
        return [cell for cell in dict.fromkeys(rows) if cell not in self.known]

    def _bound(self, prices: FloatArray, deficit: FloatArray) -> None:
        """Lower each record's price to where no cell earns more than it costs; the sum of prices is a bound.

        Cells within the tolerance were not counted: each could earn that much more than it costs.
        """
        lowered = prices + deficit
        bound = float(lowered.sum()) - self.tolerance * (len(self.X) // self.k)
        self.bound = bound if self.bound is None else max(bound, self.bound)

    def _add(self, found: list[tuple[int, ...]], prices: FloatArray) -> None:
        """Take in the cells that gain most at the latest prices."""
        if not found:
            return
        costs = sse_of_cells(Points(self.X), found)
        gains = np.array([prices[list(cell)].sum() for cell in found]) - costs
        taken = np.argsort(-gains, kind="stable")[: len(self.X)]
        new = [found[i] for i in taken]
        self.known.update(new)
        self.cells = [*self.cells, *new]
        self.costs = np.concatenate([self.costs, costs[taken]])

    def _forget(self, prices: FloatArray) -> None:
        """Drop the cells that cost far more than they earn, where there are many."""
        most = _COLUMNS_PER_RECORD * len(self.X)
        if len(self.cells) > most:
            reduced = self.costs - np.array([prices[list(cell)].sum() for cell in self.cells])
            reduced[: self.n_given] = -np.inf  # with these alone, every record has a cell
            kept = np.sort(np.argsort(reduced, kind="stable")[: most * 2 // 3])
            self.cells, self.costs = [self.cells[i] for i in kept], self.costs[kept]
            self.known = set(self.cells)
