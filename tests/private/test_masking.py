"""Noise on moments: its scale, its accounting, and that nothing but the statistics depends on the records."""

from __future__ import annotations

import numpy as np
import pytest

from microagg.aggregate.centroid import Cells
from microagg.aggregate.content import Content
from microagg.aggregate.moments import cross_moments
from microagg.aggregate.spectra import spectra_of
from microagg.errors import ParameterError
from microagg.methods.cross_moment_numbers import PAPER_METHODS
from microagg.methods.moment_plan import strategy_shares
from microagg.privacy.budget import Budget
from microagg.privacy.mechanism import step_of
from microagg.privacy.noise import SeededNoise
from microagg.privacy.sensitivity import spectra_sensitivity
from microagg.private.moments.masked import kept_moments, masked_moments
from microagg.private.moments.masking import _spectral_statistics, mask_coefficients, mask_spectra, rounding_error


class Recorder:
    """Adds no noise, and writes down what was asked of it."""

    def __init__(self):
        self.asked = []

    def laplace(self, counts, *, scale, sensitivity, epsilon):
        self.asked.append((len(counts), scale, sensitivity, epsilon))
        return counts

    def uniforms(self, count):
        return np.full(count, 0.75)


def cells(seed=0, n_cells=5, k=10, d=2):
    rng = np.random.default_rng(seed)
    return rng.random((n_cells * k, d)), np.repeat(np.arange(n_cells), k)


def ledger_of(number, epsilon=1.0, d=2):
    """Scale of the noise on each statistic of a cell, in units of 1 / k of the statistic."""
    values, labels = cells(d=d)
    plan, budget = PAPER_METHODS[number].plan, Budget(epsilon)
    masked_moments(kept_moments(values, labels, plan), np.ones(d), plan, budget=budget, noise=Recorder(), on="x")
    assert budget.remaining == 0
    return budget.ledger


@pytest.mark.parametrize("d", [1, 2, 4])
def test_scales_are_those_of_the_paper(d):
    (mean,) = ledger_of("1", 2.0, d)
    assert mean.scale == pytest.approx(d / 2.0, rel=1e-6)
    (joint,) = ledger_of("2", 1.0, d)
    assert joint.scale == pytest.approx(d + d * (d + 1) / 2, rel=1e-6)
    mean, covariance = ledger_of("5", 1.0, d)
    assert mean.scale == pytest.approx(d / 0.75, rel=1e-6)
    assert covariance.scale == pytest.approx(d * (d + 1) / 2 / 0.25, rel=1e-6)
    mean, covariance, coskewness = ledger_of("12", 1.0, d)
    assert (mean.epsilon, covariance.epsilon, coskewness.epsilon) == pytest.approx((0.5, 0.3, 0.2))
    assert coskewness.scale == pytest.approx(d / 0.2, rel=1e-6)


@pytest.mark.parametrize("d", [2, 3, 4])
def test_methods_3_and_6_are_identical_in_law(d):
    (joint,) = ledger_of("3", 1.0, d)
    mean, variances = ledger_of("6", 1.0, d)
    assert joint.scale == pytest.approx(2 * d, rel=1e-6)
    assert mean.scale == pytest.approx(joint.scale, rel=1e-6)
    assert variances.scale == pytest.approx(joint.scale, rel=1e-6)
    assert mean.draws == variances.draws == joint.draws / 2


@pytest.mark.parametrize("number", [number for number, method in PAPER_METHODS.items() if method.noise])
def test_without_noise_every_method_gives_back_what_it_kept(number):
    method = PAPER_METHODS[number]
    d = 1 if method.each_alone else 3
    values, labels = cells(1, d=d)
    kept = kept_moments(values, labels, method.plan)
    found = masked_moments(kept, np.ones(d), method.plan, budget=Budget(1.0), noise=Recorder(), on="x")
    np.testing.assert_allclose(found.means, kept.means, atol=1e-7)
    np.testing.assert_allclose(found.covariance_matrices, kept.covariance_matrices, atol=1e-6)
    np.testing.assert_allclose(found.coskewness, kept.coskewness, atol=1e-6)


@pytest.mark.parametrize("number", ["1", "2", "3", "5", "8", "12", "14", "18"])
def test_on_neighbours_the_same_is_asked_of_the_noise(number):
    # Replaying the same randomness on tables that differ in one record changes neither control flow nor sensitivity.
    values, labels = cells(2, d=3)
    other = values.copy()
    other[17] = [1.0, 0.0, 1.0]
    asked = []
    for table in (values, other):
        noise, plan = Recorder(), PAPER_METHODS[number].plan
        masked_moments(kept_moments(table, labels, plan), np.ones(3), plan, budget=Budget(1.0), noise=noise, on="x")
        asked.append(noise.asked)
    assert asked[0] == asked[1]


@pytest.mark.parametrize("shares", [None, (0.5, 0.3, 0.2)])
def test_neighbours_differ_by_no_more_than_was_declared(shares):
    # The integers that noise is added to, on neighbours: their L1 distance against the sensitivity declared for them.
    class Keeper(Recorder):
        def laplace(self, counts, *, scale, sensitivity, epsilon):
            self.asked.append((counts, sensitivity))
            return counts

    rng = np.random.default_rng(3)
    k, d = 6, 2
    for _ in range(40):
        values = rng.integers(0, 2, (2 * k, d)).astype(float)
        other = values.copy()
        other[0] = rng.integers(0, 2, d)
        found = []
        for table in (values, other):
            noise = Keeper()
            moments = cross_moments(table, Cells(np.repeat([0, 1], k)), 2)
            mask_coefficients(moments, np.ones(d), shares=shares, budget=Budget(1.0), noise=noise, on="x")
            found.append(noise.asked)
        for (first, bound), (second, _) in zip(*found, strict=True):
            assert np.abs(first - second).sum() <= bound


@pytest.mark.parametrize("joint", [True, False], ids=["joint", "separate"])
def test_spectra_of_neighbours_differ_by_no_more_than_one_unit_of_each_kind(joint):
    # In units of the scale at the table at hand, up to the sign of eigenvectors, which the mechanism draws.
    rng = np.random.default_rng(6)
    d, n_cells, largest = 3, 400, 0.0
    widths = np.array([1.0, 2.0, 0.5])
    for k in (4, 60):
        values = rng.integers(0, 2, (n_cells, k, d)) * (rng.random((n_cells, k, d)) < rng.random((n_cells, 1, 1)))
        other = values.copy()
        other[:, 0] = rng.integers(0, 2, (n_cells, d))
        columns = []
        for table in (values, other):
            kept = cross_moments(table.reshape(-1, d) * widths, Cells(np.repeat(np.arange(n_cells), k)), 2)
            second, third = spectra_of(kept.covariance_matrices), spectra_of(kept.coskewness_slices)
            columns.append(_spectral_statistics(kept, widths, second, third, joint=joint, noise=Recorder()))
        (first, scales), (changed, _) = columns
        moved = []
        for place, (one, two, scale) in enumerate(zip(first, changed, scales, strict=True)):
            apart = np.abs(one - two) / scale
            if place in (2, 4):  # eigenvectors
                turned = np.abs(one + two) / scale
                of_vector = [part.reshape(n_cells, -1, d).sum(axis=2) for part in (apart, turned)]
                apart = np.minimum(*of_vector)
            moved.append(apart.sum(axis=1))
        kinds = [sum(moved)] if joint else [moved[0], moved[1] + moved[2], moved[3] + moved[4]]
        assert all(kind.max() <= 1.0 + 1e-9 for kind in kinds)
        largest = max(largest, *(kind.max() for kind in kinds))
    assert largest > 0.3  # the search is not blind


@pytest.mark.parametrize("number", ["14", "17"])
def test_digits_of_masked_spectra_do_not_tell_their_private_scale(number):
    # Multiples of a step of the private scale would let anyone confirm a guess of the records by division.
    rng = np.random.default_rng(8)
    n_cells, k = 6, 400
    common = rng.random((n_cells * k, 1))
    values = np.clip(common + 0.05 * rng.normal(size=(n_cells * k, 2)), 0.0, 1.0)  # eigenvalues far apart
    kept = kept_moments(values, np.repeat(np.arange(n_cells), k), PAPER_METHODS[number].plan)
    gaps = spectra_of(kept.coskewness_slices).gaps if kept.m == 2 else None
    scale = spectra_sensitivity(np.ones(2), kept.sizes, spectra_of(kept.covariance_matrices).gaps, gaps)
    assert len(np.unique(scale)) == n_cells
    found = mask_spectra(kept, np.ones(2), shares=None, budget=Budget(20.0), noise=SeededNoise(1), on="x")
    steps = found.means / (scale[:, None] * step_of(1.0))
    # Evenly spread over a step: 12 of them within 0.01 of whole numbers by chance, 0.02^12.
    assert np.abs(steps - np.rint(steps)).max() > 0.01


def test_the_noise_on_cells_is_laplace_of_the_declared_scale():
    # 4000 cells of 5 records, d = 1, epsilon = 2: mean absolute noise 1 / (5 x 2) = 0.1; its standard error is
    # 0.1 / sqrt(4000) = 0.0016. Six of them: false alarm below 1e-8; the seed is fixed.
    values, labels = cells(4, n_cells=4000, k=5, d=1)
    kept = cross_moments(values, Cells(labels), 0)
    found = mask_coefficients(kept, np.ones(1), shares=None, budget=Budget(2.0), noise=SeededNoise(1), on="x")
    noise = found.means - kept.means
    assert np.abs(noise).mean() == pytest.approx(0.1, abs=0.01)
    # Laplace: twice the squared scale; the standard error of the variance is 0.02 x sqrt(5 / 4000) = 0.0007.
    assert noise.var() == pytest.approx(0.02, abs=0.0043)


def test_raw_units_mix_and_domain_units_do_not():
    values, labels = cells(5)
    widths = np.array([100.0, 1000.0])
    plan = PAPER_METHODS["3"].plan
    raw = Budget(1.0)
    masked_moments(kept_moments(values * widths, labels, plan), widths, plan, budget=raw, noise=Recorder(), on="x")
    assert raw.ledger[0].scale == pytest.approx(1100 + 1e4 + 1e6, rel=1e-5)


def test_strategies_by_name_and_by_weights():
    assert strategy_shares("balanced", 1) == (0.5, 0.5)
    assert strategy_shares("mean_first", 1) == (0.75, 0.25)
    assert strategy_shares("balanced", 2) == (0.5, 0.3, 0.2)
    assert strategy_shares([0.2, 0.8], 1) == (0.2, 0.8)
    for bad in ([0.5, 0.4], [1.2, -0.2], [0.5, 0.3, 0.2], "even", [float("nan"), 1.0]):
        with pytest.raises(ParameterError, match="strategy"):
            strategy_shares(bad, 1)


@pytest.mark.parametrize("k", [4, 50, 3000])
def test_rounding_stays_within_its_allowance(k):
    from fractions import Fraction

    rng = np.random.default_rng(k)
    values = rng.random((k, 1))
    kept = cross_moments(values, Cells(np.zeros(k, np.int64)), 2, content=Content.VARIANCES)
    exact = [Fraction(float(value)) for value in values[:, 0]]
    mean = sum(exact) / k
    second = sum((value - mean) ** 2 for value in exact) / (k - 1)
    third = sum((value - mean) ** 3 for value in exact) * k / ((k - 1) * (k - 2))
    for found, true in zip(kept.statistics[0], (mean, second, third), strict=True):
        assert abs(Fraction(float(found)) - true) * k <= Fraction(rounding_error(k))


@pytest.mark.parametrize("number", ["17", "18", "19"])
def test_spectral_methods_with_coskewness_have_the_noise_of_their_law(number):
    """With one attribute there is one eigenvalue, which is seen itself.

    Sampled: the mean, the variance and the coskewness of many equal cells of one attribute, each against the quantiles
    of Laplace noise of the scale that Theorem 11 (joint) or the strategy's share (separate) gives it.
    """
    from scipy.stats import kstest, laplace

    n_cells, k, epsilon = 4000, 8, 3.0
    values = np.tile(np.linspace(0.1, 0.9, k) ** 2, n_cells)[:, None]
    plan = PAPER_METHODS[number].plan
    moments = kept_moments(values, np.repeat(np.arange(n_cells), k), plan)
    made = mask_spectra(moments, np.ones(1), shares=plan.shares, budget=Budget(epsilon), noise=SeededNoise(11), on="x")
    # A mean, a variance and a coskewness move by 1 / k each; an eigenvector of one entry cannot move.
    unit = 1 / (k * epsilon)
    if plan.shares is None:
        scales = [3 * unit] * 3
    else:
        # Each kind's share is divided over its eigenvalue and its eigenvector.
        scales = [unit / plan.shares[0], 2 * unit / plan.shares[1], 2 * unit / plan.shares[2]]
    drawn = [
        (made.means - moments.means).ravel(),
        (made.covariances - moments.covariances).ravel(),
        (made.coskewness - moments.coskewness).ravel(),
    ]
    for noise, scale in zip(drawn, scales, strict=True):
        assert kstest(noise, laplace(scale=scale).cdf).pvalue > 1e-3  # the seed is fixed
        assert np.mean(np.abs(noise)) == pytest.approx(scale, rel=0.06)  # four standard errors
