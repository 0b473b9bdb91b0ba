"""Partitions to begin with whose cells have confidential values of all sorts."""

from __future__ import annotations

import math

import numpy as np

from microagg._halt import StopCondition
from microagg._typing import FloatArray, IntArray
from microagg.partition.nominal import nominal_of
from microagg.space.points import Points

__all__ = ["closeness_first_cells", "records_per_cell", "runs_of", "stratified_cells"]


def records_per_cell(n_records: int, k: int, t: float) -> int:
    """How many records a cell needs, one of each run, so that the ordered distance is at most t.

    With n different values and cells of one record of each of k' runs the distance is at most
    (n - k') / (2 (n - 1) k'). [1]_

    Examples
    --------
    >>> [records_per_cell(1080, 2, t) for t in (0.05, 0.13, 0.25)]
    [10, 4, 2]

    References
    ----------
    .. [1] Soria-Comas, J., Domingo-Ferrer, J., Sanchez, D. & Martinez, S. (2015). t-closeness through microaggregation:
       strict privacy with enhanced utility preservation. IEEE TKDE 27(11), 3098-3110. doi:10.1109/TKDE.2015.2435777
    """
    return max(k, math.ceil(n_records / (2.0 * (n_records - 1) * t + 1.0) - 1e-9)) if n_records > 1 else k


def runs_of(n_records: int, size: int) -> IntArray:
    """Where `size` or a few more runs begin, whose records differ in number by one; longer ones are in the middle.

    As many cells as a run has records are formed, of one record of each run; there are fewer longer runs than cells.

    Examples
    --------
    >>> runs_of(11, 3).tolist()
    [0, 3, 7, 11]
    """
    n_cells = max(n_records // size, 1)
    n_runs = n_records // n_cells
    lengths = np.full(n_runs, n_cells)
    surplus = n_records - n_cells * n_runs
    middle_first = np.argsort(np.abs(np.arange(n_runs) - (n_runs - 1) / 2 - 0.1), kind="stable")
    rounds = np.arange(surplus) % n_runs
    np.add.at(lengths, middle_first[rounds], 1)
    return np.append(0, np.cumsum(lengths))


def closeness_first_cells(points: Points, order: IntArray, size: int, halt: StopCondition) -> IntArray:
    """t-closeness first: cells of one record of each run, around outlying records in turn (see the kernel)."""
    from microagg.partition._kernels.rearrange.first import closeness_first

    starts = runs_of(len(points), size)
    labels: IntArray = closeness_first(points.values, order, starts, halt.flag, nominal_of(points))
    return labels


def stratified_cells(points: Points, order: IntArray, size: int) -> IntArray:
    """Cells of one record of each run, by halving: as near as n log n finds them.

    All runs are halved together, again and again, along the attribute in which the records of the part differ most;
    each half takes as many records of every run. Records of longer runs that are left over join a part by its order.

    Parameters
    ----------
    points : Points
    order : ndarray
        The records by confidential value.
    size : int
        Records of a cell, at least.
    """
    starts = runs_of(len(points), size)
    n_runs, n_cells = len(starts) - 1, int(np.diff(starts).min())
    run = np.empty(len(points), dtype=np.int64)
    run[order] = np.repeat(np.arange(n_runs), np.diff(starts))
    part = np.zeros(len(points), dtype=np.int64)
    count = np.array([n_cells])  # of each part: how many cells it becomes
    values, widths = points.values, _widths(points)
    while count.max() > 1:  # ends: every turn halves what is to become more than one cell
        axis = _widest(values, widths, part, len(count))
        key = np.take_along_axis(values, axis[part][:, None], axis=1)[:, 0]
        by_value = np.lexsort((key, run, part))
        group = part[by_value] * n_runs + run[by_value]
        sizes = np.bincount(group, minlength=len(count) * n_runs)
        place = np.arange(len(group)) - (np.cumsum(sizes) - sizes)[group]
        left, splits = count // 2, count > 1
        # A longer run gives its surplus to both halves in proportion.
        share = np.where(splits, left / count, 1.0)
        goes_left = place < np.round(sizes[group] * share[part[by_value]])
        new_number = np.cumsum(1 + splits) - (1 + splits)
        part_of = np.empty_like(part)
        part_of[by_value] = new_number[part[by_value]] + ~goes_left
        pairs = [[one] if one == 1 else [half, one - half] for one, half in zip(count, left, strict=True)]
        count = np.array([one for pair in pairs for one in pair])
        part = part_of
    return part


def _widths(points: Points) -> FloatArray:
    """What a unit of each column counts in squared distances: 1 for numbers, of codes as much as they differ."""
    weights = [column.weight if column.table is None else float(column.table.mean()) for column in points.nominal]
    spreads = points.values[:, points.n_numbers :].var(axis=0) if points.nominal else np.empty(0)
    codes = [0.5 * weight / max(spread, 1e-300) for weight, spread in zip(weights, spreads, strict=True)]
    return np.array([1.0] * points.n_numbers + codes)


def _widest(values: FloatArray, widths: FloatArray, part: IntArray, n_parts: int) -> IntArray:
    """The column in which the records of each part differ most."""
    sizes = np.bincount(part, minlength=n_parts)
    spreads = []
    for column, width in zip(values.T, widths, strict=True):
        mean = np.bincount(part, weights=column, minlength=n_parts) / sizes
        gaps = column - mean[part]
        spreads.append(width * np.bincount(part, weights=gaps * gaps, minlength=n_parts) / sizes)
    axis: IntArray = np.argmax(np.array(spreads), axis=0)
    return axis
