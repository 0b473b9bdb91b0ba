"""``microagg datasets``: the field's reference data."""

from __future__ import annotations

from dataclasses import asdict
from pathlib import Path
from typing import Annotated

import typer

from microagg.cli.terminal import explains_errors, print_json, say

__all__ = ["datasets"]


@explains_errors
def datasets(
    fetch: Annotated[str | None, typer.Option(help="Bring this one into the cache ('all' for every one).")] = None,
    taxonomies: Annotated[
        Path | None, typer.Option(help="A folder to write the trees of Adult's categories into, for recipes to name.")
    ] = None,
    as_json: Annotated[bool, typer.Option("--json", help="Print as JSON.")] = False,
) -> None:
    """List the reference data sets and where each was found; --fetch NAME gets one from its public source."""
    from microagg.tables.reference import datasets as library
    from microagg.tables.reference.taxonomies import NAME, write_taxonomies

    if taxonomies is not None:
        for path in write_taxonomies(taxonomies):
            say(f"wrote {path}")
        return
    if fetch == NAME:
        say(f"{NAME}: part of the package. Write its files into a folder with: microagg datasets --taxonomies FOLDER")
        return
    if fetch is not None:
        for name in [entry.name for entry in library.available()] if fetch == "all" else [fetch]:
            say(f"{name}: {library.fetch(name)}")
    if as_json:
        print_json([asdict(entry) for entry in library.available()])
    elif fetch is None:
        for entry in library.available():
            typer.echo(
                f"{entry.name:<16} {entry.n_records:>6} x {entry.n_attributes:<3} {entry.where:<9} {entry.title}"
            )
        typer.echo(f"{NAME:<16} {'2 trees':>12} package   WordNet 3.0 over occupation and native-country of Adult")
