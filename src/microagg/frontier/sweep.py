"""Many recipes, one table: a release of each is made and measured, on all cores, and nothing finished is lost."""

from __future__ import annotations

import statistics
from collections.abc import Sequence
from pathlib import Path
from typing import Any

from microagg._threads import cores
from microagg._validation import Integer, check_parameters
from microagg.errors import ParameterError
from microagg.evaluation.definition import choose
from microagg.evaluation.measures import all_measures
from microagg.frontier.frontier import Axes, Frontier, FrontierPoint, axes_for, check_axes
from microagg.frontier.grid import GridPoint, SweepGrid, grid_of
from microagg.frontier.point import keep_order
from microagg.frontier.store import SweepFolder, SweepOutcome, key_of
from microagg.frontier.workers import Task, run_tasks
from microagg.recipe.recipe import Recipe
from microagg.statements.manifest import InputDigest
from microagg.tables.frames import Frame

__all__ = ["planned_keys", "sweep"]

CHOSEN_BY_LOOKING = (
    "a choice made by these numbers has looked at the records, which the promise of a differentially private release "
    "does not cover: fix epsilon and method beforehand, or sweep a table of the same kind that needs no protection"
)
NO_PROMISE = (
    "rows of some releases are not records, so linkage has no value for them: distance_to_closest shows how near "
    "published rows come to real ones, not what is promised. Compare what each promises before its numbers"
)
GUIDED_LOOKS_FREE = (
    "guided cells cost diversity, which this risk does not see: compare by label_purity or l_avg (--risk) too"
)
PROTECTION_UNSEEN = (
    "this risk does not see what is required of confidential values: compare by t_closeness or label_purity (--risk) "
    "too"
)


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
        same table and recipe continues where the first was stopped. Internal: none of it is for publication.
    utility, risk : str, optional
        The measures to compare by; see :func:`microagg.frontier.frontier.axes_for` for the default.
    workers : int, optional
        How many processes; default: one per core. With 1 all happens in this process.
    seed : int, default 0
        Repeats are seeded with this and the numbers after it.
    retry_failed : bool, default False
        Try points again that failed at an earlier start.
    source : path, optional
        The file the table came from, for the commands that are suggested.

    Returns
    -------
    Frontier
        With ``frame()``, ``best()``, ``plot(path)``; ``str()`` says which points to consider.

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
    measures = _measures_of(recipe, utility, risk)
    store = None if folder is None else SweepFolder(Path(folder))

    frame = Frame.wrap(table)
    recipe.schema.check_columns(frame.names)
    grid = grid_of(recipe, frame.n_records)
    lambda_ = recipe.space.weight_of_d_y
    tasks = _tasks(grid, InputDigest.of(frame.table).sha256, measures, lambda_, seed)
    outcomes: dict[str, SweepOutcome] = {}
    if store is not None:
        store.open()
        found = (store.finished(task.point, task.repeat, task.key) for task in tasks)
        outcomes = {one.key: one for one in found if one is not None and not (one.failure and retry_failed)}
    failed_before = sum(bool(one.failure) for one in outcomes.values())
    for outcome in run_tasks(frame.table, [task for task in tasks if task.key not in outcomes], store, workers):
        outcomes[outcome.key] = outcome

    points = tuple(
        _summarise(point, [outcomes[task.key] for task in tasks if task.point == point.name]) for point in grid.points
    )
    derived = axes_for(points, grid.guided, grid.protected)
    axes = Axes(utility or derived.utility, risk or derived.risk)
    again = [f"{failed_before} releases failed at an earlier start and were not tried again (--retry-failed)"]
    remarks = (*_remarks(grid, axes), *(again if failed_before else []))
    frontier = Frontier(points, axes, measures, remarks, {"lambda_": lambda_})
    if store is not None:
        store.write(frontier, "data.csv" if source is None else str(source))
    return frontier


def planned_keys(
    table: Any, recipe: Recipe, *, utility: str | None = None, risk: str | None = None, seed: int = 0
) -> frozenset[str]:
    """The keys of all that :func:`sweep` measures; its folder may also hold those of other tables and recipes."""
    frame = Frame.wrap(table)
    digest = InputDigest.of(frame.table).sha256
    grid = grid_of(recipe, frame.n_records)
    tasks = _tasks(grid, digest, _measures_of(recipe, utility, risk), recipe.space.weight_of_d_y, seed)
    return frozenset(task.key for task in tasks)


def _measures_of(recipe: Recipe, utility: str | None, risk: str | None) -> tuple[str, ...]:
    wanted = (recipe.sweep.measures if recipe.sweep else None) or ("default",)
    chosen = choose(all_measures(), [*wanted, *(name for name in (utility, risk) if name is not None)])
    return tuple(one.name for one in chosen)


def _tasks(grid: SweepGrid, input_sha256: str, measures: tuple[str, ...], lambda_: float, seed: int) -> list[Task]:
    """Every repeat of every point; methods take turns, so that the time left can soon be estimated."""
    turns: dict[str, int] = {}
    ordered = []
    for point in grid.points:
        kept = keep_order(point.recipe)
        for repeat in range(point.repeats):
            key = key_of(input_sha256, kept, seed + repeat, measures, lambda_)
            method = point.recipe.method
            turns[method] = turns.get(method, 0) + 1
            ordered.append((turns[method], Task(key, point.name, repeat, seed + repeat, kept, measures, lambda_)))
    return [task for _, task in sorted(ordered, key=lambda pair: pair[0])]


def _summarise(point: GridPoint, outcomes: Sequence[SweepOutcome]) -> FrontierPoint:
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


def _remarks(grid: SweepGrid, axes: Axes) -> list[str]:
    remarks = [note if "made without" in note else f"left out: {note}" for note in grid.left_out]
    if any(point.recipe.entry.is_private for point in grid.points):
        remarks.append(CHOSEN_BY_LOOKING)
    about_cells = {one.name for one in all_measures() if one.group in ("diversity", "closeness", "attribute")}
    if axes.risk == "distance_to_closest":
        remarks.append(NO_PROMISE)
    if grid.guided and axes.risk not in about_cells:
        remarks.append(GUIDED_LOOKS_FREE)
    if grid.protected and axes.risk not in about_cells:
        remarks.append(PROTECTION_UNSEEN)
    return remarks
