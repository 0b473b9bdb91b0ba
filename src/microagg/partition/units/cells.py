"""Cells in which records of at least k units lie, where a unit has several records."""

from __future__ import annotations

import numpy as np

from microagg._scaling import exponent_near_one, times_power_of_two
from microagg._typing import FloatArray, IntArray
from microagg.partition.runs import order_of
from microagg.privacy.requirement import DISTINCT_L, ConfidentialValues, Requirement
from microagg.privacy.within_cells import distinct_per_cell
from microagg.schema.attribute import Kind
from microagg.space.points import Points

__all__ = ["runs_of_units", "unit_demand", "unit_means", "units_per_cell"]

_MOST_TRIED = 256  # starts of a run


def units_per_cell(units: IntArray, labels: IntArray) -> IntArray:
    """How many different units the records of each cell are of.

    Examples
    --------
    >>> units_per_cell(np.array([0, 0, 1, 2]), np.array([0, 0, 0, 1]))
    array([2, 1])
    """
    return distinct_per_cell(units, labels)[0]


def unit_demand(units: IntArray, k: int, name: str) -> tuple[Requirement, ConfidentialValues]:
    """That every cell has k units, in the form of a requirement on the values of an attribute."""
    return Requirement(DISTINCT_L, name, float(k)), ConfidentialValues(name, units.astype(np.float64), Kind.NUMERIC)


def unit_means(points: Points, units: IntArray) -> Points:
    """A point for each unit: the mean of its records."""
    sizes = np.bincount(units)
    means = [np.bincount(units, weights=column) / sizes for column in points.coordinates().T]
    return Points(np.ascontiguousarray(np.column_stack(means)))


def runs_of_units(values: FloatArray, units: IntArray, k: int) -> IntArray:
    """Cells of one attribute: runs of its sorted values, each with records of at least k units, that lose little.

    Parameters
    ----------
    values : ndarray of shape (n_records,)
    units : ndarray of shape (n_records,)
        Whose each record is: 0, 1, ..., at least k of them.
    k : int

    Examples
    --------
    >>> runs_of_units(np.array([1.0, 1.1, 1.2, 5.0, 5.1]), np.array([0, 0, 1, 2, 3]), 2)
    array([0, 0, 0, 1, 1])
    """
    from microagg.partition._kernels.units.runs import latest_starts, unit_run_starts
    from microagg.partition._kernels.univariate import cells_from_starts

    order = order_of(values)
    exponent = exponent_near_one([values])
    ordered = times_power_of_two(values[order], exponent) if exponent else values[order]
    latest = latest_starts(units[order], int(units.max()) + 1, k)
    labels = np.empty(len(values), dtype=np.int64)
    labels[order] = cells_from_starts(unit_run_starts(ordered, latest, _MOST_TRIED))
    return labels
