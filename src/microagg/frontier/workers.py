"""The releases of a sweep, made and measured one by one or on all cores; each is kept as soon as it is finished."""

from __future__ import annotations

import os
import signal
import statistics
import threading
import time
from collections.abc import Iterable, Iterator, Mapping, Sequence
from contextlib import contextmanager
from dataclasses import dataclass
from typing import TYPE_CHECKING, Any

from microagg._progress import report
from microagg._threads import THREADS
from microagg.errors import MicroaggError, place_of
from microagg.evaluation.evaluate import evaluate
from microagg.frontier.point import release_and_measure
from microagg.frontier.store import SweepFolder, SweepOutcome
from microagg.recipe.recipe import Recipe
from microagg.releases.release import Release

if TYPE_CHECKING:
    import pyarrow as pa

__all__ = ["Task", "run_tasks"]

_WATCH = "microagg-watch"

READ_AS_RECORDS = ("eigenvalue_difference", "distance_to_closest")
"""Measures by which releases whose rows are not records can still be compared with others: of the table as it looks to
someone who takes its rows for records. The notes of a sweep say so; :func:`microagg.evaluate` gives no value."""
AS_READ = "rows of this release are not records: measured as if they were"


@dataclass(frozen=True)
class Task:
    """One release to make and measure, with all that a process of its own needs to know.

    Attributes
    ----------
    key : str
    point : str
    repeat, seed : int
    recipe : Recipe
        With rows kept in order: both tables are at hand, and nothing of the release is written.
    measures : tuple of str
    lambda_ : float
        The weight of D_Y in D: one for all points, or they could not be compared.
    """

    key: str
    point: str
    repeat: int
    seed: int
    recipe: Recipe
    measures: tuple[str, ...]
    lambda_: float


def run_tasks(
    table: pa.Table, tasks: Sequence[Task], store: SweepFolder | None, workers: int
) -> Iterator[SweepOutcome]:
    """Make and measure releases: outcomes as they come, with progress; each is stored before it is handed over."""
    left = {task.key: task.recipe.method for task in tasks}
    took: dict[str, list[float]] = {}
    done = (
        _one_by_one(table, tasks, store) if min(workers, len(tasks)) < 2 else _on_workers(table, tasks, store, workers)
    )
    try:
        for outcome in done:
            took.setdefault(left.pop(outcome.key), []).append(outcome.seconds)
            seconds = _seconds_left(left.values(), took) / min(workers, len(tasks))
            share = 1 - len(left) / len(tasks)
            report(
                f"sweeping: {len(tasks) - len(left)} of {len(tasks)} releases, about {_duration(seconds)} left", share
            )
            yield outcome
    except RuntimeError as error:
        if "un-serialize" in str(error):
            raise MicroaggError(
                "a process of the sweep cannot import what the recipe uses: the file of an extension must lie where "
                "Python finds it when the process starts. Put it there, or sweep with workers=1"
            ) from None
        if type(error).__name__ != "TerminatedWorkerError":
            raise
        raise MicroaggError(
            f"a process of the sweep was ended from outside (too little memory?). Finished releases are kept: start "
            f"again to go on, perhaps with fewer workers. {len(left)} were not finished"
        ) from None


def _one_by_one(table: pa.Table, tasks: Sequence[Task], store: SweepFolder | None) -> Iterator[SweepOutcome]:
    for task in tasks:
        with _noticing_interrupts() as interrupts:
            outcome = _run(table, task)
        if interrupts:
            raise KeyboardInterrupt
        yield _store(outcome, store)


def _on_workers(
    table: pa.Table, tasks: Sequence[Task], store: SweepFolder | None, workers: int
) -> Iterator[SweepOutcome]:
    from joblib import Parallel, delayed, parallel_config

    # One thread each: together the processes keep all cores busy, and more threads would only get in each other's way.
    with parallel_config(backend="loky", inner_max_num_threads=1):
        pool = Parallel(n_jobs=min(workers, len(tasks)), return_as="generator_unordered", batch_size=1, max_nbytes=None)
        yield from pool(delayed(_run_alone)(table, task, store, os.getpid()) for task in tasks)


def _run_alone(table: pa.Table, task: Task, store: SweepFolder | None, starter: int) -> SweepOutcome:
    """Run a task in a process that does nothing else; inside another pool, in this one."""
    if os.getpid() == starter:
        return _store(_run(table, task), store)
    os.environ[THREADS] = "1"
    signal.signal(signal.SIGINT, signal.SIG_IGN)  # the process that started this one hears it, and ends this one
    if _WATCH not in {thread.name for thread in threading.enumerate()}:
        threading.Thread(target=_end_with, args=(os.getppid(),), name=_WATCH, daemon=True).start()
    return _store(_run(table, task), store)


def _end_with(parent: int) -> None:
    """End this process when the one that started it was killed: nobody would hear of its results."""
    while os.getppid() == parent:
        time.sleep(0.5)
    os._exit(1)


@contextmanager
def _noticing_interrupts() -> Iterator[list[int]]:
    """A search that is interrupted gives its best so far; a sweep must not take that for a finished point."""
    interrupts: list[int] = []
    heard = threading.current_thread() is threading.main_thread()
    if not heard or signal.getsignal(signal.SIGINT) is signal.SIG_IGN:
        yield interrupts
        return

    def notice(number: int, _: Any) -> None:
        interrupts.append(number)
        raise KeyboardInterrupt

    usual = signal.signal(signal.SIGINT, notice)
    try:
        yield interrupts
    finally:
        signal.signal(signal.SIGINT, usual)


def _store(outcome: SweepOutcome, store: SweepFolder | None) -> SweepOutcome:
    if store is not None:
        store.keep(outcome)
    return outcome


def _run(table: pa.Table, task: Task) -> SweepOutcome:
    """Make a release and measure it; a failure is recorded, not raised, so that the other points go on."""
    started = time.perf_counter()
    try:
        return _measure_point(table, task, started)
    except MicroaggError as error:
        failure = str(error)
    except Exception as error:
        failure = place_of(error)
    return SweepOutcome(task.key, task.point, task.repeat, time.perf_counter() - started, failure=failure)


def _measure_point(table: pa.Table, task: Task, started: float) -> SweepOutcome:
    made, evaluation = release_and_measure(
        table, task.recipe, measures=task.measures, lambda_=task.lambda_, seed=task.seed
    )
    found = list(evaluation)
    notes = {measure.name: measure.note for measure in found if measure.note}
    read = [name for name in READ_AS_RECORDS if name in task.measures] if task.recipe.rows != "records" else []
    if read:
        # Measured on the table alone: the release itself says that its rows are not records.
        seen = evaluate(table, made.table, task.recipe, measures=read, rows="records", aligned=False)
        as_read = {one.name: one for one in seen}
        found = [as_read.get(measure.name, measure) for measure in found]
        notes |= dict.fromkeys(read, AS_READ)
    return SweepOutcome(
        task.key,
        task.point,
        task.repeat,
        time.perf_counter() - started,
        _describe_guarantee(made),
        {measure.name: measure.value for measure in found},
        {measure.name: measure.baseline for measure in found if measure.baseline is not None},
        notes,
    )


def _describe_guarantee(made: Release) -> str:
    """What the release promises, in a phrase; empty if nothing."""
    promised = made.statement.guarantees
    if not promised:
        return ""
    first = promised[0]
    if first.private:
        return f"{first.title}, protecting {first.target}"
    of_values = [f"{one.title} of {one.confidential!r}" for one in promised if one.of_confidential_values]
    n_blocks = len(promised) - len(of_values)
    several = f" on each of {n_blocks} blocks of attributes alone, not on their combination"
    return ", ".join([first.title + (several if n_blocks > 1 else ""), *of_values])


def _seconds_left(methods: Iterable[str], took: Mapping[str, Sequence[float]]) -> float:
    """What the releases left will take on one core, each as long as those of its method did on average."""
    overall = statistics.fmean(second for seconds in took.values() for second in seconds)
    return float(sum(statistics.fmean(took[method]) if method in took else overall for method in methods))


def _duration(seconds: float) -> str:
    return f"{seconds:.0f} s" if seconds < 90 else f"{seconds / 60:.0f} min"
