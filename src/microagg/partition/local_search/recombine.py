"""The best partition that can be put together from the cells of several: set partitioning, solved by HiGHS."""

from __future__ import annotations

import time
from collections.abc import Sequence

import numpy as np

from microagg._halt import StopCondition, unless_halted
from microagg._typing import FloatArray, IntArray
from microagg.space.points import Points, distances_to_centroids

__all__ = ["distinct_cells", "recombined", "sse_of_cells"]


# A limit in nodes of the search tree, not in seconds, so that a seed gives the same cells on any machine.
_NODES = 5
_CELLS_PER_RECORD = 1.2
_SMALL = 3.5  # records in a cell, on average
_ITERATIONS = 1_000_000  # of the simplex method
# The integer programme cannot be limited within a node but by time. It takes seconds; if it ever takes this long, the
# result depends on the machine, and the search says so.
_SECONDS = 60.0


def distinct_cells(partitions: Sequence[IntArray]) -> list[tuple[int, ...]]:
    """All cells of some partitions, as ascending record indices, each once.

    Examples
    --------
    >>> distinct_cells([np.array([0, 0, 1, 1]), np.array([0, 0, 1, 1]), np.array([0, 1, 1, 0])])
    [(0, 1), (2, 3), (0, 3), (1, 2)]
    """
    cells: dict[tuple[int, ...], None] = {}
    for labels in partitions:
        order = np.argsort(labels, kind="stable")
        for members in np.split(order, np.cumsum(np.bincount(labels))[:-1]):
            if len(members):
                cells[tuple(members.tolist())] = None
    return list(cells)


def sse_of_cells(points: Points, cells: Sequence[tuple[int, ...]]) -> FloatArray:
    """The SSE of each cell."""
    if points.nominal:
        sizes = [len(cell) for cell in cells]
        labels = np.repeat(np.arange(len(cells)), sizes)
        members = np.fromiter((record for cell in cells for record in cell), dtype=np.int64, count=sum(sizes))
        squared = distances_to_centroids(points.take(members), labels, len(cells))
        return np.asarray(np.bincount(labels, weights=squared, minlength=len(cells)), dtype=np.float64)
    X = points.values
    return np.array([float(((X[list(cell)] - X[list(cell)].mean(axis=0)) ** 2).sum()) for cell in cells])


def recombined(
    points: Points, partitions: Sequence[IntArray], met: Sequence[IntArray] = (), halt: StopCondition | None = None
) -> tuple[IntArray | None, bool]:
    """A partition of little SSE made of cells of the given ones, and whether the solver's time was over before its end.

    None if no partition was found within the limits.

    Of all cells those that cost least beyond what they earn at the relaxation's prices take part
    (`_CELLS_PER_RECORD`), and those of the first partition; where cells are small, those of all `partitions`. With more
    of them the integer programme can take minutes.
    """
    from scipy.optimize import Bounds, LinearConstraint, linprog, milp
    from scipy.sparse import csc_array

    halt = halt or StopCondition()
    limit = time.monotonic() + _SECONDS
    cells = distinct_cells([*partitions, *met])
    n_records = len(points)
    small = n_records <= _SMALL * len(np.unique(partitions[0]))
    n_sure = len(distinct_cells(partitions if small else partitions[:1]))
    sizes = np.array([len(cell) for cell in cells])
    records = np.concatenate([np.array(cell) for cell in cells])
    starts = np.concatenate([[0], np.cumsum(sizes)])
    covers = csc_array((np.ones(len(records)), records, starts), shape=(n_records, len(cells)))
    costs = sse_of_cells(points, cells)
    costs *= len(cells) / (costs.sum() or 1.0)
    relaxed = unless_halted(
        lambda: linprog(
            costs,
            A_eq=covers,
            b_eq=np.ones(n_records),
            method="highs-ds",
            options={"time_limit": _left(limit, halt), "maxiter": _ITERATIONS},
        ),
        halt,
    )
    if relaxed is None or relaxed.status != 0:
        return None, time.monotonic() >= limit
    beyond = costs - covers.T @ relaxed.eqlin.marginals
    cheapest = np.argsort(beyond, kind="stable")[: int(_CELLS_PER_RECORD * n_records)]
    kept = np.union1d(np.arange(n_sure), cheapest)
    solved = unless_halted(
        lambda: milp(
            costs[kept],
            integrality=np.ones(len(kept)),
            bounds=Bounds(0, 1),
            constraints=LinearConstraint(covers[:, kept], 1, 1),
            options={"node_limit": _NODES, "time_limit": _left(limit, halt), "mip_rel_gap": 1e-7},
        ),
        halt,
    )
    was_cut = time.monotonic() >= limit
    if solved is None or solved.x is None:
        return None, was_cut
    labels = np.full(n_records, -1, dtype=np.int64)
    for number, chosen in enumerate(kept[solved.x > 0.5]):
        labels[list(cells[chosen])] = number
    return (labels if (labels >= 0).all() else None), was_cut


def _left(limit: float, halt: StopCondition) -> float:
    seconds = limit - time.monotonic()
    return max(seconds if halt.seconds_left is None else min(seconds, halt.seconds_left), 0.01)
