"""Probabilistic information loss: would a sample of the original differ as much by chance?"""

from __future__ import annotations

import numpy as np

from microagg._typing import FloatArray
from microagg.evaluation.context import Context
from microagg.evaluation.definition import Definition, MeasureResult, Need
from microagg.evaluation.result import RowKind
from microagg.evaluation.utility.moments import moments_of, scale_pairs
from microagg.evaluation.utility.values import mean_of
from microagg.tables.words import Words

__all__ = ["PROBABILISTIC", "probabilistic_losses"]


_TWENTIETHS = np.arange(1, 20)  # quantiles of 5, 10, ..., 95 %
_NOTHING = 1e-18  # a variance that is rounding error, of numbers of size 1


def probabilistic_losses(before: FloatArray, after: FloatArray) -> dict[str, float | None]:
    """For five kinds of statistics, the mean of P(|Z| <= |t' - t| / sd(t')), Z standard normal.

    t is the original's statistic, t' the release's, and sd(t') the standard deviation that t' would have over samples
    of the original as large as the release. 0 means no change; near 1 means that chance would hardly ever move the
    statistic so far. For quantiles the share of original records up to the released quantile takes the place of t',
    which needs no density; with ties the nearest share that the value covers.

    Parameters
    ----------
    before, after : ndarray of shape (n_records, p), (n_released, p)
        In standard deviations of the original; NaN is missing.

    References
    ----------
    .. [1] Mateo-Sanz, J. M., Domingo-Ferrer, J. & Sebe, F. (2005). Probabilistic information loss measures in
       confidentiality protection of continuous microdata. DMKD 11(2), 181-193. doi:10.1007/s10618-005-0011-9
    """
    original, released = moments_of(before), moments_of(after)
    p = before.shape[1]
    present = ~np.isnan(before)
    C = np.where(present, before - original.means, 0.0)
    M = present.astype(np.float64)
    upper = np.triu_indices(p, 1)
    n = np.diag(released.counts)
    n_both = released.counts[upper]
    with np.errstate(divide="ignore", invalid="ignore"):
        fourth = ((C**4).sum(axis=0) / M.sum(axis=0)) if p else np.zeros(0)
        both = M.T @ M
        m22 = ((C**2).T @ (C**2)) / both
        m31 = ((C**3).T @ C) / both
        m40 = ((C**4).T @ M) / both
        r = original.correlations
        s = np.sqrt(original.variances)
        product = np.outer(s, s)
        cubed = np.outer(s**3, s)
        squared = np.outer(s**4, np.ones(p))
        of_r = m22 / product**2 * (1 + r**2 / 2) + r**2 / 4 * (m40 / squared + (m40 / squared).T)
        of_r -= r * (m31 / cubed + (m31 / cubed).T)
        spread = {
            "means": original.variances / n,
            "variances": (fourth - original.variances**2) / n,
            "covariances": (m22 - original.covariances**2)[upper] / n_both,
            "correlations": of_r[upper] / n_both,
        }
    changes = {
        "means": released.means - original.means,
        "variances": released.variances - original.variances,
        "covariances": (released.covariances - original.covariances)[upper],
        "correlations": (np.nan_to_num(released.correlations) - r)[upper],
    }
    losses: dict[str, float | None] = {"quantiles": _average(_quantile_losses(before, after))}
    for what, change in changes.items():
        losses[what] = _average(_losses(change, spread[what]))
    return losses


def _losses(change: FloatArray, variance: FloatArray) -> FloatArray:
    """erf(|change| / sd / sqrt 2); for a statistic that chance cannot move, 0 if it did not move and 1 if it did."""
    from scipy.special import erf

    fixed = variance <= _NOTHING
    with np.errstate(divide="ignore", invalid="ignore"):
        z = np.abs(change) / np.sqrt(np.where(fixed, np.nan, variance))
        losses: FloatArray = np.where(fixed, np.abs(change) > np.sqrt(_NOTHING), erf(z / np.sqrt(2.0)))
    losses[np.isnan(change) | np.isnan(variance)] = np.nan
    return losses


def _quantile_losses(before: FloatArray, after: FloatArray) -> FloatArray:
    found = []
    for first, second in zip(before.T, after.T, strict=True):
        first, second = np.sort(first[~np.isnan(first)]), np.sort(second[~np.isnan(second)])
        if not len(first) or not len(second):
            continue
        at = second[-(-_TWENTIETHS * len(second) // 20) - 1]  # the smallest value with at least this share up to it
        share = _TWENTIETHS / 20.0
        below = np.searchsorted(first, at, side="left") / len(first)
        up_to = np.searchsorted(first, at, side="right") / len(first)
        away = np.maximum(np.maximum(below - share, share - up_to), 0.0)
        away[away < 1e-12] = 0.0
        found.append(_losses(away, share * (1.0 - share) / len(second)))
    return np.concatenate(found) if found else np.zeros(0)


def _average(losses: FloatArray) -> float | None:
    had = losses[~np.isnan(losses)]
    return float(had.mean()) if len(had) else None


def _pil(context: Context) -> MeasureResult:
    varying = [one for one in context.numbers if not one.is_constant]
    if not varying:
        return MeasureResult(None, "every numeric or ordinal quasi-identifier is constant in the original")
    return mean_of(probabilistic_losses(*scale_pairs(varying)))


PROBABILISTIC = (
    Definition(
        "PIL",
        "utility",
        "variation",
        "lower",
        "mean over quantiles (5, 10, ..., 95 %), means, variances, covariances and correlations of the probability "
        "that a sample of the original, as large as the release, has a statistic nearer to the original's than the "
        "release has: P(|Z| <= |t' - t| / sd(t')), Z standard normal; constant attributes are left out",
        _pil,
        high=1.0,
        needs=(Need.NUMBERS,),
        holds_of=RowKind.MEANS,
        explained=Words(
            "It says how sure one can be that changed statistics are not mere luck of sampling. At 0 every statistic "
            "is what it was; at 1 none could come from a sample of the original.",
            "In large tables even tiny changes come near 1, because sampling would hardly have made them.",
            "Mateo-Sanz, Domingo-Ferrer & Sebe (2005), doi:10.1007/s10618-005-0011-9",
            short="probabilistic information loss",
        ),
    ),
)
