"""The L-infinity mechanism: what is drawn follows the law, costs what it says and is refused too little noise."""

from __future__ import annotations

import math
import random
from fractions import Fraction

import numpy as np
import pytest

from microagg.errors import GuaranteeError
from microagg.privacy.budget import Budget
from microagg.privacy.mechanism import add_max_norm
from microagg.privacy.noise import OpenDPNoise, SeededNoise
from microagg.privacy.noise.max_norm import max_norm_noise


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


@pytest.mark.parametrize("noise", [OpenDPNoise(), SeededNoise(3)])
def test_sums_beyond_all_integers_are_clamped_and_not_the_noise(noise):
    """A count beside clamped noise could be read off the sum."""
    counts = np.arange(1, 41, dtype=np.int64)
    noisy = noise.max_norm(counts, scale=1e25, sensitivity=1, epsilon=1e-25)
    assert set(np.abs(noisy).tolist()) == {2**62}
