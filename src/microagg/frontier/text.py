"""A frontier in words: which release to take, and by what it is compared."""

from __future__ import annotations

from collections.abc import Callable, Sequence
from typing import TYPE_CHECKING

from microagg.evaluation.measures import measure_named
from microagg.evaluation.text import number

if TYPE_CHECKING:
    from microagg.frontier.frontier import Frontier, FrontierPoint

__all__ = ["frontier_text", "in_the_middle"]


def in_the_middle(best: Sequence[FrontierPoint], utility: str, risk: str) -> FrontierPoint | None:
    """The one of three or more points that is nearest to the best of both, each measure scaled to 0 .. 1 over them."""
    if len(best) < 3:
        return None

    def scaled(name: str) -> list[float]:
        costs = [point.cost(name) for point in best]
        low, width = min(costs), max(costs) - min(costs)
        return [(cost - low) / width if width > 0 else 0.0 for cost in costs]

    corner = [a * a + b * b for a, b in zip(scaled(utility), scaled(risk), strict=True)]
    return best[corner.index(min(corner))]


def frontier_text(frontier: Frontier, command: Callable[[FrontierPoint], str] | None = None) -> str:
    """Which points to consider and what each is.

    Parameters
    ----------
    frontier : Frontier
    command : callable, optional
        From a point to the command that makes its release.
    """
    utility, risk = frontier.axes.utility, frontier.axes.risk
    best = frontier.best()
    able = [point for point in frontier.points if point.has(utility, risk)]
    lines = [
        "Which should I take?",
        "",
        f"{'Compared by':<12} {_describe_measure(frontier, utility)}",
        f"{'and':<12} {_describe_measure(frontier, risk)}",
        "",
    ]
    if not best:
        lines.append("No release has both measures: choose others with --utility and --risk.")
    elif len(best) == 1:
        lines.append(f"One release beats, or equals, the other {len(able) - 1} by both measures:")
    else:
        lines.append(
            f"{len(best)} of {len(able)} releases are beaten by no other; for each of the rest one of these is at "
            "least as good by both measures and better by one. From the least lost to the least risk:"
        )
    middle = in_the_middle(best, utility, risk)
    for i, point in enumerate(best):
        words = []
        if len(best) > 1:
            words = (
                ["least lost"] * (i == 0) + ["least risk"] * (i == len(best) - 1) + ["middle way"] * (point is middle)
            )
        lines += ["", *_one(point, utility, risk, words), *([f"    {command(point)}"] if command else [])]
    notes = [*_gaps(frontier), *frontier.remarks]
    return "\n".join(lines + ([""] if notes else []) + [f"Note: {note}" for note in notes])


def _describe_measure(frontier: Frontier, name: str) -> str:
    known = {point.baselines.get(name) for point in frontier.points} - {None}
    chance = f"; by chance {number(known.pop())}" if len(known) == 1 else ""
    known_as = measure_named(name)
    formula = known_as.formula.format_map(frontier.options)
    return f"{name}, {known_as.about}, {known_as.better} is better{chance}: {formula.partition('; ')[0]}"


def _one(point: FrontierPoint, utility: str, risk: str, words: Sequence[str]) -> list[str]:
    measured = []
    for name in (utility, risk):
        spread = point.spreads.get(name)
        measured.append(f"{name} {number(point.values[name])}" + (f" +- {spread:.2g}" if spread is not None else ""))
    remarks = f"  ({', '.join(words)})" if words else ""
    return [f"  {point.name}{remarks}", f"    {', '.join(measured)}", f"    promises: {point.guarantee or 'nothing'}"]


def _gaps(frontier: Frontier) -> list[str]:
    """What is not in the comparison."""
    utility, risk = frontier.axes.utility, frontier.axes.risk
    notes = [
        f"{point.name} failed: {'; '.join(dict.fromkeys(point.failures))}"
        for point in frontier.points
        if point.failures
    ]
    without = [point.name for point in frontier.points if not point.failures and not point.has(utility, risk)]
    if without:
        notes.append(f"not compared, because {utility} or {risk} has no value for them: {', '.join(without)}")
    return notes
