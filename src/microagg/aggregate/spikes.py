"""Spikes: a number that many records share, like no capital gain; draws keep how many have it, cell by cell."""

from __future__ import annotations

from dataclasses import dataclass

import numpy as np

from microagg._typing import BoolArray, FloatArray, IntArray
from microagg.aggregate.centroid import Cells, cell_means
from microagg.aggregate.sampling import Uniforms
from microagg.aggregate.units import count_units, counted_word, units_per_code
from microagg.errors import GuaranteeError

__all__ = ["Amounts", "Spike", "amounts_off", "draw_around", "find_spike"]


_SMALLEST_SHARE = 0.1  # of the records that have a spike's value


@dataclass(frozen=True)
class Spike:
    """The smallest or the largest number of an attribute, held by many records; all others lie on one side of it.

    Attributes
    ----------
    value : float
    side : {1.0, -1.0}
        1 where the other numbers are larger.
    """

    value: float
    side: float

    def amounts(self, values: FloatArray) -> FloatArray:
        """How far numbers are from the spike: 0 on it, positive off it; NaN is missing."""
        distances: FloatArray = self.side * (values - self.value)
        return distances


def find_spike(
    values: FloatArray, k: int, units: IntArray | None = None, filled_in: BoolArray | None = None
) -> Spike | None:
    """The smallest or largest number, if at least k records and a tenth have it, and at least k have others.

    If there are two, the one that more records have; NaN is missing. With `units`, which say whose each record is, all
    of this counts units. Records of `filled_in` count for nobody: their number is not their own.

    Examples
    --------
    >>> find_spike(np.array([0.0, 0.0, 0.0, 5.0, 9.0, 7.0]), k=3)
    Spike(value=0.0, side=1.0)
    >>> find_spike(np.array([0.0, 0.0, 0.0, 5.0, 9.0, 7.0]), k=4) is None
    True
    """
    is_known = _of_their_own(~np.isnan(values), filled_in)
    known = values[is_known]
    if not len(known):
        return None
    whose = None if units is None else units[is_known]
    ends = ((float(known.min()), 1.0), (float(known.max()), -1.0))
    counts = [count_units(whose, known == end) for end, _ in ends]
    best = int(np.argmax(counts))
    everyone = count_units(whose, np.ones(len(known), dtype=np.bool_))
    if counts[best] < max(k, _SMALLEST_SHARE * everyone) or count_units(whose, known != ends[best][0]) < k:
        return None
    return Spike(*ends[best])


@dataclass(frozen=True)
class Amounts:
    """Statistics of the numbers off a spike, of at least k records (or units) each.

    Attributes
    ----------
    pools : ndarray of shape (n_cells,)
        Whose statistics a cell uses; -1 if none of its records is off the spike.
    sizes : ndarray of shape (n_pools,)
        Records off the spike, over all cells of the pool.
    means, variations : ndarray of shape (n_pools,)
        Mean of their distances from the spike, and standard deviation as a share of it; weighted, of the population.
    """

    pools: IntArray
    sizes: IntArray
    means: FloatArray
    variations: FloatArray


def _of_their_own(marked: BoolArray, filled_in: BoolArray | None) -> BoolArray:
    return marked if filled_in is None else marked & ~filled_in


def amounts_off(
    amounts: FloatArray, cells: Cells, k: int, units: IntArray | None = None, filled_in: BoolArray | None = None
) -> Amounts:
    """Mean and variance of the positive amounts of each cell, or of several cells that have k of them together.

    A cell with k positive amounts speaks for itself. The others stand in the order of their mean amount over all of
    their records, and as many neighbours as are needed share one pool. Those left over join the last such pool; if
    there is none, they have no part in any and use the statistics of the cell with k whose mean is nearest. So do cells
    all of whose positive amounts were filled in.

    Parameters
    ----------
    amounts : ndarray of shape (n_records,)
        NaN is missing.
    cells : Cells
    k : int
    units : ndarray of shape (n_records,), optional
        Whose each record is: k then counts units that have a positive amount.
    filled_in : ndarray of bool, shape (n_records,), optional
        Records whose amount is not their own: they have no part in any statistic.

    Raises
    ------
    GuaranteeError
        Fewer than k amounts are positive.

    Examples
    --------
    >>> found = amounts_off(np.array([0.0, 4.0, 0.0, 6.0]), Cells(np.array([0, 0, 1, 1])), k=2)
    >>> found.pools, found.sizes, found.means, found.variations
    (array([0, 0]), array([2]), array([5.]), array([0.2]))
    """
    off = _of_their_own(amounts > 0, filled_in)
    whose = np.arange(len(amounts)) if units is None else units
    counts = units_per_code(cells.labels[off], len(cells.sizes), whose[off])
    cell_amounts = cell_means(np.nan_to_num(amounts), cells)
    pools = _pool(counts, cell_amounts, k, cells.labels[off], whose[off])
    n_off = count_units(units, off)
    off &= pools[cells.labels] >= 0
    pool = pools[cells.labels[off]]
    sizes = np.bincount(pool)
    if not len(sizes) or int(units_per_code(pool, len(sizes), whose[off]).min()) < k:
        raise GuaranteeError(f"amounts cannot be drawn from at least k = {k} {counted_word(units)}: {n_off} have one")
    heard = np.flatnonzero(pools >= 0)
    all_off = np.bincount(cells.labels[amounts > 0], minlength=len(cells.sizes))
    for cell in np.flatnonzero((all_off > 0) & (pools < 0)):  # fewer than k
        pools[cell] = pools[heard[np.argmin(np.abs(cell_amounts[heard] - cell_amounts[cell]))]]
    everyone = Cells(pool, None if cells.weights is None else cells.weights[off])
    means = cell_means(amounts[off], everyone)
    relative = amounts[off] / means[pool] - 1.0  # whose squares cannot overflow
    return Amounts(pools, sizes, means, np.sqrt(cell_means(relative**2, everyone)))


def _pool(counts: IntArray, means: FloatArray, k: int, labels: IntArray, units: IntArray) -> IntArray:
    """Pools of cells, so that each has records of k units or more; first of single cells, in their order.

    `labels` are the cells of the records that count, `units` whose these are, and `counts` how many units a cell has.

    -1 for cells with no count, and for those left over where no pool has several cells.
    """
    pools = np.full(len(counts), -1, dtype=np.int64)
    enough = np.flatnonzero(counts >= k)
    pools[enough] = np.arange(len(enough))
    few = np.flatnonzero((counts > 0) & (counts < k))
    few = few[np.argsort(means[few], kind="stable")]
    order = np.argsort(labels, kind="stable")
    ends = np.searchsorted(labels[order], few, side="right")
    begins = np.searchsorted(labels[order], few, side="left")
    last = len(enough)
    gathered: set[int] = set()
    for cell, begin, end in zip(few, begins, ends, strict=True):
        pools[cell] = last
        gathered.update(units[order[begin:end]].tolist())
        if len(gathered) >= k:
            last = last + 1
            gathered.clear()
    if gathered and last > len(enough):
        pools[pools == last] = last - 1
    elif gathered:
        pools[pools == last] = -1
    return pools


def draw_around(
    spike: Spike,
    values: FloatArray,
    drawn: FloatArray,
    cells: Cells,
    k: int,
    uniforms: Uniforms,
    step: float = 0.0,
    units: IntArray | None = None,
    filled_in: BoolArray | None = None,
) -> FloatArray:
    """Give draws of an attribute the spike that its cells have.

    Parameters
    ----------
    spike : Spike
    values : ndarray of shape (n_records,)
        The attribute as it is.
    drawn : ndarray of shape (n_records,)
        Draws of it from the moments of each cell: they decide which records of the cell are off the spike, and in which
        order their amounts stand, so that what ties the attribute to others is kept. NaN is missing.
    cells : Cells
    k : int
    uniforms : callable
        The source of chance.
    step : float
        The smallest amount; that of numbers that are rounded, so that none is rounded to the spike.
    units : ndarray of shape (n_records,), optional
        Whose each record is: k then counts units.
    filled_in : ndarray of bool, shape (n_records,), optional
        Records whose number is not their own: they are told as others are, and count for none.

    Returns
    -------
    ndarray of shape (n_records,)
        In each cell as many on the spike as among its records. With sampling weights it is their share, and chance
        decides about a fraction.

    Notes
    -----
    Amounts off the spike are log-normal with mean and variance as :func:`amounts_off` finds them: they never reach the
    spike.
    """
    from scipy.special import ndtri

    amounts = spike.amounts(values)
    found = amounts_off(amounts, cells, k, units, filled_in)
    n_off = _off_counts(amounts, cells, uniforms)
    # Cell after cell, the draws farthest from the spike first; missing ones last.
    order = np.lexsort((-spike.side * drawn, cells.labels))
    place = np.arange(len(order)) - cells.starts[cells.labels[order]]
    off = order[(place < n_off[cells.labels[order]]) & ~np.isnan(drawn[order])]
    pool = found.pools[cells.labels[off]]
    spread = np.log1p(found.variations**2)
    # Exactly the mean where nothing spreads.
    chosen = found.means[pool] * np.exp(np.sqrt(spread)[pool] * ndtri(uniforms(len(off))) - 0.5 * spread[pool])
    chosen = chosen[np.lexsort((-chosen, cells.labels[off]))]
    result = np.where(np.isnan(drawn), np.nan, spike.value)
    result[off] += spike.side * np.maximum(chosen, step)
    return result


def _off_counts(amounts: FloatArray, cells: Cells, uniforms: Uniforms) -> IntArray:
    """How many draws of each cell are off the spike."""
    off = (amounts > 0).astype(np.float64)
    if cells.weights is None:
        return np.bincount(cells.labels, weights=off).astype(np.int64)
    expected = cell_means(off, cells) * cells.sizes
    whole = np.floor(expected + 1e-9)
    counts: IntArray = (whole + (uniforms(len(whole)) < expected - whole)).astype(np.int64)
    return counts
