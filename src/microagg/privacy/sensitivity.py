"""How far one record can move the moments of its cell: the sensitivities of cross-moment microaggregation.

Setting. A cell has k records in the box with sides `widths` (the attributes' public ranges; moments about the mean
do not see where the box lies). One record of the cell is replaced by any other in the box; who is in which cell is
given. Sensitivities are in L1 over the statistics of that cell. Other cells do not change, so this is the sensitivity
of the list of all cells too (parallel composition).

**Averages over subsets.** Mean, unbiased covariance and Fisher's coskewness of k records are U-statistics: the average
of the same statistic over all subsets of s records, for any s it is defined for, up to k. A replaced record is in a
share s / k of the subsets. So a statistic that moves by at most c / s in cells of s records moves by at most c / k in
cells of k >= s records. One small case proves all larger ones:

- *mean*, s = 1: one value moves by at most its width.
- *covariance*, s = 2: ``q_ij = (x_i - y_i)(x_j - y_j) / 2`` moves by at most ``width_i width_j / 2``: for fixed y the
  product is linear in x_i and in x_j, so its extremes are at corners, and any two of the four differ by at most
  ``width_i width_j``.
- *coskewness*, s = 4: phi_ijl of distinct attributes is linear in every single coordinate of the records, so its
  largest change is between corners of the box; all of them can be tried, in whole numbers, and give 1 / 4 for unit
  widths (``tests/privacy/test_sensitivity.py`` does). Repeated attributes are the same form with equal
  arguments, hence move no further. At s = 3 the same search gives 2 / 3: **a cell of three moves twice as far** as
  the published proposition says, and is refused here.

All bounds are reached (k - 1 records in one corner, one that moves from there to the opposite corner), also jointly.

**Spectra.** Eigenvalues move by no more than the matrix (Weyl; Hoffman and Wielandt), which gives global bounds.
Eigenvectors are another matter. Their signs are arbitrary, and they turn without limit where two eigenvalues meet. With
signs aligned (which a random sign before the noise makes true of the mechanism), ``|v' - v|_2 <= min(sqrt(2),
2^(3/2) |E|_2 / gap)`` holds for every perturbation E of a symmetric matrix (Yu, Wang and Samworth). The gap is that of
the records at hand: the bound is a *local* sensitivity, noise calibrated to it gives individual differential privacy
at most, and its scale depends on private data. The bound as printed, ``|E|_2 / gap`` without alignment, is false.

References
----------
.. [1] The propositions are numbered as in the paper on cross-moment microaggregation (docs/algorithms/cross_moment.md).
.. [2] Yu, Y., Wang, T. & Samworth, R. J. (2015). A useful variant of the Davis-Kahan theorem for statisticians.
   Biometrika 102(2), 315-323. doi:10.1093/biomet/asv008
"""

from __future__ import annotations

import math
from collections.abc import Sequence

import numpy as np

from microagg._typing import FloatArray, IntArray
from microagg.errors import ParameterError

__all__ = [
    "LEAST_RECORDS",
    "coefficients_sensitivity",
    "coskewness_eigenvalues_sensitivity",
    "coskewness_eigenvector_sensitivity",
    "coskewness_sensitivity",
    "covariance_sensitivity",
    "eigenvalue_sensitivity",
    "eigenvalues_sensitivity",
    "eigenvector_sensitivity",
    "mean_sensitivity",
    "spectra_sensitivity",
]

Sizes = int | IntArray

LEAST_RECORDS = {0: 1, 1: 2, 2: 4}
"""For each m, the smallest cell whose sensitivities are proved."""


def _require(sizes: Sizes, m: int, what: str) -> None:
    smallest = int(np.min(sizes))
    if smallest < LEAST_RECORDS[m]:
        raise ParameterError(
            f"the sensitivity of the {what} is proved for cells of at least {LEAST_RECORDS[m]} records; "
            f"the smallest has {smallest}"
        )


def mean_sensitivity(widths: FloatArray, sizes: Sizes) -> FloatArray:
    """Sensitivity of the mean, all attributes together: ``sum(widths) / k`` (Proposition 5).

    Examples
    --------
    >>> float(mean_sensitivity(np.array([1.0, 2.0]), 10))
    0.3
    """
    _require(sizes, 0, "mean")
    return np.asarray(np.sum(widths) / np.asarray(sizes))


def covariance_sensitivity(width_i: float, width_j: float, sizes: Sizes) -> FloatArray:
    """Sensitivity of one element of the unbiased covariance: ``width_i width_j / k`` (Proposition 6), k >= 2.

    Examples
    --------
    >>> float(covariance_sensitivity(1.0, 2.0, 10))
    0.2
    """
    _require(sizes, 1, "covariance")
    return np.asarray(width_i * width_j / np.asarray(sizes))


def coskewness_sensitivity(width_i: float, width_j: float, width_l: float, sizes: Sizes) -> FloatArray:
    """Sensitivity of one element of Fisher's coskewness: ``width_i width_j width_l / k`` (Proposition 8), k >= 4.

    Examples
    --------
    >>> float(coskewness_sensitivity(1.0, 1.0, 1.0, 4))
    0.25
    >>> coskewness_sensitivity(1.0, 1.0, 1.0, 3)
    Traceback (most recent call last):
        ...
    microagg.errors.ParameterError: the sensitivity of the coskewness is proved for cells of at least 4 records; \
the smallest has 3
    """
    _require(sizes, 2, "coskewness")
    return np.asarray(width_i * width_j * width_l / np.asarray(sizes))


def coefficients_sensitivity(
    widths: FloatArray,
    sizes: Sizes,
    pairs: Sequence[tuple[int, int]] = (),
    triples: Sequence[tuple[int, int, int]] = (),
) -> FloatArray:
    """Sensitivity of mean and named elements of covariance and coskewness together (Theorem 11, i): the sum of theirs.

    Examples
    --------
    >>> float(coefficients_sensitivity(np.ones(2), 5, [(0, 0), (0, 1), (1, 1)]))
    1.0
    """
    _require(sizes, 2 if triples else int(bool(pairs)), "coskewness" if triples else "covariance")
    total = float(np.sum(widths))
    total += sum(float(widths[i] * widths[j]) for i, j in pairs)
    total += sum(float(widths[i] * widths[j] * widths[last]) for i, j, last in triples)
    return np.asarray(total / np.asarray(sizes))


def eigenvalue_sensitivity(widths: FloatArray, sizes: Sizes) -> FloatArray:
    """Sensitivity of one eigenvalue of the covariance: ``|widths|^2 / k`` (Weyl; section 5.2 of the paper)."""
    _require(sizes, 1, "covariance")
    return np.asarray(np.dot(widths, widths) / np.asarray(sizes))


def eigenvalues_sensitivity(widths: FloatArray, sizes: Sizes) -> FloatArray:
    """Sensitivity of all eigenvalues of the covariance together: ``sqrt(d) |widths|^2 / k`` (Proposition 9).

    Examples
    --------
    >>> float(eigenvalues_sensitivity(np.ones(4), 10))
    0.8
    """
    return np.asarray(math.sqrt(len(widths)) * eigenvalue_sensitivity(widths, sizes))


def eigenvector_sensitivity(widths: FloatArray, sizes: Sizes, gaps: FloatArray) -> FloatArray:
    """Local sensitivity of one eigenvector of the covariance up to its sign; the safe form of Proposition 9.

    ``sqrt(d) min(sqrt(2), 2^(3/2) |widths|^2 / (k gap))``. The printed bound lacks the factor ``2^(3/2)`` and
    the alignment of signs, and does not hold.

    Parameters
    ----------
    widths : ndarray of shape (d,)
    sizes : int or ndarray of shape (n_cells,)
    gaps : ndarray of shape (..., d), with n_cells first if `sizes` is an array
        Distance of the eigenvalue to its nearest neighbour; infinite if it is the only one.
    """
    return _eigenvector(eigenvalue_sensitivity(widths, sizes)[..., None], gaps, len(widths))


def _eigenvector(perturbation: FloatArray, gaps: FloatArray, d: int) -> FloatArray:
    if d == 1:
        return np.zeros_like(gaps)  # the only unit vector, up to its sign
    with np.errstate(divide="ignore"):
        turned = 2.0**1.5 * perturbation / gaps
    return np.asarray(math.sqrt(d) * np.minimum(math.sqrt(2.0), turned))


def coskewness_eigenvalues_sensitivity(widths: FloatArray, sizes: Sizes) -> FloatArray:
    """Sensitivity of all eigenvalues of the d slices of the coskewness (Proposition 10).

    It is ``sqrt(d) sum(widths) |widths|^2 / k``.
    """
    _require(sizes, 2, "coskewness")
    return np.asarray(np.sum(widths)) * eigenvalues_sensitivity(widths, sizes)


def coskewness_eigenvector_sensitivity(widths: FloatArray, sizes: Sizes, gaps: FloatArray) -> FloatArray:
    """Local sensitivity of one eigenvector of each slice of the coskewness; the safe form of Proposition 10.

    Eigenvectors are taken up to their sign.

    Parameters
    ----------
    gaps : ndarray of shape (..., d, d)
        Slices before the last axis.
    """
    _require(sizes, 2, "coskewness")
    per_slice = np.multiply.outer(eigenvalue_sensitivity(widths, sizes), widths)
    return _eigenvector(per_slice[..., None], gaps, len(widths))


def spectra_sensitivity(
    widths: FloatArray, sizes: Sizes, gaps: FloatArray, coskewness_gaps: FloatArray | None = None
) -> FloatArray:
    """Local sensitivity of mean and spectra together (Theorem 11, ii, with the safe eigenvector bounds).

    Parameters
    ----------
    gaps : ndarray of shape (..., d)
        Of the covariance.
    coskewness_gaps : ndarray of shape (..., d, d), optional
        Of the slices of the coskewness, for m = 2.
    """
    total = mean_sensitivity(widths, sizes) + eigenvalues_sensitivity(widths, sizes)
    total = total + eigenvector_sensitivity(widths, sizes, gaps).sum(axis=-1)
    if coskewness_gaps is not None:
        total = total + coskewness_eigenvalues_sensitivity(widths, sizes)
        total = total + coskewness_eigenvector_sensitivity(widths, sizes, coskewness_gaps).sum(axis=(-2, -1))
    return np.asarray(total)
