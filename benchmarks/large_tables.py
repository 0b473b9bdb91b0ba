"""Tables that do not fit in memory: CPU and memory of the engines in parts, and what their blocks cost in loss.

Run: python benchmarks/large_tables.py [--records 10000000] [--engine outofcore|spark] [--workers N] [--folder DIR]
                                       [--method mdav|individual_ranking|strict]

Each release runs in a process of its own, from Parquet to Parquet with statement and recount. CPU seconds are those of
that process and of all that it started, looked up in /proc twice a second; memory is the largest resident set of any
one of them, of Java and of Python apart.
"""

from __future__ import annotations

import argparse
import os
import subprocess
import sys
import tempfile
import threading
import time
from collections.abc import Iterator
from pathlib import Path

import numpy as np

BARS = {"outofcore": "60 CPU s, 1 GiB", "spark": "200 CPU s, Java 1.5 GiB", "loss": 1.05}
_PER_FILE = 2_000_000


def main() -> None:
    parser = argparse.ArgumentParser(description=__doc__)
    parser.add_argument("--records", type=int, default=10_000_000)
    parser.add_argument("--columns", type=int, default=4)
    parser.add_argument("--folder", type=Path)
    parser.add_argument("--engine", choices=("outofcore", "spark"), default="outofcore")
    parser.add_argument("--workers", type=int, default=None)
    parser.add_argument("--method", choices=("mdav", "individual_ranking", "strict"), default="mdav")
    parser.add_argument("--no-loss", action="store_true")
    parser.add_argument("--release", type=Path, help=argparse.SUPPRESS)
    chosen = parser.parse_args()
    if chosen.release is not None:
        release(chosen.release, chosen.columns, chosen.engine, chosen.workers, chosen.method)
        return
    with tempfile.TemporaryDirectory(dir=chosen.folder) as folder:
        write_records(Path(folder) / "data", chosen.records, chosen.columns)
        command = [sys.executable, __file__, "--release", folder, "--columns", str(chosen.columns)]
        command += [
            "--method",
            chosen.method,
            "--engine",
            chosen.engine,
            *(["--workers", str(chosen.workers)] if chosen.workers else []),
        ]
        subprocess.run(command, check=True)
    if not chosen.no_loss:
        losses()


def write_records(folder: Path, n_records: int, n_columns: int) -> None:
    """Write Gaussian quasi-identifiers and one confidential attribute, several files of them."""
    import pyarrow as pa
    import pyarrow.parquet as pq

    folder.mkdir()
    for number, first in enumerate(range(0, n_records, _PER_FILE)):
        rng = np.random.default_rng(number)
        n = min(_PER_FILE, n_records - first)
        columns = {f"x{place}": rng.normal(size=n) for place in range(n_columns)}
        pq.write_table(
            pa.table(columns | {"income": rng.lognormal(10, 1, n).round(2)}), folder / f"{number:04d}.parquet"
        )


class Usage:
    """CPU seconds and memory of this process and all that it started."""

    def __init__(self) -> None:
        self.cpu: dict[tuple[str, str], float] = {}
        self.memory: dict[str, float] = {}
        self._stop = threading.Event()
        self._thread = threading.Thread(target=self._watch, daemon=True)
        self._thread.start()

    def stop(self) -> None:
        self._stop.set()
        self._thread.join()

    def _watch(self) -> None:
        while not self._stop.wait(0.5):  # ends when the release is made
            for pid in _tree(str(os.getpid())):
                self._look_at(pid)

    def _look_at(self, pid: str) -> None:
        try:
            fields = Path(f"/proc/{pid}/stat").read_text().rsplit(")", 1)[1].split()
            name = Path(f"/proc/{pid}/comm").read_text().strip()
            pages = int(Path(f"/proc/{pid}/statm").read_text().split()[1])
        except (OSError, IndexError):  # it has just ended
            return
        self.cpu[pid, fields[19]] = (int(fields[11]) + int(fields[12])) / os.sysconf("SC_CLK_TCK")
        kind = "Java" if name == "java" else "Python"
        self.memory[kind] = max(self.memory.get(kind, 0.0), pages * os.sysconf("SC_PAGE_SIZE") / 2**30)


def _tree(root: str) -> Iterator[str]:
    parents: dict[str, list[str]] = {}
    for path in Path("/proc").glob("[0-9]*/stat"):
        try:
            parents.setdefault(path.read_text().rsplit(")", 1)[1].split()[1], []).append(path.parent.name)
        except (OSError, IndexError):
            continue
    waiting = [root]
    while waiting:  # ends: every process is visited once
        yield (one := waiting.pop())
        waiting += parents.get(one, [])


def release(folder: Path, n_columns: int, engine: str, workers: int | None, method: str) -> None:
    """Release the files of a folder, and print what it took."""
    import microagg

    numeric = {"role": "quasi_identifier", "kind": "numeric"}
    if method == "strict":
        bounded = {f"x{place}": numeric | {"bounds": [-8, 8]} for place in range(n_columns)}
        income = {"role": "confidential", "kind": "numeric", "bounds": [0, 1e7]}
        recipe = microagg.Recipe(method=method, privacy={"epsilon": 1.0}, attributes=bounded | {"income": income})
    else:
        attributes = {f"x{place}": numeric for place in range(n_columns)} | {"income": "confidential"}
        recipe = microagg.Recipe(k=5, method=method, attributes=attributes)
    usage = Usage()
    started = time.perf_counter()
    made = microagg.release_files(folder / "data", recipe, folder / "out", engine=engine, workers=workers)
    took = time.perf_counter() - started
    usage.stop()
    memory = ", ".join(f"{name} {most:.2f} GiB" for name, most in sorted(usage.memory.items()))
    print(
        f"{engine}, {method}: {made.statement.n_records:,} records x {n_columns}: {sum(usage.cpu.values()):.1f} CPU s, "
        f"{took:.1f} s, {memory} (bar of mdav, k = 5, at 10 million: {BARS[engine]}), {made.n_cells:,} cells, loss "
        f"{made.information_loss or 0.0:.5f} %"
    )


def tables(n: int = 200_000) -> dict[str, np.ndarray]:
    """Tables whose whole can still be partitioned at once."""
    rng = np.random.default_rng(7)
    centres, widths = rng.normal(size=(8, 4)) * 4, rng.uniform(0.3, 2.0, 8)
    mixture = np.vstack([rng.normal(c, w, size=(n // 8, 4)) for c, w in zip(centres, widths, strict=True)])
    ties = np.column_stack(
        [
            rng.integers(0, 20, n),
            rng.integers(0, 5, n),
            np.where(rng.random(n) < 0.7, 0.0, rng.normal(size=n)),
            rng.integers(0, 100, n),
        ]
    )
    found = {
        "Gaussian x 4": rng.normal(size=(n, 4)),
        "mixture x 4": mixture,
        "lognormal x 4": rng.lognormal(size=(n, 4)),
        "many ties x 4": ties.astype(float),
        "Gaussian x 8": rng.normal(size=(n, 8)),
    }
    return {name: rng.permutation((X - X.mean(0)) / X.std(0)) for name, X in found.items()}


def losses() -> None:
    """Print the loss of MDAV in blocks of 50,000 as a share of that of MDAV on the whole table."""
    from microagg import MDAV
    from microagg.engines.shards import Coordinates, cut_blocks, grow_tree

    for name, X in tables().items():
        records = Coordinates(tuple(np.ascontiguousarray(X.T)))
        whole = MDAV(k=5).fit(X).sse_
        blocks = sum(MDAV(k=5).fit(X[rows]).sse_ for rows in cut_blocks(records, 50_000, 5))
        tree = grow_tree(records.take(np.arange(8_000)), np.ones(8_000), 4)
        leaves = tree.route(records)
        shards = sum(MDAV(k=5).fit(X[leaves == leaf]).sse_ for leaf in range(tree.n_leaves))
        print(f"{name}: {blocks / whole:.4f} by exact cuts, {shards / whole:.4f} by the tree (bar {BARS['loss']})")


if __name__ == "__main__":
    main()
