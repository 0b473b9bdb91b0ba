"""Risk against utility of many recipes, point by point as they are measured."""

from __future__ import annotations

import json
from collections.abc import Collection, Sequence
from contextlib import suppress
from pathlib import Path
from typing import Any

from microagg._progress import also_shown_by
from microagg.evaluation.measures import measure_named
from microagg.frontier.frontier import Axes, Frontier, FrontierPoint, axes_for
from microagg.frontier.grid import SweepGrid, grid_of
from microagg.frontier.store import SweepOutcome
from microagg.frontier.sweep import planned_keys, sweep
from microagg.frontier.text import in_the_middle
from microagg.recipe.recipe import Recipe
from microagg.reports.source import random_rows
from microagg.studio.work.table import Tell, table_for
from microagg.tables.frames import Frame

__all__ = ["measure_frontier"]


def measure_frontier(
    path: str,
    recipe: str,
    folder: str,
    into: str,
    sample: int | None,
    utility: str | None,
    risk: str | None,
    workers: int | None,
    tell: Tell,
) -> dict[str, Any]:
    """Make and measure the releases of ``[sweep]``, on a random sample of the records if there are more.

    Finished points are kept in the folder `into`: a second start goes on from them.
    """
    chosen = Recipe.loads(recipe, folder=folder)
    table = table_for(Path(path), chosen)
    n_all = table.num_rows
    if sample is not None and sample < n_all:
        table = Frame.wrap(table).take(random_rows(n_all, sample)).table
    grid = grid_of(chosen, table.num_rows)
    about = {"records": n_all, "measured": table.num_rows, "planned": len(grid.points)}
    points = Path(into) / "points"
    keys = planned_keys(table, chosen, utility=utility, risk=risk)
    seen: set[str] = set()

    def show(task: str, share: float) -> None:
        there = {file.name for file in points.glob("*.json")}
        if there != seen:
            seen.update(there)
            found = _so_far(grid, points, keys, utility, risk)
            if found is not None:
                tell({**about, **_facts(found, finished=False)})

    with also_shown_by(show):
        found = sweep(table, chosen, folder=into, utility=utility, risk=risk, workers=workers, retry_failed=True)
    return {**about, **_facts(found, finished=True)}


def _so_far(
    grid: SweepGrid, points: Path, keys: Collection[str], utility: str | None, risk: str | None
) -> Frontier | None:
    """The points that are measured already, each by its first release; not those of another table or recipe."""
    outcomes: dict[str, SweepOutcome] = {}
    for file in sorted(points.glob("*.json")):
        with suppress(FileNotFoundError, json.JSONDecodeError, TypeError):
            one = SweepOutcome(**json.loads(file.read_text(encoding="utf-8")))
            if one.key in keys:
                outcomes.setdefault(one.point, one)
    found = []
    for point in grid.points:
        if point.name in outcomes:
            one = outcomes[point.name]
            failures = (one.failure,) if one.failure else ()
            found.append(
                FrontierPoint(
                    point.name, point.settings, one.guarantee, repeats=1, values=one.values, failures=failures
                )
            )
    if not found:
        return None
    derived = axes_for(found, grid.guided, grid.protected)
    return Frontier(tuple(found), Axes(utility or derived.utility, risk or derived.risk), ())


def _facts(found: Frontier, *, finished: bool) -> dict[str, Any]:
    axes = found.axes
    best = found.best()
    names = [point.name for point in best]
    middle = in_the_middle(best, axes.utility, axes.risk)
    words = {names[0]: "least lost", names[-1]: "least risk"} if len(names) > 1 else {}
    if middle is not None:
        words.setdefault(middle.name, "middle way")
    return {
        "finished": finished,
        "axes": {about: _measure(name) for about, name in (("utility", axes.utility), ("risk", axes.risk))},
        "measures": _measured(found.points),
        "points": [_point(point, point.name in names, words.get(point.name, "")) for point in found.points],
        "best": names,
        "remarks": list(found.remarks),
    }


def _measure(name: str) -> dict[str, Any]:
    one = measure_named(name)
    return {"name": name, "better": one.better, "about": one.about, "plain": one.explained.plain}


def _measured(points: Sequence[FrontierPoint]) -> dict[str, list[str]]:
    """Measures that every point without a failure has, by what they are about."""
    able = [point for point in points if not point.failures]
    names = able[0].values if able else ()
    shared = [name for name in names if all(one.values.get(name) is not None for one in able)]
    return {about: [one for one in shared if measure_named(one).about == about] for about in ("utility", "risk")}


def _point(point: FrontierPoint, is_best: bool, word: str) -> dict[str, Any]:
    return {
        "name": point.name,
        "settings": {key: value for key, value in point.settings.items() if value is not None},
        "guarantee": point.guarantee,
        "values": dict(point.values),
        "spreads": dict(point.spreads),
        "failures": list(dict.fromkeys(point.failures)),
        "best": is_best,
        "word": word,
    }
