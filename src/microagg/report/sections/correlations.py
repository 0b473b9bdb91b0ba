"""Correlations of the numeric and ordinal attributes."""

from __future__ import annotations

from typing import Any

import numpy as np

from microagg._typing import FloatArray
from microagg.errors import TableError
from microagg.evaluation.alignment import RowKind
from microagg.report.source import Material
from microagg.schema.attribute import Kind
from microagg.schema.encode import encode
from microagg.tables.frames import Frame

__all__ = ["SHOWN", "correlations"]


SHOWN = 12


def correlations(material: Material) -> dict[str, Any]:
    """Pearson's correlation of every two attributes, after the release; before it, too, for the data holder."""
    if material.row_kind is RowKind.RANKS:
        return {"names": [], "note": f"R{material.row_kind.told[1:]}."}
    released, original = material.described
    kept: list[tuple[str, FloatArray]] = []
    notes = []
    for name in material.published:
        if material.schema[name].kind not in (Kind.NUMERIC, Kind.ORDINAL) or len(kept) > SHOWN:
            continue
        try:
            kept.append((name, _values(released, name, material)))
        except TableError as error:
            notes.append(str(error))
    if len(kept) > SHOWN:
        notes.append(f"Correlations are those of the first {SHOWN} numeric or ordinal attributes.")
        kept = kept[:SHOWN]
    if len(kept) < 2:
        return {"names": [], "note": "There are fewer than two numeric or ordinal attributes to correlate."}
    names = [name for name, _ in kept]
    digits = 4 if material.internal else 2
    facts: dict[str, Any] = {
        "names": names,
        "after": _matrix([values for _, values in kept], max(2, material.least), digits),
    }
    if material.internal and original is not None and all(name in original.names for name in names):
        facts["before"] = _matrix([_values(original, name, material) for name in names], 2, digits)
    return facts | {"note": " ".join(notes)}


def _values(frame: Frame, name: str, material: Material) -> FloatArray:
    attribute = material.schema[name]
    loose = attribute.model_copy(update={"bounds": None})
    values = encode(frame.column(name), loose).values
    return np.where(np.isfinite(values), values, np.nan)


def _matrix(columns: list[FloatArray], least: int, digits: int) -> list[list[float | None]]:
    """Of every two columns, over the records that have both; None if one is constant there, or too few have both."""
    absent = [np.isnan(values) for values in columns]
    complete = [_unit(values) if not gaps.any() else None for values, gaps in zip(columns, absent, strict=True)]
    found: list[list[float | None]] = [[None] * len(columns) for _ in columns]
    for i, first in enumerate(columns):
        for j, second in enumerate(columns[: i + 1]):
            x, y, n_both = complete[i], complete[j], len(first)
            if x is None or y is None:
                both = ~(absent[i] | absent[j])
                x, y, n_both = _unit(first[both]), _unit(second[both]), int(both.sum())
            if n_both >= least and x.any() and y.any():
                found[i][j] = found[j][i] = round(float(x @ y), digits) + 0.0
    return found


def _unit(values: FloatArray) -> FloatArray:
    """Values less their mean, as a vector of length 1; zeros if they do not vary. Squares cannot overflow."""
    if not len(values) or (values == values[0]).all():
        return np.zeros(len(values))
    small = values / np.abs(values).max()
    near = small - small[0]  # of near-equal numbers this is exact, and their mean would not be
    centred = near - near.mean()
    length = float(np.linalg.norm(centred))
    return centred / length if length > 0 else np.zeros(len(values))
