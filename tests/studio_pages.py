"""A studio without a network: requests go to the application as a server would hand them over."""

from __future__ import annotations

import asyncio
import json
import tomllib
from collections.abc import Coroutine
from concurrent.futures import ThreadPoolExecutor
from dataclasses import dataclass, field
from pathlib import Path
from typing import Any
from urllib.parse import urlencode

from optional_packages import need

PORT = 8765
ORIGIN = f"http://127.0.0.1:{PORT}"
SAID = {"back": "/roles"}
"""What forms of the page of roles send beside their own fields."""

SURVEY = """id,age,region,education,income
p1,31,north,low,20
p2,32,north,high,30
p3,33,south,low,20
p4,61,south,high,40
p5,62,north,low,20
p6,63,south,low,50
"""
RECIPE = """\
# What was decided.
method = "mdav"
k = 2   # DECIDE: how many?

[attributes.id]
role = "identifier"

[attributes.age]
# DECIDE: is it known?
role = "quasi_identifier"
kind = "numeric"

[attributes.region]
role = "quasi_identifier"
kind = "nominal"

[attributes.education]
role = "quasi_identifier"
kind = "nominal"

[attributes.income]
role = "confidential"
kind = "numeric"
"""


def run_apart(coroutine: Coroutine[Any, Any, None]) -> None:
    """Run a coroutine in a thread of its own: that of the tests may hold the loop that drives a browser."""
    with ThreadPoolExecutor(1) as thread:
        thread.submit(asyncio.run, coroutine).result()


@dataclass
class Answer:
    """What the application said."""

    status: int
    headers: list[tuple[str, str]]
    body: bytes

    @property
    def text(self) -> str:
        return self.body.decode("utf-8")

    def header(self, name: str) -> str:
        return next((value for key, value in self.headers if key == name), "")


@dataclass
class Browser:
    """A client that keeps its cookie, as a browser does; follows no redirect."""

    app: Any
    cookie: str = ""
    headers: dict[str, str] = field(default_factory=dict)

    def ask(self, method: str, path: str, body: bytes = b"", **headers: str) -> Answer:
        """Send a request; a header that is None is left out."""
        sent = {"host": f"127.0.0.1:{PORT}", "cookie": self.cookie, **self.headers}
        sent |= {"origin": ORIGIN} if method == "POST" else {}
        sent |= {name.replace("_", "-"): value for name, value in headers.items()}
        path, _, query = path.partition("?")
        scope = {
            "type": "http",
            "asgi": {"version": "3.0"},
            "http_version": "1.1",
            "method": method,
            "scheme": "http",
            "path": path,
            "raw_path": path.encode(),
            "query_string": query.encode(),
            "root_path": "",
            "headers": [(key.encode(), value.encode("latin-1")) for key, value in sent.items() if value],
            "client": ("127.0.0.1", 50000),
            "server": ("127.0.0.1", PORT),
        }
        pieces = [body[i : i + 65536] for i in range(0, len(body), 65536)] or [b""]
        said: list[Any] = []

        async def receive() -> Any:
            if not pieces:
                await asyncio.Event().wait()  # the browser waits for the answer
            return {"type": "http.request", "body": pieces.pop(0), "more_body": bool(pieces)}

        async def send(message: Any) -> None:
            said.append(message)

        run_apart(self.app(scope, receive, send))
        start, *rest = said
        found = [(key.decode().lower(), value.decode("latin-1")) for key, value in start["headers"]]
        return Answer(start["status"], found, b"".join(one.get("body", b"") for one in rest))

    def get(self, path: str, **headers: str) -> Answer:
        return self.ask("GET", path, **headers)

    def post(self, path: str, fields: dict[str, Any] | None = None, **headers: str) -> Answer:
        body = urlencode(fields or {}, doseq=True).encode()
        return self.ask("POST", path, body, content_type="application/x-www-form-urlencoded", **headers)

    def send(self, path: str, name: str, content: bytes, fields: dict[str, str] | None = None) -> Answer:
        """Send a file as a form does."""
        line = b"--edge\r\n"
        body = b""
        for key, value in (fields or {}).items():
            body += line + f'Content-Disposition: form-data; name="{key}"\r\n\r\n{value}\r\n'.encode()
        body += line + f'Content-Disposition: form-data; name="file"; filename="{name}"\r\n'.encode()
        body += b"Content-Type: application/octet-stream\r\n\r\n" + content + b"\r\n--edge--\r\n"
        return self.ask("POST", path, body, content_type="multipart/form-data; boundary=edge")


def open_studio(state: Path, *, max_upload: int = 1 << 20) -> tuple[Any, Browser, Any]:
    """A studio that listens nowhere, a browser that has entered it, and its keys."""
    need("starlette")
    need("uvicorn")
    need("python_multipart")
    from microagg.studio.app import create_app
    from microagg.studio.security import Keys
    from microagg.studio.studio import Studio

    studio, keys = Studio(state, max_upload), Keys()
    browser = Browser(create_app(studio, keys, PORT))
    entered = browser.get(f"/enter?token={keys.token}")
    assert entered.status == 303
    browser.cookie = entered.header("set-cookie").partition(";")[0]
    return studio, browser, keys


def with_project(
    studio: Any, folder: Path, *, survey: str = SURVEY, recipe: str = RECIPE, name: str = "survey.csv"
) -> Any:
    """Let a studio have a table open, without a process that reads it."""
    from microagg.studio.project import Project
    from microagg.studio.work.table import look

    path = folder / name
    path.write_text(survey, encoding="utf-8")
    project = Project(path, str(path), studio.state / "projects" / "one")
    project.history.add(recipe, "given")
    facts = look(str(path), {}, 2, lambda _: None)
    facts.pop("draft")
    project.facts = facts
    studio.project = project
    return project


def recipe_of(project: Any) -> dict[str, Any]:
    return tomllib.loads(project.recipe_text)


def set_key(browser: Browser, keys: list[str], value: Any, form: str = "text") -> Answer:
    """Set a key of the recipe, as a field of a page does."""
    return browser.post("/recipe/set", {"key": json.dumps(keys), "form": form, "value": value, **SAID})
