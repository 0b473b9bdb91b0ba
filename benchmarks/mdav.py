"""MDAV against a plain NumPy version in the same run: time as a ratio, memory above the input.

Run with ``make bench`` or ``python benchmarks/mdav.py [--quick]``.
"""

from __future__ import annotations

import argparse
import subprocess
import sys
import time
from collections.abc import Callable

import numpy as np


def plain_numpy_mdav(X: np.ndarray, k: int) -> np.ndarray:
    """MDAV as one would write it in NumPy: whole-array distances, argpartition for the nearest."""
    labels = np.empty(len(X), dtype=np.int64)
    remaining = np.arange(len(X))
    points = X.copy()
    cell = 0

    def take_cell(seed: np.ndarray) -> None:
        nonlocal remaining, points, cell
        nearest = np.argpartition(((points - seed) ** 2).sum(axis=1), k - 1)[:k]
        labels[remaining[nearest]] = cell
        remaining, points = np.delete(remaining, nearest), np.delete(points, nearest, axis=0)
        cell += 1

    while len(remaining) >= 3 * k:
        r = points[((points - points.mean(axis=0)) ** 2).sum(axis=1).argmax()]
        take_cell(r)
        take_cell(points[((points - r) ** 2).sum(axis=1).argmax()])
    if len(remaining) >= 2 * k:
        take_cell(points[((points - points.mean(axis=0)) ** 2).sum(axis=1).argmax()])
    labels[remaining] = cell
    return labels


def seconds(work: Callable[[], object], repeats: int) -> float:
    """Median CPU seconds."""
    taken = []
    for _ in range(repeats):
        start = time.process_time()
        work()
        taken.append(time.process_time() - start)
    return float(np.median(taken))


def peak_above_input(n_records: int, n_attributes: int, k: int) -> float:
    """MiB of memory that MDAV takes above its input, in a process of its own."""
    script = f"""
import resource, numpy as np
from microagg import MDAV
MDAV(k=5).fit(np.random.default_rng(0).normal(size=(1000, {n_attributes})))
X = np.random.default_rng(0).normal(size=({n_records}, {n_attributes}))
before = resource.getrusage(resource.RUSAGE_SELF).ru_maxrss
MDAV(k={k}).fit(X)
print((resource.getrusage(resource.RUSAGE_SELF).ru_maxrss - before) / 1024)
"""
    return float(subprocess.run([sys.executable, "-c", script], capture_output=True, text=True, check=True).stdout)


def main() -> None:
    parser = argparse.ArgumentParser(description=__doc__)
    parser.add_argument("--quick", action="store_true", help="a tenth of the records")
    n_records = 10_000 if parser.parse_args().quick else 100_000

    from microagg import MDAV

    k, n_attributes = 10, 5
    X = np.random.default_rng(0).normal(size=(n_records, n_attributes))
    start = time.perf_counter()
    MDAV(k=k).fit(X[:1000])
    print(f"first call (compiling, or from the cache): {time.perf_counter() - start:.1f} s")
    ours = seconds(lambda: MDAV(k=k).fit(X), 3)
    plain = seconds(lambda: plain_numpy_mdav(X, k), 1)
    print(f"{n_records} x {n_attributes}, k = {k}: microagg {ours:.2f} s, plain NumPy {plain:.2f} s of CPU")
    print(f"ratio: {plain / ours:.1f}x faster (bar: at least 5x)")
    print("peak memory above the input (cells of n/100 records, so that only memory is tried):")
    for n in (10 * n_records, 20 * n_records, 40 * n_records):
        peak, given = peak_above_input(n, n_attributes, n // 100), n * n_attributes * 8 / 2**20
        print(f"    {n:>8} records: {peak:6.1f} MiB, {peak / given:.1f} times the input of {given:.1f} MiB")


if __name__ == "__main__":
    main()
