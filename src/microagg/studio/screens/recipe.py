"""The recipe itself: single keys, questions, its text, undo and redo, in and out."""

from __future__ import annotations

from starlette.requests import Request
from starlette.responses import Response

from microagg.errors import InputError, RecipeError
from microagg.studio.commands import command, short_path
from microagg.studio.edits import edit, edit_columns, label_of, settle_columns, value_of
from microagg.studio.pages.render import page
from microagg.studio.recipe_text import parse, questions, settle
from microagg.studio.screens.form import back_to, fields_of, receive, studio_of, whole_number

__all__ = ["export", "receive_recipe", "redo", "set_key", "settle_questions", "show", "undo", "write"]

_MOST = 4 << 20


async def show(request: Request) -> Response:
    """The recipe as text, to read and to edit."""
    studio = studio_of(request)
    project = studio.opened()
    commands = (command("release", project.typed, r=short_path(project.history.recipe_file), o="release"),)
    text, version = project.unsaved or (project.recipe_text, project.history.version)
    return page(
        request, "recipe", commands=commands, text=text, version=version, is_unsaved=project.unsaved is not None
    )


async def set_key(request: Request) -> Response:
    """Set one key, as a field of a page does; an empty value takes it away."""
    fields = await fields_of(request)
    project = studio_of(request).opened()
    keys = fields.keys_of("key")
    form = fields.one("form", "text")
    value = [one for one in fields.all("value") if one] or None if form == "several" else None
    if form == "bounds":
        low, high = value_of(fields.one("low"), "bound"), value_of(fields.one("high"), "bound")
        if (low is None) is not (high is None):
            raise InputError("bounds are two: the smallest and the largest value. Type both, or none")
        value = None if low is None else [low, high]
    elif form != "several":
        value = value_of(fields.one("value"), form)
    if len(keys) == 3 and keys[0] == "attributes" and keys[2] in ("role", "kind") and value is not None:
        text = edit_columns(project.recipe_text, [keys[1]], *((value, None) if keys[2] == "role" else (None, value)))
    else:
        text = edit(project.recipe_text, {keys: value})
        if len(keys) == 3 and keys[0] == "attributes":
            text = settle_columns(text, [keys[1]])
        else:
            text = settle(text, [one.line for one in questions(text) if _answers(keys, one.topic)])
    project.history.add(text, label_of(keys, value))
    return back_to(request)


def _answers(keys: tuple[str, ...], topic: str) -> bool:
    """Whether a key that was set is what a question asks for: drafts ask for k at the top, and for what is missing."""
    return (topic == "" and keys == ("k",)) or (topic == "missing" and keys == ("missing", "policy"))


async def settle_questions(request: Request) -> Response:
    """Settle open questions: what the draft guessed is right."""
    fields = await fields_of(request)
    project = studio_of(request).opened()
    line = whole_number(fields.one("line"), "a line")
    asked = [one for one in project.questions if (one.topic, one.text) == (fields.one("topic"), fields.one("asked"))]
    lines = [min(asked, key=lambda one: abs(one.line - (line or 0))).line] if asked else []
    if not lines:  # a change settled it already
        return back_to(request)
    text = settle(project.recipe_text, lines)
    project.history.add(text, "a question settled")
    return back_to(request)


async def write(request: Request) -> Response:
    """Take the recipe's text as somebody edited it."""
    fields = await fields_of(request)
    studio = studio_of(request)
    project = studio.opened()
    text, now = fields.one("text"), project.history.version
    if fields.one("do") == "discard":
        project.unsaved = None
        return back_to(request, "/recipe")
    edited = whole_number(fields.one("version"), "the version of a recipe") or 0
    try:
        parse(text)
    except RecipeError as error:
        project.unsaved = (text, edited)  # it outlives a reload, until it is saved or discarded
        studio.tell(str(error), "error")
        return back_to(request, "/recipe")
    if edited != now:
        project.unsaved = (text, now)  # who saves it again has read this
        studio.tell("the recipe was changed on another page meanwhile. Your text is below, not saved yet", "error")
        return back_to(request, "/recipe")
    project.unsaved = None
    project.history.add(text if text.endswith("\n") else f"{text}\n", "edited as text")
    return back_to(request)


async def receive_recipe(request: Request) -> Response:
    """Take a recipe from a file."""
    upload = await receive(request, "recipes", "/recipe", _MOST)
    studio = studio_of(request)
    project = studio.opened()
    try:
        text = upload.path.read_text(encoding="utf-8")
    except UnicodeDecodeError:
        raise InputError("a recipe is a UTF-8 text file") from None
    parse(text)
    project.history.add(text, f"imported {upload.path.name}")
    studio.tell(f"The recipe {upload.path.name} is in use. Undo brings the one before back.")
    return back_to(request, "/recipe")


async def export(request: Request) -> Response:
    """The recipe as a file."""
    project = studio_of(request).opened()
    headers = {"content-disposition": 'attachment; filename="recipe.toml"'}
    return Response(project.recipe_text.encode("utf-8"), media_type="application/toml", headers=headers)


async def undo(request: Request) -> Response:
    """One step back."""
    await fields_of(request)
    studio = studio_of(request)
    undone = studio.opened().history.undo()
    studio.tell(f"Undone: {undone}" if undone else "There is nothing to undo.")
    return back_to(request)


async def redo(request: Request) -> Response:
    """One step forward again."""
    await fields_of(request)
    studio = studio_of(request)
    done = studio.opened().history.redo()
    studio.tell(f"Done again: {done}" if done else "There is nothing to do again.")
    return back_to(request)
