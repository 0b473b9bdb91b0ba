"""The axes of a picture in words: what is measured, which direction is better, and numbers as people write them."""

from __future__ import annotations

import math
from collections.abc import Sequence
from textwrap import fill
from typing import Any

from microagg.evaluation.measures import measure_named

__all__ = ["as_written", "axis_title", "is_share", "set_scale", "short_words"]

_WIDE = 50.0
_FEW_DECADES = 2.5
_LONGEST = 66


def short_words(name: str) -> str:
    """A measure in a few words; its name if it has none."""
    return measure_named(name).explained.short or name


def is_share(name: str) -> bool:
    """Whether a measure is read in percent."""
    return short_words(name).startswith("share ")


def axis_title(what: str, name: str) -> str:
    """A measure's words and name, and which direction is better.

    Examples
    --------
    >>> print(axis_title("risk", "distance_linkage"))
    risk: share of records linked to the right person
    (distance_linkage; lower is better)
    """
    words, better = short_words(name), measure_named(name).better
    told = f"({name}; {better} is better)" if words != name else f"({better} is better)"
    return fill(f"{what}: {words}", _LONGEST) + f"\n{told}"


def as_written(value: float, *, share: bool) -> str:
    """A number of an axis, in percent if it is a share.

    Examples
    --------
    >>> as_written(0.05, share=True), as_written(0.000926, share=True), as_written(1500.0, share=False)
    ('5 %', '0.0926 %', '1,500')
    """
    number = 100 * value if share else value
    written = f"{number:,.0f}" if 1000 <= abs(number) < 1e6 else f"{number:.3g}"
    return f"{written} %" if share else written


def set_scale(axis: Any, which: str, values: Sequence[float], *, share: bool) -> None:
    """Set the ``"x"`` or ``"y"`` axis: logarithmic where values differ by more than a factor of 50, zero included."""
    from matplotlib.ticker import FuncFormatter, LogLocator, NullFormatter

    side = axis.xaxis if which == "x" else axis.yaxis
    change = axis.set_xscale if which == "x" else axis.set_yscale
    positive = [value for value in values if value > 0]
    wide = bool(positive) and min(values) >= 0 and max(positive) > _WIDE * min(positive)
    formatter = FuncFormatter(lambda value, _: as_written(value, share=share))
    if wide and len(positive) == len(values):
        change("log")
        decades = math.log10(max(positive) / min(positive))
        side.set_major_locator(LogLocator(subs=(1.0, 2.0, 5.0) if decades < _FEW_DECADES else (1.0,)))
        side.set_minor_formatter(NullFormatter())
    elif wide:
        change("symlog", linthresh=min(positive), linscale=0.3)
        side.set_minor_formatter(NullFormatter())
    side.set_major_formatter(formatter)
