"""``microagg report``: a page about any released table that a person can read, print and sign."""

from __future__ import annotations

from pathlib import Path
from typing import Annotated

import typer

from microagg.cli.terminal import Aligned, Key, explains_errors, say, shows_progress

__all__ = ["report"]


@explains_errors
def report(
    original: Annotated[Path, typer.Argument(help="The table that was protected.")],
    released: Annotated[Path, typer.Argument(help="The released table, of any tool, or the folder of a release.")],
    recipe: Annotated[Path, typer.Option("--recipe", "-r", help="What the columns are.")],
    output: Annotated[
        Path, typer.Option("--output", "-o", help="The page to write; its numbers go beside it as JSON.")
    ],
    internal: Annotated[
        bool, typer.Option("--internal", help="Add exact figures of the original, of cells and of records.")
    ] = False,
    full: Annotated[bool, typer.Option("--full", help="Take all default measures on all records.")] = False,
    aligned: Aligned = None,
    key: Key = None,
    sign: Annotated[
        Path | None, typer.Option(help="The key that a signed release is signed with again, as its report is new.")
    ] = None,
    overwrite: Annotated[bool, typer.Option(help="Replace an existing report.")] = False,
) -> None:
    """Write a report on a released table: public by default, or internal, for the data holder."""
    from microagg.releases.input import read_input, with_formulas_unescaped
    from microagg.releases.places import refuse_place
    from microagg.releases.recipe import Recipe
    from microagg.releases.reports import report_on_tables

    if str(output) == "-":
        refuse_place(output, what="report")
    chosen = Recipe.load(recipe)
    with shows_progress():
        report_on_tables(
            read_input(original, chosen),
            released,
            chosen,
            output,
            read=lambda path: with_formulas_unescaped(read_input(path, chosen), path, chosen),
            internal=internal,
            full=full,
            aligned=aligned,
            key=key,
            overwrite=overwrite,
            sign=sign,
        )
    say(f"Wrote {output} and, with the same numbers, {output.with_suffix('.json')}.")
    if internal:
        say("INTERNAL: keep both, do not publish them.")
