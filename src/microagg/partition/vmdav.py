"""V-MDAV: variable-size maximum distance to average vector."""

from __future__ import annotations

from collections.abc import Mapping
from dataclasses import dataclass
from typing import Any, ClassVar, Literal

import numpy as np

from microagg._halt import current_halt
from microagg._progress import report
from microagg._typing import IntArray
from microagg._validation import Constraint, Integer, Real
from microagg.partition.base import Partitioner, within_cell_sse
from microagg.partition.nominal import nominal_of
from microagg.partition.uncompiled.choice import numpy_costs_less
from microagg.partition.uncompiled.vmdav import join_nearest, order_outside_in
from microagg.space.points import Points

__all__ = ["VMDAV"]


GAMMAS = tuple(round(0.1 * step, 1) for step in range(13))
_DISTANCES_PER_PORTION = 300_000_000
_TREE_FROM = 3000  # records; below, building a tree costs more than it saves
_VALUES_PER_PORTION = 10_000_000  # by NumPy
_COMPILING_SCAN, _COMPILING_TREE = 4.0, 12.0  # seconds


@dataclass(frozen=True)
class _Gamma(Real):
    """A number of at least 0, or the word "auto"."""

    def allows(self, value: Any) -> bool:
        return (isinstance(value, str) and value == "auto") or super().allows(value)

    def describe(self) -> str:
        return f"{super().describe()}, or 'auto'"


class VMDAV(Partitioner):
    """Partition records into cells of variable size (V-MDAV).

    Cells start like those of MDAV, from the record farthest from the overall centroid, with k records. A cell then
    grows, up to 2k - 1 records, as long as the nearest record outside is closer to the cell than `gamma` times its
    distance to the nearest other record outside. Good where data come in natural groups larger than k; MDAV's
    cells of exactly k must cut those.

    Parameters
    ----------
    k : int >= 2, default 5
        Smallest allowed number of records in a cell.
    gamma : float >= 0 or "auto", default 0.2
        How eagerly cells grow: 0 never, about 0.2 for scattered and 1.1 for clustered data. ``"auto"`` tries 0, 0.1,
        ..., 1.2 and keeps the one with the least SSE (the smallest of several).

    Attributes
    ----------
    labels_ : ndarray of shape (n_records,)
    n_cells_ : int
    sse_ : float
    gamma_ : float
        The gamma that was used.

    Notes
    -----
    The fewer than k records left at the end join the cell with the nearest centroid, so a cell may have a few more than
    2k - 1 records. Ties go to the lowest record index.

    Complexity: O(n^2 d) time at most, O(n d) memory; 13 times that for ``"auto"``. From 3,000 records on a tree is
    searched, which takes far less in few dimensions and gives the same cells.

    Departures: [1]_ leaves open what happens when a single record is left outside a growing cell. There is no other
    record to be nearer to, so that distance counts as infinite, and the record joins (unless `gamma` is 0).

    References
    ----------
    .. [1] Solanas, A. & Martinez-Balleste, A. (2006). V-MDAV: a multivariate microaggregation with variable group size.
       Proc. COMPSTAT, 917-925.

    Examples
    --------
    >>> X = [[0.0], [0.1], [0.2], [5.0], [5.1], [9.0], [9.1], [9.2]]
    >>> VMDAV(k=2, gamma=1.0).fit(X).labels_
    array([0, 0, 0, 1, 1, 2, 2, 2])
    """

    takes_codes: ClassVar[bool] = True
    constraints: ClassVar[Mapping[str, Constraint]] = {"k": Integer(2), "gamma": _Gamma(0.0)}

    def __init__(self, k: int = 5, gamma: float | Literal["auto"] = 0.2) -> None:
        self.k = k
        self.gamma = gamma

    def _cells_of(self, points: Points) -> IntArray:
        if self.gamma != "auto":
            self.gamma_ = float(self.gamma)
            return _vmdav(points, int(self.k), self.gamma_)
        least, best = np.inf, np.zeros(len(points), dtype=np.int64)
        for gamma in GAMMAS:
            if current_halt().now():
                break
            labels = _vmdav(points, int(self.k), gamma)
            sse = within_cell_sse(points, labels, int(labels.max()) + 1)
            if sse < least:
                least, best, self.gamma_ = sse, labels, gamma
        return best


def _vmdav(points: Points, k: int, gamma: float) -> IntArray:
    """Cells of V-MDAV; with codes, the records are in the form of `Points.telling`."""
    points = points.near_one()
    if _numpy_costs_less(points, k):
        return _by_numpy(points, k, gamma)
    from microagg._kernels.jit import HAS_VECTORS
    from microagg.partition._kernels.mdav.plain.cells import sums_of_columns

    n_records = len(points)
    sums, low = np.zeros(points.n_numbers), np.zeros(points.n_numbers)
    sums_of_columns(points.values, sums, low)
    outside_in = order_outside_in(points, sums)
    labels = np.full(n_records, -1, dtype=np.int64)
    state = np.array([n_records, 0, 0])
    form_cells = _by_tree if n_records >= _TREE_FROM and HAS_VECTORS else _by_scan
    form_cells(points, k, gamma, outside_in, labels, state)
    if not current_halt().now():  # interrupted, the labels are not looked at
        join_nearest(points, labels, int(state[1]))
    return labels


def _numpy_costs_less(points: Points, k: int) -> bool:
    """Whether the cells are formed by NumPy sooner than kernels are ready (constants set by a few timings)."""
    n_records, dimension = points.values.shape
    distances = 0.5 * n_records**2 * (1.0 + 3.0 / k)  # from every record, to half of the others on average
    per_distance = 6e-9 + 2.5e-9 * dimension + 2e-9 * len(points.nominal)
    by_tree = n_records >= _TREE_FROM
    return numpy_costs_less(
        "vmdav of codes" if points.nominal else "vmdav",
        distances * per_distance + n_records * 12e-6,
        lambda: _kernel(by_tree),
        _COMPILING_TREE if by_tree else _COMPILING_SCAN,
        with_codes=bool(points.nominal),
    )


def _kernel(by_tree: bool) -> Any:
    if by_tree:
        from microagg.partition._kernels.mdav.tree.variable_cells import form_variable_cells_tree

        return form_variable_cells_tree
    from microagg.partition._kernels.mdav.plain.variable_cells import form_variable_cells

    return form_variable_cells


def _by_numpy(points: Points, k: int, gamma: float) -> IntArray:
    """Look at all remaining records every time, in NumPy."""
    from microagg.partition.uncompiled.vmdav import form_vmdav_cells

    n_records, dimension = points.values.shape
    halt, values = current_halt(), 0

    def goes_on(remaining: int, passes: int) -> bool:
        nonlocal values
        values += passes * remaining * dimension
        if values < _VALUES_PER_PORTION:
            return True
        values = 0
        report("forming cells", 1.0 - (remaining / n_records) ** 2)
        return not halt.now()

    labels = form_vmdav_cells(points, k, gamma, goes_on)
    if not halt.now():
        report("forming cells", 1.0)
    return labels


def _by_scan(points: Points, k: int, gamma: float, outside_in: IntArray, labels: IntArray, state: IntArray) -> None:
    """Look at all remaining records every time."""
    from microagg.partition._kernels.mdav.plain.variable_cells import form_variable_cells

    X, nominal = points.values, nominal_of(points)
    n_records, dimension = X.shape
    columns = np.array(X.T, order="C")
    record_at, place_of = np.arange(n_records), np.arange(n_records)
    portion = max(_DISTANCES_PER_PORTION // dimension, 1)
    halt = current_halt()
    while state[0] >= k and not halt.now():
        form_variable_cells(
            X, k, gamma, outside_in, columns, record_at, place_of, labels, state, portion, halt.flag, nominal
        )
        report("forming cells", 1.0 - (state[0] / n_records) ** 2)


def _by_tree(points: Points, k: int, gamma: float, outside_in: IntArray, labels: IntArray, state: IntArray) -> None:
    """The same cells, by searching a tree."""
    from microagg.partition._kernels.mdav.centroid_tracker import track_centroid
    from microagg.partition._kernels.mdav.filter_space import filter_space
    from microagg.partition._kernels.mdav.nearest import allocate_nearest
    from microagg.partition._kernels.mdav.rows import distinct_rows
    from microagg.partition._kernels.mdav.tree.build import build_tree
    from microagg.partition._kernels.mdav.tree.search import allocate_search
    from microagg.partition._kernels.mdav.tree.variable_cells import allocate_growing, form_variable_cells_tree

    X = points.values
    n_records, dimension = X.shape
    space = filter_space(X, nominal_of(points))
    tracker = track_centroid(X, space)
    rows, tree = build_tree(distinct_rows(X), space, tracker)
    row_of = np.empty(n_records, dtype=np.int64)
    sizes = rows.end - rows.first
    starts = np.repeat(rows.first - np.concatenate([[0], np.cumsum(sizes)[:-1]]), sizes)
    row_of[rows.members[starts + np.arange(n_records)]] = np.repeat(np.arange(len(sizes)), sizes)
    search = allocate_search(tree, dimension, k)
    nearest, growing = allocate_nearest(k - 1), allocate_growing(k)
    portion = max(_DISTANCES_PER_PORTION // dimension, 1)
    halt = current_halt()
    while state[0] >= k and not halt.now():
        form_variable_cells_tree(
            k,
            gamma,
            outside_in,
            row_of,
            rows,
            tree,
            space,
            tracker,
            search,
            nearest,
            growing,
            labels,
            state,
            portion,
            halt.flag,
        )
        report("forming cells", 1.0 - state[0] / n_records)
