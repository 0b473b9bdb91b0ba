"""Release a table in many files with the workers of a Spark cluster; here a real one of two processes on this machine.

Run: python examples/on_a_cluster.py                          (pip install 'microagg[spark]', and Java 17)
     python examples/on_a_cluster.py spark://host:7077

Files and the release must lie on a file system that all workers share, and microagg must be installed where they run.
"""

import sys
import tempfile
from pathlib import Path

import numpy as np
import pyarrow as pa
import pyarrow.parquet as pq

from microagg import Recipe, release_files

RECIPE = Recipe(
    k=5,
    attributes={
        "age": {"role": "quasi_identifier", "kind": "numeric"},
        "income": {"role": "quasi_identifier", "kind": "numeric"},
        "region": {"role": "quasi_identifier", "kind": "nominal"},
        "diagnosis": "confidential",
    },
    engine={"shard_records": 50_000, "block_records": 25_000},
)


def write_records(folder: Path, n_files: int, each: int) -> None:
    """Write a table of people, several files of it."""
    folder.mkdir()
    for number in range(n_files):
        rng = np.random.default_rng(number)
        people = {
            "age": rng.integers(18, 90, each),
            "income": rng.lognormal(10, 0.5, each).round(),
            "region": rng.choice(["north", "east", "south", "west"], each),
            "diagnosis": rng.choice(["none", "asthma", "diabetes"], each),
        }
        pq.write_table(pa.table(people), folder / f"{number}.parquet")


def main() -> None:
    master = sys.argv[1] if len(sys.argv) > 1 else "local-cluster[2,1,1024]"
    with tempfile.TemporaryDirectory() as room:
        write_records(Path(room) / "data", 8, 25_000)
        made = release_files(Path(room) / "data", RECIPE, Path(room) / "out", engine="spark", master=master)
        print(made.statement)
        print(f"{made.n_cells:,} cells, information loss {made.information_loss:.4f} %")


if __name__ == "__main__":
    main()
