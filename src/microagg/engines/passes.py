"""Work on a table piece by piece, as both engines do it: tasks, and what an engine makes of them.

A task is a pure function that can be sent to another process. It sees some pieces of a table, batch by batch, and
nothing says which pieces a call sees, in which order, or how often it is done again: results must not depend on it.
"""

from __future__ import annotations

from collections.abc import Callable, Iterator, Sequence
from typing import TYPE_CHECKING, Protocol, TypeVar

from microagg._typing import IntArray

if TYPE_CHECKING:
    import pyarrow as pa

__all__ = ["Engine", "Scattered", "Source"]

Result = TypeVar("Result")


class Source(Protocol):
    """A table that is read piece by piece."""

    @property
    def n_pieces(self) -> int:
        """How many pieces can be read at the same time."""
        ...

    @property
    def n_rows(self) -> int | None:
        """How many rows there are, if that is known before they are read."""
        ...

    def read(self, piece: int) -> Iterator[pa.Table]:
        """The rows of a piece, batch by batch."""
        ...


class Scattered(Protocol):
    """Rows of a table on numbered heaps."""

    @property
    def counts(self) -> IntArray:
        """How many rows each heap has."""
        ...

    def collect(
        self, groups: Sequence[Sequence[int]], task: Callable[[int, list[pa.Table]], Result], saying: str
    ) -> list[Result]:
        """What a task makes of each group of heaps: it is given the number of the group, and the heaps' rows."""
        ...


class Engine(Protocol):
    """Who carries out tasks.

    Attributes
    ----------
    name : str
        As the manifest has it.
    """

    name: str

    def gather(self, source: Source, task: Callable[[Iterator[pa.Table]], Result], saying: str) -> Iterator[Result]:
        """What a task makes of the pieces of a table: one result or more, in any order, of all pieces together."""
        ...

    def scatter(
        self,
        source: Source,
        task: Callable[[Iterator[pa.Table]], Iterator[tuple[int, pa.Table]]],
        n_heaps: int,
        saying: str,
    ) -> Scattered:
        """Put the rows of a table on heaps, as a task says."""
        ...
