"""The cells: how large they are, and how much is lost in them."""

from __future__ import annotations

from collections.abc import Mapping, Sequence
from typing import Any

import numpy as np

from microagg._typing import IntArray
from microagg.errors import TableError
from microagg.evaluation.pairs import combinations, pair
from microagg.recipe.choices import AggregateForm
from microagg.report.disclosure import coarse
from microagg.report.source import Material, whole_groups

__all__ = ["cells"]


Classes = tuple[Sequence[str], IntArray]

_SIZES = 10
_FEWEST_CELLS = 50
_WORST = 20
_BLOCKS = 20


def cells(material: Material) -> dict[str, Any]:
    """Sizes of cells or classes, and where it may be told, how the loss spreads over them.

    Cells are what was formed; classes are what the released table shows: records with equal quasi-identifiers.
    """
    facts: dict[str, Any] = {"blocks": [], "notes": []}
    if material.is_private and not material.internal:
        facts["blocks"] = _blocks_of_manifest(material)
        facts["notes"].append(
            "Only what the public manifest holds: how the loss spreads over cells would be told without noise."
        )
        return facts
    known = material.blocks
    classes = [] if known else _classes(material)
    if known:
        facts["blocks"] = [
            _sizes("cell", block.attributes, np.bincount(block.labels[block.labels >= 0])) for block in known[:_BLOCKS]
        ]
    else:
        facts["blocks"] = _blocks_of_manifest(material)
        facts["blocks"] += [_sizes("class", names, np.bincount(labels)) for names, labels in classes[:_BLOCKS]]
        if classes:
            facts["notes"].append(
                "Classes were read off the released table: records with equal quasi-identifiers. A class is a cell, or "
                "several that publish the same."
            )
    n_blocks = len(known) or len(_partitioned(material))
    if n_blocks > _BLOCKS:
        facts["notes"].append(f"The first {_BLOCKS} of {n_blocks} blocks of cells are shown.")
    if not facts["blocks"]:
        facts["notes"].append("This release has no cells of records.")
    if material.may_compare and material.origins is not None:
        facts |= _loss_of_first(material, classes)
    return facts


def _partitioned(material: Material) -> list[Mapping[str, Any]]:
    """Blocks of the partition that the manifest tells of."""
    if material.manifest is None:
        return []
    stages = [stage for stage in material.manifest["stages"] if stage["stage"] == "partition"]
    return [block for stage in stages for block in stage.get("blocks", ())]


def _blocks_of_manifest(material: Material) -> list[dict[str, Any]]:
    return [
        {
            "of": "cell",
            "attributes": list(block.get("attributes", ())),
            "n_cells": block["n_cells"],
            "smallest": block["smallest_cell"],
            "median": None,
            "largest": block["largest_cell"],
            "sizes": [],
        }
        for block in _partitioned(material)[:_BLOCKS]
        if {"n_cells", "smallest_cell", "largest_cell"} <= set(block)
    ]


def _classes(material: Material) -> list[Classes]:
    """Classes that the released table shows, block by block; none if its records were drawn, or its rows are none."""
    drawn = material.recipe.aggregate.form is AggregateForm.SAMPLED
    if drawn or material.is_private or not material.rows_are_records:
        return []
    blocks: list[Sequence[str]] = [material.schema.quasi_identifiers]
    if material.manifest is not None:
        blocks = [tuple(block.get("attributes", ())) for block in _partitioned(material)]
    if any(name not in material.released.names for names in blocks for name in names):
        return []
    try:
        return [(names, combinations(material.released, names)) for names in blocks]
    except TableError:  # values that cannot be compared; the section on measures says so
        return []


def _sizes(of: str, attributes: Sequence[str], sizes: IntArray) -> dict[str, Any]:
    """Sizes of the cells, or of the classes (`of` says which), of one block."""
    found, counts = np.unique(sizes, return_counts=True)
    many = "cells" if of == "cell" else "classes"
    listed = [{"size": str(size), many: int(count)} for size, count in zip(found, counts, strict=True)]
    if len(found) > _SIZES:
        groups = np.array_split(np.arange(len(found)), _SIZES)
        named = [f"{found[g[0]]} to {found[g[-1]]}" if len(g) > 1 else str(found[g[0]]) for g in groups]
        listed = [{"size": name, many: int(counts[g].sum())} for name, g in zip(named, groups, strict=True)]
    return {
        "of": of,
        "attributes": list(attributes),
        f"n_{many}": len(sizes),
        "smallest": int(sizes.min()),
        "median": float(np.median(sizes)),
        "largest": int(sizes.max()),
        "sizes": listed,
    }


def _loss_of_first(material: Material, classes: Sequence[Classes]) -> dict[str, Any]:
    """How the loss spreads over the cells, or the classes, of the first block."""
    assert material.origins is not None
    if material.blocks:
        first = material.blocks[0]
        return _loss(material, "cell", first.attributes, first.labels[material.origins], len(material.blocks))
    return _loss(material, "class", *classes[0], len(classes)) if classes else {}


def _loss(
    material: Material, of: str, attributes: Sequence[str], all_labels: IntArray, n_blocks: int
) -> dict[str, Any]:
    """Mean squared distance of a cell's records to what it publishes, in percent of that to the overall mean."""
    assert material.original is not None
    assert material.origins is not None
    rows = whole_groups(all_labels, material.n_compared)
    before_all, after_all = material.original.take(material.origins[rows]), material.released.take(rows)
    lost = np.zeros(len(rows))
    total = 0.0
    for name in attributes:
        try:
            before, after = pair(before_all, after_all, name, material.schema[name]).points()
        except TableError as error:  # a text file need not say what its values were
            return {"loss": {"of": of, "note": f"Cannot be measured: {error}.", "quantiles": []}}
        with np.errstate(over="ignore", invalid="ignore"):
            lost += ((before - after) ** 2).sum(axis=1)
            total += float(before.var(axis=0).sum())
    kept, labels = np.unique(all_labels[rows], return_inverse=True)
    many = "cells" if of == "cell" else "classes"
    if not (np.isfinite(lost).all() and np.isfinite(total)):
        return {"loss": {"of": of, "note": "Numbers are too large for their squared distances.", "quantiles": []}}
    if total == 0:
        return {"loss": {"of": of, "note": "The quasi-identifiers do not vary: nothing can be lost.", "quantiles": []}}
    sizes = np.bincount(labels)
    shares = 100 * np.bincount(labels, weights=lost) / sizes / total
    said = "" if len(rows) == len(all_labels) else f"Of {len(kept)} {many} chosen at random."
    if n_blocks > 1:
        said = f"Of the first block of {many}. {said}".strip()
    points: tuple[float, ...] = (0.25, 0.5, 0.75)
    if material.internal:
        points = (0.0, 0.05, 0.25, 0.5, 0.75, 0.95, 1.0)
    elif len(kept) < _FEWEST_CELLS:
        said = f"With fewer than {_FEWEST_CELLS} {many}, how the loss spreads over them is for the internal report."
        return {"loss": {"of": of, "note": said, "quantiles": []}}
    quantiles = [
        {"of": f"{point:.0%}", "loss": float(value) if material.internal else coarse(float(value))}
        for point, value in zip(points, np.quantile(shares, points), strict=True)
    ]
    facts: dict[str, Any] = {"of": of, "note": said, "quantiles": quantiles}
    if material.internal:
        worst = np.argsort(-shares, kind="stable")[:_WORST]
        facts["worst"] = [{of: int(kept[i]), "size": int(sizes[i]), "loss": round(float(shares[i]), 4)} for i in worst]
    return {"loss": facts}
