"""Rearrange cells until each holds records of at least k units, at little loss."""

from __future__ import annotations

from dataclasses import dataclass

import numpy as np

from microagg._halt import StopCondition, attend
from microagg._labels import cells_in_order
from microagg._progress import report
from microagg._typing import IntArray
from microagg.errors import GuaranteeError
from microagg.partition.local_search.search import chance_states, near_records
from microagg.partition.nominal import nominal_of
from microagg.partition.rearrange.rearrange import Rearranged
from microagg.partition.refine import PATIENCE
from microagg.partition.units.cells import units_per_cell
from microagg.privacy.ways import Way
from microagg.space.points import Points

__all__ = ["UNIT_EFFORTS", "UnitEffort", "cells_of_units"]

_PORTIONS = 50  # of an annealing: after each, sums are formed anew and the temperature falls
_COLD_FROM = 0.9  # share after which only gains are accepted
_MOST_COORDINATES = 200  # of categories: with fewer, a cell's sums are quicker than its codes


@dataclass(frozen=True)
class UnitEffort:
    """How long to search.

    Attributes
    ----------
    steps : float
        Of annealing per record, for up to 1,000 records; 0 leaves nothing to chance.
    shrink : float
        How fast they fall with the number of records above 1,000.
    least : float
        Where they stop to fall.
    rounds : int
        Of descent, at most.
    hottest : float
        The temperature at the start, relative to the SSE per record.
    """

    steps: float
    shrink: float
    least: float
    rounds: int = 30
    hottest: float = 0.15


UNIT_EFFORTS = {
    "fast": UnitEffort(steps=0.0, shrink=0.0, least=0.0, rounds=4),
    "default": UnitEffort(steps=1_500.0, shrink=0.8, least=20.0),
    "best": UnitEffort(steps=10_000.0, shrink=0.6, least=200.0),
}


def cells_of_units(
    points: Points,
    labels: IntArray,
    k: int,
    units: IntArray,
    *,
    by: Way = Way.SEARCH,
    effort: str = "fast",
    random_state: int | None = None,
    time_limit: float | None = None,
) -> Rearranged:
    """Rearrange the cells of some records until every one holds records of at least k units.

    Cells that all do are left as they are.

    Parameters
    ----------
    points : Points
        The space of these records.
    labels : ndarray of shape (n_records,)
        Their cells, of at least k records each.
    k : int
    units : ndarray of shape (n_records,)
        Whose each record is: at least k different ones.
    by : Way
        *merge* joins every cell of fewer units with the nearest one until none is left. *swap* first brings in records
        of further units from near cells, for records of units that the cell has several of. *search* then divides what
        became large, and moves and exchanges records as long as that lowers the SSE.
    effort, random_state, time_limit
        Of the search. "fast" leaves nothing to chance, and changes only cells that had too few units and those near
        them.

    Notes
    -----
    Complexity: one round is O(n k d); near records are found as for :class:`microagg.NearOptimal`.

    Privacy: units are counted here once more on the result, whatever the search made of them.
    """
    k = int(k)
    if (units_per_cell(units, labels) >= k).all():
        return Rearranged(labels)
    halt = StopCondition(time_limit)
    halt.patience = PATIENCE
    scaled = (points.telling() if points.nominal else points).near_one()

    def work() -> Rearranged:
        return _Work(scaled, labels, k, units, halt).done(by, effort, random_state)

    found = attend(work, halt, keeps=True)
    _require(found.labels, k, units)
    return found


class _Work:
    """One rearrangement."""

    def __init__(self, points: Points, labels: IntArray, k: int, units: IntArray, halt: StopCondition) -> None:
        from microagg.partition._kernels.rearrange.cells import link_cells
        from microagg.partition._kernels.units.mend import count_all_units

        self.points, self.k, self.halt = points.centred(), k, halt
        self.units = np.unique(units, return_inverse=True)[1].astype(np.int64)
        self.unlimited = halt.then(None)  # a time limit ends the search, not what it starts from
        near = near_records(self.points, k, self.unlimited)
        X, nominal = self.points.values, nominal_of(self.points)
        if self.points.nominal and self.points.n_coordinates <= _MOST_COORDINATES:
            X, nominal = Points(self.points.coordinates()).centred().values, None
        most_cells = max(len(points) // k, int(labels.max()) + 1)
        self.cells = link_cells(X, cells_in_order(labels), most_cells, nominal)
        self.n_units = count_all_units(self.cells, self.units)
        self.touched = np.zeros(most_cells, dtype=np.bool_)
        self.X, self.near, self.nominal = X, near, nominal

    def done(self, by: Way, effort: str, random_state: int | None) -> Rearranged:
        from microagg.partition._kernels.units.mend import exchange_until_enough, join_until_enough

        around = (self.touched, self.unlimited.flag, self.nominal)
        if by is not Way.MERGE:
            exchange_until_enough(self.X, self.near, *self._state, *around)
        if join_until_enough(self.X, self.near, *self._state, *around):
            raise KeyboardInterrupt
        share = 1.0
        if by is Way.SEARCH:
            self._divide_large()
            share = self._search(UNIT_EFFORTS[effort], random_state)
        return Rearranged(cells_in_order(self.cells.label), self.halt.reason, share)

    @property
    def _state(self) -> tuple[object, IntArray, IntArray, int]:
        return self.cells, self.units, self.n_units, self.k

    def _divide_large(self) -> None:
        """Divide touched cells of 2k records and more as long as both parts hold k units; that never adds SSE."""
        from microagg.partition._kernels.units.mend import list_along, part_off

        records, places = np.empty(len(self.points), dtype=np.int64), np.empty(len(self.points))
        pending = np.flatnonzero(self.touched & (self.cells.size >= 2 * self.k)).tolist()
        while pending and self.cells.n_free[0] and not self.unlimited.now():  # ends: each turn leaves smaller cells
            cell = pending.pop()
            size = int(self.cells.size[cell])
            if size < 2 * self.k or not list_along(self.X, self.cells, cell, records, places, self.nominal):
                continue
            ordered = records[:size][np.argsort(places[:size], kind="stable")]
            place = self._place_to_divide(self.units[ordered], int((places[:size] < 0.0).sum()))
            if place is None:
                continue
            other = int(part_off(self.X, self.cells, ordered[place:], self.nominal))
            self.n_units[cell], self.n_units[other] = (
                len(np.unique(self.units[part])) for part in (ordered[:place], ordered[place:])
            )
            self.touched[other] = True
            pending += [cell, other]

    def _place_to_divide(self, units: IntArray, wanted: int) -> int | None:
        """The place nearest to the wanted one before and behind which k units lie; None if there is none."""
        ahead, behind = (np.sort(np.unique(some, return_index=True)[1]) for some in (units, units[::-1]))
        first, last = int(ahead[self.k - 1]) + 1, len(units) - 1 - int(behind[self.k - 1])
        return min(max(wanted, first), last) if first <= last else None

    def _search(self, effort: UnitEffort, random_state: int | None) -> float:
        """Anneal and descend; returns the share of the steps that were taken."""
        from microagg.partition._kernels.rearrange.cells import total_sse
        from microagg.partition._kernels.units.search import anneal_units, descend

        n_records = len(self.points)
        per_record = max(effort.steps / max(1.0, n_records / 1_000) ** effort.shrink, effort.least)
        steps, turns = int(per_record * n_records) // _PORTIONS, _PORTIONS if effort.steps else 0
        chance = chance_states(random_state, 1)[0] if turns else None
        for turn in range(turns + effort.rounds):
            sse = float(total_sse(self.X, self.cells, self.nominal))
            if self.halt.now() or sse <= 0.0:
                return turn / (turns + effort.rounds)
            ending = (self.halt.flag, self.nominal)
            if turn < turns:
                warmth = effort.hottest * max(0.0, 1.0 - turn / turns / _COLD_FROM) ** 2
                anneal_units(self.X, self.near, *self._state, steps, sse / n_records, warmth, chance, *ending)
                self.touched[:] = True
            elif not descend(self.X, self.near, *self._state, self.touched, sse / n_records, *ending):
                break
            report("forming cells of units", (turn + 1) / (turns + effort.rounds))
        return 1.0


def _require(labels: IntArray, k: int, units: IntArray) -> None:
    """Raise if a cell has too few units: counted anew, not by the search."""
    counts = units_per_cell(units, labels)
    if counts.min() < k:
        raise GuaranteeError(
            f"{int((counts < k).sum())} of {len(counts)} cells have records of fewer than k = {k} units. This is a "
            "fault of the rearrangement, not of the table; please report it."
        )
