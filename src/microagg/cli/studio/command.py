"""``microagg studio``: the whole way in a browser, on one's own machine."""

from __future__ import annotations

from pathlib import Path
from typing import Annotated

import typer

from microagg.cli.terminal import explains_errors, say

__all__ = ["studio"]


@explains_errors
def studio(
    data: Annotated[
        Path | None,
        typer.Argument(metavar="DATA", help="The table to open, read where it is; without it the page asks."),
    ] = None,
    recipe: Annotated[Path | None, typer.Option("--recipe", "-r", help="The recipe to begin with.")] = None,
    port: Annotated[int, typer.Option(min=0, max=65535, help="Where the page is; 0 takes a port that is free.")] = 0,
    browser: Annotated[bool, typer.Option("--browser/--no-browser", help="Open the page in your browser.")] = True,
    max_upload: Annotated[str, typer.Option(help="The largest file that may be sent through the browser.")] = "2GiB",
) -> None:
    """Open the studio: table, roles, risk, frontier, release and statement in a browser, on this machine alone."""
    from importlib.util import find_spec

    from microagg.errors import InputError

    lacking = [name for name in ("starlette", "uvicorn", "python_multipart") if find_spec(name) is None]
    if lacking:
        raise InputError(f"the studio needs {', '.join(lacking)}: pip install 'microagg[studio]'")
    from microagg.studio.server import serve
    from microagg.studio.uploads import bytes_of

    serve(data, recipe, port=port, browser=browser, max_upload=bytes_of(max_upload), say=say)
    say("The studio is closed. Recipes and releases are kept; files that were sent to it are removed.")
