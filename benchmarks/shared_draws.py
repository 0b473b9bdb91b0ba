"""What draws of what many share cost beyond the cells: CPU seconds at 100,000 records and ten attributes of all kinds.

Run with ``python benchmarks/shared_draws.py [n_records]``; the bar is 30 CPU seconds for each k.
"""

from __future__ import annotations

import sys
import time

import numpy as np
import pyarrow as pa
from threadpoolctl import threadpool_limits

import microagg
from microagg import Recipe
from microagg.releases import cells

NUMERIC = {"role": "quasi_identifier", "kind": "numeric"}
NOMINAL = {"role": "quasi_identifier", "kind": "nominal"}


def people(n_records: int) -> pa.Table:
    """Continuous, skewed, rounded and small whole numbers, and categories, with a label that follows some of them."""
    rng = np.random.default_rng(0)
    z = rng.normal(size=(n_records, 4))
    columns = {}
    for place in range(7):
        own = rng.normal(size=n_records)
        skewed = np.exp(0.7 * z[:, place % 4] + 0.5 * own) * 1000
        columns[f"x{place}"] = skewed.astype(np.int64) if place % 2 else z[:, place % 4] + own
    columns["age"] = rng.integers(18, 90, n_records)
    columns["job"] = rng.choice(list("abcdef"), n_records)
    columns["grade"] = rng.choice(list("uvw"), n_records)
    score = z[:, 0] + z[:, 1] * z[:, 2] + (columns["age"] > 50) + rng.normal(size=n_records)
    return pa.table(columns | {"label": np.where(score > 1, "yes", "no")})


def main(n_records: int) -> None:
    table = people(n_records)
    kinds = {name: NOMINAL if name in ("job", "grade") else NUMERIC for name in table.column_names[:-1]}
    attributes = kinds | {"label": {"role": "confidential", "kind": "nominal"}}
    aggregate = {"form": "sampled", "paired_with": "label", "draws": "shared"}
    seconds: list[float] = []
    draw = cells.draw_shared

    def timed(*arguments, **options):
        started = time.process_time()
        drawn = draw(*arguments, **options)
        seconds.append(time.process_time() - started)
        return drawn

    cells.draw_shared = timed
    with threadpool_limits(1):  # so that CPU seconds are seconds of work, not of threads waiting for each other
        microagg.release(table.slice(0, 500), Recipe(k=10, attributes=attributes, aggregate=aggregate))  # compile
        for k in (10, 100):
            microagg.release(table, Recipe(k=k, attributes=attributes, aggregate=aggregate))
            print(f"{n_records} x {len(kinds)}, k = {k}: {seconds[-1]:.1f} CPU seconds beyond the cells")


if __name__ == "__main__":
    main(int(sys.argv[1]) if len(sys.argv) > 1 else 100_000)
