"""Progress where nobody sees a bar, as in a log: a plain line now and then, none for short work."""

from __future__ import annotations

import sys
import threading
import time
from collections.abc import Callable, Iterator
from contextlib import contextmanager

from microagg._progress import COMPILING, shown_by

__all__ = ["ProgressLines", "lines_of_progress"]

EVERY = 10.0  # seconds


class ProgressLines:
    """Listens to progress and says how things stand, at most once in so many seconds.

    It says at once, and once, that a kernel is being compiled: on a new machine that is what takes long.

    Parameters
    ----------
    say : callable
        Takes a line.
    every : float
        Seconds between two lines, and before the first.
    clock : callable
        Seconds.
    """

    def __init__(
        self, say: Callable[[str], None], every: float = EVERY, clock: Callable[[], float] = time.monotonic
    ) -> None:
        self._say, self._every, self._clock = say, every, clock
        self._last = clock()
        self._state: tuple[str, float] | None = None
        self._lock = threading.Lock()

    def listen(self, task: str, share: float) -> None:
        """Take note of progress; see :func:`microagg._progress.report`."""
        with self._lock:
            if task.startswith(COMPILING) and (self._state is None or self._state[0] != task):
                self._say(_line(task, share))
                self._last = self._clock()
            self._state = (task, share)
        self.tick()

    def tick(self) -> None:
        """Say how things stand, if it is time."""
        with self._lock:
            now = self._clock()
            if self._state is None or now - self._last < self._every:
                return
            task, share = self._state
            self._last = now
            if share < 1.0 and not task.startswith(COMPILING):
                self._say(_line(task, share))


def _line(task: str, share: float) -> str:
    """How things stand, which a task may tell after a colon.

    Examples
    --------
    >>> _line("searching cells: loses 3.1 %", 0.4)
    'searching cells: 40 % (loses 3.1 %)'
    """
    if task.startswith(COMPILING):
        return f"microagg: {task}"
    name, _, standing = task.partition(": ")
    return f"{name}: {100 * share:.0f} %" + (f" ({standing})" if standing else "")


@contextmanager
def lines_of_progress(say: Callable[[str], None] | None = None) -> Iterator[None]:
    """Say lines of progress inside the block, by default on standard error, also while compiled code is silent."""
    lines = ProgressLines(say or (lambda line: print(line, file=sys.stderr, flush=True)), EVERY)
    done = threading.Event()

    def watch() -> None:
        while not done.wait(1.0):
            lines.tick()

    watcher = threading.Thread(target=watch, name="microagg-progress", daemon=True)
    watcher.start()
    try:
        with shown_by(lines.listen):
            yield
    finally:
        done.set()
        watcher.join()
