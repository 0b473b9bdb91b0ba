"""``microagg sweep``: many recipes against each other, risk against utility."""

from __future__ import annotations

from pathlib import Path
from typing import Annotated, Any

import typer

from microagg.cli.input_flags import InputFlags, takes_input_flags
from microagg.cli.streams.sources import Sources, takes_sources
from microagg.cli.terminal import ends_in_time, explains_errors, if_interrupted, print_json, say, shows_progress

__all__ = ["sweep"]


@explains_errors
@ends_in_time
@takes_input_flags
@takes_sources("data")
def sweep(
    data: Annotated[Path, typer.Argument(help="The table to protect.")],
    recipe: Annotated[Path, typer.Option("--recipe", "-r", help="The recipe; its [sweep] names what to try.")],
    output: Annotated[
        Path, typer.Option("--output", "-o", help="The folder to write; an unfinished sweep in it is continued.")
    ],
    utility: Annotated[str | None, typer.Option(help="The measure of utility to compare by.")] = None,
    risk: Annotated[str | None, typer.Option(help="The measure of risk to compare by.")] = None,
    methods: Annotated[str | None, typer.Option(help="Overrides sweep.methods: mdav,near_optimal.")] = None,
    k: Annotated[str | None, typer.Option(help="Overrides sweep.k: 2,3,5.")] = None,
    epsilon: Annotated[str | None, typer.Option(help="Overrides sweep.epsilon: 0.5,1,2.")] = None,
    l_: Annotated[
        str | None, typer.Option("--l", help="Overrides sweep.l, different confidential values: 2,3.")
    ] = None,
    t: Annotated[str | None, typer.Option("--t", help="Overrides sweep.t, t-closeness: 0.05,0.15.")] = None,
    lambda_: Annotated[str | None, typer.Option("--lambda", help="Overrides sweep.lambda: 0:1:0.25, or 0,0.2.")] = None,
    alpha: Annotated[str | None, typer.Option(help="Overrides sweep.alpha: 1,2,4.")] = None,
    repeats: Annotated[int | None, typer.Option(help="Overrides sweep.repeats.")] = None,
    measures: Annotated[str | None, typer.Option(help="Overrides sweep.measures: names or groups.")] = None,
    workers: Annotated[int | None, typer.Option(help="How many processes; default: one per core.")] = None,
    seed: Annotated[int, typer.Option(help="Repeats are seeded with this and the numbers after it.")] = 0,
    retry_failed: Annotated[bool, typer.Option("--retry-failed", help="Try what failed before again.")] = False,
    as_json: Annotated[bool, typer.Option("--json", help="Print the points as JSON.")] = False,
    *,
    flags: InputFlags,
    sources: Sources,
) -> None:
    """Make and measure a release for every method, k, epsilon, l, t, lambda and alpha; show which no other beats."""
    from microagg.frontier.plot import can_plot
    from microagg.frontier.store import SweepFolder
    from microagg.frontier.sweep import sweep as run
    from microagg.frontier.text import frontier_text
    from microagg.recipe.recipe import Recipe
    from microagg.releases.input import read_table

    folder = SweepFolder(output)
    overrides: dict[str, Any] = {
        "sweep.methods": _words(methods),
        "sweep.k": _whole(k),
        "sweep.epsilon": _numbers(epsilon),
        "sweep.l": _whole(l_),
        "sweep.t": _numbers(t),
        "sweep.lambda": _numbers(lambda_),
        "sweep.alpha": _numbers(alpha),
        "sweep.repeats": repeats,
        "sweep.measures": _words(measures),
    }
    chosen = flags.apply(Recipe.load(recipe)).changed(
        {key: value for key, value in overrides.items() if value is not None}
    )
    table = read_table(data, chosen)
    if_interrupted(lambda: "interrupted; finished releases are kept, and the same command continues from them")
    with shows_progress():
        frontier = run(
            table,
            chosen,
            folder=output,
            utility=utility,
            risk=risk,
            workers=workers,
            seed=seed,
            retry_failed=retry_failed,
            source=data,
        )
    if as_json:
        best = {point.name for point in frontier.best()}
        axes = {"utility": frontier.axes.utility, "risk": frontier.axes.risk}
        points = [
            {
                "name": point.name,
                **point.settings,
                "guarantee": point.guarantee,
                "repeats": point.repeats,
                "best": point.name in best,
                "failures": list(point.failures),
                "values": dict(point.values),
                "spreads": dict(point.spreads),
            }
            for point in frontier.points
        ]
        print_json({"axes": axes, "points": points, "remarks": list(frontier.remarks)})
    else:
        typer.echo(frontier_text(frontier, lambda point: folder.command(point, sources.words_for(data))))
    drawn = ["frontier.png", "frontier.svg"] if can_plot() else []
    say(f"Wrote {output}: {', '.join(['frontier.csv', 'frontier.parquet', *drawn, 'which.txt', 'recipes/'])}")
    if not drawn:
        say("Note: no picture was drawn, as it needs Matplotlib: pip install 'microagg[plot]'")
    say("Internal, do not publish: the numbers come from the original records.")


def _words(text: str | None) -> tuple[str, ...] | None:
    return None if text is None else tuple(word.strip() for word in text.split(","))


def _numbers(text: str | None) -> tuple[float | str, ...] | None:
    from microagg.frontier.tradeoff import grid

    if text is None:
        return None
    if "auto" in text.split(","):
        return tuple(word if word == "auto" else grid(word)[0] for word in text.split(","))
    return grid(text)


def _whole(text: str | None) -> tuple[Any, ...] | None:
    """Whole numbers; anything else is left to the recipe to refuse, in its own words."""
    numbers = _numbers(text)
    return None if numbers is None else tuple(int(n) if n == int(n) else n for n in numbers if isinstance(n, float))
