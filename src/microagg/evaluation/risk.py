"""Risk: how often a released record is linked to the record it came from."""

from __future__ import annotations

from collections.abc import Sequence

import numpy as np

from microagg.evaluation.pairs import Pair

__all__ = ["distance_linkage"]


def distance_linkage(pairs: Sequence[Pair]) -> float:
    """Share of released records whose nearest original record is the one they came from.

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
    return float((nearest[back.ravel()] == np.arange(len(released))).mean())
