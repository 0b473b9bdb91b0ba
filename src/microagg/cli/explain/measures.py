"""``microagg measures``: all measures, one line each."""

from __future__ import annotations

from collections.abc import Sequence
from typing import TYPE_CHECKING, Annotated

import typer

from microagg.cli.terminal import explains_errors, print_json

if TYPE_CHECKING:
    from microagg.evaluation.definition import Definition

__all__ = ["measures"]


@explains_errors
def measures(
    which: Annotated[
        list[str] | None,
        typer.Argument(
            metavar="[WHICH]...",
            help="Those about utility or risk, of a group such as linkage, of the default, or of this name; or all.",
        ),
    ] = None,
    as_json: Annotated[bool, typer.Option("--json", help="Print as JSON.")] = False,
) -> None:
    """List measures: what each says, which direction is better, its range and what it needs."""
    from microagg.evaluation.measures import all_measures
    from microagg.explanations.lists import list_measures

    chosen = _chosen(which or [], all_measures())
    rows = [row for row in list_measures() if row["name"] in chosen]
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
        asked = "" if row["default"] else " Only if asked for."
        typer.echo(f"  {row['name']:<{wide}}  {row['better']:<6}  {row['summary']}{needs}{asked}")


def _chosen(which: list[str], every: Sequence[Definition]) -> set[str]:
    """Names of the measures that any of the words means; all, if there is none."""
    from microagg.errors import ParameterError, did_you_mean, shown

    by_word: dict[str, set[str]] = {}
    for one in every:
        for word in ("all", one.about, one.group, one.name, *(["default"] if one.default else [])):
            by_word.setdefault(word.lower(), set()).add(one.name)
    for word in which or ["all"]:
        if word.lower() not in by_word:
            groups = ", ".join(dict.fromkeys(one.group for one in every))
            near = did_you_mean(word, by_word, any_case=True)
            raise ParameterError(
                f"no measure is called {shown(word)}.{near} There are utility, risk, default, {groups}"
            )
    return set().union(*(by_word[word.lower()] for word in which or ["all"]))
