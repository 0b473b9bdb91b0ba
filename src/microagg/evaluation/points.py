"""Records of two tables as points of one space, in which squared Euclidean distance is how far they differ."""

from __future__ import annotations

from collections.abc import Sequence

import numpy as np

from microagg._typing import FloatArray
from microagg.evaluation.pairs import Pair

__all__ = ["attribute_points", "join_points", "points_of"]

Both = tuple[FloatArray, FloatArray]


def attribute_points(one: Pair, *, own_scale: bool = False) -> Both:
    """Coordinates of one attribute in both tables; where some values are missing, with an indicator of it.

    Numbers and ranks are z-scores, by the first table's mean and deviation or, if `own_scale`, each table's own.
    Categories are at distance 0 or 1, or at their semantic distance. A missing value is at distance 1 from the mean.
    """
    first, second = one.points(own_scale=own_scale)
    lacking = one.missing
    if not any(side.any() for side in lacking):
        return first, second
    return np.hstack([first, lacking[0][:, None]]), np.hstack([second, lacking[1][:, None]])


def join_points(parts: Sequence[Both]) -> Both:
    """Several attributes side by side."""
    first, second = (np.ascontiguousarray(np.hstack([part[side] for part in parts])) for side in (0, 1))
    if not first.shape[1]:  # an attribute without any category: all records are in one place
        return np.zeros((len(first), 1)), np.zeros((len(second), 1))
    return first, second


def points_of(pairs: Sequence[Pair], *, own_scale: bool = False) -> Both:
    """Records of both tables, by all of `pairs`."""
    return join_points([attribute_points(one, own_scale=own_scale) for one in pairs])
