"""Pearson's correlation of attributes with missing values and numbers of any size."""

from __future__ import annotations

from collections.abc import Sequence

import numpy as np

from microagg._typing import FloatArray

__all__ = ["correlation_matrix"]


def correlation_matrix(columns: Sequence[FloatArray], least: int = 2) -> list[list[float | None]]:
    """Correlate every two columns over the records that have both.

    Parameters
    ----------
    columns : sequence of ndarray of shape (n_records,)
        NaN is missing.
    least : int
        The fewest records that a correlation may be about.

    Returns
    -------
    list of lists
        None where a column is constant among the records that have both, or fewer than `least` have.

    Examples
    --------
    >>> found = correlation_matrix([np.array([1.0, 2.0, 3.0]), np.array([6.0, 4.0, np.nan]), np.array([5.0, 5.0, 5.0])])
    >>> [[None if one is None else round(one, 6) for one in row] for row in found]
    [[1.0, -1.0, None], [-1.0, 1.0, None], [None, None, None]]
    """
    absent = [np.isnan(values) for values in columns]
    complete = [_unit(values) if not gaps.any() else None for values, gaps in zip(columns, absent, strict=True)]
    found: list[list[float | None]] = [[None] * len(columns) for _ in columns]
    for i, first in enumerate(columns):
        for j, second in enumerate(columns[: i + 1]):
            x, y, n_both = complete[i], complete[j], len(first)
            if x is None or y is None:
                both = ~(absent[i] | absent[j])
                x, y, n_both = _unit(first[both]), _unit(second[both]), int(both.sum())
            if n_both >= least and x.any() and y.any():
                found[i][j] = found[j][i] = float(x @ y)
    return found


def _unit(values: FloatArray) -> FloatArray:
    """Values less their mean, as a vector of length 1; zeros if they do not vary. Squares cannot overflow."""
    if not len(values) or (values == values[0]).all():
        return np.zeros(len(values))
    small = values / np.abs(values).max()
    near = small - small[0]  # exact for near-equal numbers, whose mean is not
    centred = near - near.mean()
    length = float(np.linalg.norm(centred))
    return centred / length if length > 0 else np.zeros(len(values))
