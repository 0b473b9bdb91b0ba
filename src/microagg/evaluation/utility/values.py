"""Values: how far each released value is from the original one of its record."""

from __future__ import annotations

import math
from collections.abc import Callable, Mapping

import numpy as np

from microagg._typing import FloatArray, IntArray
from microagg.evaluation.context import Context
from microagg.evaluation.definition import Definition, MeasureResult, Need
from microagg.evaluation.pairs import Pair
from microagg.evaluation.utility.distortion import distortions
from microagg.evaluation.utility.papers import DATA_ORIENTED
from microagg.schema.attribute import Kind
from microagg.tables.phrases import columns_phrase
from microagg.tables.words import OUR_OWN, Words

__all__ = ["VALUES", "mean_of", "relative_errors"]


_NAMED = 12  # at most this many in a note


def mean_of(details: Mapping[str, float | None]) -> MeasureResult:
    """The mean over attributes (or whatever the details are of); the note names those it could not be had of."""
    had = [value for value in details.values() if value is not None and math.isfinite(value)]
    lacking = [name for name, value in details.items() if value is None or not math.isfinite(value)]
    named = ", ".join(repr(name) for name in lacking[:_NAMED])
    more = f" and {len(lacking) - _NAMED} more" if len(lacking) > _NAMED else ""
    note = f"without {named}{more}: constant, or never present" if lacking else ""
    return MeasureResult(float(np.mean(had)) if had else None, note, details=details)


def _both(one: Pair, rows: IntArray) -> tuple[FloatArray, FloatArray, int]:
    """Original and released numbers where both are present, and how many values are left out."""
    first, second = one.values[0][rows], one.values[1]
    present = ~(np.isnan(first) | np.isnan(second))
    return first[present], second[present], int((~present & ~(np.isnan(first) & np.isnan(second))).sum())


def _squared_errors(context: Context) -> tuple[dict[str, float | None], str]:
    def compute() -> tuple[dict[str, float | None], str]:
        details: dict[str, float | None] = {}
        left_out = 0
        for one in context.numbers:
            first, second, lost = _both(one, context.aligned_rows)
            with np.errstate(over="ignore"):
                details[one.name] = float(((first - second) ** 2).sum())
            left_out += lost
        return details, f"without {left_out} values that are missing on one side" if left_out else ""

    return context.cached("squared errors", compute)


def _sse(context: Context) -> MeasureResult:
    details, note = _squared_errors(context)
    return MeasureResult(sum(value or 0.0 for value in details.values()), note, details=details)


def _log2_sse(context: Context) -> MeasureResult:
    result = _sse(context)
    if result.value == 0:
        return MeasureResult(None, "SSE is 0: no number was changed")
    assert result.value is not None
    details = {name: math.log2(value) if value else None for name, value in result.details.items()}
    return MeasureResult(math.log2(result.value), result.note, details=details)


def _total(one: Pair, rows: IntArray) -> float:
    """Squared distance of each original value to the mean of all, averaged over records.

    For categories this is half the mean squared distance between two of them: they are points whose squared distances
    are 0 or 1, or semantic. A missing value is at distance 1 from every other.
    """
    values = one.values[0][rows]
    present = values[~np.isnan(values)]
    share = len(present) / len(values)
    spread = 0.0
    if one.joint.kind is not Kind.NOMINAL:
        spread = float((present / one.scale[1]).var()) if len(present) else 0.0
    elif len(present):
        shares = np.bincount(present.astype(np.int64), minlength=len(one.joint.labels)) / len(present)
        taxonomy = one.joint.attribute.taxonomy
        between = (
            1.0 - (shares**2).sum() if taxonomy is None else shares @ taxonomy.distances(one.joint.labels) @ shares
        )
        spread = float(between) / 2
    return share * spread + share * (1.0 - share)


def _sse_sst(context: Context) -> MeasureResult:
    errors = distortions(context)
    totals = {one.name: _total(one, context.aligned_rows) for one in context.pairs}
    details = {name: (error or 0.0) / totals[name] if totals[name] > 0 else None for name, error in errors.items()}
    constant = [name for name, total in totals.items() if total == 0]
    note = f"{columns_phrase(constant)} constant in the original" if constant else ""
    total = sum(totals.values())
    return MeasureResult(
        sum(error or 0.0 for error in errors.values()) / total if total > 0 else None, note, details=details
    )


def _il1s(context: Context) -> MeasureResult:
    details: dict[str, float | None] = {}
    for one in context.numbers:
        first, second, _ = _both(one, context.aligned_rows)
        usable = len(first) and not one.is_constant
        details[one.name] = float(np.abs((first - second) / one.scale[1]).mean()) / math.sqrt(2.0) if usable else None
    return mean_of(details)


def relative_errors(one: Pair, rows: IntArray) -> float:
    """|x - x'| / max(|x|, domain / 100), averaged over the records that have both."""
    first, second, _ = _both(one, rows)
    if not len(first):
        return math.nan
    low, high = one.domain
    least = np.maximum(np.abs(first), (high - low) / 100.0)
    change = np.abs(first - second)
    with np.errstate(divide="ignore", invalid="ignore"):
        # Where nothing can bound it (a constant 0), any change counts as a whole one.
        errors = np.where(least > 0, change / least, change > 0)
    return float(errors.mean())


def _relative_error(context: Context) -> MeasureResult:
    errors = {one.name: relative_errors(one, context.aligned_rows) for one in context.numbers}
    return mean_of({name: errors.get(name, far) for name, far in distortions(context).items()})


def _semantic_distance(context: Context) -> MeasureResult:
    return mean_of({one.name: distortions(context)[one.name] for one in context.categories})


def _define(
    name: str,
    formula: str,
    compute: Callable[[Context], MeasureResult],
    *more: Need,
    low: float | None = 0.0,
    high: float | None = None,
    explained: Words,
) -> Definition:
    needs = (*more, Need.ROWS)
    return Definition(name, "utility", "values", "lower", formula, compute, low, high, needs, explained=explained)


VALUES = (
    _define(
        "SSE",
        "sum over records and numeric or ordinal quasi-identifiers of the squared difference between original and "
        "released value, in the attributes' own units (ranks of ordinal ones)",
        _sse,
        Need.NUMBERS,
        explained=Words(
            "It adds up the squared differences between original and released numbers. Papers on microaggregation "
            "compare methods by it.",
            "It is in the attributes' own units, so the attribute with the largest numbers decides. It grows with the "
            "number of records, and cannot be compared between tables.",
            DATA_ORIENTED,
            short="sum of squared errors",
        ),
    ),
    _define(
        "log2_SSE",
        "logarithm of SSE to base 2",
        _log2_sse,
        Need.NUMBERS,
        low=None,
        explained=Words(
            "It is SSE on a scale of doublings: one less means half the squared error. It serves to compare with "
            "papers that print it.",
            "A small difference is a large one in truth, and a percentage of it means nothing. It inherits the units "
            "of SSE.",
            "Cross-moment microaggregation, docs/algorithms/cross_moment.md",
            short="sum of squared errors, in doublings",
        ),
    ),
    _define(
        "SSE_SST",
        "sum of squared distances between original and released values over the sum of squared distances of the "
        "original values to their mean; numbers in standard deviations of the original, categories at distance 0 or 1 "
        "or their semantic distance, a value missing on one side only at distance 1",
        _sse_sst,
        explained=Words(
            "It says which share of the variation in the quasi-identifiers the release has lost. At 0 nothing "
            "changed; at 1 the release says no more than the overall means.",
            "It can be low while outliers, rare categories or relations with other attributes are lost. Noise can "
            "push it above 1. Drawn values count as loss although they keep the spread of their column.",
            DATA_ORIENTED,
            short="share of the variation lost",
        ),
    ),
    _define(
        "IL1s",
        "mean over records and numeric or ordinal quasi-identifiers of |x - x'| / (sqrt(2) s), s the standard "
        "deviation (divisor n) of the original attribute",
        _il1s,
        Need.NUMBERS,
        explained=Words(
            "It says how far a released number lies from the original one on average. The unit is 1.41 (the root of "
            "two) standard deviations: the standard deviation of a difference between two records. The size of a "
            "difference counts, not its square, so outliers weigh less than in SSE.",
            "An attribute with a few huge values has a huge standard deviation, so that large errors of ordinary "
            "values look small.",
            "Yancey, Winkler & Creecy (2002), Disclosure risk assessment in perturbative microdata protection",
            short="average change of a number, in units of 1.41 standard deviations",
        ),
    ),
    _define(
        "relative_error",
        "mean over records and quasi-identifiers of |x - x'| / max(|x|, domain / 100); domain is the width of the "
        "declared bounds, or of those that the recipe reads from the data, or else the range of the original; "
        "categories: 0 or 1, or their semantic distance; where "
        "the denominator is 0, 1 if changed",
        _relative_error,
        explained=Words(
            "It says by which part of itself a value changed on average. A person reads it as 'values are off by so "
            "much per cent'.",
            "Values near zero would make it explode, so the denominator is at least a hundredth of the domain. "
            "Declared bounds that are too wide make errors look small.",
            OUR_OWN,
            short="average relative change of a value",
        ),
    ),
    _define(
        "semantic_distance",
        "mean over records and nominal quasi-identifiers of the distance between original and released category: "
        "log2(1 + share of the two's ancestors that they do not share) with a taxonomy, 0 or 1 without",
        _semantic_distance,
        Need.CATEGORIES,
        high=1.0,
        explained=Words(
            "It says how far released categories lie from the original ones. With a taxonomy, a near relative counts "
            "less than a stranger.",
            "Without a taxonomy every change counts fully. With one, the result depends on how finely the tree is "
            "drawn.",
            "Sanchez et al. (2012), Expert Systems with Applications 39(9), 7718-7728",
            short="average distance of categories from the original ones",
        ),
    ),
)
