"""Records from the model: rows of the pool by weight, then a value inside each group. Post-processing only."""

from __future__ import annotations

import numpy as np

from microagg._typing import FloatArray, IntArray
from microagg.private.strict.allocate import allocate
from microagg.private.strict.densities import draw_points, slopes_of
from microagg.private.strict.model import Model

__all__ = ["draw_records"]


def draw_records(model: Model, n_records: int, rng: np.random.Generator) -> list[IntArray]:
    """For each attribute, the points of `n_records` rows.

    Rows are drawn systematically: each is taken as often as its weight says, rounded down or up. Inside a group, values
    of an ordered attribute follow the order that the copula gave the rows.
    """
    ends = np.cumsum(model.weights)
    marks = (rng.random() + np.arange(n_records)) / n_records * ends[-1]
    rows = rng.permutation(np.minimum(np.searchsorted(ends, marks), len(ends) - 1))
    return [_points_of(model, j, rows, rng) for j in range(len(model.marginals))]


def _points_of(model: Model, attribute: int, rows: IntArray, rng: np.random.Generator) -> IntArray:
    marginal, groups = model.marginals[attribute], model.groups[attribute]
    slopes = slopes_of(marginal)
    widths = np.diff(marginal.edges).astype(np.float64)
    group_of_row, rank_of_row = model.pool[rows, attribute], model.ranks[rows, attribute]
    # Rows of the pool that were drawn several times are in no order.
    order = np.lexsort((rng.random(len(rows)), rank_of_row, group_of_row))
    counts = np.bincount(group_of_row, minlength=len(model.masses[attribute]))
    leaves = [_leaves_of_group(marginal.mass, widths, groups, g, count, rng) for g, count in enumerate(counts)]
    drawn = draw_points(marginal, slopes, np.concatenate(leaves), rng.random(len(rows)))
    starts = np.cumsum(counts) - counts
    points = np.empty(len(rows), dtype=np.int64)
    if marginal.scale.ordered:
        # Groups of ordered attributes are runs of leaves: sorting all at once sorts inside each.
        points[order] = np.sort(drawn)
    else:
        for start, count in zip(starts, counts, strict=True):
            points[order[start : start + count]] = rng.permutation(drawn[start : start + count])
    return points


def _leaves_of_group(
    masses: FloatArray, widths: FloatArray, groups: IntArray, group: int, count: int, rng: np.random.Generator
) -> IntArray:
    """A leaf for each of the rows in a group, by mass; by width where none of it has any."""
    leaves = np.flatnonzero(groups == group)
    shares = masses[leaves]
    return np.repeat(leaves, allocate(shares if shares.sum() > 0 else widths[leaves], int(count), rng))
