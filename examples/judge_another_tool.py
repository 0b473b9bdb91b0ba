"""Judge a release that another tool made, beside one of ours.

`evaluate` takes two tables and says what each column is; it knows no algorithm.

Run: python examples/judge_another_tool.py
"""

from __future__ import annotations

import numpy as np
import pyarrow as pa

import microagg

rng = np.random.default_rng(0)
firms = pa.table(
    {
        "employees": rng.lognormal(3, 1, 600).round(),
        "turnover": rng.lognormal(8, 1, 600).round(-1),
        "energy": rng.lognormal(5, 0.7, 600).round(1),
    }
)
recipe = microagg.Recipe(
    method="near_optimal",
    k=5,
    output={"order": "kept"},  # so that measures record by record can be had; releases are shuffled by default
    attributes={name: {"role": "quasi_identifier", "kind": "numeric"} for name in firms.column_names},
)
ours = microagg.release(firms, recipe).table

# "Another tool": multiplicative noise of ten per cent.
theirs = pa.table({name: firms[name].to_numpy() * rng.normal(1, 0.1, len(firms)) for name in firms.column_names})

found = {
    name: microagg.evaluate(firms, table, recipe, aligned=True)
    for name, table in {"microagg, k = 5": ours, "noise of 10 %": theirs}.items()
}
print(microagg.compare(found))
linked = {name: evaluation["distance_linkage"] for name, evaluation in found.items()}
for name, measure in linked.items():
    print(f"{name}: {measure.value:.1%} of the records are linked to the firm they came from")
