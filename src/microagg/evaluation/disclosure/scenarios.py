"""Three intruders: one who looks for a person known to be in the table, one for anyone, one for as many as possible."""

from __future__ import annotations

from collections.abc import Iterable, Mapping
from dataclasses import dataclass

import numpy as np

from microagg._typing import FloatArray, IntArray

__all__ = ["Scenario", "journalist_risks", "scenario_of"]


@dataclass(frozen=True)
class Scenario:
    """The chance that an intruder puts the right name to a record.

    Attributes
    ----------
    largest, average : float
        Over records. The average is the marketer's risk: the share of all records that he is expected to name rightly.
    above : mapping of float to int
        For each threshold the records whose chance is above it.
    """

    largest: float
    average: float
    above: Mapping[float, int]


def scenario_of(risks: FloatArray, sizes: IntArray, thresholds: Iterable[float]) -> Scenario:
    """Sum up the risks of classes over their records.

    Parameters
    ----------
    risks : ndarray of shape (n_classes,)
        The chance of each record of the class. For a prosecutor 1 / sizes.
    sizes : ndarray of shape (n_classes,)

    Examples
    --------
    >>> scenario_of(1 / np.array([1, 4]), np.array([1, 4]), [0.5])
    Scenario(largest=1.0, average=0.4, above={0.5: 1})
    """
    return Scenario(
        float(risks.max()),
        float((risks * sizes).sum() / sizes.sum()),
        {float(threshold): int(sizes[risks > threshold].sum()) for threshold in thresholds},
    )


def journalist_risks(sizes: IntArray, population: IntArray) -> FloatArray:
    """The chance 1/F of each class, F the records of the population that are like it.

    Where the population has fewer than the table (it is not the whole of it) the table's own number counts.
    """
    return 1.0 / np.maximum(population, sizes)
