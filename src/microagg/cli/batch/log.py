"""What a command tells whoever runs it, on standard error: lines for people, or JSON objects for programs.

Neither has a value of a record: what is told is written by microagg, and warnings of libraries are named, not quoted.
"""

from __future__ import annotations

import datetime as dt
import functools
import inspect
import json
import os
import sys
import warnings
from collections.abc import Callable, Iterator
from contextlib import contextmanager
from pathlib import Path
from typing import Annotated, Any, ParamSpec, TypeVar, get_type_hints

import typer

__all__ = ["is_json", "log_as_json", "takes_log_form", "tell"]

P = ParamSpec("P")
R = TypeVar("R")

MESSAGE, ERROR, PROGRESS, WARNING, END = "message", "error", "progress", "warning", "end"

_OURS = Path(__file__).resolve().parents[2]
_json = False

LogJson = Annotated[
    bool, typer.Option("--log-json", help="Tell messages, progress and errors as JSON lines on standard error.")
]


def is_json() -> bool:
    """Whether the running command tells what it tells as JSON."""
    return _json


def tell(text: str, event: str = MESSAGE, **more: Any) -> None:
    """Tell something, on standard error."""
    if _json:
        at = dt.datetime.now(dt.UTC).isoformat(timespec="milliseconds")
        text = json.dumps({"at": at, "event": event, "text": text, **more}, ensure_ascii=False)
    try:
        typer.echo(text, err=True)
    except OSError:  # nobody reads it, or its disk is full: there is nobody to tell, and the work is not worse for it
        _drop_standard_error()


def _drop_standard_error() -> None:
    """Write to nowhere what is still to be told: the command does its work, and its exit code says how that went."""
    nowhere = os.open(os.devnull, os.O_WRONLY)
    os.dup2(nowhere, sys.stderr.fileno())
    os.close(nowhere)


@contextmanager
def log_as_json(wanted: bool) -> Iterator[None]:
    """Tell everything in the block as JSON, if that is wanted; the last line has the exit code."""
    global _json
    if not wanted:
        with _warnings_told():
            yield
        return
    usual, _json = _json, True
    code: int | None = 70
    try:
        with _warnings_told():
            yield
        code = 0
    except typer.Exit as end:
        code = end.exit_code
        raise
    finally:
        tell("the command ended", END, exit_code=code)
        _json = usual


@contextmanager
def _warnings_told() -> Iterator[None]:
    """Tell warnings as the rest is told."""
    shown = warnings.showwarning
    warnings.showwarning = _tell_warning
    try:
        yield
    finally:
        warnings.showwarning = shown


def _tell_warning(
    message: Warning | str, category: type[Warning], filename: str, lineno: int, file: Any = None, line: Any = None
) -> None:
    """A warning of microagg in its words; one of a library by its type alone, as its words may hold values."""
    ours = category.__module__.partition(".")[0] == _OURS.name or _OURS in Path(filename).resolve().parents
    text = str(message) if ours else f"a library gave a {category.__name__}"
    tell(text if _json else f"warning: {text}", WARNING)


def takes_log_form(command: Callable[P, R]) -> Callable[P, R]:
    """Add ``--log-json`` to a command."""
    signature = inspect.signature(command)
    hints = get_type_hints(command, include_extras=True)
    own = [one.replace(annotation=hints.get(name, one.annotation)) for name, one in signature.parameters.items()]
    more = inspect.Parameter("log_json", inspect.Parameter.KEYWORD_ONLY, default=False, annotation=LogJson)

    @functools.wraps(command)
    def with_form(*args: Any, **values: Any) -> R:
        with log_as_json(values.pop("log_json", False)):
            sys.stderr.flush()
            return command(*args, **values)

    with_form.__signature__ = signature.replace(parameters=[*own, more])  # type: ignore[attr-defined]
    with_form.__annotations__ = {one.name: one.annotation for one in (*own, more)} | {"return": None}
    return with_form
