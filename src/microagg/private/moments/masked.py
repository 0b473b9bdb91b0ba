"""Cross-moment microaggregation of one group of attributes: moments, noise, repair, and records drawn from the result.

The three algorithms of the paper are compositions of these: 1 (all statistics masked jointly) and 2 (each kind with
its share of the budget) differ in :attr:`Plan.shares`; 3 runs either on several groups of attributes, each with cells
of its own and a share of the budget.
"""

from __future__ import annotations

from collections.abc import Callable
from dataclasses import replace

import numpy as np

from microagg._typing import FloatArray, IntArray
from microagg.aggregate.centroid import Cells
from microagg.aggregate.content import Content, Coskewness
from microagg.aggregate.moments import CrossMoments, Moments, cross_moments
from microagg.aggregate.repair import (
    feasible_skewness,
    nearest_psd,
    nearest_psd_with_diagonal,
    truncate_coskewness,
    truncate_means,
    truncate_variances,
)
from microagg.aggregate.sampling import Uniforms, draw_numbers, draw_skew_normal, skew_normal, skew_normals_alone
from microagg.methods.moment_plan import Plan
from microagg.privacy.budget import Budget
from microagg.privacy.noise import Noise
from microagg.private.moments.masking import mask_coefficients, mask_spectra

__all__ = ["blank_moments", "drawn_records", "kept_moments", "mask_of", "masked_moments", "repaired"]


def kept_moments(values: FloatArray, labels: IntArray, plan: Plan) -> CrossMoments:
    """Mean and central moments of each cell, as the plan keeps them."""
    return cross_moments(
        values,
        Cells(labels),
        plan.m,
        # Spectra are of whole matrices.
        content=Content.PURE if plan.spectra else plan.content,
        coskewness=Coskewness.ALL if plan.spectra else plan.coskewness,
    )


def blank_moments(plan: Plan, n_attributes: int, n_cells: int, smallest: int, largest: int) -> CrossMoments:
    """Moments of cells of such sizes, all zero: as many statistics as there would be, of no record."""
    one = kept_moments(np.zeros((4, n_attributes)), np.zeros(4, dtype=np.int64), plan)
    sizes = np.full(n_cells, smallest, dtype=np.int64)
    sizes[-1] = largest
    return replace(one.of_cells(np.zeros(n_cells, dtype=np.int64)), sizes=sizes)


def mask_of(plan: Plan) -> Callable[..., CrossMoments]:
    """What adds the noise: to coefficients or to spectra."""
    return mask_spectra if plan.spectra and plan.m else mask_coefficients


def masked_moments(
    moments: CrossMoments, widths: FloatArray, plan: Plan, *, budget: Budget, noise: Noise, on: str
) -> CrossMoments:
    """Moments with noise, repaired; spends all of `budget`."""
    noisy = mask_of(plan)(moments, widths, shares=plan.shares, budget=budget, noise=noise, on=on)
    return repaired(noisy, widths, plan)


def repaired(moments: CrossMoments, widths: FloatArray, plan: Plan) -> CrossMoments:
    """The moments moved to where records in the box could have them: post-processing.

    Means into the box, variances into what the box (or the mean) allows, covariances to the nearest positive
    semidefinite matrix, coskewness into what the variances allow.
    """
    means = truncate_means(moments.means, widths)
    if not moments.pairs:
        return replace(moments, means=means)
    matrices = moments.covariance_matrices
    given = means if plan.within_mean else None
    variances = truncate_variances(np.einsum("cii->ci", matrices), widths, moments.sizes, given)
    covariances = variances
    if any(i != j for i, j in moments.pairs):
        if not plan.fixed_diagonal:
            matrices = nearest_psd(matrices)
            variances = truncate_variances(np.einsum("cii->ci", matrices), widths, moments.sizes, given)
        i, j = np.array(moments.pairs).T
        covariances = nearest_psd_with_diagonal(matrices, variances)[:, i, j]
    coskewness = moments.coskewness
    if moments.triples:
        coskewness = truncate_coskewness(coskewness, moments.triples, variances, widths, moments.sizes)
    return replace(moments, means=means, covariances=covariances, coskewness=coskewness)


def drawn_records(moments: CrossMoments, labels: IntArray, widths: FloatArray, uniforms: Uniforms) -> FloatArray:
    """One record per record of each cell, drawn from its repaired moments and clamped to the box.

    The mean itself for m = 0; normal for m = 1; skew-normal for m = 2. Attributes of which only variances are kept are
    drawn each alone. Which of a cell's draws goes to which of its records is chance: nothing is matched.
    """
    if not moments.m:
        return moments.means[labels]
    alone = all(i == j for i, j in moments.pairs)
    if moments.m == 1:
        drawn = draw_numbers(Moments(moments.means, moments.covariance_matrices), labels, uniforms)
        return np.clip(drawn, 0.0, widths)
    covariances = moments.covariance_matrices
    variances = np.einsum("cii->ci", covariances).copy()
    skewness = feasible_skewness(moments.marginal_coskewness, variances)
    if alone:
        shape = skew_normals_alone(moments.means, variances, skewness)
    else:
        shape = skew_normal(moments.means, covariances, skewness)
    return np.clip(draw_skew_normal(shape, labels, uniforms), 0.0, widths)
