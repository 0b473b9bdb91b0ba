"""Moments of cells against plain loops, and draws against the moments they come from."""

from __future__ import annotations

import numpy as np
import pytest

from microagg._random import uniforms_from
from microagg.aggregate.centroid import Cells
from microagg.aggregate.moments import cell_moments
from microagg.aggregate.sampling import draw_categories, draw_numbers


@pytest.mark.parametrize("weighted", [False, True])
def test_moments_agree_with_a_plain_loop(weighted):
    rng = np.random.default_rng(0)
    values = rng.normal(size=(90, 3)) * [1, 100, 1e-3] + [0, 1e6, 5]
    labels = np.concatenate([np.arange(9), rng.integers(0, 9, 81)])
    weights = rng.uniform(0.1, 2, 90) if weighted else None
    found = cell_moments(values, Cells(labels, weights))
    for cell in range(9):
        inside = labels == cell
        own = None if weights is None else weights[inside]
        np.testing.assert_allclose(found.means[cell], np.average(values[inside], axis=0, weights=own))
        expected = np.cov(values[inside].T, aweights=own, ddof=0)
        np.testing.assert_allclose(found.covariances[cell], expected, rtol=1e-6, atol=1e-12)


def test_moments_within_and_between_cells_add_up():
    rng = np.random.default_rng(1)
    values, labels = rng.normal(size=(60, 2)), np.arange(60) % 6
    found = cell_moments(values, Cells(labels))
    between = np.cov(found.means[labels].T, ddof=0)
    np.testing.assert_allclose(found.covariances[labels].mean(axis=0) + between, np.cov(values.T, ddof=0))


def test_a_cell_where_a_value_is_missing_has_no_mean_and_draws_none():
    values = np.array([[1.0, np.nan], [2.0, 3.0], [4.0, 5.0], [4.0, 7.0]])
    labels = np.array([0, 0, 1, 1])
    moments = cell_moments(values, Cells(labels))
    assert np.isnan(moments.means[0, 1])
    assert not np.isnan(moments.covariances).any()
    drawn = draw_numbers(moments, labels, uniforms_from(1))
    assert np.isnan(drawn[:2, 1]).all()
    assert not np.isnan(drawn[:, 0]).any()
    codes = draw_categories(np.array([0.0, np.nan, 1.0, 2.0]), Cells(labels), uniforms_from(1))
    assert np.isnan(codes[:2]).all()
    assert set(codes[2:]) <= {1.0, 2.0}


def test_draws_have_the_mean_and_covariance_of_their_cell():
    rng = np.random.default_rng(2)
    n = 40_000
    labels = np.arange(n) % 2
    values = rng.normal(size=(n, 2)) @ np.array([[2.0, 1.0], [0.0, 0.5]]) + np.where(labels[:, None] == 0, 5.0, -5.0)
    moments = cell_moments(values, Cells(labels))
    drawn = cell_moments(draw_numbers(moments, labels, uniforms_from(3)), Cells(labels))
    # Standard errors: of a mean 2 / sqrt(20000) = 0.014, of a variance 4 sqrt(2 / 20000) = 0.04; the seed is fixed.
    np.testing.assert_allclose(drawn.means, moments.means, atol=0.06)
    np.testing.assert_allclose(drawn.covariances, moments.covariances, atol=0.16)


def test_draws_stay_in_the_plane_of_a_cell_of_few_records():
    values = np.array([[0.0, 0.0], [1.0, 2.0], [2.0, 4.0]])
    drawn = draw_numbers(cell_moments(values, Cells(np.zeros(3, np.int64))), np.zeros(3, np.int64), uniforms_from(4))
    np.testing.assert_allclose(drawn[:, 1], 2 * drawn[:, 0], atol=1e-6)
    assert len(np.unique(drawn[:, 0])) == 3
    same = draw_numbers(
        cell_moments(values[[1, 1]], Cells(np.zeros(2, np.int64))), np.zeros(2, np.int64), uniforms_from(4)
    )
    np.testing.assert_array_equal(same, values[[1, 1]])


def test_categories_are_drawn_by_weight_from_the_own_cell_only():
    n = 30_000
    labels = np.arange(n) % 3
    codes = np.where(labels == 2, 9.0, np.where(np.arange(n) < n / 2, 1.0, 4.0))
    weights = np.where(codes == 4.0, 3.0, 1.0)
    drawn = draw_categories(codes, Cells(labels, weights), uniforms_from(5))
    assert set(drawn[labels == 2]) == {9.0}
    assert set(drawn[labels != 2]) == {1.0, 4.0}
    # Three quarters of the weight; the standard error of the share is 0.003.
    assert (drawn[labels == 0] == 4.0).mean() == pytest.approx(0.75, abs=0.015)


def test_the_system_s_draws_are_uniform_and_never_0_or_1():
    drawn = uniforms_from(None)(100_000)
    assert 0 < drawn.min() < 0.001
    assert 0.999 < drawn.max() < 1
    assert drawn.mean() == pytest.approx(0.5, abs=0.006)  # six standard errors
    assert not np.array_equal(drawn[:100], uniforms_from(None)(100))
    np.testing.assert_array_equal(uniforms_from(7)(5), uniforms_from(7)(5))
