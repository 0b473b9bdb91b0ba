"""Projections: the order along the axis, and the best or fixed cut of it."""

from __future__ import annotations

import numpy as np
import pytest
from hypothesis import given, settings

from microagg._halt import StopCondition
from microagg.partition import Projection
from microagg.partition._kernels.listings import shortest_path
from microagg.partition._kernels.projection import shortest_path_starts
from microagg.partition._kernels.univariate import cells_from_starts
from microagg.partition.base import cells_in_order, within_cell_sse
from partition_tables import tables

pytestmark = pytest.mark.kernel


def along(X: np.ndarray, axis: str) -> np.ndarray:
    """Records in the order of the axis, computed in another way than the partitioner does."""
    if axis == "zscores":
        spread = X.std(axis=0)
        return np.argsort(((X - X.mean(axis=0)) / np.where(spread > 0, spread, 1)).sum(axis=1), kind="stable")
    centred = X - X.mean(axis=0)
    _, _, directions = np.linalg.svd(centred, full_matrices=False)
    axis_vector = directions[0] * np.sign(directions[0][np.abs(directions[0]).argmax()])
    return np.argsort(centred @ axis_vector, kind="stable")


@pytest.mark.parametrize("axis", ["principal", "zscores"])
@pytest.mark.parametrize("cut", ["shortest_path", "fixed"])
def test_cells_are_runs_along_the_axis(axis, cut):
    X = np.random.default_rng(2).normal(size=(80, 3)) * [3.0, 1.0, 0.5]
    labels = Projection(k=4, axis=axis, cut=cut).fit(X).labels_
    assert (np.diff(labels[along(X, axis)]) != 0).sum() == labels.max()


@pytest.mark.parametrize("axis", ["principal", "zscores"])
@pytest.mark.parametrize(("n_records", "k"), [(9, 2), (30, 3), (41, 5), (40, 20), (40, 21)])
def test_the_cut_along_the_axis_is_the_shortest_path_of_the_plain_listing(axis, n_records, k):
    X = np.random.default_rng(k).normal(size=(n_records, 3)) * [3.0, 1.0, 0.5]
    order = along(X, axis)
    expected = np.empty(n_records, dtype=np.int64)
    expected[order] = shortest_path(X[order], k)
    np.testing.assert_array_equal(Projection(k=k, axis=axis).fit(X).labels_, cells_in_order(expected))


@given(tables(max_records=40, max_attributes=4, max_k=8))
@settings(max_examples=80)
def test_the_cost_of_the_cut_is_that_of_all_attributes(table):
    X, k = table
    labels = cells_from_starts(shortest_path_starts(np.ascontiguousarray(X), k, StopCondition().flag))
    plain = shortest_path(X, k)
    least = within_cell_sse(X, plain, int(plain.max()) + 1)
    assert within_cell_sse(X, labels, int(labels.max()) + 1) == pytest.approx(least, rel=1e-9, abs=1e-12)
    sizes = np.bincount(labels)
    assert k <= sizes.min() <= sizes.max() <= 2 * k - 1


@given(tables(max_records=60))
@settings(max_examples=60)
def test_the_shortest_path_never_loses_more_than_fixed_runs(table):
    X, k = table
    best = Projection(k=k, cut="shortest_path").fit(X).sse_
    assert best <= Projection(k=k, cut="fixed").fit(X).sse_ * (1 + 1e-9) + 1e-12


def test_turning_the_axis_round_changes_nothing():
    X = np.random.default_rng(4).normal(size=(50, 2)) * [4.0, 1.0]
    straight, mirrored = Projection(k=3).fit(X), Projection(k=3).fit(-X)
    assert straight.sse_ == pytest.approx(mirrored.sse_)


def test_fixed_runs_have_k_records_and_the_last_one_the_rest():
    X = np.arange(11.0)[:, np.newaxis]
    assert np.bincount(Projection(k=3, cut="fixed").fit(X).labels_).tolist() == [3, 3, 5]


def test_a_constant_attribute_does_not_disturb_the_zscores():
    X = np.random.default_rng(4).normal(size=(30, 2))
    with_constant = np.column_stack([X, np.full(30, 7.0)])
    np.testing.assert_array_equal(
        Projection(k=3, axis="zscores").fit(X).labels_, Projection(k=3, axis="zscores").fit(with_constant).labels_
    )
