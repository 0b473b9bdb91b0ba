"""Individual risk: closed forms against integrals and sums, and against published figures."""

from __future__ import annotations

from itertools import pairwise

import numpy as np
import pytest
from hypothesis import given, settings
from hypothesis import strategies as st
from scipy import integrate, special, stats

from microagg.evaluation.disclosure.individual_risk import expected_inverse_size, individual_risk, match_probability


def one_risk(size, chance):
    return float(expected_inverse_size(np.array([size]), np.array([chance]))[0])


@settings(max_examples=200)
@given(st.integers(1, 400), st.floats(1e-9, 1.0))
def test_the_risk_is_the_integral_that_defines_it(size, chance):
    """E(1/F) of a negative binomial F is the integral of (p e^-t / (1 - (1-p) e^-t))^f over t, here in u of it."""
    odds = chance / (1.0 - chance) if chance < 1.0 else np.inf

    def within(u):
        return u ** (size - 1) * (odds / (odds + u) if np.isfinite(odds) else 1.0)

    # Where the odds are small the integrand of f = 1 has a steep end at 0.
    steps = sorted({0.0, *(min(odds * 10.0**i, 1.0) for i in range(-3, 12)), 1.0}) if np.isfinite(odds) else [0, 1]
    whole = sum(integrate.quad(within, low, high, epsabs=0, epsrel=1e-12)[0] for low, high in pairwise(steps))
    assert one_risk(size, chance) == pytest.approx(whole, rel=1e-9)


@pytest.mark.parametrize("size", [1, 2, 3, 7, 29, 30, 31, 100])
@pytest.mark.parametrize("chance", [0.02, 0.2, 1 / 3, 0.34, 0.7, 0.999])
def test_the_risk_is_the_sum_over_the_sizes_that_a_population_may_have(size, chance):
    most = int(stats.nbinom.ppf(1 - 1e-15, size, chance)) + size + 50
    sizes = np.arange(size, most)
    total = (stats.nbinom.pmf(sizes - size, size, chance) / sizes).sum()
    assert one_risk(size, chance) == pytest.approx(total, rel=1e-9)


@pytest.mark.parametrize("chance", [0.001, 0.1, 0.3, 0.5, 0.9])
def test_the_forms_that_mu_argus_documents(chance):
    odds, log = chance / (1 - chance), np.log(1 / chance)
    assert one_risk(1, chance) == pytest.approx(odds * log, rel=1e-12)
    assert one_risk(2, chance) == pytest.approx(odds - odds**2 * log, rel=1e-11)
    assert one_risk(3, chance) == pytest.approx(odds / 2 - odds**2 + odds**3 * log, rel=1e-10)
    for size in (4, 10, 40):
        series = chance / size * special.hyp2f1(1, 1, size + 1, 1 - chance)
        assert one_risk(size, chance) == pytest.approx(series, rel=1e-10)


def test_the_published_example():
    """Table 4.1 of the World Bank's guide to disclosure control practice."""
    found = individual_risk(np.array([2, 1, 2, 1, 1, 2]), np.array([360.0, 215.0, 152.0, 186.0, 180.0, 262.0]))
    # The guide prints 0.0282 for a weight of 186: p / (1 - p) ln(1/p) is 0.02825.
    assert found.tolist() == pytest.approx([0.0054, 0.0251, 0.0126, 0.0282, 0.0290, 0.0074], abs=6e-5)


def test_a_population_that_is_all_in_the_table():
    assert individual_risk(np.array([1, 4, 50]), np.array([1.0, 4.0, 12.0])).tolist() == pytest.approx(
        [1, 1 / 4, 1 / 50]
    )


@settings(max_examples=100)
@given(st.integers(1, 60), st.floats(1.0, 1e7))
def test_the_risk_lies_between_that_of_the_expected_size_and_that_of_the_table(size, ratio):
    risk = float(individual_risk(np.array([size]), np.array([size * ratio]))[0])
    assert 1 / (size * ratio) * (1 - 1e-9) <= risk <= 1 / size * (1 + 1e-9)  # Jensen


def test_data_intrusion_simulation_finds_the_share_of_right_matches():
    rng = np.random.default_rng(0)
    population = rng.zipf(1.6, size=200_000) % 30_000
    of_value = np.bincount(population)
    inside = 0
    for _ in range(20):
        sample = rng.choice(population, 20_000, replace=False)
        values, counts = np.unique(sample, return_counts=True)
        chance, error = match_probability(int((counts == 1).sum()), int((counts == 2).sum()), 0.1)
        truth = (counts == 1).sum() / of_value[values[counts == 1]].sum()
        inside += abs(chance - truth) < 2 * error
    assert inside >= 17


def test_without_pairs_the_error_is_not_known():
    assert match_probability(3, 0, 0.1) == (1.0, None)
