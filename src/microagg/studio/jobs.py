"""Jobs: one at a time, in a process of its own, with progress, an end that can be called, and a death that is told."""

from __future__ import annotations

import multiprocessing
import os
import signal
import threading
import time
from collections.abc import Callable, Mapping
from contextlib import suppress
from dataclasses import dataclass, field
from multiprocessing.connection import Connection
from pathlib import Path
from typing import Any

from microagg.errors import InputError
from microagg.studio.pages.failures import sentence_of
from microagg.studio.worker import run

__all__ = ["CANCELLED", "DONE", "FAILED", "RUNNING", "Job", "Jobs"]

RUNNING, DONE, FAILED, CANCELLED = "running", "done", "failed", "cancelled"

_PATIENCE = 0.8  # seconds between asking a process to end and ending it
_SOON = 3.0  # seconds of work before the time that is left is estimated


@dataclass
class Job:
    """One job, as the pages show it.

    Attributes
    ----------
    name : str
        Of :data:`microagg.studio.worker.JOBS`.
    title : str
        What it does, for people.
    state : {"running", "done", "failed", "cancelled"}
    task : str
        What is being done just now.
    share : float
        How much of `task` is done, from 0 to 1.
    message : str
        Why it failed.
    changes : int
        Grows with everything that a page might show.
    kept : bool
        Whether something that was finished on the way stays, however the job ends.
    """

    name: str
    title: str
    state: str = RUNNING
    task: str = "starting"
    share: float = 0.0
    message: str = ""
    changes: int = 0
    kept: bool = False
    started: float = field(default_factory=time.monotonic)
    ended: float | None = None
    task_started: float = field(default_factory=time.monotonic)

    @property
    def is_running(self) -> bool:
        return self.state == RUNNING

    @property
    def seconds(self) -> float:
        return (self.ended or time.monotonic()) - self.started

    @property
    def seconds_left(self) -> float | None:
        """What the task at hand will still take if it goes on so; None as long as nobody can tell."""
        spent = time.monotonic() - self.task_started
        if not self.is_running or spent < _SOON or not 0.03 <= self.share < 1.0:
            return None
        return spent * (1.0 - self.share) / self.share

    def note(self, task: str, share: float) -> None:
        """Take note of progress."""
        name = task.partition(":")[0]
        if name != self.task.partition(":")[0]:
            self.task_started = time.monotonic()
        self.task, self.share = task, min(max(share, 0.0), 1.0)
        self.changes += 1

    def end(self, state: str, message: str = "") -> None:
        self.state, self.message, self.ended = state, message, time.monotonic()
        self.changes += 1


class Jobs:
    """The one process that works, and the one job that it does.

    Parameters
    ----------
    folder : Path
        Where the process keeps what it needs meanwhile.
    """

    def __init__(self, folder: Path) -> None:
        self._folder = folder
        self._lock = threading.RLock()
        self._process: Any = None
        self._orders: Connection | None = None
        self._on_done: Callable[[Any], None] | None = None
        self._on_partial: Callable[[Any], None] | None = None
        self._has_written: Callable[[], bool] | None = None
        self.current: Job | None = None

    def warm_up(self) -> None:
        """Start the process, so that it is ready when it is needed."""
        with self._lock:
            if self._process is None or not self._process.is_alive():
                self._start_process()

    def start(
        self,
        name: str,
        title: str,
        arguments: Mapping[str, Any],
        on_done: Callable[[Any], None],
        on_partial: Callable[[Any], None] | None = None,
        has_written: Callable[[], bool] | None = None,
    ) -> Job:
        """Start a job; `on_done` gets its result, `on_partial` what it tells on the way, both in another thread.

        `has_written` says of a job that did not come to its end whether what it makes is there all the same.

        Raises
        ------
        InputError
            If another one is running.
        """
        with self._lock:
            if self.current is not None and self.current.is_running:
                raise InputError(f"one job at a time: '{self.current.title}' is running. Wait for it, or cancel it")
            self.warm_up()
            assert self._orders is not None
            self.current = Job(name, title)
            self._on_done, self._on_partial, self._has_written = on_done, on_partial, has_written
            try:
                self._orders.send((name, dict(arguments)))
            except (BrokenPipeError, OSError):  # it died in this instant
                self._start_process()
                self._orders.send((name, dict(arguments)))
            return self.current

    def cancel(self) -> bool:
        """End the running job, also in the middle of compiled code; False if none is running."""
        with self._lock:
            job = self.current
            if job is None or not job.is_running:
                return False
            self._end_process()
            stays = "what was finished by then is kept" if self._keeps(job) else "nothing of it was kept"
            job.end(CANCELLED, f"cancelled: {stays}")
        threading.Thread(target=self.warm_up, name="microagg-studio-start", daemon=True).start()
        return True

    def close(self) -> None:
        """End the process."""
        with self._lock:
            if self.current is not None and self.current.is_running:
                self.current.end(CANCELLED, "the studio was closed")
            self._end_process()

    def _keeps(self, job: Job) -> bool:
        return job.kept or (self._has_written is not None and self._has_written())

    def _start_process(self) -> None:
        context = multiprocessing.get_context("spawn")
        orders_there, self._orders = context.Pipe(duplex=False)
        reports, reports_there = context.Pipe(duplex=False)
        process = context.Process(
            target=run, args=(orders_there, reports_there, str(self._folder)), name="microagg-studio-work"
        )
        process.start()
        orders_there.close()
        reports_there.close()
        self._process = process
        threading.Thread(target=self._listen, args=(process, reports), name="microagg-studio-jobs", daemon=True).start()

    def _end_process(self) -> None:
        process, self._process = self._process, None
        if process is None:
            return
        _signal(process, signal.SIGTERM)
        process.join(_PATIENCE)
        _signal(process, getattr(signal, "SIGKILL", signal.SIGTERM))  # and whatever it started
        process.join()
        if self._orders is not None:
            self._orders.close()
            self._orders = None

    def _listen(self, process: Any, reports: Connection) -> None:
        """Hear a process until it ends; one that ends by itself has died."""
        while True:
            try:
                kind, content = reports.recv()
            except (EOFError, OSError):
                break
            self._hear(process, kind, content)
        process.join()
        with self._lock:
            if self._process is not process:  # it was told to end
                return
            self._process = None
            if self.current is not None and self.current.is_running:
                self.current.end(FAILED, _obituary(process.exitcode, self._keeps(self.current)))

    def _hear(self, process: Any, kind: str, content: Any) -> None:
        with self._lock:
            job = self.current
            if job is None or not job.is_running or self._process is not process:
                return
            if kind == "progress":
                job.note(*content)
            elif kind == "failed":
                job.end(FAILED, content)
            else:
                heard = self._on_done if kind == "done" else self._on_partial
                try:
                    if heard is not None:
                        heard(content)
                except Exception as error:  # or nobody would listen any more, and the job never end
                    job.end(FAILED, sentence_of(error))
                    return
                job.kept, job.changes = True, job.changes + 1
                if kind == "done":
                    job.end(DONE)


def _signal(process: Any, number: int) -> None:
    """Send a signal to a process and all that it started."""
    if hasattr(os, "killpg"):
        with suppress(ProcessLookupError, PermissionError):
            os.killpg(process.pid, number)
    if process.is_alive():
        with suppress(ProcessLookupError):
            process.kill() if number != signal.SIGTERM else process.terminate()


def _obituary(code: int | None, kept: bool) -> str:
    how = f"by signal {-code}" if code is not None and code < 0 else f"with code {code}"
    stays = "What was finished by then is kept" if kept else "Nothing was written"
    memory = " The system does so when memory runs out: try fewer records, or a larger machine." if code == -9 else ""
    return f"the process that did the work was ended from outside ({how}). {stays}.{memory} Start again"
