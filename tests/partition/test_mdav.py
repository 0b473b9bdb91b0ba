"""MDAV against its plain listing, its variant, and by hand."""

from __future__ import annotations

import numpy as np
import pytest
from hypothesis import given, settings

from microagg import MDAV
from microagg.errors import GuaranteeError
from microagg.partition import _mdav_search as searches
from microagg.partition._kernels.listings import mdav_down_to_2k, mdav_generic
from microagg.partition.base import cells_in_order
from partition_tables import tables

pytestmark = pytest.mark.kernel


@given(tables())
@settings(max_examples=300)
def test_the_kernel_forms_the_cells_of_the_plain_listing(table):
    X, k = table
    np.testing.assert_array_equal(MDAV(k=k).fit(X).labels_, cells_in_order(mdav_generic(X, k)))


@given(tables())
@settings(max_examples=200)
def test_two_cells_down_to_2k_is_the_same_partition(table):
    X, k = table
    generic = MDAV(k=k).fit(X).labels_
    np.testing.assert_array_equal(MDAV(k=k, variant="2k").fit(X).labels_, generic)
    np.testing.assert_array_equal(cells_in_order(mdav_down_to_2k(X, k)), generic)


@given(tables())
@settings(max_examples=100)
def test_all_cells_but_the_largest_have_exactly_k_records(table):
    X, k = table
    sizes = np.sort(np.bincount(MDAV(k=k).fit(X).labels_))
    assert (sizes[:-1] == k).all()
    assert k <= sizes[-1] < 2 * k


@pytest.mark.parametrize("algorithm", ["auto", "tree", "brute", "plain"])
def test_the_result_does_not_depend_on_how_the_work_is_portioned(monkeypatch, algorithm):
    X = np.random.default_rng(5).normal(size=(100, 3))
    whole = MDAV(k=4).fit(X).labels_
    monkeypatch.setattr(searches, "_DISTANCES_PER_PORTION", 1)
    np.testing.assert_array_equal(MDAV(k=4, algorithm=algorithm).fit(X).labels_, whole)


def test_cells_that_came_out_too_small_are_refused(monkeypatch):
    monkeypatch.setattr(MDAV, "_cells", lambda self, X: np.arange(len(X)) // 2)
    with pytest.raises(GuaranteeError, match="3 of 3 cells have fewer than k = 3 records"):
        MDAV(k=3).fit(np.arange(6.0)[:, None])


def test_cells_by_hand():
    # Centroid 4.825: 0.0 is farthest (23.3 against 9.2's 19.1); its two nearest are 0.1 and 0.2.
    X = np.array([[0.0], [0.1], [0.2], [5.0], [5.1], [9.0], [9.1], [9.2], [5.7]])
    assert MDAV(k=3).fit(X).labels_.tolist() == [0, 0, 0, 1, 1, 2, 2, 2, 1]


def test_progress_reaches_the_end():
    from microagg._progress import shown_by

    heard: list[float] = []
    with shown_by(lambda task, share: heard.append(share)):
        MDAV(k=3).fit(np.random.default_rng(0).normal(size=(100, 2)))
    assert heard[-1] == 1.0
