"""The Spark engine writes what the out-of-core engine writes, byte for byte, whatever becomes of its tasks and workers.

One test has one session: starting it takes as long as everything else. Tests of a cluster of several processes run with
``--cluster`` alone (``make test-spark``).
"""

from __future__ import annotations

import hashlib
import os
import shutil
import signal
import subprocess
import threading
import time
from collections.abc import Iterator
from pathlib import Path

import numpy as np
import pyarrow as pa
import pyarrow.parquet as pq
import pytest

import microagg
from microagg import Recipe
from microagg.engines.files import FileSource
from microagg.engines.outofcore import release_out_of_core
from microagg.errors import InputError, ParameterError, TableError
from microagg.releases.check.check import check_release
from optional_packages import need

NUMERIC = {"role": "quasi_identifier", "kind": "numeric"}
NOMINAL = {"role": "quasi_identifier", "kind": "nominal"}
SMALL = {"shard_records": 500, "block_records": 200, "sample_per_shard": 100}
RECIPE = Recipe(
    k=5,
    engine=SMALL,
    attributes={"age": NUMERIC, "wage": NUMERIC, "job": NOMINAL, "ill": "confidential", "name": "identifier"},
)

RUNS = Recipe(
    k=5,
    method="individual_ranking",
    engine=SMALL,
    attributes={"age": NUMERIC, "wage": NUMERIC, "job": "confidential", "ill": "confidential", "name": "identifier"},
)
PUBLIC = {
    "age": NUMERIC | {"bounds": [0, 100]},
    "wage": NUMERIC | {"bounds": [0, 50]},
    "ill": NOMINAL | {"categories": ["yes", "no"]},
}
DRAWN = Recipe(
    method="dp_ranked_graph",
    privacy={"epsilon": 1.0, "clamp": True},
    attributes=PUBLIC | {"name": "identifier", "job": "identifier"},
)


def people(n: int = 2_000) -> pa.Table:
    rng = np.random.default_rng(3)
    wage = np.where(rng.random(n) < 0.6, 0.0, rng.lognormal(size=n))  # some rows are frequent
    return pa.table(
        {
            "name": [f"n{number}" for number in range(n)],
            "age": pa.array(np.where(wage == 0.0, 40, rng.integers(20, 70, n)), pa.int32()),
            "wage": wage,
            "job": np.where(wage == 0.0, "none", rng.choice(["nurse", "smith", "clerk"], n)),
            "ill": rng.choice(["yes", "no"], n),
        }
    )


def put(table: pa.Table, folder: Path, n_files: int = 3) -> Path:
    folder.mkdir()
    each = -(-len(table) // n_files)
    for number in range(n_files):
        some = table.slice(number * each, each)
        pq.write_table(some, folder / f"{number}.parquet", row_group_size=100)
    return folder


def hashes(folder: Path) -> list[str]:
    return [hashlib.sha256(path.read_bytes()).hexdigest() for path in sorted(folder.glob("table*"))]


def needs_java() -> None:
    need("pyspark")
    if not (os.environ.get("JAVA_HOME") or shutil.which("java")):
        pytest.skip("needs Java 17 (openjdk-17-jre-headless)")


@pytest.fixture
def session_at(tmp_path_factory) -> Iterator:
    """Sessions that end with the test."""
    needs_java()
    from microagg.engines.spark import quietly, start_session

    made = []

    def start(master: str):
        with quietly():
            made.append(start_session(master, str(tmp_path_factory.mktemp("spark"))))
        return made[-1]

    yield start
    for session in made:
        session.stop()


def test_spark_writes_what_the_out_of_core_engine_writes(tmp_path, session_at, monkeypatch):
    monkeypatch.setattr("microagg.engines.files._RECORDS_OF_PIECE", 1_000)
    session = session_at("local[2,4]")
    data = put(people(), tmp_path / "data")
    release_out_of_core(data, RECIPE, tmp_path / "machine", seed=5)
    made = microagg.release_files(data, RECIPE, tmp_path / "files", engine="spark", session=session, seed=5)
    assert hashes(tmp_path / "files") == hashes(tmp_path / "machine")
    assert made.engine == "spark"
    assert not [finding for finding in check_release(tmp_path / "files") if not finding.holds]

    frame = session.read.parquet(str(data)).repartition(3)
    made = microagg.release_files(frame, RECIPE, tmp_path / "frame", engine="spark", seed=5)
    assert hashes(tmp_path / "frame") == hashes(tmp_path / "machine")
    assert not [finding for finding in check_release(tmp_path / "frame") if not finding.holds]

    # What is wrong with the input is said as it is, without a value; nothing is left.
    wrong = put(people(300).set_column(2, "wage", [pa.array([1.0] * 299 + [float("inf")])]), tmp_path / "wrong")
    before = sorted(path.name for path in tmp_path.iterdir())
    with pytest.raises(TableError, match="holds 1 infinite values"):
        microagg.release_files(wrong, RECIPE, tmp_path / "never", engine="spark", session=session)
    with pytest.raises(TableError, match="more than once"):
        microagg.release_files(frame.select("*", "age"), RECIPE, tmp_path / "never", engine="spark", session=session)
    assert sorted(path.name for path in tmp_path.iterdir()) == before


def fails_once(monkeypatch: pytest.MonkeyPatch, marks: Path) -> None:
    """From now on every piece of every file fails the first time it is read, with a value in the message."""
    marks.mkdir()

    class Failing(FileSource):
        def read(self, piece: int):
            from pyspark import TaskContext

            yield from super().read(piece)
            task = TaskContext.get()
            if task.attemptNumber() == 0:
                (marks / str(task.taskAttemptId())).touch()
                raise OSError("the disk said: 4711")

    monkeypatch.setattr("microagg.engines.spark.FileSource", Failing)


@pytest.mark.parametrize(
    ("given", "sentence"),
    [
        ({"engine": "outofcore", "master": "local[2]"}, "belong to engine = 'spark'"),
        ({"engine": "local", "session": object()}, "belong to engine = 'spark'"),
    ],
)
def test_what_belongs_to_spark_is_said(tmp_path, given, sentence):
    data = put(people(200), tmp_path / "data")
    with pytest.raises(ParameterError, match=sentence):
        microagg.release_files(data, RECIPE, tmp_path / "out", **given)


def test_a_table_in_memory_is_no_source(tmp_path):
    with pytest.raises(ParameterError, match=r"microagg\.release"):
        microagg.release_files(people(), RECIPE, tmp_path / "out")
    needs_java()
    with pytest.raises(ParameterError, match="a path or a Spark DataFrame"):
        microagg.release_files(people(), RECIPE, tmp_path / "out", engine="spark")


@pytest.mark.skipif("not config.getoption('--cluster')", reason="takes a minute: make test-spark")
def test_names_types_counts_and_failures_on_spark(tmp_path, session_at, monkeypatch):
    session = session_at("local[2,4]")
    data = put(people(), tmp_path / "data")
    frame = session.read.parquet(str(data))
    monkeypatch.setattr("microagg.engines.files._RECORDS_OF_PIECE", 1_000)
    release_out_of_core(data, RECIPE, tmp_path / "machine", seed=5)

    # Every task fails once, after it has read what it needs.
    fails_once(monkeypatch, tmp_path / "failed")
    microagg.release_files(data, RECIPE, tmp_path / "again", engine="spark", session=session, seed=5)
    assert hashes(tmp_path / "again") == hashes(tmp_path / "machine")
    assert len(list((tmp_path / "failed").iterdir())) >= 3 * 2  # passes over the files, pieces of each
    monkeypatch.undo()

    # Names and types as Spark has them.
    odd = frame.selectExpr("age as `a.b`", "wage as `c``d`", "current_timestamp() as seen", "array(1) as list")
    chosen = Recipe(
        k=5,
        method="individual_ranking",
        attributes={"a.b": NUMERIC, "c`d": "confidential", "seen": "identifier", "list": "identifier"},
    )
    made = microagg.release_files(odd, chosen, tmp_path / "odd", engine="spark")
    assert made.statement.n_records == 2_000
    listed = Recipe(k=5, attributes={"a.b": NUMERIC, "list": "confidential"})
    with pytest.raises(TableError, match="lists or structures"):
        microagg.release_files(odd.select("`a.b`", "list"), listed, tmp_path / "never", engine="spark")

    # Counts are whole numbers wherever they are counted: runs and noise are those of one machine.
    for recipe, name in ((RUNS, "runs"), (DRAWN, "drawn")):
        release_out_of_core(data, recipe, tmp_path / f"{name}-machine", seed=5)
        microagg.release_files(data, recipe, tmp_path / name, engine="spark", session=session, seed=5)
        assert hashes(tmp_path / name) == hashes(tmp_path / f"{name}-machine")


@pytest.mark.skipif("not config.getoption('--cluster')", reason="starts a cluster: make test-spark")
def test_a_killed_worker_changes_nothing(tmp_path, session_at):
    data = put(people(20_000), tmp_path / "data", 8)
    release_out_of_core(data, RECIPE, tmp_path / "machine", seed=5)
    session = session_at("local-cluster[2,1,1024]")
    killed: list[int] = []
    stop = threading.Event()

    def kill_one() -> None:
        while not stop.wait(1.0) and not killed:  # ends with the test, or the first worker
            found = subprocess.run(["pgrep", "-f", "CoarseGrainedExecutorBackend"], capture_output=True, text=True)
            running = [int(pid) for pid in found.stdout.split()]
            if (running and any((tmp_path).glob(".out.*.partial/heaps*"))) or len(running) > 1:
                time.sleep(8.0)
                os.kill(running[0], signal.SIGKILL)
                killed.append(running[0])

    killer = threading.Thread(target=kill_one, daemon=True)
    killer.start()
    microagg.release_files(data, RECIPE, tmp_path / "out", engine="spark", session=session, seed=5)
    stop.set()
    killer.join()
    assert killed
    assert hashes(tmp_path / "out") == hashes(tmp_path / "machine")


@pytest.mark.skipif("not config.getoption('--cluster')", reason="starts a cluster: make test-spark")
def test_a_master_that_does_not_answer_is_said(tmp_path):
    needs_java()
    data = put(people(200), tmp_path / "data")
    with pytest.raises(InputError, match="could not be started"):
        microagg.release_files(data, RECIPE, tmp_path / "out", engine="spark", master="spark://127.0.0.1:1")
