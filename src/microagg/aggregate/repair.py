"""Put noisy moments back among those that records can have: batched over cells, and free under differential privacy.

Repair looks at published numbers only, never at records: it is post-processing.
"""

from __future__ import annotations

import math
from collections.abc import Sequence

import numpy as np

from microagg._typing import FloatArray, IntArray
from microagg.errors import ParameterError

__all__ = [
    "MOST_SKEWNESS",
    "feasible_skewness",
    "nearest_psd",
    "nearest_psd_with_diagonal",
    "truncate_coskewness",
    "truncate_means",
    "truncate_variances",
]


MOST_SKEWNESS = math.sqrt(2.0 / math.pi) * (4.0 / math.pi - 1.0) * (1.0 - 2.0 / math.pi) ** -1.5
"""Skewness of the half-normal distribution, 0.9953: a skew-normal one stays below it."""

_LARGEST_BLOCK = 4_000_000  # numbers that Newton's method holds at once


def truncate_means(means: FloatArray, widths: FloatArray) -> FloatArray:
    """Move means into [0, width] of each attribute."""
    return np.clip(means, 0.0, widths)


def truncate_variances(
    variances: FloatArray, widths: FloatArray, sizes: IntArray, means: FloatArray | None = None
) -> FloatArray:
    """Move variances into what k values in [0, width] can have: at most ``k / (k - 1) * width^2 / 4``.

    With `means`, into what values with that mean can have: at most ``k / (k - 1) * mean * (width - mean)`` (Bhatia and
    Davis). Where means lie near a bound, as those of skewed attributes do, this takes off much of the noise.

    The printed bound, ``width^2 / 4``, is that of the population variance (Popoviciu); the unbiased one reaches
    ``k / (k - 1)`` times as much, so that truncating at it would bias small cells.

    Examples
    --------
    >>> truncate_variances(np.array([[-0.1], [0.7]]), np.array([1.0]), np.array([10, 2]))
    array([[0. ],
           [0.5]])
    """
    reached = np.square(widths) / 4.0 if means is None else means * (widths - means)
    return np.clip(variances, 0.0, (sizes / (sizes - 1.0))[:, None] * reached)


def truncate_coskewness(
    coskewness: FloatArray,
    triples: Sequence[tuple[int, int, int]],
    variances: FloatArray,
    widths: FloatArray,
    sizes: IntArray,
) -> FloatArray:
    """Move elements of the coskewness into what values in the box with these variances can have.

    With v the population variances, ``|phi_ijl| <= k^2 / ((k - 1)(k - 2)) (w_i v_i w_j v_j w_l v_l)^(1/3)``: Hoelder's
    inequality, and no value is further than the width w from its mean. Where nothing varies it is 0.

    Examples
    --------
    >>> truncate_coskewness(np.array([[9.0]]), [(0, 0, 0)], np.array([[0.0]]), np.ones(1), np.array([5]))
    array([[0.]])
    """
    k = sizes[:, None].astype(np.float64)
    each = np.cbrt(widths * variances * (k - 1.0) / k)
    most = np.stack([each[:, i] * each[:, j] * each[:, last] for i, j, last in triples], axis=1)
    most *= k**2 / ((k - 1.0) * (k - 2.0))
    return np.clip(coskewness, -most, most)


def feasible_skewness(third: FloatArray, variances: FloatArray, *, most: float = 0.995) -> FloatArray:
    """Standardise third central moments, within what a skew-normal distribution can have; 0 where nothing varies.

    Parameters
    ----------
    third, variances : ndarray of the same shape
    most : float, default 0.995
        Just below :data:`MOST_SKEWNESS`.

    Examples
    --------
    >>> feasible_skewness(np.array([0.1, -9.0, 1.0]), np.array([1.0, 1.0, 0.0]))
    array([ 0.1  , -0.995,  0.   ])
    """
    if not 0.0 < most < MOST_SKEWNESS:
        raise ParameterError(f"most must be above 0 and below {MOST_SKEWNESS:.5f}. Got {most} instead")
    scale = np.sqrt(variances) ** 3
    varies = scale > 0.0
    # A variance near zero beside a noisy third moment would overflow before it is clipped.
    limited = np.clip(third, -most * scale, most * scale)
    return np.asarray(np.divide(limited, scale, out=np.zeros_like(limited), where=varies))


def nearest_psd(matrices: FloatArray) -> FloatArray:
    """The positive semidefinite matrix nearest to each symmetric one in the Frobenius norm: eigenvalues clipped at 0.

    Parameters
    ----------
    matrices : ndarray of shape (..., d, d)

    Examples
    --------
    >>> nearest_psd(np.array([[1.0, 0.0], [0.0, -2.0]]))
    array([[1., 0.],
           [0., 0.]])
    """
    values, vectors = np.linalg.eigh(matrices)
    clipped = np.einsum("...ij,...j,...lj->...il", vectors, np.clip(values, 0.0, None), vectors, optimize=True)
    return np.asarray(0.5 * (clipped + np.swapaxes(clipped, -1, -2)))


def nearest_psd_with_diagonal(
    matrices: FloatArray, diagonals: FloatArray, *, tolerance: float = 1e-9, most_steps: int = 60
) -> FloatArray:
    """The positive semidefinite matrix with a given diagonal nearest to each symmetric matrix, in the Frobenius norm.

    Parameters
    ----------
    matrices : ndarray of shape (n_cells, d, d)
    diagonals : ndarray of shape (n_cells, d)
        At least 0. Where it is 0, so are its row and column.
    tolerance : float
        How far the diagonal may be off when a cell has settled, relative to its largest variance.
    most_steps : int
        A cell that has not settled by then keeps its last iterate, made feasible.

    Notes
    -----
    Newton's method on the dual problem [1]_, for all cells at once; cells that have settled leave the loop. The
    iterate is positive semidefinite and its diagonal nearly right; scaling rows and columns makes it exact and keeps
    it positive semidefinite. O(d^4) per cell and step; memory is bounded by doing so many cells at a time.

    References
    ----------
    .. [1] Qi, H. & Sun, D. (2006). A quadratically convergent Newton method for computing the nearest correlation
       matrix. SIAM Journal on Matrix Analysis and Applications 28(2), 360-385. doi:10.1137/050624509

    Examples
    --------
    >>> nearest_psd_with_diagonal(np.array([[[9.0, 5.0], [5.0, 9.0]]]), np.array([[1.0, 4.0]])).round(9)
    array([[[1., 2.],
            [2., 4.]]])
    """
    if (diagonals < 0.0).any():
        raise ParameterError("variances must be at least 0: truncate them first")
    d = diagonals.shape[1]
    if d == 1:
        return diagonals[:, :, None].copy()
    varies = diagonals > 0.0
    result = np.where(varies[:, :, None] & varies[:, None, :], 0.5 * (matrices + np.swapaxes(matrices, 1, 2)), 0.0)
    places = np.arange(d)
    result[:, places, places] = diagonals
    infeasible = np.flatnonzero(np.linalg.eigvalsh(result)[:, 0] < 0.0)
    for start in range(0, len(infeasible), step := max(_LARGEST_BLOCK // d**3, 1)):
        active = infeasible[start : start + step]
        scale = diagonals[active].max(axis=1)
        # An attribute that does not vary takes no part: a 1 of its own keeps Newton's equations regular.
        wanted = np.where(varies[active], diagonals[active] / scale[:, None], 1.0)
        given = result[active] / scale[:, None, None]
        given[:, places, places] = wanted
        settled = _dual_newton(given, wanted, tolerance, most_steps) * scale[:, None, None]
        result[active] = _with_diagonal(settled, diagonals[active])
    return result


def _dual_newton(given: FloatArray, wanted: FloatArray, tolerance: float, most_steps: int) -> FloatArray:
    """Positive parts of ``given + diag(y)``, with y such that their diagonals are `wanted`."""
    result = np.empty_like(given)
    active = np.arange(len(given))
    y = np.zeros_like(wanted)
    values, vectors = np.linalg.eigh(given)
    height = _dual(values, y, wanted)
    for _ in range(most_steps):
        positive = np.clip(values, 0.0, None)
        gradient = np.einsum("cij,cj,cij->ci", vectors, positive, vectors, optimize=True) - wanted[active]
        off = np.abs(gradient).max(axis=1)
        done = off <= tolerance
        result[active] = np.einsum("cij,cj,clj->cil", vectors, positive, vectors, optimize=True)
        keep = ~done
        if not keep.any():
            break
        active, y, values, vectors = active[keep], y[keep], values[keep], vectors[keep]
        gradient, height, off = gradient[keep], height[keep], off[keep]
        step = -np.linalg.solve(_dual_hessian(values, vectors, off), gradient[:, :, None])[:, :, 0]
        slope = np.einsum("ci,ci->c", gradient, step)
        length = np.ones(len(active))
        searching = np.ones(len(active), dtype=bool)
        for _ in range(30):  # halve until the dual falls enough
            rows = np.flatnonzero(searching)
            tried = y[rows] + length[rows, None] * step[rows]
            found_values, found_vectors = np.linalg.eigh(given[active[rows]] + tried[:, :, None] * np.eye(y.shape[1]))
            found = _dual(found_values, tried, wanted[active[rows]])
            enough = found <= height[rows] + 1e-4 * length[rows] * slope[rows] + 1e-15 * np.abs(height[rows])
            taken = rows[enough]
            y[taken], height[taken] = tried[enough], found[enough]
            values[taken], vectors[taken] = found_values[enough], found_vectors[enough]
            searching[taken] = False
            length[searching] *= 0.5
            if not searching.any():
                break
        # A cell that cannot fall any more is as near as floats allow.
        active, y, values, vectors = (part[~searching] for part in (active, y, values, vectors))
        height = height[~searching]
    return result


def _dual(values: FloatArray, y: FloatArray, wanted: FloatArray) -> FloatArray:
    return np.asarray(0.5 * np.square(np.clip(values, 0.0, None)).sum(axis=1) - (wanted * y).sum(axis=1))


def _dual_hessian(values: FloatArray, vectors: FloatArray, off: FloatArray) -> FloatArray:
    """A generalised second derivative of the dual, made regular by a term that vanishes with the gradient."""
    positive = np.clip(values, 0.0, None)
    apart = values[:, :, None] - values[:, None, :]
    close = np.abs(apart) < 1e-12
    ratio = (positive[:, :, None] - positive[:, None, :]) / np.where(close, 1.0, apart)
    weights = np.where(close, (values > 0.0)[:, :, None], ratio)
    products = vectors[:, :, :, None] * vectors[:, :, None, :]
    curvature = np.einsum("ciab,cab,cjab->cij", products, weights, products, optimize=True)
    regular = np.minimum(1e-2, 0.1 * off)[:, None, None] + 1e-12
    return np.asarray(curvature + regular * np.eye(values.shape[1]))


def _with_diagonal(matrices: FloatArray, diagonals: FloatArray) -> FloatArray:
    """Scale rows and columns so that the diagonal is as given; positive semidefinite matrices stay so."""
    found = np.einsum("...ii->...i", matrices)
    usable = (found > 0.0) & (diagonals > 0.0)
    factors = np.sqrt(np.divide(diagonals, found, out=np.zeros_like(diagonals), where=usable))
    scaled: FloatArray = matrices * factors[..., :, None] * factors[..., None, :]
    places = np.arange(diagonals.shape[-1])
    scaled[..., places, places] = diagonals
    return scaled
