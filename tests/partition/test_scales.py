"""Cells do not depend on the unit: numbers whose squares overflow or vanish have the cells of numbers near 1."""

from __future__ import annotations

import numpy as np
import pytest

from microagg import MDAV, NearOptimal, refine
from microagg.partition.insensitive import InsensitiveMDAV, order_of_domain
from microagg.partition.mic1d import Mic1D
from microagg.partition.projection import Projection
from microagg.partition.ranking import IndividualRanking
from microagg.partition.univariate import OptimalUnivariate
from microagg.partition.vmdav import VMDAV

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
