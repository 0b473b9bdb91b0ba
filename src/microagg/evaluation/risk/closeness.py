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
from microagg.evaluation.utility.papers import BETA_LIKENESS
from microagg.privacy.requirement import T_CLOSENESS, ConfidentialValues, Requirement
from microagg.schema.encode import EncodedColumn
from microagg.tables.words import Words

__all__ = ["CLOSENESS", "CellShares", "cell_shares"]


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


def _distances(one: EncodedColumn, cells: IntArray) -> FloatArray:
    return Requirement(T_CLOSENESS, one.name, 1.0).per_cell(ConfidentialValues.of(one), cells)


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
        "numbers and ranks along their order, neighbours 1/(m-1) apart; categories as far apart as their lowest common "
        "ancestor in a declared taxonomy is high, relative to the root, or all 1 apart",
        _t_closeness,
        high=1.0,
        needs=(Need.CELLS,),
        explained=Words(
            "It says how far the confidential values of a cell are from those of the whole table, in the worst cell. "
            "At 0 a person's cell tells nothing that the table does not tell.",
            "Small cells are far from the table by chance alone. For numbers it goes by their order, and does not see "
            "how far apart neighbours are.",
            "Li, Li & Venkatasubramanian (2007), doi:10.1109/ICDE.2007.367856",
            short="largest distance of a cell's confidential values from the table's",
        ),
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
        explained=Words(
            "It says by which factor a value is more, or less, likely in a cell than in the table. It is the "
            "logarithm of that factor, in the worst case.",
            "Read strictly it is infinite once a cell lacks a value. We look at values that the cell has, and a note "
            "counts the cells that lack one.",
            "Brickell & Shmatikov (2008), doi:10.1145/1401890.1401904",
            short="largest factor between a value's share in a cell and in the table",
        ),
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
        explained=Words(
            "It says how much more likely a value is in a cell than in the table, in the worst case. At 2, a value is "
            "three times as likely there.",
            "A rare value in a small cell makes it large: 1 of 5 records against 1 of 1000 gives 199. It ignores "
            "values that become less likely.",
            BETA_LIKENESS,
            short="largest gain of a value's share in a cell",
        ),
    ),
    Definition(
        "enhanced_beta_likeness",
        "risk",
        "closeness",
        "lower",
        "beta_likeness, if no value gains more than -ln p: (q - p)/p <= min(beta, -ln p)",
        _of_shares(lambda shares: shares.enhanced_beta, _beyond_enhanced),
        needs=(Need.CELLS,),
        explained=Words(
            "It is beta_likeness with a stricter limit for frequent values. It has a value only if no value gains "
            "more than that limit.",
            "No value means that no beta satisfies the model, not that nothing was measured: the worst case.",
            BETA_LIKENESS,
            short="largest gain of a value's share, strict for frequent values",
        ),
    ),
)
