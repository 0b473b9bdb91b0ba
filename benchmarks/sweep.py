"""What a sweep takes: 8 methods x 6 k on Census, every release evaluated with the default measures.

Run with ``make bench`` or ``python benchmarks/sweep.py [--workers 2]``. Processor time is that of the worker processes
and this one together; divided by the workers it is what an idle machine would take, kernels already compiled. The
same sweep in one process is the plain version it is compared with (``--plain``); a second start of the finished one
shows what taking up costs.
"""

from __future__ import annotations

import argparse
import os
import resource
import tempfile
import time
from pathlib import Path

import microagg

METHODS = ("mdav", "vmdav", "near_optimal", "pcp", "zscores", "individual_ranking", "mic1d", "dp_individual_ranking")
KS = (2, 3, 5, 10, 25, 50)


def recipe_of_census(repeats: int) -> tuple[object, microagg.Recipe]:
    table = microagg.datasets.load_census()
    attributes = {}
    for name in table.column_names:
        values = table[name].to_pylist()
        bounds = [min(0, min(values)), 1.5 * max(values)]
        attributes[name] = {"role": "quasi_identifier", "kind": "numeric", "bounds": bounds}
    sweep = {"methods": METHODS, "k": KS, "epsilon": [1.0], "repeats": repeats}
    return table, microagg.Recipe(k=5, attributes=attributes, sweep=sweep)


def processor_seconds() -> float:
    own, others = resource.getrusage(resource.RUSAGE_SELF), resource.getrusage(resource.RUSAGE_CHILDREN)
    return own.ru_utime + own.ru_stime + others.ru_utime + others.ru_stime


def timed(what: str, workers: int, folder: Path, repeats: int) -> tuple[float, float]:
    table, recipe = recipe_of_census(repeats)
    start, processor = time.perf_counter(), processor_seconds()
    found = microagg.sweep(table, recipe, workers=workers, folder=folder)
    if workers > 1:
        from joblib.externals.loky import get_reusable_executor

        get_reusable_executor().shutdown(wait=True)  # only then is the workers' processor time known
    wall, processor = time.perf_counter() - start, processor_seconds() - processor
    failed = sum(bool(point.failures) for point in found.points)
    releases = sum(point.repeats for point in found.points)
    print(
        f"    {what:<28} {len(found.points)} points, {releases} releases, {failed} failed: {wall:7.1f} s, "
        f"{processor:6.1f} s of processor time"
    )
    return wall, processor


def main() -> None:
    parser = argparse.ArgumentParser(description=__doc__)
    parser.add_argument("--workers", type=int, default=2)
    parser.add_argument("--repeats", type=int, default=3)
    parser.add_argument("--plain", action="store_true", help="also in one process")
    chosen = parser.parse_args()
    load = os.getloadavg()[0]
    grid = f"{len(METHODS)} methods x {len(KS)} k"
    print(f"Sweep of Census, {grid}, {chosen.workers} workers (load of the machine {load:.1f})")
    with tempfile.TemporaryDirectory() as folder:
        _, processor = timed("a sweep", chosen.workers, Path(folder) / "a", chosen.repeats)
        print(f"    {processor / chosen.workers:.0f} s per worker (to stay below 120)")
        timed("started again when finished", chosen.workers, Path(folder) / "a", chosen.repeats)
        if chosen.plain:
            timed("in one process", 1, Path(folder) / "b", chosen.repeats)


if __name__ == "__main__":
    main()
