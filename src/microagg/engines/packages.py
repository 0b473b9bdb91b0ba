"""Tasks as Spark takes them: functions of record batches, which pack what goes from one worker to another.

A package is an Arrow stream of records, or a pickled result. An error that says what is wrong with the input is one,
too, and reaches the driver as it is; after any other, Spark tries the task again.
"""

from __future__ import annotations

import pickle
from collections.abc import Callable, Iterator
from dataclasses import dataclass
from typing import TYPE_CHECKING, Any

from microagg._typing import IntArray
from microagg.engines.batches import finish_batch
from microagg.engines.files import BATCH_RECORDS
from microagg.engines.passes import Source
from microagg.errors import InputError, MicroaggError, place_of
from microagg.recipe.recipe import Recipe

if TYPE_CHECKING:
    import pyarrow as pa

__all__ = ["FAILED", "Collect", "Gather", "NumberHeaps", "ReadFrame", "ReadPieces", "Scatter"]

FAILED = -1
"""The number of a package that holds an error."""


@dataclass(frozen=True)
class ReadPieces:
    source: Source

    def __call__(self, batches: Iterator[pa.RecordBatch]) -> Iterator[pa.Table]:
        for batch in batches:
            for piece in batch.column(0).to_pylist():
                if piece < self.source.n_pieces:
                    yield from self.source.read(piece)


@dataclass(frozen=True)
class ReadFrame:
    recipe: Recipe
    names: tuple[str, ...]

    def __call__(self, batches: Iterator[pa.RecordBatch]) -> Iterator[pa.Table]:
        waiting: list[pa.RecordBatch] = []
        n_waiting = 0
        for batch in batches:
            waiting.append(batch)
            n_waiting += batch.num_rows
            if n_waiting >= BATCH_RECORDS:
                yield self._finish(waiting)
                waiting, n_waiting = [], 0
        if n_waiting:
            yield self._finish(waiting)

    def _finish(self, batches: list[pa.RecordBatch]) -> pa.Table:
        import pyarrow as pa

        return finish_batch([pa.Table.from_batches(batches).rename_columns(list(self.names))], self.recipe)


@dataclass(frozen=True)
class Gather:
    read: Callable[[Iterator[pa.RecordBatch]], Iterator[pa.Table]]
    task: Callable[[Iterator[pa.Table]], Any]

    def __call__(self, batches: Iterator[pa.RecordBatch]) -> Iterator[pa.RecordBatch]:
        try:
            yield _result(0, self.task(self.read(batches)))
        except Exception as error:
            yield _result(FAILED, _told(error))


@dataclass(frozen=True)
class Scatter:
    read: Callable[[Iterator[pa.RecordBatch]], Iterator[pa.Table]]
    task: Callable[[Iterator[pa.Table]], Iterator[tuple[int, pa.Table]]]

    def __call__(self, batches: Iterator[pa.RecordBatch]) -> Iterator[pa.RecordBatch]:
        try:
            for heap, rows in self.task(self.read(batches)):
                if rows.num_rows:
                    yield _package(heap, rows.num_rows, _as_stream(rows))
        except Exception as error:
            yield _package(FAILED, 0, pickle.dumps(_told(error)))


@dataclass(frozen=True)
class NumberHeaps:
    """From heaps to the groups they are in; heaps of no group are left out."""

    group_of: IntArray

    def __call__(self, batches: Iterator[pa.RecordBatch]) -> Iterator[pa.RecordBatch]:
        import pyarrow as pa

        for batch in batches:
            numbers = pa.array(self.group_of[batch.column("heap").to_numpy()])
            found = pa.RecordBatch.from_arrays([numbers, batch.column("package")], ["number", "package"])
            yield found.filter(pa.compute.greater_equal(numbers, 0))


@dataclass(frozen=True)
class Collect:
    task: Callable[[int, list[pa.Table]], Any]

    def __call__(self, batches: Iterator[pa.RecordBatch]) -> Iterator[pa.RecordBatch]:
        heaps: dict[int, list[pa.Table]] = {}
        try:
            for batch in batches:
                for number, package in zip(batch.column("number").to_pylist(), batch.column("package"), strict=True):
                    heaps.setdefault(number, []).append(_from_stream(package.as_buffer()))
            for number in sorted(heaps):
                yield _result(number, self.task(number, heaps.pop(number)))
        except Exception as error:
            yield _result(FAILED, _told(error))


def _told(error: Exception) -> MicroaggError:
    """What the driver is told of an error; of an unforeseen one, where it was, since its words may hold values.

    Raises
    ------
    RuntimeError
        If it is unforeseen: Spark tries the task again, perhaps elsewhere.
    """
    if isinstance(error, MicroaggError):
        return error
    if isinstance(error, MemoryError):
        return InputError(
            "a worker does not have enough memory for a shard. Nothing was written. Make them smaller in the recipe, "
            "with a smaller [engine] shard_records"
        )
    if isinstance(error, FileNotFoundError):
        return InputError(
            "a worker does not find the folder of the files, or that of the release. Both must be on a file system "
            "that all workers share. Nothing was written"
        )
    raise RuntimeError(place_of(error)) from None


def _result(number: int, what: Any) -> pa.RecordBatch:
    import pyarrow as pa

    package = pickle.dumps(what)
    return pa.RecordBatch.from_arrays(
        [pa.array([number], pa.int64()), pa.array([package], pa.binary())], ["number", "package"]
    )


def _package(heap: int, n_rows: int, package: bytes) -> pa.RecordBatch:
    import pyarrow as pa

    return pa.RecordBatch.from_arrays(
        [pa.array([heap], pa.int64()), pa.array([n_rows], pa.int64()), pa.array([package], pa.binary())],
        ["heap", "n_rows", "package"],
    )


def _as_stream(rows: pa.Table) -> bytes:
    import pyarrow as pa

    sink = pa.BufferOutputStream()
    with pa.ipc.new_stream(sink, rows.schema) as writer:
        writer.write_table(rows)
    return bytes(sink.getvalue())


def _from_stream(package: pa.Buffer) -> pa.Table:
    import pyarrow as pa

    with pa.ipc.open_stream(package) as reader:
        return reader.read_all()
