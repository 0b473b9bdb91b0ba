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

    Rows are drawn systematically: each is taken as often as its weight says, rounded down or up, and along the nominal
    groups, so that chance adds little to how often these occur. Values of an ordered attribute are drawn for all rows
    together, as its marginal says, and handed out in the order that groups and copula gave the rows: chance adds
    nothing to its marginal.
    """
    nominal = [j for j in range(len(model.marginals)) if not model.is_ordered(j)]
    keys = [rng.random(len(model.pool)), *(model.pool[:, j] for j in reversed(nominal))]
    along = np.lexsort(keys)
    ends = np.cumsum(model.weights[along])
    marks = (rng.random() + np.arange(n_records)) / n_records * ends[-1]
    rows = rng.permutation(along[np.minimum(np.searchsorted(ends, marks), len(ends) - 1)])
    return [
        _ordered_points(model, j, rows, rng) if model.is_ordered(j) else _nominal_points(model, j, rows, rng)
        for j in range(len(model.marginals))
    ]


def _ordered_points(model: Model, attribute: int, rows: IntArray, rng: np.random.Generator) -> IntArray:
    marginal = model.marginals[attribute]
    leaves = np.repeat(np.arange(marginal.n_leaves), allocate(marginal.mass, len(rows), rng))
    drawn = draw_points(marginal, slopes_of(marginal), leaves, rng.random(len(rows)))
    # Rows of the pool that were drawn several times are in no order.
    order = np.lexsort((rng.random(len(rows)), model.ranks[rows, attribute], model.pool[rows, attribute]))
    points = np.empty(len(rows), dtype=np.int64)
    points[order] = np.sort(drawn)
    return points


def _nominal_points(model: Model, attribute: int, rows: IntArray, rng: np.random.Generator) -> IntArray:
    marginal, groups = model.marginals[attribute], model.groups[attribute]
    group_of_row = model.pool[rows, attribute]
    points = np.empty(len(rows), dtype=np.int64)
    for group in range(len(model.masses[attribute])):
        there = np.flatnonzero(group_of_row == group)
        points[there] = rng.permutation(_leaves_of_group(marginal.mass, groups, group, len(there), rng))
    return points


def _leaves_of_group(
    masses: FloatArray, groups: IntArray, group: int, count: int, rng: np.random.Generator
) -> IntArray:
    """A category for each of the rows in a group, by mass; any of them where none has any."""
    leaves = np.flatnonzero(groups == group)
    shares = masses[leaves]
    return np.repeat(leaves, allocate(shares if shares.sum() > 0 else np.ones(len(leaves)), count, rng))
