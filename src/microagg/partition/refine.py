"""Refinement: rearrange the cells of any partition so that less is lost."""

from __future__ import annotations

from dataclasses import dataclass
from typing import Any, Literal

import numpy as np
from sklearn.utils.validation import check_array, column_or_1d

from microagg._halt import BUDGET, StopCondition, attend
from microagg._progress import report
from microagg._typing import IntArray
from microagg._validation import Choice, Constraint, Integer, Optional, Real, check_parameters
from microagg.errors import ParameterError
from microagg.partition.base import cells_in_order, matrix_of, on_one_scale, require_records, within_cell_sse
from microagg.partition.local_search.efforts import EFFORTS, Effort, number_of_runs
from microagg.partition.local_search.recombine import recombined
from microagg.partition.local_search.search import Found, Pools, chance_states, search_cells
from microagg.partition.local_search.starts import cells_below_2k
from microagg.space.points import Points
from microagg.space.valid_points import valid_points

__all__ = ["PATIENCE", "SEARCH_PARAMETERS", "SOLVER_LIMIT", "EffortName", "Refined", "improve_cells", "refine"]

EffortName = Literal["fast", "default", "best"]

SOLVER_LIMIT = "solver limit"
PATIENCE = 5.0  # seconds that an interrupted search has to hand over its best; it takes far less

SEARCH_PARAMETERS: dict[str, Constraint] = {
    "k": Integer(2),
    "effort": Choice(tuple(EFFORTS)),
    "random_state": Optional(Integer(0)),
    "time_limit": Optional(Real(0.0, open_low=True)),
}


def refine(
    labels: Any,
    X: Any,
    k: int,
    *,
    effort: EffortName = "default",
    random_state: int | None = None,
    time_limit: float | None = None,
) -> IntArray:
    """Rearrange the cells of a partition so that less is lost; every cell keeps at least k records.

    Parameters
    ----------
    labels : array of shape (n_records,)
        Cell of each record, from any method; every label occurs at least `k` times.
    X : array or dataframe of shape (n_records, n_attributes), or Points
        The space the cells were formed in.
    k : int >= 2
    effort, random_state, time_limit
        As for :class:`microagg.NearOptimal`.

    Returns
    -------
    ndarray of shape (n_records,)
        Cells of k to 2k - 1 records, numbered by their first record. Their SSE is never above that of `labels`.

    Raises
    ------
    ParameterError
        A parameter is outside its range, `labels` does not put the records of `X` into cells of at least `k`, or `X`
        are `Points` that are not valid.

    Examples
    --------
    >>> refine([0, 0, 1, 1], [[0.0], [5.0], [0.1], [5.1]], k=2, random_state=0)
    array([0, 1, 0, 1])
    """
    given = {"k": k, "effort": effort, "random_state": random_state, "time_limit": time_limit}
    check_parameters("refine", SEARCH_PARAMETERS, given)
    if isinstance(X, Points):
        points = valid_points(X)
    else:
        points = Points(matrix_of(lambda: check_array(X, dtype=np.float64, order="C")))
    require_records(len(points), k)
    start = checked_labels(labels, len(points), k)
    points, _ = on_one_scale(points)
    halt = StopCondition(time_limit)
    halt.patience = PATIENCE
    found = attend(lambda: improve_cells(points, start, int(k), EFFORTS[effort], random_state, halt), halt, keeps=True)
    return cells_in_order(found.labels)


def checked_labels(labels: Any, n_records: int, k: int) -> IntArray:
    """Labels 0, 1, ... of a partition into cells of at least k, or an error that says what is wrong."""
    labels = column_or_1d(labels)
    if len(labels) != n_records:
        raise ParameterError(f"labels has {len(labels)} entries; X has {n_records} records. Give one label per record.")
    _, numbered, sizes = np.unique(labels, return_inverse=True, return_counts=True)
    if sizes.min() < k:
        raise ParameterError(
            f"labels is not a partition for k = {k}: {int((sizes < k).sum())} of {len(sizes)} cells have fewer than "
            f"{k} records (the smallest has {sizes.min()}). Refinement keeps cells of at least k; it makes none."
        )
    return numbered.astype(np.int64)


@dataclass(frozen=True)
class Refined:
    """What a search came to."""

    labels: IntArray
    stopped_by: str  # "budget", "time limit", "interrupt" or "solver limit"
    share: float = 1.0  # of the steps that were taken
    runs: tuple[Found, ...] = ()


def improve_cells(
    points: Points, start: IntArray, k: int, effort: Effort, random_state: int | None, halt: StopCondition
) -> Refined:
    """The best partition that the effort finds from a start.

    `points` and `start` are taken to be valid; where there are codes, in the form of `Points.telling`.
    """
    points = points.near_one()
    start = cells_below_2k(points, start, k)
    if halt.now():
        return Refined(start, halt.reason, share=0.0)
    pools = Pools(points, k, halt)
    n_runs = number_of_runs(effort, len(points), k)
    chances = chance_states(random_state, n_runs + 1)
    runs = search_cells(pools, [start] * n_runs, effort, chances[:n_runs], halt) if pools.searchable else []
    best = min([Found(start, np.inf), *runs], key=lambda found: found.sse)
    share = float(np.mean([run.share for run in runs])) if runs else float(halt.reason == BUDGET)
    reason = BUDGET
    if n_runs > 1 and pools.searchable and not halt.now():
        best, was_cut = _recombine(points, pools, [best, *runs], effort, chances[-1], halt)
        reason = SOLVER_LIMIT if was_cut else BUDGET
    is_better = best.labels is start or _sse(points, best.labels) <= _sse(points, start)
    labels = best.labels if is_better else start  # never above, not even in the last bits
    report("searching cells", 1.0)
    return Refined(labels, halt.reason if halt.reason != BUDGET else reason, share, tuple(runs))


def _sse(points: Points, labels: IntArray) -> float:
    labels = cells_in_order(labels)
    return within_cell_sse(points, labels, int(labels.max()) + 1)


def _recombine(
    points: Points, pools: Pools, runs: list[Found], effort: Effort, chance: IntArray, halt: StopCondition
) -> tuple[Found, bool]:
    """Put the best partition together from the runs' cells and polish it; also whether the solver ran out of time."""
    met = [labels for run in runs[1:] for labels in run.met]
    together, was_cut = recombined(points, [run.labels for run in runs], met, halt)
    if together is None:
        return runs[0], was_cut
    polish = Effort(sweeps=1, steps=effort.steps / 2, shrink=effort.shrink, least=effort.least, hottest=0.0)
    polished = search_cells(pools, [together], polish, [chance], halt)[0]
    return min([runs[0], polished], key=lambda found: found.sse), was_cut
