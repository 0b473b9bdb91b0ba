"""Frontier: many ways to make a release against each other, filling in as they are measured."""

from __future__ import annotations

from typing import Any

from starlette.requests import Request
from starlette.responses import Response

from microagg.errors import InputError
from microagg.frontier.sweep import CHOSEN_BY_LOOKING
from microagg.methods.catalogue import METHODS
from microagg.space.guides import swept_guides
from microagg.studio.commands import command, short_path
from microagg.studio.edits import edit, value_of
from microagg.studio.pages.render import fragment, page
from microagg.studio.project import Project
from microagg.studio.screens.form import Fields, back_to, fields_of, studio_of, whole_number
from microagg.studio.studio import Studio

__all__ = ["live", "measure", "show", "take"]

SAMPLE = 5_000
_MEASURES = (
    *("SSE_SST", "IL1s", "KS", "JSD", "correlation_difference", "eigenvalue_difference"),
    *("distance_linkage", "distance_to_closest", "k", "singled_out", "label_purity", "t_closeness"),
)
"""What points are measured by if nobody says so: what one chooses by, and nothing that takes long."""
_FIRST = {"methods": ["mdav", "near_optimal"], "k": [3, 5, 10, 20, 50]}


async def show(request: Request) -> Response:
    """What is tried, and what came of it."""
    studio = studio_of(request)
    project = studio.opened()
    swept = {**_FIRST, **project.content.get("sweep", {})}
    path = short_path(project.history.recipe_file)
    commands: tuple[str, ...] = (command("sweep", project.typed, r=path, o=f"{project.source.stem}-frontier"),)
    found = _shown(project)
    point = _chosen(found, request.query_params.get("point"))
    if point is not None:
        settings = point["settings"]
        flags = {key: settings.get(key) for key in ("method", "k", "epsilon", "l", "t")}
        commands = (*commands, command("release", project.typed, r=path, o=f"release-{point['name']}", **flags))
    return page(
        request,
        "frontier",
        commands=commands,
        swept=swept,
        methods=list(METHODS.values()),
        frontier=found,
        point=point,
        sample=project.results.get("sample", SAMPLE),
        records=(project.facts or {}).get("records"),
        warning=CHOSEN_BY_LOOKING,
        is_private=_tries_private(swept),
        measured=project.result("frontier"),
    )


def _tries_private(swept: dict[str, Any]) -> bool:
    return any(name in METHODS and METHODS[name].is_private for name in swept.get("methods", ()))


async def live(request: Request) -> Response:
    """The picture alone, while it fills in."""
    studio = studio_of(request)
    project = studio.opened()
    found = _shown(project)
    chosen = _chosen(found, request.query_params.get("point"))
    return fragment("frontier_picture.html", frontier=found, point=chosen, job=studio.jobs.current)


def _shown(project: Project) -> dict[str, Any] | None:
    return project.result("frontier_live") or project.result("frontier")


def _chosen(found: dict[str, Any] | None, name: str | None) -> dict[str, Any] | None:
    return next((one for one in (found or {}).get("points", ()) if one["name"] == name), None)


async def measure(request: Request) -> Response:
    """Keep what is to be tried in the recipe, and try it."""
    fields = await fields_of(request)
    studio = studio_of(request)
    project = studio.opened()
    project.history.add(_with_sweep(project, fields), "what the frontier tries")
    size = fields.one("sample", str(SAMPLE))
    sample = None if size == "all" else whole_number(size, "the size of the sample") or SAMPLE
    project.results["sample"] = size if sample is None else sample
    _start(studio, project, sample, fields.one("utility") or None, fields.one("risk") or None)
    return back_to(request, "/frontier")


def _with_sweep(project: Project, fields: Fields) -> str:
    """The recipe with ``[sweep]`` as the page has it."""
    changes: dict[tuple[str, ...], Any] = {("sweep", "methods"): fields.all("method") or None}
    forms = {"k": "numbers", "epsilon": "numbers", "lambda": "numbers", "l": "numbers", "t": "numbers"}
    for key, form in forms.items():
        changes[("sweep", key)] = value_of(fields.one(key), form)
    changes[("sweep", "repeats")] = whole_number(fields.one("repeats"), "how often a release is made")
    measures = list(dict.fromkeys([*project.content.get("sweep", {}).get("measures", _MEASURES)]))
    for name in (fields.one("utility"), fields.one("risk")):
        measures += [name] if name and name not in measures else []
    changes[("sweep", "measures")] = measures
    if changes[("sweep", "methods")] is None:
        raise InputError("tick at least one method to try")
    return edit(project.recipe_text, changes)


def _start(studio: Studio, project: Project, sample: int | None, utility: str | None, risk: str | None) -> None:
    digest = project.digest
    project.results.pop("frontier_live", None)

    def partial(found: dict[str, Any]) -> None:
        project.results["frontier_live"] = {**found, "digest": digest}

    def done(found: dict[str, Any]) -> None:
        project.results.pop("frontier_live", None)
        project.keep_result("frontier", found, digest=digest)

    arguments = {
        "into": str(project.folder / "frontier"),
        "sample": sample,
        "utility": utility,
        "risk": risk,
        "workers": None,
    }
    studio.start("frontier", "Measuring releases", arguments, done, partial)


async def take(request: Request) -> Response:
    """Make the settings of a point those of the recipe."""
    fields = await fields_of(request)
    studio = studio_of(request)
    project = studio.opened()
    point = _chosen(_shown(project), fields.one("point"))
    if point is None:
        raise InputError("choose a point of the picture first")
    project.history.add(_with_point(project, point["settings"]), f"as the point {point['name']}")
    studio.tell(f"The recipe is that of the point {point['name']} now.")
    return back_to(request, "/release")


def _with_point(project: Project, settings: dict[str, Any]) -> str:
    method = METHODS[settings["method"]]
    changes: dict[tuple[str, ...], Any] = {("method",): method.name}
    if settings.get("k"):
        changes[("k",)] = settings["k"]
    if method.is_private:
        changes[("privacy", "epsilon")] = settings.get("epsilon")
    elif "privacy" in project.content:
        changes[("privacy",)] = None
    recipe, _ = project.checked()
    required = {"distinct_l": settings.get("l"), "t_closeness": settings.get("t")}
    required = {key: value for key, value in required.items() if value is not None}
    if recipe is not None and required:
        for name, one in recipe.protecting(**required).protect.items():
            for key in required:
                changes[("protect", name, key)] = getattr(one, key)
    guides = swept_guides()
    for key, value in settings.items():
        if key in guides:
            of_others = {one.name for one in guides.values()} - {guides[key].name}
            changes |= {("space", name): None for name in project.content.get("space", {}) if name in of_others}
            changes[("space", guides[key].name, key)] = value
    return edit(project.recipe_text, changes)
