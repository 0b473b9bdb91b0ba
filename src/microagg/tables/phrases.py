"""Columns in a sentence: named where they are few, counted where they are many."""

from __future__ import annotations

from collections.abc import Sequence

__all__ = ["columns_phrase", "names_phrase"]

_SHOWN = 12
_LONGEST = 80  # characters of a name


def columns_phrase(names: Sequence[str], *, limit: int = _SHOWN) -> str:
    """Name columns in a sentence: ``columns 'a', 'b'``, cut after `limit` names.

    Examples
    --------
    >>> columns_phrase(["age"])
    "column 'age'"
    >>> columns_phrase(["a", "b", "c"], limit=2)
    "columns 'a', 'b' and 1 more"
    """
    shown = ", ".join(repr(_cut(name)) for name in names[:limit])
    return f"{'column' if len(names) == 1 else 'columns'} {shown}{_more(names, limit)}"


def names_phrase(names: Sequence[str], *, limit: int = _SHOWN) -> str:
    """The names alone, cut after `limit` of them.

    Examples
    --------
    >>> names_phrase([f"v{i}" for i in range(5_000)], limit=3)
    'v0, v1, v2 and 4,997 more'
    """
    return ", ".join(_cut(name) for name in names[:limit]) + _more(names, limit)


def _cut(name: str) -> str:
    return name if len(name) <= _LONGEST else f"{name[: _LONGEST - 3]}..."


def _more(names: Sequence[str], limit: int) -> str:
    return f" and {len(names) - limit:,} more" if len(names) > limit else ""
