"""Release: what decides it, its making, and what became of the table."""

from __future__ import annotations

import re
from typing import Any

from starlette.requests import Request
from starlette.responses import Response

from microagg.errors import InputError
from microagg.methods.catalogue import METHODS
from microagg.recipe.choices import MissingPolicy, SmallGroups
from microagg.schema.attribute import Role
from microagg.space.standardize import Standardize
from microagg.studio.commands import command, short_path
from microagg.studio.pages.render import page
from microagg.studio.project import Made, Project
from microagg.studio.screens.form import back_to, fields_of, studio_of, whole_number
from microagg.studio.screens.roles import columns_of
from microagg.tables.formats.registry import writable_names

__all__ = ["check_of", "command_of", "describe", "forget", "made_of", "make", "show"]


async def show(request: Request) -> Response:
    """The choices, and the release that was made last or is asked for."""
    studio = studio_of(request)
    project = studio.opened()
    made = made_of(request, project)
    columns = columns_of(project)
    recipe, _ = project.checked()
    commands = [] if made is None else [command_of(project, made)]
    is_old = made is not None and project.decides_otherwise(made)
    if made is None or is_old:
        path = short_path(project.history.recipe_file)
        commands.append(command("release", project.typed, r=path, o=f"{project.source.stem}-release"))
    return page(
        request,
        "release",
        commands=tuple(commands),
        content=project.content,
        recipe=recipe,
        methods=list(METHODS.values()),
        method=METHODS.get(str(project.content.get("method", "mdav"))),
        policies=list(MissingPolicy),
        smalls=list(SmallGroups),
        scales=list(Standardize),
        formats=writable_names(),
        confidential=[one for one in columns if one["role"] == Role.CONFIDENTIAL],
        known=[one for one in columns if one["role"] == Role.QUASI_IDENTIFIER],
        identifiers=[one for one in columns if one["role"] == Role.IDENTIFIER],
        n_missing=sum(one["missing"] for one in columns if one["role"] == Role.QUASI_IDENTIFIER),
        made=made,
        releases=project.releases,
        facts=None if made is None else project.described.get(made.number),
        is_old=is_old,
    )


def made_of(request: Request, project: Project) -> Made | None:
    """The release that an address names, or the latest."""
    number = whole_number(request.query_params.get("release", ""), "the number of a release")
    made = project.release(number)
    if made is None and number is not None:
        raise InputError("there is no such release any more")
    return made


def command_of(project: Project, made: Made) -> str:
    """The command that makes a release as it was made here."""
    return command(
        "release",
        project.typed,
        r=short_path(project.recipe_of(made)),
        o=made.name,
        seed=made.seed,
        format=made.file_format or None,
        sign=made.sign or None,
    )


def check_of(project: Project, made: Made) -> str:
    """The command that checks a release that was made here."""
    return command("check", short_path(project.folder_of(made)))


async def make(request: Request) -> Response:
    """Make a release of all records."""
    fields = await fields_of(request)
    studio = studio_of(request)
    project = studio.usable()
    seed = whole_number(fields.one("seed"), "a seed")
    file_format = fields.one("format")
    if file_format and file_format not in writable_names():
        raise InputError("choose a format of the list")
    stem = re.sub(r"[^A-Za-z0-9_-]+", "-", project.source.stem).strip("-")[:60] or "table"
    studio.make_release(seed=seed, file_format=file_format, sign=fields.one("sign").strip(), name=stem)
    return back_to(request, "/release")


async def describe(request: Request) -> Response:
    """Set a release beside its original again."""
    fields = await fields_of(request)
    studio = studio_of(request)
    project = studio.opened()
    made = _named(project, fields.one("release"))

    def done(found: dict[str, Any]) -> None:
        project.described[made.number] = found

    arguments = {"into": str(project.folder_of(made)), "facts": str(studio.facts_page(made))}
    studio.start("describe", f"Comparing {made.name} with its original", arguments, done)
    return back_to(request, f"/release?release={made.number}")


async def forget(request: Request) -> Response:
    """Remove a release."""
    fields = await fields_of(request)
    studio = studio_of(request)
    project = studio.opened()
    made = _named(project, fields.one("release"))
    project.forget_release(made)
    studio.tell(f"{made.name} is removed, with its receipt.")
    return back_to(request)


def _named(project: Project, number: str) -> Made:
    made = project.release(whole_number(number, "the number of a release"))
    if made is None:
        raise InputError("there is no such release any more")
    return made
