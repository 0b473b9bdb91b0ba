"""How ordered attributes go together: a correlation for each pair, from counts of records on the same side of two cuts.

The cuts are near the medians that the private marginals tell. How many records lie on the same side of both is one
count for each pair; one record changes each count by at most 1, so all of them share one draw of the L-infinity
mechanism. Everything after that draw is post-processing.
"""

from __future__ import annotations

import itertools
import math
from collections.abc import Sequence

import numpy as np
from scipy.special import ndtri

from microagg._typing import FloatArray
from microagg.privacy.budget import Budget
from microagg.privacy.mechanism import add_max_norm
from microagg.privacy.noise import Noise
from microagg.private.strict.marginals import Marginal
from microagg.private.strict.records import Records

__all__ = ["both_above", "correlations_from", "measure_same_sides", "nearest_correlation"]

_GRID = np.linspace(-0.99, 0.99, 133)
_WITHIN = (0.02, 0.98)  # a cut with less on one side tells nothing of a correlation
_FEW = 8  # attributes, up to which noise is not larger than what averaging over the spectrum would lose


def measure_same_sides(
    records: Records,
    attributes: Sequence[int],
    marginals: Sequence[Marginal],
    n_records: int,
    *,
    budget: Budget,
    noise: Noise,
) -> FloatArray:
    """Correlations of the Gaussian copula of some attributes; spends all of `budget`."""
    chosen = [marginals[one] for one in attributes]
    cuts = [_cut_near_median(one) for one in chosen]
    counts = records.count_same_sides(attributes, [int(one.edges[cut]) for one, cut in zip(chosen, cuts, strict=True)])
    # A record is counted or not in each pair: no count moves by more than 1.
    noisy = add_max_norm(counts, 1, budget=budget, noise=noise, on="counts of records on the same side of two cuts")
    above = [float(one.mass[cut:].sum()) for one, cut in zip(chosen, cuts, strict=True)]
    return correlations_from(noisy / n_records, above, _deviation(len(counts), budget.epsilon) / n_records)


def correlations_from(same_side: FloatArray, above: Sequence[float], deviation: float) -> FloatArray:
    """Correlations from shares of records on the same side of two cuts, with noise of a known deviation.

    Parameters
    ----------
    same_side : ndarray of shape (n_pairs,)
    above : sequence of float
        For each attribute the share of records above its cut.
    deviation : float
        Standard deviation of the noise in `same_side`.
    """
    size = len(above)
    pairs = list(itertools.combinations(range(size), 2))
    signs = 2.0 * same_side - 1.0  # the mean product of +-1 for above and below
    if size > _FEW:
        centre = np.array([2.0 * share - 1.0 for share in above])
        expected = np.array([centre[a] * centre[b] for a, b in pairs])
        signs = _shrink_spectrum(signs - expected, size, 2.0 * deviation) + expected
    result = np.eye(size)
    for (a, b), sign in zip(pairs, signs, strict=True):
        if all(_WITHIN[0] < above[one] < _WITHIN[1] for one in (a, b)):
            wanted = (sign - 1.0 + 2.0 * above[a] + 2.0 * above[b]) / 4.0
            result[a, b] = result[b, a] = np.interp(wanted, both_above(above[a], above[b]), _GRID)
    return nearest_correlation(result)


def both_above(share: float, other: float) -> FloatArray:
    """The share of a Gaussian copula above two cuts, for each correlation of the grid; it increases.

    From Plackett's identity: its derivative by the correlation is the density at the two cuts.
    """
    h, k = -ndtri(share), -ndtri(other)
    fine = np.linspace(0.0, 1.0, 9)
    steps = np.diff(_GRID)
    at = _GRID[:-1, None] + steps[:, None] * fine[None, :]
    root = 1.0 - at**2
    density = np.exp(-(h * h - 2.0 * at * h * k + k * k) / (2.0 * root)) / (2.0 * math.pi * np.sqrt(root))
    weights = np.array([1, 4, 2, 4, 2, 4, 2, 4, 1]) / 24.0
    rises = np.concatenate([[0.0], np.cumsum((density * weights).sum(axis=1) * steps)])
    middle = len(_GRID) // 2  # correlation 0
    return np.asarray(rises - rises[middle] + share * other, dtype=np.float64)


def nearest_correlation(matrix: FloatArray, least: float = 1e-3) -> FloatArray:
    """A correlation matrix near one that need not be one: eigenvalues raised, then scaled to ones on the diagonal."""
    for _ in range(50):
        values, vectors = np.linalg.eigh(matrix)
        matrix = (vectors * np.maximum(values, least)) @ vectors.T
        spread = np.sqrt(np.diag(matrix))
        matrix = matrix / np.outer(spread, spread)
        if values.min() >= least / 2:
            break
    return matrix


def _cut_near_median(marginal: Marginal) -> int:
    """The leaf that begins the upper half, as nearly as leaves allow; 0, so that nothing is below, of a single leaf."""
    if marginal.n_leaves < 2:
        return 0
    below = np.cumsum(marginal.mass)[:-1]
    return int(np.argmin(np.abs(below - 0.5))) + 1


def _deviation(dimension: int, epsilon: float) -> float:
    """Standard deviation of one coordinate of the L-infinity mechanism's noise, for continuous noise."""
    return math.sqrt((dimension + 1) * (dimension + 2) / 3.0) / epsilon


def _shrink_spectrum(values: FloatArray, size: int, deviation: float) -> FloatArray:
    """Shrink the eigenvalues of a symmetric matrix with noise off its diagonal: best for the sum of squares."""
    places = np.triu_indices(size, 1)
    matrix = np.zeros((size, size))
    matrix[places] = values
    matrix += matrix.T
    eigenvalues, vectors = np.linalg.eigh(matrix)
    edge = 2.0 * deviation * math.sqrt(size)
    kept = np.sign(eigenvalues) * np.sqrt(np.maximum(eigenvalues**2 - edge**2, 0.0))
    shrunk: FloatArray = ((vectors * kept) @ vectors.T)[places]
    return shrunk
