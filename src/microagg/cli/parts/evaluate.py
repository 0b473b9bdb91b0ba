"""What ``microagg evaluate`` and ``microagg report`` refuse of releases in parts."""

from __future__ import annotations

from pathlib import Path

from microagg.errors import InputError

__all__ = ["is_in_parts", "refuse_for_parts"]


def is_in_parts(released: Path) -> bool:
    """Whether a path is the folder of a release in parts."""
    from microagg.releases.folder.saved import SavedRelease

    return released.is_dir() and SavedRelease.open(released).in_parts


def refuse_for_parts(
    released: Path,
    rows: str | None = None,
    aligned: bool | None = None,
    receipt: Path | None = None,
    splits: int | None = None,
) -> None:
    """Refuse what would say of which record a row is, which a release in parts does not keep, and what would not fit.

    Raises
    ------
    InputError
    """
    if receipt is not None:
        raise InputError(
            "the receipt of a release in parts does not say which record each row stands for: leave out --receipt; "
            "--key names a column that does"
        )
    if aligned:
        raise InputError("rows of a release in parts are shuffled: leave out --aligned; --key names a column instead")
    if rows not in (None, "records"):
        raise InputError(f"rows of the release {released.name!r} are records: leave out --rows {rows}")
    if splits is not None:
        raise InputError("--splits makes releases in memory, and a release in parts need not fit: give --test instead")
