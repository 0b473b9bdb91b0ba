"""Individual ranking: each attribute alone, and how little one record changes with fixed runs."""

from __future__ import annotations

import numpy as np
import pytest
from hypothesis import given, settings
from hypothesis import strategies as st

from microagg.partition import IndividualRanking, OptimalUnivariate
from microagg.partition.runs import order_of, run_sizes
from partition_tables import tables

pytestmark = pytest.mark.kernel

larger = st.sampled_from(["first", "middle", "last"])


def runs(values: np.ndarray, labels: np.ndarray) -> list[list[int]]:
    """The records of each cell, cells in the order of their values."""
    in_order = labels[order_of(values)]
    cells = in_order[np.flatnonzero(np.diff(in_order, prepend=-1))]
    return [np.flatnonzero(labels == cell).tolist() for cell in cells]


@given(tables(max_records=40, max_attributes=3), larger)
@settings(max_examples=100)
def test_each_attribute_is_sorted_and_cut_alone(table, place):
    X, k = table
    fitted = IndividualRanking(k=k, larger=place).fit(X)
    for j in range(X.shape[1]):
        in_order = sorted(range(len(X)), key=lambda record: (X[record, j], record))
        stops = np.cumsum(run_sizes(len(X), k, place)).tolist()
        expected = [sorted(in_order[start:stop]) for start, stop in zip([0, *stops[:-1]], stops, strict=True)]
        assert runs(X[:, j], fitted.labels_[:, j]) == expected


@given(st.integers(2, 300), st.integers(2, 40), larger)
def test_sizes_are_k_but_for_one_in_a_fixed_place(n_records, k, place):
    k = min(k, n_records)
    sizes = run_sizes(n_records, k, place)
    where = {"first": 0, "middle": len(sizes) // 2, "last": len(sizes) - 1}[place]
    assert np.delete(sizes, where).tolist() == [k] * (n_records // k - 1)
    assert sizes[where] == k + n_records % k


@given(tables(max_records=40, max_attributes=3), larger)
@settings(max_examples=60)
def test_sizes_depend_on_n_and_k_only(table, place):
    X, k = table
    fitted = IndividualRanking(k=k, larger=place).fit(X)
    for j in range(X.shape[1]):
        sizes = [len(run) for run in runs(X[:, j], fitted.labels_[:, j])]
        assert sizes == run_sizes(len(X), k, place).tolist()


def most_records_changed(X: np.ndarray, record: int, new: np.ndarray, partitioner: IndividualRanking) -> int:
    """Records that a cell gains when one is replaced, at most, cells matched by their rank."""
    changed = X.copy()
    changed[record] = new
    before, after = partitioner.fit(X).labels_, partitioner.fit(changed).labels_
    gained = []
    for j in range(X.shape[1]):
        old, new_runs = runs(X[:, j], before[:, j]), runs(changed[:, j], after[:, j])
        assert len(old) == len(new_runs)
        # The replaced record counts as changed wherever it is: its value is another one.
        gained += [len(set(b) - set(a) | ({record} & set(b))) for a, b in zip(old, new_runs, strict=True)]
    return max(gained)


@given(tables(max_records=30, max_attributes=2, max_k=6), larger, st.data())
@settings(max_examples=150)
def test_with_fixed_runs_one_replaced_record_changes_each_cell_by_at_most_one_record(table, place, data):
    X, k = table
    record = data.draw(st.integers(0, len(X) - 1))
    new = np.array(data.draw(st.lists(st.floats(-5, 5), min_size=X.shape[1], max_size=X.shape[1])))
    assert most_records_changed(X, record, new, IndividualRanking(k=k, larger=place)) <= 1


def test_with_optimal_runs_one_replaced_record_can_change_a_cell_by_more():
    X = np.array([[0.0], [1.0], [2.0], [3.0], [10.0], [11.0], [12.0], [13.0]])
    partitioner = IndividualRanking(k=2, cut="optimal")
    before = runs(X[:, 0], partitioner.fit(X).labels_[:, 0])
    changed = X.copy()
    changed[0] = 30.0
    after = runs(changed[:, 0], partitioner.fit(changed).labels_[:, 0])
    assert before == [[0, 1], [2, 3], [4, 5], [6, 7]]
    assert after != before
    assert len(after) != len(before) or any(len(set(b) - set(a)) > 1 for a, b in zip(before, after, strict=True))


@given(tables(max_records=40, max_attributes=3))
@settings(max_examples=60)
def test_the_optimal_cut_is_the_optimum_of_each_attribute(table):
    X, k = table
    fitted = IndividualRanking(k=k, cut="optimal").fit(X)
    alone = [OptimalUnivariate(k=k).fit(X[:, [j]]) for j in range(X.shape[1])]
    for j, one in enumerate(alone):
        np.testing.assert_array_equal(fitted.labels_[:, j], one.labels_)
    assert fitted.n_cells_.tolist() == [one.n_cells_ for one in alone]
    assert fitted.sse_ == pytest.approx(sum(one.sse_ for one in alone), rel=1e-9, abs=1e-12)


@given(st.lists(st.sampled_from([-1.0, -0.0, 0.0, 0.5, 2.0]), max_size=40))
def test_the_order_is_that_of_a_stable_sort(values):
    np.testing.assert_array_equal(order_of(np.array(values)), np.argsort(values, kind="stable"))


def test_of_equal_values_the_lower_record_comes_first():
    X = np.array([[1.0], [1.0], [1.0], [1.0], [0.0]])
    assert IndividualRanking(k=2, larger="last").fit(X).labels_[:, 0].tolist() == [0, 1, 1, 1, 0]
