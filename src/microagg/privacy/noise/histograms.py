"""Noise for several histograms of the same records, in one draw: how many records would have to be replaced.

One replaced record moves one record of *each* histogram from a cell to another. Let ``||z||``, for a change z of all
histograms that leaves their totals as they are, be the least number of records whose replacement makes it: the
largest over histograms of the sum of its positive parts. Noise z is drawn with probability proportional to
``exp(-epsilon ||z||)``. For neighbouring tables with counts c, c' there is ``||c - c'|| <= 1``, so by the triangle
inequality the weights of ``z - c`` and ``z - c'`` differ by at most a factor of ``exp(epsilon)``. It is the K-norm
mechanism [1]_ of this norm, on whole numbers.

Against independent Laplace noise for each of 13 histograms at ``epsilon / 13``, projected on changes that sum to 0 as
well, noise of a cell is smaller by 68, 42, 24 and 13 % for histograms of 2, 4, 8 and 16 cells; of one histogram, by 29,
16, 9 and 5 %.

It is drawn exactly: a radius R (:mod:`microagg.privacy.noise.radius`), then for each histogram, independently, a change
of norm at most R, each as likely as any other.

1. Its norm r, from how many changes there are within each norm.
2. How many cells grow and how many shrink: i and j of m cells do so in
   ``C(m, i) C(m - i, j) C(r - 1, i - 1) C(r - 1, j - 1)`` ways.
3. Which cells, and how r is divided among those that grow, and among those that shrink.

References
----------
.. [1] Hardt, M. & Talwar, K. (2010). On the geometry of differential privacy. STOC, 705-714.
   doi:10.1145/1806689.1806786
"""

from __future__ import annotations

import math
from collections.abc import Sequence
from fractions import Fraction
from itertools import accumulate, pairwise

from microagg.privacy.noise.radius import Ball, RandomBits, below, points_within, radius_from

__all__ = ["deviation_of_cells", "histogram_noise"]


def histogram_noise(lengths: Sequence[int], epsilon: Fraction, bits: RandomBits) -> list[list[int]]:
    """For histograms of so many cells, integers z with probability proportional to ``exp(-epsilon ||z||)``.

    A histogram of one cell gets 0: its count is the number of records, which is public.
    """
    ranks = [length - 1 for length in lengths if length > 1]
    radius = radius_from(Ball.of(ranks), epsilon, bits) if ranks else 0
    return [_change_within(length, radius, bits) for length in lengths]


def deviation_of_cells(lengths: Sequence[int], epsilon: float) -> list[float]:
    """For each histogram the standard deviation of the noise of a cell, for continuous noise.

    The radius is a Gamma number of shape D + 1. In the ball of rank n the norm r is R times the largest of n uniform
    numbers, and r is divided evenly at random among i growing and n + 1 - i shrinking cells, with weight
    ``C(n + 1, i) C(n - 1, i - 1)``.
    """
    dimension = sum(length - 1 for length in lengths)
    square_of_radius = (dimension + 1) * (dimension + 2)
    return [math.sqrt(square_of_radius * _share_of_square(length)) / epsilon for length in lengths]


def _share_of_square(length: int) -> float:
    rank = length - 1
    if rank == 0:
        return 0.0
    weights = [math.comb(length, i) * math.comb(rank - 1, i - 1) for i in range(1, length)]
    squares = [2.0 / (i + 1) + 2.0 / (length - i + 1) for i in range(1, length)]
    mean = sum(weight * square for weight, square in zip(weights, squares, strict=True)) / sum(weights)
    return mean / length * rank / (rank + 2)


def _change_within(length: int, radius: int, bits: RandomBits) -> list[int]:
    """A change of a histogram whose positive parts sum to at most `radius`: each as likely as any other."""
    change = [0] * length
    norm = _norm_within(length - 1, radius, bits)
    if norm == 0:
        return change
    grow, shrink = _numbers_of_cells(length, norm, bits)
    cells = _some_of(length, grow + shrink, bits)
    for place, part in zip(
        cells, [*_parts(norm, grow, bits), *(-one for one in _parts(norm, shrink, bits))], strict=True
    ):
        change[place] = part
    return change


def _norm_within(rank: int, radius: int, bits: RandomBits) -> int:
    """The norm of a uniform change: the least r such that more than a uniform number of changes are within it."""
    drawn = below(points_within(rank, radius), bits) if rank else 0
    low, high = 0, radius
    while low < high:  # ends: each round halves what is left
        middle = (low + high) // 2
        low, high = (low, middle) if drawn < points_within(rank, middle) else (middle + 1, high)
    return low


def _numbers_of_cells(length: int, norm: int, bits: RandomBits) -> tuple[int, int]:
    """How many cells grow and how many shrink, in a uniform change of that norm."""
    choices = [(i, j) for i in range(1, min(length - 1, norm) + 1) for j in range(1, min(length - i, norm) + 1)]
    sums = list(
        accumulate(
            math.comb(length, i) * math.comb(length - i, j) * math.comb(norm - 1, i - 1) * math.comb(norm - 1, j - 1)
            for i, j in choices
        )
    )
    drawn = below(sums[-1], bits)
    return next(choice for choice, so_far in zip(choices, sums, strict=True) if drawn < so_far)


def _some_of(length: int, count: int, bits: RandomBits) -> list[int]:
    """That many different places of ``0 .. length - 1``, in random order."""
    places = list(range(length))
    for i in range(count):
        other = i + below(length - i, bits)
        places[i], places[other] = places[other], places[i]
    return places[:count]


def _parts(total: int, count: int, bits: RandomBits) -> list[int]:
    """`count` whole numbers of at least 1 that sum to `total`: each such list as likely as any other."""
    cuts: set[int] = set()
    for last in range(total - count + 1, total):  # Floyd: count - 1 different numbers of 1 .. total - 1
        drawn = 1 + below(last, bits)
        cuts.add(last if drawn in cuts else drawn)
    edges = [0, *sorted(cuts), total]
    return [after - before for before, after in pairwise(edges)]
