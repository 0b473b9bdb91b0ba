"""Representatives of cells against the same thing said record by record."""

from __future__ import annotations

import numpy as np
import pytest
from hypothesis import given
from hypothesis import strategies as st

from microagg.aggregate.centroid import (
    Cells,
    cell_means,
    cell_medians,
    cell_medoids,
    cell_modes,
    cell_taxonomic_centres,
    round_to_resolution,
)


@st.composite
def cells_and_values(draw):
    n_cells = draw(st.integers(1, 5))
    extra = draw(st.lists(st.integers(0, n_cells - 1), max_size=15))
    labels = np.array(draw(st.permutations(list(range(n_cells)) + extra)))
    values = np.array(draw(st.lists(st.integers(-3, 3), min_size=len(labels), max_size=len(labels))), dtype=float)
    weights = np.array(draw(st.lists(st.integers(1, 4), min_size=len(labels), max_size=len(labels))), dtype=float)
    return labels, values, weights


def by_cell(labels, values, weights):
    """Each cell's values, repeated as often as their weight says."""
    return [np.repeat(values[labels == c], weights[labels == c].astype(int)) for c in range(labels.max() + 1)]


@given(cells_and_values())
def test_weighted_means_and_medians_are_those_of_repeated_records(drawn):
    labels, values, weights = drawn
    cells = Cells(labels, weights)
    repeated = by_cell(labels, values, weights)
    np.testing.assert_allclose(cell_means(values, cells), [cell.mean() for cell in repeated], atol=1e-12)
    np.testing.assert_allclose(cell_medians(values, cells), [np.median(cell) for cell in repeated])
    lower = [np.sort(cell)[(len(cell) - 1) // 2] for cell in repeated]
    np.testing.assert_allclose(cell_medians(values, cells, lower=True), lower)


@given(cells_and_values())
def test_modes_are_the_first_of_the_most_frequent(drawn):
    labels, values, weights = drawn
    codes = values + 3
    expected = [np.argmax(np.bincount(cell.astype(int))) for cell in by_cell(labels, codes, weights)]
    np.testing.assert_array_equal(cell_modes(codes, Cells(labels, weights)), expected)


@given(cells_and_values())
def test_taxonomic_centres_have_the_least_total_distance(drawn):
    labels, values, weights = drawn
    codes = (values + 3).astype(int)
    distances = np.abs(np.subtract.outer(np.arange(7.0), np.arange(7.0))) ** 0.5
    centres = cell_taxonomic_centres(codes.astype(float), distances, Cells(labels, weights))
    for cell, members in enumerate(by_cell(labels, codes, weights)):
        costs = distances[members].sum(axis=0)
        assert costs[int(centres[cell])] == pytest.approx(costs.min())


@given(cells_and_values())
def test_a_mean_is_never_outside_its_cell(drawn):
    labels, values, weights = drawn
    shifted = values * 0.1 + 1e9
    means = cell_means(shifted, Cells(labels, weights))
    for cell in range(labels.max() + 1):
        assert shifted[labels == cell].min() <= means[cell] <= shifted[labels == cell].max()


def test_a_constant_cell_publishes_exactly_its_constant():
    assert cell_means(np.full(7, 0.1), Cells(np.zeros(7, dtype=int)))[0] == 0.1


def test_negative_zero_is_published_as_zero():
    means = cell_means(np.array([-0.0, -0.0]), Cells(np.array([0, 0])))
    assert str(means[0]) == "0.0"


@pytest.mark.parametrize("representative", [cell_means, cell_medians, cell_modes])
def test_a_cell_with_a_missing_value_publishes_missing(representative):
    result = representative(np.array([1.0, np.nan, 2.0, 2.0]), Cells(np.array([0, 0, 1, 1])))
    assert np.isnan(result[0])
    assert result[1] == 2.0


def test_the_medoid_is_the_record_nearest_to_the_centroid_and_the_first_of_several():
    points = np.array([[0.0, 0.0], [4.0, 0.0], [1.0, 1.0], [9.0, 9.0], [9.0, 9.0]])
    assert cell_medoids(points, Cells(np.array([0, 0, 0, 1, 1]))).tolist() == [2, 3]


def test_categories_no_record_has_are_no_centre():
    distances = np.array([[0.0, np.inf, 1.0], [0.5, np.inf, 0.5], [1.0, np.inf, 0.0]])
    centres = cell_taxonomic_centres(np.array([0.0, 2.0, 2.0]), distances, Cells(np.array([0, 0, 0])))
    assert centres.tolist() == [2.0]


@pytest.mark.parametrize(
    ("value", "resolution", "rounded"),
    [(0.26, 0.1, 0.3), (17.0, 5.0, 15.0), (17.6, 1.0, 18.0), (0.3, None, 0.3), (-0.2, 1.0, 0.0), (0.37, 0.25, 0.25)],
)
def test_rounding_gives_the_nearest_multiple_as_a_reader_would_write_it(value, resolution, rounded):
    result = float(round_to_resolution(np.array([value]), resolution)[0])
    assert repr(result) == repr(rounded)
