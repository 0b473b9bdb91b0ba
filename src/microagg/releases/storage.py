"""Folders that appear whole or not at all."""

from __future__ import annotations

import os
import shutil
import tempfile
from collections.abc import Collection, Iterator
from contextlib import contextmanager
from pathlib import Path

from microagg.errors import InputError

__all__ = ["refuse_existing", "whole_or_nothing", "write_file_whole"]

_REPLACED = ".replaced"


def refuse_existing(path: Path, overwrite: bool, ours: Collection[str] = ()) -> None:
    """Refuse an output path that exists, unless it may be overwritten and holds nothing but what is ours.

    Parameters
    ----------
    path : Path
    overwrite : bool
    ours : collection of str
        Names, or beginnings of names that end in a dot, of what an earlier run wrote into a folder at `path`. A
        folder with anything else in it is never replaced; an empty one is.
    """
    if not (path.exists() or path.is_symlink()):
        return
    if not overwrite:
        raise InputError(f"the output path {path.name!r} exists. Choose another, or pass --overwrite (overwrite=True)")
    if path.is_dir() and not path.is_symlink():
        held = sorted(entry.name for entry in path.iterdir())
        others = [
            name for name in held if name not in ours and not name.startswith(tuple(o for o in ours if o[-1] == "."))
        ]
        if others or (held and ours and not any(name in ours for name in held)):
            raise InputError(
                f"the output path {path.name!r} is a folder with {len(others) or len(held)} files that an earlier "
                "release did not write; it is not overwritten. Choose another"
            )
    elif ours:
        raise InputError(f"the output path {path.name!r} is a file, not an earlier release; it is not overwritten")


@contextmanager
def whole_or_nothing(path: Path, *, overwrite: bool = False, ours: Collection[str] = ()) -> Iterator[Path]:
    """Yield a hidden folder beside `path`; it becomes `path` in one step when the block ends without error.

    A process killed in the block leaves `path` as it was. What it leaves of the hidden folder is removed by the
    next run that writes to the same path. One killed in the instant between the two renames of an overwrite leaves
    nothing at `path`; the next run puts the old folder back before it starts.

    Parameters
    ----------
    path : Path
    overwrite : bool
    ours : collection of str
        See :func:`refuse_existing`.
    """
    _remove_abandoned(path)
    refuse_existing(path, overwrite, ours)
    path.parent.mkdir(parents=True, exist_ok=True)
    partial = Path(tempfile.mkdtemp(prefix=f".{path.name}.{os.getpid()}.", suffix=".partial", dir=path.parent))
    try:
        yield partial
        partial.chmod(0o777 & ~_umask())
        for file in partial.rglob("*"):
            _flush_to_disk(file)
        _flush_to_disk(partial)
        _put_in_place(partial, path, overwrite, ours)
        _flush_to_disk(path.parent)
    finally:
        shutil.rmtree(partial, ignore_errors=True)


def _umask() -> int:
    mask = os.umask(0)
    os.umask(mask)
    return mask


def _put_in_place(partial: Path, path: Path, overwrite: bool, ours: Collection[str]) -> None:
    refuse_existing(path, overwrite, ours)
    if not (path.exists() or path.is_symlink()):
        partial.rename(path)
        return
    # A folder cannot be renamed over a full one: the old one steps aside first, and comes back on failure.
    aside = Path(tempfile.mkdtemp(prefix=f".{path.name}.{os.getpid()}.", suffix=_REPLACED, dir=path.parent))
    old = aside / path.name
    try:
        path.rename(old)
        partial.rename(path)
    except BaseException:  # an interrupt, too: the old release must not go with what it stands in
        if old.exists() and not path.exists():
            old.rename(path)
        raise
    finally:
        shutil.rmtree(aside, ignore_errors=True)


def write_file_whole(path: Path, text: str, *, readable: bool = False) -> None:
    """Write a text file that is there whole or not at all; for its owner only, unless others may read it."""
    _remove_abandoned(path)
    handle, name = tempfile.mkstemp(prefix=f".{path.name}.{os.getpid()}.", suffix=".partial", dir=path.parent)
    partial = Path(name)
    try:
        with os.fdopen(handle, "w", encoding="utf-8") as file:
            file.write(text)
            file.flush()
            os.fsync(file.fileno())
        if readable:
            partial.chmod(0o666 & ~_umask())
        partial.replace(path)
    finally:
        partial.unlink(missing_ok=True)


def _remove_abandoned(path: Path) -> None:
    """Remove what killed runs left behind, and put back what they had set aside; runs that live are left alone."""
    prefix = f".{path.name}."
    if not path.parent.is_dir():
        return
    for left in path.parent.iterdir():
        if not (left.name.startswith(prefix) and left.name.endswith((".partial", _REPLACED))):
            continue
        pid = left.name.removeprefix(prefix).partition(".")[0]
        if not pid.isdigit() or _is_alive(int(pid)):
            continue
        old = left / path.name
        if left.name.endswith(_REPLACED) and old.exists() and not path.exists():
            old.rename(path)
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
