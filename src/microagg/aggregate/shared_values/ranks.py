"""Codes of a cell, dealt by the order of normal draws: each attribute keeps its codes, and pairs their correlation."""

from __future__ import annotations

import numpy as np

from microagg._typing import BoolArray, FloatArray, IntArray
from microagg.aggregate.centroid import Cells, running_shares
from microagg.aggregate.moments import cell_moments
from microagg.aggregate.sampling import Uniforms, draw_numbers
from microagg.aggregate.shared_values.intervals import MISSING
from microagg.aggregate.units import count_units, counted_word, units_per_code
from microagg.errors import GuaranteeError

__all__ = ["draw_codes", "pool_rare"]


def draw_codes(codes: IntArray, cells: Cells, uniforms: Uniforms) -> IntArray:
    """Draw as many records per cell as it has, each attribute with the cell's codes.

    Parameters
    ----------
    codes : ndarray of shape (n_records, n_attributes)
        Their order counts; :data:`MISSING` is missing.
    cells : Cells
    uniforms : callable
        The source of chance.

    Returns
    -------
    ndarray of shape (n_records, n_attributes)
        Draw j is for the cell of record j. Missing where any record of the cell lacks the attribute.

    Notes
    -----
    A code's normal score is the normal quantile of its middle place in the cell. Normal draws with the covariance of
    the cell's scores say which draw of each attribute is the smallest, the next, and so on; these get the cell's
    smallest code, the next, and so on. With sampling weights, codes are those at evenly spaced places of the weighted
    distribution, the first by chance.

    Examples
    --------
    >>> codes = np.array([[0, 2], [1, 1], [2, 0], [5, 5]])
    >>> drawn = draw_codes(codes, Cells(np.array([0, 0, 0, 1])), np.random.default_rng(0).random)
    >>> np.sort(drawn[:3], axis=0).tolist(), drawn[3].tolist()
    ([[0, 0], [1, 1], [2, 2]], [5, 5])
    """
    n_attributes = codes.shape[1]
    sorted_codes = np.empty_like(codes)
    scores = np.empty(codes.shape)
    for j in range(n_attributes):
        lacking = np.bincount(cells.labels, weights=codes[:, j] == MISSING) > 0
        by_code = np.lexsort((codes[:, j], cells.labels))
        running = running_shares(cells, by_code)
        sorted_codes[:, j] = codes[by_code[_places(cells, running, uniforms)], j]
        scores[by_code, j] = _normal_scores(codes[by_code, j], cells.labels[by_code], running)
        scores[lacking[cells.labels], j] = np.nan
        sorted_codes[lacking[cells.labels[cells.order]], j] = MISSING
    normal = draw_numbers(cell_moments(scores, cells), cells.labels, uniforms)
    drawn = np.empty_like(codes)
    for j in range(n_attributes):
        drawn[np.lexsort((normal[:, j], cells.labels)), j] = sorted_codes[:, j]
    return drawn


def _places(cells: Cells, running: FloatArray, uniforms: Uniforms) -> IntArray:
    """Which records, in order cell after cell, the draws of each cell take their codes from."""
    if cells.weights is None:
        return np.arange(len(running))
    label = cells.labels[cells.order]
    nth = np.arange(len(running)) - cells.starts[label]
    wanted = label + (nth + uniforms(len(cells.sizes))[label]) / cells.sizes[label]
    last = cells.starts + cells.sizes - 1
    found: IntArray = np.clip(np.searchsorted(running, wanted), cells.starts[label], last[label])
    return found


def _normal_scores(codes: IntArray, labels: IntArray, running: FloatArray) -> FloatArray:
    """Normal quantiles of the middle of each run of equal codes, in order cell after cell and code after code."""
    from scipy.special import ndtri

    begins = np.flatnonzero((np.diff(codes, prepend=codes[0] - 1) != 0) | (np.diff(labels, prepend=-1) != 0))
    lengths = np.diff(np.append(begins, len(codes)))
    ends = running[begins + lengths - 1] - labels[begins]
    starts = np.where(np.diff(labels[begins], prepend=-1) != 0, 0.0, np.concatenate([[0.0], ends[:-1]]))
    middles = np.clip((starts + ends) / 2, 1e-12, 1 - 1e-12)
    return np.asarray(np.repeat(ndtri(middles), lengths), dtype=np.float64)


def pool_rare(
    codes: IntArray,
    least: int,
    cells: Cells,
    *,
    name: str,
    ordered: bool,
    units: IntArray | None = None,
    filled_in: BoolArray | None = None,
) -> tuple[IntArray, int]:
    """Give records whose category fewer than `least` of all records have a more frequent one.

    Parameters
    ----------
    codes : ndarray of shape (n_records,)
        :data:`MISSING` is missing.
    least : int
    cells : Cells
    name : str
        Of the attribute, for what is said if nothing can be published.
    ordered : bool
        Whether to take the nearest frequent category, the lower of two. Otherwise it is the most frequent one of the
        cell, or of the table where the cell has none.
    units : ndarray of shape (n_records,), optional
        Whose each record is: `least` then counts units.
    filled_in : ndarray of bool, shape (n_records,), optional
        Records whose category is not their own: they do not count as having it.

    Returns
    -------
    codes : ndarray of shape (n_records,)
    n_pooled : int
        How many records got another; with `units`, of how many units they are.

    Raises
    ------
    GuaranteeError
        No category has `least` records, or units.

    Examples
    --------
    >>> pool_rare(np.array([0, 0, 1, 2, 2]), 2, Cells(np.array([0, 0, 0, 1, 1])), name="job", ordered=False)
    (array([0, 0, 0, 2, 2]), 1)
    """
    known = codes != MISSING
    counted = known if filled_in is None else known & ~filled_in
    counts = units_per_code(codes[counted], int(codes.max()) + 1, None if units is None else units[counted])
    frequent = np.flatnonzero(counts >= least)
    rare = known.copy()
    rare[known] = counts[codes[known]] < least
    if not rare.any():
        return codes, 0
    if not len(frequent):
        raise GuaranteeError(
            f"column {name!r} has no category that at least {least} {counted_word(units)} have, so none can be "
            "published. Nothing was written. Leave it out, or allow rare categories: [aggregate] rare = 1"
        )
    pooled = codes.copy()
    if ordered:
        above = np.clip(np.searchsorted(frequent, codes[rare]), 0, len(frequent) - 1)
        below = np.maximum(above - 1, 0)
        is_below = codes[rare] - frequent[below] <= frequent[above] - codes[rare]
        pooled[rare] = np.where((frequent[below] < codes[rare]) & is_below, frequent[below], frequent[above])
        pooled[rare & (codes > frequent[-1])] = frequent[-1]
        return pooled, count_units(units, rare)
    kept = known & ~rare
    pairs, of_pair = np.unique(np.column_stack([cells.labels[kept], codes[kept]]), axis=0, return_counts=True)
    most = np.full(len(cells.sizes), int(np.argmax(counts)))
    # The last of a cell after sorting by count, and of equal counts the smallest code.
    in_order = np.lexsort((-pairs[:, 1], of_pair, pairs[:, 0]))
    most[pairs[in_order, 0]] = pairs[in_order, 1]
    pooled[rare] = most[cells.labels[rare]]
    return pooled, count_units(units, rare)
