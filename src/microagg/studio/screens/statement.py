"""Statement: what a release promises and what not, and who signs for it."""

from __future__ import annotations

import datetime as dt
from typing import Any

from starlette.requests import Request
from starlette.responses import Response

from microagg.errors import InputError
from microagg.recipe.recipe import Recipe
from microagg.releases.folder.saved import SavedRelease
from microagg.statements.exposure_text import describe_exposure
from microagg.statements.statement import Statement
from microagg.studio.edits import edit
from microagg.studio.pages.render import page
from microagg.studio.project import SIGN_OFF, Made, Project
from microagg.studio.screens.form import back_to, fields_of, studio_of, whole_number
from microagg.studio.screens.release import check_of, command_of, made_of

__all__ = ["ABOUT", "show", "sign", "statement_of"]

ABOUT = ("title", "holder", "purpose")
"""Fields that are the recipe's own where it has a table for them."""


async def show(request: Request) -> Response:
    """The statement of a release, with room for names."""
    studio = studio_of(request)
    project = studio.opened()
    made = made_of(request, project)
    commands = () if made is None else (command_of(project, made), check_of(project, made))
    statement = None if made is None else statement_of(project, made)
    return page(
        request,
        "statement",
        commands=commands,
        made=made,
        releases=project.releases,
        statement=statement,
        fields=_fields(project, made),
        today=dt.date.today().isoformat(),
    )


def statement_of(project: Project, made: Made) -> dict[str, Any]:
    """What the files of a release say, in the order in which a person asks."""
    saved = SavedRelease.open(project.folder_of(made))
    content = dict(saved.statement)
    read = Statement.from_dict(content)
    counts = {count.attributes: count for count in read.recounts}
    return {
        **content,
        "guarantees": [
            {
                **one.as_dict(),
                "title": f"{one.title} of {one.confidential}" if one.of_confidential_values else one.title,
                "count": counts.get(one.attributes) if one.counted else None,
            }
            for one in read.guarantees
        ],
        "verdict": _verdict(made, read, saved.recipe),
        "requirements": [one.description for one in read.requirements],
        "exposed": describe_exposure(content.get("exposure") or ()),
        "budget": content.get("budget"),
        "id": saved.manifest["id"],
        "text": (project.folder_of(made) / "statement.txt").read_text(encoding="utf-8"),
    }


def _verdict(made: Made, read: Statement, recipe: Recipe) -> tuple[str, str]:
    """How things stand with a release, in a word for the page's style and a sentence."""
    if made.findings and not made.holds:
        return (
            "fails",
            "Do not publish it: a check of the written files found something wrong. The page Release says what.",
        )
    if not read.for_publication:
        if read.seeded:
            return "research", "Not for publication: it was made with a fixed seed, for research."
        return "fails", "Not for publication: nothing is promised, or not all of it holds."
    counted = [one.counted or one.of_confidential_values for one in read.guarantees]
    words = "they were counted on the written file, and hold"
    if not any(counted):
        words = "they follow from how the table was made, and cannot be counted on it"
    elif recipe.unit is not None:
        words = "records were counted on the written file; units only when it was made, as they cannot be seen on it"
    elif not all(counted):
        words = "what can be counted was counted on the written file, and holds; the rest follows from how it was made"
    return "holds", f"It may be published as far as its promises go: {words}."


def _fields(project: Project, made: Made | None) -> dict[str, str]:
    """What was written under a release, or what the recipe or an earlier release says."""
    own = project.content.get("about", {})
    found = {key: str(own[key]) for key in SIGN_OFF if isinstance(own, dict) and key in own}
    for earlier in reversed(project.releases):
        found |= {key: value for key, value in earlier.signed_off.items() if value and key not in ("date", "name")}
    return {**dict.fromkeys(SIGN_OFF, ""), **found, **(made.signed_off if made is not None else {})}


async def sign(request: Request) -> Response:
    """Keep what somebody writes under a statement; what belongs into the recipe goes there, too."""
    fields = await fields_of(request)
    studio = studio_of(request)
    project = studio.opened()
    made = project.release(whole_number(fields.one("release"), "the number of a release"))
    if made is None:
        raise InputError("make a release first: there is nothing to sign yet")
    written = {key: fields.one(key) for key in SIGN_OFF}
    lacking = [key for key in ("title", "holder", "purpose", "date", "name") if not written[key].strip()]
    project.sign_off(made, written)
    changes: dict[tuple[str, ...], Any] = {
        ("about", key): written[key].strip() or None for key in ABOUT if key in _about_keys()
    }
    if changes:
        project.history.add(edit(project.recipe_text, changes), "what the release is about")
    if lacking:
        studio.tell(f"Kept. Not signed yet: {', '.join(lacking)} {'is' if len(lacking) == 1 else 'are'} empty.")
    else:
        studio.tell(f"{made.name} is signed by {written['name'].strip()}. Print this page for your files.")
    return back_to(request)


def _about_keys() -> tuple[str, ...]:
    """The keys of the recipe's table about a release, if it has one."""
    about = Recipe.model_fields.get("about")
    kinds = [] if about is None else [kind for kind in _members(about.annotation) if hasattr(kind, "model_fields")]
    return tuple(kinds[0].model_fields) if kinds else ()


def _members(annotation: Any) -> tuple[Any, ...]:
    from typing import get_args

    return get_args(annotation) or (annotation,)
