"""Bounds of the fast searches for MDAV's cells: what they rule out never counts."""

from __future__ import annotations

import numpy as np
import pytest
from hypothesis import given
from hypothesis import strategies as st
from numba import njit

from mdav_tables import KINDS, compiled
from microagg._kernels import numba_internals
from microagg._kernels.jit import OPTIONS
from microagg._kernels.simd import WIDTH, load, store, subtract_pair_products
from microagg.partition._kernels.mdav import filter_space as fs
from microagg.partition._kernels.mdav.rows import distinct_rows
from microagg.partition._kernels.mdav.scan import grid as gr
from microagg.partition._kernels.mdav.tree.build import split_at


def float32_squared_distance(a, b, order, fused):
    """As the kernels may compute it: in any order of the attributes, products rounded or not."""
    total = np.float32(0)
    for j in order:
        gap = np.float32(a[j] - b[j])
        if fused:
            total = np.float32(np.float64(total) + np.float64(gap) * np.float64(gap))
        else:
            total = np.float32(total + np.float32(gap * gap))
    return total


def adversarial_pairs(rng):
    """Pairs of points whose float32 distances are as wrong as can be: far from the centre, close to each other."""
    for d in (1, 2, 5, 20, 100):
        for far in (0.0, 1.0, 1e3, 1e5):
            for gap in (1.0, 1e-3, 1e-7, 1e-12, 0.0):
                where = rng.normal(size=d)
                where *= far / max(np.linalg.norm(where), 1e-9)
                a = where + rng.normal(size=d)
                yield a, a + gap * rng.normal(size=d)


def adversarial_tables(rng):
    """The pairs at three scales, with their space, float64 squared distance and larger norm."""
    for a, b in adversarial_pairs(rng):
        d = len(a)
        for scale in (2.0**-40, 1.0, 2.0**40):
            centre = rng.normal(size=d) / scale
            floor = float(np.sqrt(d) * (2.0**-62 + 2.0**-536 * scale))
            x, q = a / scale + centre, b / scale + centre
            exact = 0.0
            for j in range(d):
                exact += (x[j] - q[j]) * (x[j] - q[j])
            radius = max(np.linalg.norm(x - centre), np.linalg.norm(q - centre)) * scale
            yield x, q, fs.FilterSpace(centre, scale, (d + 8) * 2 * fs.UNIT, floor), exact, radius


@pytest.mark.kernel
@pytest.mark.parametrize("fused", [True, False])
def test_the_filter_never_rejects_a_true_candidate(fused):
    rng = np.random.default_rng(13)
    for x, q, space, exact, radius in adversarial_tables(rng):
        centre, scale = space.centre, space.scale
        slack = fs.slack_for(radius, space)
        coordinates = [((point - centre) * scale).astype(np.float32) for point in (x, q)]
        measured = float32_squared_distance(*coordinates, rng.permutation(len(x)), fused)
        # A record exactly as near (or far) as the one to beat is a candidate: its index may be lower.
        assert measured <= fs.near_limit(exact, space, slack)
        assert measured >= fs.far_limit(exact, space, slack)
        assert fs.farthest_reach(measured, space, slack) >= np.sqrt(exact) * scale * (1 - 1e-12)


def packed(point, space, step):
    """Whole numbers of a point as the scan packs them, unpacked again, and half their squared norm."""
    pack = getattr(gr.pack, "py_func", gr.pack)
    pairs = np.empty((len(point) + 1) // 2, dtype=np.int32)
    half = int(pack(point, space, step, pairs))
    return pairs.view(np.int16).astype(int)[: len(point)], half


@pytest.mark.kernel
def test_whole_numbers_are_within_the_blur_and_their_limits_reject_no_true_candidate():
    rng = np.random.default_rng(19)
    for x, q, space, exact, radius in adversarial_tables(rng):
        d = len(x)
        step, blur = gr.step_for(radius * (1 + 2.0**-16), d, space.floor), gr.blur_for(d)
        (z, half_z), (w, half_w) = packed(x, space, step), packed(q, space, step)
        assert max(np.linalg.norm(z), np.linalg.norm(w)) <= gr.REACH
        square, total = int(((z - w) ** 2).sum()), half_z + half_w + 1 - int((z * w).sum())
        assert square <= 2 * total <= square + 2
        assert 0 <= total < gr.ANY
        assert abs(np.sqrt(square) - np.sqrt(exact) * space.scale / step) <= blur
        for sign, is_far in ((1, False), (-1, True)):
            # A row as near (far) as the one to beat is within the limit, whether that comes from float64 ...
            assert sign * total <= gr.limit_from_distance(sign * exact, is_far, space, step, blur)
            # ... or from the bound that it sets itself.
            assert sign * total <= gr.limit_from_bound(float(sign * total), is_far, blur)


@pytest.mark.kernel
def test_the_bound_that_a_farther_row_sets_rejects_no_nearer_one():
    rng = np.random.default_rng(23)
    tight = 0
    for a, b in adversarial_pairs(rng):
        d = len(a)
        space = fs.FilterSpace(np.zeros(d), 1.0, (d + 8) * 2 * fs.UNIT, float(np.sqrt(d) * 2.0**-62))
        turned = rng.normal(size=d)
        other = b + turned * (np.linalg.norm(a - b) / np.linalg.norm(turned)) * (1 + rng.choice([0.0, 1e-9, 1e-4]))
        points = (a, other, b)
        step = gr.step_for(max(np.linalg.norm(point) for point in points) * (1 + 2.0**-16), d, space.floor)
        (first, half_first), (second, half_second), (query, half) = (packed(point, space, step) for point in points)
        totals = [h + half + 1 - int((z * query).sum()) for z, h in ((first, half_first), (second, half_second))]
        exact = [float(((point - b) ** 2).sum()) for point in (a, other)]
        near, far = np.argsort(exact)
        blur = gr.blur_for(d)
        assert totals[near] <= gr.limit_from_bound(float(totals[far]), False, blur)
        assert -totals[far] <= gr.limit_from_bound(float(-totals[near]), True, blur)
        tight += totals[near] > totals[far]
    assert tight > 5  # whole numbers did put some pairs into the wrong order: the limit was needed


def subtract_all(totals, a, b):
    sums = load(totals, 0)
    for pair in range(0, len(a), WIDTH):
        sums = subtract_pair_products(sums, load(a, pair), load(b, pair))
    store(totals, 0, sums)


@pytest.mark.kernel
@pytest.mark.parametrize("llvm_version", [14, 20])  # older ones are told the instruction by name, if there is one
def test_products_of_pairs_are_those_of_whole_numbers(monkeypatch, llvm_version):
    monkeypatch.setattr(numba_internals, "llvm_version_info", (llvm_version, 0, 0))
    subtract = njit(subtract_all)
    rng = np.random.default_rng(24)
    for n_pairs in (*range(1, 30), 250):
        a, b = (rng.integers(-32000, 32001, size=(n_pairs, 16, 2)).astype(np.int16) for _ in range(2))
        totals = rng.integers(-(2**31), 2**31, 16).astype(np.int32)
        expected = (totals.astype(np.int64) - (a.astype(np.int64) * b).sum(axis=(0, 2))).astype(np.int32)
        subtract(totals, a.view(np.int32).ravel(), b.view(np.int32).ravel())
        np.testing.assert_array_equal(totals, expected)


@compiled
def test_the_smallest_of_many_values_are_kept_in_order():
    from microagg.partition._kernels.mdav.nearest import keep_smallest

    @njit
    def keep_all(kept, n_vectors, values):
        for value in values:
            keep_smallest(kept, 16, n_vectors, value)

    rng = np.random.default_rng(21)
    for n_vectors, n_values in ((1, 5), (1, 400), (3, 47), (3, 400)):
        for dtype, least, largest in ((np.float32, -np.inf, np.inf), (np.int32, -(2**31), 2**31 - 1)):
            values = (rng.integers(-50, 50, n_values) * dtype(7)).astype(dtype)
            kept = np.full(16 * (n_vectors + 1), largest, dtype=dtype)
            kept[:16] = least
            keep_all(kept, n_vectors, values)
            expected = np.full(16 * n_vectors, largest, dtype=dtype)
            smallest = np.sort(values)[: len(expected)]
            expected[: len(smallest)] = smallest
            np.testing.assert_array_equal(kept[16:], expected)


@njit
def split(keys, order, place):
    split_at(keys, order, 0, len(keys), place)


@pytest.mark.kernel
@given(st.lists(st.integers(-4, 4), min_size=1, max_size=60), st.integers(0, 59))
def test_a_split_puts_no_larger_key_first(values, place):
    keys = np.array(values, dtype=np.float32)
    order, place = np.arange(len(keys)), min(place, len(keys) - 1)
    split(keys, order, place)
    np.testing.assert_array_equal(keys, np.array(values, dtype=np.float32)[order])
    assert sorted(order) == list(range(len(keys)))
    if place > 0:
        assert keys[:place].max() <= keys[place:].min()


@compiled
def test_neighbour_lists_are_exact_and_in_order():
    """Each list of one pass against a full float64 sort, with ties, outliers and rows that have several records."""
    from microagg.partition._kernels.mdav.centroid_tracker import track_centroid
    from microagg.partition._kernels.mdav.scan import neighbour_lists as nl
    from microagg.partition._kernels.mdav.scan.blocks import build_blocks
    from microagg.partition._kernels.mdav.scan.candidate_pass import allocate_candidates, answer_batch

    @njit(**OPTIONS)
    def ask(rows, blocks, space, batch, candidates, lists, seeds):
        batch.n_seeds[0] = 0
        for i in range(seeds.shape[0]):
            nl.add_seed(lists, batch, rows, blocks, seeds[i], True)
        answer_batch(rows, blocks, space, batch, candidates, lists)

    rng = np.random.default_rng(20)
    for kind in KINDS:
        X = kind(rng, 900, 4)
        space = fs.filter_space(X)
        tracker = track_centroid(X, space)
        rows = distinct_rows(X)
        blocks = build_blocks(rows, space, tracker)
        batch, candidates = nl.allocate_batch(4), allocate_candidates(5)
        lists = nl.allocate_neighbour_lists(len(rows.first), 5)
        seeds = rng.choice(len(rows.first), size=min(nl.SEEDS, len(rows.first)), replace=False)
        ask(rows, blocks, space, batch, candidates, lists, seeds)
        for row in seeds:
            gaps = X - rows.values[row]
            distances = np.zeros(len(X))
            for j in range(4):
                distances += gaps[:, j] * gaps[:, j]
            slot = lists.slot_of[row]
            nearest = np.lexsort((np.arange(len(X)), distances))
            farthest = np.lexsort((np.arange(len(X)), -distances))
            wanted = lists.records.shape[2]
            np.testing.assert_array_equal(lists.records[nl.NEAR, slot], nearest[:wanted], err_msg=kind.__name__)
            np.testing.assert_array_equal(lists.records[nl.FAR, slot, : nl.FARTHEST], farthest[: nl.FARTHEST])


@compiled
def test_boxes_bound_every_point_in_them():
    """Near and far bounds against all points of boxes near and far, in float32 as they are computed."""
    from microagg.partition._kernels.mdav.centroid_tracker import RADIUS, track_centroid
    from microagg.partition._kernels.mdav.tree.build import build_tree
    from microagg.partition._kernels.mdav.tree.search import far_bounds, far_terms, near_bounds

    @njit
    def bounds(tree, query32, radius, space, near, far):
        near_bounds(tree, 0, query32, space, near, np.float32(np.inf))
        curve, constant = far_terms(tree, query32, radius, space)
        far_bounds(tree, 0, query32, space, curve, constant, far, np.float32(-1))

    rng = np.random.default_rng(14)
    for d in (1, 2, 7, 20, 60, 300):
        for stretch in (1.0, 1e3, 1e6):
            X = rng.normal(size=(256, d))
            X[:, 0] *= stretch
            space = fs.filter_space(X)
            tracker = track_centroid(X, space)
            rows, tree = build_tree(distinct_rows(X), space, tracker, 16)
            assert len(tree.counts) == 16
            y = ((rows.values - space.centre) * space.scale).astype(np.float32)
            for q in (*y[rng.integers(0, 256, 10)], np.zeros(d, dtype=np.float32), y[0] * np.float32(1e-7)):
                near, far = np.empty(16, dtype=np.float32), np.empty(16, dtype=np.float32)
                bounds(tree, q, tracker.numbers[RADIUS], space, near, far)
                true = ((y.astype(float) - q.astype(float)) ** 2).sum(axis=1)
                for leaf in range(16):
                    inside = true[tree.leaf_of == leaf]
                    assert near[leaf] <= inside.min() * (1 + space.relative)
                    assert far[leaf] >= inside.max() * (1 - space.relative)


@pytest.mark.kernel
def test_a_key_bounds_distances_however_the_centroid_wanders():
    from microagg.partition._kernels.mdav import centroid_tracker as ct

    key_from, move_centroid = (getattr(f, "py_func", f) for f in (ct.key_from, ct.move_centroid))
    rng = np.random.default_rng(15)
    for step_size in (1.0, 1e-3, 1e-9, 1e-17):
        points = rng.normal(size=(20, 3)) * 10
        space = fs.FilterSpace(np.zeros(3), 1.0, 11 * 2 * fs.UNIT, 2.0**-61)
        tracker = ct.CentroidTracker(np.zeros(3), np.zeros(3), np.zeros(3), np.array([1e4 * rng.uniform(), np.inf]))
        reach = np.linalg.norm(points - tracker.centroid, axis=1).max()
        key = key_from(reach, tracker)
        for _ in range(300):
            tracker.high[:] = tracker.centroid + rng.normal(size=3) * step_size
            move_centroid(tracker, 1, space)
            farthest = np.linalg.norm(points - tracker.centroid, axis=1).max()
            assert key + tracker.numbers[ct.PATH] >= farthest
            assert key + tracker.numbers[ct.PATH] <= farthest + 4 * 300 * step_size + 1e-6


@pytest.mark.kernel
def test_merged_rows_list_their_records_in_ascending_order():
    X = np.random.default_rng(16).integers(0, 3, size=(200, 2)).astype(float)
    rows = distinct_rows(X)
    assert len(rows.first) == 9
    assert sorted(rows.members.tolist()) == list(range(200))
    for row in range(9):
        members = rows.members[rows.first[row] : rows.end[row]]
        assert (np.diff(members) > 0).all()
        assert (X[members] == rows.values[row]).all()
