"""Closeness: how far the confidential values of a cell are distributed from those of the whole table.

All functions take one attribute as codes and the cells of its records. Missing is a value of its own.
"""

from __future__ import annotations

from collections.abc import Callable
from dataclasses import dataclass

import numpy as np
import numpy.typing as npt

from microagg._typing import FloatArray, IntArray
from microagg.evaluation.context import Context
from microagg.evaluation.definition import Definition, MeasureResult, Need
from microagg.evaluation.result import Values
from microagg.evaluation.risk.diversity import STEP_WORDS, confidential_codes, shuffled_cells
from microagg.schema.attribute import Kind
from microagg.schema.encode import EncodedColumn

__all__ = ["CLOSENESS", "CellShares", "cell_shares", "earth_movers_nominal", "earth_movers_ordered"]


@dataclass(frozen=True)
class CellShares:
    """Shares of the values that occur in each cell: one entry per cell and value in it.

    Attributes
    ----------
    cell : ndarray
        Of each entry, in ascending order.
    inside, overall : ndarray
        Share of the value among the cell's records and among all.
    n_cells, n_values : int
    """

    cell: IntArray
    inside: FloatArray
    overall: FloatArray
    n_cells: int
    n_values: int

    @property
    def gain(self) -> FloatArray:
        """(q - p) / p of each entry: by how much the cell makes the value likelier."""
        return self.inside / self.overall - 1.0

    @property
    def beta(self) -> float:
        """Basic beta-likeness: the largest gain of any value in any cell. [2]_"""
        return max(float(self.gain.max()), 0.0)

    @property
    def enhanced_beta(self) -> float:
        """Enhanced beta-likeness: the same, infinite if a value gains more than -ln p, which no beta allows. [2]_"""
        return self.beta if bool((self.gain <= -np.log(self.overall) + 1e-12).all()) else np.inf

    @property
    def delta(self) -> float:
        """delta-disclosure: the largest abs(ln q/p) over values that occur in the cell. [3]_"""
        return float(np.abs(np.log(self.inside / self.overall)).max())

    @property
    def n_lacking(self) -> int:
        """Cells in which some value does not occur: the strict definition of delta-disclosure is infinite there."""
        return int((np.bincount(self.cell, minlength=self.n_cells) < self.n_values).sum())


def cell_shares(codes: npt.NDArray[np.generic], labels: IntArray) -> CellShares:
    """Count the values in each cell.

    Examples
    --------
    >>> found = cell_shares(np.array(["a", "b", "a", "a"]), np.array([0, 0, 1, 1]))
    >>> found.beta, round(found.delta, 3), found.n_lacking
    (1.0, 0.693, 1)

    References
    ----------
    .. [2] Cao, J. & Karras, P. (2012). Publishing microdata with a robust privacy guarantee. PVLDB 5(11), 1388-1399.
    .. [3] Brickell, J. & Shmatikov, V. (2008). The cost of privacy. KDD 2008, 70-78. doi:10.1145/1401890.1401904
    """
    _, dense, totals = np.unique(codes, return_inverse=True, return_counts=True)
    sizes = np.bincount(labels)
    entries, counts = np.unique(labels * len(totals) + dense, return_counts=True)
    cell, value = np.divmod(entries, len(totals))
    return CellShares(cell, counts / sizes[cell], totals[value] / len(codes), len(sizes), len(totals))


def earth_movers_nominal(codes: npt.NDArray[np.generic], labels: IntArray) -> FloatArray:
    """Distance of each cell's distribution to the table's, all values at distance 1: half the sum of abs(q - p).

    Examples
    --------
    >>> earth_movers_nominal(np.array(["a", "b", "a", "a"]), np.array([0, 0, 1, 1])).tolist()
    [0.25, 0.25]
    """
    shares = cell_shares(codes, labels)
    # What values in the cell have too much is what the others have too little.
    excess = np.maximum(shares.inside - shares.overall, 0.0)
    return np.asarray(np.bincount(shares.cell, excess, minlength=shares.n_cells), dtype=np.float64)


def earth_movers_ordered(values: FloatArray, labels: IntArray) -> FloatArray:
    """Earth mover's distance of each cell's distribution to the table's, along the order of the values.

    Neighbours among the m different values are at distance 1 / (m - 1). Missing values (NaN) are at distance 1 from
    all others: their difference in share is moved at that price, and the present values in proportion. With missing
    values this is what a feasible plan costs, so the distance is never understated.

    Notes
    -----
    The distance is the mean of abs(Q - P) of the cumulative shares over the first m - 1 values. Between two values of
    the cell, Q is constant and P rises, so abs(Q - P) is summed from running sums of P on both sides of the place where
    they meet: n log n for all cells together, however many different values there are.

    Examples
    --------
    >>> earth_movers_ordered(np.array([1.0, 2.0, 3.0, 3.0]), np.array([0, 0, 1, 1])).round(3).tolist()
    [0.375, 0.375]

    References
    ----------
    .. [1] Li, N., Li, T. & Venkatasubramanian, S. (2007). t-closeness: privacy beyond k-anonymity and l-diversity.
       ICDE 2007, 106-115. doi:10.1109/ICDE.2007.367856
    """
    missing = np.isnan(values)
    sizes = np.bincount(labels).astype(np.float64)
    if not missing.any():
        return _along_the_order(values, labels, len(sizes))
    lacking = np.bincount(labels, missing, minlength=len(sizes)) / sizes
    overall = float(missing.mean())
    present = np.zeros(len(sizes))
    if not missing.all():
        present = _along_the_order(values[~missing], labels[~missing], len(sizes))
    distance: FloatArray = np.abs(lacking - overall) + (1.0 - np.maximum(lacking, overall)) * present
    return distance


def _along_the_order(values: FloatArray, labels: IntArray, n_cells: int) -> FloatArray:
    different, ranks, totals = np.unique(values, return_inverse=True, return_counts=True)
    steps = len(different) - 1
    if not steps:
        return np.zeros(n_cells)
    cumulative = np.cumsum(totals)[:-1] / len(values)  # P after the first, second, ... value; after the last it is 1
    running = np.append(0.0, np.cumsum(cumulative))
    order = np.lexsort((ranks, labels))
    cells, ranks = labels[order], ranks[order]
    sizes = np.bincount(cells, minlength=n_cells)
    first = np.append(0, np.cumsum(sizes))[:-1]
    # From one value of the cell (or the beginning) to the next, Q is the share of the cell's records up to there.
    level = (np.arange(len(cells)) - first[cells] + 1) / sizes[cells]
    until = np.append(ranks[1:], steps)
    until[first[sizes > 0][1:] - 1] = steps
    before = np.bincount(cells[first[sizes > 0]], running[ranks[first[sizes > 0]]], minlength=n_cells)
    start = np.minimum(ranks, steps)
    meet = np.clip(np.searchsorted(cumulative, level), start, until)
    above = level * (meet - start) - (running[meet] - running[start])
    below = running[until] - running[meet] - level * (until - meet)
    return (before + np.bincount(cells, above + below, minlength=n_cells)) / steps


def _distances(one: EncodedColumn, cells: IntArray) -> FloatArray:
    if one.kind is Kind.NOMINAL:
        return earth_movers_nominal(np.where(one.missing, -1.0, one.values), cells)
    return earth_movers_ordered(one.values, cells)


def _t_closeness(context: Context) -> MeasureResult:
    distances = {one.name: _distances(one, context.cells) for one in context.confidential}
    details = {name: float(found.max()) for name, found in distances.items()}
    worst = np.max(list(distances.values()), axis=0)
    by_chance = [max(_distances(one, cells).max() for one in context.confidential) for cells in shuffled_cells(context)]
    return MeasureResult(
        max(details.values()),
        context.unmeasured,
        baseline=float(np.mean(by_chance)),
        details=details,
        records=Values("released", worst[context.cells]) if context.per_record else None,
    )


def _all_shares(context: Context) -> tuple[list[CellShares], list[list[CellShares]]]:
    """For each confidential attribute, in the cells and in cells of records drawn at random."""

    def compute() -> tuple[list[CellShares], list[list[CellShares]]]:
        _, coarse = confidential_codes(context)
        found, *by_chance = (
            [cell_shares(codes, cells) for codes in coarse] for cells in (context.cells, *shuffled_cells(context))
        )
        return found, by_chance

    return context.cached("cell shares", compute)


def _of_shares(
    read: Callable[[CellShares], float], note: Callable[[list[CellShares]], str]
) -> Callable[[Context], MeasureResult]:
    def compute(context: Context) -> MeasureResult:
        found, by_chance = _all_shares(context)
        details = {one.name: read(shares) for one, shares in zip(context.confidential, found, strict=True)}
        baseline = float(np.mean([max(read(shares) for shares in shuffled) for shuffled in by_chance]))
        notes = [part for part in (note(found), context.unmeasured) if part]
        return MeasureResult(
            max(details.values()),
            "; ".join(notes),
            baseline=baseline if np.isfinite(baseline) else None,
            details=details,
        )

    return compute


def _cells_that_lack(found: list[CellShares]) -> str:
    lacking, cells = max(one.n_lacking for one in found), found[0].n_cells
    return f"{lacking} of {cells} cells lack a value, which this measure leaves out" if lacking else ""


def _beyond_enhanced(found: list[CellShares]) -> str:
    beyond = sum(not np.isfinite(one.enhanced_beta) for one in found)
    return f"no beta holds: in {beyond} attributes some value gains more than -ln p" if beyond else ""


CLOSENESS = (
    Definition(
        "t_closeness",
        "risk",
        "closeness",
        "lower",
        "largest earth mover's distance between a confidential attribute's distribution in a cell and in the table: "
        "numbers and ranks along their order, neighbours 1/(m-1) apart; categories all 1 apart",
        _t_closeness,
        high=1.0,
        needs=(Need.CELLS,),
    ),
    Definition(
        "delta_disclosure",
        "risk",
        "closeness",
        "lower",
        f"largest abs(ln q/p) over cells and the values in them {STEP_WORDS}: q is a value's share in the cell, p in "
        "the table",
        _of_shares(lambda shares: shares.delta, _cells_that_lack),
        needs=(Need.CELLS,),
    ),
    Definition(
        "beta_likeness",
        "risk",
        "closeness",
        "lower",
        f"largest (q - p)/p over cells and the values in them {STEP_WORDS}: q is a value's share in the cell, p in "
        "the table",
        _of_shares(lambda shares: shares.beta, lambda found: ""),
        needs=(Need.CELLS,),
    ),
    Definition(
        "enhanced_beta_likeness",
        "risk",
        "closeness",
        "lower",
        "beta_likeness, if no value gains more than -ln p: (q - p)/p <= min(beta, -ln p)",
        _of_shares(lambda shares: shares.enhanced_beta, _beyond_enhanced),
        needs=(Need.CELLS,),
    ),
)
