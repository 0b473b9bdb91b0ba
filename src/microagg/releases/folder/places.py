"""Where something may be written: not among published files, not among those of a sweep, not to a stream."""

from __future__ import annotations

from pathlib import Path

from microagg.errors import InputError
from microagg.releases.folder.orphans import SWEEP_NOTICE

__all__ = ["is_release", "refuse_place"]

MANIFEST, STATEMENT = "manifest.json", "statement.json"


def is_release(folder: Path) -> bool:
    """Whether a folder is that of a release, damaged or not."""
    manifest = folder / MANIFEST
    return manifest.is_file() and ((folder / STATEMENT).is_file() or _names_us(manifest))


def _names_us(manifest: Path) -> bool:
    with manifest.open("rb") as file:
        return b'"microagg"' in file.read(1 << 16)


def refuse_place(path: Path, *, what: str = "output") -> None:
    """Refuse an output path that is ``-``, or lies in the folder of a release or of a sweep.

    A release is published whole: whatever else is written into it, a receipt say, would be published, too. A sweep is
    internal and takes its folder up again.

    Parameters
    ----------
    path : Path
        As the user gave it.
    what : str
        What would be written, for the message.
    """
    if str(path) == "-":
        raise InputError(f"'-' would be a stream, and the {what} is one or more files: name a place, as in -o out")
    resolved = path.absolute().resolve()
    for folder in resolved.parents:
        if is_release(folder):
            raise InputError(
                f"the {what} path {path.name!r} lies in {folder.name!r}, the folder of a release, which is published "
                "whole. Choose a path outside of it"
            )
        if (folder / SWEEP_NOTICE).is_file() and (folder / "points").is_dir():
            raise InputError(
                f"the {what} path {path.name!r} lies in {folder.name!r}, the folder of a sweep, which is internal. "
                "Choose a path outside of it"
            )
