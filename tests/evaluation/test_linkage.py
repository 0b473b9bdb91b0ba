"""Linkage by distance and the search for near points, against all pairs."""

from __future__ import annotations

import numpy as np
import pyarrow as pa
import pytest
from hypothesis import given
from hypothesis import strategies as st

import microagg
from declarations import nominal, numeric
from microagg import Recipe
from microagg.errors import ParameterError
from microagg.evaluation.nearest import PointTree
from microagg.evaluation.risk.attacker import all_or_sampled, sets_of_size
from microagg.evaluation.risk.linkage import chance_of_link

CENSUS = ("AGI", "FICA", "INTVAL", "EMCONTRB", "TAXINC", "WSALVAL", "ERNVAL", "PEARNVAL", "POTHVAL")


def squared_distances(queries, points):
    return ((queries[:, None] - points[None]) ** 2).sum(axis=-1)


def points_with_ties(seed, n_points, n_columns=3):
    """Points on a coarse grid, some columns constant: equal points and equal distances abound."""
    points = np.random.default_rng(seed).integers(0, 4, (n_points, n_columns)).astype(float)
    points[:, -1] = 1.0
    return points


@pytest.mark.parametrize("n_points", [1, 2, 99, 101, 1000])
@pytest.mark.parametrize("sort", ["ties", "normal"])
def test_the_nearest_point_is_found(sort, n_points):
    rng = np.random.default_rng(n_points)
    points = points_with_ties(0, n_points) if sort == "ties" else rng.normal(size=(n_points, 3))
    queries = rng.normal(size=(150, 3)) * 2
    squared, rows = PointTree.of(points).nearest(queries)
    everything = squared_distances(queries, points)
    np.testing.assert_allclose(squared, everything.min(axis=1))
    np.testing.assert_allclose(everything[np.arange(150), rows], squared)


def test_many_queries_are_searched_in_runs_and_come_back_in_order():
    rng = np.random.default_rng(0)
    points, queries = rng.normal(size=(700, 4)), rng.normal(size=(9000, 4))
    squared, rows = PointTree.of(points).nearest(queries)
    np.testing.assert_allclose(squared, ((points[rows] - queries) ** 2).sum(axis=1))
    np.testing.assert_allclose(squared[::60], squared_distances(queries[::60], points).min(axis=1))


@given(st.integers(0, 10**6), st.integers(1, 260), st.integers(1, 40))
def test_ties_are_counted_unless_a_point_is_closer(seed, n_points, n_queries):
    points, queries = points_with_ties(seed, n_points), points_with_ties(seed + 1, n_queries)
    everything = squared_distances(queries, points)
    closer = everything[:, 0]  # the distance to some point, as a record's own
    ties = PointTree.of(points).ties_unless_closer(queries, closer, closer)
    expected = np.where((everything < closer[:, None]).any(axis=1), 0, (everything <= closer[:, None]).sum(axis=1))
    assert ties.tolist() == expected.tolist()


def plain_chances(original, released, rows):
    distances = squared_distances(released, original)
    nearest = distances <= distances.min(axis=1, keepdims=True) * (1 + 1e-9)
    return nearest[np.arange(len(released)), rows] / nearest.sum(axis=1)


@given(st.integers(0, 10**6), st.integers(1, 120), st.booleans())
def test_chances_of_links_agree_with_all_pairs_and_their_bound(seed, n_records, coarse):
    rng = np.random.default_rng(seed)
    original = points_with_ties(seed, n_records) if coarse else rng.normal(size=(n_records, 3))
    rows = rng.permutation(n_records)[: rng.integers(1, n_records + 1)]
    cells = rng.integers(0, max(n_records // 3, 1), n_records)
    centres = np.array([original[cells == cell].mean(axis=0) for cell in cells])
    released = centres[rows]
    chances = chance_of_link(original, released, rows)
    np.testing.assert_allclose(chances, plain_chances(original, released, rows))
    assert chances.sum() <= len(np.unique(released, axis=0)) + 1e-9


def test_who_is_equally_near_shares_the_chance():
    original = np.array([[0.0], [2.0], [2.0], [9.0]])
    assert chance_of_link(original, np.full((4, 1), 1.0), np.arange(4)).tolist() == [1 / 3, 1 / 3, 1 / 3, 0.0]
    assert chance_of_link(original, original, np.arange(4)).tolist() == [1.0, 0.5, 0.5, 1.0]


@pytest.fixture
def census(reference_data):
    return reference_data("census").select(CENSUS)


def recipe(k, **more):
    return Recipe(k=k, output={"order": "kept"}, attributes={name: numeric() for name in CENSUS}, **more)


@pytest.mark.parametrize("k", [3, 10])
def test_unblocked_releases_keep_the_bound(census, k):
    released = microagg.release(census, recipe(k)).table
    names = ["distance_linkage", "anonymity"]
    found = microagg.evaluate(census, released, recipe(k), aligned=True, measures=names)
    n_different = len(set(zip(*(column.to_pylist() for column in released.columns), strict=True)))
    assert found["distance_linkage"].value <= n_different / 1080 <= 1 / k
    assert found["k"].value >= k
    assert found["k_prime"].value == pytest.approx(1080 / n_different)


def test_all_sets_of_attributes_of_blocked_census(census):
    """Published: 5.68 %, by an intruder whose conventions are not told; ours finds a little more."""
    chosen = recipe(50, blocks={"form": "contiguous", "size": 3})
    released = microagg.release(census, chosen).table
    found = microagg.evaluate(census, released, chosen, aligned=True, measures="linkage")
    assert found["distance_linkage_of_sets"].note == "over 511 sets of attributes"
    assert found["distance_linkage_of_sets"].value == pytest.approx(0.062, abs=0.001)
    assert found["distance_linkage_of_sets"].value < found["distance_linkage"].value


def test_sets_are_those_given_or_all_or_a_sample():
    rng = np.random.default_rng(0)
    original = {"a": rng.normal(size=60), "b": rng.normal(size=60), "c": rng.choice(["x", "y"], 60)}
    released = {**original, "a": np.round(original["a"]), "b": np.round(original["b"])}
    schema = Recipe(k=2, attributes={"a": numeric(), "b": numeric(), "c": nominal()})
    tables = pa.table(original), pa.table(released)
    names = ["distance_linkage_of_sets", "k_prime_of_sets"]
    given_sets = microagg.evaluate(*tables, schema, aligned=True, measures=names, known=[["b", "a"], ["c"]])
    sides = [np.column_stack([table["a"], table["b"]]) for table in (original, released)]
    sides = [(side - side.mean(axis=0)) / side.std(axis=0) for side in sides]
    by_numbers = plain_chances(*sides, np.arange(60)).mean()
    sizes = {value: (original["c"] == value).sum() for value in ("x", "y")}
    by_category = np.mean([1 / sizes[value] for value in original["c"]])
    assert given_sets[names[0]].value == pytest.approx((by_numbers + by_category) / 2)
    assert given_sets[names[1]].details["c"] == 30.0
    assert (
        microagg.evaluate(*tables, schema, aligned=True, measures=names)[names[0]].note == "over 7 sets of attributes"
    )
    for bad in (["a"], [["z"]], [[]], []):
        with pytest.raises(ParameterError, match="known"):
            microagg.evaluate(*tables, schema, known=bad)


def test_sampled_sets_are_different_and_not_empty():
    rng = np.random.default_rng(0)
    for sets in (all_or_sampled(12, 300, rng), sets_of_size(15, 3, 100, rng)):
        assert len(set(sets)) == len(sets)
        assert all(sets)
    assert len(all_or_sampled(9, 511, rng)) == 511


def test_linkage_needs_aligned_rows_and_takes_a_key():
    rng = np.random.default_rng(5)
    original = pa.table({"id": np.arange(80), "x": rng.normal(size=80), "y": rng.normal(size=80)})
    schema = Recipe(k=2, attributes={"id": "non_confidential", "x": numeric(), "y": numeric()})
    shuffled = original.take(rng.permutation(80)[:50])
    by_key = microagg.evaluate(original, shuffled, schema, key="id", measures="linkage", per_record=True)
    # Deviations of part of the records differ a little, so a few links may be lost, not many.
    assert by_key["distance_linkage"].value > 0.5
    assert by_key["distance_linkage"].baseline == 1 / 80
    assert len(by_key.per_record["distance_linkage"]) == 50
    without = microagg.evaluate(original, shuffled, schema, measures=["linkage", "intervals", "scores"])
    for one in without:
        if one.name != "distance_linkage_by_chance":
            assert one.value is None
            assert "same record" in one.note
