"""Two-way tables of groups of leaves: how leaves are grouped, and what a noisy table says when noise is taken out."""

from __future__ import annotations

import math

import numpy as np
from scipy.fft import dctn, idctn

from microagg._typing import FloatArray, IntArray
from microagg.private.strict.marginals import Marginal

__all__ = ["fit_margins", "group_leaves", "masses_of_groups", "n_groups_for", "without_noise"]

_RECORDS_PER_NOISE = 3.0  # a cell of an even table should hold so many scales of its noise
_MOST_GROUPS = 16
_FEWEST_CATEGORIES = 6
_STANDS_OUT = 2.25  # deviations of the noise
_LEAST = 1e-7


def n_groups_for(n_records: int, epsilon: float) -> int:
    """How many groups each side of a table gets, from public numbers."""
    wanted = math.sqrt(n_records * epsilon / (2.0 * _RECORDS_PER_NOISE))
    return int(min(max(math.floor(wanted), 2), _MOST_GROUPS))


def group_leaves(marginal: Marginal, n_groups: int) -> IntArray:
    """The group of each leaf: neighbours of near-equal mass; of categories, the largest alone and a rest."""
    if not marginal.scale.ordered:
        n_groups = max(n_groups, _FEWEST_CATEGORIES)
        if marginal.n_leaves <= n_groups:
            return np.arange(marginal.n_leaves)
        groups = np.full(marginal.n_leaves, n_groups - 1)
        largest = np.argsort(-marginal.mass, kind="stable")[: n_groups - 1]
        groups[largest] = np.arange(n_groups - 1)
        return groups
    middles = np.cumsum(marginal.mass) - marginal.mass / 2
    groups = np.minimum((middles * n_groups).astype(np.int64), n_groups - 1)
    return np.unique(groups, return_inverse=True)[1].astype(np.int64)


def masses_of_groups(marginal: Marginal, groups: IntArray) -> FloatArray:
    masses = np.maximum(np.bincount(groups, marginal.mass), _LEAST)
    return np.asarray(masses / masses.sum(), dtype=np.float64)


def without_noise(
    noisy: FloatArray, model: FloatArray, deviation: float, ordered: tuple[bool, bool], margins: tuple[FloatArray, ...]
) -> FloatArray:
    """A table with given margins: the model's own, changed where the noisy one stands out of its noise.

    Along ordered attributes differences are smooth: there cosine coefficients are compared with the noise instead of
    cells.
    """
    axes = [axis for axis in (0, 1) if ordered[axis]]
    difference = noisy - model
    if axes:
        difference = dctn(difference, axes=axes, norm="ortho")
    difference = np.where(np.abs(difference) > _STANDS_OUT * deviation, difference, 0.0)
    if axes:
        difference = idctn(difference, axes=axes, norm="ortho")
    return fit_margins(np.maximum(model + difference, 0.0), margins[0], margins[1])


def fit_margins(table: FloatArray, rows: FloatArray, columns: FloatArray) -> FloatArray:
    """The table of these margins that keeps the odds ratios: iterative proportional fitting."""
    table = np.maximum(table, 1e-9 * table.max() + 1e-12)
    for _ in range(30):
        table = table * (rows / table.sum(axis=1))[:, None]
        table = table * (columns / table.sum(axis=0))
    return table
