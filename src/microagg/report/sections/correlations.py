"""Correlations of the numeric and ordinal attributes."""

from __future__ import annotations

from typing import Any

import numpy as np
import numpy.typing as npt

from microagg.errors import TableError
from microagg.report.material import Material
from microagg.schema.attribute import Kind
from microagg.schema.measure import measure
from microagg.tables.frames import Frame

__all__ = ["SHOWN", "correlations"]

FloatArray = npt.NDArray[np.float64]

SHOWN = 12


def correlations(material: Material) -> dict[str, Any]:
    """Pearson's correlation of every two attributes, after the release; before it, too, for the data holder."""
    if not material.rows_are_records:
        return {"names": [], "note": "Rows of this release are no records: values in a row do not belong together."}
    released, original = material.described
    kept, notes = [], []
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
    return measure(frame.column(name), loose).values


def _matrix(columns: list[FloatArray], least: int, digits: int) -> list[list[float | None]]:
    return [[_correlation(first, second, least, digits) for second in columns] for first in columns]


def _correlation(first: FloatArray, second: FloatArray, least: int, digits: int) -> float | None:
    """None if either is constant, or too few records have both."""
    both = ~(np.isnan(first) | np.isnan(second))
    if int(both.sum()) < least:
        return None
    x, y = _centred(first[both]), _centred(second[both])
    scale = float(np.sqrt((x @ x) * (y @ y)))
    return round(float(x @ y) / scale, digits) + 0.0 if scale > 0 else None


def _centred(values: FloatArray) -> FloatArray:
    """Values less their mean, made small first: squares of what is left cannot overflow."""
    largest = float(np.abs(values).max())
    small = values / largest if largest > 0 else values
    return np.zeros(len(small)) if (small == small[0]).all() else small - small.mean()
