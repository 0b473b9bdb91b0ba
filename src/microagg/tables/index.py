"""Whether the index of a pandas dataframe holds something that a person may take for columns."""

from __future__ import annotations

from typing import Any, NamedTuple

__all__ = ["IndexWithData", "index_with_data"]


class IndexWithData(NamedTuple):
    """An index that is more than the places of records: its names in words, and its levels.

    It is named if a person gave it a name or several levels; any other is recognised by its values.
    """

    description: str
    n_levels: int
    is_named: bool


def index_with_data(native: Any) -> IndexWithData | None:
    """Find an index that has a name, several levels or anything but whole numbers; None if there is none."""
    if type(native).__module__.partition(".")[0] != "pandas":
        return None
    index = native.index
    names = [None if name is None else str(name) for name in index.names]
    is_named = index.nlevels > 1 or names != [None]
    if not is_named and index.dtype.kind in "iu":
        return None
    description = ", ".join("a level without a name" if name is None else repr(name) for name in names)
    return IndexWithData(description if is_named else "without a name", index.nlevels, is_named)
