"""``microagg measures``: all measures, one line each."""

from __future__ import annotations

from typing import Annotated, Any

import typer

from microagg.cli.terminal import explains_errors, print_json

__all__ = ["measures"]


@explains_errors
def measures(as_json: Annotated[bool, typer.Option("--json", help="Print as JSON.")] = False) -> None:
    """List all measures: what each says, which direction is better, its range and what it needs."""
    from microagg.evaluation.measures import all_measures
    from microagg.explanations.of_catalogues import explained_measures

    defined = {one.name: one for one in all_measures()}
    rows: list[dict[str, Any]] = [
        {
            "name": one.name,
            "about": defined[one.name].about,
            "group": defined[one.name].group,
            "better": defined[one.name].better,
            "range": one.range,
            "needs": [str(need) for need in defined[one.name].needs],
            "default": defined[one.name].default,
            "summary": one.summary,
        }
        for one in explained_measures()
    ]
    if as_json:
        print_json(rows)
        return
    wide = max(len(row["name"]) for row in rows)
    group = None
    for row in rows:
        if row["group"] != group:
            group = row["group"]
            typer.echo(f"{row['about']}, {group}:")
        needs = f" Needs {', '.join(row['needs'])}." if row["needs"] else ""
        chosen = "" if row["default"] else " Only if asked for."
        typer.echo(f"  {row['name']:<{wide}}  {row['better']:<6}  {row['summary']}{needs}{chosen}")
