"""What each measure of an evaluation takes on a large table.

Run with ``make bench`` or ``python benchmarks/evaluation.py [--quick]``. The table has ten numeric quasi-identifiers,
a numeric and a nominal confidential attribute; the release is MDAV's with k = 5, its rows in order.
"""

from __future__ import annotations

import argparse
import resource
import time

import numpy as np
import pyarrow as pa

import microagg

N_ATTRIBUTES = 10


def tables(n_records: int, k: int) -> tuple[pa.Table, pa.Table, pa.Table, microagg.Recipe]:
    """An original with correlated attributes, a release of it, and records that had no part in it."""
    rng = np.random.default_rng(0)
    mix = rng.normal(size=(N_ATTRIBUTES, N_ATTRIBUTES))

    def draw() -> pa.Table:
        X = rng.normal(size=(n_records, N_ATTRIBUTES)) @ mix
        columns = {f"x{j}": X[:, j] for j in range(N_ATTRIBUTES)}
        pay = np.round(np.exp(X[:, 0] / 4 + rng.normal(size=n_records)), 2)
        return pa.table(columns | {"pay": pay, "job": rng.choice(list("abcdefgh"), n_records)})

    quasi = {f"x{j}": {"role": "quasi_identifier", "kind": "numeric"} for j in range(N_ATTRIBUTES)}
    others = {"pay": {"role": "confidential", "kind": "numeric"}, "job": {"role": "confidential", "kind": "nominal"}}
    recipe = microagg.Recipe(k=k, output={"order": "kept"}, attributes=quasi | others)
    original, holdout = draw(), draw()
    X = np.column_stack([original[f"x{j}"].to_numpy() for j in range(N_ATTRIBUTES)])
    labels = microagg.MDAV(k=k).fit((X - X.mean(axis=0)) / X.std(axis=0)).labels_
    sizes = np.bincount(labels)
    released = original
    for j in range(N_ATTRIBUTES):
        means = np.bincount(labels, weights=X[:, j]) / sizes
        released = released.set_column(j, f"x{j}", pa.array(means[labels]))
    return original, released, holdout, recipe


def every_default_measure(n_records: int) -> None:
    original, released, holdout, recipe = tables(n_records, 5)
    start, processor = time.perf_counter(), time.process_time()
    found = microagg.evaluate(original, released, recipe, holdout=holdout)
    total, processor = time.perf_counter() - start, time.process_time() - processor
    for measure in found:
        value = "-" if measure.value is None else f"{measure.value:.4g}"
        print(f"    {measure.name:<28} {value:>10} {measure.seconds:8.2f} s")
    peak = resource.getrusage(resource.RUSAGE_SELF).ru_maxrss / 2**20
    print(f"    all {len(found.measures)}: {total:.1f} s (to stay below 60), {processor:.1f} s of processor time")
    print(f"    peak memory, with the making of the release: {peak:.2f} GiB")


def main() -> None:
    parser = argparse.ArgumentParser(description=__doc__)
    parser.add_argument("--quick", action="store_true", help="10,000 records instead of 100,000")
    n_records = 10_000 if parser.parse_args().quick else 100_000
    print(f"Every default measure, {n_records} records x {N_ATTRIBUTES} quasi-identifiers")
    every_default_measure(n_records)


if __name__ == "__main__":
    main()
