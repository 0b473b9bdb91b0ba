"""Ending long work early: a time limit or an interrupt (Ctrl-C) acts within compiled code, too.

Python hears an interrupt in its main thread only, and not while that thread is in compiled code. So long work runs in a
thread of its own while the caller waits, awake: at an interrupt or a time limit it sets a flag, an array of one number,
which kernels look at. Work that cannot look is left behind in its thread, and its result is dropped.
"""

from __future__ import annotations

import contextvars
import threading
import time
from collections.abc import Callable
from typing import Any, Generic, TypeVar

import numpy as np

from microagg._typing import IntArray

__all__ = ["BUDGET", "INTERRUPT", "TIME_LIMIT", "StopCondition", "attend", "current_halt", "unless_halted"]

BUDGET, TIME_LIMIT, INTERRUPT = "budget", "time limit", "interrupt"

T = TypeVar("T")

_AWAKE = 0.05  # seconds between two looks at the clock
_PATIENCE = 0.5  # seconds that interrupted work has to notice

_current: contextvars.ContextVar[StopCondition | None] = contextvars.ContextVar("microagg_halt", default=None)


class StopCondition:
    """When to stop before the work is done: a time limit, or an interrupt.

    Attributes
    ----------
    time_limit : float or None
        Seconds from the creation on.
    flag : ndarray of one int64
        0 as long as the work may go on; for kernels, which cannot ask the clock.
    reason : {"budget", "time limit", "interrupt"}
        What ended the work; "budget" as long as nothing cut it.
    patience : float
        Seconds that interrupted work has to notice; work that has a result to hand over may raise it.
    """

    def __init__(self, time_limit: float | None = None) -> None:
        self.time_limit = time_limit
        self.deadline = None if time_limit is None else time.monotonic() + time_limit
        self.flag: IntArray = np.zeros(1, dtype=np.int64)
        self.reason = BUDGET
        self.patience = _PATIENCE
        self._later: list[StopCondition] = []

    def now(self) -> bool:
        """Whether to stop; looks at the clock and remembers why."""
        for later in self._later:
            later.now()
        if self.deadline is not None and self.reason == BUDGET and time.monotonic() >= self.deadline:
            self.stop(TIME_LIMIT)
        return bool(self.flag[0] != 0)

    def stop(self, reason: str) -> None:
        """Stop the work; an interrupt also stops what was to come after it."""
        if reason == INTERRUPT or self.reason == BUDGET:
            self.reason = reason
        self.flag[0] = 1
        if reason == INTERRUPT:
            for later in self._later:
                later.stop(reason)

    def then(self, time_limit: float | None) -> StopCondition:
        """A limit of its own for work that comes after this; an interrupt is one for both."""
        later = StopCondition(time_limit)
        self.adopt(later)
        return later

    def adopt(self, other: StopCondition) -> None:
        """An interrupt of this is one of the other as well."""
        self._later.append(other)
        if self.reason == INTERRUPT:
            other.stop(INTERRUPT)

    @property
    def seconds_left(self) -> float | None:
        return None if self.deadline is None else max(self.deadline - time.monotonic(), 0.0)


def current_halt() -> StopCondition:
    """The halt of the work that is attended here, or one that never stops anything."""
    return _current.get() or StopCondition()


class _Running(Generic[T]):
    """Work in a thread that nobody has to wait for."""

    def __init__(self, work: Callable[[], T], halt: StopCondition) -> None:
        self.done = threading.Event()
        self._result: T
        self._error: BaseException | None = None
        self._work, self._once = work, threading.Lock()
        self._context = contextvars.copy_context()
        self._context.run(_current.set, halt)

    def start(self) -> None:
        """Start the work, unless it is started: whoever was interrupted here may not know."""
        if not self._once.locked():
            threading.Thread(target=self._run, name="microagg-work", daemon=True).start()

    def _run(self) -> None:
        if not self._once.acquire(blocking=False):
            return
        try:
            self._result = self._context.run(self._work)
        except BaseException as error:  # handed to whoever waits
            self._error = error
        finally:
            self.done.set()

    def result(self) -> T:
        if self._error is not None:
            raise self._error
        return self._result


def attend(work: Callable[[], T], halt: StopCondition | None = None, *, keeps: bool = False) -> T:
    """Run work so that limits and interrupts act within a second.

    Parameters
    ----------
    work : callable
        Looks at ``current_halt()`` now and then, and hands its flag to kernels.
    halt : StopCondition, optional
        By default without a time limit. Without one, work within attended work is stopped with it.
    keeps : bool
        Whether interrupted work has a result all the same. Otherwise, at a second interrupt, or where the work does not
        notice within the patience of `halt`, ``KeyboardInterrupt`` is raised.
    """
    if halt is None and _current.get() is not None:
        return work()
    halt, around = halt or StopCondition(), _current.get()
    if around is not None:
        around.adopt(halt)
    running = _Running(work, halt)
    try:
        while True:
            try:
                running.start()
                _wait(running.done, halt)
                break
            except KeyboardInterrupt:
                if halt.reason == INTERRUPT:
                    raise
                halt.stop(INTERRUPT)
    except BaseException:  # the thread is left behind, but not without a word
        halt.stop(INTERRUPT)
        raise
    if halt.reason == INTERRUPT and not keeps:
        raise KeyboardInterrupt
    return running.result()


def _wait(done: threading.Event, halt: StopCondition) -> None:
    """Wait for the end of work, looking at the clock; raises if the work does not heed an interrupt."""
    waited = 0.0
    while not done.wait(_AWAKE):
        halt.now()
        if halt.reason == INTERRUPT:
            waited += _AWAKE
            if waited > halt.patience:
                raise KeyboardInterrupt


def unless_halted(work: Callable[[], T], halt: StopCondition) -> T | None:
    """The result of work that looks at no flag, such as a solver's; None as soon as `halt` says so."""
    if halt.now():
        return None
    running: _Running[Any] = _Running(work, halt)
    running.start()
    while not running.done.wait(_AWAKE):
        if halt.now():
            return None
    result: T = running.result()
    return result
