"""Pages from templates: every word escaped, nothing left undefined, the frame of all pages the same."""

from __future__ import annotations

from collections.abc import Mapping
from functools import cache
from typing import TYPE_CHECKING, Any

from starlette.responses import HTMLResponse

from microagg._version import __version__
from microagg.reports.figures import bar_chart, histogram
from microagg.studio.pages.pictures import frontier_picture, number
from microagg.studio.pages.words import Terms
from microagg.studio.uploads import bytes_phrase

if TYPE_CHECKING:
    from jinja2 import Environment
    from starlette.requests import Request
    from starlette.responses import Response

    from microagg.studio.studio import Studio

__all__ = ["SCREENS", "fragment", "page"]

SCREENS = {
    "table": "Table",
    "roles": "Roles",
    "risk": "Risk now",
    "frontier": "Frontier",
    "release": "Release",
    "statement": "Statement",
    "download": "Download",
    "compare": "Compare",
}
"""The way through the studio, in its order."""


def page(request: Request, name: str, *, status: int = 200, commands: tuple[str, ...] = (), **values: Any) -> Response:
    """A whole page: its own part, and around it the way, the recipe, and the command that does the same."""
    studio: Studio = request.app.state.studio
    project = studio.project
    here = request.url.path + (f"?{request.url.query}" if request.url.query else "")
    frame: dict[str, Any] = {
        "screen": name,
        "here": here,
        "screens": SCREENS,
        "version": __version__,
        "project": project,
        "job": studio.jobs.current,
        "told": studio.take_told(),
        "commands": commands,
        "questions": project.questions if project is not None else [],
        "fault": project.checked()[1] if project is not None and project.recipe_text else "",
        "max_upload": studio.max_upload,
    }
    answer = HTMLResponse(_render(f"{name}.html", {**frame, **values}), status_code=status)
    if "hx-request" in request.headers and name in (*SCREENS, "recipe"):
        answer.headers["HX-Replace-Url"] = here  # where a form led to another page
    return answer


def fragment(template: str, **values: Any) -> Response:
    """A part of a page that is fetched by itself."""
    return HTMLResponse(_render(template, values))


def _render(template: str, values: Mapping[str, Any]) -> str:
    return _environment().get_template(template).render({**values, "term": Terms()})


@cache
def _environment() -> Environment:
    from jinja2 import Environment, PackageLoader, StrictUndefined

    found = Environment(
        loader=PackageLoader("microagg.studio"),
        autoescape=True,
        undefined=StrictUndefined,
        finalize=_printable,
        trim_blocks=True,
        lstrip_blocks=True,
    )
    found.globals |= {
        "histogram": histogram,
        "bar_chart": bar_chart,
        "frontier_picture": frontier_picture,
    }
    found.filters |= {
        "number": number,
        "size": bytes_phrase,
        "seconds": _seconds,
        "lines": _numbered,
        "shade": _shade_class,
    }
    return found


def _printable(value: Any) -> Any:
    """Characters that cannot be seen, or that turn the direction of text, as escapes: a name must not disguise itself.

    Lines of text stay lines.
    """
    if not isinstance(value, str) or hasattr(value, "__html__") or value.isprintable():
        return value
    return "".join(char if char.isprintable() or char == "\n" else repr(char)[1:-1] for char in value)


def _seconds(value: float) -> str:
    return f"{value:.0f} s" if value < 90 else f"{value / 60:.0f} min"


def _numbered(text: str) -> list[str]:
    return text.rstrip("\n").split("\n")


def _shade_class(value: float | None) -> str:
    """The class of a correlation's background: eight steps on each side of zero."""
    if value is None:
        return "shade-none"
    step = min(round(abs(value) * 8), 8)
    return f"shade-{'up' if value >= 0 else 'down'}-{step}" if step else "shade-0"
