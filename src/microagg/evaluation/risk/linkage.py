"""Linkage: how often a released record is linked to the record it came from."""

from __future__ import annotations

from collections.abc import Sequence

import numpy as np
import numpy.typing as npt

from microagg.evaluation.context import Context
from microagg.evaluation.definition import Definition, Need, Worth
from microagg.evaluation.pairs import Pair
from microagg.evaluation.records import Values

__all__ = ["LINKAGE", "linked_by_distance"]

IntArray = npt.NDArray[np.int64]


def linked_by_distance(pairs: Sequence[Pair], rows: IntArray) -> npt.NDArray[np.bool_]:
    """For each released record, whether its nearest original record is the one it came from.

    Both tables are z-scored, each by its own means and deviations; categories are at distance 0 or 1 (or semantic).
    Of several nearest records one is guessed, the same for equal released records: with cells of at least k records
    and one combination per cell the share is at most 1/k.

    References
    ----------
    .. [1] Pagliuca, D. & Seri, G. (1999). Some results of individual ranking method on the system of enterprise
       accounts annual survey. Esprit SDC Project, Deliverable MI-3/D2.
    """
    from scipy.spatial import cKDTree

    sides: tuple[list[np.ndarray], list[np.ndarray]] = ([], [])
    for one in pairs:
        lacking = one.missing
        indicator = any(side.any() for side in lacking)
        for side, points, missing in zip(sides, one.points(own_scale=True), lacking, strict=True):
            side.append(np.hstack([points, missing[:, None]]) if indicator else points)
    original, released = (np.hstack(side) for side in sides)
    different, back = np.unique(released, axis=0, return_inverse=True)
    _, nearest = cKDTree(original).query(different)
    linked: npt.NDArray[np.bool_] = nearest[back.ravel()] == rows
    return linked


def _distance_linkage(context: Context) -> Worth:
    linked = linked_by_distance(context.pairs, context.aligned_rows)
    records = Values("released", linked.astype(np.float64)) if context.per_record else None
    return Worth(float(linked.mean()), baseline=1.0 / context.before.n_records, records=records)


LINKAGE = (
    Definition(
        "distance_linkage",
        "risk",
        "linkage",
        "lower",
        "share of released records whose nearest original record, both tables z-scored, is the one they came from",
        _distance_linkage,
        high=1.0,
        needs=(Need.ROWS,),
    ),
    Definition(
        "distance_linkage_by_chance",
        "risk",
        "linkage",
        "lower",
        "what guessing would reach: 1 / number of original records",
        lambda context: Worth(1.0 / context.before.n_records),
        high=1.0,
    ),
)
