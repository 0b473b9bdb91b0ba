"""The pages and what they can do, as an ASGI application behind its guard."""

from __future__ import annotations

import os
import traceback
from collections.abc import Awaitable, Callable
from pathlib import Path

from starlette.applications import Starlette
from starlette.requests import Request
from starlette.responses import FileResponse, PlainTextResponse, RedirectResponse, Response
from starlette.routing import Route

from microagg.errors import MicroaggError
from microagg.studio.pages.failures import sentence_of
from microagg.studio.pages.render import page
from microagg.studio.screens import compare, download, frontier, jobs, recipe, release, risk, roles, statement, table
from microagg.studio.screens.form import back_to, studio_of
from microagg.studio.security import ENTRANCE, Guard, Keys
from microagg.studio.studio import Studio

__all__ = ["create_app"]

Handler = Callable[[Request], Awaitable[Response]]

STATIC = Path(__file__).with_name("static")
_FILES = {
    "htmx.min.js": "text/javascript",
    "studio.js": "text/javascript",
    "studio.css": "text/css",
    "icon.svg": "image/svg+xml",
}

_SHOWN: tuple[tuple[str, Handler], ...] = (
    ("/table", table.show),
    ("/roles", roles.show),
    ("/risk", risk.show),
    ("/frontier", frontier.show),
    ("/frontier/live", frontier.live),
    ("/release", release.show),
    ("/statement", statement.show),
    ("/download", download.show),
    ("/download/{number:int}/{what}", download.send),
    ("/compare", compare.show),
    ("/recipe", recipe.show),
    ("/recipe.toml", recipe.export),
    ("/job", jobs.show),
)
_DONE: tuple[tuple[str, Handler], ...] = (
    ("/table/send", table.receive_table),
    ("/table/read", table.read_again),
    ("/roles/columns", roles.set_columns),
    ("/roles/taxonomy", roles.set_taxonomy),
    ("/roles/taxonomy/send", roles.receive_taxonomy),
    ("/risk/count", risk.count),
    ("/frontier/measure", frontier.measure),
    ("/frontier/take", frontier.take),
    ("/release/make", release.make),
    ("/release/describe", release.describe),
    ("/release/forget", release.forget),
    ("/statement/sign", statement.sign),
    ("/compare/measure", compare.measure),
    ("/compare/send", compare.receive_other),
    ("/compare/forget", compare.forget),
    ("/recipe/set", recipe.set_key),
    ("/recipe/settle", recipe.settle_questions),
    ("/recipe/write", recipe.write),
    ("/recipe/send", recipe.receive_recipe),
    ("/recipe/undo", recipe.undo),
    ("/recipe/redo", recipe.redo),
    ("/job/cancel", jobs.cancel),
)


def create_app(studio: Studio, keys: Keys, port: int) -> Guard:
    """The application that a server runs; nothing reaches it but through its guard."""
    routes = [
        Route("/", _start, methods=["GET"]),
        # The guard answers this one; it is here so that whoever lists the routes finds all of them.
        Route(ENTRANCE, _start, methods=["GET"]),
        Route("/static/{name}", _static, methods=["GET"]),
        *(Route(path, _explaining(handler), methods=["GET"]) for path, handler in _SHOWN),
        *(Route(path, _explaining(handler), methods=["POST"]) for path, handler in _DONE),
    ]
    app = Starlette(routes=routes, exception_handlers={404: _not_found, 405: _not_found})
    app.state.studio = studio
    return Guard(app, keys, port)


async def _start(request: Request) -> Response:
    return RedirectResponse("/table", status_code=303)


async def _static(request: Request) -> Response:
    name = request.path_params["name"]
    if name not in _FILES:
        return PlainTextResponse("There is no such file.\n", status_code=404)
    return FileResponse(STATIC / name, media_type=_FILES[name])


async def _not_found(request: Request, error: Exception) -> Response:
    return page(request, "message", status=404, title="There is no such page", words="")


def _explaining(handler: Handler) -> Handler:
    """A handler whose errors become a sentence on the page: no traceback, no value of a record."""

    async def guarded(request: Request) -> Response:
        try:
            return await handler(request)
        except Exception as error:
            if os.environ.get("MICROAGG_DEBUG"):  # in the terminal of who started it
                traceback.print_exc()
            words = sentence_of(error)
            status = 400 if isinstance(error, MicroaggError | OSError) else 500
            studio = studio_of(request)
            if request.method == "POST":
                studio.tell(words, "error")
                return back_to(request, str(getattr(request.state, "back", "/table")))
            title = "This cannot be shown" if status == 400 else "Something went wrong"
            return page(request, "message", status=status, title=title, words=words)

    return guarded
