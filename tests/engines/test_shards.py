"""Cutting tables: every record in one shard, whatever the batches; blocks at multiples of k; little is lost."""

from __future__ import annotations

import numpy as np
import pytest
from hypothesis import given, settings
from hypothesis import strategies as st

from microagg import MDAV
from microagg.engines.shards import (
    Axis,
    Coordinates,
    Tree,
    axis_to_cut,
    cut_blocks,
    generator_for,
    grow_tree,
    hash_rows,
    merge_small,
    principal_axis,
)


def coordinates(X: np.ndarray) -> Coordinates:
    return Coordinates(tuple(np.ascontiguousarray(X.T)))


def mixed(n: int, seed: int = 0) -> Coordinates:
    rng = np.random.default_rng(seed)
    numbers = (rng.normal(size=n), rng.integers(0, 4, n).astype(float))
    return Coordinates(numbers, (rng.integers(0, 7, n), rng.integers(0, 3, n)), (7, 3), (0.7, 0.7))


def test_the_principal_axis_is_that_of_the_covariance():
    rng = np.random.default_rng(3)
    X = rng.normal(size=(5_000, 3)) * [1.0, 5.0, 2.0] @ np.linalg.qr(rng.normal(size=(3, 3)))[0]
    expected = np.linalg.eigh(np.cov(X.T))[1][:, -1]
    found = np.array(principal_axis(coordinates(X)).numbers)
    assert abs(found @ expected) == pytest.approx(1.0, abs=1e-6)


def test_a_tail_is_cut_off_and_not_through():
    X = np.random.default_rng(3).lognormal(size=(5_000, 4))
    found = np.array(axis_to_cut(coordinates(X / X.std(0))).numbers)
    assert (found > 0.2).all()


def test_categories_have_a_say():
    codes = np.repeat([0, 1], 500)
    records = Coordinates((np.random.default_rng(0).normal(scale=0.01, size=1_000),), (codes,), (2,), (1.0,))
    tree = grow_tree(records, np.ones(1_000), 2)
    leaves = tree.route(records)
    assert len(np.unique(leaves)) == 2
    assert (leaves[codes == 0] == leaves[0]).all()


@given(st.integers(1, 400), st.integers(1, 9), st.integers(0, 5), st.integers(1, 400))
@settings(max_examples=60, deadline=None)
def test_routing_does_not_depend_on_batches(n, n_leaves, seed, batch):
    records = mixed(n, seed)
    tree = grow_tree(records, np.ones(n), n_leaves)
    whole = tree.route(records)
    parts = [tree.route(records.take(np.arange(i, min(i + batch, n)))) for i in range(0, n, batch)]
    assert np.array_equal(whole, np.concatenate(parts))
    assert whole.max() < tree.n_leaves <= n_leaves


@given(st.integers(1, 400), st.integers(1, 12), st.integers(0, 5), st.integers(2, 60))
@settings(max_examples=60, deadline=None)
def test_small_leaves_join_others_and_every_record_counts_once(n, n_leaves, seed, least):
    records = mixed(n, seed)
    tree = grow_tree(records.take(np.arange(0, n, 3)), np.ones(len(range(0, n, 3))), n_leaves)
    counts = np.bincount(tree.route(records), minlength=tree.n_leaves).tolist()
    groups = merge_small(tree, counts, least)
    held = [leaf for group in groups for leaf in group]
    assert sorted(held) == [leaf for leaf, count in enumerate(counts) if count]
    sizes = [sum(counts[leaf] for leaf in group) for group in groups]
    assert sum(sizes) == n
    assert min(sizes) >= least or len(sizes) == 1


@given(st.integers(1, 700), st.integers(2, 12), st.integers(2, 200), st.integers(0, 5), st.booleans())
@settings(max_examples=80, deadline=None)
def test_blocks_are_multiples_of_k_but_for_one(n, k, most, seed, tied):
    records = coordinates(np.zeros((n, 2))) if tied else mixed(n, seed)
    blocks = list(cut_blocks(records, most, k))
    assert sorted(np.concatenate(blocks).tolist()) == list(range(n))
    sizes = [len(block) for block in blocks]
    assert sum(size % k > 0 for size in sizes) <= 1
    assert n < k or min(sizes) >= k
    assert max(sizes) <= max(most, 2 * k) + k


def test_equal_records_are_never_parted_by_a_tree():
    rng = np.random.default_rng(1)
    X = rng.integers(0, 3, size=(2_000, 2)).astype(float)
    leaves = grow_tree(coordinates(X), np.ones(2_000), 12).route(coordinates(X))
    for row in np.unique(X, axis=0):
        assert len(np.unique(leaves[(row == X).all(axis=1)])) == 1


def test_a_table_of_equal_records_is_one_leaf():
    assert grow_tree(coordinates(np.ones((50, 3))), np.ones(50), 8).n_leaves == 1
    assert Tree().route(coordinates(np.ones((4, 1)))).tolist() == [0, 0, 0, 0]


def test_heavy_tails_do_not_break_the_tree():
    X = np.random.default_rng(2).standard_cauchy(size=(20_000, 3))
    records = coordinates(X)
    tree = grow_tree(records.take(np.arange(4_000)), np.ones(4_000), 8)
    sizes = np.bincount(tree.route(records), minlength=tree.n_leaves)
    assert sizes.sum() == 20_000
    assert sizes.max() < 2 * 20_000 / 8


def test_hashes_and_chance_repeat_themselves_and_have_keys():
    column = np.arange(1_000, dtype=np.uint64)
    assert len(np.unique(hash_rows([column], 1_000, 1))) == 1_000
    assert (hash_rows([column], 1_000, 1) != hash_rows([column], 1_000, 2)).all()
    draw = [generator_for(b"secret", "order", shard).permutation(50).tolist() for shard in (0, 0, 1)]
    assert draw[0] == draw[1] != draw[2]
    assert Axis((1.0,)).scores(coordinates(np.array([[2.0]]))).tolist() == [2.0]


def tables(n: int) -> dict[str, np.ndarray]:
    rng = np.random.default_rng(7)
    centres, widths = rng.normal(size=(8, 4)) * 4, rng.uniform(0.3, 2.0, 8)
    ties = [rng.integers(0, 20, n), rng.integers(0, 5, n), np.where(rng.random(n) < 0.7, 0, rng.normal(size=n))]
    found = {
        "Gaussian": rng.normal(size=(n, 4)),
        "mixture": np.vstack([rng.normal(c, w, size=(n // 8, 4)) for c, w in zip(centres, widths, strict=True)]),
        "lognormal": rng.lognormal(size=(n, 4)),
        "ties": np.column_stack([*ties, rng.integers(0, 100, n)]).astype(float),
        "Gaussian x 8": rng.normal(size=(n, 8)),
    }
    return {name: rng.permutation((X - X.mean(0)) / X.std(0)) for name, X in found.items()}


@pytest.mark.parametrize(
    "name", ["lognormal", "ties", "Gaussian x 8"]
)  # benchmarks/large_tables.py has the others, too
def test_blocks_of_50_000_lose_at_most_five_percent_more(name):
    X = tables(200_000)[name]
    records = coordinates(X)
    whole = MDAV(k=5).fit(X).sse_
    blocks = sum(MDAV(k=5).fit(X[rows]).sse_ for rows in cut_blocks(records, 50_000, 5))
    tree = grow_tree(records.take(np.arange(8_000)), np.ones(8_000), 4)
    leaves = tree.route(records)
    shards = sum(MDAV(k=5).fit(X[leaves == leaf]).sse_ for leaf in range(tree.n_leaves))
    assert blocks / whole <= 1.05
    assert shards / whole <= 1.05
