"""The fast roads to MDAV's cells: the same labels as the plain scan, and bounds that never rule out what counts."""

from __future__ import annotations

import logging
import os
import subprocess
import sys
from pathlib import Path

import numpy as np
import pytest
from hypothesis import given
from hypothesis import strategies as st
from numba import config, njit

from microagg import MDAV
from microagg._progress import shown_by
from microagg.partition import _mdav_roads as roads
from microagg.partition._kernels import filter_space as fs
from microagg.partition._kernels.jit import OPTIONS
from microagg.partition._kernels.plain import mdav_generic
from microagg.partition._kernels.rows import distinct_rows
from microagg.partition._kernels.tree_build import split_at
from microagg.partition.base import cells_in_order

compiled = pytest.mark.skipif(bool(config.DISABLE_JIT), reason="thousands of records are too slow without the compiler")


def smooth(rng, n, d):
    return rng.normal(size=(n, d))


def uniform(rng, n, d):
    return rng.uniform(size=(n, d))


def ties(rng, n, d):
    return rng.integers(0, 3, size=(n, d)).astype(float)


def integers(rng, n, d):
    return rng.integers(0, 10, size=(n, d)).astype(float)


def offset(rng, n, d):
    return rng.normal(size=(n, d)) + 1e9


def outliers(rng, n, d):
    X = rng.normal(size=(n, d))
    X[: max(n // 100, 1)] *= 10.0 ** rng.integers(3, 9)
    return X


def mixture(rng, n, d):
    centres = rng.normal(size=(5, d)) * 20
    return centres[rng.integers(0, 5, n)] + rng.normal(size=(n, d))


def rank_three(rng, n, d):
    return rng.normal(size=(n, 3)) @ rng.normal(size=(3, d))


def line(rng, n, d):
    return np.outer(rng.exponential(size=n), np.ones(d))


def uneven(rng, n, d):
    return rng.standard_cauchy(size=(n, d)) * 10.0 ** rng.integers(-6, 6, size=d)


KINDS = [smooth, uniform, ties, integers, offset, outliers, mixture, rank_three, line, uneven]


def labels_of(X, k, algorithm, variant="generic"):
    return MDAV(k=k, algorithm=algorithm, variant=variant).fit(X).labels_


def assert_one_partition(X, k, **options):
    expected = labels_of(X, k, "plain")
    for algorithm in ("tree", "brute", "auto"):
        np.testing.assert_array_equal(labels_of(X, k, algorithm, **options), expected, err_msg=f"{algorithm}, k = {k}")


@compiled
@pytest.mark.parametrize("kind", KINDS)
def test_tree_brute_and_plain_scan_form_the_same_cells(kind):
    rng = np.random.default_rng(KINDS.index(kind))
    for _ in range(200):
        n, d = int(rng.integers(4, 1200)), int(rng.integers(1, 21))
        assert_one_partition(kind(rng, n, d), int(rng.integers(2, min(n, 51))))


@compiled
@pytest.mark.parametrize("kind", KINDS)
def test_they_form_the_cells_of_the_listing(kind):
    rng = np.random.default_rng(100 + KINDS.index(kind))
    for _ in range(4):
        X = kind(rng, int(rng.integers(50, 400)), int(rng.integers(1, 8)))
        k = int(rng.integers(2, 12))
        expected = cells_in_order(mdav_generic(X, k))
        for algorithm in ("tree", "brute", "plain"):
            np.testing.assert_array_equal(labels_of(X, k, algorithm), expected)


@pytest.mark.kernel
@pytest.mark.parametrize("kind", KINDS)
def test_small_tables_without_the_compiler_too(kind):
    assert_one_partition(kind(np.random.default_rng(1), 90, 3), 4)


@compiled
@pytest.mark.parametrize("name", ["census", "tarragona", "eia"])
def test_reference_tables_for_every_k(reference_data, name):
    table = reference_data(name)
    columns = [column.to_numpy().astype(float) for column in table.columns if str(column.type) in ("double", "int64")]
    X = np.column_stack(columns)
    X = (X - X.mean(axis=0)) / np.where(X.std(axis=0) > 0, X.std(axis=0), 1)
    for k in range(2, 51):
        assert_one_partition(X, k)


@compiled
def test_the_road_may_change_between_any_cells(monkeypatch):
    X = np.random.default_rng(3).normal(size=(1200, 6))
    expected = labels_of(X, 5, "plain")
    monkeypatch.setattr(roads, "_TREE_FROM", 10)
    monkeypatch.setattr(roads, "_PROBE", 2000)
    for portions in (1, 2, 3, 5, 9):
        turns = iter(range(portions))
        monkeypatch.setattr(roads._Peeling, "_scanning_is_cheaper", lambda *_, t=turns: next(t, None) is None)
        np.testing.assert_array_equal(labels_of(X, 5, "auto"), expected)


# Robustness


@compiled
@pytest.mark.parametrize("magnitude", [1e-307, 1e-160, 1e-20, 1e20, 1e150, 1e300])
def test_values_of_any_magnitude_give_the_cells_of_the_scaled_table(magnitude):
    exponent = int(np.frexp(magnitude)[1])
    X = np.random.default_rng(4).normal(size=(700, 3))
    with np.errstate(all="ignore"):  # the sse of such values may be infinite, their cells are not in doubt
        fitted = np.ldexp(X, exponent)
        expected = labels_of(X, 4, "plain")
        for algorithm in ("tree", "brute", "plain", "auto"):
            got = cells_in_order(roads.mdav_cells(fitted, 4, 12, algorithm))
            np.testing.assert_array_equal(got, expected, err_msg=algorithm)


@compiled
@pytest.mark.parametrize("tiny", [5e-324, 1e-310, 1e-200, 1e-163, 1e-155])
def test_distances_that_vanish_in_float64_tie_on_every_road(tiny):
    # One attribute of ordinary size keeps the table from being scaled: the other's squares are denormal or zero.
    X = np.column_stack([np.ones(300), np.random.default_rng(5).integers(0, 9, 300) * tiny])
    assert_one_partition(X, 3)
    X[::2, 0] = 3.0
    assert_one_partition(X, 3)


@compiled
def test_minus_zero_is_zero():
    X = np.random.default_rng(6).integers(-1, 2, size=(400, 3)).astype(float)
    minus = np.where(X == 0, -0.0, X)
    np.testing.assert_array_equal(labels_of(minus, 3, "tree"), labels_of(X, 3, "plain"))
    assert len(distinct_rows(np.vstack([X, minus])).first) == len(np.unique(X, axis=0))


@compiled
@pytest.mark.parametrize("n_attributes", [1, 64, 200, 500])
def test_few_and_many_attributes(n_attributes):
    rng = np.random.default_rng(7)
    assert_one_partition(rng.normal(size=(500, n_attributes)), 5)
    assert_one_partition(rng.integers(0, 2, size=(500, n_attributes)).astype(float), 5)


@compiled
def test_records_that_are_equal_or_nearly():
    assert_one_partition(np.full((1000, 4), 7.0), 6)
    assert_one_partition(np.repeat(np.random.default_rng(8).normal(size=(40, 3)), 25, axis=0), 7)
    nearly = 1e9 + np.random.default_rng(9).integers(0, 2, size=(5000, 2)) * 2e-7
    assert_one_partition(nearly, 3)
    # Rows that float32 cannot tell apart, in a tree of several levels: the filter lets all through, float64 decides.
    close = np.concatenate([[[1e6, 1e6]], 1 + np.random.default_rng(10).integers(0, 2000, size=(2500, 2)) * 1e-9])
    assert_one_partition(close, 4)


@compiled
def test_the_variant_is_the_same_on_every_road():
    rng = np.random.default_rng(11)
    for n in range(6, 60):
        assert_one_partition(rng.normal(size=(n, 2)), 3, variant="2k")


@pytest.mark.kernel
@pytest.mark.parametrize("algorithm", ["tree", "brute"])
def test_other_arrays_give_the_same_cells(algorithm):
    X = np.rint(np.random.default_rng(12).normal(size=(120, 3)) * 10)
    expected = labels_of(X, 4, "plain")
    frozen = X.copy()
    frozen.flags.writeable = False
    for same in (frozen, np.asfortranarray(X), X.astype(np.int32), X.astype(np.float32), X[:, ::-1][:, ::-1]):
        np.testing.assert_array_equal(labels_of(same, 4, algorithm), expected)


# Bounds


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


@pytest.mark.kernel
@pytest.mark.parametrize("fused", [True, False])
def test_the_filter_never_rejects_a_true_candidate(fused):
    rng = np.random.default_rng(13)
    for a, b in adversarial_pairs(rng):
        d = len(a)
        for scale in (2.0**-40, 1.0, 2.0**40):
            centre = rng.normal(size=d) / scale
            space = fs.FilterSpace(
                centre, scale, (d + 8) * 2 * fs.UNIT, float(np.sqrt(d) * (2.0**-62 + 2.0**-536 * scale))
            )
            x, q = a / scale + centre, b / scale + centre
            exact = 0.0
            for j in range(d):
                exact += (x[j] - q[j]) * (x[j] - q[j])
            radius = max(np.linalg.norm(x - centre), np.linalg.norm(q - centre)) * scale
            slack = fs.slack_for(radius, space)
            coordinates = [((point - centre) * scale).astype(np.float32) for point in (x, q)]
            measured = float32_squared_distance(*coordinates, rng.permutation(d), fused)
            # A record exactly as near (or far) as the one to beat is a candidate: its index may be lower.
            assert measured <= fs.near_limit(exact, space, slack)
            assert measured >= fs.far_limit(exact, space, slack)
            assert fs.farthest_reach(measured, space, slack) >= np.sqrt(exact) * scale * (1 - 1e-12)


def float32_product_form(y, q, fused):
    """|y|^2 - 2 q.y as a scan computes it: float32, in the order of the columns, fused or not."""
    total = np.float32(0)
    for value in y:
        total = np.float32(total + value * value)
    for value, turned in zip(y, np.float32(-2) * q, strict=True):
        exact = (
            float(value) * float(turned) + float(total) if fused else float(np.float32(value * turned)) + float(total)
        )
        total = np.float32(exact)
    return float(total)


@pytest.mark.kernel
@pytest.mark.parametrize("fused", [True, False])
def test_the_product_form_errs_by_no_more_than_its_bound_and_its_limits_reject_no_true_candidate(fused):
    from microagg.partition._kernels import answers as an
    from microagg.partition._kernels import notes as nt

    from_bound, from_distance = (getattr(f, "py_func", f) for f in (nt.limit_from_bound, nt.limit_from_distance))
    rng = np.random.default_rng(19)
    for a, b in adversarial_pairs(rng):
        d = len(a)
        space = fs.FilterSpace(np.zeros(d), 1.0, (d + 8) * 2 * fs.UNIT, float(np.sqrt(d) * 2.0**-62))
        exact = 0.0
        for j in range(d):
            exact += (a[j] - b[j]) * (a[j] - b[j])
        y, q = a.astype(np.float32), b.astype(np.float32)
        y_norm, norm = (np.linalg.norm(point.astype(float)) for point in (y, q))
        slack = fs.slack_for(max(np.linalg.norm(a), np.linalg.norm(b)), space)
        measured = float32_product_form(y, q, fused)
        error = space.relative * (y_norm + norm) ** 2 + space.floor
        true = sum(float(u) * float(u) - 2 * float(u) * float(v) for u, v in zip(y, q, strict=True))
        assert abs(measured - true) <= error * 1.000001
        for sign, side in ((1.0, an.NEAR), (-1.0, an.FAR)):
            signed = sign * measured
            # A row as near (far) as the one to beat is within the limit, whether that comes from float64 ...
            assert np.float32(signed - error) <= from_distance(sign * exact, side, norm, space, slack)
            # ... or from the bound that the row itself sets, which is kept in float32.
            upper = float(np.float32(signed + error))
            assert np.float32(signed - error) <= from_bound(upper, side, norm, space, slack)


@compiled
def test_the_smallest_of_many_values_are_kept_in_order():
    from microagg.partition._kernels.notes import keep_smallest

    @njit
    def keep_all(kept, n_lanes, values):
        for value in values:
            keep_smallest(kept, 16, n_lanes, value)

    rng = np.random.default_rng(21)
    for n_lanes, n_values in ((1, 5), (1, 400), (3, 47), (3, 400)):
        values = rng.integers(-50, 50, n_values).astype(np.float32) / np.float32(7)
        kept = np.full(16 * (n_lanes + 1), np.inf, dtype=np.float32)
        kept[:16] = -np.inf
        keep_all(kept, n_lanes, values)
        expected = np.full(16 * n_lanes, np.inf, dtype=np.float32)
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
def test_cells_larger_than_a_scan_keeps_bounds_for():
    rng = np.random.default_rng(22)
    for kind in KINDS:
        X = kind(rng, 1700, 3)
        by_scan, plain = (MDAV(k=260, algorithm=road).fit(X).labels_ for road in ("brute", "plain"))
        np.testing.assert_array_equal(by_scan, plain, err_msg=kind.__name__)


@compiled
def test_lists_of_answers_are_exact_and_in_order():
    """Each list of one pass against a full float64 sort, with ties, outliers and rows that have several records."""
    from microagg.partition._kernels import answers as an
    from microagg.partition._kernels.blocks import build_blocks
    from microagg.partition._kernels.notes import answer, room_for_notes
    from microagg.partition._kernels.walk import begin_walk

    @njit(**OPTIONS)
    def ask(rows, blocks, space, walk, batch, notes, answers, seeds):
        batch.n_seeds[0] = 0
        for i in range(seeds.shape[0]):
            an.add_seed(answers, batch, rows, space, seeds[i])
        answer(rows, blocks, space, walk, batch, notes, answers)

    rng = np.random.default_rng(20)
    for kind in KINDS:
        X = kind(rng, 900, 4)
        space = fs.filter_space(X)
        walk = begin_walk(X, space)
        rows = distinct_rows(X)
        blocks = build_blocks(rows, space, walk)
        batch, notes, answers = an.room_for_batch(4), room_for_notes(5), an.room_for_answers(len(rows.first), 5)
        seeds = rng.choice(len(rows.first), size=min(an.SEEDS, len(rows.first)), replace=False)
        ask(rows, blocks, space, walk, batch, notes, answers, seeds)
        for row in seeds:
            gaps = X - rows.values[row]
            distances = np.zeros(len(X))
            for j in range(4):
                distances += gaps[:, j] * gaps[:, j]
            slot = answers.slot_of[row]
            nearest = np.lexsort((np.arange(len(X)), distances))
            farthest = np.lexsort((np.arange(len(X)), -distances))
            wanted = answers.records.shape[2]
            np.testing.assert_array_equal(answers.records[an.NEAR, slot], nearest[:wanted], err_msg=kind.__name__)
            np.testing.assert_array_equal(answers.records[an.FAR, slot, : an.FARTHEST], farthest[: an.FARTHEST])


@compiled
def test_boxes_bound_every_point_in_them():
    """Near, corner and norm bounds against all points of boxes near and far, in float32 as they are computed."""
    from microagg.partition._kernels.tree_build import build_tree
    from microagg.partition._kernels.tree_search import far_bounds, near_bounds
    from microagg.partition._kernels.walk import RADIUS, begin_walk

    @njit
    def bounds(tree, query32, constant, near, far):
        near_bounds(tree, 0, query32, near, np.float32(np.inf))
        far_bounds(tree, 0, query32, constant, far, np.float32(-1))

    rng = np.random.default_rng(14)
    for d in (1, 2, 7, 20, 60, 300):
        for stretch in (1.0, 1e3, 1e6):
            X = rng.normal(size=(256, d))
            X[:, 0] *= stretch
            space = fs.filter_space(X)
            walk = begin_walk(X, space)
            rows, tree = build_tree(distinct_rows(X), space, walk, 16)
            assert len(tree.counts) == 16
            y = ((rows.values - space.centre) * space.scale).astype(np.float32)
            for q in y[rng.integers(0, 256, 10)]:
                norm, radius = float((q.astype(float) ** 2).sum()), walk.numbers[RADIUS]
                constant = np.float32(norm + space.relative * (1 + np.sqrt(d)) * (norm + radius**2))
                near, far = np.empty(16, dtype=np.float32), np.empty(16, dtype=np.float32)
                bounds(tree, q, constant, near, far)
                true = ((y.astype(float) - q.astype(float)) ** 2).sum(axis=1)
                for leaf in range(16):
                    inside = true[tree.leaf_of == leaf]
                    assert near[leaf] <= inside.min() * (1 + space.relative)
                    assert far[leaf] >= inside.max() * (1 - space.relative)


@pytest.mark.kernel
def test_a_key_bounds_distances_however_the_centroid_wanders():
    from microagg.partition._kernels import walk as wk

    key_from, move_centroid = (getattr(f, "py_func", f) for f in (wk.key_from, wk.move_centroid))
    rng = np.random.default_rng(15)
    for step_size in (1.0, 1e-3, 1e-9, 1e-17):
        points = rng.normal(size=(20, 3)) * 10
        space = fs.FilterSpace(np.zeros(3), 1.0, 11 * 2 * fs.UNIT, 2.0**-61)
        walk = wk.Walk(np.zeros(3), np.zeros(3), np.zeros(3), np.array([1e4 * rng.uniform(), np.inf]))
        reach = np.linalg.norm(points - walk.centroid, axis=1).max()
        key = key_from(reach, walk)
        for _ in range(300):
            walk.high[:] = walk.centroid + rng.normal(size=3) * step_size
            move_centroid(walk, 1, space)
            farthest = np.linalg.norm(points - walk.centroid, axis=1).max()
            assert key + walk.numbers[wk.PATH] >= farthest
            assert key + walk.numbers[wk.PATH] <= farthest + 4 * 300 * step_size + 1e-6


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


# Compiling, progress, interrupts


def run_python(script, environment=(), **options):
    return subprocess.run(
        [sys.executable, "-c", script],
        capture_output=True,
        text=True,
        check=True,
        env={**os.environ, **dict(environment)},
        **options,
    ).stdout


def test_importing_compiles_nothing_and_loads_no_compiler():
    assert run_python("import microagg, sys; microagg.MDAV(k=3); print('numba' in sys.modules)").strip() == "False"


@compiled
def test_the_first_use_says_that_it_compiles(caplog, monkeypatch, tmp_path):
    from microagg.partition import _compiling

    class Kernel:
        signatures: tuple[()] = ()
        py_func = staticmethod(run_python)
        stats = type("Stats", (), {"cache_path": str(tmp_path)})

    heard = []
    with caplog.at_level(logging.INFO, logger="microagg"), shown_by(lambda task, share: heard.append((task, share))):
        _compiling.announce_compiling(Kernel)
    assert heard == [("compiling (first use)", 0.0)]
    assert "first use" in caplog.text
    # With a fresh index in the cache nothing is said.
    (tmp_path / "test_mdav_fast.run_python-1.py311.nbi").touch()
    heard.clear()
    with shown_by(lambda task, share: heard.append((task, share))):
        _compiling.announce_compiling(Kernel)
    assert heard == []


@compiled
def test_a_read_only_installation_works(tmp_path):
    import shutil

    import microagg

    package = tmp_path / "site" / "microagg"
    shutil.copytree(Path(microagg.__file__).parent, package, ignore=shutil.ignore_patterns("__pycache__"))
    # A file where the cache folder would be keeps even a privileged user from writing there.
    (package / "partition" / "_kernels" / "__pycache__").touch()
    for path in [package, *package.rglob("*")]:
        path.chmod(0o555 if path.is_dir() else 0o444)
    (tmp_path / "home").mkdir()
    script = (
        "import numpy as np, microagg; X = np.random.default_rng(0).normal(size=(50, 2));"
        "print(microagg.__file__); print(microagg.MDAV(k=5, algorithm='plain').fit(X).labels_.tolist())"
    )
    home = {"HOME": str(tmp_path / "home"), "XDG_CACHE_HOME": str(tmp_path / "home"), "PYTHONPATH": str(package.parent)}
    environment = {name: value for name, value in os.environ.items() if name != "NUMBA_CACHE_DIR"} | home
    result = subprocess.run([sys.executable, "-B", "-c", script], capture_output=True, text=True, env=environment)
    for path in package.rglob("*"):
        if path.is_dir():
            path.chmod(0o755)
    package.chmod(0o755)
    assert result.returncode == 0, result.stderr
    where, labels = result.stdout.splitlines()
    assert str(package) in where
    assert labels == str(MDAV(k=5).fit(np.random.default_rng(0).normal(size=(50, 2))).labels_.tolist())


@compiled
@pytest.mark.parametrize("algorithm", ["tree", "brute", "plain"])
def test_an_interrupt_is_heard_between_portions(monkeypatch, algorithm):
    monkeypatch.setattr(roads, "_DISTANCES_PER_PORTION", 30_000)
    heard = []

    def stop_after_three(task, share):
        heard.append(share)
        if len(heard) == 3:
            raise KeyboardInterrupt

    X = np.random.default_rng(17).normal(size=(5000, 3))
    with shown_by(stop_after_three), pytest.raises(KeyboardInterrupt):
        MDAV(k=3, algorithm=algorithm).fit(X)
    assert heard == sorted(heard)
    assert heard[-1] < 1.0


@compiled
@pytest.mark.parametrize("algorithm", ["auto", "tree", "brute", "plain"])
def test_progress_grows_to_the_end(monkeypatch, algorithm):
    monkeypatch.setattr(roads, "_DISTANCES_PER_PORTION", 30_000)
    heard = []
    with shown_by(lambda task, share: heard.append(share)):
        MDAV(k=3, algorithm=algorithm).fit(np.random.default_rng(18).normal(size=(4000, 3)))
    assert heard == sorted(heard)
    assert len(heard) > 3
    assert heard[-1] == 1.0
