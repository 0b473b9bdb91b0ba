"""V-MDAV against its plain listing, and what gamma does."""

from __future__ import annotations

import numpy as np
import pytest
from hypothesis import given, settings
from hypothesis import strategies as st
from numba import config

from microagg._halt import StopCondition
from microagg.partition import VMDAV
from microagg.partition import vmdav as module
from microagg.partition._kernels.listings import vmdav
from microagg.partition._kernels.mdav.tree import variable_cells
from microagg.partition.base import cells_in_order
from microagg.space.points import Points
from partition_tables import tables

pytestmark = pytest.mark.kernel

gammas = st.sampled_from([0.0, 0.2, 0.5, 1.0, 1.1, 3.0])


@given(tables(max_records=50, max_attributes=4, max_k=8), gammas)
@settings(max_examples=150)
def test_the_kernel_forms_the_cells_of_the_plain_listing(table, gamma):
    X, k = table
    np.testing.assert_array_equal(VMDAV(k=k, gamma=gamma).fit(X).labels_, cells_in_order(vmdav(X, k, gamma)))


@given(tables(max_records=50, max_attributes=4, max_k=8), gammas)
@settings(max_examples=150)
def test_the_tree_finds_the_same_cells(table, gamma):
    X, k = table
    with pytest.MonkeyPatch.context() as patch:
        patch.setattr(module, "_TREE_FROM", 0)
        np.testing.assert_array_equal(VMDAV(k=k, gamma=gamma).fit(X).labels_, cells_in_order(vmdav(X, k, gamma)))


@pytest.mark.skipif(bool(config.DISABLE_JIT), reason="thousands of records are too slow without the compiler")
@pytest.mark.parametrize("kind", ["smooth", "tied", "clustered", "offset"])
def test_tree_and_scan_agree_on_larger_tables(kind, monkeypatch):
    rng = np.random.default_rng(["smooth", "tied", "clustered", "offset"].index(kind))
    for gamma in (0.2, 1.1):
        X = rng.normal(size=(3000, 5))
        if kind == "tied":
            X = np.round(X)
        elif kind == "clustered":
            X = 10 * rng.normal(size=(20, 5))[rng.integers(0, 20, 3000)] + X
        elif kind == "offset":
            X += 1e8
        by_tree = VMDAV(k=6, gamma=gamma).fit(X).labels_
        monkeypatch.setattr(module, "_TREE_FROM", 10_000)
        np.testing.assert_array_equal(by_tree, VMDAV(k=6, gamma=gamma).fit(X).labels_)
        monkeypatch.undo()


@given(tables(max_records=50), gammas)
@settings(max_examples=100)
def test_only_leftovers_take_a_cell_beyond_2k_minus_1_records(table, gamma):
    X, k = table
    sizes = np.bincount(VMDAV(k=k, gamma=gamma).fit(X).labels_)
    assert sizes.min() >= k
    assert np.maximum(sizes - (2 * k - 1), 0).sum() < k


def test_with_gamma_zero_no_cell_grows():
    sizes = np.bincount(VMDAV(k=4, gamma=0).fit(np.random.default_rng(0).normal(size=(40, 2))).labels_)
    assert (sizes == 4).all()


def test_a_cell_grows_into_a_natural_group_larger_than_k():
    groups = np.repeat([[0.0, 0.0], [50.0, 0.0], [0.0, 50.0]], 5, axis=0)
    X = groups + np.random.default_rng(3).normal(size=groups.shape)
    assert VMDAV(k=3, gamma=3.0).fit(X).labels_.tolist() == np.repeat([0, 1, 2], 5).tolist()


def test_the_last_record_outside_joins_the_growing_cell_unless_gamma_is_zero():
    # 0 is farthest from the centroid 12.4 and takes 9, then 21 takes 20, and 12 is left: closer to the centroid 4.5.
    X = np.array([[0.0], [9.0], [20.0], [21.0], [12.0]])
    assert VMDAV(k=2, gamma=0.1).fit(X).labels_.tolist() == [0, 0, 1, 1, 1]
    assert VMDAV(k=2, gamma=0.0).fit(X).labels_.tolist() == [0, 0, 1, 1, 0]


@pytest.mark.parametrize("seed", [0, 1, 2])
def test_auto_keeps_the_gamma_with_the_least_sse(seed):
    rng = np.random.default_rng(seed)
    X = rng.normal(size=(60, 2)) + 8 * rng.integers(0, 4, size=(60, 1))
    auto = VMDAV(k=3, gamma="auto").fit(X)
    tried = {gamma: VMDAV(k=3, gamma=gamma).fit(X).sse_ for gamma in module.GAMMAS}
    assert auto.sse_ == min(tried.values())
    assert auto.gamma_ == min(tried, key=lambda gamma: (tried[gamma], gamma))
    np.testing.assert_array_equal(auto.labels_, VMDAV(k=3, gamma=auto.gamma_).fit(X).labels_)


def test_the_result_does_not_depend_on_how_the_work_is_portioned(monkeypatch):
    X = np.random.default_rng(5).normal(size=(200, 3))
    whole = VMDAV(k=4, gamma=0.8).fit(X).labels_
    monkeypatch.setattr(module, "_DISTANCES_PER_PORTION", 1)
    np.testing.assert_array_equal(VMDAV(k=4, gamma=0.8).fit(X).labels_, whole)


class SetLater:
    """A flag that kernels find set from the n-th look on."""

    def __init__(self, looks: int) -> None:
        self.looks = looks

    def __getitem__(self, place: int) -> int:
        self.looks -= 1
        return int(self.looks < 0)


@pytest.mark.kernel
@pytest.mark.skipif(not config.DISABLE_JIT, reason="a compiled kernel cannot be stopped at a chosen look")
@pytest.mark.parametrize("looks", range(3, 21, 2))
def test_a_cell_whose_growth_is_interrupted_looks_at_no_record_that_was_not_found(monkeypatch, looks):
    """Arrays of a growing cell hold anything until they are filled; the kernel once took that for a row."""

    def allocate_filled(k):
        growing = allocate_growing(k)
        growing.distances[:] = -1.0  # nearer than any record
        growing.rows[:] = 10**9
        return growing

    allocate_growing = variable_cells.allocate_growing
    monkeypatch.setattr(variable_cells, "allocate_growing", allocate_filled)
    halt = StopCondition()
    halt.flag = SetLater(looks)
    monkeypatch.setattr(module, "current_halt", lambda: halt)
    X, labels = np.random.default_rng(4).normal(size=(40, 2)), np.full(40, -1)
    module._by_tree(Points(X), 4, 1e9, np.arange(40), labels, np.array([40, 0, 0]))
    assert labels.max() < 10
