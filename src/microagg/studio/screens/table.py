"""Table: open a file, see what is in it and how it is read."""

from __future__ import annotations

from typing import Any

from starlette.requests import Request
from starlette.responses import Response

from microagg.errors import InputError
from microagg.recipe.explain import explain
from microagg.recipe.input import InputChoice
from microagg.recipe.recipe import Recipe
from microagg.studio.commands import command
from microagg.studio.edits import value_of
from microagg.studio.pages.render import page
from microagg.studio.screens.form import back_to, fields_of, receive, studio_of, whole_number
from microagg.tables.formats.registry import registered_formats

__all__ = ["read_again", "receive_table", "show"]

_FLAGS = ("separator", "decimal", "thousands", "negatives", "encoding", "sheet", "skip_rows")


async def show(request: Request) -> Response:
    """The table, or the way to open one."""
    studio = studio_of(request)
    project = studio.project
    formats = ", ".join(dict.fromkeys(one.title for one in registered_formats()))
    if project is None:
        commands: tuple[str, ...] = (command("studio", "survey.csv"),)
        return page(request, "table", facts=None, formats=formats, chosen={}, commands=commands)
    project.history.catch_up()
    chosen = project.content.get("input", {})
    flags = {key: chosen[key] for key in _FLAGS if key in chosen}
    commands = (command("init", project.typed, o="recipe.toml", **flags),)
    return page(request, "table", facts=project.facts, formats=formats, chosen=chosen, commands=commands)


async def receive_table(request: Request) -> Response:
    """Take a table that a browser sends."""
    upload = await receive(request, "uploads", "/table")
    studio = studio_of(request)
    if studio.jobs.current is not None and studio.jobs.current.is_running:
        studio.jobs.cancel()
    size = upload.path.stat().st_size
    studio.open_file(upload.path, sent_as=f"{upload.path.name} {size} {upload.sha256}")
    return back_to(request, "/table")


async def read_again(request: Request) -> Response:
    """Read the file as somebody says it is written."""
    fields = await fields_of(request)
    studio = studio_of(request)
    project = studio.opened()
    if "as_before" in fields:
        studio.look()
        return back_to(request, "/table")
    chosen: dict[str, Any] = {
        "separator": value_of(fields.one("separator"), "character"),
        "decimal": value_of(fields.one("decimal"), "text"),
        "thousands": value_of(fields.one("thousands"), "character"),
        "negatives": value_of(fields.one("negatives"), "text"),
        "encoding": value_of(fields.one("encoding"), "text"),
        "sheet": value_of(fields.one("sheet"), "codes"),
        "skip_rows": whole_number(fields.one("skip_rows"), "the rows above the header"),
        "date_format": value_of(fields.one("date_format"), "text"),
        "missing_values": value_of(fields.one("missing_values"), "words"),
        "columns": value_of(fields.one("columns"), "words"),
    }
    chosen = {key: value for key, value in chosen.items() if value is not None}
    if "sheet" in chosen:
        chosen["sheet"] = chosen["sheet"][0]
    if "missing_values" in chosen:
        chosen["missing_values"] = ["", *chosen["missing_values"]]
    if "columns" in chosen:
        chosen["header"] = False
    kept = project.content.get("input", {})
    for key in ("units", "missing"):
        if key in kept:
            chosen[key] = kept[key]
    if isinstance(kept.get("date_format"), dict) and "date_format" not in chosen:
        chosen["date_format"] = kept["date_format"]
    from pydantic import ValidationError

    try:
        InputChoice(**chosen)
    except ValidationError as error:
        raise InputError(explain(error, Recipe, "input")) from None
    studio.look(chosen)
    return back_to(request, "/table")
