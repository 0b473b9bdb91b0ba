"""Numbers and codes against coordinates, one for each category: near records, links, and spread within cells."""

from __future__ import annotations

import tracemalloc
from dataclasses import replace

import numpy as np
import pyarrow as pa
import pytest
from hypothesis import given
from hypothesis import strategies as st

import microagg
from declarations import nominal, numeric
from microagg import Recipe
from microagg.evaluation.nearest import PointTree
from microagg.evaluation.pairs import pair
from microagg.evaluation.points import attribute_points, points_of, row_distances, spread_within
from microagg.evaluation.risk.linkage import chance_of_link, linked_by_distance
from microagg.evaluation.risk.nearest import distances_to_closest
from microagg.evaluation.utility.distortion import distortion_within
from microagg.schema.attribute import Attribute
from microagg.schema.encode import encode
from microagg.schema.taxonomy import Taxonomy
from microagg.space.mixed import mixed_space
from microagg.space.points import Points
from microagg.tables.frames import Frame

TREE = Taxonomy.from_parents(
    dict.fromkeys(["crafts", "office", "h"], "work") | dict.fromkeys("abc", "crafts") | dict.fromkeys("defg", "office")
)
ATTRIBUTES = {
    "number": Attribute(role="quasi_identifier", kind="numeric", weight=2.0),
    "grid": Attribute(role="quasi_identifier", kind="numeric"),
    "two": Attribute(role="quasi_identifier", kind="nominal"),
    "some": Attribute(role="quasi_identifier", kind="nominal", weight=3.0),
    "many": Attribute(role="quasi_identifier", kind="nominal"),
    "tree": Attribute(role="quasi_identifier", kind="nominal", taxonomy=TREE, weight=0.5),
}
LABELS = {
    "two": ["x", "y"],
    "some": [*"pqrstu"],
    "many": [f"place {i:03}" for i in range(200)],
    "tree": [*"abcdefgh"],
}


def random_table(rng, n_records, share_missing):
    """Few different values, so that equal records and equal distances abound."""
    values = {"number": rng.normal(size=n_records), "grid": rng.integers(0, 3, n_records).astype(float)}
    values |= {name: rng.choice(labels, n_records) for name, labels in LABELS.items()}
    lacking = {name: rng.random(n_records) < share_missing for name in values}
    return Frame.wrap(pa.table({name: pa.array(values[name], mask=lacking[name]) for name in ATTRIBUTES}))


def random_pairs(seed, n_first, n_second, names):
    rng = np.random.default_rng(seed)
    shares = rng.choice([0.0, 0.2, 0.9], size=2)  # some tables have missing values, some have hardly any others
    tables = random_table(rng, n_first, shares[0]), random_table(rng, n_second, shares[1])
    return [pair(*tables, name, ATTRIBUTES[name]) for name in names]


def coordinates(pairs, own_scale=False, missing_apart=True):
    """The same records by a coordinate for each category, and a missing value by the mean and an indicator."""
    sides = [[], []]
    for one in pairs:
        if one.joint.attribute.kind == "nominal":
            plain = one.joint.attribute.model_copy(update={"weight": 1.0})
            matrix = mixed_space([replace(one.joint, attribute=plain)]).matrix
            if one.joint.missing.any() and not missing_apart:
                matrix = matrix[:, :-1]
            parts = matrix[: one.n_first], matrix[one.n_first :]
        else:
            scales = [_mean_and_deviation(side) for side in one.values]
            scaled = [
                (side - mean) / deviation
                for side, (mean, deviation) in zip(one.values, scales if own_scale else scales[:1] * 2, strict=True)
            ]
            parts = [np.nan_to_num(side)[:, None] for side in scaled]
            if missing_apart:
                parts = [np.column_stack(both) for both in zip(parts, one.missing, strict=True)]
        for side, part in zip(sides, parts, strict=True):
            side.append(part)
    return np.hstack(sides[0]), np.hstack(sides[1])


def _mean_and_deviation(values):
    present = values[~np.isnan(values)]
    if not len(present):
        return 0.0, 1.0
    return present.mean(), present.std() or 1.0


def squared_distances(queries, points):
    return ((queries[:, None] - points[None]) ** 2).sum(axis=-1)


SETS_OF_NAMES = st.lists(st.sampled_from([*ATTRIBUTES]), min_size=1, unique=True)


@given(st.integers(0, 10**6), st.integers(1, 450), st.integers(1, 60), SETS_OF_NAMES)
def test_the_nearest_record_is_that_by_coordinates(seed, n_points, n_queries, names):
    pairs = random_pairs(seed, n_points, n_queries, names)
    original, released = points_of(pairs)
    everything = squared_distances(*coordinates(pairs)[::-1])
    squared, rows = PointTree.of(original).nearest(released)
    np.testing.assert_allclose(squared, everything.min(axis=1), rtol=1e-9, atol=1e-12)
    np.testing.assert_allclose(everything[np.arange(n_queries), rows], squared, rtol=1e-9, atol=1e-12)
    closest = distances_to_closest(original, released)
    np.testing.assert_allclose(closest**2, everything.min(axis=1), rtol=1e-9, atol=1e-12)


@given(st.integers(0, 10**6), st.integers(1, 300), SETS_OF_NAMES, st.booleans())
def test_links_are_those_by_coordinates(seed, n_records, names, unchanged):
    """Of records that nothing but chance ties together, or that are mostly the same in both tables."""
    rng = np.random.default_rng(seed)
    pairs = random_pairs(seed, n_records, n_records, names)
    rows = rng.permutation(n_records)
    if unchanged:
        values = [one.values[0][rows] for one in pairs]
        joints = [np.append(one.values[0], side) for one, side in zip(pairs, values, strict=True)]
        pairs = [replace(one, joint=replace(one.joint, values=joint)) for one, joint in zip(pairs, joints, strict=True)]
    original, released = coordinates(pairs, own_scale=True)
    distances = squared_distances(released, original)
    distances[distances < 1e-24] = 0.0  # a mean of numbers in another order may differ in its last bit
    nearest = distances <= distances.min(axis=1, keepdims=True) * (1 + 1e-9)
    expected = nearest[np.arange(n_records), rows] / nearest.sum(axis=1)
    np.testing.assert_allclose(linked_by_distance(pairs, rows), expected, rtol=1e-9)
    if unchanged:
        assert expected.min() > 0


@given(st.integers(0, 10**6), st.integers(1, 200), st.booleans())
def test_distances_row_by_row_and_spreads_are_those_of_coordinates(seed, n_records, missing_apart):
    for one in random_pairs(seed, n_records, n_records, ATTRIBUTES):
        first, second = attribute_points(one, missing_apart=missing_apart)
        plain_first, plain_second = coordinates([one], missing_apart=missing_apart)
        expected = ((plain_first - plain_second) ** 2).sum(axis=1)
        np.testing.assert_allclose(row_distances(first, second), expected, rtol=1e-9, atol=1e-12)
        together = np.zeros(n_records, dtype=np.int64)
        assert spread_within(first, together) == pytest.approx(plain_first.var(axis=0).sum(), rel=1e-9, abs=1e-12)


@given(st.integers(0, 10**6), st.integers(1, 300))
def test_distortion_within_cells_is_that_of_coordinates(seed, n_records):
    rng = np.random.default_rng(seed)
    table = random_table(rng, n_records, rng.choice([0.0, 0.2, 1.0]))
    columns = [encode(table.column(name), attribute) for name, attribute in ATTRIBUTES.items()]
    labels = np.unique(rng.integers(0, max(n_records // 4, 1), n_records), return_inverse=True)[1].ravel()
    found = distortion_within(columns, labels)
    for column in columns:
        plain = column.attribute.model_copy(update={"weight": 1.0})
        points = mixed_space([replace(column, attribute=plain)]).matrix
        means = [(np.bincount(labels, side) / np.bincount(labels))[labels] for side in points.T]
        expected = sum(((side - mean) ** 2).mean() for side, mean in zip(points.T, means, strict=True))
        assert found[column.name] == pytest.approx(expected, rel=1e-9, abs=1e-12)


def test_a_tree_of_numbers_knows_nothing_of_codes():
    rng = np.random.default_rng(0)
    points, queries = rng.normal(size=(2000, 3)), rng.normal(size=(500, 3))
    tree, same = PointTree.of(points), PointTree.of(Points(points))
    assert tree.codes is None
    assert same.codes is None
    for one, other in zip(tree.nearest(queries), same.nearest(Points(queries)), strict=True):
        np.testing.assert_array_equal(one, other)
    rows = np.arange(500)
    np.testing.assert_array_equal(
        chance_of_link(points, queries, rows), chance_of_link(Points(points), Points(queries), rows)
    )


N_CATEGORIES, N_RECORDS = 10_000, 20_000


def table_of_many_categories(seed, share_missing):
    rng = np.random.default_rng(seed)
    places = [f"place {i}" for i in range(N_CATEGORIES)]

    def column():
        codes = np.append(np.arange(N_CATEGORIES), rng.integers(0, N_CATEGORIES, N_RECORDS - N_CATEGORIES))
        missing = rng.random(N_RECORDS) < share_missing
        return pa.array(np.array(places)[rng.permutation(codes)], mask=missing)

    return pa.table({"x": rng.normal(size=N_RECORDS), "y": rng.normal(size=N_RECORDS), "z": column(), "s": column()})


@pytest.mark.parametrize("share_missing", [0.0, 0.1])
def test_ten_thousand_categories_take_the_memory_of_attributes(share_missing):
    """Coordinates of one attribute in both tables would take 3 GiB."""
    tables = [Frame.wrap(table_of_many_categories(seed, share_missing)) for seed in (0, 1)]
    kinds = {"x": "numeric", "y": "numeric", "z": "nominal"}
    pairs = [pair(*tables, name, Attribute(role="quasi_identifier", kind=kind)) for name, kind in kinds.items()]
    secret = encode(tables[0].column("s"), Attribute(role="confidential", kind="nominal"))
    labels = np.arange(N_RECORDS) // 5
    PointTree.of(points_of(pairs)[0].take(np.arange(200))).nearest(points_of(pairs)[1].take(np.arange(200)))  # compiles
    tracemalloc.start()
    try:
        original, released = points_of(pairs)
        closest = distances_to_closest(original, released)
        linked_by_distance(pairs, np.arange(N_RECORDS))
        distortion_within([secret], labels)
        peak = tracemalloc.get_traced_memory()[1]
    finally:
        tracemalloc.stop()
    assert peak < 60 * 2**20
    for row in range(0, N_RECORDS, 500):
        same = released.take(np.full(N_RECORDS, row))
        assert closest[row] ** 2 == pytest.approx(row_distances(original, same).min(), rel=1e-9, abs=1e-12)


def test_all_default_measures_take_ten_thousand_categories():
    """Quasi-identifier and confidential attribute; records are released in cells of five that name their first."""
    original = table_of_many_categories(0, 0.1)
    firsts = pa.array(np.arange(N_RECORDS) // 5 * 5)
    released = pa.table({name: original[name].take(firsts) for name in "xyz"} | {"s": original["s"]})
    recipe = Recipe(
        k=5,
        attributes={"x": numeric(), "y": numeric(), "z": nominal(), "s": {"role": "confidential", "kind": "nominal"}},
    )
    tracemalloc.start()
    try:
        holdout = table_of_many_categories(2, 0.1)
        found = microagg.evaluate(original, released, recipe, aligned=True, holdout=holdout)
        peak = tracemalloc.get_traced_memory()[1]
    finally:
        tracemalloc.stop()
    assert peak < 200 * 2**20
    assert found["distance_linkage"].value == pytest.approx(0.2, abs=5e-3)
    assert found["distance_to_closest"].value == 0.0
    assert found["t_closeness"].value > 0.99
    # Five records of a cell differ, and half the squared distance of two is (1 - 1/5) / 2; missing ones add a little.
    assert found["D_Y"].value == pytest.approx(0.4, abs=0.1)
    # No confidential attribute is numeric. Some cell has one value only, and some value gains more than enhanced
    # beta-likeness allows: both are infinite.
    assert [one.name for one in found if one.value is None] == [
        "smallest_range",
        "recursive_c",
        "enhanced_beta_likeness",
    ]
