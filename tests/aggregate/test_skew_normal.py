"""Skew-normal draws have the moments that were asked for, and stay within what the distribution can have."""

from __future__ import annotations

import numpy as np
import pytest
from hypothesis import given, settings
from hypothesis import strategies as st

from microagg._random import uniforms_from
from microagg.aggregate.centroid import Cells
from microagg.aggregate.moments import cross_moments
from microagg.aggregate.sampling import draw_skew_normal, skew_normal, skew_normals_alone


def third_moments(distribution):
    """Third central moment of each attribute: only the half-normal part is skewed."""
    return np.sqrt(2 / np.pi) * (4 / np.pi - 1) * distribution.slants**3


def covariance(rng, d):
    points = rng.normal(size=(d, d + 1))
    return points @ points.T / d


@settings(max_examples=12)
@given(st.integers(0, 10_000), st.integers(1, 4), st.booleans())
def test_moments_of_the_draws_converge_to_those_asked_for(seed, d, alone):
    rng = np.random.default_rng(seed)
    means = rng.normal(size=(2, d))
    covariances = np.stack([covariance(rng, d) for _ in range(2)])
    skewness = rng.uniform(-0.5, 0.5, (2, d))
    if alone:
        asked = skew_normals_alone(means, np.einsum("cii->ci", covariances).copy(), skewness)
    else:
        asked = skew_normal(means, covariances, skewness)
    errors = []
    for n in (4_000, 64_000):
        labels = np.arange(n) % 2
        found = cross_moments(draw_skew_normal(asked, labels, uniforms_from(seed)), Cells(labels), 2)
        scale = np.sqrt(np.einsum("cii->ci", asked.covariances))
        pair_scale = scale[:, :, None] * scale[:, None, :]
        errors.append(
            (
                np.abs((found.means - asked.means) / scale).max(),
                np.abs((found.covariance_matrices - asked.covariances) / pair_scale).max(),
                np.abs((found.marginal_coskewness - third_moments(asked)) / scale**3).max(),
            )
        )
    # With 32,000 draws per cell the standard errors are at most 0.0056, 0.009 (kurtosis below 3.9) and 0.021 (sixth
    # moment below 15). Six of them, over at most 2 x (4 + 10 + 4) statistics: false alarm below 1e-7 per example.
    assert errors[1][0] < 0.034
    assert errors[1][1] < 0.054
    assert errors[1][2] < 0.126
    # A sixteenth of the records: four times the error allowed.
    assert errors[0][0] < 0.134
    assert errors[0][1] < 0.216
    assert errors[0][2] < 0.504


def test_univariate_and_multivariate_agree_on_the_marginals():
    means, variances, skewness = np.zeros((1, 2)), np.array([[1.0, 4.0]]), np.array([[0.3, 0.4]])
    alone = skew_normals_alone(means, variances, skewness)
    together = skew_normal(means, np.array([[[1.0, 0.5], [0.5, 4.0]]]), skewness)
    np.testing.assert_allclose(third_moments(alone), skewness * variances**1.5)
    np.testing.assert_allclose(third_moments(together), third_moments(alone))
    np.testing.assert_allclose(together.covariances[0], [[1.0, 0.5], [0.5, 4.0]])
    assert alone.covariances[0, 0, 1] == 0.0


def test_an_infeasible_vector_of_skewness_is_shrunk_and_mean_and_covariance_kept():
    # Two attributes that are nearly one cannot lean to opposite sides.
    wanted = np.array([[[1.0, 0.99], [0.99, 1.0]]])
    found = skew_normal(np.zeros((1, 2)), wanted, np.array([[0.9, -0.9]]))
    np.testing.assert_allclose(found.covariances, wanted)
    assert np.linalg.eigvalsh(found.rests).min() >= 0.0
    ratio = third_moments(found)[0] / np.array([0.9, -0.9])
    assert ratio[0] == pytest.approx(ratio[1])
    assert 0.0 < ratio[0] < 0.01


def test_a_cell_that_does_not_vary_in_a_direction_is_drawn_without():
    line = np.array([[[1.0, 2.0], [2.0, 4.0]], [[1.0, 0.0], [0.0, 0.0]], [[0.0, 0.0], [0.0, 0.0]]])
    asked = skew_normal(np.zeros((3, 2)), line, np.array([[0.5, 0.5], [0.5, 0.0], [0.0, 0.0]]))
    labels = np.repeat([0, 1, 2], 100)
    drawn = draw_skew_normal(asked, labels, uniforms_from(0))
    np.testing.assert_allclose(drawn[:100, 1], 2 * drawn[:100, 0], atol=1e-4)
    assert (np.abs(drawn[100:200, 1]) < 1e-4).all()
    assert (drawn[200:] == 0).all()
    assert np.isfinite(drawn).all()
