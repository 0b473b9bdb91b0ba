"""What an assessment of risk takes: a million records of eight quasi-identifiers in 30 CPU seconds.

Run with ``make bench`` or ``python benchmarks/risk.py [--quick]``. Tables come from a seeded generator: categories like
those of Adult, with shares that fall; the same with finer ones, which leave more special uniques; and numbers of
thousands of values. Every table has a confidential attribute and sampling weights, and is the first fifth of a
population table. Seconds are CPU time of `microagg.risk` alone; memory is the peak of the process so far, tables
included. Without the population the journalist's risk is estimated from weights, with it counted.
"""

from __future__ import annotations

import argparse
import resource
import time

import numpy as np
import pyarrow as pa

import microagg

BAR = 30.0  # CPU seconds
KINDS = {
    "like Adult": (74, 2, 5, 7, 16, 42, 9, 100),
    "finer": (300, 2, 50, 70, 160, 400, 90, 1000),
    "numbers": (5000,) * 8,
}


def table(n_records: int, categories: tuple[int, ...]) -> pa.Table:
    """Codes of categories, the later ones the rarer; a confidential attribute and weights of about five."""
    rng = np.random.default_rng(0)
    columns = {
        f"x{j}": np.floor(count * rng.random(n_records) ** 2).astype(np.int64) for j, count in enumerate(categories)
    }
    ill = rng.choice(["none", "flu", "gout"], n_records, p=[0.8, 0.15, 0.05])
    return pa.table(columns | {"ill": ill, "weight": rng.uniform(3.0, 7.0, n_records)})


def recipe_for(categories: tuple[int, ...]) -> microagg.Recipe:
    quasi = {f"x{j}": {"role": "quasi_identifier", "kind": "numeric"} for j in range(len(categories))}
    others = {"ill": "confidential", "weight": "non_confidential"}
    return microagg.Recipe(k=5, sampling_weight="weight", attributes=quasi | others)


def main() -> None:
    parser = argparse.ArgumentParser(description=__doc__.splitlines()[0])
    parser.add_argument("--quick", action="store_true", help="50,000 records instead of a million")
    n_records = 50_000 if parser.parse_args().quick else 1_000_000
    print(f"{n_records:,} records x 8 quasi-identifiers, bar {BAR:g} CPU s")
    for kind, categories in KINDS.items():
        for with_population in (False, True):
            everyone = table(5 * n_records, categories)
            data, population = everyone.slice(0, n_records), everyone if with_population else None
            started = time.process_time()
            found = microagg.risk(data, recipe_for(categories), population)
            seconds = time.process_time() - started
            peak = resource.getrusage(resource.RUSAGE_SELF).ru_maxrss / 2**20
            special = found.special_uniques
            print(
                f"{kind:>12}{' with population' if with_population else '':<17} {seconds:5.1f} s, "
                f"peak so far {peak:.2f} GiB: {found.combinations.classes:,} classes, "
                f"{found.combinations.unique:,} unique, "
                f"{special.records:,} special (sets of at most {special.largest_size}), "
                f"journalist {found.journalist.average:.2f}, unique match right {special.match.chance:.2f}, "
                f"{'within' if seconds <= BAR else 'ABOVE'} the bar"
            )


if __name__ == "__main__":
    main()
