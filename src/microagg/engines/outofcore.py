"""The out-of-core engine: records wait on disk, and few of them are in memory at a time.

One process does everything, unless more workers are asked for. They are new processes; each reads its share of the
pieces and has its own heaps on disk. They end with the process that started them, however that ends.
"""

from __future__ import annotations

import multiprocessing
import os
import signal
import threading
from collections.abc import Callable, Iterator, Sequence
from concurrent.futures import Future, ProcessPoolExecutor, wait
from concurrent.futures.process import BrokenProcessPool
from contextlib import contextmanager
from dataclasses import dataclass, field
from functools import partial
from pathlib import Path
from typing import TYPE_CHECKING, Any, TypeVar

import numpy as np

from microagg._progress import report
from microagg._typing import IntArray
from microagg.engines.files import BATCH_RECORDS, FileSource
from microagg.engines.folder import FilesRelease, Order, staging_beside
from microagg.engines.passes import Source
from microagg.engines.release_parts import release_in_parts
from microagg.engines.rules import refuse_unsupported
from microagg.errors import InputError, ParameterError
from microagg.recipe.recipe import Recipe
from microagg.releases.folder.atomic import refuse_existing
from microagg.releases.release import FILES
from microagg.statements.promises import OUT_OF_CORE
from microagg.tables.parts.heaps import Heaps, read_heap

if TYPE_CHECKING:
    import pyarrow as pa

__all__ = ["Machine", "release_out_of_core"]

Result = TypeVar("Result")

_LOOK = 0.2  # seconds between two looks at how far workers are
_ONE_THREAD = ("OMP_NUM_THREADS", "OPENBLAS_NUM_THREADS", "MKL_NUM_THREADS", "NUMBA_NUM_THREADS")


def release_out_of_core(
    source: str | Path,
    recipe: Recipe,
    folder: str | Path,
    *,
    seed: int | None = None,
    overwrite: bool = False,
    sign: str | Path | None = None,
    state_total: bool = False,
    workers: int = 1,
    batch_records: int = BATCH_RECORDS,
) -> FilesRelease:
    """Release a table that need not fit in memory; see :func:`microagg.release_files`."""
    refuse_unsupported(recipe)
    if isinstance(workers, bool) or not isinstance(workers, int) or workers < 1:
        raise ParameterError("workers must be a whole number of at least 1")
    refuse_existing(Path(folder), overwrite, FILES)
    folder = Path(folder).absolute()
    order = Order(folder, seed, overwrite, sign, state_total)
    files = FileSource.open(source, recipe, batch_records)
    try:
        with staging_beside(folder) as staging, started(staging, workers) as engine:
            return release_in_parts(files, recipe, engine, staging, order)
    except MemoryError as error:
        raise _as_told(error, f"there is not enough memory. Nothing was written. {_advice(recipe, workers)}") from None
    except BrokenProcessPool as error:
        what = "a worker was killed, most likely for want of memory. Nothing was written. "
        raise _as_told(error, what + _advice(recipe, workers)) from None


def _as_told(error: BaseException, words: str) -> InputError:
    """The same in words, with what was noted on the way (what stays spent)."""
    told = InputError(words)
    for note in getattr(error, "__notes__", ()):
        told.add_note(note)
    return told


def _advice(recipe: Recipe, workers: int) -> str:
    fewer = "Take fewer --workers" if workers > 1 else ""
    if recipe.entry.is_private:
        return f"{fewer or 'Take a machine with more memory'}: the records of such a release are drawn in one piece"
    smaller = f"make shards smaller in the recipe: [engine] shard_records = {max(recipe.engine.shard_records // 4, 10)}"
    return f"{fewer}, or {smaller}" if fewer else f"{smaller[0].upper()}{smaller[1:]}"


@contextmanager
def started(staging: Path, workers: int) -> Iterator[Machine]:
    """The engine with its workers, which end with the block."""
    if workers == 1:
        yield Machine(staging)
        return
    context = multiprocessing.get_context("spawn")
    stays, closed_at_the_end = context.Pipe(duplex=False)
    done = context.RawValue("q", 0)  # for progress alone; a worker that dies with a lock would stop all others
    pool = ProcessPoolExecutor(workers, context, _begin, (stays, done))
    try:
        yield Machine(staging, workers, pool, done)
    except BaseException:
        closed_at_the_end.close()  # workers leave what they are at
        raise
    finally:
        pool.shutdown(cancel_futures=True)
        closed_at_the_end.close()


@dataclass
class Machine:
    """Tasks on this machine."""

    staging: Path
    workers: int = 1
    pool: ProcessPoolExecutor | None = None
    done: Any = None
    name: str = OUT_OF_CORE
    n_scattered: int = field(default=0, init=False)

    def gather(self, source: Source, task: Callable[[Iterator[pa.Table]], Result], saying: str) -> Iterator[Result]:
        calls = [partial(_gather, source, pieces, task, saying) for pieces in self._shares(source)]
        return iter(self.run(calls, saying, source.n_rows))

    def scatter(
        self,
        source: Source,
        task: Callable[[Iterator[pa.Table]], Iterator[tuple[int, pa.Table]]],
        n_heaps: int,
        saying: str,
    ) -> OnDisk:
        shares = self._shares(source)
        folders = [self.staging / f"heaps-{self.n_scattered}-{place}" for place in range(len(shares))]
        self.n_scattered += 1
        calls = [
            partial(_scatter, source, pieces, task, folder, n_heaps, saying)
            for pieces, folder in zip(shares, folders, strict=True)
        ]
        counts: IntArray = np.sum(self.run(calls, saying, source.n_rows), axis=0)
        return OnDisk(self, tuple(folders), counts)

    def _shares(self, source: Source) -> list[list[int]]:
        """The pieces that each worker reads."""
        shares = [list(range(first, source.n_pieces, self.workers)) for first in range(self.workers)]
        return [pieces for pieces in shares if pieces] or [[]]

    def run(self, calls: Sequence[Callable[[], Result]], saying: str, n_rows: int | None) -> list[Result]:
        """The results of calls, in their order; progress is by rows that were read, if their number is known."""
        if self.pool is None:
            found = []
            for number, call in enumerate(calls):
                if n_rows is None:
                    report(saying, number / len(calls))
                found.append(call())
            return found
        self.done.value = 0
        waiting: list[Future[Result]] = [self.pool.submit(call) for call in calls]
        left = set(waiting)
        while left:  # ends: every call ends, or its worker does, which ends it, too
            ended, left = wait(left, timeout=_LOOK)
            for one in ended:
                one.result()
            share = (len(calls) - len(left)) / len(calls) if n_rows is None else self.done.value / max(n_rows, 1)
            report(saying, min(share, 1.0))
        return [one.result() for one in waiting]


@dataclass(frozen=True)
class OnDisk:
    """Heaps in folders, one for each worker that filled them."""

    machine: Machine
    folders: tuple[Path, ...]
    counts: IntArray

    def collect(
        self, groups: Sequence[Sequence[int]], task: Callable[[int, list[pa.Table]], Result], saying: str
    ) -> list[Result]:
        calls = [partial(_collect, number, heaps, self.folders, task) for number, heaps in enumerate(groups)]
        return self.machine.run(calls, saying, None)


def _gather(source: Source, pieces: Sequence[int], task: Callable[[Iterator[pa.Table]], Result], saying: str) -> Result:
    return task(_read(source, pieces, saying))


def _scatter(
    source: Source,
    pieces: Sequence[int],
    task: Callable[[Iterator[pa.Table]], Iterator[tuple[int, pa.Table]]],
    folder: Path,
    n_heaps: int,
    saying: str,
) -> IntArray:
    heaps = Heaps(folder)
    for number, rows in task(_read(source, pieces, saying)):
        heaps.add(number, rows)
    heaps.write()
    return np.array([heaps.counts[number] for number in range(n_heaps)], dtype=np.int64)


def _collect(
    number: int, heaps: Sequence[int], folders: Sequence[Path], task: Callable[[int, list[pa.Table]], Result]
) -> Result:
    return task(number, [rows for heap in heaps for folder in folders for rows in read_heap(folder, heap)])


def _read(source: Source, pieces: Sequence[int], saying: str) -> Iterator[pa.Table]:
    """The batches of some pieces, and how far we are."""
    done = 0
    for piece in pieces:
        for batch in source.read(piece):
            yield batch
            done += batch.num_rows
            if _worker is not None:
                _worker.value += batch.num_rows
            elif source.n_rows:
                report(saying, min(done / source.n_rows, 1.0))


_worker: Any = None  # in a worker: how many rows all of them have read


def _begin(stays: Any, done: Any) -> None:
    """What a new worker does first: it watches whether it is still wanted, and leaves Ctrl-C to who started it."""
    global _worker
    _worker = done
    signal.signal(signal.SIGINT, signal.SIG_IGN)
    for name in _ONE_THREAD:
        os.environ.setdefault(name, "1")
    threading.Thread(target=_end_with, args=(stays,), daemon=True).start()


def _end_with(stays: Any) -> None:
    try:
        stays.recv_bytes()
    except (EOFError, OSError):
        os._exit(1)
