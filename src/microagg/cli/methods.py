"""``microagg methods``: the catalogue."""

from __future__ import annotations

from typing import Annotated

import typer

from microagg.cli.terminal import explains_errors, print_json

__all__ = ["methods"]


@explains_errors
def methods(as_json: Annotated[bool, typer.Option("--json", help="Print as JSON.")] = False) -> None:
    """List the methods a recipe can name, with their stages and what they promise."""
    from microagg.releases.catalogue import METHODS

    if as_json:
        print_json(
            [
                {
                    "name": method.name,
                    "title": method.title,
                    "summary": method.summary,
                    "stages": method.stages,
                    "guarantee": method.guarantee,
                    "reference": method.reference,
                }
                for method in METHODS.values()
            ]
        )
        return
    for method in METHODS.values():
        typer.echo(f"{method.name}: {method.summary}")
        for stage, what in method.stages.items():
            typer.echo(f"    {stage:<10} {what}")
        typer.echo(f"    {'promises':<10} {method.guarantee}")
        typer.echo(f"    {'see':<10} {method.reference}")
