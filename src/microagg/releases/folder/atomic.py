"""Folders that appear whole or not at all."""

from __future__ import annotations

import os
import shutil
import tempfile
from collections.abc import Collection, Iterator, Mapping
from contextlib import contextmanager
from pathlib import Path

from microagg.errors import InputError
from microagg.releases.folder.orphans import (
    PARTIAL,
    PENDING,
    REPLACED,
    hidden_folder,
    hidden_name,
    holding,
    put_beside,
    sweep_orphans,
)
from microagg.releases.folder.places import refuse_place

__all__ = ["refuse_existing", "whole_file", "whole_or_nothing", "write_file_whole"]


def refuse_existing(path: Path, overwrite: bool, ours: Collection[str] = ()) -> None:
    """Refuse an output path that exists, unless it may be overwritten and holds nothing but what is ours.

    What killed runs left beside it is swept first, and a path among published files is refused
    (:func:`~microagg.releases.folder.places.refuse_place`).

    Parameters
    ----------
    path : Path
    overwrite : bool
    ours : collection of str
        Names, or beginnings of names that end in a dot or a dash, of what an earlier run wrote into a folder at `path`.
        A folder with anything else in it is never replaced; an empty one is.
    """
    refuse_place(path)
    sweep_orphans(path.absolute().parent)
    _refuse_existing(path, overwrite, ours)


def _refuse_existing(path: Path, overwrite: bool, ours: Collection[str]) -> None:
    if not (path.exists() or path.is_symlink()):
        return
    if not overwrite:
        raise InputError(f"the output path {path.name!r} exists. Choose another, or pass --overwrite (overwrite=True)")
    if path.is_dir() and not path.is_symlink():
        held = sorted(entry.name for entry in path.iterdir())
        others = [
            name for name in held if name not in ours and not name.startswith(tuple(o for o in ours if o[-1] in ".-"))
        ]
        if others or (held and ours and not any(name in ours for name in held)):
            raise InputError(
                f"the output path {path.name!r} is a folder with {len(others) or len(held)} files that an earlier "
                "release did not write; it is not overwritten. Choose another"
            )
    elif ours:
        raise InputError(f"the output path {path.name!r} is a file, not an earlier release; it is not overwritten")


@contextmanager
def whole_or_nothing(
    path: Path, *, overwrite: bool = False, ours: Collection[str] = (), beside: Mapping[str, str] | None = None
) -> Iterator[Path]:
    """Yield a hidden folder beside `path`; it becomes `path` in one step when the block ends without error.

    A process killed in the block leaves `path` as it was. What it leaves of the hidden folder is removed by the
    next run that writes to the same place. One killed in the instant between the two renames of an overwrite leaves
    nothing at `path`; the next run puts the old folder back before it starts.

    Parameters
    ----------
    path : Path
    overwrite : bool
    ours : collection of str
        See :func:`refuse_existing`.
    beside : mapping of name to text, optional
        Files that go beside the folder, for their owner only, if and only if the folder gets into its place; filled in
        the block. If a process is killed between the two, the next run finishes the work.
    """
    refuse_existing(path, overwrite, ours)
    path.parent.mkdir(parents=True, exist_ok=True)
    partial = hidden_folder(path, PARTIAL)
    pending = partial.with_suffix(PENDING)
    with holding(partial):
        try:
            yield partial
            partial.chmod(0o777 & ~_umask())
            for file in partial.rglob("*"):
                _flush_to_disk(file)
            _flush_to_disk(partial)
            if not beside:
                _put_in_place(partial, path, overwrite, ours)
            else:
                _write_pending(pending, beside)
                with holding(pending):
                    try:
                        _put_in_place(partial, path, overwrite, ours)
                    finally:
                        if not partial.exists():  # even if an interrupt came right after
                            put_beside(pending)
            _flush_to_disk(path.parent)
        finally:
            # In this order: what waits beside a folder that is no longer partial is taken for finished.
            if partial.exists():
                shutil.rmtree(pending, ignore_errors=True)
            shutil.rmtree(partial, ignore_errors=True)


def _write_pending(pending: Path, files: Mapping[str, str]) -> None:
    pending.mkdir(mode=0o700)
    for name, text in files.items():
        handle = os.open(pending / name, os.O_WRONLY | os.O_CREAT | os.O_EXCL, 0o600)
        with os.fdopen(handle, "w", encoding="utf-8") as file:
            file.write(text)
            file.flush()
            os.fsync(file.fileno())
    _flush_to_disk(pending)


def _umask() -> int:
    mask = os.umask(0)
    os.umask(mask)
    return mask


def _put_in_place(partial: Path, path: Path, overwrite: bool, ours: Collection[str]) -> None:
    _refuse_existing(path, overwrite, ours)
    if not (path.exists() or path.is_symlink()):
        partial.rename(path)
        return
    # A folder cannot be renamed over a full one: the old one steps aside first, and comes back on failure.
    aside = hidden_folder(path, REPLACED)
    with holding(aside):
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
    with whole_file(path) as partial:
        partial.write_text(text, encoding="utf-8")
        if readable:
            partial.chmod(0o666 & ~_umask())


@contextmanager
def whole_file(path: Path) -> Iterator[Path]:
    """Yield a hidden file beside `path`, for its owner only; it becomes `path` when the block ends without error."""
    handle, name = tempfile.mkstemp(prefix=hidden_name(path), suffix=PARTIAL, dir=path.parent)
    os.close(handle)
    partial = Path(name)
    with holding(partial):
        try:
            yield partial
            _flush_to_disk(partial)
            partial.replace(path)
        finally:
            partial.unlink(missing_ok=True)


def _flush_to_disk(path: Path) -> None:
    if os.name == "nt" and path.is_dir():  # folders cannot be opened there
        return
    handle = os.open(path, os.O_RDONLY)
    try:
        os.fsync(handle)
    finally:
        os.close(handle)
