"""MDAV by a plain scan, a filtered scan, a tree or NumPy alone, and the choice. All give the same labels.

Records of numbers and codes are searched by a tree or, if they are few, by the plain scan.
"""

from __future__ import annotations

from collections.abc import Callable
from functools import cached_property
from typing import Any

import numpy as np

from microagg._halt import current_halt
from microagg._progress import report
from microagg._typing import FloatArray, IntArray
from microagg.partition._compiling import needs_compiling
from microagg.partition.nominal import nominal_of
from microagg.partition.uncompiled.choice import numpy_costs_less
from microagg.space.points import Points

__all__ = ["ALGORITHMS", "GivesUp", "mdav_cells", "mdav_cells_unless"]


# Asked between portions: the share of records that have a cell, the microseconds that all cells will cost per record as
# far as counting shows (nan where it cannot), and whether the rest is scanned.
GivesUp = Callable[[float, float, bool], bool]

ALGORITHMS = ("auto", "tree", "brute", "plain")

# About a tenth of a second of distances at a time: between portions, progress is reported and interrupts are handled.
_DISTANCES_PER_PORTION = 150_000_000
_TREE_FROM = 3000  # records; below, building a tree costs more than it saves
_SCAN_FROM = 7.0  # effective dimensions; from here on a tree rules out too little, ...
_SCAN_BELOW = 200_000  # ... unless records are so many that it pays to try
_PROBE = 2_000_000  # distances and bounds after which tree and scan are first compared
_VALUES_CACHED = 2_000_000  # float32 values of a tree; beyond, its searches wait for memory
_BUILDING, _COMPILING, _COMPILING_PLAIN = 0.02, 10.0, 6.0  # seconds
_SAMPLE = 1000  # records by which the dimension is judged
_VALUES_PER_PORTION = 10_000_000  # by NumPy
_COUNTED_FROM = 20_000  # records; above, some who ask for cells want to know what they cost, which kernels count
NONE_SEEN = np.zeros(3, dtype=np.int64)


def mdav_cells(points: Points, k: int, two_cells_from: int, algorithm: str) -> IntArray:
    """Cells of MDAV, by the search that `algorithm` names; after an interrupt, the labels mean nothing.

    With codes, the records are in the form of `Points.telling`.
    """
    halt = current_halt()
    points = points.near_one()
    if algorithm == "auto" and _numpy_costs_less(points, k):
        return _by_numpy(points, k, two_cells_from, lambda *_: halt.now())
    return _search(points, k, two_cells_from, algorithm, lambda *_: halt.now())


def mdav_cells_unless(points: Points, k: int, gives_up: GivesUp) -> IntArray:
    """Cells of MDAV by the quickest search; if it is given up, the 2k records or more without a cell have -1."""
    points = points.near_one()
    if len(points) <= _COUNTED_FROM and _numpy_costs_less(points, k):
        return _by_numpy(points, k, 3 * k, gives_up)
    return _search(points, k, 3 * k, "auto", gives_up)


def _numpy_costs_less(points: Points, k: int) -> bool:
    """Whether the cells are formed by NumPy sooner than kernels are ready (constants set by a few timings)."""
    n_records, dimension = points.values.shape
    distances = 0.75 * n_records**2 / k  # three searches for two cells, among half of the records on average
    seconds = distances * (14e-9 + 2.6e-9 * dimension) + n_records * (5e-6 + 30e-6 / k)
    if not points.nominal:
        return numpy_costs_less("mdav", seconds, lambda: _kernel(begins_with_tree(points, "auto")), _COMPILING)
    seconds += len(points.nominal) * (distances * 2e-9 + n_records * 20e-6)
    by_tree = begins_with_tree(points, "auto")
    compiling = _COMPILING if by_tree else _COMPILING_PLAIN
    return numpy_costs_less("mdav of codes", seconds, lambda: _kernel_of_codes(by_tree), compiling, with_codes=True)


def _by_numpy(points: Points, k: int, two_cells_from: int, gives_up: GivesUp) -> IntArray:
    """Scan all remaining records in NumPy."""
    from microagg.partition.uncompiled.mdav import form_mdav_cells

    n_records, dimension = points.values.shape
    values = 0

    def goes_on(remaining: int) -> bool:
        nonlocal values
        values += 3 * remaining * dimension
        if values < _VALUES_PER_PORTION:
            return True
        values = 0
        _report(remaining, n_records)
        return not gives_up(1.0 - remaining / n_records, np.nan, True)

    labels = form_mdav_cells(points.values, k, two_cells_from, goes_on, nominal_of(points))
    if (labels >= 0).all():
        _report(0, n_records)
    return labels


def _kernel(by_tree: bool) -> Any:
    if by_tree:
        from microagg.partition._kernels.mdav.tree.cells import form_cells_tree

        return form_cells_tree
    from microagg.partition._kernels.mdav.scan.cells import form_cells_brute

    return form_cells_brute


def _kernel_of_codes(by_tree: bool) -> Any:
    if by_tree:
        return _kernel(by_tree)
    from microagg.partition._kernels.mdav.plain.cells import form_cells

    return form_cells


def _search(points: Points, k: int, two_cells_from: int, algorithm: str, gives_up: GivesUp) -> IntArray:
    from microagg._kernels.jit import HAS_VECTORS

    scans_codes = bool(points.nominal) and not begins_with_tree(points, algorithm)
    if algorithm == "plain" or scans_codes or not HAS_VECTORS:
        return _scan_plainly(points, k, two_cells_from, gives_up)
    return _MdavRun(points, k, two_cells_from, algorithm, gives_up).run()


def _scan_plainly(points: Points, k: int, two_cells_from: int, gives_up: GivesUp) -> IntArray:
    """Scan all remaining records in float64."""
    from microagg.partition._kernels.mdav.plain.cells import form_cells, sums_of_columns

    X, nominal = points.values, nominal_of(points)
    n_records, dimension = X.shape
    columns = np.array(X.T, order="C")
    record_at, place_of = np.arange(n_records), np.arange(n_records)
    high, low = np.zeros(points.n_numbers), np.zeros(points.n_numbers)
    sums_of_columns(X, high, low)
    labels = np.full(n_records, -1, dtype=np.int64)
    state = np.array([n_records, 0])
    portion = max(_DISTANCES_PER_PORTION // dimension, 1)
    # The cost is left out: with or without vectors, a search for near-optimal cells begins with the same cells.
    while state[0] > 0 and not gives_up(1.0 - state[0] / n_records, np.nan, True):
        form_cells(X, k, two_cells_from, columns, record_at, place_of, high, low, labels, state, portion, nominal)
        _report(state[0], n_records)
    return labels


def _report(remaining: int, n_records: int) -> None:
    # Cells cost as much as records remain, so the work left shrinks with the square of their number.
    report("forming cells", 1.0 - (remaining / n_records) ** 2)


def effective_dimension(X: FloatArray) -> float:
    """How many independent attributes of equal variance the records are like, judged by a sample.

    (sum of variances)^2 / (sum of squared covariances): d for d independent attributes of one variance, 1 if all depend
    on one.

    Examples
    --------
    >>> round(effective_dimension(np.array([[1.0, 2.0], [2.0, 4.0], [4.0, 8.0]])), 6)
    1.0
    """
    sample = X[:: max(len(X) // _SAMPLE, 1)]
    centred = sample - sample.mean(axis=0)
    centred /= max(float(np.abs(centred).max()), np.finfo(np.float64).tiny)
    covariances = np.einsum("ij,ik->jk", centred, centred)  # not by a library that would wake threads for it
    squares = float((covariances**2).sum())
    return float(np.trace(covariances)) ** 2 / squares if squares > 0 else 0.0


def begins_with_tree(points: Points, algorithm: str) -> bool:
    """Whether a tree is searched first; "auto" judges by the number of records and by their effective dimension."""
    if algorithm != "auto":
        return algorithm == "tree"
    if len(points) < _TREE_FROM:
        return False
    return bool(points.nominal) or len(points) >= _SCAN_BELOW or effective_dimension(points.values) <= _SCAN_FROM


class _MdavRun:
    """One run of MDAV: what the filtered searches share, so that one can take over from the other between any cells."""

    def __init__(self, points: Points, k: int, two_cells_from: int, algorithm: str, gives_up: GivesUp) -> None:
        from microagg.partition._kernels.mdav.centroid_tracker import track_centroid
        from microagg.partition._kernels.mdav.filter_space import filter_space
        from microagg.partition._kernels.mdav.nearest import allocate_nearest
        from microagg.partition._kernels.mdav.rows import distinct_rows

        X = points.values
        self.points = points
        self.n_records, self.dimension = X.shape
        self.k, self.two_cells_from, self.algorithm = k, two_cells_from, algorithm
        self.gives_up, self.is_given_up = gives_up, False
        self.space = filter_space(X, nominal_of(points))
        self.tracker = track_centroid(X, self.space)
        self.rows = distinct_rows(X)
        self.nearest = allocate_nearest(k - 1)
        self.labels = np.full(self.n_records, -1, dtype=np.int64)
        self.state = np.array([self.n_records, 0])
        self.portion = max(_DISTANCES_PER_PORTION // self.dimension, 1)

    @cached_property
    def begins_with_tree(self) -> bool:
        return begins_with_tree(self.points, self.algorithm)

    def run(self) -> IntArray:
        if self.begins_with_tree:
            self._search_tree()
        if self._cells_to_form:
            self._scan_blocks()
        if self.is_given_up and self.state[0] >= 2 * self.k:
            return self.labels
        # What is left is the last cell, or joins it where two cells are formed down to 2k records.
        remaining, n_cells = self.state
        self.labels[self.labels < 0] = n_cells if remaining >= self.k else n_cells - 1
        _report(0, self.n_records)
        return self.labels

    @property
    def _cells_to_form(self) -> bool:
        return bool(self.state[0] >= 2 * self.k) and not self.is_given_up

    def _check_in(self, cost: float = np.nan, *, scans: bool = False) -> None:
        """Between portions: report progress, and ask whether to go on."""
        _report(self.state[0], self.n_records)
        self.is_given_up = self.gives_up(1.0 - self.state[0] / self.n_records, cost, scans)

    def _search_tree(self) -> None:
        """Search the tree; with "auto", only as long as that is cheaper than scanning."""
        from microagg.partition._kernels.mdav.tree.build import build_tree
        from microagg.partition._kernels.mdav.tree.cells import form_cells_tree, remaining_rows
        from microagg.partition._kernels.mdav.tree.search import allocate_search

        rows, tree = build_tree(self.rows, self.space, self.tracker)
        search = allocate_search(tree, self.dimension, self.k)
        portion = 0  # one round, which looks at every leaf once and so says nothing about the others
        while self._cells_to_form:
            search.seen[:] = 0
            form_cells_tree(
                self.k,
                self.two_cells_from,
                rows,
                tree,
                self.space,
                self.tracker,
                search,
                self.nearest,
                self.labels,
                self.state,
                portion,
            )
            judged = self.algorithm == "auto" and portion > 0 and not self.points.nominal
            search_ns, scan_ns = self._nanoseconds_per_cell(search.seen, int(tree.counts.sum()))
            self._check_in(min(search_ns, 0.5 * scan_ns) / self.k / 1000.0 if portion > 0 else np.nan)
            if judged and self._scanning_is_cheaper(search_ns, scan_ns):
                break
            portion = min(max(4 * portion, _PROBE), self.portion)
        self.rows = remaining_rows(rows)

    def _nanoseconds_per_cell(self, seen: IntArray, n_rows: int) -> tuple[float, float]:
        """Rough nanoseconds per cell (set by a few timings): of points and families seen, and of rows to scan."""
        points, families, cells = (float(count) for count in seen)
        per_value, per_family = (0.11, 200.0) if self.rows.values.size < _VALUES_CACHED else (0.18, 300.0)
        search = (points * self.dimension * per_value + families * per_family) / max(cells, 1.0) + 8000.0
        scan = n_rows * (0.1 + 0.03 * self.dimension) + 10500.0
        return search, scan

    def _scanning_is_cheaper(self, search: float, scan: float) -> bool:
        """The difference shrinks with the rows; half of it must be worth building blocks and, once, compiling."""
        from microagg.partition._kernels.mdav.scan.cells import form_cells_brute

        gain = 0.5e-9 * (search - scan) * float(self.state[0]) / self.k
        return bool(gain > (_COMPILING if needs_compiling(form_cells_brute) else _BUILDING))

    def _scan_blocks(self) -> None:
        from microagg.partition._kernels.mdav.centroid_tracker import RADIUS
        from microagg.partition._kernels.mdav.scan.blocks import COARSE, build_blocks, renew_grid
        from microagg.partition._kernels.mdav.scan.candidate_pass import allocate_candidates
        from microagg.partition._kernels.mdav.scan.cells import allocate_scratch, form_cells_brute
        from microagg.partition._kernels.mdav.scan.neighbour_lists import allocate_batch, allocate_neighbour_lists

        blocks = build_blocks(self.rows, self.space, self.tracker)
        scratch = allocate_scratch(self.dimension)
        batch, candidates = allocate_batch(self.dimension), allocate_candidates(self.k)
        lists = allocate_neighbour_lists(len(self.rows.first), self.k)
        n_rows = len(self.rows.first)
        while self._cells_to_form:
            if self.tracker.numbers[RADIUS] < blocks.grid[COARSE]:
                renew_grid(blocks, self.rows, self.space, self.tracker)
            form_cells_brute(
                self.k,
                self.two_cells_from,
                self.rows,
                blocks,
                self.space,
                self.tracker,
                scratch,
                batch,
                candidates,
                lists,
                self.labels,
                self.state,
                self.portion,
            )
            self._check_in(0.5 * self._nanoseconds_per_cell(NONE_SEEN, n_rows)[1] / self.k / 1000.0, scans=True)
