"""Compare: several releases made here, or another tool's file, against the same original."""

from __future__ import annotations

from typing import Any

from starlette.requests import Request
from starlette.responses import Response

from microagg.errors import InputError
from microagg.studio.commands import command, short_path
from microagg.studio.pages.render import page
from microagg.studio.project import Project
from microagg.studio.screens.form import back_to, fields_of, receive, studio_of

__all__ = ["forget", "measure", "receive_other", "show"]


async def show(request: Request) -> Response:
    """What can be compared, and what was found."""
    studio = studio_of(request)
    project = studio.opened()
    found = project.result("compare")
    made = {one.name: short_path(project.folder_of(one)) for one in project.releases}
    names = [made.get(name, name) for name in found["names"]] if found else list(made.values())
    path = short_path(project.history.recipe_file)
    commands = (command("evaluate", project.typed, *names, r=path),) if names else ()
    return page(
        request,
        "compare",
        commands=commands,
        releases=project.releases,
        others=_others(project),
        found=found,
    )


def _others(project: Project) -> dict[str, str]:
    """Files of other tools that were sent: their places by name. They are gone when the studio ends."""
    found: dict[str, str] = project.results.setdefault("others", {})
    return found


async def receive_other(request: Request) -> Response:
    """Take another tool's file."""
    upload = await receive(request, "others", "/compare")
    project = studio_of(request).opened()
    others, name = _others(project), upload.path.name
    taken = {*others, *(made.name for made in project.releases)}
    numbered = (f"{name} ({number})" for number in range(2, len(taken) + 3))  # tools call their files alike
    others[next(one for one in (name, *numbered) if one not in taken)] = str(upload.path)
    return back_to(request, "/compare")


async def forget(request: Request) -> Response:
    """Remove another tool's file."""
    from pathlib import Path

    fields = await fields_of(request)
    place = _others(studio_of(request).opened()).pop(fields.one("other"), None)
    if place is not None:
        Path(place).unlink(missing_ok=True)
    return back_to(request, "/compare")


async def measure(request: Request) -> Response:
    """Measure what is ticked."""
    fields = await fields_of(request)
    studio = studio_of(request)
    project = studio.usable()
    chosen: dict[str, str] = {}
    for number in fields.all("release"):
        made = project.release(int(number)) if number.isdecimal() else None
        if made is not None:
            chosen[made.name] = str(project.folder_of(made))
    others = _others(project)
    chosen |= {name: others[name] for name in fields.all("other") if name in others}
    if not chosen:
        raise InputError("tick what is to be compared")

    digest = project.digest

    def done(found: dict[str, Any]) -> None:
        project.keep_result("compare", found, digest=digest, finished=False)

    studio.start("compare", "Comparing releases", {"others": chosen}, done)
    return back_to(request, "/compare")
