"""The scan's filter: coordinates as whole numbers of 16 bits. A processor multiplies twice as many of them at a time.

A row x, in the filter's coordinates y = scale (x - centre), becomes z = y / step, rounded. The step is such that all
rows in play have |z| <= REACH. For rows z and a query q the scan computes

    S = half(z) + half(q) + 1 - z.q,    half(z) = |z|^2 / 2, rounded down,

in whole numbers, exactly: |z - q|^2 <= 2 S <= |z - q|^2 + 2, and S is at most 2 REACH^2 + 1 < 2^31. The query is a row,
or the centroid. Where attributes are constant except for their last bits, the rounded centroid may lie far outside the
rows, compared to their spread; the search around it then does without the grid.

The blur. Each coordinate is off by half a step at most, so distances in steps by sqrt(d) at most. Float64 distances
delta of the records add some roundings (2^-40 of a distance, which is less than 2^16 steps) and squares that vanish
(`floor`, at most 2^-10 steps). So with blur = 1.02 sqrt(d)

    | |z - q| - scale delta / step | <= blur.

To find the m nearest rows (the farthest are the same with signs turned):

1. U, the m-th smallest S so far, says that m rows have |z - q| <= sqrt(2 U).
2. So the m-th smallest scale delta / step is at most sqrt(2 U) + blur, and none of the m nearest rows has |z - q| above
   sqrt(2 U) + 2 blur: half the square of that, + 1, is a limit for S.
3. Rows within the limit are listed and rechecked in float64, which alone decides (`candidate_pass`).

Outliers make the step coarse, but they get their cells first. When the norms of the rows that are left have halved, a
new grid is made (`blocks`).
"""

from __future__ import annotations

import numpy as np

from microagg._kernels.jit import entry, inner

REACH = 32000.0
ANY, NONE = np.int64(2**31 - 2**26), np.int64(-1)  # limits that every S, or no S, is within
FAR_ANY, FAR_NONE = np.int64(0), np.int64(-(2**31) + 2**26)  # the same for -S


def step_for(radius: float, dimension: int, floor: float) -> float:
    """The step at which rows of norms up to ``radius`` have |z| <= REACH, rounding (below sqrt(d)) included."""
    return max(radius / float(REACH - np.sqrt(dimension)), 1024.0 * floor)


@entry
def blur_for(dimension):
    return 1.02 * np.sqrt(dimension)


@inner
def is_on_grid(query, space, step):
    """Whether a point has |z| <= REACH. Rows do; the centroid lies among them, but only as far as float64 can tell."""
    square = 0.0
    for j in range(query.shape[0]):
        coordinate = (query[j] - space.centre[j]) * space.scale / step
        square += coordinate * coordinate
    return square <= (REACH - np.sqrt(query.shape[0])) ** 2


@inner
def pack(query, space, step, packed):
    """Whole numbers of a point on the grid, two in one int32; returns half of their squared norm, rounded down."""
    dimension, factor = query.shape[0], space.scale / step
    square = np.int64(0)
    for pair in range(packed.shape[0]):
        first = np.int64(np.floor((query[2 * pair] - space.centre[2 * pair]) * factor + 0.5))
        second = np.int64(0)
        if 2 * pair + 1 < dimension:
            second = np.int64(np.floor((query[2 * pair + 1] - space.centre[2 * pair + 1]) * factor + 0.5))
        square += first * first + second * second
        packed[pair] = np.int32((second << 16) | (first & 0xFFFF))
    return np.int32(square >> 1)


@entry
def limit_within(reach, is_far):
    """The limit on signed S of rows with |z - q| at most ``reach``; for the far side, at least."""
    if is_far:
        return np.int64(np.floor(-0.5 * max(reach, 0.0) ** 2))
    return np.int64(min(0.5 * reach * reach + 1.0, float(ANY)))


@entry
def limit_from_bound(upper, is_far, blur):
    """Step 2 above: no row that matters has a signed S beyond this; ``upper`` is the m-th smallest signed S."""
    if is_far:
        return limit_within(np.sqrt(max(-2.0 * upper - 2.0, 0.0)) - 2.0 * blur, is_far)
    return limit_within(np.sqrt(2.0 * upper) + 2.0 * blur, is_far)


@entry
def limit_from_distance(signed, is_far, space, step, blur):
    """The same, from the float64 squared distance (signed) that is to be beaten."""
    if signed == np.inf:
        return FAR_ANY if is_far else ANY
    reach = np.sqrt(abs(signed)) * space.scale / step
    return limit_within(reach - blur if is_far else reach + blur, is_far)
