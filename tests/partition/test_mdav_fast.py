"""The fast searches for MDAV's cells: the same labels as the plain scan, and bounds that never rule out what counts."""

from __future__ import annotations

import os
import subprocess
import sys
from pathlib import Path

import numpy as np
import pytest

from mdav_tables import KINDS, compiled
from microagg import MDAV
from microagg._progress import shown_by
from microagg.partition import _mdav_search as searches
from microagg.partition._kernels.listings import mdav_generic
from microagg.partition._kernels.mdav.rows import distinct_rows
from microagg.partition.base import cells_in_order
from microagg.space.points import Points


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
def test_the_search_may_change_between_any_cells(monkeypatch):
    X = np.random.default_rng(3).normal(size=(1200, 6))
    expected = labels_of(X, 5, "plain")
    monkeypatch.setattr(searches, "_TREE_FROM", 10)
    monkeypatch.setattr(searches, "_PROBE", 2000)
    for portions in (1, 2, 3, 5, 9):
        turns = iter(range(portions))
        monkeypatch.setattr(searches._MdavRun, "_scanning_is_cheaper", lambda *_, t=turns: next(t, None) is None)
        np.testing.assert_array_equal(labels_of(X, 5, "auto"), expected)


def test_the_scan_takes_over_when_that_pays_and_is_compiled_only_for_a_long_search(monkeypatch):
    run = searches._MdavRun(Points(np.random.default_rng(23).normal(size=(4000, 4))), 4, 12, "auto", lambda *_: False)
    thousand_cells = [np.array([1000 * points, 1000 * 20, 1000]) for points in (500, 500_000, 50_000_000)]
    for is_compiled, answers in ((True, [False, True, True]), (False, [False, False, True])):
        monkeypatch.setattr(searches, "needs_compiling", lambda _, known=is_compiled: not known)
        costs = [run._nanoseconds_per_cell(seen, 4000) for seen in thousand_cells]
        assert [run._scanning_is_cheaper(*cost) for cost in costs] == answers


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
            got = cells_in_order(searches.mdav_cells(Points(fitted), 4, 12, algorithm))
            np.testing.assert_array_equal(got, expected, err_msg=algorithm)


@compiled
@pytest.mark.parametrize("tiny", [5e-324, 1e-310, 1e-200, 1e-163, 1e-155])
def test_distances_that_vanish_in_float64_tie_in_every_search(tiny):
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
@pytest.mark.parametrize("ratio", [1.02, 1.5, 3.0])
def test_the_scan_refines_its_grid_while_records_shrink_to_a_point(monkeypatch, ratio):
    from microagg.partition._kernels.mdav.scan import blocks

    renewals = []
    renew = blocks.renew_grid
    monkeypatch.setattr(blocks, "renew_grid", lambda *parts: renewals.append(renew(*parts)))
    rng = np.random.default_rng(25)
    for d in (1, 2, 5):
        sizes = ratio ** -np.arange(600.0)
        X = rng.normal(size=(600, d)) * sizes[:, None]
        for k in (2, 7):
            np.testing.assert_array_equal(labels_of(X, k, "brute"), labels_of(X, k, "plain"))
    assert len(renewals) > 6 * 2  # one of each fit is the first grid


@compiled
@pytest.mark.parametrize(
    ("n", "constant", "step"),
    [(33, 490000.00000000006, 1e-14), (204, 980000.0000000001, 1e-24), (222, 459.99999999999994, 1e-20)],
)
def test_a_rounded_centroid_outside_the_records_changes_nothing(n, constant, step):
    X = np.column_stack([np.arange(n) * step, np.full(n, constant)])
    assert_one_partition(X, 2)
    assert np.bincount(labels_of(X, 2, "auto")).min() == 2


@compiled
def test_the_variant_is_the_same_in_every_search():
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


@compiled
def test_cells_larger_than_a_scan_keeps_bounds_for():
    rng = np.random.default_rng(22)
    for kind in KINDS:
        X = kind(rng, 1700, 3)
        by_scan, plain = (MDAV(k=260, algorithm=algorithm).fit(X).labels_ for algorithm in ("brute", "plain"))
        np.testing.assert_array_equal(by_scan, plain, err_msg=kind.__name__)


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
def test_a_read_only_installation_works(tmp_path):
    import shutil

    import microagg

    package = tmp_path / "site" / "microagg"
    shutil.copytree(Path(microagg.__file__).parent, package, ignore=shutil.ignore_patterns("__pycache__"))
    # A file where the cache folder would be keeps even a privileged user from writing there.
    for folder in {path.parent for path in package.glob("**/_kernels/**/*.py")}:
        (folder / "__pycache__").touch()
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
    monkeypatch.setattr(searches, "_DISTANCES_PER_PORTION", 30_000)
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
    monkeypatch.setattr(searches, "_DISTANCES_PER_PORTION", 30_000)
    heard = []
    with shown_by(lambda task, share: heard.append(share)):
        MDAV(k=3, algorithm=algorithm).fit(np.random.default_rng(18).normal(size=(4000, 3)))
    assert heard == sorted(heard)
    assert len(heard) > 3
    assert heard[-1] == 1.0
