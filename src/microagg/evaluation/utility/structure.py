"""Structure: how attributes go together, before and after."""

from __future__ import annotations

from collections.abc import Callable, Sequence

import numpy as np

from microagg._typing import FloatArray
from microagg.evaluation.context import Context
from microagg.evaluation.definition import Definition, MeasureResult
from microagg.evaluation.pairs import Pair
from microagg.evaluation.result import RowKind
from microagg.evaluation.utility.moments import BothMoments, correlations, moments_of_pairs, scale_pairs
from microagg.evaluation.utility.values import mean_of
from microagg.schema.attribute import Kind
from microagg.tables.words import OUR_OWN, Words

__all__ = ["OF_PUBLISHED_MOMENTS", "STRUCTURE", "rank_correlations"]


_TOO_FEW = "needs two numeric or ordinal attributes that vary"


def rank_correlations(X: FloatArray) -> FloatArray:
    """Spearman's correlations of the upper triangle: of ranks among the records that have both; ties share a rank."""
    from scipy.stats import rankdata

    if not np.isnan(X).any():
        return correlations((rankdata(X, axis=0) - (len(X) + 1) / 2) / len(X))
    found = []
    for i, j in zip(*np.triu_indices(X.shape[1], 1), strict=True):
        both = X[:, [i, j]][~np.isnan(X[:, [i, j]]).any(axis=1)]
        found.append(correlations(rankdata(both, axis=0) / max(len(both), 1))[0] if len(both) else np.nan)
    return np.array(found)


def _varying(context: Context) -> list[Pair]:
    """All published numbers and ranks that vary in the original."""
    return [one for one in context.published if one.joint.kind is not Kind.NOMINAL and not one.is_constant]


def _moments(context: Context) -> BothMoments:
    return context.cached("moments of published numbers", lambda: moments_of_pairs(_varying(context)))


def _apart(names: Sequence[str], before: FloatArray, after: FloatArray) -> MeasureResult:
    """Mean difference of correlations, both as upper triangles."""
    apart = np.abs(np.nan_to_num(after) - before)
    two = zip(*(places.tolist() for places in np.triu_indices(len(names), 1)), strict=True)
    return mean_of({f"{names[i]} x {names[j]}": float(d) for (i, j), d in zip(two, apart, strict=True)})


def _correlation_difference(both: BothMoments) -> MeasureResult:
    upper = np.triu_indices(len(both.names), 1)
    return _apart(both.names, both.before.correlations[upper], both.after.correlations[upper])


def _rank_correlation_difference(context: Context) -> MeasureResult:
    varying = _varying(context)
    if len(varying) < 2:
        return MeasureResult(None, _TOO_FEW)
    before, after = (rank_correlations(side) for side in scale_pairs(varying))
    return _apart([one.name for one in varying], before, after)


def _eigenvalues(both: BothMoments) -> MeasureResult:
    matrices = both.before.covariances, both.after.covariances
    if not all(np.isfinite(matrix).all() for matrix in matrices):
        return MeasureResult(None, "two attributes are never present together")
    before, after = (np.linalg.eigvalsh(matrix)[::-1] for matrix in matrices)
    details: dict[str, float | None] = {str(i + 1): float(d) for i, d in enumerate(np.abs(before - after))}
    return mean_of(details)


OF_PUBLISHED_MOMENTS: dict[str, Callable[[BothMoments], MeasureResult]] = {
    "correlation_difference": _correlation_difference,
    "eigenvalue_difference": _eigenvalues,
}
"""Measures that follow from the moments of at least two published numbers or ranks that vary in the original."""


def _of_moments(name: str) -> Callable[[Context], MeasureResult]:
    def compute(context: Context) -> MeasureResult:
        if len(_varying(context)) < 2:
            return MeasureResult(None, _TOO_FEW)
        return OF_PUBLISHED_MOMENTS[name](_moments(context))

    return compute


_OVER = "every two numeric or ordinal published attributes (quasi-identifiers and others with a kind)"

STRUCTURE = (
    Definition(
        "correlation_difference",
        "utility",
        "structure",
        "lower",
        f"mean over {_OVER} of |r' - r|, r Pearson's correlation; r' is 0 where the release is constant, and "
        "attributes constant in the original are left out",
        _of_moments("correlation_difference"),
        high=2.0,
        holds_of=RowKind.MEANS,
        explained=Words(
            "It says how much correlations changed, of all published attributes. So it also shows whether changed and "
            "unchanged attributes still go together.",
            "Only linear relations are seen, and outliers can decide them. A mean over many pairs hides one that is "
            "ruined.",
            OUR_OWN,
            short="change of correlations",
        ),
    ),
    Definition(
        "rank_correlation_difference",
        "utility",
        "structure",
        "lower",
        f"mean over {_OVER} of |r' - r|, r Spearman's rank correlation; otherwise as correlation_difference",
        _rank_correlation_difference,
        high=2.0,
        holds_of=RowKind.MEANS,
        explained=Words(
            "It says how much rank correlations changed, of all published attributes. It sees every relation that "
            "goes in one direction, straight or not.",
            "Cells give many records equal values; ties weaken what ranks can show. Relations that turn around are "
            "not seen.",
            OUR_OWN,
            short="change of rank correlations",
        ),
    ),
    Definition(
        "eigenvalue_difference",
        "utility",
        "structure",
        "lower",
        "mean absolute difference between the eigenvalues, largest first, of the two covariance matrices of numeric "
        "and ordinal published attributes, both in standard deviations of the original",
        _of_moments("eigenvalue_difference"),
        holds_of=RowKind.MEANS,
        explained=Words(
            "It says how much the shape of the cloud of records changed. It compares the lengths of its main axes "
            "before and after.",
            "Directions are not compared: a cloud that was turned around has the same lengths.",
            OUR_OWN,
            short="change of the cloud's shape (eigenvalues)",
        ),
    ),
)
