"""Distributions: each attribute alone, before and after."""

from __future__ import annotations

import numpy as np

from microagg._typing import FloatArray, IntArray
from microagg.evaluation.context import Context
from microagg.evaluation.definition import Definition, MeasureResult, Need
from microagg.evaluation.pairs import Pair
from microagg.evaluation.result import RowKind
from microagg.evaluation.utility.values import mean_of
from microagg.schema.attribute import Kind
from microagg.tables.words import OUR_OWN, Words

__all__ = [
    "DISTRIBUTION",
    "N_CODES",
    "bins",
    "distribution_distances",
    "divergence",
    "jensen_shannon",
    "number_bins",
]


_BINS = 100
N_CODES = _BINS + 3


def jensen_shannon(first: IntArray, second: IntArray) -> float:
    """Jensen-Shannon divergence, to base 2, between the distributions of two arrays of codes 0, 1, ...

    Examples
    --------
    >>> jensen_shannon(np.array([0, 0]), np.array([1, 1])), jensen_shannon(np.array([0, 1]), np.array([1, 0, 0, 1]))
    (1.0, 0.0)

    References
    ----------
    .. [1] Lin, J. (1991). Divergence measures based on the Shannon entropy. IEEE Trans. Inf. Theory 37(1), 145-151.
    """
    length = int(max(first.max(), second.max())) + 1
    return divergence(np.bincount(first, minlength=length), np.bincount(second, minlength=length))


def divergence(first: IntArray, second: IntArray) -> float:
    """Jensen-Shannon divergence of two distributions, from how many records have each value."""
    p, q = first / first.sum(), second / second.sum()
    middle = (p + q) / 2
    total = 0.0
    for one in (p, q):
        there = one > 0
        total += float((one[there] * np.log2(one[there] / middle[there])).sum()) / 2
    return min(max(total, 0.0), 1.0)


def bins(one: Pair) -> tuple[IntArray, IntArray]:
    """Codes of both tables: 100 equal parts of a number's domain, else values; missing is a code of its own."""
    values, missing = one.joint.values, one.joint.missing
    low, high = one.domain
    if one.joint.kind is Kind.NUMERIC and high > low:
        codes = number_bins(values, low, high)
    else:
        _, codes = np.unique(np.where(missing, np.inf, values), return_inverse=True)
    return codes[: one.n_first], codes[one.n_first :]


def number_bins(values: FloatArray, low: float, high: float) -> IntArray:
    """Codes 0 to `N_CODES` - 1 of numbers: missing, below the domain, one of its 100 parts, above it."""
    with np.errstate(invalid="ignore"):
        places = np.floor((values / (high - low) - low / (high - low)) * _BINS)
    # The upper end belongs to the last part; what lies outside the domain has a code on either side.
    places = np.where(values == high, _BINS - 1, np.clip(places, -1, _BINS))
    return np.where(np.isnan(values), -2, np.nan_to_num(places)).astype(np.int64) + 2


def distribution_distances(first: FloatArray, second: FloatArray) -> tuple[float, float]:
    """The largest difference between two empirical distribution functions, and the area between them.

    They are the Kolmogorov-Smirnov statistic and the (first) Wasserstein distance.
    """
    first, second = np.sort(first), np.sort(second)
    at = np.sort(np.concatenate([first, second]))
    apart = np.abs(
        np.searchsorted(first, at, side="right") / len(first) - np.searchsorted(second, at, side="right") / len(second)
    )
    return float(apart.max()), float((apart[:-1] * np.diff(at)).sum())


def _jsd(context: Context) -> MeasureResult:
    return mean_of({one.name: jensen_shannon(*bins(one)) for one in context.pairs})


def _distances(context: Context) -> dict[str, tuple[float, float] | None]:
    def compute() -> dict[str, tuple[float, float] | None]:
        found: dict[str, tuple[float, float] | None] = {}
        for one in context.numbers:
            mean, deviation = one.scale
            first, second = ((side[~np.isnan(side)] - mean) / deviation for side in one.values)
            found[one.name] = distribution_distances(first, second) if len(first) and len(second) else None
        return found

    return context.cached("distribution distances", compute)


def _ks(context: Context) -> MeasureResult:
    return mean_of({name: None if found is None else found[0] for name, found in _distances(context).items()})


def _wasserstein(context: Context) -> MeasureResult:
    constant = {one.name for one in context.numbers if one.is_constant}
    found = _distances(context)
    return mean_of(
        {name: None if two is None or (name in constant and two[1] > 0) else two[1] for name, two in found.items()}
    )


def _categories_lost(context: Context) -> MeasureResult:
    details: dict[str, float | None] = {}
    for one in context.pairs:
        if one.joint.kind is Kind.NUMERIC:
            continue
        before, after = (set(np.unique(side[~np.isnan(side)]).tolist()) for side in one.values)
        details[one.name] = len(before - after) / len(before) if before else None
    if not details:
        return MeasureResult(None, "needs a nominal or ordinal quasi-identifier")
    return mean_of(details)


DISTRIBUTION = (
    Definition(
        "JSD",
        "utility",
        "distribution",
        "lower",
        "mean over quasi-identifiers of the Jensen-Shannon divergence (base 2) between original and released values; "
        "numbers in bins of 1/100 of the domain (declared bounds, or else the range of the original), ordinal and "
        "nominal attributes by value, missing a value of its own",
        _jsd,
        high=1.0,
        holds_of=RowKind.RANKS,
        explained=Words(
            "It says how different the distribution of each attribute became. At 0 both tables have the same "
            "histogram; at 1 they share no value.",
            "It does not know that neighbouring values are alike: averages that fall into the next bin count as much "
            "as values far away.",
            "Lin (1991), IEEE Trans. Inf. Theory 37(1), 145-151",
            short="difference of distributions (Jensen-Shannon)",
        ),
    ),
    Definition(
        "wasserstein",
        "utility",
        "distribution",
        "lower",
        "mean over numeric and ordinal quasi-identifiers of the area between the two distribution functions, in "
        "standard deviations of the original; over values that are present",
        _wasserstein,
        needs=(Need.NUMBERS,),
        holds_of=RowKind.RANKS,
        explained=Words(
            "It says how far values had to move, on average, to turn the original distribution into the released one. "
            "The unit is the attribute's standard deviation.",
            "It looks at each attribute alone: a column that is shuffled among the records stays at 0.",
            "Vallender (1974), doi:10.1137/1118101",
            short="average move of a value between distributions",
        ),
    ),
    Definition(
        "KS",
        "utility",
        "distribution",
        "lower",
        "mean over numeric and ordinal quasi-identifiers of the largest difference between the two distribution "
        "functions (Kolmogorov-Smirnov); over values that are present",
        _ks,
        high=1.0,
        needs=(Need.NUMBERS,),
        holds_of=RowKind.RANKS,
        explained=Words(
            "It says by how much the share of records below a value may be off, at most, averaged over attributes. At "
            "0.05, 'so many earn less than this' is off by up to five per cent of the records.",
            "It looks at each attribute alone, and little at the tails, where shares are small anyway.",
            "Massey (1951), doi:10.1080/01621459.1951.10500769",
            short="largest difference of cumulative shares",
        ),
    ),
    Definition(
        "categories_lost",
        "utility",
        "distribution",
        "lower",
        "mean over nominal and ordinal quasi-identifiers of the share of the original's categories that no released "
        "record has",
        _categories_lost,
        high=1.0,
        holds_of=RowKind.RANKS,
        explained=Words(
            "It says which share of the categories has vanished from the release. Rare categories go first, and with "
            "them small groups of people.",
            "A category that one record still has counts as kept, even if nearly all of its records lost it.",
            OUR_OWN,
            short="share of categories lost",
        ),
    ),
)
