"""The bars of exact MDAV, as ratios in one run: speed against plain versions, growth, memory, identity.

Run with ``make bench`` or ``python benchmarks/mdav.py [--quick] [--long] [--two-threads]``. ``--long`` adds the legs
with a million records. Ours runs on one thread and is timed in CPU seconds. The plain float64 scan counts half of its
CPU seconds on one thread: the best that two threads can attain, on a machine however busy. ``--two-threads`` also runs
it on two, in wall seconds; that means something only on an idle machine.
"""

from __future__ import annotations

import argparse
import subprocess
import sys
import time
from collections.abc import Callable

import numpy as np
from numba import njit, prange

from microagg import MDAV, VMDAV
from microagg.partition._kernels.mdav.plain.cells import BLOCK, remove, scan, sift_down, sums_of_columns
from microagg.partition.uncompiled.choice import always_by

APART = 8  # numbers of two threads are kept in different cache lines


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


@njit(parallel=True)
def scan_halves(points, record_at, remaining, query, distances, records, farthest, buffers):
    """The plain scan of the package over both halves of the records, each on a thread of its own."""
    for half in prange(2):
        farthest[half, 0] = scan(
            points[half],
            record_at[half],
            remaining[half, 0],
            query,
            distances.shape[1],
            distances[half],
            records[half],
            buffers[half],
            None,
        )


@njit
def squared(a, b):
    total = 0.0
    for j in range(a.shape[0]):
        total += (a[j] - b[j]) ** 2
    return total


@njit
def take_out(points, record_at, place_of, half_of, remaining, record, high, low):
    half = half_of[record]
    remaining[half, 0] = remove(points[half], record_at[half], place_of, remaining[half, 0], record, high, low, None)


@njit
def cells_on_two_threads(X, k, points, record_at, place_of, half_of, remaining, high, low, labels):
    """MDAV by the plain float64 scan, every pass on two threads."""
    distances, records = np.empty((2, k - 1)), np.empty((2, k - 1), dtype=np.int64)
    none_d, none_r = np.empty((2, 0)), np.empty((2, 0), dtype=np.int64)
    farthest, buffers = np.empty((2, APART), dtype=np.int64), np.empty((2, BLOCK))
    query = np.empty(X.shape[1])
    left, cell = X.shape[0], 0
    while left >= 2 * k:
        for j in range(X.shape[1]):
            query[j] = high[j] / left
        scan_halves(points, record_at, remaining, query, none_d, none_r, farthest, buffers)
        for _ in range(2 if left >= 3 * k else 1):
            seed = farthest[0, 0]
            if squared(X[farthest[1, 0]], query) > squared(X[seed], query):
                seed = farthest[1, 0]
            query[:] = X[seed]
            labels[seed] = cell
            take_out(points, record_at, place_of, half_of, remaining, seed, high, low)
            scan_halves(points, record_at, remaining, query, distances, records, farthest, buffers)
            for i in range(k - 1):  # the nearest of the second half join those of the first
                distance, record = distances[1, i], records[1, i]
                if distance < distances[0, 0] or (distance == distances[0, 0] and record < records[0, 0]):
                    distances[0, 0], records[0, 0] = distance, record
                    sift_down(distances[0], records[0], k - 1)
            for i in range(k - 1):
                labels[records[0, i]] = cell
                take_out(points, record_at, place_of, half_of, remaining, records[0, i], high, low)
            cell += 1
            left -= k


def plain_two_threads(X: np.ndarray, k: int) -> np.ndarray:
    """MDAV by the plain float64 scan on two threads; of an odd number of records the last one is left out."""
    half, dimension = len(X) // 2, X.shape[1]
    X = X[: 2 * half]
    high, low = np.zeros(dimension), np.zeros(dimension)
    sums_of_columns(X, high, low)
    labels = np.full(len(X), -1)
    points = np.ascontiguousarray(X.reshape(2, half, dimension).transpose(0, 2, 1))
    records = np.arange(len(X))
    remaining = np.full((2, APART), half)
    cells_on_two_threads(
        X, k, points, records.reshape(2, half).copy(), records % half, records // half, remaining, high, low, labels
    )
    return labels


def median_seconds(
    work: Callable[[], object], repeats: int = 3, clock: Callable[[], float] = time.process_time
) -> float:
    taken = []
    for _ in range(repeats):
        start = clock()
        work()
        taken.append(clock() - start)
    return float(np.median(taken))


def gaussian(n_records: int, n_attributes: int) -> np.ndarray:
    return np.random.default_rng(0).normal(size=(n_records, n_attributes))


def rank_three(n_records: int, n_attributes: int) -> np.ndarray:
    rng = np.random.default_rng(0)
    return rng.normal(size=(n_records, 3)) @ rng.normal(size=(3, n_attributes))


def mixture(n_records: int, n_attributes: int) -> np.ndarray:
    rng = np.random.default_rng(0)
    return rng.normal(size=(20, n_attributes))[rng.integers(0, 20, n_records)] * 10 + gaussian(n_records, n_attributes)


def against_plain_scans(n_records: int, k: int, two_threads: bool) -> None:
    print(f"\n{n_records} Gaussian records, k = {k}; CPU seconds, medians of 3")
    print("  d     ours   plain   ratio of half of plain   bar")
    for n_attributes, bar in ((2, 8), (4, 8), (8, 5), (13, 8), (20, 8)):
        X = gaussian(n_records, n_attributes)
        ours = median_seconds(lambda X=X: MDAV(k=k).fit(X))
        plain = median_seconds(lambda X=X: MDAV(k=k, algorithm="plain").fit(X))
        print(f"{n_attributes:>3} {ours:>8.3f} {plain:>7.2f} {plain / 2 / ours:>23.1f}x {bar:>4}x", flush=True)
        if two_threads:
            wall = median_seconds(lambda X=X: MDAV(k=k).fit(X), 3, time.perf_counter)
            plain = median_seconds(lambda X=X: plain_two_threads(X, k), 3, time.perf_counter)
            print(f"    wall: ours {wall:.3f}, plain on two threads {plain:.2f}, ratio {plain / wall:.1f}x", flush=True)


def against_numpy(n_records: int, k: int) -> None:
    X = gaussian(n_records, 5)
    ours = median_seconds(lambda: MDAV(k=k).fit(X))
    plain = median_seconds(lambda: plain_numpy_mdav(X, k), 1)
    print(
        f"\n{n_records} x 5, k = {k}: ours {ours:.2f}, plain NumPy {plain:.1f} s of CPU: {plain / ours:.0f}x (bar 100x)"
    )


def variable_cells(n_records: int, k: int) -> None:
    """V-MDAV by the tree against V-MDAV by scanning, on a tenth of the records: scanning them all takes minutes."""
    from microagg.partition import vmdav

    small, large = gaussian(n_records // 10, 5), gaussian(n_records, 5)
    VMDAV(k=k).fit(small)
    by_tree = median_seconds(lambda: VMDAV(k=k).fit(small))
    whole = median_seconds(lambda: VMDAV(k=k).fit(large), 1)
    at_least, vmdav._TREE_FROM = vmdav._TREE_FROM, len(small) + 1
    VMDAV(k=k).fit(small[:1000])  # compiling the scan is not part of it
    by_scan = median_seconds(lambda: VMDAV(k=k).fit(small), 1)
    vmdav._TREE_FROM = at_least
    print(
        f"\nV-MDAV, {len(small)} x 5, k = {k}: tree {by_tree:.2f}, scan {by_scan:.2f} s of CPU: "
        f"{by_scan / by_tree:.0f}x; {n_records} x 5 by the tree: {whole:.2f} s"
    )


def growth(k: int) -> None:
    print(f"\nfrom 100,000 to 1,000,000 records, k = {k}: CPU seconds, exponent of time, bar")
    for name, make, n_attributes, bar in (
        ("Gaussian", gaussian, 2, 1.25),
        ("Gaussian", gaussian, 4, 1.25),
        ("rank 3", rank_three, 8, 1.25),
        ("rank 3", rank_three, 20, 1.25),
        ("Gaussian", gaussian, 8, 1.6),
    ):
        small = median_seconds(lambda m=make, d=n_attributes: MDAV(k=k).fit(m(100_000, d)))
        large = median_seconds(lambda m=make, d=n_attributes: MDAV(k=k).fit(m(1_000_000, d)), 1)
        exponent = np.log10(large / small)
        print(f"    {name:>8}, d = {n_attributes:>2}: {small:6.2f} {large:7.2f}   {exponent:.2f} ({bar})", flush=True)


def identity(k: int) -> None:
    print(f"\nat 1,000,000 records, k = {k}: is tree = brute?")
    for make, n_attributes in ((gaussian, 4), (rank_three, 6), (mixture, 8)):
        X = make(1_000_000, n_attributes)
        by_tree, by_scan = (MDAV(k=k, algorithm=algorithm).fit(X).labels_ for algorithm in ("tree", "brute"))
        print(f"    {make.__name__}, d = {n_attributes}: {np.array_equal(by_tree, by_scan)}", flush=True)


def peak_above_input(n_records: int, n_attributes: int, k: int) -> float:
    """MiB of memory that MDAV takes above its input, in a process of its own (Linux)."""
    script = f"""
import re, numpy as np
from microagg import MDAV
from microagg.partition.uncompiled.choice import always_by

def peak():
    with open("/proc/self/status") as status:
        return int(re.search(r"VmHWM:\\s+(\\d+)", status.read()).group(1)) / 1024

with always_by("kernels"):
    MDAV(k=5).fit(np.random.default_rng(0).normal(size=(5000, {n_attributes})))
rng = np.random.default_rng(0)
X = rng.normal(size=({n_records}, 3)) @ rng.normal(size=(3, {n_attributes}))
before = peak()
MDAV(k={k}).fit(X)
print(peak() - before)
"""
    return float(subprocess.run([sys.executable, "-c", script], capture_output=True, text=True, check=True).stdout)


def main() -> None:
    parser = argparse.ArgumentParser(description=__doc__)
    parser.add_argument("--quick", action="store_true", help="a tenth of the records")
    parser.add_argument("--two-threads", action="store_true", help="also the plain scan on two threads, in wall time")
    parser.add_argument("--long", action="store_true", help="also the legs with a million records")
    arguments = parser.parse_args()
    n_records, k = 10_000 if arguments.quick else 100_000, 10

    start = time.process_time()
    for algorithm in ("tree", "brute"):
        MDAV(k=k, algorithm=algorithm).fit(gaussian(4000, 3))
    print(f"first calls of tree and brute (compiling, or from the cache): {time.process_time() - start:.1f} s of CPU")
    if arguments.two_threads:
        plain_two_threads(gaussian(4000, 3), k)
    MDAV(k=k, algorithm="plain").fit(gaussian(4000, 3))

    against_plain_scans(n_records, k, arguments.two_threads)
    against_numpy(n_records, k)
    variable_cells(n_records, k)
    if arguments.long:
        growth(k)
        print("\nmemory above the input of rank-3 data, k = 50, MiB")
        for n, d in ((250_000, 20), (500_000, 20), (1_000_000, 20), (4_000_000, 2), (8_000_000, 2)):
            peak, held = peak_above_input(n, d, 50), n * d * 8 / 2**20
            bar = " (bar 1024)" if (n, d) == (1_000_000, 20) else ""
            print(f"    {n:>9} x {d:>2}: {peak:6.0f} above {held:.0f}{bar}", flush=True)
        identity(100)


if __name__ == "__main__":
    with always_by("kernels"):  # they are what is measured, also where NumPy would answer
        main()
