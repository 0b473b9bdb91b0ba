"""The server: on this machine alone, found by a printed address, gone without a trace of records."""

from __future__ import annotations

import asyncio
import signal
import socket
import threading
import webbrowser
from collections.abc import Callable, Iterator
from contextlib import contextmanager
from pathlib import Path
from typing import Any

from microagg.errors import InputError
from microagg.studio.app import create_app
from microagg.studio.places import state_folder
from microagg.studio.security import ENTRANCE, Keys
from microagg.studio.studio import Studio

__all__ = ["serve"]

LOOPBACK = "127.0.0.1"


def serve(
    data: Path | None = None,
    recipe: Path | None = None,
    *,
    port: int = 0,
    browser: bool = True,
    max_upload: int = 2 << 30,
    say: Callable[[str], None] = print,
) -> None:
    """Run a studio until it is interrupted.

    Parameters
    ----------
    data : Path, optional
        A table to open, read where it is.
    recipe : Path, optional
        A recipe to begin with.
    port : int, default 0
        0 takes one that is free.
    browser : bool, default True
        Whether to open the page.
    max_upload : int
        The most bytes of a file that a browser may send.
    say : callable
        Told the address.
    """
    import uvicorn

    if recipe is not None and data is None:
        raise InputError("--recipe is for a table: name its file, too")
    listening = _listen(port)
    studio = Studio(state_folder(), max_upload)
    try:
        keys, at = Keys(), listening.getsockname()[1]
        if data is not None:
            studio.open_file(data, recipe=recipe)
        else:
            threading.Thread(target=studio.jobs.warm_up, name="microagg-studio-start", daemon=True).start()
        config = uvicorn.Config(
            create_app(studio, keys, at),
            access_log=False,
            log_level="warning",
            server_header=False,
            proxy_headers=False,
            ws="none",
            lifespan="off",
            http="h11",
            loop="asyncio",
            timeout_graceful_shutdown=1,
        )
        server = uvicorn.Server(config)
        entrance = f"http://{LOOPBACK}:{at}{ENTRANCE}?token="
        to_open = f"{entrance}{keys.once}" if browser else ""

        async def run() -> None:
            told = asyncio.create_task(_tell_when_up(server, f"{entrance}{keys.token}", say, to_open))
            await server.serve(sockets=[listening])
            await told

        with _ended_by_signals(server):
            asyncio.run(run())
    except KeyboardInterrupt:
        pass
    finally:
        studio.close()
        listening.close()


@contextmanager
def _ended_by_signals(server: Any) -> Iterator[None]:
    """A terminal that is closed and a machine that shuts down end a server as Ctrl-C does, so that all is removed."""
    if threading.current_thread() is not threading.main_thread():
        yield
        return

    def end(*_: object) -> None:
        server.should_exit = True

    names = [name for name in ("SIGTERM", "SIGHUP") if hasattr(signal, name)]
    before = {number: signal.getsignal(number) for number in (getattr(signal, name) for name in names)}
    ended = {number: handler for number, handler in before.items() if handler is not signal.SIG_IGN}  # as by nohup
    try:
        for number in ended:
            signal.signal(number, end)
        yield
    finally:
        for number, handler in ended.items():
            signal.signal(number, handler)


async def _tell_when_up(server: Any, address: str, say: Callable[[str], None], to_open: str) -> None:
    while not (server.started or server.should_exit):
        await asyncio.sleep(0.02)
    if server.started:
        say(f"The studio is open at\n\n    {address}\n\nfor you, on this machine, until Ctrl-C ends it.")
        if to_open:
            threading.Thread(target=webbrowser.open, args=(to_open,), daemon=True).start()


def _listen(port: int) -> socket.socket:
    found = socket.socket(socket.AF_INET, socket.SOCK_STREAM)
    found.setsockopt(socket.SOL_SOCKET, socket.SO_REUSEADDR, 1)
    try:
        found.bind((LOOPBACK, port))
    except (OSError, OverflowError):
        found.close()
        raise InputError(f"port {port} is not free. Leave out --port, and one that is free is taken") from None
    return found
