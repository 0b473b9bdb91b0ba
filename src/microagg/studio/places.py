"""Where the studio keeps things: recipes and releases for long, uploads and what else holds records while it runs.

The state folder belongs to its user alone (0700). Each table has a folder in it, for its recipe and its releases. What
a running studio needs lies in a run folder, which goes when it ends; what a killed one left is swept at the next start.
A run folder is held by a lock that the system lets go of however a process ends.
"""

from __future__ import annotations

import hashlib
import os
import re
import shutil
import sys
import tempfile
from collections.abc import Iterator
from contextlib import contextmanager, suppress
from pathlib import Path

from microagg.errors import InputError

try:
    import fcntl
except ImportError:  # Windows has no such locks
    fcntl = None  # type: ignore[assignment]

__all__ = ["OWNER_ONLY", "Hold", "RunFolder", "key_of", "private_folder", "safe_name", "state_folder"]

OWNER_ONLY = 0o700
_RUN, _LOCK = "run-", "lock"


def state_folder() -> Path:
    """The folder of the studio's state: ``MICROAGG_STUDIO_STATE``, or where the system keeps such state."""
    chosen = os.environ.get("MICROAGG_STUDIO_STATE")
    if chosen:
        return private_folder(Path(chosen).absolute())
    if os.name == "nt":
        base = Path(os.environ.get("LOCALAPPDATA") or Path.home() / "AppData" / "Local")
    elif sys.platform == "darwin":
        base = Path.home() / "Library" / "Application Support"
    else:
        base = Path(os.environ.get("XDG_STATE_HOME") or Path.home() / ".local" / "state")
    return private_folder(base / "microagg" / "studio")


def private_folder(path: Path) -> Path:
    """Make a folder that its owner alone may look into; refuse one that is somebody else's."""
    path.mkdir(parents=True, exist_ok=True, mode=OWNER_ONLY)
    about = path.lstat()
    if path.is_symlink() or not path.is_dir() or (hasattr(os, "getuid") and about.st_uid != os.getuid()):
        raise InputError(f"{path.name!r} is to hold the studio's state, but is a link, a file or another user's folder")
    path.chmod(OWNER_ONLY)
    return path


def key_of(name: str, content: str) -> str:
    """The name of a table's folder: readable, and the same for the same table."""
    stem = re.sub(r"[^a-z0-9]+", "-", name.lower()).strip("-")[:40] or "table"
    return f"{stem}-{hashlib.sha256(content.encode('utf-8', 'surrogatepass')).hexdigest()[:12]}"


def safe_name(name: str, default: str = "table.csv") -> str:
    """A file's name as a browser sent it, without folders, control characters or a leading dot."""
    last = re.split(r"[\\/]", name)[-1]
    kept = "".join(char for char in last if char.isprintable()).strip().lstrip(".")
    stem, dot, ending = kept.rpartition(".")
    while len(kept.encode("utf-8", "replace")) > 200:
        stem = stem[:-1] or "table"
        kept = f"{stem[:60]}{dot}{ending[:20]}"
    return kept or default


class Hold:
    """The right to change a folder, which one studio has at a time; the system takes it back however a process ends.

    Attributes
    ----------
    folder : Path

    Raises
    ------
    BlockingIOError
        If another studio has it.
    """

    def __init__(self, folder: Path) -> None:
        self.folder = folder
        self._handle = _lock(folder / _LOCK)

    def end(self) -> None:
        """Give it back."""
        if self._handle is not None:
            os.close(self._handle)
            self._handle = None


class RunFolder:
    """What a running studio needs and nobody afterwards: uploads, files of its processes.

    Attributes
    ----------
    path : Path
    """

    def __init__(self, state: Path) -> None:
        with _one_at_a_time(state):
            sweep_runs(state)
            self.path = Path(tempfile.mkdtemp(prefix=_RUN, dir=state))
            self._lock = _lock(self.path / _LOCK)

    def folder(self, name: str) -> Path:
        """A folder in it, for its owner only."""
        return private_folder(self.path / name)

    def remove(self) -> None:
        """Remove it with everything in it."""
        shutil.rmtree(self.path, ignore_errors=True)
        if self._lock is not None:
            os.close(self._lock)
            self._lock = None


def sweep_runs(state: Path) -> None:
    """Remove the run folders of studios that are no more."""
    for left in state.glob(f"{_RUN}*"):
        if left.is_symlink() or not left.is_dir():
            continue
        try:
            handle = _lock(left / _LOCK)
        except OSError:  # a running studio holds it; or it is none of ours
            continue
        shutil.rmtree(left, ignore_errors=True)
        if handle is not None:
            os.close(handle)


@contextmanager
def _one_at_a_time(state: Path) -> Iterator[None]:
    """Nobody sweeps while another studio has made its folder and not yet locked it."""
    handle = os.open(state / f".{_LOCK}", os.O_RDWR | os.O_CREAT, 0o600)
    try:
        if fcntl is not None:
            fcntl.flock(handle, fcntl.LOCK_EX)
        yield
    finally:
        os.close(handle)


def _lock(path: Path) -> int | None:
    """A handle that holds a lock file; None where files cannot be locked. BlockingIOError if somebody holds it."""
    if fcntl is None:
        with suppress(OSError):
            path.touch()
        return None
    handle = os.open(path, os.O_RDWR | os.O_CREAT | os.O_NOFOLLOW, 0o600)
    try:
        fcntl.flock(handle, fcntl.LOCK_EX | fcntl.LOCK_NB)
    except BlockingIOError:
        os.close(handle)
        raise
    return handle
