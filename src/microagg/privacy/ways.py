"""The ways to rearrange cells, by name: what lists them loads nothing else."""

from __future__ import annotations

from enum import StrEnum

__all__ = ["Way"]


class Way(StrEnum):
    """How cells are rearranged until they satisfy requirements."""

    SEARCH = "search"
    SWAP = "swap"
    MERGE = "merge"
    CLOSENESS_FIRST = "closeness_first"
