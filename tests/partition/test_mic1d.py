"""Mic1D-k: the steps of the paper, its two passes, and what its options change."""

from __future__ import annotations

import numpy as np
import pytest
from hypothesis import given, settings

from microagg.errors import ParameterError
from microagg.partition import Mic1D
from microagg.partition._kernels.listings import mic1d
from microagg.partition.base import within_cell_sse
from microagg.partition.runs import order_of
from microagg.partition.univariate import optimal_runs
from partition_tables import tables

pytestmark = pytest.mark.kernel


@given(tables(max_records=40, max_attributes=4))
@settings(max_examples=150)
def test_what_is_published_is_what_the_listing_publishes(table):
    X, k = table
    # Scaled values are only as fine as float64 leaves them at the distance of a value from 0.
    scale = np.abs(X).max()
    np.testing.assert_allclose(Mic1D(k=k).fit(X).published_, mic1d(X, k), rtol=1e-9, atol=1e-12 * scale)


def test_there_are_exactly_two_passes():
    # Sorted and cut: (0 1 4) (5 9 10) (20 24 30); scaled: 0 .25 1, 0 .8 1, 0 .4 1. Sorted and cut again, by the
    # original value where equal: (0 5 20) (1 24 9) (4 10 30); the first and last are constant, the second is
    # .25 .4 .8, scaled 0, .2727, 1 with mean .4242, back .4833.
    X = np.array([[0.0, 1.0, 4.0], [5.0, 9.0, 10.0], [20.0, 24.0, 30.0]])
    fitted = Mic1D(k=3).fit(X)
    middle = (0.25 + 0.4 + 0.8) / 3
    expected = [[0.0, 4 * middle, 4.0], [5.0, 5 + 5 * middle, 10.0], [20.0, 20 + 10 * middle, 30.0]]
    np.testing.assert_allclose(fitted.published_, expected)
    assert fitted.labels_.tolist() == [[0, 1, 2], [0, 1, 2], [0, 1, 2]]


def test_the_last_partition_may_be_short():
    fitted = Mic1D(k=4).fit(np.arange(10.0).reshape(5, 2))
    assert sorted(np.bincount(fitted.labels_.reshape(-1)).tolist()) == [2, 4, 4]
    assert fitted.n_cells_ == 3


def test_published_values_stay_within_their_first_partition():
    X = np.random.default_rng(1).normal(size=(30, 3)) * [1.0, 10.0, 100.0]
    published = Mic1D(k=10).fit(X).published_.reshape(-1)
    order = np.argsort(X.reshape(-1))
    for start in range(0, 90, 10):
        members = order[start : start + 10]
        assert X.reshape(-1)[members].min() <= published[members].min()
        assert published[members].max() <= X.reshape(-1)[members].max()


@pytest.mark.parametrize("cut", ["fixed", "optimal"])
def test_partitions_of_equal_values_publish_that_value(cut):
    X = np.array([[5.0, 5.0], [5.0, 5.0], [8.0, 8.0], [8.0, 8.0]])
    np.testing.assert_array_equal(Mic1D(k=4, cut=cut).fit(X).published_, X)


def test_the_input_is_used_unscaled():
    X = np.random.default_rng(2).normal(size=(20, 2))
    one_unit, another = Mic1D(k=5).fit(X), Mic1D(k=5).fit(X * [1.0, 1000.0])
    assert one_unit.labels_.tolist() != another.labels_.tolist()


def test_k_above_the_number_of_values_is_refused_with_the_largest_that_will_do():
    with pytest.raises(
        ParameterError, match=r"k = 7 is larger than the number of values, 6 \(3 records x 2 attributes\)"
    ):
        Mic1D(k=7).fit(np.zeros((3, 2)))
    assert Mic1D(k=6).fit(np.arange(6.0).reshape(3, 2)).n_cells_ == 1


@given(tables(max_records=40, max_attributes=4))
@settings(max_examples=80)
def test_optimal_partitions_are_never_shorter_than_k(table):
    X, k = table
    assert np.bincount(Mic1D(k=k, cut="optimal").fit(X).labels_.reshape(-1)).min() >= k


@given(tables(max_records=40, max_attributes=4))
@settings(max_examples=80)
def test_the_first_optimal_partitions_lose_no_more_than_fixed_ones_of_full_size(table):
    X, k = table
    values = np.sort(X.reshape(-1))
    values = values[: len(values) - len(values) % k]
    optimal = optimal_runs(values[order_of(values)], k)
    fixed = np.arange(len(values)) // k
    loss = [within_cell_sse(values[:, np.newaxis], labels, int(labels.max()) + 1) for labels in (optimal, fixed)]
    assert loss[0] <= loss[1] * (1 + 1e-9) + 1e-12
