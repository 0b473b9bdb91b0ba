"""Measure what each method costs, for its page: docs/methods/costs.json. Run: python tools/site/costs.py [method ...]

One table of four numbers that go together, from a seed: what is lost of 10,000 records, and the seconds of a whole
release of 10,000 and of 100,000 of them.
"""

from __future__ import annotations

import json
import sys
import time
from pathlib import Path
from typing import Any

import numpy as np
import pyarrow as pa
from scipy.stats import wasserstein_distance

import microagg
from microagg.methods.catalogue import METHODS
from microagg.methods.method import Method

PLACE = Path(__file__).resolve().parents[2] / "docs" / "methods" / "costs.json"
SIZES = (10_000, 100_000)
BOUND = 1_000
CELL, MOMENT_CELL, VALUES, EPSILON = 10, 300, 1_000, 1.0


def table(n_records: int) -> dict[str, np.ndarray]:
    """Four columns of whole numbers from 0 to 1,000, correlated by a half."""
    rng = np.random.default_rng(1)
    together, alone = rng.normal(size=(n_records, 1)), rng.normal(size=(n_records, 4))
    values = 500 + 120 * (together + alone) / 2**0.5
    return {f"x{i}": np.clip(np.round(values[:, i]), 0, BOUND).astype(np.int64) for i in range(4)}


def recipe_of(method: Method) -> microagg.Recipe:
    column = {"role": "quasi_identifier", "kind": "numeric", "bounds": [0, BOUND], "resolution": 1}
    recipe: dict[str, Any] = {"method": method.name, "attributes": {f"x{i}": column for i in range(4)}}
    if method.has_cells:
        recipe["k"] = VALUES if method.mixes_values else MOMENT_CELL if method.name == "dp_moments" else CELL
    if method.is_private:
        recipe["privacy"] = {"epsilon": EPSILON}
    if method.name == "insensitive_mdav":
        recipe["space"] = {"standardize": "bounds"}
    if method.name == "optimal_univariate":
        recipe["blocks"] = {"form": "contiguous", "size": 1}
    return microagg.Recipe(**recipe)


def cost_of(method: Method) -> dict[str, float | int | None]:
    """What one method loses and takes."""
    recipe = recipe_of(method)
    found: dict[str, float | int | None] = {"k": recipe.k if method.has_cells else None}
    for size in SIZES:
        before, seconds = table(size), []
        for _ in range(2):  # the first may load or compile kernels
            began = time.process_time()
            release = microagg.release(pa.table(before), recipe, seed=0)
            seconds.append(time.process_time() - began)
        found[f"seconds_{size}"] = round(min(seconds), 2)
        if size == SIZES[0]:
            after = release.table.to_pydict()
            away = [wasserstein_distance(before[name], after[name]) / before[name].std() for name in before]
            found["distance"] = round(float(np.mean(away)), 4)
            found["loss"] = None if method.is_private else round(release.information_loss, 2)
    return found


if __name__ == "__main__":
    costs = json.loads(PLACE.read_text(encoding="utf-8")) if PLACE.exists() else {}
    for name, one in METHODS.items():
        if not name.startswith("dp_moments_") and (not sys.argv[1:] or name in sys.argv[1:]):
            costs[name] = cost_of(one)
            print(name, costs[name], flush=True)
            PLACE.write_text(json.dumps(costs, indent=1) + "\n", encoding="utf-8")
