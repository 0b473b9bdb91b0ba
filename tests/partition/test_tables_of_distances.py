"""MDAV by tables of distances: sums that records leave are exact, and rounding that is left misleads no search."""

from __future__ import annotations

from fractions import Fraction

import numpy as np
import pytest

from mdav_tables import compiled
from microagg import MDAV
from microagg.partition.base import cells_in_order
from microagg.partition.nominal import nominal_of
from microagg.partition.uncompiled.choice import always_by
from microagg.schema.taxonomy import Taxonomy
from microagg.space.points import NominalColumn, Points
from mixed_tables import plain_mdav

pytestmark = pytest.mark.kernel

LEAVES = ["a1", "a2", "b1", "b2"]
FOUR_LEAVES = Taxonomy.from_parents({"a1": "a", "a2": "a", "b1": "b", "b2": "b", "a": "root", "b": "root"}).distances(
    LEAVES
)


def points_of_leaves(seed: int, n_records: int) -> Points:
    codes = np.random.default_rng([seed, n_records]).integers(0, 4, (n_records, 1)).astype(float)
    return Points(codes, (NominalColumn("leaf", 4, 1.0, FOUR_LEAVES),))


def points_of_places(seed: int, n_records: int) -> Points:
    """Two columns of categories, some of which are in one place."""
    rng = np.random.default_rng(seed)
    columns, codes = [], []
    for n_categories, weight in ((12, 1.0), (7, 0.1)):
        places = rng.integers(0, 2, size=(n_categories, 2)).astype(float)
        table = weight * ((places[:, None] - places[None]) ** 2).sum(axis=2)
        columns.append(NominalColumn(f"of {n_categories}", n_categories, weight, table))
        codes.append(rng.choice(n_categories, n_records, p=rng.dirichlet(np.full(n_categories, 0.3))))
    return Points(np.ascontiguousarray(np.column_stack(codes).astype(float)), tuple(columns))


def exact_sums(points: Points) -> list[Fraction]:
    """For each category of each column the sum of its distances to all records."""
    sums = []
    for codes, column in zip(points.values[:, points.n_numbers :].T, points.nominal, strict=True):
        counts = np.bincount(codes.astype(np.int64), minlength=column.n_categories).tolist()
        for row in column.table.T.tolist():
            sums.append(sum(count * Fraction(entry) for count, entry in zip(counts, row, strict=True)))
    return sums


@pytest.mark.parametrize("n_records", [5, 1000, 3 * 2**20 + 7])
def test_no_product_of_a_count_and_a_distance_is_rounded(n_records):
    rng = np.random.default_rng(1)
    places = rng.normal(size=(9, 3))
    table = ((places[:, None] - places[None]) ** 2).sum(axis=2)
    codes = rng.choice(9, n_records, p=rng.dirichlet(np.ones(9))).astype(float)
    points = Points(codes[:, None], (NominalColumn("place", 9, 1.0, table),)).telling()
    nominal = nominal_of(points)
    assert [Fraction(high) + Fraction(low) for high, low in zip(nominal.high, nominal.low, strict=True)] == exact_sums(
        points
    )


def test_counts_of_more_than_half_the_bits_of_a_float_are_exact_too():
    from microagg.partition.nominal import _sums_of_distances

    table = np.array([[0.0, 1.0 / 3.0], [1.0 / 3.0, 0.0]])
    counts = np.array([2**31 - 1, 2**27 + 1])
    high, low = _sums_of_distances(table, counts)
    found = [Fraction(one) + Fraction(two) for one, two in zip(high, low, strict=True)]
    assert found == [Fraction(1.0 / 3.0) * int(count) for count in counts[::-1]]


def test_every_road_forms_the_cells_of_the_definition_where_categories_of_a_taxonomy_tie():
    for n_records, seed in ((32, 18), *((n_records, 0) for n_records in range(8, 60, 3))):
        points = points_of_leaves(seed, n_records)
        expected = cells_in_order(np.array(plain_mdav(points, 2)))
        for algorithm in ("plain", "tree", "brute"):
            found = MDAV(k=2, algorithm=algorithm).fit(points).labels_
            np.testing.assert_array_equal(found, expected, err_msg=f"{n_records} {algorithm}")
        with always_by("numpy"):
            np.testing.assert_array_equal(MDAV(k=2).fit(points).labels_, expected, err_msg=f"{n_records} numpy")


@compiled
def test_the_tree_finds_the_cells_of_the_plain_scan_where_categories_are_in_one_place():
    for seed in (*range(10), 66):
        points = points_of_places(seed, 3500)
        by_tree, plainly = (MDAV(k=3, algorithm=name).fit(points).labels_ for name in ("tree", "plain"))
        np.testing.assert_array_equal(by_tree, plainly, err_msg=str(seed))


def test_the_step_of_the_centroid_has_a_length_where_sums_are_a_little_below_zero():
    from microagg.partition._kernels.mdav import centroid_tracker
    from microagg.partition._kernels.mdav.filter_space import filter_space

    move_codes = getattr(centroid_tracker.move_codes, "py_func", centroid_tracker.move_codes)
    values = np.column_stack([np.zeros(8), np.array([0.0, 1.0] * 4)])
    nominal = nominal_of(Points(values, (NominalColumn("c", 2, 1.0, np.zeros((2, 2))),)))
    space = filter_space(values, nominal)
    for remaining, of_first in ((8, 4), (7, 3), (4, 0)):
        nominal.counts[:] = of_first, remaining - of_first
        nominal.high[:] = -(2.0**-60)
        assert move_codes(nominal, space.codes, remaining, 1.0) >= 0.0


@pytest.mark.parametrize("n_categories", [2, 150])
def test_distances_to_the_centroid_are_within_their_noise(n_categories):
    from microagg.partition._kernels.mdav.filter_space import noise_of_tables
    from microagg.partition.uncompiled.sums import place_centroid, take_codes_off

    rng = np.random.default_rng(2)
    places = rng.normal(size=(n_categories, 2)) * 10.0 ** rng.uniform(-6, 6, (n_categories, 1))
    table = ((places[:, None] - places[None]) ** 2).sum(axis=2)
    codes = np.concatenate([np.arange(n_categories), rng.integers(0, n_categories, 300)])
    points = Points(codes[:, None].astype(float), (NominalColumn("place", n_categories, 1.0, table),))
    points = Points(np.hstack([np.zeros((len(codes), 1)), points.values]), points.nominal)
    nominal = nominal_of(points)
    noise = Fraction(noise_of_tables(nominal, len(points)))
    remaining = rng.permutation(len(codes))
    entries = [[Fraction(entry) for entry in row] for row in table.tolist()]
    while len(remaining) > 4:
        leaving, remaining = np.split(remaining, [len(remaining) // 2])
        for record in leaving:
            take_codes_off(nominal, points.values[record, 1:])
        place_centroid(nominal, len(remaining))
        counts = np.bincount(codes[remaining], minlength=n_categories).tolist()
        n = len(remaining)
        sums = [sum(count * entry for count, entry in zip(counts, row, strict=True)) for row in entries]
        half = sum(count * total for count, total in zip(counts, sums, strict=True)) / (2 * n * n)
        off = max(
            abs(Fraction(look) - max(total / n - half, 0))
            for look, total in zip(nominal.looks[:n_categories].tolist(), sums, strict=True)
        )
        assert off <= noise


def test_the_noise_minds_that_a_sum_over_many_categories_is_rounded_with_each():
    from microagg.partition._kernels.mdav.filter_space import noise_of_tables

    n_categories, distance = 1000, 0.9
    table = np.zeros((n_categories, n_categories))  # all but the first in one place, and half of the records there
    table[0, 1:] = table[1:, 0] = distance
    codes = np.concatenate([np.zeros(n_categories - 1), np.arange(1, n_categories)])
    points = Points(np.column_stack([np.zeros(len(codes)), codes]), (NominalColumn("c", n_categories, 1.0, table),))
    nominal = nominal_of(points)
    off = max(abs(Fraction(look) - Fraction(distance) / 4) for look in nominal.looks[:n_categories].tolist())
    assert 2.0**-49 < off <= noise_of_tables(nominal, len(points))
