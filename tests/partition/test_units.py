"""Cells of k units: runs of one attribute against all runs there are, cells of records against what they must hold."""

from __future__ import annotations

import itertools

import numpy as np
import pytest
from hypothesis import given, settings
from hypothesis import strategies as st

from microagg import MDAV
from microagg.partition.base import within_cell_sse
from microagg.partition.units.cells import runs_of_units, unit_means, units_per_cell
from microagg.partition.units.search import UNIT_EFFORTS, cells_of_units
from microagg.privacy.ways import Way
from microagg.space.points import Points


def sse(values: np.ndarray, labels: np.ndarray) -> float:
    return within_cell_sse(Points(values.reshape(len(labels), -1)), labels, int(labels.max()) + 1)


def least_of_runs(values: np.ndarray, units: np.ndarray, k: int) -> float:
    """The least SSE of all ways to cut sorted values into runs of at least k units, one by one."""
    order = np.argsort(values, kind="stable")
    ordered, of = values[order], units[order]
    least = np.inf
    for cuts in itertools.product([False, True], repeat=len(values) - 1):
        labels = np.concatenate([[0], np.cumsum(cuts)])
        if (units_per_cell(of, labels) >= k).all():
            least = min(least, sse(ordered, labels))
    return least


@settings(max_examples=80, deadline=None)
@given(
    records=st.lists(st.tuples(st.integers(0, 12), st.integers(0, 4)), min_size=4, max_size=9),
    k=st.integers(2, 3),
)
def test_runs_of_units_lose_as_little_as_any_runs_do(records, k):
    values = np.array([float(value) for value, _ in records])
    units = np.unique([unit for _, unit in records], return_inverse=True)[1]
    if units.max() + 1 < k:
        return
    labels = runs_of_units(values, units, k)
    assert units_per_cell(units, labels).min() >= k
    assert sse(values, labels) == pytest.approx(least_of_runs(values, units, k))


def test_a_run_that_a_huge_unit_fills_is_cut_where_other_units_begin():
    """More records of one unit than starts are tried: runs hold k units all the same."""
    units = np.concatenate([np.zeros(600, dtype=np.int64), np.arange(1, 7)])
    values = np.concatenate([np.linspace(0.0, 1.0, 600), np.linspace(0.2, 0.8, 6)])
    labels = runs_of_units(values, units, 3)
    assert units_per_cell(units, labels).min() >= 3
    assert labels.max() == 2


def table_of_units(rng: np.random.Generator, n_records: int, alike: float) -> tuple[np.ndarray, np.ndarray]:
    """Records of units of one to five, which are alike within their unit by that share of their variance."""
    units = np.repeat(np.arange(n_records), rng.integers(1, 6, n_records))[:n_records]
    centres = rng.normal(size=(n_records, 3))
    X = np.sqrt(1 - alike) * rng.normal(size=(n_records, 3)) + np.sqrt(alike) * centres[units]
    return X, units


@pytest.mark.parametrize("by", [Way.MERGE, Way.SWAP, Way.SEARCH])
@pytest.mark.parametrize("alike", [0.0, 0.9])
def test_cells_hold_k_units_whatever_the_way(by, alike):
    X, units = table_of_units(np.random.default_rng(1), 300, alike)
    start = MDAV(k=4).fit(X).labels_
    assert units_per_cell(units, start).min() < 4  # there is something to do
    for effort in ("fast", "default"):
        found = cells_of_units(Points(X), start, 4, units, by=by, effort=effort, random_state=0)
        assert units_per_cell(units, found.labels).min() >= 4
        assert len(found.labels) == 300


def test_each_way_loses_less_than_the_one_before():
    X, units = table_of_units(np.random.default_rng(2), 400, 0.8)
    start = MDAV(k=4).fit(X).labels_
    lost = [
        sse(X, cells_of_units(Points(X), start, 4, units, by=by, effort=effort, random_state=3).labels)
        for by, effort in (
            (Way.MERGE, "fast"),
            (Way.SWAP, "fast"),
            (Way.SEARCH, "fast"),
            (Way.SEARCH, "default"),
        )
    ]
    assert lost == sorted(lost, reverse=True)
    assert lost[-1] < 0.8 * lost[0]


def test_cells_that_hold_k_units_stay_as_they_are():
    X, _ = table_of_units(np.random.default_rng(3), 60, 0.0)
    start = MDAV(k=4).fit(X).labels_
    assert cells_of_units(Points(X), start, 4, np.arange(60)).labels is start


def test_a_search_without_chance_is_repeated_and_a_seed_repeats_any():
    X, units = table_of_units(np.random.default_rng(4), 200, 0.7)
    start = MDAV(k=3).fit(X).labels_
    for effort in UNIT_EFFORTS:
        if effort != "best":
            first, second = (
                cells_of_units(Points(X), start, 3, units, effort=effort, random_state=7).labels for _ in range(2)
            )
            assert first.tolist() == second.tolist()
    unseeded = cells_of_units(Points(X), start, 3, units, effort="fast").labels
    assert (
        unseeded.tolist() == cells_of_units(Points(X), start, 3, units, effort="fast", random_state=7).labels.tolist()
    )


def test_a_time_limit_ends_the_search_and_not_what_it_starts_from():
    X, units = table_of_units(np.random.default_rng(5), 300, 0.8)
    start = MDAV(k=4).fit(X).labels_
    found = cells_of_units(Points(X), start, 4, units, effort="best", time_limit=1e-6)
    assert found.stopped_by == "time limit"
    assert found.share < 1.0
    assert units_per_cell(units, found.labels).min() >= 4


@settings(max_examples=40, deadline=None)
@given(
    n_records=st.integers(4, 40),
    n_units=st.integers(2, 12),
    equal=st.booleans(),
    by=st.sampled_from([Way.MERGE, Way.SWAP, Way.SEARCH]),
    seed=st.integers(0, 10**6),
)
def test_small_tables_of_any_units_end_with_k_units_in_each_cell(n_records, n_units, equal, by, seed):
    rng = np.random.default_rng(seed)
    units = np.unique(rng.integers(0, n_units, n_records), return_inverse=True)[1]
    k = int(min(units.max() + 1, 4))
    if k < 2:
        return
    X = np.zeros((n_records, 2)) if equal else np.round(rng.normal(size=(n_records, 2)), 1)
    start = MDAV(k=k).fit(X).labels_
    found = cells_of_units(Points(X), start, k, units, by=by, effort="default", random_state=seed)
    assert units_per_cell(units, found.labels).min() >= k


def test_the_mean_of_a_units_records_stands_for_them():
    points = unit_means(Points(np.array([[0.0, 1.0], [2.0, 3.0], [5.0, 5.0]])), np.array([0, 0, 1]))
    assert points.values.tolist() == [[1.0, 2.0], [5.0, 5.0]]
