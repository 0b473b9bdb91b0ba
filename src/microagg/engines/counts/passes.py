"""Passes over a table in pieces, and what one brings home: tallies that merge in any order."""

from __future__ import annotations

from collections.abc import Callable, Iterator
from typing import TYPE_CHECKING, Protocol, Self, TypeVar

from microagg.errors import InputError

if TYPE_CHECKING:
    import pyarrow as pa

__all__ = ["Passes", "Tally", "files_changed", "gather_merged"]

R = TypeVar("R")
T = TypeVar("T", bound="Tally")


class Passes(Protocol):
    """A table that lies in pieces, of which each can be read several times."""

    def gather(self, task: Callable[[Iterator[pa.Table]], R]) -> Iterator[R]:
        """Run a task on each piece and give what it returns, in any order.

        Parameters
        ----------
        task : function
            Can be pickled. It is called with the piece's batches: the published columns of the table, codes that stand
            for missing replaced.
        """
        ...


class Tally(Protocol):
    """Part of an answer; whole numbers, so that no order of adding or merging changes it."""

    def merge(self, other: Self) -> None:
        """Take in what was counted elsewhere."""
        ...


def gather_merged(passes: Passes, task: Callable[[Iterator[pa.Table]], T]) -> T:
    """One pass, its tallies merged; of a table without pieces, the tally of nothing."""
    total: T | None = None
    for tally in passes.gather(task):
        if total is None:
            total = tally
        else:
            total.merge(tally)
    return task(iter(())) if total is None else total


def files_changed() -> InputError:
    """What is raised if a later pass does not find what an earlier one counted."""
    return InputError("the files changed while they were read. Nothing was written")
