"""The process that does the work: one job after the other, until it is told to end, or is ended.

It is started by ``spawn``, which imports the main module again: so nothing happens when this file is imported. It keeps
the table that it read last, and ends by itself when the studio is no more.
"""

from __future__ import annotations

import os
import signal
import threading
import time
from collections.abc import Callable, Mapping
from importlib import import_module
from multiprocessing.connection import Connection
from typing import Any

__all__ = ["JOBS", "run"]

JOBS: Mapping[str, str] = {
    "look": "microagg.studio.work.table:look",
    "risk": "microagg.studio.work.risk:count_risk",
    "frontier": "microagg.studio.work.frontier:measure_frontier",
    "release": "microagg.studio.work.release:make_release",
    "describe": "microagg.studio.work.release:describe_release",
    "check": "microagg.studio.work.release:check_folder",
    "compare": "microagg.studio.work.compare:compare_releases",
}
"""What a job may be, and where its function is. It gets its arguments by name, and `tell` for results on the way."""

_EVERY = 0.1  # seconds between two reports of progress


def run(orders: Connection, reports: Connection, folder: str) -> None:
    """Take jobs from `orders` until it is closed; report progress, results and failures."""
    if hasattr(os, "setpgid"):
        os.setpgid(0, 0)  # what this process starts is ended with it; Ctrl-C in a terminal is the studio's to hear
    signal.signal(signal.SIGINT, signal.SIG_IGN)
    os.environ["TMPDIR"] = folder
    waiting: list[Any] = []
    arrived = threading.Condition()

    def listen() -> None:
        while True:
            try:
                order = orders.recv()
            except (EOFError, OSError):  # the studio is gone, however it ended
                _end_all()
            with arrived:
                waiting.append(order)
                arrived.notify()

    threading.Thread(target=listen, name="microagg-studio-orders", daemon=True).start()
    _warm_up()
    while True:
        with arrived:
            arrived.wait_for(lambda: bool(waiting))
            name, arguments = waiting.pop(0)
        _do(name, arguments, reports)


def _end_all() -> None:
    """End this process and all that it started, at once."""
    if hasattr(os, "killpg"):
        os.killpg(0, signal.SIGKILL)
    os._exit(1)


def _warm_up() -> None:
    """Load what the first job will need while the person is still reading."""
    for module in ("microagg.recipe.drafts.draft", "microagg.releases.pipeline"):
        import_module(module)


def _do(name: str, arguments: Mapping[str, Any], reports: Connection) -> None:
    from microagg._progress import shown_by
    from microagg.studio.pages.failures import sentence_of

    sending = threading.Lock()
    last = 0.0

    def listen(task: str, share: float) -> None:
        nonlocal last
        now = time.monotonic()
        if now - last >= _EVERY or share >= 1.0:
            last = now
            with sending:
                reports.send(("progress", (task, share)))

    def tell(content: Any) -> None:
        with sending:
            reports.send(("partial", content))

    try:
        with shown_by(listen):
            result = _function(JOBS[name])(**arguments, tell=tell)
    except Exception as error:
        message: tuple[str, Any] = ("failed", sentence_of(error))
    else:
        message = ("done", result)
    with sending:
        reports.send(message)


def _function(address: str) -> Callable[..., Any]:
    module, _, name = address.partition(":")
    found: Callable[..., Any] = getattr(import_module(module), name)
    return found
