"""Cells do not depend on the unit: numbers whose squares overflow or vanish have the cells of numbers near 1."""

from __future__ import annotations

import numpy as np
import pytest

from microagg import MDAV, NearOptimal, refine
from microagg.partition.base import within_cell_sse
from microagg.partition.insensitive import InsensitiveMDAV, order_of_domain
from microagg.partition.mic1d import Mic1D
from microagg.partition.projection import Projection
from microagg.partition.ranking import IndividualRanking
from microagg.partition.univariate import OptimalUnivariate
from microagg.partition.vmdav import VMDAV
from microagg.space.points import NominalColumn, Points

RECORDS = np.round(np.random.default_rng(4).normal(size=(40, 2)), 3)
SCALES = [2.0**540, 2.0**1000, 2.0**-540, 2.0**-1000]
PARTITIONERS = [
    MDAV(k=3),
    MDAV(k=3, algorithm="plain"),
    MDAV(k=3, algorithm="tree"),
    VMDAV(k=3),
    VMDAV(k=3, gamma="auto"),
    NearOptimal(k=3, effort="fast", random_state=0),
    Projection(k=3),
    Projection(k=3, cut="fixed"),
    Projection(k=3, axis="zscores"),
    InsensitiveMDAV(k=3),
    IndividualRanking(k=3),
    IndividualRanking(k=3, cut="optimal"),
    Mic1D(k=4),
    Mic1D(k=4, cut="optimal"),
    OptimalUnivariate(k=3),
]


def records_for(partitioner):
    return RECORDS[:, :1] if isinstance(partitioner, OptimalUnivariate) else RECORDS


@pytest.mark.parametrize("scale", SCALES)
@pytest.mark.parametrize("partitioner", PARTITIONERS, ids=str)
def test_cells_are_the_same_on_any_scale(partitioner, scale):
    X = records_for(partitioner)
    expected = partitioner.fit(X).labels_.copy()
    np.testing.assert_array_equal(partitioner.fit(X * scale).labels_, expected)


@pytest.mark.parametrize("partitioner", PARTITIONERS, ids=str)
def test_the_loss_is_told_in_the_unit_of_the_records(partitioner):
    X = records_for(partitioner)
    near_one = partitioner.fit(X).sse_
    assert partitioner.fit(X * 2.0**300).sse_ == pytest.approx(near_one * 2.0**600, rel=1e-12)
    assert partitioner.fit(X * 2.0**1000).sse_ == np.inf


@pytest.mark.parametrize("partitioner", PARTITIONERS, ids=str)
@pytest.mark.parametrize("largest", [1.7e308, 5e-324])
def test_the_largest_and_the_smallest_floats_have_cells(partitioner, largest):
    X = np.rint(np.clip(records_for(partitioner), -1, 1)) * largest
    labels = partitioner.fit(X).labels_.reshape(len(X), -1)
    if not isinstance(partitioner, Mic1D):
        assert min(np.bincount(column).min() for column in labels.T) >= 3


def test_what_mic1d_publishes_scales_with_the_records():
    plain = Mic1D(k=4).fit(RECORDS).published_.copy()
    np.testing.assert_allclose(Mic1D(k=4).fit(RECORDS * 2.0**1000).published_, plain * 2.0**1000, rtol=1e-12)


def test_a_certificate_is_told_in_the_unit_of_the_records():
    search = NearOptimal(k=3, effort="fast", random_state=0, certificate=True, time_limit=5.0)
    plain = search.fit(RECORDS).certificate_
    large = search.fit(RECORDS * 2.0**300).certificate_
    assert large.sse == pytest.approx(plain.sse * 2.0**600, rel=1e-9)
    assert large.lower_bound <= large.sse * (1 + 1e-9)
    assert search.lower_bound_ == large.lower_bound


def test_refinement_takes_records_whose_squares_overflow():
    start = MDAV(k=3).fit(RECORDS).labels_
    expected = refine(start, RECORDS, k=3, effort="fast", random_state=0)
    np.testing.assert_array_equal(refine(start, RECORDS * 2.0**1000, k=3, effort="fast", random_state=0), expected)


def test_zscores_see_a_column_that_is_tiny_beside_another():
    by_order = Projection(k=3, axis="zscores", cut="fixed")
    expected = by_order.fit(RECORDS).labels_.copy()
    np.testing.assert_array_equal(by_order.fit(RECORDS * [1.0, 2.0**-600]).labels_, expected)


@pytest.mark.parametrize("scale", [1.0, 2.0**-540, 2.0**-1060, 2.0**540])
def test_the_order_of_the_domain_depends_on_no_other_record(scale):
    """The place of two records does not change with a third, however large or small it is."""
    X = np.array([[3.0, 4.0], [5.0, 0.5], [0.0, 0.0], [4.0, 3.0], [1.0, 1.0]]) * scale
    expected = order_of_domain(X).tolist()
    for other in (0.0, 5e-324, 1.0, 1e300):
        order = order_of_domain(np.vstack([X, [[other, other]]])).tolist()
        order.remove(5)
        assert order == expected


def test_the_order_of_the_domain_is_by_distance_where_squares_vanish():
    X = np.array([[2.0, 2.0], [0.0, 2.5], [1.0, 1.0]])
    assert order_of_domain(X * 1e-200).tolist() == order_of_domain(X * 1e200).tolist() == order_of_domain(X).tolist()


# A column on which records do not differ

BY_DISTANCE = PARTITIONERS[:9]  # the others work on each attribute alone, or in an order of the whole domain
CASES = [(1.0, 1e300), (2.0**-600, 1.0), (2.0**-600, 1e300), (2.0**400, 2.0**-900)]


@pytest.mark.parametrize(("unit", "constant"), CASES)
@pytest.mark.parametrize("partitioner", BY_DISTANCE, ids=str)
def test_a_number_that_all_records_share_changes_neither_cells_nor_loss(partitioner, unit, constant):
    alone = partitioner.fit(RECORDS * unit)
    labels, sse = alone.labels_.copy(), alone.sse_
    beside = partitioner.fit(np.column_stack([np.full(len(RECORDS), constant), RECORDS * unit]))
    np.testing.assert_array_equal(beside.labels_, labels)
    assert beside.sse_ == pytest.approx(sse, rel=1e-12)


@pytest.mark.parametrize(("unit", "constant"), [(1.0, 1e300), (1e-150, 1.0), (1e-150, 1e300)])
@pytest.mark.parametrize("partitioner", [MDAV(3), VMDAV(3), NearOptimal(3, effort="fast", random_state=0)], ids=str)
def test_a_category_that_all_records_share_changes_neither_cells_nor_loss(partitioner, unit, constant):
    codes = np.random.default_rng(5).integers(0, 3, len(RECORDS)).astype(float)
    column, shared = NominalColumn("c", 3, unit**2), NominalColumn("shared", 4, constant)
    alone = partitioner.fit(Points(np.column_stack([RECORDS * unit, codes]), (column,)))
    labels, sse = alone.labels_.copy(), alone.sse_
    assert sse > 0.0
    values = np.column_stack([RECORDS * unit, np.full(len(RECORDS), constant), codes, np.zeros(len(RECORDS))])
    beside = partitioner.fit(Points(values, (column, shared)))
    np.testing.assert_array_equal(beside.labels_, labels)
    assert beside.sse_ == pytest.approx(sse, rel=1e-12)
    assert within_cell_sse(Points(values, (column, shared)), labels, int(labels.max()) + 1) == pytest.approx(sse)


@pytest.mark.parametrize("exponent", [1015, 600, -600, -1000])
def test_distances_of_a_table_and_of_missing_values_are_brought_near_one(exponent):
    codes = np.random.default_rng(6).integers(0, 4, (60, 1)).astype(float)
    places = np.random.default_rng(7).normal(size=(4, 2))
    table = ((places[:, None] - places[None]) ** 2).sum(axis=2)
    by_table = [NominalColumn("t", 4, 1.0, table * unit) for unit in (1.0, 2.0**exponent)]
    by_missing = [NominalColumn("m", 3, 0.0, None, np.array([0.7, 0.8, 0.9]) * unit) for unit in (1.0, 2.0**exponent)]
    for columns in (by_table, by_missing):
        expected, found = (MDAV(k=3).fit(Points(codes, (column,))) for column in columns)
        np.testing.assert_array_equal(found.labels_, expected.labels_)
        assert found.sse_ == pytest.approx(expected.sse_ * 2.0**exponent, rel=1e-12)


def test_refinement_does_not_mind_a_number_that_all_records_share():
    start = np.arange(len(RECORDS)) // 4
    expected = refine(start, RECORDS, 3, random_state=0)
    beside = np.column_stack([np.full(len(RECORDS), 1e300), RECORDS])
    np.testing.assert_array_equal(refine(start, beside, 3, random_state=0), expected)
    np.testing.assert_array_equal(refine(start, Points(beside), 3, random_state=0), expected)
