"""What a first release costs: a small table, on a machine where nothing is compiled, against one where all is.

Run with ``make bench`` or ``python benchmarks/first_release.py [--records 1000] [--methods mdav vmdav] [--repeats 3]``.
Each figure is the CPU time (user and system) of a process that runs ``microagg release`` on five numeric attributes,
from its start to the finished folder; the least of the repeats. "Kernels" are the same releases without the choice that
NumPy may answer instead. The bar: under 4 s with an empty cache.
"""

from __future__ import annotations

import argparse
import os
import resource
import shutil
import subprocess
import sys
import tempfile
from collections.abc import Sequence
from pathlib import Path

import numpy as np

NAMES = "abcde"
RELEASE = """
import sys
from microagg.cli.app import main
from microagg.partition.uncompiled.choice import always_by

road, *sys.argv[1:] = sys.argv[1:]
with always_by(road if road == "kernels" else None):
    main()
"""


def write_input(folder: Path, n_records: int) -> None:
    """Write a table of dependent normal attributes, and recipes that partition all of them."""
    rng = np.random.default_rng(0)
    X = 50 + 10 * rng.normal(size=(n_records, len(NAMES))) @ rng.normal(size=(len(NAMES), len(NAMES)))
    np.savetxt(folder / "table.csv", X, delimiter=",", header=",".join(NAMES), comments="", fmt="%.3f")
    roles = "".join(f'[attributes.{name}]\nrole = "quasi_identifier"\nkind = "numeric"\n' for name in NAMES)
    (folder / "recipe.toml").write_text(f"k = 5\n{roles}", encoding="utf-8")


def cpu_seconds(folder: Path, method: str, road: str, cache: Path) -> float:
    """CPU seconds of one release in a process of its own."""
    given = [str(folder / "table.csv"), "-r", str(folder / "recipe.toml"), "-o", str(folder / "out")]
    command = [sys.executable, "-c", RELEASE, road, "release", *given, "--method", method, "--seed", "1", "--overwrite"]
    before = resource.getrusage(resource.RUSAGE_CHILDREN)
    done = subprocess.run(command, env={**os.environ, "NUMBA_CACHE_DIR": str(cache)}, capture_output=True, text=True)
    after = resource.getrusage(resource.RUSAGE_CHILDREN)
    if done.returncode:
        sys.exit(f"The release failed:\n{done.stderr}")
    return after.ru_utime + after.ru_stime - before.ru_utime - before.ru_stime


def measure(folder: Path, method: str, repeats: int) -> None:
    """Print what releases cost on an empty and on a filled cache, as they are and by kernels alone."""
    least: dict[tuple[str, str], float] = {}
    for _ in range(repeats):
        for road in ("kernels", "free"):
            cache = Path(tempfile.mkdtemp(dir=folder))
            taken = {"empty": cpu_seconds(folder, method, road, cache)}
            if road == "free":  # what the cache would hold if kernels had been needed
                cpu_seconds(folder, method, "kernels", cache)
            taken["filled"] = cpu_seconds(folder, method, road, cache)
            shutil.rmtree(cache)
            for state, seconds in taken.items():
                least[road, state] = min(seconds, least.get((road, state), np.inf))
    for road, name in (("kernels", "kernels"), ("free", "as it is")):
        empty, filled = least[road, "empty"], least[road, "filled"]
        print(f"    {method:>12}, {name:>8}: {empty:6.2f} s first, {filled:5.2f} s later, ratio {empty / filled:5.2f}")
    share = least["free", "empty"] / least["kernels", "empty"]
    print(f"    {method:>12}: a first release takes {share:.2f} of what kernels take")


def main(arguments: Sequence[str] | None = None) -> None:
    parser = argparse.ArgumentParser(description=__doc__, formatter_class=argparse.RawDescriptionHelpFormatter)
    parser.add_argument("--records", type=int, default=1000)
    parser.add_argument("--methods", nargs="+", default=["mdav", "vmdav", "pcp", "near_optimal"])
    parser.add_argument("--repeats", type=int, default=3)
    given = parser.parse_args(arguments)
    print(f"\n=== First release of {given.records:,} x {len(NAMES)}, k = 5, CPU seconds")
    with tempfile.TemporaryDirectory() as folder:
        write_input(Path(folder), given.records)
        for method in given.methods:
            measure(Path(folder), method, given.repeats)


if __name__ == "__main__":
    main()
