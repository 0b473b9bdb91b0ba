"""The radius of noise in whole numbers: how many replaced records a draw of noise is worth, drawn exactly.

Noise of :mod:`microagg.privacy.noise.max_norm` and :mod:`microagg.privacy.noise.histograms` lies in a ball around 0
whose radius R has weight ``volume(R) exp(-epsilon R)``, where the volume counts the points of the ball; given R, each
of them is as likely as any other. A point of norm s is then drawn with weight ``sum over R >= s of exp(-epsilon R)``,
which is proportional to ``exp(-epsilon s)``.

A :class:`Ball` is a product of balls of root lattices: the ball of rank n and radius R holds the vectors of n + 1
whole numbers that sum to 0 and whose positive parts sum to at most R. They are how a histogram of n + 1 cells can
change when R records are replaced. Their number is ``sum over j of C(n, j)^2 C(R - j + n, n)`` [1]_; of rank 1 it is
``2R + 1``. The generating polynomial of ``C(n, j)^2`` has real zeros alone, so the numbers are log-concave in R:
ratios of neighbours fall, which bounds what is left out of a list of weights.

The weights are irrational; no float stands for them. The cumulative weights are enclosed between integers of many
bits, rounded down and up, and a uniform number of as many random bits is looked up between them. If the enclosure
does not decide, both get more bits. So every radius comes with exactly its probability.

There are at most about ``(32 sqrt(D) + 130) / epsilon`` such weights, for D the sum of the ranks: too many for a small
epsilon. Then R is drawn as a sum of D + 1 geometric numbers, which has weight ``(R + 1) ... (R + D) exp(-epsilon
R)``, and kept with a probability that makes the volume of the product; no volume is above its share of it (see
:meth:`Ball.kept`). Of all draws about ``exp(-D epsilon / 2)`` are kept. Geometric numbers are drawn exactly as well
[2]_.

References
----------
.. [1] Conway, J. H. & Sloane, N. J. A. (1997). Low-dimensional lattices VII: coordination sequences. Proceedings of
   the Royal Society A 453, 2369-2389. doi:10.1098/rspa.1997.0126
.. [2] Canonne, C., Kamath, G. & Steinke, T. (2020). The discrete Gaussian for differential privacy. Algorithms 1, 2.
"""

from __future__ import annotations

import math
from bisect import bisect_right
from collections import Counter
from collections.abc import Callable, Iterator, Sequence
from dataclasses import dataclass
from fractions import Fraction
from functools import lru_cache
from itertools import accumulate

__all__ = ["Ball", "RandomBits", "below", "points_within", "radius_from"]

RandomBits = Callable[[int], int]
"""A source of independent fair bits: ``bits(count)`` is uniform on ``0 .. 2^count - 1``."""

_FIRST_PRECISION = 192
_PER_DEVIATION, _AT_LEAST = 32, 130  # how long a list of weights is, times epsilon

Enclosed = tuple[int, int]
"""A number between two whole ones, in units of 2^-precision."""


@dataclass(frozen=True)
class Ball:
    """A product of balls of root lattices, all of one radius.

    Attributes
    ----------
    ranks : tuple of (int, int)
        Ascending: a rank, and how many of the lattices have it.
    """

    ranks: tuple[tuple[int, int], ...]

    @classmethod
    def of(cls, ranks: Sequence[int]) -> Ball:
        """The product of balls of these ranks, each at least 1."""
        return cls(tuple(sorted(Counter(ranks).items())))

    @property
    def dimension(self) -> int:
        return sum(rank * count for rank, count in self.ranks)

    def rise(self, radius: int, precision: int) -> Enclosed:
        """How many times as many points there are within `radius` + 1 as within `radius`."""
        low = high = 1 << precision
        for rank, count in self.ranks:
            above, under = points_within(rank, radius + 1), points_within(rank, radius)
            more = _power(above, under, count, precision)
            low, high = low * more[0] >> precision, -(-high * more[1] >> precision)
        return low, high

    def kept(self, radius: int) -> Iterator[tuple[int, int]]:
        """Fractions of at most 1 whose product is the volume over ``(R + 1) ... (R + D)``, times a constant.

        A lattice of rank n takes the next n of the factors ``R + i``. Each ``C(R - j + n, n)`` is at most
        ``(R + 1) ... (R + n) / n!``, and the squares of ``C(n, j)`` sum to ``C(2n, n)``: so ``n! / C(2n, n)`` times its
        volume is at most ``(R + 1) ... (R + n)``, and no later factor is smaller.
        """
        done = 0
        for rank, count in self.ranks:
            above, share = points_within(rank, radius) * math.factorial(rank), math.comb(2 * rank, rank)
            for _ in range(count):
                yield above, share * math.prod(range(radius + done + 1, radius + done + rank + 1))
                done += rank


@lru_cache(maxsize=4096)
def points_within(rank: int, radius: int) -> int:
    """How many ways there are to change a histogram of `rank` + 1 cells by replacing at most `radius` records.

    Examples
    --------
    >>> [points_within(1, radius) for radius in range(4)], [points_within(2, radius) for radius in range(4)]
    ([1, 3, 5, 7], [1, 7, 19, 37])
    """
    return sum(math.comb(rank, j) ** 2 * math.comb(radius - j + rank, rank) for j in range(min(rank, radius) + 1))


def radius_from(ball: Ball, epsilon: Fraction, bits: RandomBits) -> int:
    """A whole number R >= 0 with probability proportional to the volume of the ball times ``exp(-epsilon R)``."""
    return (_radius_by_trial if _is_sooner_tried(ball, epsilon) else _radius_by_list)(ball, epsilon, bits)


def _radius_by_list(ball: Ball, epsilon: Fraction, bits: RandomBits) -> int:
    """Look a uniform number up in a list of weights."""
    # Radii below about the likeliest, if there are any, are weighed by 1 / exp(-epsilon), which must not round to 0.
    precision = _FIRST_PRECISION + (2 * math.ceil(epsilon) if ball.dimension > epsilon else 0)
    drawn = bits(precision)
    while True:  # ends: more bits enclose the weights more closely, and once they do decide all numbers but one in 2^b
        found = _look_up(drawn, precision, _enclosed_weights(ball, epsilon, precision))
        if found is not None:
            return found
        drawn = (drawn << precision) | bits(precision)
        precision *= 2


def _is_sooner_tried(ball: Ball, epsilon: Fraction) -> bool:
    """Whether sums of D + 1 geometric numbers, of which exp(-D epsilon / 2) are kept, cost less than a list."""
    dimension = ball.dimension
    tried = min(float(dimension * epsilon) / 2, 700.0)
    weights = (_PER_DEVIATION * math.sqrt(dimension) + _AT_LEAST) * len(ball.ranks)
    return math.exp(tried) * float((dimension + 1) * epsilon) <= weights


def _radius_by_trial(ball: Ball, epsilon: Fraction, bits: RandomBits) -> int:
    """The same by rejection, at a cost that does not depend on epsilon."""
    while True:  # ends: each round keeps its number with a probability of about exp(-dimension epsilon / 2)
        radius = sum(_geometric(epsilon, bits) for _ in range(ball.dimension + 1))
        if all(_happens(above, under, bits) for above, under in ball.kept(radius)):
            return radius


def _geometric(rate: Fraction, bits: RandomBits) -> int:
    """A whole number k >= 0 with probability proportional to ``exp(-rate k)``."""
    while True:  # ends: more than a third of all draws are kept
        part = below(rate.denominator, bits)
        if _happens_exp(part, rate.denominator, bits):
            break
    whole = 0
    while _happens_exp(1, 1, bits):  # ends: goes on with probability 1 / e
        whole += 1
    return (part + whole * rate.denominator) // rate.numerator


def _happens_exp(above: int, under: int, bits: RandomBits) -> bool:
    """True with probability ``exp(-above / under)``, for a fraction of 0 to 1: von Neumann's falling runs."""
    length = 1
    while _happens(above, under * length, bits):  # ends: goes on with probability at most 1 / length
        length += 1
    return length % 2 == 1


def _happens(above: int, under: int, bits: RandomBits) -> bool:
    """True with probability ``above / under``."""
    return below(under, bits) < above


def below(bound: int, bits: RandomBits) -> int:
    """Uniform on ``0 .. bound - 1``."""
    length = (bound - 1).bit_length()
    while True:  # ends: more than half of all draws are below the bound
        number = bits(length)
        if number < bound:
            return number


class _Weights:
    """Weights of radii ``first, first + 1, ...`` between integers, and what the radii left out weigh at most."""

    def __init__(self, first: int, low: list[int], high: list[int], under: int, above: int) -> None:
        self.first = first
        self.low_sums = [0, *accumulate(low)]
        self.high_sums = [under, *accumulate(high, initial=under)][1:]
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


@lru_cache(maxsize=1)
def _enclosed_weights(ball: Ball, epsilon: Fraction, precision: int) -> _Weights:
    """Weights relative to that of the likeliest radius, down and up from it until they are below one unit."""
    unit = 1 << precision
    fall = _exp_of_minus(epsilon, precision)
    middle = max(int(ball.dimension / epsilon - Fraction(1, 2)), 0)
    above_low, above_high, above = _side(ball, fall, middle, 1, precision)
    under_low, under_high, under = _side(ball, fall, middle, -1, precision)
    return _Weights(
        middle - len(under_low),
        [*reversed(under_low), unit, *above_low],
        [*reversed(under_high), unit, *above_high],
        under,
        above,
    )


def _side(ball: Ball, fall: Enclosed, start: int, step: int, precision: int) -> tuple[list[int], list[int], int]:
    """Weights of the radii after `start` in one direction, and a bound of all that follow."""
    unit = low = high = 1 << precision
    lows: list[int] = []
    highs: list[int] = []
    radius = start
    while True:  # ends: at radius 0, or as weights fall ever faster, once one is below one unit
        if step < 0 and radius == 0:
            return lows, highs, 0
        rise = ball.rise(min(radius, radius + step), precision)
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


def _power(above: int, under: int, exponent: int, precision: int) -> Enclosed:
    """``(above / under) ** exponent`` between two integers."""
    low, high = (above << precision) // under, -(-(above << precision) // under)
    result_low = result_high = 1 << precision
    while exponent:  # ends: one bit less each time
        if exponent & 1:
            result_low = result_low * low >> precision
            result_high = -(-result_high * high >> precision)
        low, high = low * low >> precision, -(-high * high >> precision)
        exponent >>= 1
    return result_low, result_high


def _exp_of_minus(x: Fraction, precision: int) -> Enclosed:
    """``exp(-x)`` between two integers, for x > 0."""
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
