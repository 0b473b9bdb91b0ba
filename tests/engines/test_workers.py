"""More than one process: the same bytes, and no process or file that outlives the release."""

from __future__ import annotations

import hashlib
import multiprocessing
import os
import signal
import subprocess
import sys
import threading
import time
from pathlib import Path

import numpy as np
import pyarrow as pa
import pyarrow.parquet as pq
import pytest

import microagg
from microagg import Recipe
from microagg.engines import files
from microagg.engines.outofcore import release_out_of_core
from microagg.errors import InputError, ParameterError, TableError

NUMERIC = {"role": "quasi_identifier", "kind": "numeric"}
RECIPE = Recipe(
    k=5,
    attributes={"x": NUMERIC, "y": NUMERIC, "s": "confidential"},
    engine={"shard_records": 400, "block_records": 200, "sample_per_shard": 50},
)
RUNS = Recipe(k=5, method="individual_ranking", attributes=RECIPE.attributes, engine={"shard_records": 400})
SCRIPT = """
import sys, microagg
if __name__ == "__main__":
    numeric = {"role": "quasi_identifier", "kind": "numeric"}
    recipe = microagg.Recipe(k=5, attributes={"x": numeric, "y": numeric, "s": "confidential"})
    microagg.release_files(sys.argv[1], recipe, sys.argv[2], engine="outofcore", workers=2)
"""


@pytest.fixture
def data(tmp_path, monkeypatch) -> Path:
    monkeypatch.setattr(files, "_RECORDS_OF_PIECE", 300)
    folder = tmp_path / "data"
    folder.mkdir()
    rng = np.random.default_rng(0)
    for number in range(4):
        table = {"x": rng.normal(size=500), "y": rng.integers(0, 9, 500), "s": rng.choice(["a", "b"], 500)}
        pq.write_table(pa.table(table), folder / f"{number}.parquet", row_group_size=100)
    return folder


def hashes(folder: Path) -> list[str]:
    return [hashlib.sha256(path.read_bytes()).hexdigest() for path in sorted(folder.glob("table-*"))]


def own_workers() -> list:
    """Workers of a release; other tests of this process may have processes of their own."""
    return [one for one in multiprocessing.active_children() if one.name.startswith("SpawnProcess")]


def test_workers_change_nothing(tmp_path, data):
    for workers in (1, 2):
        folder = tmp_path / str(workers)
        microagg.release_files(data, RUNS, folder, engine="outofcore", workers=workers, seed=2)
        release_out_of_core(data, RECIPE, tmp_path / f"cells-{workers}", workers=workers, seed=2)
    assert hashes(tmp_path / "1") == hashes(tmp_path / "2")
    assert hashes(tmp_path / "cells-1") == hashes(tmp_path / "cells-2")
    assert not own_workers()
    # What a worker finds wrong is said as if there were one process.
    x = pa.array([1.0] * 299 + [float("inf")])
    pq.write_table(pa.table({"x": x, "y": pa.array([1] * 300), "s": ["a"] * 300}), data / "9.parquet")
    with pytest.raises(TableError, match="infinite"):
        microagg.release_files(data, RECIPE, tmp_path / "3", engine="outofcore", workers=2)
    assert not (tmp_path / "3").exists()
    assert not list(tmp_path.glob(".*"))


def test_a_killed_worker_leaves_nothing(tmp_path, data):
    def kill_one() -> None:
        for _ in range(600):
            if running := own_workers():
                os.kill(running[0].pid, signal.SIGKILL)
                return
            time.sleep(0.05)

    killer = threading.Thread(target=kill_one)
    killer.start()
    with pytest.raises(InputError, match="a worker was killed"):
        microagg.release_files(data, RECIPE, tmp_path / "out", engine="outofcore", workers=2)
    killer.join()
    assert [path.name for path in tmp_path.iterdir()] == ["data"]


@pytest.mark.skipif(not Path("/proc").is_dir(), reason="looks processes up in /proc, which is not here")
def test_workers_end_with_the_process_that_started_them(tmp_path, data):
    script = tmp_path / "script.py"
    script.write_text(SCRIPT, encoding="utf-8")
    started = subprocess.Popen([sys.executable, str(script), str(data), str(tmp_path / "out")])
    workers: list[str] = []
    for _ in range(600):
        workers = [pid for pid in _children(started.pid) if "spawn_main" in _command(pid)]
        if workers or started.poll() is not None:
            break
        time.sleep(0.05)
    started.kill()
    started.wait()
    assert workers
    for _ in range(400):
        if not any("spawn_main" in _command(pid) for pid in workers):
            break
        time.sleep(0.05)
    assert not any("spawn_main" in _command(pid) for pid in workers)
    assert not (tmp_path / "out").exists()


def _children(parent: int) -> list[str]:
    found = []
    for path in Path("/proc").glob("[0-9]*/stat"):
        try:
            if path.read_text().rsplit(")", 1)[1].split()[1] == str(parent):
                found.append(path.parent.name)
        except OSError:
            continue
    return found


def _command(pid: str) -> str:
    try:
        return Path(f"/proc/{pid}/cmdline").read_bytes().decode(errors="replace")
    except OSError:
        return ""


@pytest.mark.parametrize("workers", [0, -1, 1.5, True])
def test_workers_are_counted(tmp_path, data, workers):
    with pytest.raises(ParameterError, match="workers"):
        microagg.release_files(data, RECIPE, tmp_path / "out", engine="outofcore", workers=workers)
