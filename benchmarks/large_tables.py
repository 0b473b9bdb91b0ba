"""Tables that do not fit in memory: CPU and memory of the out-of-core engine, and what its blocks cost in loss.

Run: python benchmarks/large_tables.py [--records 10000000] [--folder DIR]

Each release runs in a process of its own, from Parquet to Parquet with statement and recount. CPU seconds are those of
that process and its threads; memory is its largest resident set.
"""

from __future__ import annotations

import argparse
import resource
import subprocess
import sys
import tempfile
import time
from pathlib import Path

import numpy as np

BARS = {"CPU s": 60.0, "GiB": 1.0, "loss": 1.05}
_PER_FILE = 2_000_000


def main() -> None:
    parser = argparse.ArgumentParser(description=__doc__)
    parser.add_argument("--records", type=int, default=10_000_000)
    parser.add_argument("--columns", type=int, default=4)
    parser.add_argument("--folder", type=Path)
    parser.add_argument("--no-loss", action="store_true")
    parser.add_argument("--release", type=Path, help=argparse.SUPPRESS)
    chosen = parser.parse_args()
    if chosen.release is not None:
        release(chosen.release, chosen.columns)
        return
    with tempfile.TemporaryDirectory(dir=chosen.folder) as folder:
        write_records(Path(folder) / "data", chosen.records, chosen.columns)
        command = [sys.executable, __file__, "--release", folder, "--columns", str(chosen.columns)]
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


def release(folder: Path, n_columns: int) -> None:
    """Release the files of a folder, and print what it took."""
    import microagg

    numeric = {"role": "quasi_identifier", "kind": "numeric"}
    attributes = {f"x{place}": numeric for place in range(n_columns)} | {"income": "confidential"}
    recipe = microagg.Recipe(k=5, attributes=attributes)
    started = time.perf_counter()
    made = microagg.release_files(folder / "data", recipe, folder / "out", engine="outofcore")
    took = time.perf_counter() - started
    usage = resource.getrusage(resource.RUSAGE_SELF)
    cpu, memory = usage.ru_utime + usage.ru_stime, usage.ru_maxrss / 2**20
    print(
        f"{made.statement.n_records:,} records x {n_columns}, k = 5: {cpu:.1f} CPU s (bar {BARS['CPU s']:g} at 10 "
        f"million), {took:.1f} s, {memory:.2f} GiB (bar {BARS['GiB']:g}), {made.n_cells:,} cells, loss "
        f"{made.information_loss:.5f} %"
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
