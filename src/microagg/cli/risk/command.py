"""``microagg risk``: say what a table gives away as it is."""

from __future__ import annotations

from pathlib import Path
from typing import Annotated

import typer

from microagg.cli.input_flags import InputFlags, takes_input_flags
from microagg.cli.streams.sources import takes_sources
from microagg.cli.terminal import ends_in_time, explains_errors, print_json, shows_progress

__all__ = ["risk"]


@explains_errors
@ends_in_time
@takes_input_flags
@takes_sources("data", "population")
def risk(
    data: Annotated[Path, typer.Argument(help="The table, before any release.")],
    recipe: Annotated[Path, typer.Option("--recipe", "-r", help="What the columns are, and the k that is wanted.")],
    population: Annotated[
        Path | None,
        typer.Option(help="The population that the table is a sample of, with the same quasi-identifiers."),
    ] = None,
    threshold: Annotated[
        list[float] | None,
        typer.Option(
            metavar="<chance>", help="Count records whose chance of being found is above it (0.1); may be repeated."
        ),
    ] = None,
    largest_msu: Annotated[
        int | None,
        typer.Option(
            "--largest-msu",
            min=1,
            help="Look for records that so many quasi-identifiers single out; by default as many as takes seconds.",
        ),
    ] = None,
    sampling_fraction: Annotated[
        float | None,
        typer.Option(
            "--sampling-fraction",
            help="The share of the population that is in the table; by default from --population or the weights.",
        ),
    ] = None,
    as_json: Annotated[bool, typer.Option("--json", help="Print the figures as JSON.")] = False,
    *,
    flags: InputFlags,
) -> None:
    """Say what a table gives away as it is: unique records, special uniques, risk in the population, intruders."""
    from microagg.recipe.recipe import Recipe
    from microagg.releases.input import read_table
    from microagg.risks.assess import THRESHOLDS
    from microagg.risks.assess import risk as assess

    chosen = flags.apply(Recipe.load(recipe))
    table = read_table(data, chosen)
    everyone = None if population is None else read_table(population, chosen)
    with shows_progress():
        found = assess(
            table,
            chosen,
            everyone,
            thresholds=threshold or THRESHOLDS,
            largest_msu=largest_msu,
            sampling_fraction=sampling_fraction,
        )
    print_json(found.as_dict()) if as_json else typer.echo(str(found))
