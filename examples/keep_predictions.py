"""Cells that keep what the data is for: a model trained on the release, tested on people who are not in it.

Run: python examples/keep_predictions.py
"""

from __future__ import annotations

import numpy as np
import pyarrow as pa

import microagg

rng = np.random.default_rng(0)
figures = {name: rng.normal(size=4_000) for name in ("age", "hours", "weight", "height", "pulse", "sleep")}
risk = 1.5 * figures["age"] - 2 * np.abs(figures["hours"]) + 1.2  # the others say nothing about the illness
ill = np.where(rng.random(4_000) < 1 / (1 + np.exp(-risk)), "yes", "no")
patients = pa.table({**figures, "ill": ill})
known, untouched = patients.slice(0, 3_000), patients.slice(3_000)

attributes = {name: {"role": "quasi_identifier", "kind": "numeric"} for name in figures}
attributes["ill"] = {"role": "confidential", "kind": "nominal"}
plain = microagg.Recipe(k=100, attributes=attributes)
drawn = plain.changed({"aggregate.form": "sampled", "aggregate.paired_with": "ill"})
guided = plain.changed({"aggregate.form": "sampled", "space.prediction.target": "ill"})
for name, recipe in {
    "plain MDAV": plain,
    "records drawn from cells, to fit the illness": drawn,
    "cells guided by predictions of the illness, records drawn from them": guided,
}.items():
    made = microagg.release(known, recipe, seed=0)
    judged = microagg.evaluate(known, made.table, recipe, target="ill", test=untouched)
    print(name)
    for measure in judged:
        if "accuracy" in measure.name or measure.name == "label_purity":
            print(f"    {measure.name:<22} {measure.note if measure.value is None else round(measure.value, 3)}")
