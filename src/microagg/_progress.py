"""Progress of long work: computations report it, a door (the command line) may show it."""

from __future__ import annotations

import logging
from collections.abc import Callable, Iterator
from contextlib import contextmanager
from contextvars import ContextVar

from microagg._kernels.first_use import call_before_compiling

__all__ = ["COMPILING", "also_shown_by", "report", "shown_by"]

COMPILING = "compiling"  # how the task begins that takes long on a new machine

Listener = Callable[[str, float], None]

_log = logging.getLogger("microagg")
_listener: ContextVar[Listener | None] = ContextVar("microagg_progress", default=None)


def report(task: str, share: float) -> None:
    """Say that `share` (0 to 1) of `task` is done; after a colon, the task may say how things stand."""
    listener = _listener.get()
    if listener is not None:
        listener(task, share)


@contextmanager
def shown_by(listener: Listener) -> Iterator[None]:
    """Report progress to `listener` inside the block."""
    token = _listener.set(listener)
    try:
        yield
    finally:
        _listener.reset(token)


@contextmanager
def also_shown_by(listener: Listener) -> Iterator[None]:
    """Report progress to `listener` inside the block, and to whoever listens already."""
    before = _listener.get()

    def both(task: str, share: float) -> None:
        if before is not None:
            before(task, share)
        listener(task, share)

    with shown_by(both):
        yield


def _report_compiling(what: str, seconds: int) -> None:
    """Say what is being compiled, so that nobody takes the wait for the work."""
    task = f"{COMPILING} {what}, first use on this machine, about {seconds} seconds"
    _log.info(task)
    report(task, 0.0)


call_before_compiling(_report_compiling)
