"""``microagg explain``: what a name means, in plain words."""

from __future__ import annotations

from typing import TYPE_CHECKING, Annotated

import typer

from microagg.cli.terminal import explains_errors, print_json

if TYPE_CHECKING:
    from microagg.explanations.explanation import Explained, Explanation

__all__ = ["explain"]


@explains_errors
def explain(
    name: Annotated[
        str | None,
        typer.Argument(
            metavar="NAME",
            help="A measure, method, guarantee or key of the recipe; left out: all that can be explained.",
        ),
    ] = None,
    as_json: Annotated[bool, typer.Option("--json", help="Print as JSON.")] = False,
) -> None:
    """Explain a name in plain words: what it means, its formula and range, when it misleads, and where to read more."""
    from microagg.explanations.explain import all_explanations
    from microagg.explanations.explain import explain as explanation_of
    from microagg.explanations.explanation import Explained

    if name is not None:
        found = explanation_of(name)
        if as_json:
            print_json(found.as_dict())
        else:
            typer.echo(str(found))
        return
    names = {kind: _names_of(kind, all_explanations()) for kind in Explained}
    if as_json:
        print_json({str(kind): listed for kind, listed in names.items()})
        return
    for kind, listed in names.items():
        typer.echo(f"{kind}s:")
        for one, summary in listed.items():
            typer.echo(f"  {one}: {summary}")


def _names_of(kind: Explained, every: list[Explanation]) -> dict[str, str]:
    """Names with their summaries; one that several things of a kind have is listed once."""
    listed: dict[str, str] = {}
    for one in every:
        if one.kind is kind:
            listed.setdefault(one.name, one.summary)
    return listed
