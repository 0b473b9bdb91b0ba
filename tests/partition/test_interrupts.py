"""Interrupts and limits are heard while compiled code runs, from Python."""

from __future__ import annotations

import os
import signal
import subprocess
import sys
import threading
import time

import numpy as np
import pytest

from microagg import MDAV, VMDAV, NearOptimal, Projection, refine
from microagg._halt import StopCondition, attend, current_halt, unless_halted
from microagg._kernels.random import seed_rng
from microagg.partition._kernels.local_search.neighbours import NOBODY, improve_nearest, nearest_of_all
from microagg.partition._kernels.local_search.split import split_records
from microagg.partition._kernels.projection import shortest_path_starts
from microagg.partition._kernels.stars import TOO_MANY, price_cells
from microagg.partition.local_search.certificate import certify
from microagg.partition.local_search.recombine import recombined
from microagg.space.points import Points

LONG = 60.0  # seconds within which what was told to end has ended, on any machine


def normal(n_records: int, n_attributes: int = 3) -> np.ndarray:
    return np.random.default_rng(0).normal(size=(n_records, n_attributes))


def interrupt_soon(after: threading.Event | None = None) -> None:
    """Ctrl-C from another thread, as soon as an event comes."""

    def press() -> None:
        if after is not None:
            after.wait(LONG)
        os.kill(os.getpid(), signal.SIGINT)

    threading.Thread(target=press, daemon=True).start()


# --- attended work ---------------------------------------------------------------------------------------------------


def test_attended_work_has_its_result_its_error_and_its_context():
    assert attend(lambda: 3) == 3
    with pytest.raises(ZeroDivisionError):
        attend(lambda: 1 / 0)
    halt = StopCondition(100.0)
    assert attend(lambda: current_halt() is halt, halt)
    assert attend(lambda: attend(lambda: current_halt() is halt), halt)
    assert current_halt().reason == "budget"


def test_an_interrupt_ends_work_that_looks_at_its_flag_and_work_that_does_not():
    started, stopped = threading.Event(), threading.Event()

    def looks() -> None:
        halt = current_halt()
        started.set()
        while not halt.flag[0]:
            time.sleep(0.01)
        stopped.set()

    interrupt_soon(started)
    with pytest.raises(KeyboardInterrupt):
        attend(looks)
    assert stopped.wait(LONG)

    ignoring, free = threading.Event(), threading.Event()

    def ignores() -> None:
        ignoring.set()
        free.wait(LONG)

    interrupt_soon(ignoring)
    begun = time.monotonic()
    with pytest.raises(KeyboardInterrupt):
        attend(ignores)
    assert time.monotonic() - begun < LONG / 2
    free.set()


def test_work_that_keeps_its_best_returns_it_and_an_interrupt_reaches_what_comes_after():
    started = threading.Event()
    halt = StopCondition()

    def searches() -> str:
        later = current_halt().then(None)
        started.set()
        while not later.now():
            time.sleep(0.01)
        return "best so far"

    interrupt_soon(started)
    halt.patience = LONG
    assert attend(searches, halt, keeps=True) == "best so far"
    assert halt.reason == "interrupt"
    assert halt.then(None).now()


def test_a_time_limit_sets_the_flag_of_attended_work():
    halt = StopCondition(0.05)

    def looks() -> int:
        while not halt.flag[0]:
            time.sleep(0.01)
        return int(halt.flag[0])

    assert attend(looks, halt) == 1
    assert halt.reason == "time limit"


def test_work_that_looks_at_nothing_is_left_when_its_time_is_over():
    free = threading.Event()
    assert unless_halted(lambda: free.wait(LONG), StopCondition(0.05)) is None
    free.set()
    assert unless_halted(lambda: 5, StopCondition()) == 5


# --- kernels ---------------------------------------------------------------------------------------------------------


@pytest.mark.kernel
def test_kernels_that_are_told_to_stop_do_nothing_more():
    X, stop = normal(60), np.ones(1, dtype=np.int64)
    columns, order = np.ascontiguousarray(X.T), np.arange(60)
    assert split_records(columns, order, 5, seed_rng([1, 1, 1, 1]), 0.0, stop, None).tolist() == [0, 60]
    nearest = np.full((60, 4), NOBODY, dtype=np.int32)
    nearest_of_all(columns, nearest, stop, None)
    improve_nearest(columns, order, np.array([0, 60]), nearest, np.full((60, 4), np.inf), stop, None)
    assert (nearest == NOBODY).all()
    assert (shortest_path_starts(X, 3, stop) == 0).all()
    cells, _, state = price_cells(columns, np.full(60, 10.0), 3, 0, 9, 9, True, 4, 1e-12, 10**6, stop)
    assert len(cells) == 0
    assert state == TOO_MANY


def test_a_halted_solver_and_a_halted_certificate_promise_nothing():
    X, over = normal(60), StopCondition(1e-9)
    assert over.now()
    labels = MDAV(k=3).fit(X).labels_
    assert recombined(Points(X), [labels, labels], (), over) == (None, False)
    bound = certify(Points(X), [labels], 3, over)
    assert bound.lower_bound is None
    assert not bound.finished


# --- estimators, interrupted in a process of their own ---------------------------------------------------------------

TABLES = "import numpy as np; rng = np.random.default_rng(0)\n"
UNITS = {
    "mdav": "from microagg import MDAV; X = rng.normal(size=(150_000, 25)); work = MDAV(2, algorithm='plain')",
    "vmdav": "from microagg import VMDAV; X = rng.normal(size=(60_000, 20)); work = VMDAV(6_000, gamma=1e9)",
    "projection": "from microagg import Projection; X = rng.normal(size=(400_000, 8)); work = Projection(20_000)",
    "search": "from microagg import NearOptimal; X = rng.normal(size=(9_000, 4)); work = NearOptimal(5, effort='best')",
    "near records": (
        "from microagg import NearOptimal; X = rng.normal(size=(400_000, 3)); work = NearOptimal(3, start='split')"
    ),
    "large k": (
        "from microagg import NearOptimal; X = rng.normal(size=(9_000, 9)); work = NearOptimal(1_000, effort='best')"
    ),
}


@pytest.mark.skipif(os.name == "nt", reason="an interrupt of another process is a different thing there")
@pytest.mark.parametrize("name", UNITS)
def test_an_interrupt_is_heard_while_a_kernel_runs(name):
    """The table is too large to be done before the interrupt, which comes as soon as work has begun."""
    code = (
        f"{TABLES}{UNITS[name]}\n"
        "print('begun', flush=True)\n"
        "try:\n"
        "    work.fit(X)\n"
        "    print(work.stopped_by_, np.bincount(work.labels_).min() >= work.k)\n"
        "except KeyboardInterrupt:\n"
        "    print('raised')\n"
    )
    process = subprocess.Popen([sys.executable, "-c", code], stdout=subprocess.PIPE, stderr=subprocess.PIPE, text=True)
    try:
        assert process.stdout is not None
        assert process.stdout.readline() == "begun\n"
        time.sleep(1.5)
        process.send_signal(signal.SIGINT)
        told, wrong = process.communicate(timeout=LONG)
    finally:
        process.kill()
    assert told.split() in (["raised"], ["interrupt", "True"]), wrong
    assert process.returncode == 0, wrong
    if name in ("mdav", "vmdav", "projection"):
        assert told.split() == ["raised"]


def test_a_search_is_not_disturbed_by_being_attended():
    X = normal(300)
    once = NearOptimal(k=4, effort="fast", random_state=3).fit(X)
    within = attend(lambda: NearOptimal(k=4, effort="fast", random_state=3).fit(X))
    np.testing.assert_array_equal(once.labels_, within.labels_)
    np.testing.assert_array_equal(
        once.labels_, refine(MDAV(k=4).fit(X).labels_, X, 4, effort="fast", random_state=3, time_limit=1e6)
    )
    for work in (VMDAV(4), Projection(4), MDAV(4)):
        np.testing.assert_array_equal(work.fit(X).labels_, attend(lambda work=work: work.fit(X)).labels_)
