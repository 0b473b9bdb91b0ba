"""NumPy in place of kernels: the same cells, on the tables where that costs less, and as easily interrupted."""

from __future__ import annotations

import os
import signal
import subprocess
import sys
import time
from pathlib import Path

import numpy as np
import pytest
from hypothesis import given, settings
from hypothesis import strategies as st

import microagg
from mdav_tables import KINDS, compiled
from microagg import MDAV, VMDAV, NearOptimal, Projection
from microagg._halt import INTERRUPT, StopCondition, attend
from microagg._progress import shown_by
from microagg.partition import IndividualRanking, Mic1D, OptimalUnivariate, _mdav_search, uncompiled, vmdav
from microagg.partition._kernels.mdav.plain import cells as kernels
from microagg.partition._kernels.projection import shortest_path_starts
from microagg.partition._kernels.univariate import cells_from_starts, optimal_starts
from microagg.partition.local_search.starts import start_of_search
from microagg.partition.uncompiled import choice, cuts
from microagg.partition.uncompiled.choice import always_by, numpy_costs_less
from microagg.partition.uncompiled.mdav import _Cells, form_mdav_cells
from microagg.partition.uncompiled.sums import sum_columns
from microagg.partition.uncompiled.vmdav import form_vmdav_cells
from microagg.space.points import Points
from partition_tables import tables

LONG = 60.0  # seconds within which what was told to end has ended, on any machine
RUNS = np.zeros(1, dtype=np.int64)  # the flag of work that nobody stops


def forever(*_: int) -> bool:
    return True


# --- the same cells --------------------------------------------------------------------------------------------------


def many_magnitudes(rng: np.random.Generator, n: int, d: int) -> np.ndarray:
    """Values too far apart for any two floats to hold their sum: the order of adding them shows."""
    return rng.normal(size=(n, d)) * 10.0 ** rng.integers(-30, 30, size=(n, d))


def assert_same_cells(X: np.ndarray, k: int, gamma: float) -> None:
    """Compare every kernel with its twin, label by label, before cells are renumbered."""
    context = f"n = {len(X)}, d = {X.shape[1]}, k = {k}, gamma = {gamma}"
    for two_cells_from, road in ((3 * k, "plain"), (2 * k, "brute")):
        expected = _mdav_search.mdav_cells(Points(X), k, two_cells_from, road)
        np.testing.assert_array_equal(form_mdav_cells(X, k, two_cells_from, forever), expected, err_msg=context)
    np.testing.assert_array_equal(
        form_vmdav_cells(Points(X), k, gamma, forever), vmdav._vmdav(Points(X), k, gamma), err_msg=context
    )
    path, ordered = shortest_path_starts(X, k, RUNS), np.sort(X[:, 0])
    np.testing.assert_array_equal(cuts.shortest_path_starts(X, k, RUNS), path, err_msg=context)
    np.testing.assert_array_equal(cuts.label_runs(path), cells_from_starts(path), err_msg=context)
    np.testing.assert_array_equal(cuts.optimal_starts(ordered, k, RUNS), optimal_starts(ordered, k)[0], err_msg=context)


@compiled
@pytest.mark.parametrize("kind", [*KINDS, many_magnitudes])
def test_numpy_and_kernels_form_the_same_cells(kind):
    rng = np.random.default_rng([200, len(kind.__name__)])
    for turn in range(120):
        n = int(rng.integers(2, 90 if turn % 5 else 400))
        sizes = [2, 3, int(rng.integers(2, 30)), n // 3, n // 2, n // 2 + 1, n - 1, n]
        k = min(max(sizes[turn % len(sizes)], 2), n)
        assert_same_cells(kind(rng, n, int(rng.integers(1, 14))), k, float(rng.choice([0.0, 0.2, 1.0, 1.1, 3.0])))


@pytest.mark.kernel
@given(tables(), st.sampled_from([0.0, 0.2, 1.0, 3.0]))
@settings(max_examples=60)
def test_they_do_so_without_the_compiler_too(table, gamma):
    assert_same_cells(*table, gamma)


@pytest.mark.kernel
@pytest.mark.parametrize("kind", [*KINDS, many_magnitudes])
def test_sums_of_the_remaining_records_are_the_same_to_the_last_bit(kind):
    """A centroid that differs in its last bit changes a cell in one table of a million: labels would not show it."""
    X, k = kind(np.random.default_rng(7), 90, 4), 4
    high, low = np.zeros(4), np.zeros(4)
    kernels.sums_of_columns(X, high, low)
    np.testing.assert_array_equal(sum_columns(X), [high, low])
    places, labels, state = np.arange(90), np.full(90, -1), np.array([90, 0])
    kernels.form_cells(
        X, k, 3 * k, np.array(X.T, order="C"), places, places.copy(), high, low, labels, state, 10**9, None
    )
    cells = _Cells(X, k)
    np.testing.assert_array_equal(cells.form(3 * k, forever), labels)
    np.testing.assert_array_equal([cells.high, cells.low], [high, low])


@compiled
@pytest.mark.parametrize("n_attributes", [7, 8, 9, 16, 64, 300])
def test_many_attributes_are_summed_one_after_the_other(n_attributes):
    rng = np.random.default_rng(n_attributes)
    for n in (2, 3, 5, 60, 200):
        X = rng.normal(size=(n, n_attributes)) * 10.0 ** rng.integers(-8, 8, size=n_attributes)
        assert_same_cells(X, min(n, 4), 1.1)
        assert_same_cells(rng.integers(0, 2, size=(n, n_attributes)).astype(float), min(n, 4), 1.1)


PARTITIONERS = {
    "mdav": lambda k: MDAV(k),
    "mdav 2k": lambda k: MDAV(k, variant="2k"),
    "vmdav": lambda k: VMDAV(k, gamma=1.1),
    "vmdav auto": lambda k: VMDAV(k, gamma="auto"),
    "projection": lambda k: Projection(k),
    "z-scores": lambda k: Projection(k, axis="zscores"),
    "ranking": lambda k: IndividualRanking(k, cut="optimal"),
    "mic1d": lambda k: Mic1D(k, cut="optimal"),
    "univariate": lambda k: OptimalUnivariate(k),
    "near optimal": lambda k: NearOptimal(k, effort="fast", random_state=1),
}


@compiled
@pytest.mark.parametrize("name", PARTITIONERS)
@pytest.mark.parametrize("magnitude", [0, -900, 700])
def test_every_partitioner_gives_the_same_on_both_roads_at_any_magnitude(name, magnitude):
    rng = np.random.default_rng(5)
    for kind in KINDS:
        X = np.ldexp(kind(rng, 120, 1 if name == "univariate" else 3), magnitude)
        results = []
        for road in ("kernels", "numpy"):
            with always_by(road), np.errstate(all="ignore"):  # the sse may be beyond the largest float
                results.append(PARTITIONERS[name](4).fit(X))
        np.testing.assert_array_equal(results[0].labels_, results[1].labels_, err_msg=kind.__name__)
        assert results[0].sse_ == results[1].sse_
        assert getattr(results[0], "gamma_", 0) == getattr(results[1], "gamma_", 0)


@compiled
def test_larger_tables_of_the_size_where_kernels_take_over():
    rng = np.random.default_rng(9)
    for kind in (KINDS[0], KINDS[3], KINDS[6]):
        X = kind(rng, 6000, 4)
        labels = []
        for road in ("kernels", "numpy"):
            with always_by(road):
                labels.append([work.fit(X).labels_ for work in (MDAV(5), VMDAV(6, gamma=1.1), Projection(7))])
        np.testing.assert_array_equal(labels[0], labels[1])


def test_a_caller_who_makes_numpy_raise_does_not_make_it_raise_here():
    X = np.column_stack([np.ones(40), np.arange(40) * 1e-170])  # squares that vanish
    with np.errstate(all="raise"):
        cells = [
            form_mdav_cells(X, 3, 9, forever),
            form_vmdav_cells(Points(X), 3, 1.1, forever),
            cuts.label_runs(cuts.shortest_path_starts(X, 3, RUNS)),
            cuts.label_runs(cuts.optimal_starts(X[:, 1], 3, RUNS)),
        ]
    assert min(np.bincount(labels).min() for labels in cells) >= 3


# --- the choice ------------------------------------------------------------------------------------------------------


class Kernel:
    """What a compiled function tells of itself."""

    def __init__(self, *signatures: str) -> None:
        self.signatures = signatures


def not_to_be_loaded() -> Kernel:
    raise AssertionError("a table this small needs no kernel")


@pytest.fixture
def free_choice(monkeypatch):
    """A process that has done nothing yet."""
    monkeypatch.setattr(choice, "_seconds_by_numpy", {})
    with always_by(None):
        yield


@pytest.mark.usefixtures("free_choice")
def test_a_small_table_is_done_before_a_kernel_could_be_loaded(monkeypatch):
    monkeypatch.delitem(sys.modules, "numba", raising=False)
    assert numpy_costs_less("work", 0.02, not_to_be_loaded, 10.0)


@pytest.mark.usefixtures("free_choice")
@pytest.mark.parametrize("numba_is_imported", [True, False])
@pytest.mark.parametrize(
    ("seconds", "must_be_compiled", "by_numpy"),
    [(0.1, False, True), (0.3, False, False), (0.3, True, True), (3.0, True, True), (4.0, True, False)],
)
def test_numpy_may_take_half_of_loading_or_a_third_of_compiling(
    monkeypatch, numba_is_imported, seconds, must_be_compiled, by_numpy
):
    if not numba_is_imported:
        monkeypatch.delitem(sys.modules, "numba", raising=False)
    monkeypatch.setattr(choice, "needs_compiling", lambda _, **__: must_be_compiled)
    assert numpy_costs_less("work", seconds, Kernel, 10.0) == by_numpy


@pytest.mark.usefixtures("free_choice")
def test_a_kernel_that_is_there_is_used_for_the_smallest_table():
    assert not numpy_costs_less("work", 1e-6, lambda: Kernel("(int64)"), 10.0)
    assert not numpy_costs_less("work", 1e-6, lambda: sum, 10.0)  # the compiler is off: functions have no signatures


@pytest.mark.usefixtures("free_choice")
def test_work_that_comes_again_and_again_is_worth_a_kernel(monkeypatch):
    monkeypatch.setattr(choice, "needs_compiling", lambda _, **__: True)
    by_numpy = [numpy_costs_less("work", 0.5, Kernel, 10.0) for _ in range(20)]
    assert by_numpy == [True] * 6 + [False] * 14  # a third of ten seconds
    assert numpy_costs_less("other work", 0.5, Kernel, 10.0)


@compiled
@pytest.mark.usefixtures("free_choice")
@pytest.mark.parametrize("name", [name for name in PARTITIONERS if name != "near optimal"])
def test_a_process_with_kernels_goes_on_with_them(monkeypatch, name):
    X = np.random.default_rng(1).normal(size=(60, 1))
    with always_by("kernels"):
        PARTITIONERS[name](3).fit(X)

    def refuse(*_: object) -> None:
        raise AssertionError("the kernel is there")

    monkeypatch.setattr(uncompiled.mdav, "form_mdav_cells", refuse)
    monkeypatch.setattr(uncompiled.vmdav, "form_vmdav_cells", refuse)
    monkeypatch.setattr(cuts, "shortest_path_starts", refuse)
    monkeypatch.setattr(cuts, "optimal_starts", refuse)
    PARTITIONERS[name](3).fit(X)


def run_python(script: str, cache: Path) -> str:
    source = str(Path(microagg.__file__).parents[1])
    environment = {**os.environ, "PYTHONPATH": source, "NUMBA_CACHE_DIR": str(cache)}
    done = subprocess.run([sys.executable, "-c", script], capture_output=True, text=True, env=environment)
    assert done.returncode == 0, done.stderr
    return done.stdout


def test_first_partitions_of_small_tables_import_no_compiler(tmp_path):
    script = (
        "import sys, numpy as np; from microagg.partition import *\n"
        "X = np.random.default_rng(0).normal(size=(1000, 5))\n"
        "for work in (MDAV(5), VMDAV(5), Projection(5), IndividualRanking(5, cut='optimal')):\n"
        "    work.fit(X)\n"
        "OptimalUnivariate(5).fit(X[:, :1])\n"
        "Mic1D(9, cut='optimal').fit(X[:300])\n"
        "print('numba' in sys.modules)"
    )
    assert run_python(script, tmp_path).strip() == "False"
    assert not list(tmp_path.iterdir())


def test_a_first_release_compiles_nothing_and_imports_no_compiler(tmp_path):
    X = np.random.default_rng(3).normal(size=(1000, 5)) + 9
    lines = [",".join("abcde"), *(",".join(f"{value:.4f}" for value in record) for record in X)]
    (tmp_path / "table.csv").write_text("\n".join(lines) + "\n")
    roles = "".join(f'[attributes.{name}]\nrole = "quasi_identifier"\nkind = "numeric"\n' for name in "abcde")
    (tmp_path / "recipe.toml").write_text(f'method = "mdav"\nk = 5\n{roles}')
    folder = tmp_path / "out"
    script = (
        "import sys; from microagg.cli.app import main\n"
        f"sys.argv = ['microagg', 'release', {str(tmp_path / 'table.csv')!r}, '-r', {str(tmp_path / 'recipe.toml')!r},"
        f" '-o', {str(folder)!r}]\n"
        "try:\n"
        "    main()\n"
        "except SystemExit as end:\n"
        "    assert not end.code, end.code\n"
        "print('loaded', 'numba' in sys.modules)"
    )
    (tmp_path / "cache").mkdir()
    told = run_python(script, tmp_path / "cache")
    assert told.splitlines()[-1] == "loaded False"
    assert (folder / "report.html").is_file()
    assert not list((tmp_path / "cache").iterdir())


# --- progress, interrupts, limits ------------------------------------------------------------------------------------


@pytest.mark.parametrize("work", [MDAV(3), VMDAV(3, gamma=1.1)])
def test_progress_grows_to_the_end(monkeypatch, work):
    monkeypatch.setattr(_mdav_search, "_VALUES_PER_PORTION", 30_000)
    monkeypatch.setattr(vmdav, "_VALUES_PER_PORTION", 30_000)
    heard = []
    with always_by("numpy"), shown_by(lambda task, share: heard.append((task, share))):
        work.fit(np.random.default_rng(18).normal(size=(700, 3)))
    shares = [share for _, share in heard]
    assert {task for task, _ in heard} == {"forming cells"}
    assert shares == sorted(shares)
    assert len(shares) > 3
    assert shares[-1] == 1.0


@pytest.mark.parametrize("work", [MDAV(3), VMDAV(3, gamma=1.1)])
def test_an_interrupt_ends_the_work_between_portions(monkeypatch, work):
    monkeypatch.setattr(_mdav_search, "_VALUES_PER_PORTION", 30_000)
    monkeypatch.setattr(vmdav, "_VALUES_PER_PORTION", 30_000)
    halt, heard = StopCondition(), []

    def stop_after_three(task: str, share: float) -> None:
        heard.append(share)
        if len(heard) == 3:
            halt.stop(INTERRUPT)

    X = np.random.default_rng(18).normal(size=(700, 3))
    with always_by("numpy"), shown_by(stop_after_three):
        labels = attend(lambda: work._cells(X), halt, keeps=True)
    assert len(heard) == 3
    assert heard[-1] < 0.9
    assert (labels < 0).any()


def test_cuts_that_are_told_to_stop_do_nothing_more():
    X, stop = np.random.default_rng(0).normal(size=(60, 3)), np.ones(1, dtype=np.int64)
    assert (cuts.shortest_path_starts(X, 3, stop) == 0).all()
    assert (cuts.optimal_starts(np.sort(X[:, 0]), 3, stop) == 0).all()


def test_a_search_whose_time_is_over_still_begins_with_mdav_where_records_are_few():
    X = np.random.default_rng(2).normal(size=(300, 3))
    over = StopCondition(1e-9)
    with always_by("numpy"):
        labels, how = start_of_search(Points(X), 4, "auto", over)
    assert how == "mdav"
    np.testing.assert_array_equal(labels, MDAV(4, algorithm="plain").fit(X).labels_)


UNITS = {
    "mdav": "MDAV(3).fit(rng.normal(size=(150_000, 25)))",
    "vmdav": "VMDAV(6_000, gamma=1e9).fit(rng.normal(size=(60_000, 20)))",
    "projection": "Projection(20_000).fit(rng.normal(size=(400_000, 8)))",
    "univariate": "OptimalUnivariate(1_000).fit(rng.normal(size=(6_000_000, 1)))",
}


@pytest.mark.skipif(os.name == "nt", reason="an interrupt of another process is a different thing there")
@pytest.mark.parametrize("name", UNITS)
def test_an_interrupt_is_heard_by_a_process_that_works_by_numpy(name):
    """The table is too large to be done before the interrupt, which comes as soon as work has begun."""
    code = (
        "import numpy as np; from microagg.partition import *\n"
        "from microagg.partition.uncompiled.choice import always_by\n"
        "rng = np.random.default_rng(0)\n"
        "print('begun', flush=True)\n"
        "try:\n"
        "    with always_by('numpy'):\n"
        f"        {UNITS[name]}\n"
        "except KeyboardInterrupt:\n"
        "    print('raised')\n"
    )
    source = str(Path(microagg.__file__).parents[1])
    process = subprocess.Popen(
        [sys.executable, "-c", code],
        stdout=subprocess.PIPE,
        stderr=subprocess.PIPE,
        text=True,
        env={**os.environ, "PYTHONPATH": source},
    )
    try:
        assert process.stdout is not None
        assert process.stdout.readline() == "begun\n"
        time.sleep(1.0)
        process.send_signal(signal.SIGINT)
        begun = time.monotonic()
        told, wrong = process.communicate(timeout=LONG)
    finally:
        process.kill()
    assert told.split() == ["raised"], wrong
    assert process.returncode == 0, wrong
    assert time.monotonic() - begun < LONG / 2
