"""The radius of noise: exact weights, exact look-up, and what is drawn follows the law."""

from __future__ import annotations

import itertools
import math
import random
from fractions import Fraction

import numpy as np
import pytest
from hypothesis import given, settings
from hypothesis import strategies as st

from microagg.privacy.noise import radius
from microagg.privacy.noise.radius import Ball, points_within, radius_from

epsilons = st.fractions(Fraction(1, 10), 20, max_denominator=1000)
balls = st.lists(st.integers(1, 8), min_size=1, max_size=6).map(Ball.of)


@pytest.mark.parametrize("rank", [1, 2, 3])
def test_points_are_counted_as_by_listing_them(rank):
    for most in range(6):
        steps = itertools.product(range(-most, most + 1), repeat=rank)
        listed = sum(sum(map(abs, step)) + abs(sum(step)) <= 2 * most for step in steps)  # the last makes the sum 0
        assert points_within(rank, most) == listed


@given(rank=st.integers(1, 40), at=st.integers(1, 3000))
def test_numbers_of_points_are_log_concave(rank, at):
    """What bounds the weights that are left out of a list: ratios of neighbours fall."""
    before, here, after = (points_within(rank, one) for one in (at - 1, at, at + 1))
    assert here * here >= before * after


def exact_weights(ball: Ball, epsilon: Fraction, count: int) -> list[float]:
    """Shares of radii 0 .. count - 1 by floats of logarithms: good to some 12 digits."""
    logs = [
        sum(many * math.log(points_within(rank, r)) for rank, many in ball.ranks) - float(epsilon) * r
        for r in range(count)
    ]
    top = max(logs)
    weights = [math.exp(one - top) for one in logs]
    return [one / math.fsum(weights) for one in weights]


@settings(max_examples=20)
@given(ball=balls, epsilon=epsilons)
def test_the_enclosed_weights_are_those_of_the_law(ball, epsilon):
    found = radius._enclosed_weights(ball, epsilon, 128)
    assert all(low <= high for low, high in zip(found.low_sums[1:], found.high_sums[1:], strict=True))
    assert found.least <= found.most
    assert (found.most - found.least) / found.least < 2.0**-90
    count = found.first + len(found.low_sums) - 1
    expected = exact_weights(ball, epsilon, count)
    shares = np.diff([one / found.least for one in found.low_sums])
    np.testing.assert_allclose(shares, expected[found.first :], rtol=1e-8, atol=1e-14)


@given(x=st.fractions(Fraction(1, 10**6), 60, max_denominator=10**7))
def test_the_exponential_is_enclosed(x):
    low, high = radius._exp_of_minus(x, 128)
    assert low <= high <= low + 2
    assert low / 2**128 == pytest.approx(math.exp(-x), rel=1e-14, abs=2.0**-120)


@given(
    ranks=st.lists(st.integers(1, 4), min_size=1, max_size=4),
    epsilon=st.fractions(Fraction(1, 4), 3, max_denominator=100),
    seed=st.integers(0, 10**6),
)
def test_few_bits_decide_the_same_radius_as_many(ranks, epsilon, seed, monkeypatch_first):
    """Starting with 8 bits of precision, the same stream of bits leads to the same radius, only later."""
    rng = random.Random(seed)
    stream = [rng.getrandbits(1) for _ in range(4096)]

    def reader():
        place = iter(stream)
        return lambda count: int("".join(str(next(place)) for _ in range(count)) or "0", 2)

    wide = radius._radius_by_list(Ball.of(ranks), epsilon, reader())
    with monkeypatch_first(8):
        narrow = radius._radius_by_list(Ball.of(ranks), epsilon, reader())
    assert narrow == wide


@pytest.fixture(scope="module")
def monkeypatch_first():
    from contextlib import contextmanager

    @contextmanager
    def first(precision):
        with pytest.MonkeyPatch.context() as patch:
            patch.setattr(radius, "_FIRST_PRECISION", precision)
            yield

    return first


# --- small and large epsilons


@pytest.mark.parametrize(
    ("ranks", "epsilon"),
    [
        ([1], Fraction(1, 3)),
        ([1, 1], Fraction(3, 4)),
        ([1] * 5, Fraction(2, 7)),
        ([3, 1], Fraction(1, 2)),
        ([6], Fraction(1, 3)),
    ],
)
@pytest.mark.parametrize("way", [radius._radius_by_trial, radius._radius_by_list])
def test_radii_follow_the_law_by_trial_and_by_list(ranks, epsilon, way):
    """20,000 draws; each radius within 5 deviations (false alarm below 1e-4 for all radii)."""
    ball, bits, draws = Ball.of(ranks), random.Random(7).getrandbits, 20_000
    found = np.bincount([way(ball, epsilon, bits) for _ in range(draws)], minlength=40)
    for share, count in zip(exact_weights(ball, epsilon, 400), found[:40], strict=False):
        assert abs(count / draws - share) < 5 * math.sqrt(share / draws) + 1e-4


@given(ball=balls, at=st.integers(0, 5000))
def test_chances_of_keeping_a_sum_are_chances_and_make_the_volume(ball, at):
    """Over the products (R + 1) ... (R + D) they are, but for a constant, the numbers of points."""
    above, under = zip(*ball.kept(at), strict=True)
    assert all(0 < one <= other for one, other in zip(above, under, strict=True))
    volume = math.prod(points_within(rank, at) ** many for rank, many in ball.ranks)
    factors = math.prod(range(at + 1, at + ball.dimension + 1))
    constant = math.prod(Fraction(math.factorial(rank), math.comb(2 * rank, rank)) ** many for rank, many in ball.ranks)
    assert Fraction(math.prod(above), math.prod(under)) * factors == volume * constant


@pytest.mark.parametrize("epsilon", [1e-3, 1e-5, 1e-9, 1e-300])
@pytest.mark.parametrize("ranks", [[1], [1] * 28, [1] * 300, [8] * 13, [40]])
def test_a_small_epsilon_neither_hangs_nor_fills_the_memory(ranks, epsilon):
    """Radii are near dimension / epsilon: within 12 deviations, and never near 0."""
    ball = Ball.of(ranks)
    found = radius_from(ball, Fraction(epsilon), random.Random(1).getrandbits)
    assert abs(found * Fraction(epsilon) - ball.dimension - 1) < 12 * math.sqrt(ball.dimension + 1)


@pytest.mark.parametrize(
    ("ranks", "epsilon"), [([1] * 300, 150), ([1] * 1770, 500), ([1] * 300, 10_000), ([1], 10**6), ([12] * 20, 10**6)]
)
def test_a_large_epsilon_is_drawn_too(ranks, epsilon):
    ball = Ball.of(ranks)
    found = radius_from(ball, Fraction(epsilon), random.Random(1).getrandbits)
    assert abs(found - ball.dimension / epsilon) <= 4
