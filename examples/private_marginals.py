"""Differential privacy: each attribute's distribution, epsilon-DP of the original records.

Run: python examples/private_marginals.py
"""

from __future__ import annotations

import numpy as np
import pyarrow as pa

import microagg

rng = np.random.default_rng(0)
people = pa.table(
    {
        "income": np.clip(rng.lognormal(10.3, 0.5, 20_000), 0, 500_000),
        "hours": np.clip(rng.normal(38, 8, 20_000), 0, 80),
    }
)
recipe = microagg.Recipe(
    method="dp_individual_ranking",
    k=100,
    privacy={"epsilon": 1.0},
    attributes={
        # Bounds are what everybody knows, not what the data happen to hold.
        "income": {"role": "quasi_identifier", "kind": "numeric", "bounds": [0, 500_000]},
        "hours": {"role": "quasi_identifier", "kind": "numeric", "bounds": [0, 80]},
    },
)
release = microagg.release(people, recipe)
for name in people.column_names:
    before, after = (np.quantile(table[name].to_numpy(), [0.1, 0.5, 0.9]) for table in (people, release.table))
    print(f"{name:<7} 10 / 50 / 90 %: {np.round(before, 1)} original, {np.round(after, 1)} released")
print(release.statement)
