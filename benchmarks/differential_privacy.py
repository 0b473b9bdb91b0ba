"""Speed of differentially private individual ranking, as a ratio to the sorts it cannot do without.

The bar: 1,000,000 records of 5 attributes, k = 100, epsilon = 1, from table to release, under 10 times what ranking
the records of the five attributes takes (`numpy.argsort`) in the same run. Sorting bare values (`numpy.sort`), which
tells nobody's rank and uses vector instructions where there are any, is printed beside it, and so is what the noise
costs alone.

    python benchmarks/differential_privacy.py
"""

from __future__ import annotations

import argparse
import time
from collections.abc import Callable
from typing import Any

import numpy as np
import pyarrow as pa

import microagg
from microagg.privacy.noise import OpenDPNoise

K, EPSILON, UPPER = 100, 1.0, 50.0


def best_of(repeats: int, work: Callable[[], Any]) -> float:
    """Processor seconds of the fastest of several runs: what others do on the machine does not count."""
    seconds = []
    for _ in range(repeats):
        started = time.process_time()
        work()
        seconds.append(time.process_time() - started)
    return min(seconds)


def main() -> None:
    parser = argparse.ArgumentParser(description=__doc__)
    parser.add_argument("--records", type=int, default=1_000_000)
    parser.add_argument("--attributes", type=int, default=5)
    parser.add_argument("--repeats", type=int, default=3)
    chosen = parser.parse_args()
    rng = np.random.default_rng(0)
    columns = {f"x{j}": np.minimum(rng.lognormal(size=chosen.records), UPPER) for j in range(chosen.attributes)}
    table = pa.table(columns)
    declared = {"role": "quasi_identifier", "kind": "numeric", "bounds": [0, UPPER]}

    def release(form: str) -> Any:
        privacy = {"epsilon": EPSILON, "form": form}
        attributes = dict.fromkeys(columns, declared)
        return microagg.release(
            table, microagg.Recipe(method="dp_individual_ranking", k=K, privacy=privacy, attributes=attributes)
        )

    release("marginals")  # imports and first uses
    ranking = best_of(chosen.repeats, lambda: [np.argsort(values) for values in columns.values()])
    sorting = best_of(chosen.repeats, lambda: [np.sort(values) for values in columns.values()])
    sums = np.zeros(chosen.records // K, dtype=np.int64)
    scale = 2.0**40 * chosen.attributes / EPSILON
    noise = best_of(
        chosen.repeats,
        lambda: [OpenDPNoise().laplace(sums, scale=scale, sensitivity=2**40, epsilon=EPSILON) for _ in columns],
    )
    n_draws = len(sums) * len(columns)
    print(f"{chosen.records} records, {chosen.attributes} attributes, k = {K}, epsilon = {EPSILON}")
    print(f"ranking the records of every attribute: {ranking:.2f} s; sorting bare values: {sorting:.2f} s")
    print(f"noise alone: {noise:.2f} s for {n_draws} exact draws ({1e6 * noise / n_draws:.1f} microseconds each)")
    for form in ("marginals", "aligned"):
        seconds = best_of(chosen.repeats, lambda form=form: release(form))
        print(
            f"{form}: {seconds:.2f} s, {seconds / ranking:.1f} times the rankings (bar: 10), "
            f"{seconds / sorting:.1f} times the bare sorts"
        )


if __name__ == "__main__":
    main()
