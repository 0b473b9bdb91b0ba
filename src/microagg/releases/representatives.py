"""Let the cells of a block speak: one representative per cell and attribute, as arrays of the columns' own types."""

from __future__ import annotations

from collections.abc import Sequence
from typing import TYPE_CHECKING

import numpy as np
import numpy.typing as npt

from microagg._scaling import exponent_near_one, times_power_of_two
from microagg._typing import BoolArray, FloatArray, IntArray
from microagg.aggregate.centroid import (
    Cells,
    cell_means,
    cell_medians,
    cell_medoids,
    cell_modes,
    cell_taxonomic_centres,
    nearest_of_cells,
    round_to_resolution,
)
from microagg.aggregate.content import Content
from microagg.aggregate.moments import Moments, cell_moments, cell_third_moments
from microagg.aggregate.pairing import odds_of_a_model, pair_draws
from microagg.aggregate.repair import feasible_skewness
from microagg.aggregate.sampling import (
    Uniforms,
    draw_categories,
    draw_numbers,
    draw_skew_normal,
    skew_normal,
    skew_normals_alone,
)
from microagg.aggregate.spikes import Spike, draw_around, find_spike
from microagg.recipe.recipe import Recipe
from microagg.schema.attribute import Kind, Representative
from microagg.schema.encode import EncodedColumn
from microagg.space.points import Points, distances_to_centroids

if TYPE_CHECKING:
    import pyarrow as pa

__all__ = [
    "filled_in",
    "published_columns",
    "representatives_of",
    "round_draws",
    "round_values",
    "sampled_columns",
    "spikes_of",
]


_LARGEST = 1e300
_LARGEST_INTEGER = 2.0**61


def published_columns(
    measured: Sequence[EncodedColumn], cells: Cells, points: Points, recipe: Recipe
) -> dict[str, pa.Array]:
    """What each record's cell publishes, column by column."""
    medoids: npt.NDArray[np.int64] | None = None
    arrays = {}
    for column in measured:
        choice = recipe.representative_of(column.name)
        if choice is Representative.MEDOID:
            medoids = _medoids(points, cells) if medoids is None else medoids
            lacking = np.bincount(cells.labels, weights=column.missing) > 0
            values = np.where(lacking, np.nan, column.values[medoids])
            values = round_values(column, values) if column.kind is Kind.NUMERIC else values
        else:
            values = representatives_of(column, choice, cells)
        arrays[column.name] = column.publish(values[cells.labels])
    return arrays


def _medoids(points: Points, cells: Cells) -> npt.NDArray[np.int64]:
    """The record of each cell nearest to the cell's centroid."""
    if not points.nominal:
        return cell_medoids(points.values, cells)
    return nearest_of_cells(distances_to_centroids(points, cells.labels, len(cells.sizes), cells.record_weights), cells)


def sampled_columns(
    measured: Sequence[EncodedColumn],
    cells: Cells,
    uniforms: Uniforms,
    k: int,
    paired: Sequence[EncodedColumn] = (),
    *,
    n_moments: int = 1,
    content: Content = Content.PURE,
    units: IntArray | None = None,
) -> dict[str, pa.Array]:
    """Records drawn from the statistics of their cell, column by column.

    Numbers come from the cell's mean and covariance (with two moments, also from its marginal coskewness), within
    declared bounds and rounded to the resolution; categories, ordered or not, from the cell's counts of each attribute
    alone. Where an attribute has a spike, as many of a cell's draws are on it as of its records; how far the others are
    off comes from mean and variance of at least k records that are. Which draw of a cell stands beside which of its
    records is chance; with `paired` attributes, chance with the odds of models that have at least k records in a leaf.
    With `units`, which say whose each record is, k counts these.
    """
    drawn = _draws(measured, cells, uniforms, k, n_moments, content, units)
    if paired:
        dealt = _dealt(measured, drawn, cells, uniforms, k, paired, units)
        drawn = {name: values[dealt] for name, values in drawn.items()}
    return {column.name: column.publish(drawn[column.name]) for column in measured}


def spikes_of(measured: Sequence[EncodedColumn], k: int, units: IntArray | None = None) -> dict[str, Spike]:
    """The numeric attributes that have a spike, each with it."""
    numeric = (column for column in measured if column.kind is Kind.NUMERIC)
    found = {column.name: find_spike(column.values, k, units, filled_in(column)) for column in numeric}
    return {name: spike for name, spike in found.items() if spike is not None}


def filled_in(column: EncodedColumn) -> BoolArray:
    """Which records have a value that was imputed: it is told, but nobody had it."""
    return column.column.missing & ~column.missing


def _draws(
    measured: Sequence[EncodedColumn],
    cells: Cells,
    uniforms: Uniforms,
    k: int,
    n_moments: int,
    content: Content,
    units: IntArray | None,
) -> dict[str, FloatArray]:
    numeric = [column for column in measured if column.kind is Kind.NUMERIC]
    spikes = spikes_of(numeric, k, units)
    draws = {}
    if numeric:
        values = np.column_stack([column.values for column in numeric])
        drawn = _drawn_numbers(values, cells, uniforms, n_moments, content)
        draws = {column.name: np.ascontiguousarray(drawn[:, j]) for j, column in enumerate(numeric)}
    for column in measured:
        if column.kind is not Kind.NUMERIC:
            draws[column.name] = draw_categories(column.values, cells, uniforms)
    # Last, so that a spike changes the draws of its own attribute only.
    for column in numeric:
        numbers = draws[column.name]
        if column.name in spikes:
            step = column.resolution or 0.0
            numbers = draw_around(
                spikes[column.name], column.values, numbers, cells, k, uniforms, step, units, filled_in(column)
            )
        draws[column.name] = round_draws(column, numbers)
    return draws


def round_draws(column: EncodedColumn, numbers: FloatArray) -> FloatArray:
    """Drawn numbers as they are published, and small enough for the column's type."""
    # Integers and dates are counted in 64 bits; others must be numbers that can be measured again.
    most = _LARGEST if column.column.integers is None else _LARGEST_INTEGER
    return round_values(column, np.clip(numbers, -most, most))


def _dealt(
    measured: Sequence[EncodedColumn],
    drawn: dict[str, FloatArray],
    cells: Cells,
    uniforms: Uniforms,
    k: int,
    paired: Sequence[EncodedColumn],
    units: IntArray | None,
) -> npt.NDArray[np.int64]:
    """Which draw each record gets, by models of the paired attributes; several are taken as independent given x."""
    X = np.column_stack([column.values for column in measured])
    X_drawn = np.column_stack([drawn[column.name] for column in measured])
    categories = [len(column.labels) if column.kind is Kind.NOMINAL else 0 for column in measured]
    odds = [
        odds_of_a_model(
            X, one.values, X_drawn, k, classes=one.kind is Kind.NOMINAL, n_categories=categories, units=units
        )
        for one in paired
    ]
    wanted, offered = (np.hstack(side) for side in zip(*odds, strict=True))
    return pair_draws(wanted, offered, cells, uniforms)


def _drawn_numbers(
    values: FloatArray, cells: Cells, uniforms: Uniforms, n_moments: int, content: Content
) -> FloatArray:
    """Draws from the moments of each cell: normal of one central moment, skew-normal of two."""
    # Moments of a column times a power of two are exact; of one that is huge or tiny they would overflow or vanish.
    scales = np.array([exponent_near_one([column]) for column in values.T])
    if scales.any():
        drawn = _drawn_numbers(times_power_of_two(values, scales), cells, uniforms, n_moments, content)
        return times_power_of_two(drawn, -scales)
    moments = cell_moments(values, cells)
    alone = content is Content.VARIANCES
    covariances = moments.covariances * np.eye(values.shape[1]) if alone else moments.covariances
    if n_moments == 1:
        return draw_numbers(Moments(moments.means, covariances), cells.labels, uniforms)
    variances = np.einsum("cii->ci", covariances).copy()
    skewness = feasible_skewness(cell_third_moments(values, moments.means, cells), variances)
    if alone:
        return draw_skew_normal(skew_normals_alone(moments.means, variances, skewness), cells.labels, uniforms)
    return draw_skew_normal(skew_normal(moments.means, covariances, skewness), cells.labels, uniforms)


def representatives_of(
    column: EncodedColumn, choice: Representative, cells: Cells, observed: FloatArray | None = None
) -> FloatArray:
    """What each cell publishes of one attribute, as numbers or codes; medoids are found elsewhere.

    Parameters
    ----------
    column : EncodedColumn
    choice : Representative
    cells : Cells
    observed : ndarray, optional
        Ranks that records of the whole table have, where `column` holds some of them only.
    """
    if column.kind is Kind.NUMERIC:
        central = cell_means if choice is Representative.MEAN else cell_medians
        return round_values(column, central(column.values, cells))
    if column.kind is Kind.ORDINAL:
        if choice is Representative.MEDIAN:
            return cell_medians(column.values, cells, lower=True)
        return _nearest_observed(cell_means(column.values, cells), column.values if observed is None else observed)
    if choice is Representative.TAXONOMIC:
        assert column.attribute.taxonomy is not None
        distances = column.attribute.taxonomy.distances(column.labels)
        unseen = np.ones(len(column.labels), dtype=bool)
        unseen[column.values[~column.missing].astype(np.int64)] = False
        distances[:, unseen] = np.inf
        return cell_taxonomic_centres(column.values, distances, cells)
    return cell_modes(column.values, cells)


def round_values(column: EncodedColumn, values: FloatArray) -> FloatArray:
    """Numbers as they are published: multiples of the resolution, within the bounds."""
    resolution = column.resolution
    if resolution is None:
        result = values
    else:
        # Multiples are counted from zero, not from where this column's numbers happen to be counted from: steps
        # from the smallest value would tell that value.
        origin = column.column.origin
        offset = float(origin % int(resolution) if resolution.is_integer() else origin % resolution)
        result = round_to_resolution(values + offset, resolution) - offset
    if column.bounds is None:
        return result
    low, high = column.bounds
    return np.clip(result, np.ceil(low), np.floor(high)) if column.column.is_integer else np.clip(result, low, high)


def _nearest_observed(ranks: FloatArray, observed: FloatArray) -> FloatArray:
    """Move mean ranks to the nearest rank that some record has; the lower of two."""
    grid = np.unique(observed[~np.isnan(observed)])
    if len(grid) < 2:
        return ranks
    above = np.clip(np.searchsorted(grid, ranks), 1, len(grid) - 1)
    below = above - 1
    nearest = np.where(ranks - grid[below] <= grid[above] - ranks, grid[below], grid[above])
    return np.where(np.isnan(ranks), np.nan, nearest)
