"""Random recipes over the whole catalogue, for columns of :mod:`fuzzed_tables`; many are refused, as they should be."""

from __future__ import annotations

from typing import Any

import numpy as np

from fuzzed_tables import FuzzedColumn
from microagg.methods.catalogue import METHODS

Rng = np.random.Generator

PUBLIC = tuple(name for name, method in METHODS.items() if not method.is_private)
PRIVATE = tuple(name for name, method in METHODS.items() if method.is_private)


def chosen_method(rng: Rng) -> str:
    """A method of the catalogue; those that form cells of all kinds of attributes more often."""
    draw = rng.random()
    if draw < 0.45:
        return str(rng.choice(["mdav", "vmdav", "near_optimal", "pcp", "zscores"]))
    return str(rng.choice(PUBLIC)) if draw < 0.75 else str(rng.choice(PRIVATE))


def kinds_of(method: str) -> tuple[str, ...]:
    return tuple(str(kind) for kind in METHODS[method].kinds)


def fuzzed_recipe(rng: Rng, method: str, columns: dict[str, FuzzedColumn], roles: dict[str, str]) -> dict[str, Any]:
    """Arguments of a recipe for these columns; QI are named in `roles`."""
    entry = METHODS[method]
    protected = [name for name, role in roles.items() if role == "quasi_identifier"]
    declared = entry.is_private or entry.data_free_space
    attributes = {name: _attribute(rng, columns[name], role, declared) for name, role in roles.items()}
    recipe: dict[str, Any] = {"method": method, "attributes": attributes}
    if entry.has_cells:
        recipe["k"] = int(rng.integers(2, 8))
    partition = _partition(rng, method)
    if partition:
        recipe["partition"] = partition
    if entry.is_private:
        recipe["privacy"] = _privacy(rng, entry)
        return recipe
    recipe["output"] = {"order": str(rng.choice(["shuffled", "kept"]))}
    recipe["missing"] = {"policy": str(rng.choice(["error", "own_cell", "impute", "suppress"], p=[0.1, 0.4, 0.3, 0.2]))}
    if rng.random() < 0.8:
        recipe["missing"]["small"] = "merge_small"
    if entry.data_free_space:
        recipe["space"] = {"standardize": "bounds"}
        recipe["missing"]["policy"] = str(rng.choice(["error", "suppress"]))
    else:
        recipe["space"] = _space(rng, columns, roles)
    if method == "mic1d":
        recipe["missing"]["policy"] = str(rng.choice(["impute", "suppress"]))
        return recipe
    if entry.partitions == "records" and len(protected) > 1 and rng.random() < 0.25:
        recipe["blocks"] = _blocks(rng, protected)
    if method == "optimal_univariate" and len(protected) > 1:
        recipe["blocks"] = {"form": "contiguous", "size": 1}
    nominal = [name for name in protected if columns[name].kind == "nominal"]
    if nominal and not entry.data_free_space and rng.random() < 0.15:
        recipe["strata"] = {"by": nominal[:1], "small": str(rng.choice(["merge_small", "refuse"]))}
    recipe["aggregate"] = _aggregate(rng, columns, roles)
    return recipe


def _attribute(rng: Rng, column: FuzzedColumn, role: str, declared: bool) -> dict[str, Any]:
    if role == "identifier":
        return {"role": role}
    attribute: dict[str, Any] = {"role": role, "kind": column.kind}
    bounded = column.bounds is not None and (declared or rng.random() < 0.3)
    if column.kind == "numeric" and role == "quasi_identifier":
        if bounded:
            attribute["bounds"] = list(column.bounds)  # type: ignore[arg-type]
        if rng.random() < 0.1:
            attribute["resolution"] = float(rng.choice([0.1, 0.5, 1.0, 10.0, 7.0]))
        if rng.random() < 0.1:
            attribute["weight"] = float(rng.choice([0.01, 2.0, 1e6]))
    if column.categories is not None and (declared or column.kind == "ordinal" or rng.random() < 0.2):
        attribute["categories"] = list(column.categories)
    return attribute


def _partition(rng: Rng, method: str) -> dict[str, Any]:
    if method.endswith("near_optimal"):
        return {"effort": "fast", "time_limit": 2.0}
    if rng.random() < 0.7:
        return {}
    options: dict[str, dict[str, list[Any]]] = {
        "mdav": {"algorithm": ["auto", "tree", "brute", "plain"], "variant": ["generic", "2k"]},
        "vmdav": {"gamma": [0.0, 1.0, "auto"]},
        "pcp": {"cut": ["fixed", "shortest_path"]},
        "zscores": {"cut": ["fixed", "shortest_path"]},
        "individual_ranking": {"cut": ["fixed", "optimal"]},
        "mic1d": {"cut": ["fixed", "optimal"]},
    }
    return {name: words[int(rng.integers(len(words)))] for name, words in options.get(method, {}).items()}


def _privacy(rng: Rng, entry: Any) -> dict[str, Any]:
    privacy: dict[str, Any] = {"epsilon": float(rng.choice([0.01, 1.0, 10.0, 1e4]))}
    forms = entry.private.forms
    if rng.random() < 0.6:
        privacy["form"] = str(forms[int(rng.integers(len(forms)))])
    if rng.random() < 0.5:
        privacy["clamp"] = True
    if rng.random() < 0.1:
        privacy["bounds"] = "from_data"
    if entry.name.startswith("dp_moments"):
        privacy["m"] = int(rng.integers(0, 3))
        if rng.random() < 0.3:
            privacy["statistics"] = "spectra"
        elif rng.random() < 0.5:
            privacy["content"] = "pure"
        if rng.random() < 0.3:
            privacy["units"] = "raw"
        if rng.random() < 0.3:
            privacy["repair"] = "clipped_eigenvalues"
    return privacy


def _space(rng: Rng, columns: dict[str, FuzzedColumn], roles: dict[str, str]) -> dict[str, Any]:
    space: dict[str, Any] = {
        "standardize": str(rng.choice(["zscore", "minmax", "none", "bounds"], p=[0.4, 0.2, 0.35, 0.05]))
    }
    beside = [name for name, role in roles.items() if role in ("confidential", "non_confidential")]
    if not beside or rng.random() > 0.2:
        return space
    target = beside[int(rng.integers(len(beside)))]
    form = rng.random()
    if form < 0.6:
        space["dependence"] = {"lambda": float(rng.choice([0.0, 0.2, 0.5, 1.0])), "attributes": [target]}
    elif form < 0.9:
        space["discriminant"] = {"target": target, "alpha": float(rng.choice([1.0, 2.0, 8.0]))}
    else:
        space["prediction"] = {"target": target}
    return space


def _blocks(rng: Rng, protected: list[str]) -> dict[str, Any]:
    form = str(rng.choice(["contiguous", "correlated", "spread", "given"]))
    if form == "given":
        return {"form": form, "attributes": [protected[:1], protected[1:]]}
    return {"form": form, "size": int(rng.integers(1, 3))}


def _aggregate(rng: Rng, columns: dict[str, FuzzedColumn], roles: dict[str, str]) -> dict[str, Any]:
    if rng.random() < 0.3:
        sampled: dict[str, Any] = {"form": "sampled"}
        if rng.random() < 0.5:
            sampled["moments"] = 2
        if rng.random() < 0.3:
            sampled["content"] = "variances"
        beside = [name for name, role in roles.items() if role == "confidential"]
        if beside and rng.random() < 0.05:
            sampled["paired_with"] = beside[:1]
        elif beside and rng.random() < 0.05:
            sampled = {"form": "sampled", "paired_with": beside[:1], "draws": "shared"}
            if rng.random() < 0.5:
                sampled |= {"share": 2, "rare": 1}
        return sampled
    return {
        "numeric": str(rng.choice(["mean", "median", "medoid"])),
        "ordinal": str(rng.choice(["mean", "median", "medoid"])),
        "nominal": str(rng.choice(["mode", "medoid"])),
    }
