"""Runs of consecutive records in some order: sizes that are a function of n and k alone, and stable orders."""

from __future__ import annotations

from typing import Literal

import numpy as np
import numpy.typing as npt

from microagg._scaling import exponent_near_one, times_power_of_two
from microagg._typing import IntArray

__all__ = ["Larger", "order_of", "run_labels", "run_sizes", "run_sse"]

Larger = Literal["first", "middle", "last"]


def run_sizes(n_records: int, k: int, larger: Larger = "last") -> IntArray:
    """Sizes of floor(n/k) runs of k records, of which one takes the n mod k left over as well.

    The sizes depend on nothing but `n_records` and `k`, which differential privacy will need: a changed record
    moves others between neighbouring runs, but never moves a border.

    Examples
    --------
    >>> run_sizes(11, 3, "middle")
    array([3, 5, 3])
    """
    n_runs = n_records // k
    sizes = np.full(n_runs, k, dtype=np.int64)
    sizes[{"first": 0, "middle": n_runs // 2, "last": n_runs - 1}[larger]] += n_records % k
    return sizes


def run_labels(order: IntArray, sizes: IntArray) -> IntArray:
    """Label records by the run they fall into when taken in `order`."""
    labels = np.empty(len(order), dtype=np.int64)
    labels[order] = np.repeat(np.arange(len(sizes)), sizes)
    return labels


def run_sse(ordered: npt.NDArray[np.float64], sizes: IntArray) -> float:
    """Sum of squared differences of ascending values to the mean of their run; infinite if beyond the largest float.

    Examples
    --------
    >>> run_sse(np.array([1.0, 3.0, 7.0, 7.0]), np.array([2, 2]))
    2.0
    """
    scale = exponent_near_one([ordered])
    if scale:
        scaled = run_sse(times_power_of_two(ordered, scale), sizes)
        return float(times_power_of_two(np.array(scaled), -2 * scale))
    starts = np.cumsum(sizes) - sizes
    # Measured from the first value of the run, so that neither an offset nor far runs cost digits.
    values = ordered - np.repeat(ordered[starts], sizes)
    values -= np.repeat(np.add.reduceat(values, starts) / sizes, sizes)
    return float(np.square(values, out=values).sum())


def order_of(values: npt.NDArray[np.float64]) -> IntArray:
    """Indices that sort `values`, equal ones by index.

    Examples
    --------
    >>> order_of(np.array([2.0, 1.0, 2.0, 1.0]))
    array([1, 3, 0, 2])
    """
    order = np.argsort(values)
    ordered = values[order]
    rises = ordered[1:] != ordered[:-1]
    if rises.all():
        return order
    # The quick sort leaves equal values in any order. Sorting whole numbers made of rank and index mends that in a
    # fraction of the time of a stable sort.
    rank_times_n = np.zeros(len(values), dtype=np.int64)
    np.cumsum(rises, out=rank_times_n[1:])
    rank_times_n *= len(values)
    order += rank_times_n
    order.sort()
    order -= rank_times_n
    return order
