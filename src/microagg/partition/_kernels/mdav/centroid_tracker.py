"""The moving centroid of the remaining records: sums, path length, and bounds on distances from it.

Lazy bounds. Every round searches the record farthest from the centroid, but the centroid hardly moves. A group of
rows (a block, a leaf) therefore keeps a key: a bound on its distances when last looked at, minus the length of the
centroid's path until then. By the triangle inequality key + path length *now* bounds its distances now, and keys of
different groups can be compared without knowing when each was made. A search looks at groups from the largest key down
and stops when the bound falls below the best distance found.

Rounding: the path is lengthened at every step by more than the sum can lose, so it is never too short; `key_from` adds
more than its own subtraction and a later addition can lose (2^-40 against 2^-51 of the sum of magnitudes).
"""

from __future__ import annotations

from typing import NamedTuple

import numpy as np
import numpy.typing as npt

from microagg._kernels.codes import CENTROID, NO_TABLE
from microagg._kernels.jit import entry, inner
from microagg._kernels.nominal import place_centroid, take_row_off
from microagg._kernels.sums import add_compensated
from microagg.partition._kernels.mdav.filter_space import A_LITTLE_LESS, FilterSpace
from microagg.partition._kernels.mdav.plain.cells import sums_of_columns

PATH, RADIUS = 0, 1


class CentroidTracker(NamedTuple):
    high: npt.NDArray[np.float64]  # sums of the remaining records: high + low, unevaluated
    low: npt.NDArray[np.float64]
    centroid: npt.NDArray[np.float64]
    numbers: npt.NDArray[np.float64]  # PATH: length so far; RADIUS: bound on the norms of remaining rows


def track_centroid(X: npt.NDArray[np.float64], space: FilterSpace) -> CentroidTracker:
    n_numbers = len(space.centre)
    high, low = np.zeros(n_numbers), np.zeros(n_numbers)
    sums_of_columns(X, high, low)
    centroid = np.full(X.shape[1], CENTROID)
    centroid[:n_numbers] = space.centre
    return CentroidTracker(high, low, centroid, np.array([0.0, np.inf]))


@inner
def move_centroid(tracker, remaining, space):
    """Compute the centroid of the remaining records; the path grows by the step (times scale), and a little more."""
    square = 0.0
    if space.nominal is not None:
        square += move_codes(space.nominal, space.codes, remaining, space.scale)
    for j in range(tracker.high.shape[0]):
        here = tracker.high[j] / remaining
        step = (here - tracker.centroid[j]) * space.scale
        square += step * step
        tracker.centroid[j] = here
    step = np.sqrt(square) * (1.0 + 2.0**-30) + space.floor
    tracker.numbers[PATH] = (tracker.numbers[PATH] + step) * (1.0 + 2.0**-50)


@inner
def move_codes(nominal, codes, remaining, scale):
    """Place the centroid's codes; returns the square of its step through their coordinates, or a little more.

    With d the change of the shares, that is 1/2 w sum of d^2, or with a table D: -1/2 sum of d_a d_b D(a, b), where
    sum over b of d_b D(a, b) is the change of the mean distance to a. Shares and mean distances are rounded by less
    than 2^-51 of their size: what that can change is added. (A mean near 0 may be below it by its rounding.)
    """
    if nominal is None:
        return 0.0
    place_centroid(nominal, remaining)
    square = 0.0
    for j in range(nominal.weights.shape[0]):
        start, stop = nominal.look_at[j], nominal.look_at[j] + nominal.sizes[j]
        has_table = nominal.table_at[j] != NO_TABLE
        inner_product, rounding = 0.0, 0.0
        for place in range(start, stop):
            codes.looks[place] = np.float32(nominal.looks[place] * scale * scale)
            share = nominal.counts[place] / remaining
            change = share - codes.shares[place]
            codes.shares[place] = share
            if has_table:
                mean = nominal.high[place] / remaining
                further = mean - codes.means[place]
                inner_product -= change * further
                rounding += abs(change) * (abs(mean) + abs(codes.means[place])) + share * abs(further)
                codes.means[place] = mean
            else:
                inner_product += nominal.weights[j] * change * change
                rounding += nominal.weights[j] * share * abs(change)
        square += 0.5 * max(inner_product, 0.0) + 2.0**-50 * rounding
    return max(square, 0.0) * scale * scale


@inner
def key_from(reach, tracker):
    """The key of a group whose distances from the centroid are at most ``reach`` now."""
    path = tracker.numbers[PATH]
    return (reach - path) + (reach + path) * 2.0**-40


@inner
def certain_distance(squared_distance, space):
    """A group with a bound below this holds nothing as far as ``squared_distance``."""
    return np.sqrt(squared_distance) * space.scale * A_LITTLE_LESS - space.floor


@inner
def shrink_radius(tracker, squared_distance, centroid_norm, space):
    """No remaining row is farther from the centroid than its farthest, so none has a larger norm than that allows."""
    radius = (np.sqrt(squared_distance) * space.scale + centroid_norm + space.floor) * (1.0 + 2.0**-16)
    tracker.numbers[RADIUS] = min(tracker.numbers[RADIUS], radius)


@entry
def largest_norm(coordinates, n_numbers):
    """The largest norm of the first columns in float32, and a little more: it bounds the rows before rounding, too."""
    largest = 0.0
    for i in range(coordinates.shape[0]):
        square = 0.0
        for j in range(n_numbers):
            square += np.float64(coordinates[i, j]) * np.float64(coordinates[i, j])
        largest = max(largest, square)
    return np.sqrt(largest) * (1.0 + 2.0**-16)


@inner
def take_off(tracker, values, row, nominal):
    """Subtract a record from the sums."""
    for j in range(tracker.high.shape[0]):
        tracker.high[j], tracker.low[j] = add_compensated(tracker.high[j], tracker.low[j], -values[row, j])
    take_row_off(nominal, values, row)
