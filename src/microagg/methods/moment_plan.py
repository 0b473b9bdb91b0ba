"""What cross-moment microaggregation keeps of a cell and how it divides the budget; plain values, no mathematics."""

from __future__ import annotations

import math
from collections.abc import Mapping, Sequence
from dataclasses import dataclass

from microagg.aggregate.content import Content, Coskewness
from microagg.errors import ParameterError

__all__ = ["STRATEGIES", "Plan", "Shares", "strategy_shares"]

Shares = Sequence[float]

STRATEGIES: Mapping[str, Mapping[int, Shares]] = {
    "balanced": {0: (1.0,), 1: (0.50, 0.50), 2: (0.50, 0.30, 0.20)},
    "mean_first": {0: (1.0,), 1: (0.75, 0.25), 2: (0.75, 0.15, 0.10)},
}
"""Shares of the budget for mean, covariance and coskewness, by number of moments: the paper's strategies 1 and 2."""


@dataclass(frozen=True)
class Plan:
    """What is kept of a cell, and how it is masked.

    Attributes
    ----------
    m : {0, 1, 2}
        How many central moments go with the mean.
    spectra : bool
        Mask eigenvalues and eigenvectors instead of coefficients.
    content : Content
        All elements, or variances and marginal coskewness only.
    coskewness : Coskewness
        Of pure content: all elements, or the marginal ones, which are all that draws of records use.
    shares : tuple of float or None
        Of mean, covariance and coskewness; None masks them jointly.
    fixed_diagonal : bool
        Repair a noisy covariance without touching the (truncated) variances; otherwise by clipping eigenvalues.
    within_mean : bool
        Truncate variances to what values with the published mean can have, not only to what the width allows.
    """

    m: int = 1
    spectra: bool = False
    content: Content = Content.VARIANCES
    coskewness: Coskewness = Coskewness.MARGINAL
    shares: tuple[float, ...] | None = None
    fixed_diagonal: bool = True
    within_mean: bool = False


def strategy_shares(strategy: str | Shares, m: int) -> tuple[float, ...]:
    """Shares of the budget for mean, covariance and coskewness: a strategy by name, or weights that sum to 1.

    Examples
    --------
    >>> strategy_shares("mean_first", 2)
    (0.75, 0.15, 0.1)
    >>> strategy_shares([0.5, 0.6], 1)
    Traceback (most recent call last):
        ...
    microagg.errors.ParameterError: strategy: the weights must sum to 1; these sum to 1.1
    """
    if isinstance(strategy, str):
        if strategy not in STRATEGIES:
            known = ", ".join(repr(name) for name in STRATEGIES)
            raise ParameterError(f"strategy must be one of {known}, or a list of weights. Got {strategy!r} instead")
        return tuple(STRATEGIES[strategy][m])
    weights = tuple(float(weight) for weight in strategy)
    if len(weights) != m + 1:
        what = ("mean", "mean and covariance", "mean, covariance and coskewness")[m]
        raise ParameterError(f"strategy: m = {m} needs {m + 1} weights, of {what}. Got {len(weights)}")
    if not all(math.isfinite(weight) and weight > 0 for weight in weights):
        raise ParameterError("strategy: weights must be above 0")
    if abs(math.fsum(weights) - 1.0) > 1e-9:
        raise ParameterError(f"strategy: the weights must sum to 1; these sum to {math.fsum(weights):.9g}")
    return weights
