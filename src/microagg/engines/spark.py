"""The Spark engine: the same tasks, carried out by the workers of a cluster.

Spark moves packages of records and knows nothing of what is in them: a package is an Arrow stream, so that no type
changes on its way. What a worker computes depends on records, the recipe and the run's secret alone; a task that is
done again, elsewhere, does the same. Nothing is drawn in a task but from the run's secret and the number of a shard.

Files are read, and the release is written, by the workers themselves: their folders must be on a file system that all
of them share. What Spark itself reads (tables, object stores) is given as a DataFrame.
"""

from __future__ import annotations

import contextvars
import hashlib
import os
import pickle
import secrets
import sys
import tempfile
import threading
import warnings
from collections.abc import Callable, Iterator, Sequence
from contextlib import contextmanager
from dataclasses import dataclass, field
from pathlib import Path
from typing import TYPE_CHECKING, Any, TypeVar

import numpy as np

from microagg._progress import report
from microagg._typing import IntArray
from microagg.engines.batches import refuse_names, refuse_nested
from microagg.engines.files import FileSource
from microagg.engines.folder import FilesRelease, Order, Original, staging_beside
from microagg.engines.packages import FAILED, Collect, Gather, NumberHeaps, ReadFrame, ReadPieces, Scatter
from microagg.engines.passes import Source
from microagg.engines.release_parts import release_in_parts
from microagg.engines.rules import refuse_unsupported
from microagg.errors import InputError, ParameterError
from microagg.recipe.recipe import Recipe
from microagg.releases.folder.atomic import refuse_existing
from microagg.releases.release import FILES
from microagg.statements.manifest import InputDigest
from microagg.statements.promises import SPARK
from microagg.tables.parts.files import hash_values

if TYPE_CHECKING:
    import pyarrow as pa
    from pyspark.sql import DataFrame, SparkSession

__all__ = ["Cluster", "FrameSource", "quietly", "release_on_spark", "start_session"]

Result = TypeVar("Result")

_HEAPS = "heap long, n_rows long, package binary"
_RESULTS = "number long, package binary"
_LOOK = 0.5  # seconds between two looks at how far tasks are


def release_on_spark(
    source: str | Path | DataFrame,
    recipe: Recipe,
    folder: str | Path,
    *,
    session: SparkSession | None = None,
    master: str | None = None,
    seed: int | None = None,
    overwrite: bool = False,
    sign: str | Path | None = None,
    state_total: bool = False,
    workers: int | None = None,
) -> FilesRelease:
    """Release a table by Apache Spark; see :func:`microagg.release_files`."""
    refuse_unsupported(recipe)
    refuse_existing(Path(folder), overwrite, FILES)
    folder = Path(folder).absolute()
    with quietly(), _session_of(source, session, master, workers) as found:
        original: Original
        if isinstance(source, (str, Path)):
            original = FileSource.open(Path(source).absolute(), recipe)
        else:
            original = FrameSource.of(source, recipe)
        with staging_beside(folder) as staging:
            order = Order(folder, seed, overwrite, sign, state_total)
            return release_in_parts(original, recipe, Cluster(found), staging, order)


@contextmanager
def quietly() -> Iterator[None]:
    """Without Spark's remark that it does not know the newest pandas: nothing here uses pandas."""
    with warnings.catch_warnings():
        warnings.filterwarnings("ignore", message="PySpark does not yet fully support pandas", category=FutureWarning)
        yield


@contextmanager
def _session_of(source: Any, session: Any, master: str | None, workers: int | None) -> Iterator[SparkSession]:
    """The session that was given, that of the DataFrame, or a new one, which ends with the block."""
    try:
        from pyspark.sql import DataFrame, SparkSession
    except ImportError:
        raise InputError("engine = 'spark' needs pyspark and Java 17: pip install 'microagg[spark]'") from None
    if not isinstance(source, (str, Path)):
        if not isinstance(source, DataFrame):
            raise ParameterError(f"source must be a path or a Spark DataFrame, not {type(source).__name__}")
        session = session or source.sparkSession
    if session is not None:
        if master is not None or workers is not None:
            raise ParameterError("master and workers belong to a new session; leave them out where one is given")
        yield session
        return
    active = SparkSession.getActiveSession()
    if active is not None and master is None and workers is None:
        yield active
        return
    with tempfile.TemporaryDirectory(prefix="microagg-", ignore_cleanup_errors=True) as folder:  # for its owner only
        made = start_session(master or f"local[{workers or '*'},4]", folder)  # a task may fail three times
        try:
            yield made
        finally:
            made.stop()


def start_session(master: str, folder: str | None = None) -> SparkSession:
    """A session for one release, without a web page; on this machine alone if the master is.

    Records on their way lie on the disks of workers: here in `folder`, and encrypted where workers are elsewhere.

    Raises
    ------
    InputError
        If it cannot be started.
    """
    from py4j.protocol import Py4JError  # type: ignore[import-untyped,unused-ignore]
    from pyspark.errors import PySparkException
    from pyspark.sql import SparkSession

    builder = (
        SparkSession.builder.master(master)
        .appName("microagg")
        .config("spark.ui.enabled", "false")
        .config("spark.ui.showConsoleProgress", "false")
        .config("spark.log.level", "ERROR")
    )
    for name in ("OMP_NUM_THREADS", "OPENBLAS_NUM_THREADS", "MKL_NUM_THREADS", "NUMBA_NUM_THREADS"):
        builder = builder.config(f"spark.executorEnv.{name}", "1")
    if folder is not None:
        builder = builder.config("spark.local.dir", folder)
    if not master.startswith("local["):
        builder = builder.config("spark.io.encryption.enabled", "true")
    if master.startswith("local"):
        builder = builder.config("spark.driver.bindAddress", "127.0.0.1").config("spark.driver.host", "127.0.0.1")
    os.environ.setdefault("PYSPARK_PYTHON", sys.executable)
    try:
        return builder.getOrCreate()
    except (PySparkException, Py4JError, OSError):
        raise InputError(
            f"Spark could not be started at {master!r}. It needs Java 17 or newer on this machine (java, or JAVA_HOME) "
            "and a master that answers"
        ) from None


@dataclass
class FrameSource:
    """The published columns of a DataFrame of Spark.

    Attributes
    ----------
    frame : DataFrame
    names : list of str
    n_columns : int
    """

    frame: Any
    recipe: Recipe
    names: list[str]
    n_columns: int
    n_rows: int | None = None
    n_pieces: int = 0
    paths: tuple[Path, ...] = ()

    @classmethod
    def of(cls, frame: DataFrame, recipe: Recipe) -> FrameSource:
        """Look at the columns of a DataFrame.

        Raises
        ------
        InputError
            If they are not those of the recipe.
        """
        from pyspark.sql.functions import col
        from pyspark.sql.types import ArrayType, MapType, StructType

        names = list(frame.columns)
        refuse_names(names, recipe, "the DataFrame")
        published = set(recipe.schema.published)
        kept = [name for name in names if name in published]
        for name in kept:
            kind = frame.schema[name].dataType
            if isinstance(kind, (ArrayType, MapType, StructType)):
                refuse_nested(name, kind.simpleString())
        # Spark does not take every name in every place: here columns have numbers.
        quoted = ["`" + name.replace("`", "``") + "`" for name in kept]
        numbered = [col(name).alias(f"c{place}") for place, name in enumerate(quoted)]
        return cls(frame.select(*numbered), recipe, kept, len(names))

    def read(self, piece: int) -> Iterator[pa.Table]:
        raise NotImplementedError("Spark reads it")

    def digest(self) -> InputDigest:
        """The sum of hashes of all records, keyed: the same in whatever order they come."""
        salt = secrets.token_bytes(32)
        sums = [0, 0]
        for found in _gathered(self, _SumOfHashes(salt)):
            sums = [(one + two) % 2**64 for one, two in zip(sums, found, strict=True)]
        plain, salted = (hashlib.sha256(str(one).encode()).hexdigest() for one in sums)
        return InputDigest(salt.hex(), hashlib.sha256(salt + bytes.fromhex(salted)).hexdigest(), plain)


@dataclass(frozen=True)
class _SumOfHashes:
    """Sums of hashes of records, without a key and with one."""

    salt: bytes = field(repr=False)

    def __call__(self, batches: Iterator[pa.Table]) -> tuple[int, int]:
        from microagg.engines.shards import hash_rows, key_of

        sums = [0, 0]
        for table in batches:
            columns = [hash_values(table.column(name)) for name in table.column_names]
            for place, key in enumerate((0, key_of(self.salt, "input"))):
                sums[place] += int(hash_rows(columns, table.num_rows, key).sum(dtype=np.uint64))
        return sums[0] % 2**64, sums[1] % 2**64


@dataclass
class Cluster:
    """Tasks by the workers of a Spark session."""

    session: Any
    name: str = SPARK

    def gather(self, source: Source, task: Callable[[Iterator[pa.Table]], Result], saying: str) -> Iterator[Result]:
        with _watched(self.session, saying):
            yield from _gathered(source, task, self.session)

    def scatter(
        self,
        source: Source,
        task: Callable[[Iterator[pa.Table]], Iterator[tuple[int, pa.Table]]],
        n_heaps: int,
        saying: str,
    ) -> InShuffle:
        from pyspark import StorageLevel
        from pyspark.sql import functions

        packages = _pieces(source, self.session).mapInArrow(Scatter(_reader(source), task), _HEAPS)
        packages = packages.persist(StorageLevel.DISK_ONLY)
        with _errors_without_values(), _watched(self.session, saying):
            found = packages.groupBy("heap").agg(functions.sum("n_rows").alias("n_rows")).collect()
        if any(row["heap"] == FAILED for row in found):
            _raise(packages.where(functions.col("heap") == FAILED).first()["package"])
        counts = np.zeros(n_heaps, dtype=np.int64)
        for row in found:
            counts[row["heap"]] = row["n_rows"]
        return InShuffle(packages, counts, self.session)


@dataclass(frozen=True)
class InShuffle:
    """Heaps as packages that Spark keeps on the disks of its workers."""

    packages: Any
    counts: IntArray
    session: Any

    def collect(
        self, groups: Sequence[Sequence[int]], task: Callable[[int, list[pa.Table]], Result], saying: str
    ) -> list[Result]:
        from pyspark.sql import functions

        group_of = np.full(len(self.counts), -1, dtype=np.int64)
        for number, heaps in enumerate(groups):
            group_of[list(heaps)] = number
        # A table of numbers, not an expression: there may be many heaps.
        numbered = self.packages.mapInArrow(NumberHeaps(group_of), "number long, package binary")
        arranged = numbered.repartitionById(max(len(groups), 1), functions.col("number").cast("int"))
        made = arranged.mapInArrow(Collect(task), _RESULTS)
        found: dict[int, Result] = {}
        with _errors_without_values(), _watched(self.session, saying):
            for row in made.collect():
                if row["number"] == FAILED:
                    _raise(row["package"])
                found[row["number"]] = pickle.loads(row["package"])
        self.packages.unpersist()
        for number in set(range(len(groups))) - set(found):  # groups without a row
            found[number] = task(number, [])
        return [found[number] for number in range(len(groups))]


def _gathered(source: Source, task: Callable[[Iterator[pa.Table]], Result], session: Any = None) -> Iterator[Result]:
    made = _pieces(source, session).mapInArrow(Gather(_reader(source), task), _RESULTS)
    with _errors_without_values():
        for row in made.collect():
            if row["number"] == FAILED:
                _raise(row["package"])
            yield pickle.loads(row["package"])


def _pieces(source: Source, session: Any) -> Any:
    """What Spark hands to the tasks: records, or the numbers of pieces that they read themselves."""
    if isinstance(source, FrameSource):
        return source.frame
    n = max(source.n_pieces, 1)
    return session.range(0, n, 1, n)


def _reader(source: Source) -> ReadFrame | ReadPieces:
    if isinstance(source, FrameSource):
        return ReadFrame(source.recipe, tuple(source.names))
    return ReadPieces(source)


@contextmanager
def _watched(session: Any, saying: str) -> Iterator[None]:
    """Report how many tasks are done, as far as the session tells."""
    report(saying, 0.0)
    context = getattr(session, "_sc", None)
    if context is None:  # a session elsewhere (Spark Connect), which does not tell
        yield
        return
    tracker, done = context.statusTracker(), threading.Event()

    def watch() -> None:
        while not done.wait(_LOOK):  # ends with the block
            stages = [tracker.getStageInfo(one) for one in tracker.getActiveStageIds()]
            n_tasks = sum(one.numTasks for one in stages if one is not None)
            if n_tasks:
                report(saying, sum(one.numCompletedTasks for one in stages if one is not None) / n_tasks)

    watcher = threading.Thread(target=contextvars.copy_context().run, args=(watch,), daemon=True)
    watcher.start()
    try:
        yield
    finally:
        done.set()
        watcher.join()


@contextmanager
def _errors_without_values() -> Iterator[None]:
    """What Spark says of a task that failed may quote records: only where it failed is told."""
    from pyspark.errors import PySparkException

    try:
        yield
    except PySparkException as error:
        said = str(error)
        at = said.rfind("unforeseen ")
        where = said[at:].split("\n", 1)[0].strip() if at >= 0 else type(error).__name__
        raise InputError(
            f"a task of Spark failed again and again ({where}). Nothing was written. If it ran out of memory, lower "
            "[engine] shard_records in the recipe; its own log says more"
        ) from None


def _raise(package: bytes) -> None:
    error = pickle.loads(bytes(package))
    raise error
