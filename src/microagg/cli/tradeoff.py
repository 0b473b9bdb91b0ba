"""``microagg tradeoff``: what a guided space, or t-closeness, keeps and what it costs, over many values."""

from __future__ import annotations

from pathlib import Path
from typing import Annotated

import typer

from microagg.cli.input_flags import InputFlags, takes_input_flags
from microagg.cli.streams.sources import takes_sources
from microagg.cli.terminal import ends_in_time, explains_errors, print_json, say, shows_progress

__all__ = ["tradeoff"]


@explains_errors
@ends_in_time
@takes_input_flags
@takes_sources("data")
def tradeoff(
    data: Annotated[Path, typer.Argument(help="The table to protect.")],
    recipe: Annotated[Path, typer.Option("--recipe", "-r", help="The recipe.")],
    lambda_: Annotated[
        str | None, typer.Option("--lambda", help="Values of space.dependence.lambda: 0:1:0.1, or 0,0.2,0.5.")
    ] = None,
    alpha: Annotated[str | None, typer.Option(help="Values of space.discriminant.alpha: 1,2,4,8.")] = None,
    t: Annotated[
        str | None, typer.Option("--t", help="Values of t_closeness, of confidential values: 0.05:0.3:0.05.")
    ] = None,
    output: Annotated[
        Path | None, typer.Option("--output", "-o", help="A folder for the table (CSV, JSON) and the plot.")
    ] = None,
    overwrite: Annotated[bool, typer.Option(help="Replace an existing folder.")] = False,
    as_json: Annotated[bool, typer.Option("--json", help="Print the table as JSON.")] = False,
    *,
    flags: InputFlags,
) -> None:
    """Make a release for each value, measure it, and show loss against dependence, diversity and linkage."""
    import json

    from microagg.errors import InputError
    from microagg.frontier.tradeoff import FILES, grid
    from microagg.frontier.tradeoff import tradeoff as vary
    from microagg.frontier.tradeoff_plot import can_plot, plot_tradeoff
    from microagg.recipe.recipe import Recipe
    from microagg.releases.folder.atomic import refuse_existing, whole_or_nothing
    from microagg.releases.input import read_table

    if output is not None:
        refuse_existing(output, overwrite, FILES)
    given = {key: text for key, text in (("lambda", lambda_), ("alpha", alpha), ("t", t)) if text is not None}
    if len(given) != 1:
        raise InputError("say what to vary: either --lambda 0:1:0.1 or --alpha 1,2,4,8 or --t 0.05:0.3:0.05")
    [(parameter, values)] = [(key, grid(text)) for key, text in given.items()]
    chosen = flags.apply(Recipe.load(recipe))
    with shows_progress():
        found = vary(read_table(data, chosen), chosen, parameter, values)
    if as_json:
        print_json(json.loads(found.as_json()))
    else:
        typer.echo("  ".join(f"{name:>16}" for name in found.columns))
        for row in found.rows:
            cells = ("-" if row[name] is None else f"{row[name]:.4f}" for name in found.columns)
            typer.echo("  ".join(f"{cell:>16}" for cell in cells))
    if output is None:
        return
    with whole_or_nothing(output.absolute(), overwrite=overwrite, ours=FILES) as folder:
        files = found.write(folder)
        if can_plot():
            plot_tradeoff(found.parameter, found.rows, folder / "tradeoff.svg")
            files.append("tradeoff.svg")
    say(f"Wrote {output}: {', '.join(files)}")
    if not can_plot():
        say("Note: no plot was drawn, as it needs Matplotlib: pip install 'microagg[plot]'")
