"""What killed runs leave behind: hidden files and folders, known by their names, whose owner no longer holds them.

A run that writes ``out`` works in ``.out.<pid>.<chance>.partial``, moves an older folder to ``.<...>.replaced`` in the
instant it is replaced, and keeps what goes beside the folder in ``.<...>.pending`` until the folder is in its place.
It holds a lock on each; the system lets go of it when the process ends, however it ends. So what nobody holds is left
over, whatever process may have the same number by now.
"""

from __future__ import annotations

import os
import re
import shutil
import tempfile
import time
from collections.abc import Iterator
from contextlib import contextmanager
from pathlib import Path

try:
    import fcntl
except ImportError:  # Windows has no such locks
    fcntl = None  # type: ignore[assignment]

__all__ = ["PARTIAL", "PENDING", "REPLACED", "SWEEP_NOTICE", "hidden_folder", "holding", "sweep_orphans"]

PARTIAL, REPLACED, PENDING = ".partial", ".replaced", ".pending"
SWEEP_NOTICE = "INTERNAL.txt"
"""A folder with this file is that of a sweep."""

_NAME = re.compile(
    r"\.(?P<of>.+)\.(?P<pid>\d{1,10})\.(?P<chance>[^.]+)(?P<end>\.partial|\.replaced|\.pending)", re.DOTALL
)
_GRACE = 60.0
"""Seconds in which a living run surely gets from making a file to holding it."""


def hidden_name(path: Path) -> str:
    """The beginning of the name of what a run keeps beside `path`."""
    return f".{path.name}.{os.getpid()}."


def hidden_folder(path: Path, end: str) -> Path:
    """Make a hidden folder beside `path`, for its owner only."""
    return Path(tempfile.mkdtemp(prefix=hidden_name(path), suffix=end, dir=path.parent))


@contextmanager
def holding(path: Path) -> Iterator[None]:
    """Hold a file or folder, so that no other run takes it for left over."""
    handle = _held(path)
    try:
        yield
    finally:
        if handle is not None:
            os.close(handle)


def sweep_orphans(folder: Path) -> None:
    """Remove what killed runs left in a folder, and finish what they had all but finished; living runs are left alone.

    Folders of sweeps in it are swept, too. What belongs to other users is theirs.
    """
    try:
        entries = sorted(folder.iterdir())
    except (FileNotFoundError, NotADirectoryError, PermissionError):  # nothing there, or nothing we may look at
        return
    # What waits for its folder is settled first: whether the folder got into its place shows in what else is left.
    for entry in sorted(entries, key=lambda entry: not entry.name.endswith(PENDING)):
        match = _NAME.fullmatch(entry.name)
        if match is not None:
            _settle(entry, match)
    for entry in entries:
        if entry.is_dir() and not entry.is_symlink() and _is_sweep(entry):
            for inner in (entry, entry / "points", entry / "recipes"):
                sweep_orphans(inner)


def _is_sweep(folder: Path) -> bool:
    """Whether a folder is that of a sweep, or of one that was killed while it wrote its notice."""
    try:
        return (folder / SWEEP_NOTICE).is_file() or any(folder.glob(f".{SWEEP_NOTICE}.*{PARTIAL}"))
    except PermissionError:
        return False


def _settle(left: Path, match: re.Match[str]) -> None:
    try:
        about = left.lstat()
        if hasattr(os, "getuid") and about.st_uid != os.getuid():
            return
        if left.is_symlink():
            return
        handle = _held(left)
    except (FileNotFoundError, BlockingIOError):  # another run was faster, or is at work
        return
    try:
        alive = _is_alive(int(match["pid"]))
        if alive and (handle is None or time.time() - about.st_mtime < _GRACE):
            return
        if match["end"] == REPLACED:
            old, path = left / match["of"], left.parent / match["of"]
            if old.exists() and not (path.exists() or path.is_symlink()):
                old.rename(path)
        if match["end"] == PENDING and left.is_dir() and not left.with_suffix(PARTIAL).exists():
            put_beside(left)
            return
        shutil.rmtree(left) if left.is_dir() else left.unlink()
    finally:
        if handle is not None:
            os.close(handle)


def put_beside(pending: Path) -> None:
    """Give files that waited for their folder their places; those of a folder that is gone are not missed."""
    for file in sorted(pending.iterdir()):
        file.replace(pending.parent / file.name)
    pending.rmdir()


def _held(path: Path) -> int | None:
    """A handle that locks the path; None where files cannot be locked. BlockingIOError if another run holds it."""
    if fcntl is None:
        return None
    handle = os.open(path, os.O_RDONLY | os.O_NOFOLLOW)
    try:
        fcntl.flock(handle, fcntl.LOCK_EX | fcntl.LOCK_NB)
    except BlockingIOError:
        os.close(handle)
        raise
    except OSError:  # some network drives know no locks
        os.close(handle)
        return None
    return handle


def _is_alive(pid: int) -> bool:
    if os.name == "nt":  # signal 0 is not a question there
        return True
    try:
        os.kill(pid, 0)
    except (ProcessLookupError, OverflowError):
        return False
    except PermissionError:
        return True
    return True
