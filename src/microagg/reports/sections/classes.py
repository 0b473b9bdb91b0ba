"""How near the classes of a released table come to what is required of their confidential values."""

from __future__ import annotations

from collections.abc import Sequence
from typing import Any

import numpy as np

from microagg._typing import FloatArray
from microagg.privacy.requirement import (
    DISTINCT_L,
    ENTROPY_L,
    MAX_SHARE,
    MIN_RANGE,
    P_SENSITIVE,
    RECURSIVE_C_L,
    T_CLOSENESS,
)
from microagg.reports.results import ClassesFound

__all__ = ["QUANTITIES", "describe_classes"]

_BINS = 10
QUANTITIES = {
    DISTINCT_L: "number of different values in a class",
    P_SENSITIVE: "number of different values in a class",
    ENTROPY_L: "number of equally frequent values that are as diverse as those of a class",
    RECURSIVE_C_L: "ratio of the records of a class with its most frequent value to those with values from the l-th on",
    T_CLOSENESS: "distance of a class from the whole table",
    MAX_SHARE: "share of the most frequent value of a class",
    MIN_RANGE: "range of the numbers of a class",
}
"""What requirements bound, in words."""


def describe_classes(results: Sequence[ClassesFound]) -> list[dict[str, Any]]:
    """For each requirement, how many classes have how much of what it bounds, with the bound between two bins."""
    return [_describe(one) for one in results]


def _describe(one: ClassesFound) -> dict[str, Any]:
    kind, bound = one.requirement.kind, one.requirement.bound
    within, n_missing = one.found[one.holds], int((~one.holds).sum())
    if kind in (DISTINCT_L, P_SENSITIVE):
        bins = _whole_numbers(within, int(bound))
    else:
        largest = float(within[np.isfinite(within)].max(initial=bound))
        bins = _numbers(within, *((bound, largest) if kind.at_least else (0.0, bound)))
    missed = "below {}" if kind.at_least else "{} or more" if kind is RECURSIVE_C_L else "above {}"
    beyond = [_bin(missed.format(_short(bound)), n_missing)] if n_missing else []
    median = float(np.median(one.found))
    return {
        "title": one.requirement.title,
        "attribute": one.requirement.attribute,
        "of": QUANTITIES[kind],
        "limit": f"{'below' if kind is RECURSIVE_C_L else 'at least' if kind.at_least else 'at most'} {bound:g}",
        "bound": bound,
        "n_classes": len(one.found),
        "n_missing": n_missing,
        "median": median if np.isfinite(median) else None,
        "bins": [*beyond, *bins] if kind.at_least else [*bins, *beyond],
        "mark": len(beyond) if kind.at_least else len(bins),
    }


def _whole_numbers(found: FloatArray, low: int) -> list[dict[str, Any]]:
    """Bins of one or more whole numbers, from the lowest on."""
    high = int(found.max(initial=low))
    step = -(-(high - low + 1) // _BINS)
    starts = range(low, high + 1, step)
    counts = np.bincount((found.astype(np.int64) - low) // step, minlength=len(starts))
    labels = [str(start) if step == 1 else f"{start}\N{EN DASH}{start + step - 1}" for start in starts]
    return [_bin(label, int(count)) for label, count in zip(labels, counts, strict=True)]


def _numbers(found: FloatArray, low: float, high: float) -> list[dict[str, Any]]:
    """Bins of equal width; a value just beyond an end, by rounding, is in the bin at that end."""
    edges = np.linspace(low, high if high > low else low + 1.0, _BINS + 1)
    counts, _ = np.histogram(np.clip(found, edges[0], edges[-1]), edges)
    return [
        {**_bin(f"{_short(left)} to {_short(right)}", int(count)), "from": _short(left), "to": _short(right)}
        for left, right, count in zip(edges[:-1], edges[1:], counts, strict=True)
    ]


def _bin(label: str, classes: int) -> dict[str, Any]:
    return {"label": label, "classes": classes}


def _short(value: float) -> str:
    """A number in three digits; without an exponent, unless it is very large or small."""
    return f"{float(f'{value:.3g}'):g}"
