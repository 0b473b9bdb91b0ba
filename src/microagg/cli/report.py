"""``microagg report``: a page about any released table that a person can read, print and sign."""

from __future__ import annotations

from pathlib import Path
from typing import Annotated

import typer

from microagg.cli.terminal import Aligned, Key, ReceiptFile, explains_errors, say, shows_progress

__all__ = ["report"]


@explains_errors
def report(
    original: Annotated[Path, typer.Argument(help="The table that was protected.")],
    released: Annotated[Path, typer.Argument(help="The released table, of any tool, or the folder of a release.")],
    output: Annotated[
        Path | None,
        typer.Option(
            "--output",
            "-o",
            help="The page to write; its numbers go beside it as JSON. An internal one of a folder: default beside it.",
        ),
    ] = None,
    recipe: Annotated[
        Path | None,
        typer.Option("--recipe", "-r", help="What the columns are; the folder of a release brings its own."),
    ] = None,
    internal: Annotated[
        bool, typer.Option("--internal", help="Add exact figures of the original, of cells and of records.")
    ] = False,
    full: Annotated[bool, typer.Option("--full", help="Take all default measures on all records.")] = False,
    aligned: Aligned = None,
    key: Key = None,
    receipt: ReceiptFile = None,
    overwrite: Annotated[bool, typer.Option(help="Replace an existing report.")] = False,
) -> None:
    """Write a report on a released table: public by default, or internal, for the data holder."""
    from microagg.errors import InputError
    from microagg.releases.input import read_input
    from microagg.releases.recipe import Recipe
    from microagg.releases.reports import report_on_tables
    from microagg.releases.saved import SavedRelease

    if recipe is None and not released.is_dir():
        raise InputError("to report on a file, say what its columns are: --recipe recipe.toml")
    if output is None:
        if not (internal and released.is_dir()):
            raise InputError("say where to write the page: --output report.html")
        output = released.absolute().with_name(f"{released.absolute().name}.internal.html")
    if receipt is not None and (aligned is not None or key is not None):
        raise InputError("--receipt tells which rows belong together: leave out --aligned, --shuffled and --key")
    given = None if recipe is None else Recipe.load(recipe)
    chosen = SavedRelease.open(released).recipe if given is None or released.is_dir() else given
    with shows_progress():
        report_on_tables(
            read_input(original, chosen),
            released,
            chosen,
            output,
            read=lambda path: read_input(path, chosen),
            internal=internal,
            full=full,
            source=original,
            receipt=receipt,
            aligned=aligned,
            key=key,
            overwrite=overwrite,
        )
    say(f"Wrote {output} and, with the same numbers, {output.with_suffix('.json')}.")
    if internal:
        say("INTERNAL: keep both, do not publish them.")
