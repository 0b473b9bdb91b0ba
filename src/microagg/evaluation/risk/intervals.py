"""Interval disclosure: how often an original value lies close around the released one."""

from __future__ import annotations

from collections.abc import Callable, Sequence
from dataclasses import dataclass, field

import numpy as np

from microagg._typing import FloatArray, IntArray
from microagg.evaluation.context import Context
from microagg.evaluation.definition import Definition, MeasureResult, Need
from microagg.evaluation.pairs import Pair
from microagg.evaluation.result import Values
from microagg.evaluation.utility.papers import COMPARISON
from microagg.tables.words import Words

__all__ = ["INTERVALS", "WINDOWS", "Intervals", "interval_disclosure", "interval_disclosure_rank", "places_among"]


WINDOWS = tuple(percent / 100 for percent in range(1, 11))
"""Half widths: 1 to 10 % of the standard deviation or of the number of records."""


@dataclass(frozen=True)
class Intervals:
    """How often original values lie within intervals around the released ones, averaged over widths.

    Attributes
    ----------
    share : float
        Of the original values that are not missing. A released value that is missing discloses nothing.
    by_chance : float
        The same share if released values belonged to records at random.
    inside : ndarray of shape (n_released,)
        For each record the share of widths; NaN where the original value is missing.
    """

    share: float
    by_chance: float
    inside: FloatArray = field(repr=False)


def interval_disclosure(
    original: FloatArray, released: FloatArray, half_widths: Sequence[float], rows: IntArray | None = None
) -> Intervals:
    """Share of values that are at most a half width away from their released value, averaged over the half widths.

    Parameters
    ----------
    original, released : ndarray
        NaN is missing.
    half_widths : sequence of float
    rows : ndarray, optional
        The row of `original` that each released record came from; default: the same row.

    Examples
    --------
    >>> found = interval_disclosure(np.array([0.0, 1.0, 2.0, 9.0]), np.array([0.5, 0.5, 2.5, 2.5]), [0.5])
    >>> found.share, found.by_chance
    (0.75, 0.375)
    """
    own = original if rows is None else original[rows]
    there = ~np.isnan(own)
    apart = np.abs(own - released)
    inside = np.zeros(len(own))
    by_chance = 0.0
    known, published = np.sort(original[~np.isnan(original)]), released[there]
    n_pairs = max(len(known) * len(published), 1)
    published = np.sort(published[~np.isnan(published)])
    for width in half_widths:
        inside += apart <= width
        near = np.searchsorted(known, published + width, "right") - np.searchsorted(known, published - width, "left")
        by_chance += float(near.sum()) / n_pairs
    inside /= len(half_widths)
    share = float(inside[there].mean()) if there.any() else np.nan
    return Intervals(share, by_chance / len(half_widths), np.where(there, inside, np.nan))


def places_among(values: FloatArray, among: FloatArray) -> FloatArray:
    """For each value, how many of `among` are smaller; NaN stays NaN.

    Examples
    --------
    >>> places_among(np.array([2.0, 9.0]), np.array([1.0, 2.0, 3.0])).tolist()
    [1.0, 3.0]
    """
    known = np.sort(among[~np.isnan(among)])
    return np.where(np.isnan(values), np.nan, np.searchsorted(known, values, "left").astype(np.float64))


def _by_value(one: Pair, rows: IntArray) -> Intervals:
    _, deviation = one.scale
    widths = [0.0 if one.is_constant else window * deviation for window in WINDOWS]
    return interval_disclosure(*one.values, widths, rows)


def _by_rank(one: Pair, rows: IntArray) -> Intervals:
    original, released = one.values
    n_present = int((~np.isnan(original)).sum())
    places = places_among(original, original), places_among(released, original)
    return interval_disclosure(*places, [window * n_present for window in WINDOWS], rows)


def _measure_with(how: Callable[[Pair, IntArray], Intervals]) -> Callable[[Context], MeasureResult]:
    def compute(context: Context) -> MeasureResult:
        found = {one.name: how(one, context.aligned_rows) for one in context.numbers}
        shares = np.array([one.share for one in found.values()])
        if np.isnan(shares).all():
            return MeasureResult(None, "all original numbers are missing")
        chances = [one.by_chance for one in found.values() if not np.isnan(one.share)]
        records = None
        if context.per_record:
            inside = np.vstack([one.inside for one in found.values()])
            there = ~np.isnan(inside)
            records = Values("released", np.nansum(inside, axis=0) / np.maximum(there.sum(axis=0), 1))
        return MeasureResult(
            float(np.nanmean(shares)),
            baseline=float(np.mean(chances)),
            details={name: one.share for name, one in found.items()},
            records=records,
        )

    return compute


_of_values, _of_ranks = _measure_with(_by_value), _measure_with(_by_rank)


def interval_disclosure_rank(context: Context) -> MeasureResult:
    """Interval disclosure by windows of ranks."""
    return context.cached("interval disclosure by rank", lambda: _of_ranks(context))


INTERVALS = (
    Definition(
        "interval_disclosure_value",
        "risk",
        "intervals",
        "lower",
        "share of original numbers that are at most p standard deviations of the original away from the released one; "
        "mean over attributes and over p = 1 % .. 10 %",
        _of_values,
        high=1.0,
        needs=(Need.ROWS, Need.NUMBERS),
        explained=Words(
            "It says how often an original number lies close to the released one: within one to ten per cent of a "
            "standard deviation. Then the release tells it nearly.",
            "Skewed numbers lie close together anyway, so that the standard deviation makes nearly all look "
            "disclosed. Compare with chance.",
            "Mateo-Sanz, Sebe & Domingo-Ferrer (2004), Outlier protection in continuous microdata masking",
            short="share of numbers told nearly, by value",
        ),
    ),
    Definition(
        "interval_disclosure_rank",
        "risk",
        "intervals",
        "lower",
        "share of original numbers whose place among the original numbers (how many are smaller) differs from that of "
        "the released one by at most p times the number of records; mean over attributes and over p = 1 % .. 10 %",
        interval_disclosure_rank,
        high=1.0,
        needs=(Need.ROWS, Need.NUMBERS),
        explained=Words(
            "It says how often an original number has nearly the same place in the order as the released one: within "
            "one to ten per cent of the records.",
            "A value may keep its place and be far off, where numbers are wide apart. Our rule for ties is one of "
            "several.",
            COMPARISON,
            short="share of numbers told nearly, by rank",
        ),
    ),
)
