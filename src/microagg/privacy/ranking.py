"""Ranked runs of one attribute: their means with noise, and what may be done with these afterwards.

Everything after :func:`noisy_run_means` is post-processing: it sees noisy means, public sizes and public bounds, and
never a record again, so it costs nothing.
"""

from __future__ import annotations

import numpy as np

from microagg._typing import FloatArray, IntArray
from microagg.privacy.budget import Budget
from microagg.privacy.mechanism import Grid, add_laplace
from microagg.privacy.noise import Noise

__all__ = ["in_order", "noisy_run_means", "spread_steps"]


def noisy_run_means(
    values: FloatArray, sizes: IntArray, grid: Grid, *, budget: Budget, noise: Noise, on: str
) -> FloatArray:
    """Means of the runs of the sorted values, each with one draw of noise; spends all of `budget`.

    Parameters
    ----------
    values : ndarray of shape (n_records,)
    sizes : ndarray of shape (n_runs,)
        How many values each run takes, smallest values first. **A function of public numbers only**, such as
        :func:`microagg.partition.runs.run_sizes` of n and k.
    grid : Grid
        The public domain.
    budget, noise, on
        See :func:`microagg.privacy.mechanism.add_laplace`.

    Returns
    -------
    ndarray of shape (n_runs,)
        In the unit of `values`, neither clamped nor in order.

    Notes
    -----
    Sensitivity (the paper's Lemma 1, for runs of any sizes). Let x be sorted, and x' be x with one entry replaced,
    sorted again. The entries between the old and the new place move by one place, so ``sum_i |x_(i) - x'_(i)|``
    telescopes to the distance between the old and the new entry, which is at most the width of the domain: it is the
    cost of moving one unit of mass along the line. Borders of runs do not move, so the sums of the runs change by no
    more in all. Hence the vector of run sums has L1 sensitivity *width*, wherever the larger run stands; noise of
    scale width / epsilon on each sum is Laplace noise of scale width / (size epsilon) on each mean. If sizes depended
    on the data, borders would move and nothing of this would hold.

    References
    ----------
    .. [1] Sanchez, D., Domingo-Ferrer, J., Martinez, S. & Soria-Comas, J. (2016). Utility-preserving differentially
       private data releases via individual ranking microaggregation. Information Fusion 30, 1-14.
       doi:10.1016/j.inffus.2015.11.002

    Examples
    --------
    >>> from microagg.privacy.noise import SeededNoise
    >>> means = noisy_run_means(np.array([9.0, 1.0, 2.0, 8.0]), np.array([2, 2]), Grid(0.0, 10.0),
    ...     budget=Budget(1e6), noise=SeededNoise(0), on="x")
    >>> means.round(3)
    array([1.5, 8.5])
    """
    ordered = np.sort(grid.counts(values))
    sums = np.add.reduceat(ordered, np.cumsum(sizes) - sizes)
    step = grid.width / grid.steps / int(sizes.min())  # the ledger states the scale on the mean of a smallest run
    noisy = add_laplace(sums, grid.steps, budget=budget, noise=noise, on=on, step=step)
    return grid.values(noisy.astype(np.float64) / sizes)


def in_order(means: FloatArray, sizes: IntArray, grid: Grid) -> FloatArray:
    """The ascending means within the bounds that are nearest to noisy ones: weighted isotonic regression.

    The true means ascend, since runs are ranked. Noise on the mean of a run has a standard deviation of 1 / size, so
    each is weighted by size squared: the maximum-likelihood fit for normal noise of that spread.

    References
    ----------
    .. [1] Hay, M., Rastogi, V., Miklau, G. & Suciu, D. (2010). Boosting the accuracy of differentially private
    histograms
       through consistency. PVLDB 3(1), 1021-1032. doi:10.14778/1920841.1920970

    Examples
    --------
    >>> in_order(np.array([3.0, 1.0, 12.0]), np.array([2, 2, 2]), Grid(0.0, 10.0))
    array([ 2.,  2., 10.])
    """
    from sklearn.isotonic import isotonic_regression

    weights = np.square(sizes.astype(np.float64))
    fitted: FloatArray = isotonic_regression(means, sample_weight=weights, y_min=grid.low, y_max=grid.high)
    return fitted


def spread_steps(means: FloatArray, sizes: IntArray, *, by_rank: bool) -> FloatArray:
    """Spread the values of flat steps: straight lines between the middles of neighbouring steps.

    Isotonic regression answers noise with steps, many runs with one value, which a histogram shows as spikes. Inside a
    step nothing is known of the order but that neighbours lie below and above it.

    Parameters
    ----------
    means : ndarray of shape (n_runs,)
        Ascending.
    sizes : ndarray of shape (n_runs,)
    by_rank : bool
        True gives every rank a value of its own, shape (n_records,); False every run, shape (n_runs,). Where rows stay
        aligned with records only the second is post-processing: which rank a record has inside its run was not
        published.

    Examples
    --------
    >>> spread_steps(np.array([1.0, 4.0, 4.0, 4.0, 7.0]), np.full(5, 2), by_rank=False)
    array([1. , 2.5, 4. , 5.5, 7. ])
    """
    ends = np.cumsum(sizes).astype(np.float64)
    middles = ends - sizes / 2.0
    starts_step = np.concatenate([[True], means[1:] != means[:-1]])
    first = np.flatnonzero(starts_step)
    last = np.concatenate([first[1:], [len(means)]]) - 1
    step_middles = (ends[first] - sizes[first] + ends[last]) / 2.0
    at = np.arange(ends[-1]) + 0.5 if by_rank else middles
    return np.interp(at, step_middles, means[first])
