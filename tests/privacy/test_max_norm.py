"""The L-infinity mechanism: exact weights, exact look-up, and what is drawn follows the law."""

from __future__ import annotations

import math
import random
from fractions import Fraction

import numpy as np
import pytest
from hypothesis import given, settings
from hypothesis import strategies as st

from microagg.errors import GuaranteeError
from microagg.privacy import max_norm
from microagg.privacy.budget import Budget
from microagg.privacy.max_norm import max_norm_noise, radius_from
from microagg.privacy.mechanism import OpenDPNoise, SeededNoise, add_max_norm

epsilons = st.fractions(Fraction(1, 20), 20, max_denominator=1000)


def exact_weights(dimension: int, epsilon: Fraction, count: int) -> list[float]:
    """Shares of radii 0 .. count - 1 by floats of logarithms: good to some 12 digits."""
    logs = [dimension * math.log(2 * r + 1) - float(epsilon) * r for r in range(count)]
    top = max(logs)
    weights = [math.exp(one - top) for one in logs]
    return [one / math.fsum(weights) for one in weights]


@settings(max_examples=20)
@given(dimension=st.integers(1, 20), epsilon=epsilons)
def test_the_enclosed_weights_are_those_of_the_law(dimension, epsilon):
    found = max_norm._enclosed_weights(dimension, epsilon, 128)
    assert all(low <= high for low, high in zip(found.low_sums[1:], found.high_sums[1:], strict=True))
    assert found.least <= found.most
    assert (found.most - found.least) / found.least < 2.0**-90
    count = found.first + len(found.low_sums) - 1
    expected = exact_weights(dimension, epsilon, count)
    shares = np.diff([one / found.least for one in found.low_sums])
    np.testing.assert_allclose(shares, expected[found.first :], rtol=1e-8, atol=1e-14)


@given(x=st.fractions(Fraction(1, 10**6), 60, max_denominator=10**7))
def test_the_exponential_is_enclosed(x):
    low, high = max_norm._exp_of_minus(x, 128)
    assert low <= high <= low + 2
    assert low / 2**128 == pytest.approx(math.exp(-x), rel=1e-14, abs=2.0**-120)


@given(
    dimension=st.integers(1, 6),
    epsilon=st.fractions(Fraction(1, 4), 3, max_denominator=100),
    seed=st.integers(0, 10**6),
)
def test_few_bits_decide_the_same_radius_as_many(dimension, epsilon, seed, monkeypatch_first):
    """Starting with 8 bits of precision, the same stream of bits leads to the same radius, only later."""
    rng = random.Random(seed)
    stream = [rng.getrandbits(1) for _ in range(4096)]

    def reader():
        place = iter(stream)
        return lambda count: int("".join(str(next(place)) for _ in range(count)) or "0", 2)

    wide = radius_from(dimension, epsilon, reader())
    with monkeypatch_first(8):
        narrow = radius_from(dimension, epsilon, reader())
    assert narrow == wide


@pytest.fixture(scope="module")
def monkeypatch_first():
    from contextlib import contextmanager

    @contextmanager
    def first(precision):
        with pytest.MonkeyPatch.context() as patch:
            patch.setattr(max_norm, "_FIRST_PRECISION", precision)
            yield

    return first


def test_every_point_of_a_small_cube_is_as_likely_as_the_law_says():
    """60,000 draws of two coordinates; each cell within 5.5 deviations (false alarm below 1e-5 for 49 cells)."""
    epsilon, draws = Fraction(3, 4), 60_000
    bits = random.Random(20).getrandbits
    found = np.array([max_norm_noise(2, epsilon, bits) for _ in range(draws)])
    radii = np.arange(200)
    total = ((2 * radii + 1) ** 2 - np.maximum(2 * radii - 1, 0) ** 2) @ np.exp(-0.75 * radii)
    for a in range(-3, 4):
        for b in range(-3, 4):
            share = math.exp(-0.75 * max(abs(a), abs(b))) / total
            there = ((found[:, 0] == a) & (found[:, 1] == b)).mean()
            assert abs(there - share) < 5.5 * math.sqrt(share / draws), (a, b)


def test_noise_is_smaller_than_laplace_noise_of_the_same_epsilon():
    bits = random.Random(1).getrandbits
    found = np.array([max_norm_noise(15, Fraction(1), bits) for _ in range(400)])
    assert 0.8 < found.std() / math.sqrt(16 * 17 / 3) < 1.2
    assert found.std() < math.sqrt(2) * 15 / 2


@pytest.mark.parametrize("noise", [OpenDPNoise(), SeededNoise(3)])
def test_the_mechanism_spends_its_budget_and_is_refused_too_little_noise(noise):
    budget = Budget(0.5, ["x"])
    noisy = add_max_norm(np.array([10, 20, 30]), 1, budget=budget, noise=noise, on="pairs")
    assert noisy.shape == (3,)
    assert noisy.dtype == np.int64
    (expense,) = budget.ledger
    assert (expense.mechanism, expense.draws, expense.epsilon) == ("L-infinity", 3, 0.5)
    assert expense.scale == pytest.approx(2.0)
    with pytest.raises(GuaranteeError, match="would cost epsilon"):
        noise.max_norm(np.array([1]), scale=1.0, sensitivity=2, epsilon=1.0)


def test_a_seed_repeats_the_noise():
    first, second = (
        SeededNoise(5).max_norm(np.zeros(9, dtype=np.int64), scale=4.0, sensitivity=1, epsilon=0.25) for _ in range(2)
    )
    assert (first == second).all()


# --- small and large epsilons


@pytest.mark.parametrize(("dimension", "epsilon"), [(1, Fraction(1, 3)), (2, Fraction(3, 4)), (5, Fraction(2, 7))])
def test_sums_of_geometric_numbers_follow_the_same_law(dimension, epsilon):
    """20,000 draws; each radius within 5 deviations (false alarm below 1e-4 for all radii)."""
    bits, draws = random.Random(7).getrandbits, 20_000
    found = np.bincount([max_norm._radius_by_trial(dimension, epsilon, bits) for _ in range(draws)], minlength=40)
    for share, count in zip(exact_weights(dimension, epsilon, 400), found[:40], strict=False):
        assert abs(count / draws - share) < 5 * math.sqrt(share / draws) + 1e-4


@pytest.mark.parametrize("epsilon", [1e-3, 1e-5, 1e-9, 1e-300])
@pytest.mark.parametrize("dimension", [1, 28, 300])
def test_a_small_epsilon_neither_hangs_nor_fills_the_memory(dimension, epsilon):
    """Radii are near dimension / epsilon: within 12 deviations, and never near 0."""
    radius = radius_from(dimension, Fraction(epsilon), random.Random(1).getrandbits)
    assert abs(radius * Fraction(epsilon) - dimension - 1) < 12 * math.sqrt(dimension + 1)


@pytest.mark.parametrize(("dimension", "epsilon"), [(300, 150), (1770, 500), (300, 10_000), (1, 10**6)])
def test_a_large_epsilon_is_drawn_too(dimension, epsilon):
    radius = radius_from(dimension, Fraction(epsilon), random.Random(1).getrandbits)
    assert abs(radius - dimension / epsilon) <= 4


@pytest.mark.parametrize("noise", [OpenDPNoise(), SeededNoise(3)])
def test_sums_beyond_all_integers_are_clamped_and_not_the_noise(noise):
    """A count beside clamped noise could be read off the sum."""
    counts = np.arange(1, 41, dtype=np.int64)
    noisy = noise.max_norm(counts, scale=1e25, sensitivity=1, epsilon=1e-25)
    assert set(np.abs(noisy).tolist()) == {2**62}
