"""The one writer of the studies' tables."""

from __future__ import annotations

from collections.abc import Iterable, Sequence

__all__ = ["markdown_table"]


def markdown_table(headings: Sequence[str], rows: Iterable[Sequence[object]]) -> str:
    """A table in Markdown, one line per row.

    Examples
    --------
    >>> print(markdown_table(["k", "loss"], [[5, "0.12"], [10, "0.31"]]), end="")
    | k | loss |
    |---|---|
    | 5 | 0.12 |
    | 10 | 0.31 |
    """
    lines = [_line(headings), "|" + "---|" * len(headings), *(_line(row) for row in rows)]
    return "\n".join(lines) + "\n"


def _line(entries: Sequence[object]) -> str:
    return "| " + " | ".join(map(str, entries)) + " |"
