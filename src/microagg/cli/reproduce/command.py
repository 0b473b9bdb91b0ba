"""``microagg reproduce``: the published tables and figures, run again and set beside ours."""

from __future__ import annotations

from pathlib import Path
from typing import Annotated

import typer

from microagg.cli.terminal import explains_errors, if_interrupted, print_json, say, shows_progress

__all__ = ["reproduce"]


@explains_errors
def reproduce(
    names: Annotated[
        list[str] | None,
        typer.Argument(metavar="NAMES", help="Experiments, or a paper for all of its own; none lists them."),
    ] = None,
    every: Annotated[bool, typer.Option("--all", help="Run every experiment.")] = False,
    quick: Annotated[bool, typer.Option("--quick", help="Thin everything: all of it in minutes.")] = False,
    full: Annotated[bool, typer.Option("--full", help="Take the papers' own grids: up to two hours a paper.")] = False,
    output: Annotated[
        Path, typer.Option("--output", "-o", help="The folder to write; an unfinished run in it is continued.")
    ] = Path("reproduction"),
    seed: Annotated[int, typer.Option(help="Runs are seeded with this and the numbers after it.")] = 0,
    page: Annotated[
        Path | None,
        typer.Option("--page", help="A page of results made before, in which to replace these experiments."),
    ] = None,
    workers: Annotated[int | None, typer.Option(help="How many processes; default: one per core.")] = None,
    as_json: Annotated[bool, typer.Option("--json", help="Print as JSON.")] = False,
) -> None:
    """Run published tables and figures again: what the paper prints, what comes out here, and whether they agree."""
    from microagg.errors import ParameterError
    from microagg.studies.reproduction.catalogue import experiments, named
    from microagg.studies.reproduction.experiment import Grid
    from microagg.studies.reproduction.pictures import can_draw
    from microagg.studies.reproduction.tables import as_markdown, as_records
    from microagg.studies.reproduction.writing import reproduce as run_and_write

    if quick and full:
        raise ParameterError("--quick thins what --full takes whole: choose one")
    if names and every:
        raise ParameterError("--all runs every experiment: name none beside it")
    if not names and not every:
        known = [
            {"name": one.name, "title": one.title, "place": one.place, "needs": one.needs} for one in experiments()
        ]
        if as_json:
            print_json(known)
        else:
            for entry in known:
                typer.echo(f"{entry['name']:<28} {entry['title']}")
        return
    chosen = list(experiments()) if every else named(names or [])
    grid = Grid.QUICK if quick else Grid.FULL if full else Grid.STANDARD
    if_interrupted(lambda: "interrupted; finished parts are kept, and the same command continues from them")
    with shows_progress():
        results = run_and_write(chosen, folder=output, grid=grid, seed=seed, workers=workers, page=page)
    if as_json:
        print_json({one.experiment.name: as_records(one.rows) for one in results})
    else:
        for one in results:
            typer.echo(f"## {one.experiment.name}: {one.experiment.title}\n\n{as_markdown(one.rows)}")
    drawn = can_draw()
    say(f"Wrote {output}: {', '.join(one.experiment.name for one in results)}")
    if not drawn and any(one.panels for one in results):
        say("Note: no picture was drawn, as it needs Matplotlib: pip install 'microagg[plot]'")
