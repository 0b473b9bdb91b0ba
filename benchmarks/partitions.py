"""Partitions of one attribute against the best-known package, and individual ranking against its sorts.

Run with ``make bench`` or ``python benchmarks/partitions.py [--quick]``. All times are CPU seconds of warm calls in the
same run; ratios and memory are what counts.
"""

from __future__ import annotations

import argparse
import subprocess
import sys
import time
from collections.abc import Callable

import numpy as np

from microagg.partition.uncompiled.choice import always_by

SAMPLES = {"normal": lambda z: z, "lognormal": np.exp}


def seconds(work: Callable[[], object], repeats: int = 3) -> float:
    """Median CPU seconds."""
    taken = []
    for _ in range(repeats):
        start = time.process_time()
        work()
        taken.append(time.process_time() - start)
    return float(np.median(taken))


def exact_sse(values: np.ndarray, labels: np.ndarray) -> np.longdouble:
    """SSE in extended precision, each cell measured from one of its own values."""
    order = np.argsort(labels, kind="stable")
    ordered = values[order].astype(np.longdouble)
    starts = np.flatnonzero(np.diff(labels[order], prepend=-1))
    sizes = np.diff(np.append(starts, len(values)))
    ordered -= np.repeat(ordered[starts], sizes)
    ordered -= np.repeat(np.add.reduceat(ordered, starts) / sizes, sizes)
    return (ordered**2).sum()


def peak_as_multiple_of_input(n_values: int, k: int) -> float:
    """Memory that OptimalUnivariate takes above its input, in a process of its own, in units of the input.

    Compiling takes memory too, before the call that is measured: the mark of the highest use is set back (on Linux).
    """
    script = rf"""
import re, numpy as np
from pathlib import Path
from microagg.partition import OptimalUnivariate
from microagg.partition.uncompiled.choice import always_by

def kibibytes(what):
    return int(re.search(what + r":\s+(\d+)", Path("/proc/self/status").read_text())[1])

with always_by("kernels"):
    OptimalUnivariate(k={k}).fit(np.random.default_rng(0).normal(size=(1000, 1)))
X = np.random.default_rng(0).normal(size=({n_values}, 1))
Path("/proc/self/clear_refs").write_text("5")
before = kibibytes("VmRSS")
OptimalUnivariate(k={k}).fit(X)
print((kibibytes("VmHWM") - before) * 1024 / X.nbytes)
"""
    return float(subprocess.run([sys.executable, "-c", script], capture_output=True, text=True, check=True).stdout)


def optimal_univariate(n_values: int) -> None:
    from microagg.partition import OptimalUnivariate

    try:
        from microagg1d import univariate_microaggregation
    except ImportError:
        univariate_microaggregation = None
        print("microagg1d is not installed, so nothing to compare with: pip install '.[bench]'")
    z = np.random.default_rng(0).normal(size=n_values)
    for name, transform in SAMPLES.items():
        values = transform(z)
        for k in (3, 10, 100):
            ours = OptimalUnivariate(k=k).fit(values[:, np.newaxis])
            taken = seconds(lambda: OptimalUnivariate(k=k).fit(values[:, np.newaxis]))  # noqa: B023
            line = f"    {name:>9}, k = {k:>3}: microagg {taken:.3f} s"
            if univariate_microaggregation is not None:
                theirs = univariate_microaggregation(values, k, method="staggered")
                their_time = seconds(lambda: univariate_microaggregation(values, k, method="staggered"))  # noqa: B023
                excess = exact_sse(values, ours.labels_) / exact_sse(values, np.asarray(theirs)) - 1
                line += f", microagg1d {their_time:.3f} s, ratio {their_time / taken:.2f} (bar: at least 1)"
                line += f", SSE {float(excess):+.1e} relative to its own (bar: at most +1e-9)"
            print(line)


def individual_ranking(n_records: int, n_attributes: int) -> None:
    from microagg.partition import IndividualRanking

    X = np.random.default_rng(0).normal(size=(n_records, n_attributes))
    IndividualRanking(k=5).fit(X[:1000])
    ours = seconds(lambda: IndividualRanking(k=5).fit(X))
    sorts = seconds(lambda: [np.argsort(X[:, j]) for j in range(n_attributes)])
    print(f"    {ours:.2f} s, the sorts alone {sorts:.2f} s: {ours / sorts:.2f} times (bar: below 3)")


def main() -> None:
    parser = argparse.ArgumentParser(description=__doc__)
    parser.add_argument("--quick", action="store_true", help="a tenth of the records")
    n_records = 100_000 if parser.parse_args().quick else 1_000_000
    print(f"optimal univariate cells of {n_records} values, CPU medians of 3:")
    optimal_univariate(n_records)
    for n_values in (n_records, 4 * n_records):
        for k in (3, 100):
            multiple = peak_as_multiple_of_input(n_values, k)
            print(f"    peak memory, {n_values} values, k = {k}: {multiple:.1f} times the input (bar: below 15)")
    print(f"individual ranking of {n_records} x 5, k = 5, fixed runs:")
    individual_ranking(n_records, 5)


if __name__ == "__main__":
    with always_by("kernels"):  # they are what is measured, also where NumPy would answer
        main()
