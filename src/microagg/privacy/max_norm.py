"""Noise for many counts of which one record can change all, each by little: the L-infinity mechanism on integers.

Laplace noise on p counts that one record changes by 1 each has scale p / epsilon on every count. Noise whose density
falls with the *largest* coordinate costs the same epsilon and is smaller: with ``P(z)`` proportional to
``exp(-epsilon max |z_i|)`` a count's noise has a standard deviation of about ``p / (sqrt(3) epsilon)`` instead of
``sqrt(2) p / epsilon``.

No library has it for integers, so it is drawn here, exactly:

1. The radius R >= 0 has weight ``(2R + 1)^p exp(-epsilon R)``.
2. Given R, each coordinate is uniform on ``-R .. R``.

A point z is then drawn with weight ``sum over R >= max |z_i| of exp(-epsilon R)``, which is proportional to
``exp(-epsilon max |z_i|)``: step 1 counts the ``(2R + 1)^p`` points of a cube, and step 2 divides by them. For counts
c, c' with ``max |c_i - c'_i| <= 1`` the weights of ``z - c`` and ``z - c'`` differ by at most a factor of
``exp(epsilon)``.

The weights are irrational; no float stands for them. The cumulative weights are enclosed between integers of many bits,
rounded down and up, and a uniform number of as many random bits is looked up between them. If the enclosure does not
decide, both get more bits. So every radius comes with exactly its probability.

There are some ``(16 sqrt(p) + 130) / epsilon`` such weights: too many for a small epsilon. Then R is drawn as a sum of
p + 1 geometric numbers, which has weight ``(R + 1) ... (R + p) exp(-epsilon R)``, and kept with probability
``(2R + 1) / (2R + 2) x ... x (2R + 1) / (2R + 2p)``, else drawn anew: what is kept has the weight above. Of all draws
about ``exp(-p epsilon / 2)`` are kept. Geometric numbers are drawn exactly as well [1]_.

References
----------
.. [1] Canonne, C., Kamath, G. & Steinke, T. (2020). The discrete Gaussian for differential privacy. Algorithms 1, 2.
"""

from __future__ import annotations

import math
from bisect import bisect_right
from collections.abc import Callable
from fractions import Fraction
from functools import lru_cache
from itertools import accumulate

__all__ = ["RandomBits", "max_norm_noise", "radius_from"]

RandomBits = Callable[[int], int]
"""A source of independent fair bits: ``bits(count)`` is uniform on ``0 .. 2^count - 1``."""

_FIRST_PRECISION = 192
_SMALL = Fraction(1, 64)  # an epsilon below which there are too many weights to list
_MOST_TRIED = 6  # dimension x epsilon, up to which one of 20 sums of geometric numbers is kept


def max_norm_noise(dimension: int, epsilon: Fraction, bits: RandomBits) -> list[int]:
    """Integers z_1 .. z_p with probability proportional to ``exp(-epsilon max |z_i|)``."""
    radius = radius_from(dimension, epsilon, bits)
    return [_below(2 * radius + 1, bits) - radius for _ in range(dimension)]


def radius_from(dimension: int, epsilon: Fraction, bits: RandomBits) -> int:
    """A whole number R >= 0 with probability proportional to ``(2R + 1)^dimension exp(-epsilon R)``."""
    if epsilon < _SMALL and dimension * epsilon <= _MOST_TRIED:
        return _radius_by_trial(dimension, epsilon, bits)
    # Radii below the likeliest one, if there are any, are weighed by 1 / exp(-epsilon), which must not round to 0.
    precision = _FIRST_PRECISION + (2 * math.ceil(epsilon) if dimension > epsilon else 0)
    drawn = bits(precision)
    while True:  # ends: an enclosure of b more bits leaves a number undecided with probability below 2^-b
        found = _look_up(drawn, precision, _enclosed_weights(dimension, epsilon, precision))
        if found is not None:
            return found
        drawn = (drawn << precision) | bits(precision)
        precision *= 2


def _radius_by_trial(dimension: int, epsilon: Fraction, bits: RandomBits) -> int:
    """The same by rejection, at a cost that does not depend on epsilon."""
    while True:  # ends: each round keeps its number with a probability of at least about exp(-_MOST_TRIED / 2)
        radius = sum(_geometric(epsilon, bits) for _ in range(dimension + 1))
        if all(_happens(2 * radius + 1, 2 * (radius + i), bits) for i in range(1, dimension + 1)):
            return radius


def _geometric(rate: Fraction, bits: RandomBits) -> int:
    """A whole number k >= 0 with probability proportional to ``exp(-rate k)``."""
    while True:  # ends: more than a third of all draws are kept
        part = _below(rate.denominator, bits)
        if _happens_exp(part, rate.denominator, bits):
            break
    whole = 0
    while _happens_exp(1, 1, bits):  # ends: goes on with probability 1 / e
        whole += 1
    return (part + whole * rate.denominator) // rate.numerator


def _happens_exp(above: int, below: int, bits: RandomBits) -> bool:
    """True with probability ``exp(-above / below)``, for a fraction of 0 to 1: von Neumann's falling runs."""
    length = 1
    while _happens(above, below * length, bits):  # ends: goes on with probability at most 1 / length
        length += 1
    return length % 2 == 1


def _happens(above: int, below: int, bits: RandomBits) -> bool:
    """True with probability ``above / below``."""
    return _below(below, bits) < above


def _below(bound: int, bits: RandomBits) -> int:
    """Uniform on ``0 .. bound - 1``."""
    length = (bound - 1).bit_length()
    while True:  # ends: more than half of all draws are below the bound
        number = bits(length)
        if number < bound:
            return number


class _Weights:
    """Weights of radii ``first, first + 1, ...`` between integers, and what the radii left out weigh at most."""

    def __init__(self, first: int, low: list[int], high: list[int], below: int, above: int) -> None:
        self.first = first
        self.low_sums = [0, *accumulate(low)]
        self.high_sums = [below, *accumulate(high, initial=below)][1:]
        self.least, self.most = self.low_sums[-1], self.high_sums[-1] + above


def _look_up(drawn: int, precision: int, weights: _Weights) -> int | None:
    """The radius whose share of all weight holds every number with the drawn leading bits; None if that is not sure."""
    # Radius first + i is meant if (cumulative weight before it) <= u < (cumulative weight with it), u of all weight.
    target = (drawn * weights.least) >> precision
    place = bisect_right(weights.low_sums, target) - 1
    for i in (place - 1, place, place + 1):
        if not 0 <= i < len(weights.low_sums) - 1:
            continue
        surely_above = drawn * weights.least >= weights.high_sums[i] << precision
        surely_below = (drawn + 1) * weights.most <= weights.low_sums[i + 1] << precision
        if surely_above and surely_below:
            return weights.first + i
    return None


@lru_cache(maxsize=4)
def _enclosed_weights(dimension: int, epsilon: Fraction, precision: int) -> _Weights:
    """Weights relative to that of the likeliest radius, down and up from it until they are below one unit."""
    unit = 1 << precision
    fall = _exp_of_minus(epsilon, precision)
    middle = max(int(dimension / epsilon - Fraction(1, 2)), 0)
    above_low, above_high, above = _side(dimension, fall, middle, 1, unit, precision)
    below_low, below_high, below = _side(dimension, fall, middle, -1, unit, precision)
    return _Weights(
        middle - len(below_low),
        [*reversed(below_low), unit, *above_low],
        [*reversed(below_high), unit, *above_high],
        below,
        above,
    )


def _side(
    dimension: int, fall: tuple[int, int], start: int, step: int, unit: int, precision: int
) -> tuple[list[int], list[int], int]:
    """Weights of the radii after `start` in one direction, and a bound of all that follow."""
    low, high = unit, unit
    lows: list[int] = []
    highs: list[int] = []
    radius = start
    while True:  # ends: at radius 0, or as weights fall ever faster, once one is below one unit
        if step < 0 and radius == 0:
            return lows, highs, 0
        rise = _power(2 * max(radius, radius + step) + 1, 2 * min(radius, radius + step) + 1, dimension, precision)
        up = (rise[0] * fall[0] >> precision, -(-rise[1] * fall[1] >> precision))
        if step > 0:
            low, high = low * up[0] >> precision, -(-high * up[1] >> precision)
            ratio = up[1]
        else:
            low, high = (low << precision) // up[1], -(-(high << precision) // up[0])
            ratio = -(-(1 << 2 * precision) // up[0])
        lows.append(low)
        highs.append(high)
        radius += step
        # Ratios of neighbours fall as radii go away from the middle, so the rest is below a geometric series.
        if low == 0 and ratio < unit:
            return lows, highs, high * ratio // (unit - ratio) + 1


def _power(above: int, below: int, exponent: int, precision: int) -> tuple[int, int]:
    """``(above / below) ** exponent`` between two integers, in units of 2^-precision."""
    low, high = (above << precision) // below, -(-(above << precision) // below)
    result_low = result_high = 1 << precision
    while exponent:  # ends: one bit less each time
        if exponent & 1:
            result_low = result_low * low >> precision
            result_high = -(-result_high * high >> precision)
        low, high = low * low >> precision, -(-high * high >> precision)
        exponent >>= 1
    return result_low, result_high


def _exp_of_minus(x: Fraction, precision: int) -> tuple[int, int]:
    """``exp(-x)`` between two integers, in units of 2^-precision, for x > 0."""
    halvings = max(0, math.ceil(x).bit_length() + 1)
    # Squaring loses a bit each time; the series of exp(-y), y <= 1/2, alternates, so neighbours enclose it.
    work = precision + 2 * halvings + 16
    y = x / (1 << halvings)
    low_term = high_term = 1 << work
    low = high = 1 << work
    n = 0
    while high_term > 1:  # ends: every term is at most half of the one before
        n += 1
        low_term = low_term * y.numerator // (y.denominator * n)
        high_term = -(-high_term * y.numerator // (y.denominator * n))
        low, high = (low - high_term, high - low_term) if n % 2 else (low + low_term, high + high_term)
    low, high = low - high_term, high + high_term
    for _ in range(halvings):
        low, high = low * low >> work, -(-high * high >> work)
    shift = work - precision
    return low >> shift, -(-high >> shift)
