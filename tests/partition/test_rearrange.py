"""Cells that are rearranged: what kernels find is what the definitions say, and every way ends with valid cells."""

from __future__ import annotations

import numpy as np
import pytest

import microagg
from mdav_tables import compiled
from microagg import MDAV
from microagg._halt import StopCondition
from microagg._labels import cells_in_order
from microagg.errors import InputError, ParameterError
from microagg.partition._kernels.rearrange import cells as linked
from microagg.partition._kernels.rearrange import rules as kernel
from microagg.partition._kernels.rearrange.repair import join_until_all_hold
from microagg.partition.base import within_cell_sse
from microagg.partition.local_search.search import near_records
from microagg.partition.nominal import nominal_of
from microagg.partition.rearrange.rearrange import rearrange_cells
from microagg.partition.rearrange.rules import Demands
from microagg.partition.rearrange.starts import records_per_cell, runs_of, stratified_cells
from microagg.privacy.requirement import REQUIREMENTS, T_CLOSENESS, ConfidentialValues, Requirement
from microagg.privacy.ways import Way
from microagg.privacy.within_cells import ValueTree
from microagg.schema.attribute import Kind
from microagg.schema.taxonomy import Taxonomy
from microagg.space.points import Points
from mixed_tables import random_points

pytestmark = pytest.mark.kernel

TREE = Taxonomy({"ab": "all", "a": "ab", "b": "ab", "cd": "all", "c": "cd", "d": "cd", "e": "all"})


def some_values(rng, n_records, kind):
    """Random values of a confidential attribute, with ties and missing ones."""
    if kind == "tree":
        labels = ["a", "b", "c", "d", "e", "cd"]
        values = rng.integers(0, len(labels), n_records).astype(float)
        tree = ValueTree.of_taxonomy(TREE, [*labels, None])
        found = ConfidentialValues("y", values, Kind.NOMINAL, tree)
    else:
        values = rng.integers(0, rng.integers(1, 25), n_records).astype(float)
        found = ConfidentialValues("y", values, kind)
    if rng.random() < 0.4:
        found.values[rng.random(n_records) < 0.2] = np.nan
    return found


def some_requirement(rng, values):
    bounds = {
        "distinct_l": float(rng.integers(2, 5)),
        "p_sensitive": float(rng.integers(2, 5)),
        "entropy_l": rng.uniform(1.1, 4.0),
        "recursive_c_l": rng.uniform(0.3, 3.0),
        "t_closeness": rng.uniform(0.05, 0.6),
        "max_share": rng.uniform(0.2, 0.9),
        "min_range": rng.uniform(0.5, 10.0),
    }
    keys = [key for key in bounds if key != "min_range" or values.kind is Kind.NUMERIC]
    key = keys[rng.integers(len(keys))]
    return Requirement(REQUIREMENTS[key], "y", bounds[key], int(rng.integers(2, 4)) if key == "recursive_c_l" else 0)


def some_labels(rng, n_records, n_cells):
    return cells_in_order(np.append(np.arange(n_cells), rng.integers(0, n_cells, n_records - n_cells)))


@pytest.mark.parametrize("kind", [Kind.NUMERIC, Kind.ORDINAL, Kind.NOMINAL, "tree"])
def test_a_kernel_finds_the_cells_that_the_definition_finds(kind):
    for seed in range(60):
        rng = np.random.default_rng([seed, 1])
        n_records = int(rng.integers(4, 50))
        values = some_values(rng, n_records, kind)
        demands = Demands(tuple(some_requirement(rng, values) for _ in range(2)), {"y": values})
        labels = some_labels(rng, n_records, int(rng.integers(1, max(n_records // 3, 2))))
        members = rng.permutation(n_records)  # kernels see the records in an order of their own
        rules = demands.rules(members)
        scratch = kernel.allocate_scratch(n_records, len(rules.total))
        satisfied = demands.satisfied(labels)
        for cell, holds in enumerate(satisfied):
            own = np.flatnonzero(labels[members] == cell)
            scratch.records[: len(own)] = own
            excess = kernel.excess_of_cell(rules, scratch, len(own), False)
            assert (excess == 0.0) == holds, (seed, demands.requirements)
        assert not scratch.tally.any()


def test_a_distance_that_just_reaches_the_bound_holds_in_kernel_and_definition():
    values = ConfidentialValues("y", np.arange(20.0), Kind.NUMERIC)
    labels = np.arange(20) % 4
    reached = Requirement(T_CLOSENESS, "y", 1.0).per_cell(values, labels)
    for cell, bound in enumerate(reached):
        for slack, holds in ((bound, True), (np.nextafter(bound, 0.0), False)):
            demands = Demands((Requirement(T_CLOSENESS, "y", slack),), {"y": values})
            assert demands.satisfied(labels)[cell] == holds
            rules = demands.rules(np.arange(20))
            scratch = kernel.allocate_scratch(20, len(rules.total))
            scratch.records[:5] = np.flatnonzero(labels == cell)
            assert (kernel.excess_of_cell(rules, scratch, 5, True) == 0.0) == holds


@pytest.mark.parametrize("seed", range(4))
def test_linked_cells_know_their_sse_by_numbers_and_by_codes(seed):
    rng = np.random.default_rng([seed, 2])
    points = random_points(rng, 40, ties=False).telling()
    labels = some_labels(rng, 40, 6)
    nominal = nominal_of(points)
    cells = linked.link_cells(points.values, labels.copy(), 10, nominal)
    assert linked.total_sse(points.values, cells, nominal) == pytest.approx(within_cell_sse(points, labels, 6))
    one, two = 0, 3
    joined = np.where(labels == two, one, labels)
    apart = linked.centroid_distance(points.values, cells, one, two, nominal)
    linked.join(points.values, cells, one, two, nominal)
    np.testing.assert_array_equal(cells.label, joined)
    after = within_cell_sse(points, cells_in_order(joined), 5)
    assert within_cell_sse(points, labels, 6) + apart == pytest.approx(after)
    assert cells.n_free[0] == 5


def test_joining_ends_with_one_cell_where_nothing_less_will_do():
    X = np.arange(12.0)[:, None]
    values = ConfidentialValues("y", np.arange(12.0) // 6, Kind.NUMERIC)
    demands = Demands((Requirement(T_CLOSENESS, "y", 0.01),), {"y": values})
    cells = linked.link_cells(X, np.arange(12) // 3, 4, None)
    near = near_records(Points(X), 3, StopCondition())
    rules, stop = demands.rules(np.arange(12)), np.zeros(1, dtype=np.int64)
    assert join_until_all_hold(X, near, cells, rules, kernel.allocate_scratch(12, len(rules.total)), stop, None) == 0
    assert len(np.unique(cells.label)) == 1


def test_a_cell_of_one_record_of_each_run_is_as_close_as_the_paper_says():
    rng = np.random.default_rng(3)
    for t in (0.05, 0.13, 0.25):
        n_records, k = int(rng.integers(200, 400)), 2
        order = rng.permutation(n_records)
        values = np.empty(n_records)
        values[order] = np.arange(n_records)
        size = records_per_cell(n_records, k, t)
        cells = stratified_cells(Points(rng.normal(size=(n_records, 2))), order, size)
        runs = np.repeat(np.arange(len(runs_of(n_records, size)) - 1), np.diff(runs_of(n_records, size)))
        for cell in range(cells.max() + 1):
            assert set(runs[values[cells == cell].astype(int)]) == set(range(runs.max() + 1))
        found = Requirement(T_CLOSENESS, "y", t).per_cell(ConfidentialValues("y", values, Kind.NUMERIC), cells)
        exact = np.bincount(cells) == runs.max() + 1  # one with a record more may be a little farther
        assert exact.any()
        assert (found[exact] <= t).all()


@compiled
@pytest.mark.parametrize("way", list(Way))
def test_every_way_ends_with_valid_cells_and_a_seed_repeats_it(way):
    for seed in range(6):
        rng = np.random.default_rng([seed, 4])
        points = random_points(rng, 120, ties=bool(seed % 2))
        values = ConfidentialValues("y", rng.normal(size=120).round(1), Kind.NUMERIC)
        demands = Demands((Requirement(T_CLOSENESS, "y", 0.2),), {"y": values})
        labels = MDAV(3).fit(points).labels_
        settings = {"by": way, "effort": "fast", "random_state": seed}
        found, again = (
            rearrange_cells(points, labels, 3, demands, np.arange(120), **settings).labels for _ in range(2)
        )
        np.testing.assert_array_equal(found, again)
        assert np.bincount(found).min() >= 3
        assert demands.satisfied(found).all()


@compiled
def test_a_search_loses_no_more_than_any_other_way():
    rng = np.random.default_rng(5)
    X, y = rng.normal(size=(300, 2)), rng.normal(size=300)
    labels = MDAV(3).fit(X).labels_
    loss = {
        way: within_cell_sse(X, found, found.max() + 1)
        for way in Way
        for found in [microagg.rearrange(labels, X, y, 3, by=str(way), random_state=0, t_closeness=0.1)]
    }
    assert loss[Way.SEARCH] < 0.8 * min(loss[way] for way in Way if way is not Way.SEARCH)


@compiled
def test_where_near_optimal_cells_satisfy_everything_a_search_loses_no_more_than_they_do():
    rng = np.random.default_rng(6)
    X, y = rng.normal(size=(400, 2)), rng.normal(size=400)
    best = microagg.NearOptimal(4, random_state=7).fit(X)
    found = microagg.rearrange(MDAV(4).fit(X).labels_, X, y, 4, random_state=7, t_closeness=0.9)
    assert within_cell_sse(X, found, found.max() + 1) <= best.sse_ * (1 + 1e-12)


@compiled
def test_no_records_of_another_value_are_looked_for_where_values_are_many():
    """A kernel once wrote before the beginning of rows without any place."""
    from microagg._kernels.random import seed_rng
    from microagg.partition._kernels.rearrange.unlike import unlike_records

    X = np.random.default_rng(0).normal(size=(50, 2))
    near, never = np.tile(np.arange(3, dtype=np.int32), (50, 1)), np.zeros(1, dtype=np.int64)
    slow = getattr(unlike_records, "py_func", unlike_records)  # Python looks at every index, compiled code does not
    found = slow(X, near, np.arange(50), 0, 4, 1, seed_rng([1, 2, 3, 4]), never, None)
    assert found.shape == (50, 0)


def test_a_time_limit_ends_a_search_with_valid_cells():
    rng = np.random.default_rng(8)
    X, y = rng.normal(size=(3000, 3)), rng.normal(size=3000)
    values = ConfidentialValues("y", y, Kind.NUMERIC)
    demands = Demands((Requirement(T_CLOSENESS, "y", 0.1),), {"y": values})
    settings = {"random_state": 0, "time_limit": 0.5, "effort": "best"}
    found = rearrange_cells(Points(X), MDAV(5).fit(X).labels_, 5, demands, np.arange(3000), **settings)
    assert found.stopped_by == "time limit"
    assert found.share < 1.0
    assert demands.satisfied(found.labels).all()
    assert np.bincount(found.labels).min() >= 5


def test_what_no_partition_satisfies_is_refused_with_what_one_would():
    X, labels = [[0.0], [1.0], [2.0], [3.0]], [0, 0, 1, 1]
    with pytest.raises(InputError, match=r"The largest that can be is distinct_l = 2"):
        microagg.rearrange(labels, X, ["a", "a", "b", "b"], 2, distinct_l=3)
    with pytest.raises(InputError, match=r"The smallest that can be is max_share = 0.7501"):
        microagg.rearrange(labels, X, ["a", "a", "a", "b"], 2, max_share=0.5)


@pytest.mark.parametrize(
    ("wrong", "words"),
    [
        ({}, "nothing is required"),
        ({"distinct": 3}, "no requirement is called 'distinct'"),
        ({"distinct_l": 1}, "distinct_l must be a whole number of at least 2"),
        ({"distinct_l": 2.5}, "distinct_l must be a whole number of at least 2"),
        ({"t_closeness": 1.5}, "t_closeness must be a number between 0 and 1"),
        ({"recursive_c_l": 2}, "recursive_c_l must be c and l"),
        ({"min_range": 1.0}, "min_range is for numbers"),
        ({"distinct_l": 2, "by": "chance"}, "by"),
    ],
)
def test_wrong_requirements_are_explained(wrong, words):
    with pytest.raises(ParameterError, match=words):
        microagg.rearrange([0, 0, 1, 1], [[0.0], [1.0], [2.0], [3.0]], ["a", "b", "a", "b"], 2, **wrong)
