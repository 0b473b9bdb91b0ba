"""What pages send: fields of forms, and the page to go back to."""

from __future__ import annotations

import json
import re
from typing import Any
from urllib.parse import parse_qs

from starlette.requests import Request
from starlette.responses import RedirectResponse, Response

from microagg.errors import InputError
from microagg.studio.pages.render import SCREENS
from microagg.studio.studio import Studio

__all__ = ["Fields", "back_to", "fields_of", "receive", "studio_of", "whole_number"]

_MOST = 4 << 20
_FIELDS = 20_000


class Fields:
    """The fields of a form, each with one or more values."""

    def __init__(self, values: dict[str, list[str]]) -> None:
        self._values = values

    def __contains__(self, name: str) -> bool:
        return name in self._values

    def one(self, name: str, default: str = "") -> str:
        return self._values.get(name, [default])[-1]

    def all(self, name: str) -> list[str]:
        return self._values.get(name, [])

    def keys_of(self, name: str) -> tuple[str, ...]:
        """A way to a key of the recipe, as a JSON list: names of columns may hold any letter."""
        try:
            found: Any = json.loads(self.one(name))
        except (ValueError, RecursionError):
            found = None
        if not isinstance(found, list) or not all(isinstance(one, str) for one in found):
            raise InputError("the page sent a key that cannot be read")
        return tuple(found)


async def fields_of(request: Request) -> Fields:
    """The fields that a page sent."""
    body = bytearray()
    async for piece in request.stream():
        body += piece
        if len(body) > _MOST:
            raise InputError("what was sent is longer than any recipe")
    try:
        values = parse_qs(bytes(body).decode("utf-8"), keep_blank_values=True, max_num_fields=_FIELDS)
    except ValueError:
        raise InputError("the page sent a form that cannot be read") from None
    values = {name: [one.replace("\r\n", "\n") for one in several] for name, several in values.items()}
    found = Fields(values)
    request.state.back = found.one("back") or _page_of(request)
    return found


def _page_of(request: Request) -> str:
    """The page that a request came from, as the browser says."""
    from urllib.parse import urlsplit

    came = urlsplit(request.headers.get("referer", ""))
    return came.path + (f"?{came.query}" if came.query else "") or "/table"


async def receive(request: Request, folder: str, back: str, most: int | None = None) -> Any:
    """The file that a page sent, in a folder of its own."""
    from pathlib import Path
    from tempfile import mkdtemp

    from microagg.studio.uploads import receive_file

    request.state.back = back
    studio = studio_of(request)
    into = Path(mkdtemp(dir=studio.run.folder(folder)))
    upload = await receive_file(request, into, studio.max_upload if most is None else most)
    if upload.path is None:
        raise InputError("choose a file first")
    return upload


def studio_of(request: Request) -> Studio:
    found: Studio = request.app.state.studio
    return found


def back_to(request: Request, path: str = "") -> Response:
    """Back to the page that something was done on, or to another one of ours."""
    wanted = path or str(getattr(request.state, "back", "/table"))
    allowed = "|".join([*SCREENS, "recipe"])
    is_ours = re.fullmatch(rf"/({allowed})(\?[A-Za-z0-9_.=&%+~-]*)?(#[A-Za-z0-9_-]*)?", wanted)
    return RedirectResponse(wanted if is_ours else "/table", status_code=303)


def whole_number(text: str, what: str) -> int | None:
    """A whole number that somebody typed; None if the field is empty."""
    if not text.strip():
        return None
    if not re.fullmatch(r"\s*\d{1,18}\s*", text):
        raise InputError(f"{what} must be a whole number")
    return int(text)
