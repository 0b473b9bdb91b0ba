"""Rows on heaps: tables that come in pieces, put down by a number, and taken up again heap by heap."""

from __future__ import annotations

from collections import Counter
from collections.abc import Iterator
from pathlib import Path
from typing import TYPE_CHECKING

if TYPE_CHECKING:
    import pyarrow as pa

__all__ = ["Heaps", "read_heap"]

_AT_HAND = 64 << 20  # bytes that wait in memory until they are written


class Heaps:
    """Heaps of rows in a folder, one file each, which no process keeps open.

    Rows wait in memory until there are many; then each heap gets one more Arrow stream at its end. What is never many
    is never written.
    """

    def __init__(self, folder: Path, *, at_hand: int = _AT_HAND) -> None:
        self.folder, self.at_hand = folder, at_hand
        self.counts: Counter[int] = Counter()
        self._waiting: dict[int, list[pa.Table]] = {}
        self._n_bytes = 0
        folder.mkdir()

    def add(self, number: int, table: pa.Table) -> None:
        """Put rows on a heap."""
        self.counts[number] += table.num_rows
        self._waiting.setdefault(number, []).append(table)
        self._n_bytes += table.nbytes
        if self._n_bytes > self.at_hand:
            self.write()

    def write(self) -> None:
        """Write down what waits."""
        import pyarrow as pa

        for number, tables in self._waiting.items():
            rows = pa.concat_tables(tables, promote_options="permissive")
            with (
                _path(self.folder, number).open("ab") as file,
                pa.PythonFile(file, "w") as sink,
                pa.ipc.new_stream(sink, rows.schema) as writer,
            ):
                writer.write_table(rows)
        self._waiting, self._n_bytes = {}, 0

    def take(self, number: int) -> list[pa.Table]:
        """The rows of a heap, which is gone then."""
        return [*read_heap(self.folder, number), *self._waiting.pop(number, ())]


def read_heap(folder: Path, number: int) -> Iterator[pa.Table]:
    """The rows of a heap that were written, and remove them."""
    import pyarrow as pa

    path = _path(folder, number)
    if not path.exists():
        return
    with pa.OSFile(str(path), "rb") as file:
        size = file.size()
        while file.tell() < size:
            with pa.ipc.open_stream(file) as reader:
                yield reader.read_all()
    path.unlink()


def _path(folder: Path, number: int) -> Path:
    return folder / f"{number}.arrow"
