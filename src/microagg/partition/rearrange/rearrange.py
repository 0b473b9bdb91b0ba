"""Rearrange cells until each hides the confidential values of its records: merge, swap, closeness first, search."""

from __future__ import annotations

from collections.abc import Callable, Mapping
from dataclasses import dataclass

import numpy as np

from microagg._halt import BUDGET, StopCondition, attend
from microagg._labels import cells_in_order
from microagg._typing import IntArray
from microagg._validation import Choice, Constraint, Integer, Optional, Real
from microagg.errors import GuaranteeError, InputError
from microagg.partition.local_search.efforts import EFFORTS
from microagg.partition.local_search.search import chance_states
from microagg.partition.local_search.starts import start_of_search
from microagg.partition.rearrange.rules import Demands
from microagg.partition.rearrange.search import SEARCH_EFFORTS, Arrangement
from microagg.partition.rearrange.starts import closeness_first_cells, records_per_cell, stratified_cells
from microagg.partition.refine import PATIENCE, improve_cells
from microagg.privacy.ways import Way
from microagg.space.points import Points

__all__ = ["REARRANGE_PARAMETERS", "Rearranged", "Way", "rearrange_cells"]

_LADDER = (1.0, 1.6, 2.5, 4.0)  # sizes of starting cells, relative to the smallest that will do
_LED_SIZES = (1.0, 1.4, 2.0)  # of near-optimal cells that are led towards the requirements, relative to k
_WILL_DO = 0.5  # share of stratified cells that satisfy the requirements, for their size to be tried
_GROWTH = 1.5
_MENDED_UP_TO = 20_000  # records
_SHARE_OF_LIMIT = 0.25  # of the time limit, for near-optimal cells to start from


REARRANGE_PARAMETERS: dict[str, Constraint] = {
    "by": Choice(tuple(Way)),
    "effort": Choice(tuple(SEARCH_EFFORTS)),
    "random_state": Optional(Integer(0)),
    "time_limit": Optional(Real(0.0, open_low=True)),
}


@dataclass(frozen=True)
class Rearranged:
    """Cells that satisfy their requirements.

    Attributes
    ----------
    labels : ndarray of shape (n_records,)
    stopped_by : {"budget", "time limit", "interrupt"}
    share : float
        Of the steps that were taken.
    """

    labels: IntArray
    stopped_by: str = BUDGET
    share: float = 1.0


def rearrange_cells(
    points: Points,
    labels: IntArray,
    k: int,
    demands: Demands,
    members: IntArray,
    *,
    by: Way = Way.SEARCH,
    effort: str = "default",
    random_state: int | None = None,
    time_limit: float | None = None,
) -> Rearranged:
    """Rearrange the cells of some records of a table until every one satisfies all requirements.

    Parameters
    ----------
    points : Points
        The space of these records.
    labels : ndarray of shape (n_members,)
        Their cells, of at least k records each.
    k : int
    demands : Demands
        About all records of the table, which say what distribution cells are to be close to. That some partition
        satisfies them was found before.
    members : ndarray of shape (n_members,)
        Which records of the table these are.
    by : Way
    effort, random_state, time_limit
        Of the search.

    Notes
    -----
    *merge* joins every cell that misses a requirement with the nearest one until none does. *swap* exchanges records
    between near cells as long as that brings them nearer to the requirements, then merges. *closeness first* [1]_ forms
    new cells of one record of each run of the confidential values, as many as the bound of the paper asks for, and
    merges what misses a requirement all the same: with equal values, several attributes or other distances the bound
    does not hold. *search* starts from near-optimal cells and, up to 20,000 records, from the given ones, mended by
    exchanges and merges, and from cells of one record of each run, of four sizes. It anneals: moves, exchanges, joins
    and divisions of cells, each of which leaves every cell valid.

    Privacy: requirements are counted here on the definition itself, whatever the search made of them.

    Complexity: merge and swap n times the records near a record; closeness first n^2 / k; search the steps that its
    effort names, each about the size of a cell.

    References
    ----------
    .. [1] Soria-Comas, J., Domingo-Ferrer, J., Sanchez, D. & Martinez, S. (2015). t-closeness through microaggregation:
       strict privacy with enhanced utility preservation. IEEE TKDE 27(11), 3098-3110. doi:10.1109/TKDE.2015.2435777
    """
    k = int(k)
    if by is Way.CLOSENESS_FIRST:
        require_closeness(demands)
    if by in (Way.MERGE, Way.SWAP) and demands.satisfied(_spread(labels, members, demands))[labels].all():
        return Rearranged(labels)
    halt = StopCondition(time_limit)
    halt.patience = PATIENCE
    scaled = (points.telling() if points.nominal else points).near_one()

    def work() -> Rearranged:
        return _Work(scaled, labels, k, demands, members, effort, random_state, halt).ways[by]()

    found = attend(work, halt, keeps=True)
    _require(found.labels, k, demands, members)
    return found


def require_closeness(demands: Demands) -> None:
    """Refuse closeness first where there is no closeness, or no order, to be first."""
    if not any(demands.is_ordered_closeness(one) for one in demands.requirements):
        raise InputError(
            'rearrange.by = "closeness_first" is for t_closeness of a numeric or ordinal attribute; "search", "swap" '
            'and "merge" are for all requirements'
        )


class _Work:
    """One rearrangement."""

    def __init__(
        self,
        points: Points,
        labels: IntArray,
        k: int,
        demands: Demands,
        members: IntArray,
        effort: str,
        random_state: int | None,
        halt: StopCondition,
    ) -> None:
        self.points, self.labels, self.k, self.demands, self.members = points, labels, k, demands, members
        self.effort, self.random_state, self.halt = effort, random_state, halt
        self.ways: Mapping[Way, Callable[[], Rearranged]] = {
            Way.MERGE: self.merge,
            Way.SWAP: self.swap,
            Way.CLOSENESS_FIRST: self.closeness_first,
            Way.SEARCH: self.search,
        }
        self.arrangement = Arrangement(points, k, demands, members, halt)
        self.leading, order = demands.order_of(members)
        place_of = np.empty(demands.n_records, dtype=np.int64)
        place_of[members] = np.arange(len(members))
        self.order: IntArray = place_of[order]  # by confidential value

    def merge(self) -> Rearranged:
        return Rearranged(self._mended(self.labels, exchanges=False))

    def swap(self) -> Rearranged:
        return Rearranged(self._mended(self.labels, exchanges=True))

    def closeness_first(self) -> Rearranged:
        return Rearranged(self._mended(self._first_cells(), exchanges=False))

    def search(self) -> Rearranged:
        near_optimal, settings = self._near_optimal(), SEARCH_EFFORTS[self.effort]
        starts, led_from = self._starts(near_optimal), self._led_from(near_optimal)
        chances = chance_states(self.random_state, len(starts) + len(led_from) + settings.runs)
        runs = self.arrangement.search(starts, led_from, settings, chances)
        # Ties of the SSE go to the first; sums differ in their last bits, so the definition decides.
        best = min(runs, key=lambda run: self.arrangement.sse(cells_in_order(run.labels)))
        share = float(np.mean([run.share for run in runs[: settings.runs]]))
        return Rearranged(cells_in_order(best.labels), self.halt.reason, share)

    def _starts(self, near_optimal: IntArray) -> list[IntArray]:
        """Partitions whose cells satisfy the requirements, at least one."""
        starts = [self._mended(near_optimal, exchanges=True)]
        if len(self.members) <= _MENDED_UP_TO:  # in large tables they are always behind, and take long
            starts += [self._mended(self.labels, exchanges=exchanges) for exchanges in (True, False)]
        for place, size in enumerate(self._sizes()):
            if place and self.halt.now():
                break
            starts.append(self._mended(stratified_cells(self.points, self.order, size), exchanges=True))
        return starts

    def _led_from(self, near_optimal: IntArray) -> list[IntArray]:
        """Near-optimal cells of at least k records, and of more, that miss requirements and may be led towards them.

        Only where confidential values are few: elsewhere a search of valid cells finds as much.
        """
        found: list[IntArray] = []
        if not self.arrangement.has_few_values or self._valid(cells_in_order(near_optimal)).all():
            return found
        for size in sorted({round(self.k * factor) for factor in _LED_SIZES}):
            if self.halt.now() or 2 * size > len(self.members):
                break
            cells = near_optimal
            if size > self.k:
                start, _ = start_of_search(self.points, size, "auto", self.halt)
                effort = EFFORTS["fast" if self.effort == "fast" else "default"]
                cells = improve_cells(self.points, start, size, effort, self.random_state, self.halt).labels
            found.append(cells_in_order(cells))
        return found

    def _sizes(self) -> list[int]:
        """Sizes of starting cells that are worth a try: from the smallest at which many cells are valid."""
        n_members, smallest = len(self.members), self._needed()
        for _ in range(60):  # grows by half each time, so that it ends at the number of records
            if smallest >= n_members // 2:
                break
            cells = stratified_cells(self.points, self.order, smallest)
            if self._valid(cells).mean() >= _WILL_DO:
                break
            smallest = max(int(smallest * _GROWTH), smallest + 1)
        wanted = (round(smallest * factor) for factor in _LADDER)
        return sorted({one for one in wanted if one <= max(n_members // 2, self.k)})

    def _needed(self) -> int:
        """The size of a cell that the bound of closeness first asks for; k where it says nothing."""
        if not self.demands.is_ordered_closeness(self.leading):
            return self.k
        return records_per_cell(len(self.members), self.k, self.leading.bound)

    def _near_optimal(self) -> IntArray:
        """Cells that lose little, whatever they show: where they satisfy the requirements, nothing loses less."""
        limit = self.halt.seconds_left
        halt = self.halt.then(None if limit is None else _SHARE_OF_LIMIT * limit)
        start, _ = start_of_search(self.points, self.k, "auto", halt)
        start = min(start, self.labels, key=self.arrangement.sse)
        return improve_cells(self.points, start, self.k, EFFORTS[self.effort], self.random_state, halt).labels

    def _first_cells(self) -> IntArray:
        labels = closeness_first_cells(self.points, self.order, self._needed(), self.arrangement.unlimited)
        if (labels < 0).any():
            raise KeyboardInterrupt
        return labels

    def _valid(self, labels: IntArray) -> np.ndarray:
        """For each of these cells, whether it satisfies the requirements."""
        return self.demands.satisfied(_spread(labels, self.members, self.demands))[: int(labels.max()) + 1]

    def _mended(self, labels: IntArray, *, exchanges: bool) -> IntArray:
        """Cells that satisfy the requirements, by exchanges of records and by joining cells."""
        labels = cells_in_order(labels)
        if self._valid(labels).all():
            return labels
        return self.arrangement.mended(labels, exchanges=exchanges)


def _spread(labels: IntArray, members: IntArray, demands: Demands) -> IntArray:
    """Labels of all records of the table: those of the members, and one more for all others."""
    if len(members) == demands.n_records:
        spread = np.empty(demands.n_records, dtype=np.int64)
    else:
        spread = np.full(demands.n_records, int(labels.max()) + 1, dtype=np.int64)
    spread[members] = labels
    return spread


def _require(labels: IntArray, k: int, demands: Demands, members: IntArray) -> None:
    """Raise if a cell has too few records or misses a requirement: counted on the definition, not by the search."""
    sizes = np.bincount(labels)
    holds = demands.satisfied(_spread(labels, members, demands))[: len(sizes)]
    if sizes.min() < k or not holds.all():
        raise GuaranteeError(
            f"{int((sizes < k).sum())} of {len(sizes)} cells have fewer than k = {k} records and {int((~holds).sum())} "
            "miss a requirement. This is a fault of the rearrangement, not of the table; please report it."
        )
