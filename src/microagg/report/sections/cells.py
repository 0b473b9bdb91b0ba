"""The cells: how large they are, and how much is lost in them."""

from __future__ import annotations

from collections.abc import Sequence
from typing import Any

import numpy as np
import numpy.typing as npt

from microagg.errors import TableError
from microagg.evaluation.pairs import combinations, pair
from microagg.releases.recipe import AggregateForm
from microagg.report.disclosure import coarse
from microagg.report.material import Material

__all__ = ["cells"]

FloatArray = npt.NDArray[np.float64]
IntArray = npt.NDArray[np.int64]

_SIZES = 10
_FEWEST_CELLS = 50
_WORST = 20
_BLOCKS = 20


def cells(material: Material) -> dict[str, Any]:
    """Sizes of cells, and where it may be told, how the loss spreads over them."""
    facts: dict[str, Any] = {"blocks": [], "notes": []}
    if material.is_private and not material.internal:
        facts["blocks"] = _blocks_of_manifest(material)
        facts["notes"].append(
            "Only what the public manifest holds: how the loss spreads over cells would be told without noise."
        )
        return facts
    if material.blocks:
        facts["blocks"] = [
            _sizes(block.attributes, np.bincount(block.labels[block.labels >= 0]))
            for block in material.blocks[:_BLOCKS]
        ]
        if len(material.blocks) > _BLOCKS:
            facts["notes"].append(f"The first {_BLOCKS} of {len(material.blocks)} blocks of cells are shown.")
    else:
        facts["blocks"] = _blocks_of_table(material)
        if facts["blocks"]:
            facts["notes"].append("Cells were read off the released table: records with equal quasi-identifiers.")
    if not facts["blocks"]:
        facts["notes"].append("This release has no cells of records.")
    if material.may_compare and material.blocks and material.compared.labels is not None:
        facts |= _loss(material)
    return facts


def _blocks_of_manifest(material: Material) -> list[dict[str, Any]]:
    if material.manifest is None:
        return []
    stages = [stage for stage in material.manifest["stages"] if stage["stage"] == "partition"]
    return [
        {
            "attributes": list(block.get("attributes", ())),
            "n_cells": block["n_cells"],
            "smallest": block["smallest_cell"],
            "median": None,
            "largest": block["largest_cell"],
            "sizes": [],
        }
        for stage in stages
        for block in stage.get("blocks", ())[:_BLOCKS]
        if {"n_cells", "smallest_cell", "largest_cell"} <= set(block)
    ]


def _blocks_of_table(material: Material) -> list[dict[str, Any]]:
    """Cells that the released table shows; none if its records were drawn."""
    names = material.schema.quasi_identifiers
    drawn = material.recipe.aggregate.form is AggregateForm.SAMPLED or material.manifest is not None
    if drawn or not material.rows_are_records or any(name not in material.released.names for name in names):
        return []
    try:
        return [_sizes(names, np.bincount(combinations(material.released, names)))]
    except TableError:  # values that cannot be compared; the section on measures says so
        return []


def _sizes(attributes: Sequence[str], sizes: IntArray) -> dict[str, Any]:
    found, counts = np.unique(sizes, return_counts=True)
    listed = [{"size": str(size), "cells": int(count)} for size, count in zip(found, counts, strict=True)]
    if len(found) > _SIZES:
        groups = np.array_split(np.arange(len(found)), _SIZES)
        named = [f"{found[g[0]]} to {found[g[-1]]}" if len(g) > 1 else str(found[g[0]]) for g in groups]
        listed = [{"size": name, "cells": int(counts[g].sum())} for name, g in zip(named, groups, strict=True)]
    return {
        "attributes": list(attributes),
        "n_cells": len(sizes),
        "smallest": int(sizes.min()),
        "median": float(np.median(sizes)),
        "largest": int(sizes.max()),
        "sizes": listed,
    }


def _loss(material: Material) -> dict[str, Any]:
    """Mean squared distance of a cell's records to what it publishes, in percent of that to the overall mean."""
    sample, schema = material.compared, material.schema
    lost = np.zeros(len(sample.places))
    total = 0.0
    for name in material.blocks[0].attributes:
        before, after = pair(sample.before, sample.after, name, schema[name]).points()
        lost += ((before - after) ** 2).sum(axis=1)
        total += float(before.var(axis=0).sum())
    assert sample.labels is not None
    kept, labels = np.unique(sample.labels, return_inverse=True)
    if total == 0:
        return {"loss": {"note": "The quasi-identifiers do not vary: nothing can be lost.", "quantiles": []}}
    sizes = np.bincount(labels)
    shares = 100 * np.bincount(labels, weights=lost) / sizes / total
    said = "" if sample.is_whole else f"Of {len(kept)} cells chosen at random."
    if len(material.blocks) > 1:
        said = f"Of the first block of cells. {said}".strip()
    points: tuple[float, ...] = (0.25, 0.5, 0.75)
    if material.internal:
        points = (0.0, 0.05, 0.25, 0.5, 0.75, 0.95, 1.0)
    elif len(kept) < _FEWEST_CELLS:
        said = f"With fewer than {_FEWEST_CELLS} cells, how the loss spreads over them is for the internal report."
        return {"loss": {"note": said, "quantiles": []}}
    quantiles = [
        {"of": f"{point:.0%}", "loss": float(value) if material.internal else coarse(float(value))}
        for point, value in zip(points, np.quantile(shares, points), strict=True)
    ]
    facts: dict[str, Any] = {"note": said, "quantiles": quantiles}
    if material.internal:
        worst = np.argsort(-shares, kind="stable")[:_WORST]
        facts["worst"] = [
            {"cell": int(kept[i]), "size": int(sizes[i]), "loss": round(float(shares[i]), 4)} for i in worst
        ]
    return {"loss": facts}
