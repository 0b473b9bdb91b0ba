"""Variation: how much the statistics that people compute first have changed."""

from __future__ import annotations

from collections.abc import Callable

import numpy as np

from microagg._typing import FloatArray
from microagg.evaluation.context import Context
from microagg.evaluation.definition import Definition, MeasureResult, Need
from microagg.evaluation.result import RowKind
from microagg.evaluation.utility.moments import BothMoments, moments_of_pairs
from microagg.evaluation.utility.papers import COMPARISON
from microagg.evaluation.utility.values import mean_of, relative_errors
from microagg.tables.words import Words

__all__ = ["OF_MOMENTS", "VARIATION", "information_loss"]


_FLOOR = 0.01  # of the statistic's own scale: near zero, a relative change means nothing


def _moments(context: Context) -> BothMoments:
    """Moments of the numeric and ordinal quasi-identifiers."""
    return context.cached("moments of quasi-identifiers", lambda: moments_of_pairs(context.numbers))


def _means(both: BothMoments) -> MeasureResult:
    details: dict[str, float | None] = {}
    described = zip(both.names, both.scales, both.constant, both.after.means, strict=True)
    for name, (mean, deviation), is_constant, moved in described:
        least = max(abs(mean), 0.0 if is_constant else _FLOOR * deviation)
        change = abs(float(moved)) * deviation
        details[name] = change / least if least > 0 else float(change > 0)
    return mean_of(details)


def _variances(both: BothMoments) -> MeasureResult:
    before, after = both.before, both.after
    details: dict[str, float | None] = {}
    for i, name in enumerate(both.names):
        change = abs(after.variances[i] - before.variances[i])
        # The variance of denormal numbers vanishes though they vary.
        vanishes = both.constant[i] or not before.variances[i] > 0
        details[name] = None if vanishes else float(change / before.variances[i])
    return mean_of(details)


def _over_pairs(both: BothMoments, changes: FloatArray) -> MeasureResult:
    """Details by the names of two attributes; pairs with a constant one in the original are left out."""
    names = both.names
    varying = [i for i, is_constant in enumerate(both.constant) if not is_constant]
    found = {(i, j): float(changes[i, j]) for a, i in enumerate(varying) for j in varying[a + 1 :]}
    details: dict[str, float | None] = {f"{names[i]} x {names[j]}": value for (i, j), value in found.items()}
    if not details:
        return MeasureResult(None, "needs two numeric or ordinal quasi-identifiers that vary")
    return mean_of(details)


def _covariances(both: BothMoments) -> MeasureResult:
    # Both in standard deviations of the original, where the scale of a covariance is 1.
    changes: FloatArray = np.abs(both.after.covariances - both.before.covariances)
    return _over_pairs(both, changes / np.maximum(np.abs(both.before.covariances), _FLOOR))


def _correlations(both: BothMoments) -> MeasureResult:
    changes: FloatArray = np.abs(np.nan_to_num(both.after.correlations) - both.before.correlations)
    return _over_pairs(both, changes)


OF_MOMENTS: dict[str, Callable[[BothMoments], MeasureResult]] = {
    "variation_means": _means,
    "variation_variances": _variances,
    "variation_covariances": _covariances,
    "variation_correlations": _correlations,
}
"""Measures that follow from the moments of the quasi-identifiers, however these were added up."""


def _of_moments(name: str) -> Callable[[Context], MeasureResult]:
    return lambda context: OF_MOMENTS[name](_moments(context))


def information_loss(context: Context) -> MeasureResult:
    """IL: the mean of the five variations that are defined; details name them."""
    both = _moments(context)
    values: dict[str, float | None] = {one.name: relative_errors(one, context.aligned_rows) for one in context.numbers}
    parts: dict[str, float | None] = {
        "values": mean_of(values).value,
        "means": _means(both).value,
        "variances": _variances(both).value,
        "covariances": _covariances(both).value,
        "correlations": _correlations(both).value,
    }
    return mean_of(parts)


def _define(
    name: str,
    formula: str,
    compute: Callable[[Context], MeasureResult],
    *more: Need,
    high: float | None = None,
    holds_of: RowKind = RowKind.MEANS,
    explained: Words,
) -> Definition:
    needs = (Need.NUMBERS, *more)
    return Definition(
        name,
        "utility",
        "variation",
        "lower",
        formula,
        compute,
        high=high,
        needs=needs,
        holds_of=holds_of,
        explained=explained,
    )


_OVER = "numeric and ordinal quasi-identifiers"

VARIATION = (
    _define(
        "variation_means",
        f"mean over {_OVER} of |m' - m| / max(|m|, s / 100), m the mean and s the standard deviation of the original",
        _of_moments("variation_means"),
        holds_of=RowKind.RANKS,
        explained=Words(
            "It says how much the attributes' means changed, relative to themselves. Cells of means keep them, so a "
            "large value points to noise, rounding or medians.",
            "A release can keep every mean and lose all else: cells that publish their means score about 0 by "
            "construction.",
            COMPARISON,
            short="relative change of means",
        ),
    ),
    _define(
        "variation_variances",
        f"mean over {_OVER} of |v' - v| / v, v the variance of the original; constant attributes are left out",
        _of_moments("variation_variances"),
        holds_of=RowKind.RANKS,
        explained=Words(
            "It says how much the attributes' variances changed, relative to themselves. Averages of cells shrink "
            "variances; noise inflates them.",
            "It does not show the direction. Sampled records may keep the variance although single values are far off.",
            "Sanchez et al. (2016), doi:10.1016/j.inffus.2015.11.002",
            short="relative change of variances",
        ),
    ),
    _define(
        "variation_covariances",
        f"mean over every two {_OVER} of |c' - c| / max(|c|, s t / 100), c the covariance and s, t the standard "
        "deviations of the original; constant attributes are left out",
        _of_moments("variation_covariances"),
        explained=Words(
            "It says how much the covariances of every two attributes changed, relative to themselves. It shows "
            "whether the release keeps how numbers move together.",
            "Covariances near zero make relative changes erratic, which the lower limit of the denominator softens "
            "only.",
            COMPARISON,
            short="relative change of covariances",
        ),
    ),
    _define(
        "variation_correlations",
        f"mean over every two {_OVER} of |r' - r|, r Pearson's correlation; r' is 0 where the release is constant, and "
        "attributes constant in the original are left out",
        _of_moments("variation_correlations"),
        high=2.0,
        explained=Words(
            "It says how much the correlations of every two quasi-identifiers changed. A change of 0.1 is one from "
            "0.3 to 0.4, for example.",
            "Averaging pulls records onto fewer points and makes correlations stronger, which may look like better "
            "data. Only linear relations are seen.",
            COMPARISON,
            short="change of correlations between quasi-identifiers",
        ),
    ),
    _define(
        "IL",
        "mean of the relative error of numbers (denominator at least domain / 100), variation_means, "
        "variation_variances, variation_covariances and variation_correlations",
        information_loss,
        Need.ROWS,
        holds_of=RowKind.RECORDS,
        explained=Words(
            "It averages five changes of the numbers: of single values, means, variances, covariances and "
            "correlations. It is the utility half of the score.",
            "The five parts are of different sizes, and one bad part can decide. It is not the IL that the Mic1D-k "
            "paper prints.",
            COMPARISON,
            short="average of five information losses",
        ),
    ),
)
