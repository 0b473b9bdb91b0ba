"""Cells that answer with their covariance too, under differential privacy: large cells keep their variability.

Run: python examples/cross_moments.py
"""

from __future__ import annotations

import numpy as np
import pyarrow as pa

import microagg

rng = np.random.default_rng(0)
tax = np.clip(rng.gamma(2.0, 1_500, 6_000), 0, 30_000)
income = np.clip(8_000 + 5 * tax + rng.normal(0, 4_000, 6_000), 0, 200_000)
firms = pa.table({"tax": tax, "income": income})

attributes = {
    "tax": {"role": "quasi_identifier", "kind": "numeric", "bounds": [0, 30_000]},
    "income": {"role": "quasi_identifier", "kind": "numeric", "bounds": [0, 200_000]},
}
print(f"original    deviation of tax {tax.std():7.0f}, correlation {np.corrcoef(tax, income)[0, 1]:.2f}")
for number, what in {1: "means", 2: "covariance"}.items():
    recipe = microagg.Recipe(method=f"cross_moment:{number}", k=1_000, privacy={"epsilon": 2.0}, attributes=attributes)
    release = microagg.release(firms, recipe)
    released = [release.table[name].to_numpy() for name in ("tax", "income")]
    print(f"{what:<11} deviation of tax {released[0].std():7.0f}, correlation {np.corrcoef(*released)[0, 1]:.2f}")
print(release.statement)
