"""``microagg datasets``: the field's reference data."""

from __future__ import annotations

from dataclasses import asdict
from typing import Annotated

import typer

from microagg.cli.terminal import explains_errors, print_json, say

__all__ = ["datasets"]


@explains_errors
def datasets(
    fetch: Annotated[str | None, typer.Option(help="Bring this one into the cache ('all' for every one).")] = None,
    as_json: Annotated[bool, typer.Option("--json", help="Print as JSON.")] = False,
) -> None:
    """List the reference data sets and where each was found; --fetch NAME gets one from its public source."""
    from microagg.tables.reference import datasets as library

    if fetch is not None:
        for name in [entry.name for entry in library.available()] if fetch == "all" else [fetch]:
            say(f"{name}: {library.fetch(name)}")
    if as_json:
        print_json([asdict(entry) for entry in library.available()])
    elif fetch is None:
        for entry in library.available():
            typer.echo(
                f"{entry.name:<14} {entry.n_records:>6} x {entry.n_attributes:<3} {entry.where:<9} {entry.title}"
            )
