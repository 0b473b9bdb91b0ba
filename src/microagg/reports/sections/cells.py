"""The cells: how large they are, and how much is lost in them."""

from __future__ import annotations

from typing import Any

import numpy as np

from microagg.reports.disclosure import coarse
from microagg.reports.results import BlockSizes, CellLoss, Part
from microagg.reports.section import Section
from microagg.reports.sections.classes import describe_classes
from microagg.reports.source import ReportSource

__all__ = ["BLOCKS_SHOWN", "CELLS"]

BLOCKS_SHOWN = 20
"""The cells of this many blocks of attributes are shown."""

_SIZES = 10
_FEWEST_CELLS = 50
_WORST = 20
_PLURAL: dict[Part, str] = {"cell": "cells", "class": "classes"}


def _cells(source: ReportSource) -> dict[str, Any]:
    """Sizes of cells or classes, and where it may be shown, how the loss spreads over them and what they hide.

    Cells are what was formed; classes are what the released table shows: records with equal quasi-identifiers.
    """
    facts: dict[str, Any] = {"blocks": [], "notes": []}
    if source.is_private and not source.internal:
        facts["blocks"] = _blocks_of_manifest(source)
        facts["notes"].append(
            "Only what the public manifest holds: how the loss spreads over cells would be shown without noise."
        )
        return facts
    found = source.results.cells
    if not source.blocks:
        facts["blocks"] = _blocks_of_manifest(source)
        if found.blocks:
            facts["notes"].append(
                "Classes were found in the released table: records with equal quasi-identifiers. A class is a cell, or "
                "several that publish the same."
            )
    if source.n_in_parts is not None:
        facts["notes"].append(
            "The table lies in several files. How many classes there are of which size, and how the loss spreads over "
            "them, is not worked out for such tables."
        )
    facts["blocks"] += [_sizes(block) for block in found.blocks[:BLOCKS_SHOWN]]
    if found.n_blocks > BLOCKS_SHOWN:
        facts["notes"].append(f"The first {BLOCKS_SHOWN} of {found.n_blocks} blocks of cells are shown.")
    if not facts["blocks"]:
        facts["notes"].append("This release has no cells of records.")
    if source.internal and source.results.classes:
        facts["required"] = describe_classes(source.results.classes)
    if found.loss is not None:
        facts["loss"] = _loss(found.loss, len(found.blocks), source.internal)
    return facts


def _blocks_of_manifest(source: ReportSource) -> list[dict[str, Any]]:
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
        for block in source.partition_blocks[:BLOCKS_SHOWN]
        if {"n_cells", "smallest_cell", "largest_cell"} <= set(block)
    ]


def _sizes(block: BlockSizes) -> dict[str, Any]:
    """Sizes of the cells, or of the classes, of one block."""
    sizes, many = block.sizes, _PLURAL[block.part]
    found, counts = np.unique(sizes, return_counts=True)
    listed = [{"size": str(size), many: int(count)} for size, count in zip(found, counts, strict=True)]
    if len(found) > _SIZES:
        groups = np.array_split(np.arange(len(found)), _SIZES)
        named = [f"{found[g[0]]} to {found[g[-1]]}" if len(g) > 1 else str(found[g[0]]) for g in groups]
        listed = [{"size": name, many: int(counts[g].sum())} for name, g in zip(named, groups, strict=True)]
    return {
        "of": block.part,
        "attributes": list(block.attributes),
        f"n_{many}": len(sizes),
        "smallest": int(sizes.min()),
        "median": float(np.median(sizes)),
        "largest": int(sizes.max()),
        "sizes": listed,
    }


def _loss(loss: CellLoss, n_blocks: int, internal: bool) -> dict[str, Any]:
    """How the loss spreads over the cells, or the classes, of the first block."""
    if loss.problem:
        return {"of": loss.part, "note": loss.problem, "quantiles": []}
    assert loss.labels is not None
    assert loss.sizes is not None
    assert loss.shares is not None
    many = _PLURAL[loss.part]
    note = f"Measured on {len(loss.labels)} {many} chosen at random." if loss.is_sample else ""
    if n_blocks > 1:
        note = f"This is the first block of {many}. {note}".strip()
    points: tuple[float, ...] = (0.25, 0.5, 0.75)
    if internal:
        points = (0.0, 0.05, 0.25, 0.5, 0.75, 0.95, 1.0)
    elif len(loss.labels) < _FEWEST_CELLS:
        note = f"With fewer than {_FEWEST_CELLS} {many}, how the loss spreads over them is for the internal report."
        return {"of": loss.part, "note": note, "quantiles": []}
    quantiles = [
        {"of": f"{point:.0%}", "loss": float(value) if internal else coarse(float(value))}
        for point, value in zip(points, np.quantile(loss.shares, points), strict=True)
    ]
    facts: dict[str, Any] = {"of": loss.part, "note": note, "quantiles": quantiles}
    if internal:
        worst = np.argsort(-loss.shares, kind="stable")[:_WORST]
        facts["worst"] = [
            {loss.part: int(loss.labels[i]), "size": int(loss.sizes[i]), "loss": round(float(loss.shares[i]), 4)}
            for i in worst
        ]
    return facts


CELLS = Section("cells", _cells, of_release_alone=False, title="Cells")
