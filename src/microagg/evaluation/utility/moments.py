"""Means, variances, covariances and correlations of a matrix with holes."""

from __future__ import annotations

from collections.abc import Sequence
from dataclasses import dataclass

import numpy as np

from microagg._typing import FloatArray
from microagg.evaluation.pairs import Pair

__all__ = ["BothMoments", "PairwiseMoments", "correlations", "moments_of", "moments_of_pairs", "scale_pairs"]


_NOTHING = 1e-24  # a variance, in squared standard deviations of the original, that is rounding error


@dataclass(frozen=True)
class PairwiseMoments:
    """Moments of each attribute from its present values, and of each two from the records where both are present.

    Attributes
    ----------
    counts : ndarray of shape (p, p)
        Records in which both are present; on the diagonal, in which one is.
    means, variances : ndarray of shape (p,)
    covariances, correlations : ndarray of shape (p, p)
        A correlation is NaN where one of the two does not vary.
    """

    counts: FloatArray
    means: FloatArray
    variances: FloatArray
    covariances: FloatArray
    correlations: FloatArray


@dataclass(frozen=True)
class BothMoments:
    """Moments of the numbers and ranks of two tables, both in standard deviations of the original, from its mean.

    Attributes
    ----------
    names : tuple of str
    scales : tuple of pairs of float
        Mean and standard deviation of each attribute of the original; the deviation is 1 if all values are equal.
    constant : tuple of bool
        Whether the original's present values are all equal.
    before, after : PairwiseMoments
    """

    names: tuple[str, ...]
    scales: tuple[tuple[float, float], ...]
    constant: tuple[bool, ...]
    before: PairwiseMoments
    after: PairwiseMoments


def moments_of_pairs(pairs: Sequence[Pair]) -> BothMoments:
    """Moments of attributes that are numbers or ranks."""
    before, after = scale_pairs(pairs)
    return BothMoments(
        tuple(one.name for one in pairs),
        tuple(one.scale for one in pairs),
        tuple(one.is_constant for one in pairs),
        moments_of(before),
        moments_of(after),
    )


def scale_pairs(pairs: Sequence[Pair]) -> tuple[FloatArray, FloatArray]:
    """Numbers and ranks of both tables in standard deviations of the first, from its mean; NaN is missing."""
    sides: tuple[list[FloatArray], list[FloatArray]] = ([], [])
    for one in pairs:
        mean, deviation = one.scale
        for side, values in zip(sides, one.values, strict=True):
            side.append((values - mean) / deviation)
    return np.column_stack(sides[0]), np.column_stack(sides[1])


def moments_of(X: FloatArray) -> PairwiseMoments:
    """Moments with divisor n, of columns that are already of size 1 or so."""
    present = ~np.isnan(X)
    full = bool(present.all())
    M = present.astype(np.float64)
    with np.errstate(divide="ignore", invalid="ignore"):
        means = np.where(present, X, 0.0).sum(axis=0) / M.sum(axis=0)
        C = X - means if full else np.where(present, X - means, 0.0)
        counts = M.T @ M
        products = C.T @ C
        if full:
            covariances = products / counts
            of_first = np.broadcast_to(np.diag(covariances)[:, None], covariances.shape)
        else:
            at = (C.T @ M) / counts  # mean of i, from `means`, where j is present too
            covariances = products / counts - at * at.T
            of_first = ((C**2).T @ M) / counts - at**2
        correlations = covariances / np.sqrt(of_first * of_first.T)
    correlations[(of_first <= _NOTHING) | (of_first.T <= _NOTHING)] = np.nan
    correlations = np.clip(correlations, -1.0, 1.0)
    variances = np.diag(covariances).copy()
    return PairwiseMoments(counts, means, variances, covariances, correlations)


def correlations(X: FloatArray) -> FloatArray:
    """Pearson's correlations of the upper triangle, pair by pair: NaN where undefined."""
    found = moments_of(X).correlations
    return found[np.triu_indices(X.shape[1], 1)]
