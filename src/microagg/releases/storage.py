"""Folders that appear whole or not at all."""

from __future__ import annotations

import os
import shutil
import tempfile
from collections.abc import Iterator
from contextlib import contextmanager
from pathlib import Path

from microagg.errors import InputError

__all__ = ["refuse_existing", "whole_or_nothing", "write_file_whole"]


def refuse_existing(path: Path, overwrite: bool) -> None:
    """Refuse an output path that exists, unless it may be overwritten."""
    if (path.exists() or path.is_symlink()) and not overwrite:
        raise InputError(f"the output path {path.name!r} exists. Choose another, or pass --overwrite (overwrite=True)")


@contextmanager
def whole_or_nothing(path: Path, *, overwrite: bool = False) -> Iterator[Path]:
    """Yield a hidden folder beside `path`; it becomes `path` in one step when the block ends without error.

    A process killed in the block leaves `path` as it was. What it leaves of the hidden folder is removed by the
    next run that writes to the same path.
    """
    refuse_existing(path, overwrite)
    path.parent.mkdir(parents=True, exist_ok=True)
    _remove_abandoned(path)
    partial = Path(tempfile.mkdtemp(prefix=f".{path.name}.{os.getpid()}.", suffix=".partial", dir=path.parent))
    try:
        yield partial
        partial.chmod(0o755)
        for file in partial.rglob("*"):
            _flush_to_disk(file)
        _flush_to_disk(partial)
        _put_in_place(partial, path, overwrite)
        _flush_to_disk(path.parent)
    finally:
        shutil.rmtree(partial, ignore_errors=True)


def _put_in_place(partial: Path, path: Path, overwrite: bool) -> None:
    refuse_existing(path, overwrite)
    if not (path.exists() or path.is_symlink()):
        partial.rename(path)
        return
    # A folder cannot be renamed over a full one: the old one steps aside first, and comes back on failure.
    aside = Path(tempfile.mkdtemp(prefix=f".{path.name}.{os.getpid()}.", suffix=".partial", dir=path.parent))
    old = aside / path.name
    path.rename(old)
    try:
        partial.rename(path)
    except OSError:
        old.rename(path)
        raise
    finally:
        shutil.rmtree(aside, ignore_errors=True)


def write_file_whole(path: Path, text: str) -> None:
    """Write a text file that is there whole or not at all."""
    _remove_abandoned(path)
    handle, name = tempfile.mkstemp(prefix=f".{path.name}.{os.getpid()}.", suffix=".partial", dir=path.parent)
    partial = Path(name)
    try:
        with os.fdopen(handle, "w", encoding="utf-8") as file:
            file.write(text)
            file.flush()
            os.fsync(file.fileno())
        partial.replace(path)
    finally:
        partial.unlink(missing_ok=True)


def _remove_abandoned(path: Path) -> None:
    """Remove what killed runs left behind; folders of runs that still live are not touched."""
    prefix = f".{path.name}."
    for left in path.parent.iterdir():
        if not (left.name.startswith(prefix) and left.name.endswith(".partial")):
            continue
        pid = left.name.removeprefix(prefix).partition(".")[0]
        if pid.isdigit() and not _is_alive(int(pid)):
            shutil.rmtree(left) if left.is_dir() else left.unlink()


def _is_alive(pid: int) -> bool:
    if os.name == "nt":  # signal 0 is not a question there
        return True
    try:
        os.kill(pid, 0)
    except ProcessLookupError:
        return False
    except PermissionError:
        return True
    return True


def _flush_to_disk(path: Path) -> None:
    if os.name == "nt" and path.is_dir():  # folders cannot be opened there
        return
    handle = os.open(path, os.O_RDONLY)
    try:
        os.fsync(handle)
    finally:
        os.close(handle)
