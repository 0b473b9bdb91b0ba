"""``microagg methods``: the catalogue."""

from __future__ import annotations

from typing import Annotated

import typer

from microagg.cli.terminal import explains_errors, print_json

__all__ = ["methods"]


@explains_errors
def methods(
    paper: Annotated[
        str | None, typer.Option(help="List the numbered methods of a paper instead: cross_moment.")
    ] = None,
    as_json: Annotated[bool, typer.Option("--json", help="Print as JSON.")] = False,
) -> None:
    """List the methods a recipe can name, with their stages and what they promise."""
    from microagg.errors import ParameterError, did_you_mean
    from microagg.explanations.lists import list_methods
    from microagg.methods.catalogue import METHODS, PAPERS

    if paper is not None and paper not in PAPERS:
        raise ParameterError(f"--paper must be one of {', '.join(PAPERS)}. Got {paper!r}.{did_you_mean(paper, PAPERS)}")
    listed = METHODS if paper is None else {method.name: method for method in PAPERS[paper].values()}
    if as_json:
        print_json(list_methods(paper))
        return
    for method in listed.values():
        typer.echo(f"{f'{method.number} ' if method.number else ''}{method.name}: {method.summary}")
        for stage, what in method.stages.items():
            typer.echo(f"    {stage:<10} {what}")
        typer.echo(f"    {'promises':<10} {method.guarantee}")
        typer.echo(f"    {'see':<10} {method.reference}")
