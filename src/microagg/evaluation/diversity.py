"""Diversity: how many different confidential values the records of a cell have."""

from __future__ import annotations

from collections.abc import Sequence
from dataclasses import asdict, dataclass
from typing import Any

import numpy as np
import numpy.typing as npt

from microagg._typing import FloatArray, IntArray
from microagg.privacy.within_cells import distinct_per_cell

__all__ = [
    "STEP",
    "Diversity",
    "agreeing_records",
    "coarse_codes",
    "label_diversity",
    "single_values",
]


STEP = 0.2  # of standardised numbers: the interval width of the dependence paper


@dataclass(frozen=True)
class Diversity:
    """How diverse the confidential values within cells are.

    For each cell, the attribute with the fewest different values counts.

    Attributes
    ----------
    l_avg : float
        Mean over cells of the number of different values, numbers taken in steps of `step` standard deviations.
    step : float
    smallest : int
        Distinct l-diversity: the fewest different exact values that any cell has.
    mean : float
        Mean over cells of the number of different exact values.
    purity : float
        Mean over cells of the share of records with the cell's most frequent value, numbers in steps; in (0, 1].
    n_cells : int
    """

    l_avg: float
    step: float
    smallest: int
    mean: float
    purity: float
    n_cells: int

    def as_dict(self) -> dict[str, Any]:
        return asdict(self)

    def __str__(self) -> str:
        return (
            f"label diversity of {self.n_cells} cells: on average {self.l_avg:.2f} different values of the least "
            f"diverse attribute (numbers in steps of {self.step:g} standard deviations); exact values: at least "
            f"{self.smallest} in every cell, {self.mean:.2f} on average; the most frequent value has on average "
            f"{100 * self.purity:.1f} % of a cell"
        )


def coarse_codes(standardized: FloatArray, step: float = STEP) -> IntArray:
    """Numbers in steps: ``floor(y / step)``, missing as a value of its own.

    Examples
    --------
    >>> coarse_codes(np.array([0.05, 0.19, 0.21, -0.1]))
    array([ 0,  0,  1, -1])
    """
    missing = np.isnan(standardized)
    steps = np.clip(np.floor(np.where(missing, 0.0, standardized) / step), -(2.0**52), 2.0**52).astype(np.int64)
    return np.where(missing, np.iinfo(np.int64).min, steps)


def agreeing_records(codes: npt.NDArray[Any], labels: IntArray) -> int:
    """How many records are in cells whose records all have one code.

    Examples
    --------
    >>> agreeing_records(np.array([1, 1, 2, 3, 3]), np.array([0, 0, 0, 1, 1]))
    2
    """
    return int(np.bincount(labels)[distinct_per_cell(codes, labels)[0] == 1].sum())


def single_values(codes: IntArray) -> int:
    """How many values occur once; missing ones (-1) do not count.

    Examples
    --------
    >>> single_values(np.array([4, 4, 7, 9, -1]))
    2
    """
    _, counts = np.unique(codes[codes >= 0], return_counts=True)
    return int((counts == 1).sum())


def label_diversity(
    exact: Sequence[npt.NDArray[Any]], coarse: Sequence[npt.NDArray[Any]], labels: IntArray, *, step: float = STEP
) -> Diversity:
    """Diversity of confidential attributes in cells.

    Parameters
    ----------
    exact, coarse : sequences of ndarray of shape (n_records,)
        Each attribute's values as codes: all different values apart, and numbers in steps.
    labels : ndarray of shape (n_records,)
        Cells 0 to n_cells - 1, each in use.
    step : float
        What `coarse` was made with.

    References
    ----------
    .. [1] Machanavajjhala, A. et al. (2007). l-diversity: privacy beyond k-anonymity. ACM TKDD 1(1), 3.
       doi:10.1145/1217299.1217302
    """
    sizes = np.bincount(labels)
    exact_counts = np.min([distinct_per_cell(codes, labels)[0] for codes in exact], axis=0)
    coarse_found = [distinct_per_cell(codes, labels) for codes in coarse]
    coarse_counts = np.min([distinct for distinct, _ in coarse_found], axis=0)
    purity = np.max([largest for _, largest in coarse_found], axis=0) / sizes
    return Diversity(
        l_avg=float(coarse_counts.mean()),
        step=step,
        smallest=int(exact_counts.min()),
        mean=float(exact_counts.mean()),
        purity=float(purity.mean()),
        n_cells=len(sizes),
    )
