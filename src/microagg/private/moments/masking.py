"""Noise on the moments of cells: jointly or each kind with its own share; on coefficients or on spectra.

Every statistic is multiplied by the size k of its cell first (or, of spectra, divided by its sensitivity): after that
one record can move any cell by the same amount, one call of the mechanism serves all cells, and dividing back is
post-processing. Each cell's noise is drawn once. One replaced record touches one cell, since the partition is given, so
the L1 sensitivity of the list of cells is that of one cell (:mod:`microagg.privacy.sensitivity`).
"""

from __future__ import annotations

from dataclasses import replace

import numpy as np
import numpy.typing as npt

from microagg._typing import FloatArray
from microagg.aggregate.moments import CrossMoments
from microagg.aggregate.spectra import Spectra, matrices_of, nearest_orthogonal, spectra_of
from microagg.methods.moment_plan import Shares
from microagg.privacy import sensitivity
from microagg.privacy.budget import Budget
from microagg.privacy.mechanism import laplace_on_reals, step_of
from microagg.privacy.noise import Noise

__all__ = ["mask_coefficients", "mask_spectra", "rounding_error"]


_UNIT_ROUNDOFF = 2.0**-53
_SPECTRAL_ERROR = 2.0**-30  # of a sensitivity: far above what LAPACK's symmetric eigensolver errs by


def rounding_error(largest_cell: int) -> float:
    """How far k times a computed moment of values in [0, 1] can be from the exact one.

    With u = 2^-53: a cell's mean errs by at most (k + 3) u; a product of three centred values by 3 (k + 3) u from the
    means and 6 u by itself; a sum of k of them, naively, by k u times their sum, at most k. So sums err by less than
    4 (k + 16)^2 u, and the factor before them is at most 4 ^ 2 / (3 * 2) < 4.
    """
    return 16.0 * (largest_cell + 16.0) ** 2 * _UNIT_ROUNDOFF


def mask_coefficients(
    moments: CrossMoments,
    widths: FloatArray,
    *,
    shares: Shares | None,
    budget: Budget,
    noise: Noise,
    on: str,
) -> CrossMoments:
    """Moments with Laplace noise on every kept element; spends all of `budget`.

    Parameters
    ----------
    moments : CrossMoments
        Of values in [0, width].
    widths : ndarray of shape (n_attributes,)
    shares : sequence of float, or None
        None masks all statistics jointly (Algorithm 1): noise of scale (sum of all sensitivities) / epsilon on each.
        Otherwise mean, covariance and coskewness get these shares of epsilon (Algorithm 2): the mean as one vector,
        each element of the others with an equal part of its kind's share and its own sensitivity.
    budget, noise
    on : str
        The attributes, for the ledger.
    """
    sizes = moments.sizes[:, None]
    unit = rounding_error(int(moments.sizes.max()))
    if shares is None:
        bound = float(sensitivity.coefficients_sensitivity(widths, moments.sizes, moments.pairs, moments.triples)[0])
        bound *= float(moments.sizes[0])
        largest = float(max(widths.max(), 1.0) ** 3)
        noisy = _noisy(
            moments.statistics * sizes,
            bound,
            rounding=unit * largest,
            budget=budget,
            noise=noise,
            on=f"k times mean and moments of {on}" if moments.pairs else f"k times mean of {on}",
        )
        return moments.with_statistics(noisy / sizes)
    parts = budget.split(dict(zip(_kinds(moments.m), shares, strict=True)))
    sensitivity.coefficients_sensitivity(widths, moments.sizes, moments.pairs, moments.triples)  # refuses small cells
    means = _noisy(
        moments.means * sizes,
        float(widths.sum()),
        rounding=unit * float(widths.max()),
        budget=parts["mean"],
        noise=noise,
        on=f"k times mean of {on}",
    )
    masked = replace(moments, means=means / sizes)
    if moments.m >= 1:
        scale = np.array([widths[i] * widths[j] for i, j in moments.pairs])
        noisy = _each(
            moments.covariances,
            scale,
            sizes,
            unit,
            parts["covariance"],
            noise,
            f"k times covariance of {on}, in units of the widths",
        )
        masked = replace(masked, covariances=noisy)
    if moments.m == 2:
        scale = np.array([widths[i] * widths[j] * widths[last] for i, j, last in moments.triples])
        noisy = _each(
            moments.coskewness,
            scale,
            sizes,
            unit,
            parts["coskewness"],
            noise,
            f"k times coskewness of {on}, in units of the widths",
        )
        masked = replace(masked, coskewness=noisy)
    return masked


def _kinds(m: int) -> tuple[str, ...]:
    return ("mean", "covariance", "coskewness")[: m + 1]


def _each(
    elements: FloatArray,
    scale: FloatArray,
    sizes: npt.NDArray[np.int64],
    unit: float,
    budget: Budget,
    noise: Noise,
    on: str,
) -> FloatArray:
    """Every element with an equal part of the budget and its own sensitivity: in its own unit each moves by 1."""
    in_units = elements / scale * sizes
    noisy = _noisy(in_units, float(len(scale)), rounding=unit, budget=budget, noise=noise, on=on)
    return np.asarray(noisy * scale / sizes)


def _noisy(
    statistics: FloatArray, bound: float, *, rounding: float, budget: Budget, noise: Noise, on: str
) -> FloatArray:
    """All cells through the mechanism at once; one record touches the statistics of one cell."""
    noisy = laplace_on_reals(
        statistics.ravel(),
        bound,
        rounding_error=rounding,
        touched=statistics.shape[1],
        budget=budget,
        noise=noise,
        on=on,
    )
    return noisy.reshape(statistics.shape)


def mask_spectra(
    moments: CrossMoments,
    widths: FloatArray,
    *,
    shares: Shares | None,
    budget: Budget,
    noise: Noise,
    on: str,
) -> CrossMoments:
    """Moments whose covariance and coskewness were masked as eigenvalues and eigenvectors; spends all of `budget`.

    Parameters are those of :func:`mask_coefficients`; `moments` must be pure. With shares, each eigenvalue and each
    eigenvector gets an equal part of its kind's share.

    Notes
    -----
    Eigenvectors get a random sign before the noise, so that the mechanism does not depend on the sign they come with:
    the bound on aligned eigenvectors is then one on the mechanism. Its scale depends on the gaps between eigenvalues
    of the records at hand: this is individual differential privacy at most.

    Masked numbers are multiples of a small step, and here the step is one of a private scale: whoever guessed the
    records could see from the digits of a published mean whether they guessed right. So each number is moved by
    chance within its step before it is scaled back.

    Noisy eigenvectors are replaced by the nearest orthogonal ones, and the matrices put together again.
    """
    d = moments.n_attributes
    second = spectra_of(moments.covariance_matrices)
    third = spectra_of(moments.coskewness_slices) if moments.m == 2 else None
    statistics, scales = _spectral_statistics(moments, widths, second, third, joint=shares is None, noise=noise)
    # In units of its own scale every kind moves by at most 1, in all of its statistics together.
    ends = np.cumsum([part.shape[1] for part in statistics])
    flat = np.hstack([part / scale for part, scale in zip(statistics, scales, strict=True)])
    if shares is None:
        noisy = _noisy(
            flat,
            1.0,
            rounding=_SPECTRAL_ERROR,
            budget=budget,
            noise=noise,
            on=f"mean and spectra of {on}, in units of sensitivity",
        )
    else:
        parts = budget.split(dict(zip(_kinds(moments.m), shares, strict=True)))
        of_kind = np.split(flat, [ends[0], ends[2]] if third is not None else [ends[0]], axis=1)
        names = ("mean", "spectrum of the covariance", "spectra of the coskewness")
        noisy = np.hstack(
            [
                _noisy(
                    columns,
                    1.0,
                    rounding=_SPECTRAL_ERROR,
                    budget=parts[kind],
                    noise=noise,
                    on=f"{what} of {on}, in units of sensitivity",
                )
                for columns, kind, what in zip(of_kind, _kinds(moments.m), names, strict=False)
            ]
        )
    noisy = noisy + step_of(1.0) * (noise.uniforms(noisy.size).reshape(noisy.shape) - 0.5)
    found = [part * scale for part, scale in zip(np.split(noisy, ends[:-1], axis=1), scales, strict=True)]
    covariances = _put_together(found[1], found[2], second.eigenvectors, d)
    masked = replace(
        moments,
        means=found[0],
        covariances=np.stack([covariances[:, i, j] for i, j in moments.pairs], axis=1),
    )
    if third is None:
        return masked
    slices = _put_together(found[3], found[4], third.eigenvectors, d)
    # Each slice has noise of its own; an element stands in up to three of them.
    symmetric = np.mean([slices.transpose(0, *order) for order in ((1, 2, 3), (2, 1, 3), (3, 2, 1))], axis=0)
    return replace(
        masked,
        coskewness=np.stack([symmetric[:, i, j, last] for i, j, last in moments.triples], axis=1),
    )


def _spectral_statistics(
    moments: CrossMoments,
    widths: FloatArray,
    second: Spectra,
    third: Spectra | None,
    *,
    joint: bool,
    noise: Noise,
) -> tuple[list[FloatArray], list[FloatArray]]:
    """Mean, eigenvalues and eigenvectors as columns, with what each column is to be divided by."""
    d, sizes, n_cells = moments.n_attributes, moments.sizes, len(moments.sizes)
    statistics = [moments.means, second.eigenvalues, _columns_of(second.eigenvectors, noise)]
    vectors = sensitivity.eigenvector_sensitivity(widths, sizes, second.gaps)
    if third is not None:
        statistics += [third.eigenvalues.reshape(n_cells, -1), _columns_of(third.eigenvectors, noise)]
    if joint:
        gaps = None if third is None else third.gaps
        whole = sensitivity.spectra_sensitivity(widths, sizes, second.gaps, gaps)[:, None]
        return statistics, [whole] * len(statistics)
    value = sensitivity.eigenvalue_sensitivity(widths, sizes)[:, None]
    parts = 2 * d  # eigenvalues and eigenvectors, each an equal part
    scales = [
        sensitivity.mean_sensitivity(widths, sizes)[:, None],
        parts * value,
        parts * np.repeat(_never_zero(vectors), d, axis=1),
    ]
    if third is not None:
        slices = sensitivity.coskewness_eigenvector_sensitivity(widths, sizes, third.gaps).reshape(n_cells, -1)
        scales += [
            d * parts * value * np.repeat(widths, d),
            d * parts * np.repeat(_never_zero(slices), d, axis=1),
        ]
    return statistics, scales


def _never_zero(sensitivities: FloatArray) -> FloatArray:
    """A single attribute has one eigenvector, which cannot move: any scale will do."""
    return np.where(sensitivities > 0.0, sensitivities, 1.0)


def _columns_of(eigenvectors: FloatArray, noise: Noise) -> FloatArray:
    """Eigenvectors one after the other, each with a random sign."""
    turned = np.swapaxes(eigenvectors, -1, -2)
    signs = np.where(noise.uniforms(turned[..., 0].size) < 0.5, -1.0, 1.0).reshape(*turned.shape[:-1], 1)
    return np.asarray((turned * signs).reshape(len(eigenvectors), -1))


def _put_together(values: FloatArray, vectors: FloatArray, like: FloatArray, d: int) -> FloatArray:
    """Symmetric matrices from noisy eigenvalues and eigenvectors."""
    turned = np.swapaxes(vectors.reshape(like.shape), -1, -2)
    return matrices_of(Spectra(values.reshape(like.shape[:-1]), nearest_orthogonal(turned)))
