"""What a public report may show: round numbers, and nothing about fewer than a handful of records.

The released table is public, so what is computed from it alone reveals nothing new. A report is still not the table:
more people read it, and attributes that are published as they are hold values of records. So public figures are coarse.
"""

from __future__ import annotations

import math
from collections.abc import Sequence

__all__ = ["LEAST", "coarse", "least_of", "nice_step", "pool_bins", "pool_categories", "public_step", "round_to"]

LEAST = 10
"""The fewest records a public figure may be about, whatever k is."""

_DIGITS = 3
_SMALLEST = 1e-250  # finer steps would vanish


def least_of(k: int) -> int:
    """The fewest records that a public figure may be about.

    Examples
    --------
    >>> least_of(3), least_of(25)
    (10, 25)
    """
    return max(k, LEAST)


def coarse(value: float | None, digits: int = 2) -> float | None:
    """A number in few significant digits.

    Examples
    --------
    >>> coarse(0.123456), coarse(98765.4), coarse(0.0), coarse(None)
    (0.12, 99000.0, 0.0, None)
    """
    if value is None or value == 0 or not math.isfinite(value):
        return value
    return round(value, digits - 1 - math.floor(math.log10(abs(value))))


def nice_step(width: float) -> float:
    """The smallest of 1, 2, 5 times a power of ten that is not below `width`.

    Examples
    --------
    >>> nice_step(0.7), nice_step(3.0), nice_step(12.0)
    (1.0, 5.0, 20.0)
    """
    power = 10.0 ** math.floor(math.log10(width))
    return next(step * power for step in (1, 2, 5, 10) if step * power >= width * (1 - 1e-9))


def public_step(low: float, high: float, parts: int, *, smallest: float = 0.0) -> float | None:
    """The grid of public numbers between `low` and `high`: about `parts` steps, and at most three significant digits.

    None if numbers of three digits cannot tell four places of the range apart: then no number is shown.

    Examples
    --------
    >>> public_step(18.0, 90.0, 20)
    5.0
    >>> public_step(1950.0, 2010.0, 20)
    10.0
    >>> public_step(9100001.0, 9100200.0, 20) is None
    True
    """
    largest = max(abs(low), abs(high))
    if high > low and ((high - low) / parts < _SMALLEST or high - low < largest * 1e-12):
        return None
    if high <= low:
        return 10.0 ** (math.floor(math.log10(largest)) - _DIGITS + 2) if largest > 0 else 1.0
    digits = 10.0 ** (math.floor(math.log10(largest)) - _DIGITS + 1)
    step = max(nice_step((high - low) / parts), digits, smallest)
    return step if high - low >= 4 * step or step <= smallest else None


def round_to(value: float, step: float) -> float:
    """The multiple of `step` nearest to a value, without the noise of binary fractions.

    Examples
    --------
    >>> round_to(0.327, 0.1)
    0.3
    """
    return float(f"{round(value / step) * step:.12g}")


def pool_bins(edges: Sequence[float], counts: Sequence[int], least: int) -> tuple[list[float], list[int]]:
    """Merge neighbouring bins until each is empty or has at least `least` records.

    The smallest bin that has too few joins the nearest one with records (the smaller of two). Nothing is left if all
    together are too few.

    Examples
    --------
    >>> pool_bins([0, 1, 2, 3, 4], [20, 3, 0, 30], least=10)
    ([0, 2, 3, 4], [23, 0, 30])
    >>> pool_bins([0, 1, 2], [3, 4], least=10)
    ([], [])
    """
    edges, counts = list(edges), list(counts)
    if sum(counts) < least:
        return [], []
    while any(0 < count < least for count in counts):
        i = min((i for i, count in enumerate(counts) if 0 < count < least), key=lambda i: counts[i])
        with_records = [j for j in range(len(counts)) if counts[j] and j != i]
        # An empty neighbour would not help.
        j = min(with_records, key=lambda j: (abs(j - i), counts[j]))
        first, last = min(i, j), max(i, j)
        counts[first : last + 1] = [counts[i] + counts[j]]
        edges[first + 1 : last + 1] = []
    return edges, counts


def pool_categories(
    counts: Sequence[int], may_be_named: Sequence[bool], least: int, limit: int
) -> tuple[list[int], int]:
    """Which categories may be named, most frequent first, and how many records all the others have together.

    A category is named if it may be and has at least `least` records; if the others together have too few, the least
    frequent named ones join them.

    Examples
    --------
    >>> pool_categories([50, 12, 3, 30], [True] * 4, least=10, limit=12)
    ([0, 3], 15)
    """
    by_count = sorted(range(len(counts)), key=lambda i: (-counts[i], i))
    named = [i for i in by_count if may_be_named[i] and counts[i] >= least][:limit]
    others = sum(counts) - sum(counts[i] for i in named)
    while named and 0 < others < least:
        others += counts[named.pop()]
    return named, others
