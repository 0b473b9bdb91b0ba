"""From which k a method loses less than another: rows of Figures 7 to 13, and the whole of Figure 11."""

from __future__ import annotations

from collections.abc import Sequence

import numpy as np

from microagg.studies.cross_moment.crossing import WAYS, Crossing
from microagg.studies.cross_moment.curves import DEVICE, MEAN_FIRST, Curves, parts_of, read_all, runs_to_settle
from microagg.studies.cross_moment.data import DATA
from microagg.studies.cross_moment.published import CROSSINGS
from microagg.studies.reproduction.comparison import Row, Scale, claim, compare, note
from microagg.studies.reproduction.experiment import Curve, Grid, Panel, Part, Point

__all__ = ["compare_dependency", "draw_dependency", "m1_overtakes", "overtakes", "plan_dependency", "plan_overtaking"]

_PLACE = Scale(close=0.1)
_EPSILONS = (1.0, 1.2, 1.4, 1.6, 1.8, 2.0)
_FIRST = (
    "; of the two curves the first k from which the one stays below the other, on a grid that has the first k of every "
    "step (where one cell fewer is left, and the curves jump); in brackets where 95 % of resamples of the runs put it; "
    "the paper calls its figures approximate"
)
_EVEN = (
    "k for " + ", ".join(WAYS) + ": the same runs without the first k of every step, and read from lines drawn between "
    "the points that are left, as one reads a printed figure"
)
_UNTOLD = (
    "no way to average brings chance in these runs that far; the text tells neither how records are matched, nor how "
    "many runs are averaged, nor the grid of k, and we think the matching"
)


def plan_overtaking(names: Sequence[str], epsilons: Sequence[float], grid: Grid, seed: int) -> list[Part]:
    """Methods 1 and 3, whose crossing the paper prints, with more runs than the others; figures share these parts."""
    return parts_of(names, epsilons, ("1", "3"), grid, seed, runs=runs_to_settle(grid))


def overtakes(
    quantity: str,
    published: float,
    curves: Curves,
    before: str,
    after: str,
    *,
    way: str = MEAN_FIRST,
    found: Crossing | None = None,
    reason: str = "",
) -> Row:
    """The printed k from which a method is better than another, beside ours."""
    found = found or curves.settled(before, after, way)
    return compare(
        quantity,
        published,
        found.place,
        digits=0,
        scale=_PLACE,
        convention=f"{DEVICE}, {way} over runs{_FIRST}",
        why=reason or _why(published, curves, before, after),
        in_words=True,
        interval=found.interval,
    )


def m1_overtakes(curves: Curves) -> Row:
    """Of method 3 and method 1, by log2 of the mean."""
    quantity = f"{curves.data}: k from which m = 1 (method 3) is better than m = 0"
    return overtakes(quantity, CROSSINGS[curves.data, curves.epsilon], curves, "1", "3")


def _why(published: float, curves: Curves, before: str, after: str) -> str:
    """What the curves do around the published k, and whether chance reaches it."""
    n_records = len(DATA[curves.data]().values)
    n_cells = int(n_records // published)
    least, most = n_records // (n_cells + 1) + 1, n_records // n_cells
    along = (curves.ks >= least) & (curves.ks <= most)
    gaps, reached = [], []
    for way, average in WAYS.items():
        gap = (average(curves.runs[after]) - average(curves.runs[before]))[along]
        gaps.append(f"{gap.mean():+.2f} by {way}" if len(gap) else "")
        if curves.settled(before, after, way).reaches(published):
            reached.append(way)
    level = (
        f"with {curves.data} and k = {least} to {most} there are {n_cells} cells, and method {after} lies on average "
        f"{', '.join(gaps)} from method {before}"
    )
    if reached:
        ways = " and ".join(reached)
        return f"{level}: there the curves run level, and chance can put the crossing at {published:.0f} by {ways}"
    return f"{level}; {_UNTOLD}"


def plan_dependency(grid: Grid, seed: int) -> list[Part]:
    """Figure 11."""
    return plan_overtaking(list(DATA), grid.pick((1.0, 1.4, 2.0), _EPSILONS, _EPSILONS), grid, seed)


def compare_dependency(points: Sequence[Point]) -> list[Row]:
    """Figure 11: by three ways to average where the paper prints the k, by the first of them elsewhere."""
    rows = []
    by_data: dict[str, list[Curves]] = {}
    for curves in read_all(points):
        by_data.setdefault(curves.data, []).append(curves)
    for data, along in by_data.items():
        places = []
        for curves in along:
            setting = f"{data}, epsilon = {curves.epsilon:g}"
            name = f"{setting}: k from which m = 1 is better than m = 0"
            found = {way: curves.settled("1", "3", way) for way in WAYS}
            first = found[MEAN_FIRST]
            places.append(first.place)
            published = CROSSINGS.get((data, curves.epsilon))
            if published is None:
                ours = first.place if np.isfinite(first.place) else first.told(first.place)
                rows.append(note(name, ours, digits=0, interval=first.interval))
                continue
            rows += [
                overtakes(f"{name}, {way}", published, curves, "1", "3", way=way, found=one)
                for way, one in found.items()
            ]
            rows.append(note(f"{setting}: the same on even steps of k alone", _on_even_steps(curves), convention=_EVEN))
        known = [place for place in places if np.isfinite(place)]
        rows.append(
            claim(
                data,
                "smaller cells suffice as epsilon increases",
                f"{known[0]:.0f} to {known[-1]:.0f}" if known else "no crossing",
                len(known) > 1 and known[-1] < known[0],
            )
        )
    return rows


def _on_even_steps(curves: Curves) -> str:
    pairs = [curves.without_steps("1", "3", way) for way in WAYS]
    first, drawn = (
        ", ".join("none" if np.isnan(one) else f"{one:.0f}" for one in ones) for ones in zip(*pairs, strict=True)
    )
    return f"first k: {first}; lines: {drawn}"


def draw_dependency(points: Sequence[Point]) -> list[Panel]:
    places: dict[str, list[tuple[float, float]]] = {}
    for curves in read_all(points):
        places.setdefault(curves.data, []).append((curves.epsilon, curves.crossing("1", "3")))
    lines = [
        Curve(data, tuple(epsilon for epsilon, _ in along), tuple(place for _, place in along))
        for data, along in places.items()
    ]
    return [Panel("k from which m = 1 is better than m = 0", "epsilon", "k", tuple(lines))]
