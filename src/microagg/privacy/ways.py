"""The ways to rearrange cells, by name."""

from __future__ import annotations

from enum import StrEnum

__all__ = ["Way"]


class Way(StrEnum):
    """How cells are rearranged."""

    SEARCH = "search"
    SWAP = "swap"
    MERGE = "merge"
    CLOSENESS_FIRST = "closeness_first"
