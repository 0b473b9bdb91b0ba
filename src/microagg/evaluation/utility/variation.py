"""Variation: how much the statistics that people compute first have changed."""

from __future__ import annotations

from collections.abc import Callable

import numpy as np

from microagg._typing import FloatArray
from microagg.evaluation.context import Context
from microagg.evaluation.definition import Definition, MeasureResult, Need
from microagg.evaluation.result import RowKind
from microagg.evaluation.utility.moments import PairwiseMoments, moments_of, scale_pairs
from microagg.evaluation.utility.values import mean_of, relative_errors

__all__ = ["VARIATION", "information_loss"]


_FLOOR = 0.01  # of the statistic's own scale: near zero, a relative change means nothing


def _moments(context: Context) -> tuple[PairwiseMoments, PairwiseMoments]:
    """Moments of the numeric and ordinal quasi-identifiers, in standard deviations of the original."""

    def compute() -> tuple[PairwiseMoments, PairwiseMoments]:
        before, after = scale_pairs(context.numbers)
        return moments_of(before), moments_of(after)

    return context.cached("moments of quasi-identifiers", compute)


def _means(context: Context) -> MeasureResult:
    _, after = _moments(context)
    details: dict[str, float | None] = {}
    for one, moved in zip(context.numbers, after.means, strict=True):
        mean, deviation = one.scale
        least = max(abs(mean), 0.0 if one.is_constant else _FLOOR * deviation)
        change = abs(float(moved)) * deviation
        details[one.name] = change / least if least > 0 else float(change > 0)
    return mean_of(details)


def _variances(context: Context) -> MeasureResult:
    before, after = _moments(context)
    details: dict[str, float | None] = {}
    for i, one in enumerate(context.numbers):
        change = abs(after.variances[i] - before.variances[i])
        # The variance of denormal numbers vanishes though they vary.
        vanishes = one.is_constant or not before.variances[i] > 0
        details[one.name] = None if vanishes else float(change / before.variances[i])
    return mean_of(details)


def _over_pairs(context: Context, change: Callable[[PairwiseMoments, PairwiseMoments], FloatArray]) -> MeasureResult:
    """Details by the names of two attributes; pairs with a constant one in the original are left out."""
    before, after = _moments(context)
    changes = change(before, after)
    names = [one.name for one in context.numbers]
    varying = [i for i, one in enumerate(context.numbers) if not one.is_constant]
    found = {(i, j): float(changes[i, j]) for a, i in enumerate(varying) for j in varying[a + 1 :]}
    details: dict[str, float | None] = {f"{names[i]} x {names[j]}": value for (i, j), value in found.items()}
    if not details:
        return MeasureResult(None, "needs two numeric or ordinal quasi-identifiers that vary")
    return mean_of(details)


def _covariance_changes(before: PairwiseMoments, after: PairwiseMoments) -> FloatArray:
    # Both in standard deviations of the original, where the scale of a covariance is 1.
    changes: FloatArray = np.abs(after.covariances - before.covariances)
    return changes / np.maximum(np.abs(before.covariances), _FLOOR)


def _correlation_changes(before: PairwiseMoments, after: PairwiseMoments) -> FloatArray:
    changes: FloatArray = np.abs(np.nan_to_num(after.correlations) - before.correlations)
    return changes


def _covariances(context: Context) -> MeasureResult:
    return _over_pairs(context, _covariance_changes)


def _correlations(context: Context) -> MeasureResult:
    return _over_pairs(context, _correlation_changes)


def information_loss(context: Context) -> MeasureResult:
    """IL: the mean of the five variations that are defined; details name them."""
    values: dict[str, float | None] = {one.name: relative_errors(one, context.aligned_rows) for one in context.numbers}
    parts: dict[str, float | None] = {
        "values": mean_of(values).value,
        "means": _means(context).value,
        "variances": _variances(context).value,
        "covariances": _covariances(context).value,
        "correlations": _correlations(context).value,
    }
    return mean_of(parts)


def _define(
    name: str,
    formula: str,
    compute: Callable[[Context], MeasureResult],
    *more: Need,
    high: float | None = None,
    holds_of: RowKind = RowKind.MEANS,
) -> Definition:
    needs = (Need.NUMBERS, *more)
    return Definition(
        name, "utility", "variation", "lower", formula, compute, high=high, needs=needs, holds_of=holds_of
    )


_OVER = "numeric and ordinal quasi-identifiers"

VARIATION = (
    _define(
        "variation_means",
        f"mean over {_OVER} of |m' - m| / max(|m|, s / 100), m the mean and s the standard deviation of the original",
        _means,
        holds_of=RowKind.RANKS,
    ),
    _define(
        "variation_variances",
        f"mean over {_OVER} of |v' - v| / v, v the variance of the original; constant attributes are left out",
        _variances,
        holds_of=RowKind.RANKS,
    ),
    _define(
        "variation_covariances",
        f"mean over every two {_OVER} of |c' - c| / max(|c|, s t / 100), c the covariance and s, t the standard "
        "deviations of the original; constant attributes are left out",
        _covariances,
    ),
    _define(
        "variation_correlations",
        f"mean over every two {_OVER} of |r' - r|, r Pearson's correlation; r' is 0 where the release is constant, and "
        "attributes constant in the original are left out",
        _correlations,
        high=2.0,
    ),
    _define(
        "IL",
        "mean of the relative error of numbers (denominator at least domain / 100), variation_means, "
        "variation_variances, variation_covariances and variation_correlations",
        information_loss,
        Need.ROWS,
        holds_of=RowKind.RECORDS,
    ),
)
