"""Noise has the distribution it must have, and sums before it are exact.

OpenDP's noise cannot be seeded, so its tests can fail by chance: each compares a p-value with 1e-9.
"""

from __future__ import annotations

import itertools
import math
import subprocess
import sys

import numpy as np
import pytest
from hypothesis import given
from hypothesis import strategies as st
from scipy import stats

from microagg.errors import GuaranteeError, ParameterError
from microagg.privacy.budget import Budget
from microagg.privacy.mechanism import Grid, add_laplace, laplace_on_reals, select
from microagg.privacy.noise import OpenDPNoise, SeededNoise, noise_from

FALSE_ALARM = 1e-9
SOURCES = {"opendp": OpenDPNoise(), "seeded": SeededNoise(7)}
every_source = pytest.mark.parametrize("noise", SOURCES.values(), ids=SOURCES)


def laplace_p_value(noise, scale: float, claimed: float, n_draws: int = 50_000) -> float:
    """Kolmogorov-Smirnov against a Laplace distribution; on a fine grid the discrete one cannot be told from it."""
    drawn = noise.laplace(np.zeros(n_draws, dtype=np.int64), scale=scale, sensitivity=1, epsilon=1.0)
    return float(stats.kstest(drawn / claimed, stats.laplace.cdf).pvalue)


@every_source
def test_noise_is_laplace_of_the_scale_asked_for(noise):
    assert laplace_p_value(noise, 2.0**40 / 3, 2.0**40 / 3) > FALSE_ALARM


def test_the_test_of_the_distribution_would_find_a_scale_one_tenth_too_small():
    assert laplace_p_value(SeededNoise(1), 2.0**40, 1.1 * 2.0**40) < FALSE_ALARM


@every_source
def test_noise_on_coarse_integers_is_discrete(noise):
    """P(z) = (1 - a) / (1 + a) a^|z| with a = exp(-1 / scale): OpenDP's sampler is not a rounded float."""
    scale, n_draws = 2.0, 20_000
    drawn = noise.laplace(np.zeros(n_draws, dtype=np.int64), scale=scale, sensitivity=1, epsilon=1.0)
    a = math.exp(-1 / scale)
    zero = np.count_nonzero(drawn == 0)
    share = (1 - a) / (1 + a) if noise is SOURCES["opendp"] else 1 - math.exp(-0.5 / scale)
    assert stats.binomtest(zero, n_draws, share).pvalue > FALSE_ALARM


def test_draws_are_independent_of_each_other_and_of_the_counts():
    counts = np.repeat([0, 10**9], 10_000)
    drawn = OpenDPNoise().laplace(counts, scale=1000.0, sensitivity=1, epsilon=1.0) - counts
    assert stats.ks_2samp(drawn[:10_000], drawn[10_000:]).pvalue > FALSE_ALARM
    assert stats.pearsonr(drawn[:-1], drawn[1:]).pvalue > FALSE_ALARM


def permute_and_flip(scores: list[int], scale: float) -> np.ndarray:
    """Exact probabilities: candidates in random order, each taken with probability exp((q - best) / scale)."""
    accepted = np.exp((np.array(scores) - max(scores)) / scale)
    total = np.zeros(len(scores))
    for order in itertools.permutations(range(len(scores))):
        reached = 1.0
        for candidate in order:
            total[candidate] += reached * accepted[candidate]
            reached *= 1 - accepted[candidate]
    return total / math.factorial(len(scores))


@every_source
def test_selection_is_permute_and_flip(noise):
    scores, scale, n_draws = [0, 3, 6, 5], 4.0, 4_000
    chosen = noise.noisy_max(np.tile(scores, (n_draws, 1)), scale=scale, sensitivity=1, epsilon=1.0)
    counts = np.bincount(chosen, minlength=4)
    assert stats.chisquare(counts, n_draws * permute_and_flip(scores, scale)).pvalue > FALSE_ALARM


@pytest.mark.parametrize("scores", [[0, 3, 6, 5], [0, 0, 1, 9], [2, 2, 2, 2]])
def test_permute_and_flip_keeps_the_bound_of_the_exponential_mechanism_and_is_not_worse(scores):
    scale = 2.0  # epsilon = 2 sensitivity / scale = 1 for scores that move by 1
    before = permute_and_flip(scores, scale)
    for moves in itertools.product([-1, 0, 1], repeat=4):
        after = permute_and_flip([q + move for q, move in zip(scores, moves, strict=True)], scale)
        assert np.abs(np.log(before / after)).max() <= 1 + 1e-12
    exponential = np.exp(np.array(scores) / scale)
    assert before @ scores >= exponential @ scores / exponential.sum() - 1e-12


@pytest.mark.parametrize("kind", ["laplace", "noisy_max"])
def test_noise_that_is_too_small_for_its_epsilon_is_not_drawn(kind):
    counts = np.zeros(2, dtype=np.int64) if kind == "laplace" else np.zeros((1, 2), dtype=np.int64)
    with pytest.raises(GuaranteeError, match="the noise would cost epsilon"):
        getattr(OpenDPNoise(), kind)(counts, scale=0.99, sensitivity=1, epsilon=1.0)


@given(st.floats(1e-6, 1e6), st.integers(1, 2**50))
def test_scales_are_enough_for_every_epsilon(epsilon, sensitivity):
    """OpenDP's own privacy map is asked at each draw; it never has to refuse."""
    counts = np.zeros(1, dtype=np.int64)
    budget = Budget(epsilon)
    share = budget.divide(["a", "b", "c"])["a"]
    add_laplace(counts, sensitivity, budget=share, noise=OpenDPNoise(), on="x")
    select(np.zeros((1, 2), dtype=np.int64), sensitivity, budget=Budget(epsilon), noise=OpenDPNoise(), on="x")
    assert budget.ledger[0].scale >= sensitivity / budget.ledger[0].epsilon


@given(st.lists(st.floats(-5, 15), min_size=1, max_size=50), st.integers(1, 40))
def test_grid_points_are_within_half_a_step_and_never_outside(values, bits):
    grid = Grid(0.0, 10.0, bits)
    counts = grid.counts(np.array(values))
    assert counts.min() >= 0
    assert counts.max() <= grid.steps
    back = grid.values(counts)
    assert np.abs(back - np.clip(values, 0, 10)).max() <= 10 / grid.steps * 0.500001
    # Each value alone: in any company, in any order.
    assert counts.tolist() == [int(grid.counts(np.array([value]))[0]) for value in values]


@pytest.mark.parametrize("n_records", [1, 1000, 2**22, 10**8, 10**12])
def test_sums_over_all_records_cannot_overflow(n_records):
    grid = Grid.for_sums(0.0, 1.0, n_records)
    assert grid.steps * n_records < 2**62
    assert grid.bits >= 20


def test_reals_are_noised_on_a_grid_with_their_rounding_error_paid_for():
    budget = Budget(0.5)
    values = np.array([0.1, 0.2, 0.30000000000000004])
    noisy = laplace_on_reals(
        values, 0.25, rounding_error=1e-3, touched=2, budget=budget, noise=SeededNoise(0), on="variances"
    )
    step = 2.0**-32
    assert ((noisy / step) == np.rint(noisy / step)).all()
    (expense,) = budget.ledger
    assert 0.25 + 4e-3 + 2 * step <= expense.sensitivity <= 0.25 + 4e-3 + 3 * step
    assert expense.scale == pytest.approx(expense.sensitivity / 0.5)
    with pytest.raises(ParameterError, match="sensitivity"):
        laplace_on_reals(values, 0.0, rounding_error=0.0, touched=1, budget=Budget(1.0), noise=SeededNoise(0), on="x")


def test_a_seed_repeats_the_noise_and_no_seed_does_not():
    counts = np.zeros(50, dtype=np.int64)

    def draw(seed):
        return add_laplace(counts, 2**40, budget=Budget(1.0), noise=noise_from(seed), on="x").tolist()

    assert draw(3) == draw(3) != draw(4)
    assert draw(None) != draw(None)


def test_importing_microagg_does_not_import_opendp():
    code = "import sys, microagg, microagg.releases.pipeline; assert 'opendp' not in sys.modules"
    subprocess.run([sys.executable, "-c", code], check=True)
