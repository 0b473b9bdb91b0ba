"""Epsilons that add up as people write them: three of 0.1 make 0.3.

A number counts by its shortest decimals, 0.1 as one tenth, in exact fractions. By its bits, three of 0.1 would be above
a cap of 0.3, by 2e-17.
"""

from __future__ import annotations

import math
from fractions import Fraction

__all__ = ["as_written", "at_least", "at_most", "plain"]


def as_written(number: float) -> Fraction:
    """A number by its decimals, exactly.

    Examples
    --------
    >>> as_written(0.1) + as_written(0.2) == as_written(0.3)
    True
    """
    return Fraction(repr(float(number)))


def at_least(exact: Fraction) -> float:
    """A number for an exact amount that, as it is written, is not below it: for what was spent."""
    near = float(exact)
    while as_written(near) < exact:
        near = math.nextafter(near, math.inf)
    return near


def at_most(exact: Fraction) -> float:
    """A number for an exact amount that, as it is written, is not above it: for what is left."""
    near = float(exact)
    while as_written(near) > exact:
        near = math.nextafter(near, -math.inf)
    return near


def plain(number: float) -> str:
    """A number as people write it: 3, not 3.0."""
    return repr(float(number)).removesuffix(".0")
