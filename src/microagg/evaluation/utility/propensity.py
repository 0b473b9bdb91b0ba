"""Propensity: how well a model tells released records from original ones."""

from __future__ import annotations

from dataclasses import dataclass

import numpy as np

from microagg._typing import FloatArray
from microagg.evaluation.context import Context
from microagg.evaluation.definition import Definition, Limit, MeasureResult
from microagg.evaluation.pairs import Pair
from microagg.evaluation.result import RowKind
from microagg.schema.attribute import Kind
from microagg.tables.words import Words

__all__ = ["PROPENSITY", "Propensity", "design", "propensity"]


_MOST_CATEGORIES = 20
_MOST_COLUMNS = 200
_RIDGE = 1e-9  # per record; without it, tables that can be told apart exactly would send coefficients to infinity
_ENOUGH_TO_START = 20_000
_BLOCK = 2048


@dataclass(frozen=True)
class Propensity:
    """What a logistic regression knows of which table a record is from.

    Attributes
    ----------
    scores : ndarray
        For each record, the originals first, the fitted probability that it is a released one.
    pmse : float
        Mean squared difference between scores and the share of released records.
    n_coefficients : int
        Without the intercept.
    expected, deviation : float
        Mean and standard deviation of pMSE for a table drawn anew from the original's distribution.
    """

    scores: FloatArray
    pmse: float
    n_coefficients: int
    expected: float
    deviation: float


def propensity(X: FloatArray, n_first: int) -> Propensity:
    """Fit a logistic regression (maximum likelihood) that tells the rows after `n_first` from those before.

    A negligible ridge keeps the coefficients finite where the tables can be told apart exactly.

    References
    ----------
    .. [1] Woo, M.-J. et al. (2009). Global measures of data utility for microdata masked for disclosure limitation.
       Journal of Privacy and Confidentiality 1(1), 111-124. doi:10.29012/jpc.v1i1.568
    .. [2] Snoke, J. et al. (2018). General and specific utility measures for synthetic data. JRSS A 181(3), 663-688.
       doi:10.1111/rssa.12358
    """
    from threadpoolctl import threadpool_limits

    n = len(X)
    share = (n - n_first) / n
    from_release = np.zeros(n)
    from_release[n_first:] = 1.0
    # Blocks of rows are too small to share: threads would spend their time waiting for each other.
    with threadpool_limits(1, user_api="blas"):
        X, basis = _standardize(X)
        scores = _fit(X, basis, from_release)
    unit = share * (1.0 - share) ** 2 / n
    n_coefficients = basis.shape[1] - 1
    return Propensity(
        scores,
        float(((scores - share) ** 2).mean()),
        n_coefficients,
        n_coefficients * unit,
        float(np.sqrt(2.0 * n_coefficients)) * unit,
    )


def _standardize(X: FloatArray) -> tuple[FloatArray, FloatArray]:
    """An intercept and the columns at mean 0 and variance 1, and a basis in which they are uncorrelated.

    The basis has as many columns as are independent: coefficients are sought in it.
    """
    deviations = X.std(axis=0)
    varying = deviations > 1e-14 * np.abs(X).max(axis=0, initial=0.0)
    S = np.empty((len(X), int(varying.sum()) + 1))
    S[:, 0] = 1.0
    S[:, 1:] = X[:, varying]
    S[:, 1:] -= S[:, 1:].mean(axis=0)
    S[:, 1:] /= deviations[varying]
    values, vectors = np.linalg.eigh(S[:, 1:].T @ S[:, 1:] / len(S))
    keep = values > 1e-10 * max(values.max(initial=0.0), 1.0)
    basis = np.zeros((S.shape[1], int(keep.sum()) + 1))
    basis[0, 0] = 1.0
    basis[1:, 1:] = vectors[:, keep] / np.sqrt(values[keep])
    return S, basis


def _fit(S: FloatArray, basis: FloatArray, y: FloatArray) -> FloatArray:
    """Fitted probabilities. A part of a long table gives the start, so that few steps need all of it."""
    from scipy.special import expit

    b = np.zeros(basis.shape[1])
    b[0] = np.log(y.mean() / (1.0 - y.mean()))
    step = len(S) // _ENOUGH_TO_START
    if step > 1:
        start = _newton(S[::step], basis, y[::step], b, ridge=1e-4)
        b = start if _loss(S, basis, y, start, _RIDGE) < _loss(S, basis, y, b, _RIDGE) else b
    b = _newton(S, basis, y, b, ridge=_RIDGE)
    scores: FloatArray = expit(S @ (basis @ b))
    return scores


def _loss(S: FloatArray, basis: FloatArray, y: FloatArray, b: FloatArray, ridge: float) -> float:
    eta = S @ (basis @ b)
    return float((np.logaddexp(0.0, eta) - y * eta).mean() + ridge * (b[1:] ** 2).sum() / 2)


def _newton(S: FloatArray, basis: FloatArray, y: FloatArray, b: FloatArray, ridge: float) -> FloatArray:
    """Minimise the loss by Newton's method; a step that does not help is halved."""
    penalty = np.full(len(b), ridge)
    penalty[0] = 0.0
    now = _loss(S, basis, y, b, ridge)
    for _ in range(100):
        slope, curvature = _derivatives(S, basis @ b, y)
        gradient = basis.T @ slope + penalty * b
        if np.abs(gradient).max() < 1e-9:
            break
        step = np.linalg.solve(basis.T @ curvature @ basis + np.diag(penalty + 1e-14), gradient)
        then = _loss(S, basis, y, b - step, ridge)
        halvings = 0
        while then > now and halvings < 40:
            step, halvings = step / 2, halvings + 1
            then = _loss(S, basis, y, b - step, ridge)
        if then > now:
            break
        b, gained, now = b - step, now - then, then
        if gained < 1e-14:
            break
    return b


def _derivatives(S: FloatArray, b: FloatArray, y: FloatArray) -> tuple[FloatArray, FloatArray]:
    """First and second derivatives of the mean loss, in blocks of rows that fit a processor's cache."""
    from scipy.special import expit

    slope, curvature = np.zeros(len(b)), np.zeros((len(b), len(b)))
    for at in range(0, len(S), _BLOCK):
        rows = S[at : at + _BLOCK]
        score = expit(rows @ b)
        slope += rows.T @ (score - y[at : at + _BLOCK])
        weighted = rows * np.sqrt(score * (1.0 - score))[:, None]
        curvature += weighted.T @ weighted
    return slope / len(S), curvature / len(S)


def design(pairs: tuple[Pair, ...]) -> FloatArray:
    """What the model sees: numbers and ranks with their squares and products, categories and missing values as 0/1."""
    numbers: list[FloatArray] = []
    flags: list[FloatArray] = []
    for one in pairs:
        values, missing = one.joint.values, one.joint.missing
        if missing.any():
            flags.append(missing.astype(np.float64))
        if one.joint.kind is Kind.NOMINAL:
            codes = values[~missing].astype(np.int64)
            common = np.argsort(-np.bincount(codes, minlength=1), kind="stable")[:_MOST_CATEGORIES]
            flags += [(values == code).astype(np.float64) for code in common]
        else:
            mean, deviation = one.scale
            numbers.append(np.where(missing, 0.0, (values - mean) / deviation))
    p = len(numbers)
    second = [(i, j) for i in range(p) for j in range(i, p)]
    if p + len(second) + len(flags) > _MOST_COLUMNS:
        second = [(i, i) for i in range(p)]
    columns = [*numbers, *(numbers[i] * numbers[j] for i, j in second), *flags]
    return np.column_stack(columns)


def _pmse(context: Context) -> MeasureResult:
    found = propensity(design(context.published), context.before.n_records)
    if not found.n_coefficients:
        return MeasureResult(0.0, "all records of both tables are equal", baseline=0.0)
    return MeasureResult(
        found.pmse,
        baseline=found.expected,
        details={
            "ratio to expectation": found.pmse / found.expected,
            "deviations from expectation": (found.pmse - found.expected) / found.deviation,
            "coefficients": float(found.n_coefficients),
        },
    )


def _highest(context: Context) -> float:
    share = context.after.n_records / (context.after.n_records + context.before.n_records)
    return share * (1.0 - share)


PROPENSITY = (
    Definition(
        "pMSE",
        "utility",
        "structure",
        "lower",
        "mean over the records of both tables of (p - c)^2, c the share of released ones and p the probability, by a "
        "logistic regression on all published attributes with a kind, that a record is a released one; numbers with "
        "squares and products, the 20 most frequent categories and missing values as 0 or 1. By chance: K c (1 - c)^2 "
        "/ N for K coefficients and N records, expected of a table drawn anew from the original's distribution",
        _pmse,
        high=Limit("c (1 - c), c the share of released ones among the records of both tables", _highest),
        holds_of=RowKind.MEANS,
        explained=Words(
            "A model tries to tell released records from original ones. At 0 it cannot, so whatever the model can see "
            "was kept.",
            "It sees what a logistic regression with squares and products sees, no more. A release of the same "
            "records may fall below what chance gives.",
            "Woo et al. (2009), doi:10.29012/jpc.v1i1.568; Snoke et al. (2018), doi:10.1111/rssa.12358",
            short="how well a model tells release from original",
        ),
    ),
)
