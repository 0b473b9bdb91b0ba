"""``microagg check``: recount a guarantee on what is written."""

from __future__ import annotations

from pathlib import Path
from typing import Annotated

import typer

from microagg.cli.input_flags import InputFlags, takes_input_flags
from microagg.cli.streams.sources import takes_sources
from microagg.cli.terminal import NOT_MET, explains_errors, print_json, say

__all__ = ["check"]


@explains_errors
@takes_input_flags
@takes_sources("target", "original")
def check(
    target: Annotated[Path, typer.Argument(help="A release folder, or any table: a file, -, or an address.")],
    recipe: Annotated[Path | None, typer.Option("--recipe", "-r", help="Needed for a file.")] = None,
    k: Annotated[int | None, typer.Option(help="Overrides the recipe's k (for a file).")] = None,
    receipt: Annotated[
        Path | None,
        typer.Option(help="The receipt that the data holder kept; default: the one beside the folder, if any."),
    ] = None,
    signed_by: Annotated[
        Path | None, typer.Option("--signed-by", help="A public key: the release must be signed by it.")
    ] = None,
    original: Annotated[
        Path | None,
        typer.Option(help="The input, for its holder: counts the units of [unit] again, with the receipt."),
    ] = None,
    as_json: Annotated[bool, typer.Option("--json", help="Print the findings as JSON.")] = False,
    *,
    flags: InputFlags,
) -> None:
    """Work out again what a release folder says, or recount a file against a recipe; exit 1 if it fails."""
    from microagg.errors import InputError
    from microagg.recipe.recipe import Recipe
    from microagg.releases.check.check import check_release, check_table

    if not target.exists():
        raise InputError(f"there is no file or folder named {target.name!r}")
    if target.is_dir():
        if recipe is not None or k is not None or flags.given:
            raise InputError(
                "a release folder brings its own recipe; --recipe, --k and how a file is written are for files"
            )
        findings = check_release(target, receipt=receipt, signed_by=signed_by, original=original)
    elif receipt is not None or signed_by is not None or original is not None:
        raise InputError("--receipt, --signed-by and --original are for the folder of a release, not for a file")
    elif recipe is None:
        raise InputError("to check a file, say what its columns are: --recipe recipe.toml")
    else:
        findings = check_table(target, flags.apply(Recipe.load(recipe)).changed({} if k is None else {"k": k}))
    holds = all(finding.holds for finding in findings)
    for finding in findings:
        say(f"{'ok  ' if finding.holds else 'FAIL'}  {finding.name}: {finding.detail}")
    if as_json:
        print_json({"holds": holds, "findings": [finding.as_dict() for finding in findings]})
    if not holds:
        raise typer.Exit(NOT_MET)
