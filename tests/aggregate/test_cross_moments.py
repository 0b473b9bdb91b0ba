"""Moments of cells against plain loops, spectra there and back, and repair against what it must be nearest to."""

from __future__ import annotations

from itertools import combinations

import numpy as np
import pytest
from hypothesis import given
from hypothesis import strategies as st

from microagg.aggregate.centroid import Cells
from microagg.aggregate.content import Content, Coskewness
from microagg.aggregate.moments import cross_moments
from microagg.aggregate.repair import (
    MOST_SKEWNESS,
    feasible_skewness,
    nearest_psd,
    nearest_psd_with_diagonal,
    truncate_coskewness,
    truncate_variances,
)
from microagg.aggregate.spectra import matrices_of, nearest_orthogonal, spectra_of
from microagg.errors import ParameterError


def random_cells(seed, n=70, d=3, n_cells=6):
    rng = np.random.default_rng(seed)
    labels = np.concatenate([np.repeat(np.arange(n_cells), 4), rng.integers(0, n_cells, n - 4 * n_cells)])
    return rng.random((n, d)) ** 2, labels


def test_moments_agree_with_the_definitions():
    values, labels = random_cells(0)
    kept = cross_moments(values, Cells(labels), 2)
    for cell in range(6):
        own = values[labels == cell]
        k, centred = len(own), own - own.mean(axis=0)
        np.testing.assert_allclose(kept.means[cell], own.mean(axis=0))
        np.testing.assert_allclose(kept.covariance_matrices[cell], np.cov(own.T), atol=1e-14)
        third = np.einsum("ri,rj,rl->ijl", centred, centred, centred) * k / ((k - 1) * (k - 2))
        np.testing.assert_allclose(kept.coskewness_slices[cell], third, atol=1e-14)
    assert kept.coskewness.shape[1] == 3 * 4 * 5 // 6
    np.testing.assert_array_equal(kept.with_statistics(kept.statistics).coskewness, kept.coskewness)


def test_moments_are_averages_over_subsets():
    # The fact on which the sensitivities rest: both estimators are U-statistics.
    rng = np.random.default_rng(1)
    values = rng.random((7, 2))

    def of(rows):
        return cross_moments(values[list(rows)], Cells(np.zeros(len(rows), np.int64)), 2)

    whole = of(range(7))
    parts = [of(rows) for rows in combinations(range(7), 4)]
    np.testing.assert_allclose(whole.covariances, np.mean([part.covariances for part in parts], axis=0))
    np.testing.assert_allclose(whole.coskewness, np.mean([part.coskewness for part in parts], axis=0))


@pytest.mark.parametrize("m", [0, 1, 2])
def test_a_choice_of_elements_keeps_their_values(m):
    values, labels = random_cells(2)
    whole = cross_moments(values, Cells(labels), 2)
    few = cross_moments(values, Cells(labels), m, content=Content.VARIANCES)
    marginal = cross_moments(values, Cells(labels), m, coskewness=Coskewness.MARGINAL)
    assert few.m == marginal.m == m
    assert few.statistics.shape[1] == 3 * (m + 1)
    np.testing.assert_array_equal(few.means, whole.means)
    if m >= 1:
        np.testing.assert_allclose(few.covariances, np.einsum("cii->ci", whole.covariance_matrices))
        np.testing.assert_array_equal(marginal.covariances, whole.covariances)
    if m == 2:
        np.testing.assert_allclose(few.coskewness, whole.marginal_coskewness)
        np.testing.assert_allclose(marginal.marginal_coskewness, whole.marginal_coskewness)


def test_cells_too_small_and_weights_are_refused():
    values = np.zeros((5, 1))
    with pytest.raises(ParameterError, match="at least 2 records; the smallest has 1"):
        cross_moments(values, Cells(np.array([0, 0, 0, 0, 1])), 1)
    with pytest.raises(ParameterError, match="at least 3 records; the smallest has 2"):
        cross_moments(values, Cells(np.array([0, 0, 0, 1, 1])), 2)
    with pytest.raises(ParameterError, match="weights"):
        cross_moments(values, Cells(np.zeros(5, np.int64), np.ones(5)), 1)


def test_a_constant_attribute_has_moments_of_zero():
    values = np.column_stack([np.full(8, 0.3), np.arange(8) / 8])
    kept = cross_moments(values, Cells(np.arange(8) % 2), 2)
    assert (kept.covariance_matrices[:, 0] == 0).all()
    assert (kept.coskewness_slices[:, 0] == 0).all()


def test_spectra_there_and_back():
    values, labels = random_cells(3, d=4)
    matrices = cross_moments(values, Cells(labels), 1).covariance_matrices
    spectra = spectra_of(matrices)
    assert (np.diff(spectra.eigenvalues, axis=1) <= 0).all()
    np.testing.assert_allclose(matrices_of(spectra), matrices, atol=1e-14)
    # Signs mean nothing.
    flipped = type(spectra)(spectra.eigenvalues, spectra.eigenvectors * np.array([1, -1, 1, -1.0]))
    np.testing.assert_allclose(matrices_of(flipped), matrices, atol=1e-14)
    expected = [min(abs(x - y) for y in np.delete(row, i)) for row in spectra.eigenvalues for i, x in enumerate(row)]
    np.testing.assert_allclose(spectra.gaps.ravel(), expected)
    assert np.isinf(spectra_of(np.ones((2, 1, 1))).gaps).all()


def test_the_nearest_orthogonal_matrix_is_orthogonal_and_nearer_than_others():
    rng = np.random.default_rng(4)
    noisy = np.eye(3) + rng.normal(size=(20, 3, 3))
    found = nearest_orthogonal(noisy)
    np.testing.assert_allclose(found @ np.swapaxes(found, 1, 2), np.broadcast_to(np.eye(3), found.shape), atol=1e-12)
    others = np.linalg.qr(rng.normal(size=(200, 1, 3, 3)))[0]
    assert (np.linalg.norm(found - noisy, axis=(1, 2)) <= np.linalg.norm(others - noisy, axis=(2, 3)) + 1e-12).all()


def symmetric(seed, n_cells=30, d=4, spread=1.0):
    rng = np.random.default_rng(seed)
    matrices = rng.normal(size=(n_cells, d, d)) * spread
    return matrices + np.swapaxes(matrices, 1, 2)


def test_the_nearest_psd_matrix_obeys_the_conditions_of_optimality():
    noisy = symmetric(5)
    found = nearest_psd(noisy)
    assert np.linalg.eigvalsh(found).min() > -1e-12
    # Found and what was taken off are both semidefinite, and orthogonal: that characterises the projection.
    assert np.linalg.eigvalsh(found - noisy).min() > -1e-12
    np.testing.assert_allclose(np.einsum("cij,cij->c", found, found - noisy), 0.0, atol=1e-10)


@given(st.integers(0, 10_000), st.integers(2, 5))
def test_the_nearest_psd_matrix_with_a_diagonal_obeys_the_conditions_of_optimality(seed, d):
    noisy = symmetric(seed, n_cells=4, d=d)
    diagonals = np.random.default_rng(seed).uniform(0.01, 1.0, (4, d))
    found = nearest_psd_with_diagonal(noisy, diagonals)
    np.testing.assert_array_equal(np.einsum("cii->ci", found), diagonals)
    assert np.linalg.eigvalsh(found).min() > -1e-9
    # No other feasible matrix is nearer (convexity: directions towards feasible matrices only lead away).
    rng = np.random.default_rng(seed + 1)
    points = rng.normal(size=(300, 4, d, d + 1))
    other = points @ np.swapaxes(points, 2, 3)
    size = np.sqrt(np.einsum("scii->sci", other))
    other = other / size[..., :, None] / size[..., None, :] * np.sqrt(diagonals[:, :, None] * diagonals[:, None, :])
    off = ~np.eye(d, dtype=bool)
    slope = ((other - found) * (found - noisy) * off).sum(axis=(2, 3))
    assert slope.min() > -1e-5


def test_a_feasible_matrix_is_left_as_it_is():
    values, labels = random_cells(6)
    matrices = cross_moments(values, Cells(labels), 1).covariance_matrices
    np.testing.assert_allclose(nearest_psd(matrices), matrices, atol=1e-14)
    diagonals = np.einsum("cii->ci", matrices).copy()
    np.testing.assert_allclose(nearest_psd_with_diagonal(matrices, diagonals), matrices, atol=1e-12)


def test_repair_by_blocks_of_cells_is_the_same(monkeypatch):
    noisy, diagonals = symmetric(9, 20, 3), np.random.default_rng(9).uniform(0.1, 1.0, (20, 3))
    whole = nearest_psd_with_diagonal(noisy, diagonals)
    monkeypatch.setattr("microagg.aggregate.repair._LARGEST_BLOCK", 80)
    np.testing.assert_allclose(nearest_psd_with_diagonal(noisy, diagonals), whole, atol=1e-12)


def test_where_nothing_varies_the_row_is_zero():
    found = nearest_psd_with_diagonal(symmetric(7, 3, 3), np.array([[0.0, 1.0, 1.0], [0.0, 0.0, 2.0], [0.0, 0.0, 0.0]]))
    assert (found[:, 0] == 0).all()
    assert (found[1, 1] == 0).all()
    assert found[1, 2, 2] == 2.0
    with pytest.raises(ParameterError, match="at least 0"):
        nearest_psd_with_diagonal(np.zeros((1, 2, 2)), np.array([[-1.0, 1.0]]))


def test_the_largest_variance_of_a_cell_survives_truncation():
    for k in range(2, 9):
        values = (np.arange(k) % 2).astype(float)[:, None] * 3.0
        variance = cross_moments(values, Cells(np.zeros(k, np.int64)), 1).covariances
        np.testing.assert_allclose(truncate_variances(variance, np.array([3.0]), np.array([k])), variance)
        assert variance[0, 0] > 9.0 / 4  # the printed bound would have cut it


def test_truncation_by_the_mean_moves_no_variance_that_records_have():
    rng = np.random.default_rng(8)
    values = np.concatenate([rng.random((400, 2)) ** 4, rng.integers(0, 2, (400, 2))])
    kept = cross_moments(values, Cells(np.arange(800) % 80), 1, content=Content.VARIANCES)
    found = truncate_variances(kept.covariances, np.ones(2), kept.sizes, kept.means)
    np.testing.assert_allclose(found, kept.covariances)
    low = truncate_variances(np.full((1, 1), 0.25), np.ones(1), np.array([10]), np.array([[0.1]]))
    assert low[0, 0] == pytest.approx(10 / 9 * 0.09)


def test_truncation_moves_no_coskewness_that_records_have():
    rng = np.random.default_rng(10)
    widths = np.array([1.0, 2.0, 0.5])
    values = np.concatenate([rng.random((400, 3)) ** 4, rng.integers(0, 2, (400, 3))]) * widths
    kept = cross_moments(values, Cells(np.arange(800) % 160), 2)
    variances = np.einsum("cii->ci", kept.covariance_matrices)
    found = truncate_coskewness(kept.coskewness, kept.triples, variances, widths, kept.sizes)
    np.testing.assert_allclose(found, kept.coskewness, atol=1e-12)
    cut = truncate_coskewness(100 * kept.coskewness, kept.triples, variances, widths, kept.sizes)
    assert (np.abs(cut) < 50 * np.abs(kept.coskewness)).any()


def test_skewness_is_brought_into_the_region_of_the_skew_normal():
    assert pytest.approx(0.99527, abs=1e-5) == MOST_SKEWNESS
    found = feasible_skewness(np.array([5.0, -5.0, 0.2, 1.0]), np.array([1.0, 1e-200, 1.0, 0.0]))
    np.testing.assert_allclose(found, [0.995, -0.995, 0.2, 0.0])
    with pytest.raises(ParameterError, match="below"):
        feasible_skewness(np.zeros(1), np.ones(1), most=1.0)
