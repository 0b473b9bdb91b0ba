"""Releases of several kinds, small and quick: what campaigns kill and tamper with."""

from __future__ import annotations

from functools import cache

import numpy as np
import pyarrow as pa

import microagg
from declarations import nominal, numeric
from microagg import Recipe
from microagg.releases.release import Release

BOUNDED = {"x": numeric(bounds=[0, 100]), "y": numeric(bounds=[0, 50])}
MIXED = {"name": "identifier", "x": numeric(), "c": nominal(), "pay": "confidential", "note": "non_confidential"}

RECIPES = {
    "representative": {"k": 3, "attributes": MIXED},
    "formulas escaped": {"k": 3, "attributes": MIXED, "output": {"formulas": "escape"}},
    "strata and order kept": {"k": 3, "attributes": MIXED, "strata": {"by": ["c"]}, "output": {"order": "kept"}},
    "medoids": {"k": 4, "attributes": MIXED, "aggregate": {"numeric": "medoid"}},
    "suppressed": {"k": 3, "attributes": MIXED, "missing": {"policy": "suppress"}},
    "own cells": {"k": 3, "attributes": MIXED, "missing": {"policy": "own_cell", "small": "merge_small"}},
    "blocks": {
        "k": 3,
        "blocks": {"form": "given", "attributes": [["x"], ["y", "z"]]},
        "attributes": {"x": numeric(), "y": numeric(), "z": numeric(), "pay": "confidential"},
    },
    "individual ranking": {
        "method": "individual_ranking",
        "k": 3,
        "attributes": {"x": numeric(), "y": numeric(), "pay": "confidential"},
    },
    "guided": {
        "k": 3,
        "space": {"dependence": {"lambda": 0.5}},
        "attributes": {"x": numeric(), "y": numeric(), "pay": numeric(role="confidential")},
    },
    "sampled": {
        "k": 5,
        "aggregate": {"form": "sampled"},
        "attributes": {"x": numeric(), "y": numeric(), "pay": "confidential"},
    },
    "values mixed": {"method": "mic1d", "k": 3, "attributes": {"x": numeric(), "y": numeric()}},
    "private marginals": {"method": "dp_individual_ranking", "k": 5, "privacy": {"epsilon": 2}, "attributes": BOUNDED},
    "private records": {
        "method": "dp_laplace",
        "privacy": {"epsilon": 1, "weights": {"x": 0.5, "y": 0.5}},
        "attributes": {**BOUNDED, "pay": "confidential"},
    },
    "private means": {"method": "dp_insensitive_mdav", "k": 5, "privacy": {"epsilon": 2}, "attributes": BOUNDED},
    "private moments": {
        "method": "dp_moments",
        "k": 10,
        "privacy": {"epsilon": 4, "form": "moments"},
        "attributes": BOUNDED,
    },
    "private strict table": {
        "method": "dp_ranked_graph",
        "privacy": {"epsilon": 2},
        "attributes": {**BOUNDED, "c": nominal(role="confidential", categories=["u", "v", "-w"])},
    },
    "private draws": {"method": "dp_moments", "k": 10, "privacy": {"epsilon": 4}, "attributes": BOUNDED},
}


@cache
def people(kind: str) -> pa.Table:
    """Records that fit the recipe of a kind."""
    rng = np.random.default_rng(7)
    n = 60
    x = rng.integers(0, 100, n).astype(float)
    if kind in ("suppressed", "own cells"):
        x[:6] = np.nan
    columns = {
        "name": [f"person {i}" for i in range(n)],
        "x": pa.array(x, from_pandas=True),
        "y": rng.uniform(0, 50, n).round(1),
        "z": rng.integers(0, 9, n),
        "c": rng.choice(["u", "v", "-w"], n),
        "pay": rng.normal(1000, 100, n).round(2),
        "note": rng.choice(["fine", "=1+1", "'@x", "so, so"], n),
    }
    return pa.table({name: columns[name] for name in columns if name in RECIPES[kind]["attributes"]})


@cache
def made(kind: str, *, seeded: bool = False) -> Release:
    """A release of a kind."""
    return microagg.release(people(kind), Recipe(**RECIPES[kind]), seed=5 if seeded else None)
