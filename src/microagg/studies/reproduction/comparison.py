"""What is published beside what we find, and what to call the difference."""

from __future__ import annotations

import math
from collections import Counter
from collections.abc import Iterable
from dataclasses import dataclass
from enum import StrEnum

__all__ = ["LOG2", "PLAIN", "Row", "Scale", "Verdict", "claim", "compare", "note", "tally"]


class Verdict(StrEnum):
    """What a figure of ours is to the published one; :func:`compare` says when it is called so."""

    EXACT = "exact"
    CLOSE = "close"
    ORDER = "order"
    NOT_REPRODUCED = "not reproduced"
    NOT_PUBLISHED = "not published"


@dataclass(frozen=True)
class Scale:
    """How differences of a kind of figure are judged.

    Attributes
    ----------
    close : float
        The largest difference that is close: a share of the published figure, or in its own unit.
    order : float
        The largest that keeps the order of magnitude.
    relative : bool
        Whether both are shares of the published figure; of `order`, one that the ratio either way must not exceed.
    """

    close: float = 0.05
    order: float = 2.0
    relative: bool = True


PLAIN = Scale()
LOG2 = Scale(close=0.1, order=1.0, relative=False)
"""Of logarithms to base 2: 7 per cent, and a factor of two."""

_SURE = 2.0  # standard errors
_STEADY = 0.02  # of a figure: chance must not move it more, or everything would agree with it exactly
_UNEXPLAINED = "we found no reason"
_LOOSE = 0.5  # nor more than this, or everything would be close to it


@dataclass(frozen=True)
class Row:
    """One line of a table: what the paper says and what we find.

    Attributes
    ----------
    quantity : str
    published : float, str or None
        A printed figure, or what the text says; None where the paper only draws.
    ours : float, str or None
    difference : float or None
    verdict : Verdict
    convention : str
        How ours was computed where the paper leaves it open.
    why : str
        Of a figure that is not reproduced, why we think so.
    digits : int
        Printed after the point.
    error : float
        The standard error of the difference, where runs are drawn.
    interval : str
        Where 95 % of resamples of the runs put ours, in words; no verdict takes it into account.
    """

    quantity: str
    published: float | str | None
    ours: float | str | None
    difference: float | None
    verdict: Verdict
    convention: str = ""
    why: str = ""
    digits: int = 2
    error: float = 0.0
    interval: str = ""


def compare(
    quantity: str,
    published: float,
    ours: float,
    *,
    digits: int = 2,
    error: float = 0.0,
    scale: Scale = PLAIN,
    convention: str = "",
    why: str = "",
    in_words: bool = False,
    interval: str = "",
) -> Row:
    """A printed figure beside ours.

    ``exact`` is a difference of no more than half of the last printed digit, or of two standard errors where these are
    at most 2 % of the figure; ``close`` is what `scale` says beside two standard errors, where these are at most half
    of the figure; ``order`` is that of `scale`, and anything else ``not reproduced``.

    Parameters
    ----------
    digits : int
        How many the paper prints after the point; negative of whole tens.
    error : float
        The standard error of the difference: of ours, and of the published figure if it is a mean of runs too.
    in_words : bool
        Whether the paper prints no digits, but words ("half", "approximately 1/k"): then nothing is exact, and no
        rounding is allowed for.
    interval : str
        Where resamples of the runs put ours, in words.

    Examples
    --------
    >>> compare("a half", 0.5, 0.4505, digits=1, in_words=True).verdict.value
    'order'
    >>> compare("k'", 25.12, 25.1163).verdict.value, compare("k'", 25.12, 24.55).verdict.value
    ('exact', 'close')
    >>> compare("log2 SSE", 34.9, 35.6, digits=1, scale=LOG2).verdict.value, compare("k'", 1.9, 4.0).verdict.value
    ('order', 'not reproduced')
    """
    if not math.isfinite(ours):
        told = why or _UNEXPLAINED
        return Row(quantity, published, None, None, Verdict.NOT_REPRODUCED, convention, told, digits, error, interval)
    difference = ours - published
    size = abs(difference)
    unit, chance = (0.0 if in_words else 0.5 * 10.0**-digits * (1 + 1e-9)), _SURE * error
    whole = abs(published) if scale.relative else 1.0
    allowed = chance if chance <= _LOOSE * whole else 0.0
    if not in_words and (size <= unit or (chance <= _STEADY * whole and size <= unit + chance)):
        verdict = Verdict.EXACT
    elif size <= unit + scale.close * whole + allowed:
        verdict = Verdict.CLOSE
    elif _same_order(published, ours, unit, scale):
        verdict = Verdict.ORDER
    else:
        verdict = Verdict.NOT_REPRODUCED
    told = (why or _UNEXPLAINED) if verdict is Verdict.NOT_REPRODUCED else why if verdict is Verdict.ORDER else ""
    return Row(quantity, published, ours, difference, verdict, convention, told, digits, error, interval)


def _same_order(published: float, ours: float, unit: float, scale: Scale) -> bool:
    if not scale.relative:
        return abs(ours - published) <= scale.order
    # A printed 0.00 may be anything below half of its last digit.
    low, high = sorted([max(abs(published), unit), max(abs(ours), unit)])
    return high <= scale.order * low and published * ours >= 0


def claim(quantity: str, said: str, found: str, holds: bool, *, convention: str = "", why: str = "") -> Row:
    """What a paper's text says of a figure, and whether ours shows it: ``order`` or ``not reproduced``.

    Curves are drawn and not printed, so no more can be said of them.
    """
    verdict = Verdict.ORDER if holds else Verdict.NOT_REPRODUCED
    return Row(quantity, said, found, None, verdict, convention, "" if holds else why or _UNEXPLAINED)


def note(quantity: str, ours: float | str, *, digits: int = 2, convention: str = "", interval: str = "") -> Row:
    """A figure of ours beside which the paper prints none."""
    return Row(quantity, None, ours, None, Verdict.NOT_PUBLISHED, convention, digits=digits, interval=interval)


def tally(rows: Iterable[Row]) -> dict[str, int]:
    """How many rows have each verdict.

    Examples
    --------
    >>> tally([claim("a", "falls", "falls", True)])["order"]
    1
    """
    found = Counter(row.verdict for row in rows)
    return {verdict.value: found[verdict] for verdict in Verdict}
