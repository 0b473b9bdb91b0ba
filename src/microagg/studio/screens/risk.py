"""Risk now: what the table gives away as it is."""

from __future__ import annotations

from typing import Any

from starlette.requests import Request
from starlette.responses import Response

from microagg.studio.commands import command, short_path
from microagg.studio.pages.render import page
from microagg.studio.screens.form import back_to, fields_of, studio_of

__all__ = ["count", "show"]


async def show(request: Request) -> Response:
    """The risk as it was counted last."""
    studio = studio_of(request)
    project = studio.opened()
    commands = (command("risk", project.typed, r=short_path(project.history.recipe_file)),)
    return page(request, "risk", risk=project.result("risk"), commands=commands)


async def count(request: Request) -> Response:
    """Count it."""
    await fields_of(request)
    studio = studio_of(request)
    project = studio.usable()
    digest = project.digest

    def done(found: dict[str, Any]) -> None:
        project.keep_result("risk", found, digest=digest)

    studio.start("risk", "Counting what the table gives away", {}, done)
    return back_to(request, "/risk")
