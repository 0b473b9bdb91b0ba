"""Near-optimal cells: loss and CPU seconds on the field's files, what is proved about them, and how both grow.

Run with ``python benchmarks/near_optimal.py [--efforts fast default best] [--seeds 5] [--certificates] [--long]
[--curve FILE]``. Losses are 100 SSE/SST on z-scores, means of the seeds; CPU seconds include the start and the near
records, not the compilation. The three files need ``microagg datasets --fetch`` or ``MICROAGG_DATA``.
"""

from __future__ import annotations

import argparse
import json
import resource
import subprocess
import sys
import time
from pathlib import Path

import numpy as np

from microagg import MDAV, NearOptimal, datasets
from microagg._halt import StopCondition
from microagg.partition.local_search.efforts import EFFORTS
from microagg.partition.refine import improve_cells
from microagg.partition.uncompiled.choice import always_by
from microagg.space.points import Points

EIA = ("UTILITYID", *(f"{kind}{what}" for kind in ("RES", "COM", "IND") for what in ("REVENUE", "SALES")))
EIA = (*EIA, "OTHREVENUE", "OTHRSALES", "TOTREVENUE", "TOTSALES")
COLUMNS = {"census": None, "tarragona": None, "eia": EIA}
BARS = {
    ("fast", "census"): (4.95, 7.65, 11.75),
    ("fast", "tarragona"): (14.75, 20.45, 30.35),
    ("fast", "eia"): (0.36, 0.82, 2.25),
    ("default", "census"): (4.80, 7.43, 11.50),
    ("default", "tarragona"): (14.65, 20.25, 30.18),
    ("default", "eia"): (0.354, 0.755, 2.04),
    ("best", "census"): (4.71, 7.31, 11.41),
    ("best", "tarragona"): (14.52, 20.19, 30.13),
    ("best", "eia"): (0.351, 0.735, 1.96),
}
CERTIFIED = (("census", 3), ("census", 5), ("tarragona", 3), ("tarragona", 5), ("eia", 3))


def z_scores(name: str) -> np.ndarray:
    table = getattr(datasets, f"load_{name}")()
    columns = COLUMNS[name] or table.column_names
    X = np.column_stack([table[column].to_numpy() for column in columns]).astype(float)
    return (X - X.mean(axis=0)) / X.std(axis=0)


def compile_all() -> None:
    X = np.random.default_rng(0).normal(size=(60, 3))
    NearOptimal(k=3, effort="best", random_state=0, certificate=True, start="split").fit(X)
    NearOptimal(k=10, effort="fast", random_state=0).fit(np.random.default_rng(0).normal(size=(7_000, 2)))


def table_of_files(efforts: list[str], seeds: int) -> None:
    print("effort    file        k    mean loss   worst    bar      CPU s   MDAV")
    for effort in efforts:
        for name in COLUMNS:
            X = z_scores(name)
            for k, bar in zip((3, 5, 10), BARS[effort, name], strict=True):
                losses, taken = [], []
                for seed in range(seeds):
                    start = time.process_time()
                    fitted = NearOptimal(k=k, effort=effort, random_state=seed).fit(X)
                    taken.append(time.process_time() - start)
                    losses.append(100 * fitted.sse_ / X.size)
                by_mdav = 100 * MDAV(k=k).fit(X).sse_ / X.size
                verdict = "holds" if np.mean(losses) <= bar else "MISSED"
                print(
                    f"{effort:<9} {name:<10} {k:>2}  {np.mean(losses):9.4f} {max(losses):9.4f} {bar:8.3f}"
                    f" {np.mean(taken):8.2f} {by_mdav:9.4f}  {verdict}",
                    flush=True,
                )


def certificates() -> None:
    for name, k in CERTIFIED:
        X = z_scores(name)
        start = time.process_time()
        fitted = NearOptimal(k=k, effort="default", random_state=0).fit(X)
        searched = time.process_time()
        fitted = NearOptimal(k=k, effort="default", random_state=0, certificate=True, time_limit=600).fit(X)
        taken = time.process_time() - searched - (searched - start)
        print(f"{name} k = {k}, {taken:.1f} s of CPU: {fitted.certificate_}", flush=True)


def growth() -> None:
    """Gaussian 100,000 x 5, k = 10, against MDAV in the same run; then a million in an own process."""
    X = np.random.default_rng(1).normal(size=(100_000, 5))
    total = ((X - X.mean(axis=0)) ** 2).sum()
    seconds = {}
    for road in ("plain", "brute", "tree"):
        MDAV(k=10, algorithm=road).fit(X[:4_000])
        start = time.process_time()
        by_mdav = MDAV(k=10, algorithm=road).fit(X).sse_
        seconds[road] = time.process_time() - start
        print(f"100,000 x 5, k = 10: MDAV, {road}, loses {100 * by_mdav / total:.4f} % in {seconds[road]:.2f} s of CPU")
    for effort, least, most in (("fast", 0.92, 2), ("default", 0.86, 3), ("best", 0.80, 10)):
        start = time.process_time()
        fitted = NearOptimal(k=10, effort=effort, random_state=0).fit(X)
        taken = time.process_time() - start
        print(
            f"    {effort:<8} {100 * fitted.sse_ / total:.4f} %, {fitted.sse_ / by_mdav:.3f} x MDAV (bar {least}) in "
            f"{taken:.1f} s, {taken / seconds['plain']:.1f} x the plain scan (bar {most}), "
            f"{taken / seconds['brute']:.1f} x the filtered scan, {taken / seconds['tree']:.1f} x the tree",
            flush=True,
        )
    for n_records in (100_000, 1_000_000):
        shown = subprocess.run(
            [sys.executable, __file__, "--one", str(n_records)], capture_output=True, text=True, check=True
        )
        print(shown.stdout, end="", flush=True)


def one(n_records: int) -> None:
    compile_all()
    X = np.random.default_rng(1).normal(size=(n_records, 5))
    total = ((X - X.mean(axis=0)) ** 2).sum()
    start = time.process_time()
    fitted = NearOptimal(k=10, effort="fast", random_state=0).fit(X)
    taken = time.process_time() - start
    peak = resource.getrusage(resource.RUSAGE_SELF).ru_maxrss / 2**20
    start = time.process_time()
    by_mdav = MDAV(k=10).fit(X).sse_
    mdav_seconds = time.process_time() - start
    print(
        f"{n_records:,} x 5, k = 10, fast: {100 * fitted.sse_ / total:.4f} % in {taken:.1f} s of CPU, "
        f"{1e6 * taken / n_records:.1f} us per record, peak memory {peak:.2f} GiB; "
        f"MDAV: {100 * by_mdav / total:.4f} % in {mdav_seconds:.1f} s, so {fitted.sse_ / by_mdav:.3f} x its loss"
    )


def curve(path: Path) -> None:
    """Loss against CPU time on Census, k = 3, for the picture of docs/algorithms/near_optimal.md."""
    X = z_scores("census")
    start = time.process_time()
    by_mdav = MDAV(k=3).fit(X)
    mdav_seconds = time.process_time() - start
    runs = {}
    for effort in ("fast", "default"):
        run = improve_cells(Points(X), by_mdav.labels_, 3, EFFORTS[effort], 0, StopCondition()).runs[0]
        first = run.trace[0][0]
        runs[effort] = [(mdav_seconds + when - first + 0.02, 100 * sse / X.size) for when, sse in run.trace]
    best = NearOptimal(k=3, effort="best", random_state=0, certificate=True).fit(X)
    content = {
        "mdav": 100 * by_mdav.sse_ / X.size,
        "mdav_seconds": mdav_seconds,
        "runs": runs,
        "best": 100 * best.sse_ / X.size,
        "floor": 100 * best.lower_bound_ / X.size,
    }
    path.write_text(json.dumps(content))


def main() -> None:
    parser = argparse.ArgumentParser(description=__doc__, formatter_class=argparse.RawDescriptionHelpFormatter)
    parser.add_argument("--efforts", nargs="*", default=["fast", "default"], choices=list(EFFORTS))
    parser.add_argument("--seeds", type=int, default=5)
    parser.add_argument("--certificates", action="store_true", help="prove lower bounds")
    parser.add_argument("--long", action="store_true", help="100,000 and 1,000,000 records")
    parser.add_argument("--curve", type=Path, help="write loss against time to this file")
    parser.add_argument("--one", type=int, help=argparse.SUPPRESS)
    chosen = parser.parse_args()
    if chosen.one:
        one(chosen.one)
        return
    compile_all()
    if chosen.curve:
        curve(chosen.curve)
        return
    table_of_files(chosen.efforts, chosen.seeds)
    if chosen.certificates:
        certificates()
    if chosen.long:
        growth()


if __name__ == "__main__":
    with always_by("kernels"):  # they are what is measured, also where NumPy would answer
        main()
