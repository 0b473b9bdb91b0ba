"""Run the parts of experiments on all cores; what is finished is kept."""

from __future__ import annotations

import os
import signal
import threading
import time
from collections.abc import Iterable, Iterator, Sequence
from dataclasses import dataclass
from pathlib import Path

from microagg._progress import report
from microagg._threads import THREADS, cores
from microagg.errors import MicroaggError, ParameterError
from microagg.studies.reproduction.comparison import Row
from microagg.studies.reproduction.experiment import Experiment, Grid, Panel, Part, Point
from microagg.studies.reproduction.kept import KeptParts
from microagg.tables.reference import datasets

__all__ = ["Result", "run"]

_WATCH = "microagg-watch"


@dataclass(frozen=True)
class Result:
    """What came out of an experiment."""

    experiment: Experiment
    points: tuple[Point, ...]
    rows: tuple[Row, ...]
    panels: tuple[Panel, ...]


def run(
    experiments: Sequence[Experiment], *, grid: Grid, seed: int, parts_folder: Path, workers: int | None = None
) -> list[Result]:
    """Run experiments, or go on with a run that was stopped.

    Parameters
    ----------
    experiments : sequence of Experiment
    grid : Grid
    seed : int
        Runs are seeded with this and the numbers after it: the same seed gives identical tables.
    parts_folder : Path
        Where finished parts are kept; those of this code found there are not run again.
    workers : int, optional
        How many processes; default one per core.

    Raises
    ------
    TableError
        If a reference table is not here and cannot be fetched; the message has the line that fetches it.
    """
    if workers is not None and workers < 1:
        raise ParameterError(f"workers must be at least 1. Got {workers} instead")
    for name in sorted({name for experiment in experiments for name in experiment.needs}):
        datasets.path_of(name)
    plans = {experiment.name: list(experiment.plan(grid, seed)) for experiment in experiments}
    store = KeptParts(parts_folder)
    found: dict[Part, list[Point]] = {}
    for part in dict.fromkeys(part for plan in plans.values() for part in plan):
        kept = store.read(part)
        if kept is not None:
            found[part] = kept
    left = [part for part in dict.fromkeys(p for plan in plans.values() for p in plan) if part not in found]
    n_parts = len(left) + len(found)
    for part, points in _finish(left, store, min(workers or cores(), len(left))):
        found[part] = points
        report(f"reproducing: {len(found)} of {n_parts} parts", len(found) / n_parts)
    return [_result(experiment, [found[part] for part in plans[experiment.name]]) for experiment in experiments]


def _result(experiment: Experiment, found: Iterable[list[Point]]) -> Result:
    points = [point for of_part in found for point in of_part]
    return Result(experiment, tuple(points), tuple(experiment.compare(points)), tuple(experiment.draw(points)))


def _finish(parts: Sequence[Part], store: KeptParts, workers: int) -> Iterator[tuple[Part, list[Point]]]:
    if workers < 2:
        for part in parts:
            yield part, store.keep(part, part.run())
        return
    from joblib import Parallel, delayed, parallel_config

    # One thread each: together the processes keep all cores busy.
    try:
        with parallel_config(backend="loky", inner_max_num_threads=1):
            pool = Parallel(n_jobs=workers, return_as="generator_unordered", batch_size=1, max_nbytes=None)
            for place, points in pool(
                delayed(_run_alone)(place, part, store, os.getpid()) for place, part in enumerate(parts)
            ):
                yield parts[place], points
    except RuntimeError as error:
        if type(error).__name__ != "TerminatedWorkerError":
            raise
        raise MicroaggError(
            "a process was ended from outside (too little memory?). Finished parts are kept: start again to go on, "
            "perhaps with fewer workers"
        ) from None


def _run_alone(place: int, part: Part, store: KeptParts, starter: int) -> tuple[int, list[Point]]:
    """Run a part in a process that does nothing else, and ends with the one that started it."""
    if os.getpid() != starter:
        os.environ[THREADS] = "1"
        signal.signal(signal.SIGINT, signal.SIG_IGN)  # the process that started this one hears it, and ends this one
        if _WATCH not in {thread.name for thread in threading.enumerate()}:
            threading.Thread(target=_end_with, args=(os.getppid(),), name=_WATCH, daemon=True).start()
    return place, store.keep(part, part.run())


def _end_with(parent: int) -> None:
    while os.getppid() == parent:
        time.sleep(0.5)
    os._exit(1)
