"""Partitioners on numbers and codes: the cells of the definition, on every road, with the coordinates as an oracle."""

from __future__ import annotations

import itertools

import numpy as np
import pytest

from mdav_tables import compiled
from microagg import MDAV, VMDAV, NearOptimal, refine
from microagg.errors import ParameterError
from microagg.partition import _mdav_search as searches
from microagg.partition import vmdav as vmdav_module
from microagg.partition.base import cells_in_order, within_cell_sse
from microagg.partition.nominal import nominal_of
from microagg.partition.projection import Projection
from microagg.partition.uncompiled.choice import always_by
from microagg.space.points import NominalColumn, Points
from mixed_tables import (
    first_choice_that_no_tie_explains,
    plain_mdav,
    plain_vmdav,
    random_points,
    squared_distances,
    sse_by_pairs,
)

pytestmark = pytest.mark.kernel


def assert_labels(found, expected, context):
    np.testing.assert_array_equal(cells_in_order(np.asarray(found)), cells_in_order(np.asarray(expected)), context)


# The definition


@pytest.mark.parametrize("ties", [False, True])
def test_every_road_of_mdav_forms_the_cells_of_the_definition(ties):
    for seed in range(60):
        rng = np.random.default_rng([seed, ties])
        n_records = int(rng.integers(4, 70))
        points, k = random_points(rng, n_records, ties=ties), int(rng.integers(2, min(n_records, 12)))
        expected = plain_mdav(points, k)
        for algorithm in ("plain", "tree", "brute"):
            assert_labels(MDAV(k=k, algorithm=algorithm).fit(points).labels_, expected, (seed, algorithm))
        with always_by("numpy"):
            assert_labels(MDAV(k=k).fit(points).labels_, expected, (seed, "numpy"))


@pytest.mark.parametrize("ties", [False, True])
def test_every_road_of_vmdav_forms_the_cells_of_the_definition(ties, monkeypatch):
    for seed in range(40):
        rng = np.random.default_rng([seed, ties, 1])
        n_records = int(rng.integers(4, 50))
        points, k = random_points(rng, n_records, ties=ties), int(rng.integers(2, min(n_records, 9)))
        for gamma in (0.0, 0.2, 1.1):
            expected = plain_vmdav(points, k, gamma)
            for tree_from in (0, 1000):
                monkeypatch.setattr(vmdav_module, "_TREE_FROM", tree_from)
                assert_labels(VMDAV(k=k, gamma=gamma).fit(points).labels_, expected, (seed, gamma, tree_from))
            with always_by("numpy"):
                assert_labels(VMDAV(k=k, gamma=gamma).fit(points).labels_, expected, (seed, gamma, "numpy"))


@compiled
@pytest.mark.parametrize("ties", [False, True])
def test_the_tree_finds_the_cells_of_the_plain_scan_in_larger_tables(ties):
    for seed in range(25):
        rng = np.random.default_rng([seed, ties, 2])
        points, k = random_points(rng, int(rng.integers(500, 3000)), ties=ties), int(rng.integers(2, 40))
        by_tree, plainly = (MDAV(k=k, algorithm=name).fit(points).labels_ for name in ("tree", "plain"))
        np.testing.assert_array_equal(by_tree, plainly, err_msg=str(seed))


@compiled
def test_vmdav_by_tree_and_scan_agree_in_larger_tables(monkeypatch):
    for seed in range(4):
        points = random_points(np.random.default_rng([seed, 3]), 2500, ties=bool(seed % 2))
        labels = []
        for tree_from in (0, 10_000):
            monkeypatch.setattr(vmdav_module, "_TREE_FROM", tree_from)
            labels.append(VMDAV(k=6, gamma=0.3).fit(points).labels_)
        np.testing.assert_array_equal(*labels, err_msg=str(seed))


# The coordinates


@compiled
def test_labels_are_those_of_the_coordinates_unless_a_tie_was_decided_otherwise():
    compared = {False: 0, True: 0}
    for seed in range(150):
        rng = np.random.default_rng([seed, 4])
        ties = seed % 3 == 0
        points, k = random_points(rng, int(rng.integers(20, 200)), ties=ties), int(rng.integers(2, 12))
        X = points.coordinates()
        by_codes = searches.mdav_cells(points.telling(), k, 3 * k, "plain")
        same = np.array_equal(cells_in_order(by_codes), MDAV(k=k, algorithm="plain").fit(X).labels_)
        compared[same] += 1
        if not same:
            for labels in (by_codes, searches.mdav_cells(Points(X), k, 3 * k, "plain")):
                wrong = first_choice_that_no_tie_explains(points, labels, k)
                assert not wrong, (seed, wrong)
    assert compared[True] > 90, compared


def test_the_check_of_ties_finds_a_cell_that_no_tie_explains():
    points = random_points(np.random.default_rng(5), 60, ties=False)
    labels = searches.mdav_cells(points.telling(), 4, 12, "plain")
    assert not first_choice_that_no_tie_explains(points, labels, 4)
    moved = labels.copy()
    one, other = np.flatnonzero(labels == 3)[0], np.flatnonzero(labels == 9)[0]
    moved[[one, other]] = moved[[other, one]]
    assert first_choice_that_no_tie_explains(points, moved, 4)


@pytest.mark.parametrize("partitioner", [MDAV(3), VMDAV(3), NearOptimal(3, random_state=0, effort="fast")])
def test_the_sse_is_that_of_the_coordinates(partitioner):
    for seed in range(6):
        points = random_points(np.random.default_rng([seed, 6]), 60, ties=bool(seed % 2))
        fitted = partitioner.fit(points)
        expected = sse_by_pairs(squared_distances(points.coordinates()), fitted.labels_)
        assert fitted.sse_ == pytest.approx(expected, rel=1e-9, abs=1e-12)
        assert within_cell_sse(points.coordinates(), fitted.labels_, fitted.n_cells_) == pytest.approx(
            expected, rel=1e-9, abs=1e-12
        )


def test_a_scale_of_all_distances_changes_no_cell():
    points = random_points(np.random.default_rng(7), 90, ties=False)
    expected = MDAV(k=4).fit(points).labels_
    for exponent in (-500, -300, 300, 500):
        np.testing.assert_array_equal(MDAV(k=4).fit(points.times_power_of_two(exponent)).labels_, expected)


# What stays and what does not


def test_records_without_any_difference_are_put_into_cells_by_their_order():
    points = Points(np.zeros((7, 2)), (NominalColumn("c", 4),))
    for partitioner in (MDAV(3), VMDAV(3), NearOptimal(3, random_state=0)):
        assert np.bincount(partitioner.fit(points).labels_).min() >= 3


def test_permuted_records_have_permuted_cells():
    points = random_points(np.random.default_rng(8), 200, ties=False)
    order = np.random.default_rng(9).permutation(200)
    labels = MDAV(k=5).fit(points).labels_
    np.testing.assert_array_equal(MDAV(k=5).fit(points.take(order)).labels_, cells_in_order(labels[order]))


def test_the_input_is_left_alone():
    points = random_points(np.random.default_rng(10), 90, ties=True)
    before = points.values.copy()
    for partitioner in (MDAV(3), VMDAV(3), NearOptimal(3, random_state=0, effort="fast")):
        partitioner.fit(points)
    np.testing.assert_array_equal(points.values, before)


def test_a_method_of_coordinates_refuses_codes():
    points = random_points(np.random.default_rng(11), 30, ties=False)
    with pytest.raises(ParameterError, match="numbers, not codes: give it coordinates"):
        Projection(k=3).fit(points)
    with pytest.raises(ParameterError, match="k = 31 needs at least 31 records"):
        MDAV(k=31).fit(points)


# Near-optimal search


@compiled
def test_a_search_by_codes_loses_no_more_than_mdav_and_a_seed_repeats_it():
    for seed in range(8):
        rng = np.random.default_rng([seed, 12])
        points, k = random_points(rng, int(rng.integers(30, 160)), ties=bool(seed % 2)), int(rng.integers(2, 8))
        found, again = (NearOptimal(k=k, random_state=seed).fit(points) for _ in range(2))
        np.testing.assert_array_equal(found.labels_, again.labels_)
        assert found.sse_ <= MDAV(k=k).fit(points).sse_ * (1 + 1e-12)
        assert np.bincount(found.labels_).max() <= 2 * k - 1


@compiled
def test_the_search_by_codes_is_as_good_as_that_by_coordinates():
    points = random_points(np.random.default_rng([3, 13]), 400, ties=False)
    assert len(points.nominal) >= 2
    by_codes, by_coordinates = (
        np.mean([NearOptimal(k=4, random_state=seed).fit(space).sse_ for seed in range(3)])
        for space in (points, points.coordinates())
    )
    assert by_codes == pytest.approx(by_coordinates, rel=0.02)


@compiled
@pytest.mark.parametrize("effort", ["fast", "best"])
def test_cells_of_many_records_and_of_recombined_runs(effort):
    points = random_points(np.random.default_rng([5, 14]), 150, ties=False)
    found = NearOptimal(k=3, effort=effort, random_state=1, start="split").fit(points)
    assert found.sse_ == pytest.approx(sse_by_pairs(squared_distances(points.coordinates()), found.labels_))
    refined = refine(found.labels_, points, 3, effort="fast", random_state=0)
    assert within_cell_sse(points, refined, int(refined.max()) + 1) <= found.sse_ * (1 + 1e-12)


@compiled
def test_no_partition_of_codes_is_below_what_a_certificate_proves():
    for seed in range(4):
        points = random_points(np.random.default_rng([seed, 15]), 7, ties=False)
        squared = squared_distances(points.coordinates())
        best = min(
            sse_by_pairs(squared, cells_in_order(np.array(labels)))
            for labels in itertools.product(range(3), repeat=7)
            if min(np.bincount(labels)[np.bincount(labels) > 0]) >= 2
        )
        found = NearOptimal(k=2, random_state=0, certificate=True).fit(points)
        assert found.lower_bound_ is not None
        assert found.lower_bound_ <= best * (1 + 1e-9) + 1e-12
        assert found.sse_ == pytest.approx(best, rel=1e-9, abs=1e-12)


@compiled
def test_many_records_are_halved_between_categories_and_have_near_neighbours():
    from microagg._halt import StopCondition
    from microagg.partition.local_search.search import near_records

    rng = np.random.default_rng(16)
    codes = np.column_stack([rng.integers(0, size, 8_000) for size in (3, 5, 8, 40)]).astype(float)
    points = Points(codes, tuple(NominalColumn(f"c{j}", size) for j, size in enumerate((3, 5, 8, 40)))).telling()
    near = near_records(points, 5, StopCondition())
    some = np.arange(0, 8_000, 40)
    values = points.values[:, 1:]
    apart = (values[near[some]] != values[some][:, None, :]).sum(axis=2).mean()
    by_chance = (values[rng.integers(0, 8_000, (200, near.shape[1]))] != values[some][:, None, :]).sum(axis=2).mean()
    everyone = np.sort((values[None, :, :] != values[some][:, None, :]).sum(axis=2), axis=1)
    best = everyone[:, 1 : near.shape[1] + 1].mean()
    assert apart < best + 0.25 * (by_chance - best)


@compiled
def test_only_codes_of_which_most_are_alike_can_be_halved():
    rng = np.random.default_rng(17)
    codes = (rng.random((9_000, 5)) < 0.02).astype(float)
    points = Points(codes, tuple(NominalColumn(f"c{j}", 2) for j in range(5)))
    found = NearOptimal(k=20, effort="fast", start="split", random_state=0).fit(points)
    assert np.bincount(found.labels_).min() >= 20


# Many categories


@compiled
def test_ten_thousand_categories_take_no_more_memory_than_ten():
    import tracemalloc

    peaks = {}
    for n_categories in (10, 10_000):
        rng = np.random.default_rng(18)
        values = np.column_stack([rng.normal(size=(20_000, 2)), rng.integers(0, n_categories, 20_000)])
        points = Points(np.ascontiguousarray(values), (NominalColumn("postcode", n_categories),))
        MDAV(k=10).fit(points.take(np.arange(3500)))
        tracemalloc.start()
        for partitioner in (MDAV(10), NearOptimal(10, effort="fast", random_state=0)):
            assert np.bincount(partitioner.fit(points).labels_).min() >= 10
        peaks[n_categories] = tracemalloc.get_traced_memory()[1]
        tracemalloc.stop()
    assert peaks[10_000] < 2 * peaks[10] + 8 * 2**20


def test_what_kernels_know_of_codes_is_in_proportion_to_categories():
    points = random_points(np.random.default_rng(19), 50, ties=False).telling()
    nominal = nominal_of(points)
    sizes = [column.n_categories for column in points.nominal]
    tables = sum(size**2 for size, column in zip(sizes, points.nominal, strict=True) if column.table is not None)
    assert nominal.looks.size == sum(sizes) + tables
