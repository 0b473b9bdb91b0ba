"""Sensitivities against every corner of the box, and spectra against random and 0/1 cells."""

from __future__ import annotations

from fractions import Fraction
from itertools import combinations_with_replacement, product

import numpy as np
import pytest

from microagg.aggregate.centroid import Cells
from microagg.aggregate.moments import CrossMoments, cross_moments, kept_pairs, kept_triples
from microagg.aggregate.spectra import spectra_of
from microagg.errors import ParameterError
from microagg.privacy.sensitivity import (
    coefficients_sensitivity,
    coskewness_eigenvalues_sensitivity,
    coskewness_eigenvector_sensitivity,
    coskewness_sensitivity,
    covariance_sensitivity,
    eigenvalue_sensitivity,
    eigenvalues_sensitivity,
    eigenvector_sensitivity,
    mean_sensitivity,
    spectra_sensitivity,
)


def largest_change(k: int, d: int) -> Fraction:
    """Largest change of the element (0, ..., d - 1) of the d-th central moment when one of k records moves.

    The element is linear in every coordinate of every record, so corners of the unit box suffice; and symmetric in
    the other records, so their multisets do. All in whole numbers.
    """
    corners = np.array(list(product((0, 1), repeat=d)), dtype=np.int64)
    others = np.array([corners[list(rows)] for rows in combinations_with_replacement(range(len(corners)), k - 1)])
    found = []
    for corner in corners:
        cells = np.concatenate([others, np.broadcast_to(corner, (len(others), 1, d))], axis=1)
        centred = k * cells - cells.sum(axis=1, keepdims=True)  # k times as much, and whole
        found.append(centred.prod(axis=2).sum(axis=1))
    spread = int((np.max(found, axis=0) - np.min(found, axis=0)).max())
    scale = Fraction(1, k - 1) if d == 2 else Fraction(k, (k - 1) * (k - 2))
    return spread * scale / k**d


@pytest.mark.parametrize("k", range(2, 8))
def test_covariance_moves_by_one_over_k_and_no_further(k):
    assert largest_change(k, 2) == Fraction(1, k)
    assert float(covariance_sensitivity(2.0, 3.0, k)) == pytest.approx(6.0 / k)


@pytest.mark.parametrize("k", range(4, 8))
def test_coskewness_moves_by_one_over_k_and_no_further(k):
    # k = 4 is the case from which all larger ones follow.
    assert largest_change(k, 3) == Fraction(1, k)
    assert float(coskewness_sensitivity(2.0, 3.0, 5.0, k)) == pytest.approx(30.0 / k)


def test_a_cell_of_three_moves_twice_as_far_and_is_refused():
    assert largest_change(3, 3) == 2 * Fraction(1, 3)
    with pytest.raises(ParameterError, match="at least 4 records; the smallest has 3"):
        coskewness_sensitivity(1.0, 1.0, 1.0, 3)
    with pytest.raises(ParameterError, match="at least 4 records; the smallest has 3"):
        coefficients_sensitivity(np.ones(1), np.array([9, 3]), [(0, 0)], [(0, 0, 0)])
    with pytest.raises(ParameterError, match="at least 2 records; the smallest has 1"):
        covariance_sensitivity(1.0, 1.0, 1)


@pytest.mark.parametrize("k", [4, 5, 6, 9, 30])
def test_repeated_attributes_move_no_further(k):
    # Not linear in the coordinates: searched on a grid and at random; the proof is that they are a special case.
    rng = np.random.default_rng(k)
    trials = 4000
    cells = np.concatenate([rng.integers(0, 2, (trials, k, 2)).astype(float), rng.random((trials, k, 2))])
    moved = cells.copy()
    moved[:, 0] = np.concatenate([rng.integers(0, 2, (trials, 2)), rng.random((trials, 2))])
    change = np.abs(moments_of(moved).coskewness - moments_of(cells).coskewness)
    assert change.max() <= 1.0 / k + 1e-12
    assert (change.max(axis=0) > 0.3 / k).all()  # the search is not blind


def moments_of(cells: np.ndarray) -> CrossMoments:
    n_cells, k, d = cells.shape
    return cross_moments(cells.reshape(-1, d), Cells(np.repeat(np.arange(n_cells), k)), 2)


@pytest.mark.parametrize("d", [1, 2, 3])
def test_the_joint_bound_is_reached(d):
    k, widths = 5, np.arange(1.0, d + 1)
    low, high = np.zeros((1, k, d)), np.zeros((1, k, d))
    high[0, 0] = widths
    change = np.abs(moments_of(high).statistics - moments_of(low).statistics).sum()
    bound = coefficients_sensitivity(widths, k, kept_pairs(d), kept_triples(d))
    assert change == pytest.approx(float(bound))
    assert float(mean_sensitivity(widths, k)) == pytest.approx(widths.sum() / k)


def neighbours(seed: int, k: int, d: int, trials: int, corners: bool) -> tuple[np.ndarray, np.ndarray]:
    rng = np.random.default_rng(seed)
    draw = (lambda size: rng.integers(0, 2, size).astype(float)) if corners else rng.random
    cells = draw((trials, k, d))
    # Cells near one corner move most.
    cells = np.where(rng.random((trials, 1, 1)) < 0.5, cells * (draw((trials, k, d)) > 0.7), cells)
    moved = cells.copy()
    moved[:, 0] = draw((trials, d))
    return cells, moved


def aligned_distance(first: np.ndarray, second: np.ndarray) -> np.ndarray:
    """L1 distance of eigenvectors (columns), up to sign."""
    sign = np.where(np.einsum("...ij,...ij->...j", first, second) < 0, -1.0, 1.0)
    return np.abs(first - sign[..., None, :] * second).sum(axis=-2)


@pytest.mark.parametrize("corners", [True, False], ids=["corners", "random"])
@pytest.mark.parametrize(("k", "d"), [(4, 2), (4, 3), (20, 2), (20, 3), (40, 2), (40, 4)])
def test_spectra_stay_within_their_bounds(k, d, corners):
    widths = np.ones(d)
    cells, moved = neighbours(k * d, k, d, 6000, corners)
    before, after = moments_of(cells), moments_of(moved)
    first, second = spectra_of(before.covariance_matrices), spectra_of(after.covariance_matrices)
    value_change = np.abs(first.eigenvalues - second.eigenvalues)
    slack = 1 + 1e-9
    assert value_change.max() <= slack * eigenvalue_sensitivity(widths, k)
    assert value_change.sum(axis=1).max() <= slack * eigenvalues_sensitivity(widths, k)
    bound = eigenvector_sensitivity(widths, k, first.gaps)
    # An eigenvector of an eigenvalue that occurs twice is not determined; there the bound is the trivial one.
    assert (aligned_distance(first.eigenvectors, second.eigenvectors) <= bound + 1e-9).all()
    total = np.abs(before.means - after.means).sum(axis=1) + value_change.sum(axis=1)
    total += aligned_distance(first.eigenvectors, second.eigenvectors).sum(axis=1)
    assert (total <= spectra_sensitivity(widths, k, first.gaps) + 1e-9).all()

    first, second = spectra_of(before.coskewness_slices), spectra_of(after.coskewness_slices)
    change = np.abs(first.eigenvalues - second.eigenvalues).sum(axis=(1, 2))
    assert change.max() <= slack * coskewness_eigenvalues_sensitivity(widths, k)
    bound = coskewness_eigenvector_sensitivity(widths, k, first.gaps)
    assert (aligned_distance(first.eigenvectors, second.eigenvectors) <= bound + 1e-9).all()


def test_the_printed_eigenvector_bound_is_false_even_with_the_best_sign():
    # Found by trying all cells of 40 records at corners of the unit square.
    k = 40
    others = np.array([(1.0, 0.0)] * 38 + [(1.0, 1.0)])
    cells = np.array([[*others, (0.0, 1.0)], [*others, (0.0, 0.0)]])
    spectra = spectra_of(moments_of(cells).covariance_matrices)
    first, second = spectra.eigenvectors
    printed = np.sqrt(2) * float(eigenvalue_sensitivity(np.ones(2), k)) / spectra.gaps[0]
    assert (aligned_distance(first, second) / printed).max() == pytest.approx(1.056, abs=1e-3)
    assert (aligned_distance(first, second) <= eigenvector_sensitivity(np.ones(2), k, spectra.gaps[0])).all()
    # And eigenvectors come with any sign, of which the printed bound says nothing.
    assert (np.abs(first + first).sum(axis=0) / printed).max() > 1.4


def test_bounds_take_sizes_and_gaps_of_many_cells():
    sizes, widths = np.array([4, 8, 16]), np.array([1.0, 2.0])
    gaps = np.array([[0.0, 0.0], [100.0, 100.0], [np.inf, np.inf]])
    found = eigenvector_sensitivity(widths, sizes, gaps)
    np.testing.assert_allclose(found[:, 0], [2.0, np.sqrt(2) * 2**1.5 * (5 / 8) / 100, 0.0])
    slices = coskewness_eigenvector_sensitivity(widths, sizes, np.full((3, 2, 2), 100.0))
    np.testing.assert_allclose(slices[1], np.sqrt(2) * 2**1.5 * 5 / 8 / 100 * np.array([[1, 1], [2, 2]]))
    assert spectra_sensitivity(widths, sizes, gaps, np.full((3, 2, 2), 1.0)).shape == (3,)
    assert eigenvector_sensitivity(np.ones(1), sizes, np.full((3, 1), np.inf)).max() == 0.0
