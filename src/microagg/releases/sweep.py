"""Many recipes, one table: a release of each is made and measured, on all cores, and nothing finished is lost."""

from __future__ import annotations

import os
import signal
import statistics
import threading
import time
from collections.abc import Iterator, Sequence
from contextlib import contextmanager
from dataclasses import dataclass
from pathlib import Path
from typing import TYPE_CHECKING, Any

import numpy as np

from microagg._progress import report
from microagg._threads import THREADS, cores
from microagg._validation import Integer, check_parameters
from microagg.errors import MicroaggError, ParameterError
from microagg.evaluation.definition import choose
from microagg.evaluation.evaluate import DEFINITIONS, evaluate
from microagg.evaluation.frontier import Axes, Frontier, FrontierPoint, axes_for, check_axes
from microagg.releases.catalogue import method_named
from microagg.releases.manifest import InputDigest
from microagg.releases.pipeline import release
from microagg.releases.private import form_of
from microagg.releases.recipe import Recipe, RowOrder
from microagg.releases.release import Release
from microagg.releases.sweep_grid import Grid, GridPoint, grid_of
from microagg.releases.sweep_store import Outcome, SweepFolder, key_of
from microagg.tables.frames import Frame

if TYPE_CHECKING:
    import pyarrow as pa

__all__ = ["Task", "sweep"]

CHOSEN_BY_LOOKING = (
    "a choice made by these numbers has looked at the records, which the promise of a differentially private release "
    "does not cover: fix epsilon and method beforehand, or sweep a table of the same kind that needs no protection"
)
NO_PROMISE = (
    "rows of some releases are no records, so linkage cannot be had of them: distance_to_closest tells how near published "
    "rows come to real ones, not what is promised. Compare what each promises before its numbers"
)
GUIDED_LOOKS_FREE = (
    "guided cells cost diversity, which this risk does not see: compare by label_purity or l_avg (--risk) too"
)


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


def sweep(
    table: Any,
    recipe: Recipe,
    *,
    folder: str | Path | None = None,
    utility: str | None = None,
    risk: str | None = None,
    workers: int | None = None,
    seed: int = 0,
    retry_failed: bool = False,
    source: str | Path | None = None,
) -> Frontier:
    """Make and measure a release for every point of the recipe's ``[sweep]``: risk against utility.

    Parameters
    ----------
    table : pandas.DataFrame, polars.DataFrame or pyarrow.Table
    recipe : Recipe
        Its ``[sweep]`` names the values to combine; without it, they are derived from the recipe.
    folder : path, optional
        Where finished points are kept, and table, picture, words and recipes are written. A second start with the
        same table and recipe takes up where the first was stopped. Internal: none of it is for publication.
    utility, risk : str, optional
        The measures to compare by; see :func:`microagg.evaluation.frontier.axes_for` for the default.
    workers : int, optional
        How many processes; default: one per core. With 1 all happens in this process.
    seed : int, default 0
        Repeats are seeded with this and the numbers after it.
    retry_failed : bool, default False
        Try points again that failed at an earlier start.
    source : path, optional
        The file the table came from, for the commands that are told.

    Returns
    -------
    Frontier
        With ``frame()``, ``best()``, ``plot(path)``; ``str()`` tells which points to consider.

    Examples
    --------
    >>> import numpy as np, pyarrow as pa, microagg
    >>> x = np.random.default_rng(0).normal(size=(2, 60))
    >>> people = pa.table({"age": x[0], "pay": x[1]})
    >>> recipe = microagg.Recipe(k=3, sweep={"methods": ["mdav", "pcp"], "k": [2, 5]}, attributes={
    ...     name: {"role": "quasi_identifier", "kind": "numeric"} for name in people.column_names})
    >>> frontier = microagg.sweep(people, recipe, workers=1)
    >>> len(frontier.points), frontier.axes.risk
    (4, 'distance_linkage')
    """
    if not isinstance(recipe, Recipe):
        raise ParameterError("recipe must be a microagg.Recipe: Recipe(k=..., attributes={...}) or Recipe.load(path)")
    workers = cores() if workers is None else workers
    check_parameters("sweep", {"workers": Integer(1), "seed": Integer(0)}, {"workers": workers, "seed": seed})
    check_axes(utility, risk)
    wanted = (recipe.sweep.measures if recipe.sweep else None) or ("default",)
    chosen = choose(DEFINITIONS, [*wanted, *(name for name in (utility, risk) if name is not None)])
    measures = tuple(one.name for one in chosen)
    store = None if folder is None else SweepFolder(Path(folder))

    frame = Frame.wrap(table)
    recipe.schema.check_columns(frame.names)
    grid = grid_of(recipe, frame.n_records)
    tasks = _tasks(grid, recipe, InputDigest.of(frame.table).sha256, measures, seed)
    outcomes: dict[str, Outcome] = {}
    if store is not None:
        store.open()
        found = (store.finished(task.point, task.repeat, task.key) for task in tasks)
        outcomes = {one.key: one for one in found if one is not None and not (one.failure and retry_failed)}
    failed_before = sum(bool(one.failure) for one in outcomes.values())
    for outcome in _measured(frame.table, [task for task in tasks if task.key not in outcomes], store, workers):
        outcomes[outcome.key] = outcome

    points = tuple(
        _summed_up(point, [outcomes[task.key] for task in tasks if task.point == point.name]) for point in grid.points
    )
    derived = axes_for(points, grid.guided)
    axes = Axes(utility or derived.utility, risk or derived.risk)
    again = [f"{failed_before} releases failed at an earlier start and were not tried again (--retry-failed)"]
    frontier = Frontier(points, axes, measures, (*_remarks(grid, axes), *(again if failed_before else [])))
    if store is not None:
        store.write(frontier, "data.csv" if source is None else str(source))
    return frontier


def _tasks(grid: Grid, recipe: Recipe, input_sha256: str, measures: tuple[str, ...], seed: int) -> list[Task]:
    """Every repeat of every point; methods take turns, so that the time left can soon be told."""
    lambda_ = 0.5 if recipe.space.dependence is None else recipe.space.dependence.lambda_
    turns: dict[str, int] = {}
    ordered = []
    for point in grid.points:
        kept = point.recipe.changed({"output.order": RowOrder.KEPT})
        for repeat in range(point.repeats):
            key = key_of(input_sha256, kept, seed + repeat, measures, lambda_)
            method = point.recipe.method
            turns[method] = turns.get(method, 0) + 1
            ordered.append((turns[method], Task(key, point.name, repeat, seed + repeat, kept, measures, lambda_)))
    return [task for _, task in sorted(ordered, key=lambda pair: pair[0])]


def _measured(table: pa.Table, tasks: Sequence[Task], store: SweepFolder | None, workers: int) -> Iterator[Outcome]:
    """Outcomes as they come, with progress; each is kept before it is told."""
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
            report(f"sweeping: {len(tasks) - len(left)} of {len(tasks)} releases, about {_told(seconds)} left", share)
            yield outcome
    except RuntimeError as error:
        if type(error).__name__ != "TerminatedWorkerError":
            raise
        raise MicroaggError(
            f"a process of the sweep was ended from outside (too little memory?). Finished releases are kept: start "
            f"again to go on, perhaps with fewer workers. {len(left)} were not finished"
        ) from None


def _one_by_one(table: pa.Table, tasks: Sequence[Task], store: SweepFolder | None) -> Iterator[Outcome]:
    for task in tasks:
        with _noticing_interrupts() as interrupts:
            outcome = _run(table, task)
        if interrupts:
            raise KeyboardInterrupt
        yield _kept(outcome, store)


def _on_workers(table: pa.Table, tasks: Sequence[Task], store: SweepFolder | None, workers: int) -> Iterator[Outcome]:
    from joblib import Parallel, delayed, parallel_config

    # One thread each: together the processes keep all cores busy, and more threads would only get in each other's way.
    with parallel_config(backend="loky", inner_max_num_threads=1):
        pool = Parallel(n_jobs=min(workers, len(tasks)), return_as="generator_unordered", batch_size=1)
        yield from pool(delayed(_run_alone)(table, task, store) for task in tasks)


def _run_alone(table: pa.Table, task: Task, store: SweepFolder | None) -> Outcome:
    os.environ[THREADS] = "1"
    signal.signal(signal.SIGINT, signal.SIG_IGN)  # the process that started this one hears it, and ends this one
    return _kept(_run(table, task), store)


@contextmanager
def _noticing_interrupts() -> Iterator[list[int]]:
    """A search that is interrupted gives its best so far; a sweep must not take that for a finished point."""
    interrupts: list[int] = []
    if threading.current_thread() is not threading.main_thread():
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


def _kept(outcome: Outcome, store: SweepFolder | None) -> Outcome:
    if store is not None:
        store.keep(outcome)
    return outcome


def _run(table: pa.Table, task: Task) -> Outcome:
    """Make a release and measure it; what fails is told, not raised, so that the other points go on."""
    started = time.perf_counter()
    try:
        return _release_and_measure(table, task, started)
    except MicroaggError as error:
        failure = str(error)
    except Exception as error:
        failure = _withheld(error)
    return Outcome(task.key, task.point, task.repeat, time.perf_counter() - started, failure=failure)


def _release_and_measure(table: pa.Table, task: Task, started: float) -> Outcome:
    made = release(table, task.recipe, seed=task.seed)
    before, after, how = _aligned(table, made)
    found = evaluate(before, after, task.recipe, measures=task.measures, lambda_=task.lambda_, **how)
    return Outcome(
        task.key,
        task.point,
        task.repeat,
        time.perf_counter() - started,
        _promised(made),
        {measure.name: measure.value for measure in found},
        {measure.name: measure.baseline for measure in found if measure.baseline is not None},
        {measure.name: measure.note for measure in found if measure.note},
    )


def _promised(made: Release) -> str:
    """What the release promises, in a phrase; empty if nothing."""
    promised = made.statement.guarantees
    if not promised:
        return ""
    first = promised[0]
    if first.private:
        return f"{first.title}, protecting {first.target}"
    several = f" on each of {len(promised)} blocks of attributes alone, not on their combination"
    return first.title + (several if len(promised) > 1 else "")


def _aligned(table: pa.Table, made: Release) -> tuple[pa.Table, pa.Table, dict[str, Any]]:
    """Both tables, and how their rows belong together: the sweep has both sides and kept the order."""
    import pyarrow as pa

    released, recipe = made.frame.table, made.recipe
    method = method_named(recipe.method)
    if method.is_private and form_of(recipe) not in method.private.linked_forms:
        return table, released, {"aligned": False}
    if released.num_rows == table.num_rows:
        return table, released, {"aligned": True}
    if not made.blocks:
        return table, released, {"aligned": False}
    kept = np.flatnonzero(made.blocks[0].labels >= 0)  # records were left out
    key = "record"
    while key in table.column_names:
        key += "_"
    before = table.append_column(key, pa.array(np.arange(table.num_rows)))
    return before, released.append_column(key, pa.array(kept)), {"key": key}


def _withheld(error: Exception) -> str:
    """Where an unforeseen error happened; its message might hold values of records."""
    trace = error.__traceback__
    while trace is not None and trace.tb_next is not None:
        trace = trace.tb_next
    where = f"{Path(trace.tb_frame.f_code.co_filename).name}:{trace.tb_lineno}" if trace else "?"
    return f"unforeseen {type(error).__name__} at {where}"


def _summed_up(point: GridPoint, outcomes: Sequence[Outcome]) -> FrontierPoint:
    """Means and spreads over the repeats of a point."""
    fine = sorted((one for one in outcomes if not one.failure), key=lambda one: one.repeat)
    failures = tuple(one.failure for one in outcomes if one.failure)
    values: dict[str, float | None] = {}
    spreads: dict[str, float | None] = {}
    baselines: dict[str, float | None] = {}
    for name in dict.fromkeys(name for one in fine for name in one.values):
        had = [one.values[name] for one in fine]
        known = [value for value in had if value is not None]
        values[name] = statistics.fmean(known) if known and len(known) == len(had) else None
        spreads[name] = statistics.stdev(known) if len(known) == len(had) > 1 else None
        chance = [value for one in fine if (value := one.baselines.get(name)) is not None]
        baselines[name] = statistics.fmean(chance) if chance else None
    guarantee = fine[0].guarantee if fine else ""
    return FrontierPoint(
        point.name, point.settings, guarantee, point.recipe.dumps(), len(fine), values, spreads, baselines, failures
    )


def _remarks(grid: Grid, axes: Axes) -> list[str]:
    remarks = [f"left out: {said}" if "made without" not in said else said for said in grid.left_out]
    if any(method_named(point.recipe.method).is_private for point in grid.points):
        remarks.append(CHOSEN_BY_LOOKING)
    about_cells = {one.name for one in DEFINITIONS if one.group in ("diversity", "closeness", "attribute")}
    if axes.risk == "distance_to_closest":
        remarks.append(NO_PROMISE)
    if grid.guided and axes.risk not in about_cells:
        remarks.append(GUIDED_LOOKS_FREE)
    return remarks


def _seconds_left(methods: Any, took: dict[str, list[float]]) -> float:
    """What the releases left will take on one core, each as long as those of its method did on average."""
    overall = statistics.fmean(second for seconds in took.values() for second in seconds)
    return float(sum(statistics.fmean(took[method]) if method in took else overall for method in methods))


def _told(seconds: float) -> str:
    return f"{seconds:.0f} s" if seconds < 90 else f"{seconds / 60:.0f} min"
