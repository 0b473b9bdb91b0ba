"""The filter: distances in float32 that can rule a record out, never in.

A row x becomes y = float32(scale * (x - centre)), scale a power of two near one over the spread. Searches compute
distances of these y and look at a row's float64 values only if its float32 distance comes within a proven slack of
what would matter. The labels are those of float64, the time is that of float32.

The slack (u = 2^-24; all norms are of y, that is in units of the spread):

1. Coordinates. |y_j - scale (x_j - centre_j)| <= (u + 2^-52) |scale (x_j - centre_j)|: one rounding of the difference
   in float64, one to float32; the scaling is exact. So y is off by at most (u + 2^-52) R in norm, where R bounds the
   norm of every row still in play, and the distance of two points by at most twice that. `slack` = 4 u R covers it
   twice over. (The centroid has its own norm: it lies among the rows, but for rounding.)
2. Arithmetic. A sum of d squares of differences in float32, in any order and fused or not, is off by a factor within
   1 +- (d + 2) u (1 + small), its root by half that. `relative` = (d + 8) 2u on the root covers it, the rounding of
   limits to float32 and all float64 rounding, at least three times over.
   Codes add what a look-up says (times scale^2, rounded to float32 once: within `relative`); all terms are positive.
3. Underflow. Squares below 2^-126 may vanish in float32: at most d 2^-126 in the sum, sqrt(d) 2^-63 in the root.
   In float64 the same with 2^-1074, times scale. `floor` adds both.
4. Tables. A category's distance to the centroid is the difference of two means of its table's entries, each rounded,
   of sums that records were taken off. It is off by `noise_of_tables` in the square, by the root of that in the
   distance, twice of which `floor` adds, too. (Whole numbers, of codes without a table, lose nothing.)

So with delta the float64 distance (as computed) and f the float32 one (as computed),

    (scale delta - slack) (1 - relative)  <=  f  <=  (scale delta + slack) (1 + relative).
"""

from __future__ import annotations

from typing import NamedTuple

import numpy as np
import numpy.typing as npt

from microagg._kernels.codes import CENTROID, NO_TABLE, Nominal
from microagg._kernels.jit import entry, inner
from microagg._kernels.nominal import looked_up, numbers_of, plus_code_distance
from microagg._kernels.simd import (
    WIDTH,
    add_product,
    broadcast,
    load,
    maximum,
    minimum,
    reduce_max,
    reduce_min,
    store,
    subtract,
)

UNIT = 2.0**-24
# Multiplied onto a float64 result, they make up for any rounding on the way to it.
A_LITTLE_MORE, A_LITTLE_LESS = 1.0 + 2.0**-40, 1.0 - 2.0**-40


class FilteredCodes(NamedTuple):
    """What searches know of codes in float32, in units of the filter: squared distances times scale^2."""

    weights: npt.NDArray[np.float32]
    looks: npt.NDArray[np.float32]  # as in `Nominal`
    norms: npt.NDArray[np.float32]  # squared distances of categories to the centroid of all records
    largest: npt.NDArray[np.float32]  # of each column: no squared distance is larger
    least: npt.NDArray[np.float32]  # of columns with a table, for the query: see `bound_codes`
    gains: npt.NDArray[np.float32]  # for the query: see `far_code_terms`
    most: npt.NDArray[np.float32]
    shares: npt.NDArray[np.float64]  # of the last centroid, by category
    means: npt.NDArray[np.float64]  # ... and mean distances of its records to each category


class FilterSpace(NamedTuple):
    centre: npt.NDArray[np.float64]
    scale: float
    relative: float
    floor: float
    nominal: Nominal | None = None
    codes: FilteredCodes | None = None


def filter_space(X: npt.NDArray[np.float64], nominal: Nominal | None = None) -> FilterSpace:
    """Centre and scale of a matrix. Any would be correct; these keep the slack small."""
    n_columns = X.shape[1]
    if nominal is not None:
        X = X[:, : nominal.first]
    centre = X.mean(axis=0)
    mean_square = sum(float(np.mean((column - middle) ** 2)) for column, middle in zip(X.T, centre, strict=True))
    if nominal is not None:
        # What codes have in it, too, or their distances could be too large for float32 beside tiny numbers.
        mean_square += float(nominal.counts @ nominal.looks[: len(nominal.counts)]) / len(X)
    spread = np.sqrt(mean_square / n_columns)
    scale = 2.0 ** -round(np.log2(spread)) if spread > 0 else 1.0
    floor = np.sqrt(n_columns) * (2.0**-62 + 2.0**-536 * scale)
    codes = None
    if nominal is not None:
        codes = _filtered(nominal, scale)
        floor += 2.0 * scale * np.sqrt(noise_of_tables(nominal, len(X)))
    return FilterSpace(centre, scale, (n_columns + 8) * 2 * UNIT, float(floor), nominal, codes)


def noise_of_tables(nominal: Nominal, n_records: int) -> float:
    """A bound on how far computed squared distances to a centroid, of columns with a table, are from those of a point.

    With S the largest sum of distances, L the largest entry and u = 2^-53:

    - a compensated sum loses at most 4 u^2 S (2^-104 S) with every term. There are two or four for each category at
      the start, one for each record that is taken off: five for each record, at most. What a mean of n records, and
      half of the mean of means, are off by that is 1.5 / n of it, and n is two or more;
    - the mean is rounded twice, from its sum and by the division: 2 u L;
    - half of the mean of means is rounded with every category that is added up (a product and a sum, of a rounded sum)
      and three times more: (size + 6) u L / 2, a little more for what grows on the way, and their difference once.
    """
    noise = 0.0
    for start, table, size in zip(nominal.look_at, nominal.table_at, nominal.sizes, strict=True):
        if table != NO_TABLE:
            largest = float(nominal.looks[table : table + size * size].max())
            largest_sum = float(nominal.high[start : start + size].max())
            noise += 2.0**-53 * (size + 16) * largest + 2.0**-102 * n_records * largest_sum
    return noise


def _filtered(nominal: Nominal, scale: float) -> FilteredCodes:
    looks = (nominal.looks * scale**2).astype(np.float32)
    weights = (nominal.weights * scale**2).astype(np.float32)
    n_places = len(nominal.counts)
    largest = weights.copy()
    for j, (start, table, size) in enumerate(zip(nominal.look_at, nominal.table_at, nominal.sizes, strict=True)):
        if table != NO_TABLE:
            largest[j] = looks[table : table + size * size].max()
        largest[j] = max(largest[j], looks[start : start + size].max())
    return FilteredCodes(
        weights=weights,
        looks=looks,
        norms=looks[:n_places].copy(),
        largest=largest,
        least=np.zeros(n_places, dtype=np.float32),
        gains=np.zeros(n_places, dtype=np.float32),
        most=np.zeros(n_places, dtype=np.float32),
        shares=np.zeros(n_places),
        means=np.zeros(n_places),
    )


@entry
def fill_coordinates(values, space, coordinates):
    """The float32 coordinates y of all rows; codes as they are."""
    n_numbers = space.centre.shape[0]
    for i in range(values.shape[0]):
        for j in range(n_numbers):
            coordinates[i, j] = np.float32((values[i, j] - space.centre[j]) * space.scale)
        for j in range(n_numbers, values.shape[1]):
            coordinates[i, j] = np.float32(values[i, j])


@inner
def place_query(query, space, query32):
    """The float32 coordinates of one point; returns their norm, with a little more."""
    square = 0.0
    n_numbers = space.centre.shape[0]
    for j in range(n_numbers):
        value = (query[j] - space.centre[j]) * space.scale
        query32[j] = np.float32(value)
        square += value * value
    for j in range(n_numbers, query.shape[0]):
        query32[j] = np.float32(query[j])
    bound_codes(space.nominal, space.codes, query)
    return np.sqrt(square) * A_LITTLE_MORE


@inner
def bound_codes(nominal, codes, query):
    """For columns with a table: how near to the query a range of codes can be.

    A range that ends at c, below the query's code, is at least ``least[c]`` away: the least of all codes up to c; one
    that begins at c, above it, likewise.
    """
    if nominal is None:
        return
    for j in range(nominal.weights.shape[0]):
        here = query[nominal.first + j]
        if nominal.table_at[j] == NO_TABLE or here == CENTROID:
            continue
        start, code = nominal.look_at[j], np.int64(here)
        row = nominal.table_at[j] + code * nominal.sizes[j]
        least = np.float32(np.inf)
        for c in range(code):
            least = min(least, codes.looks[row + c])
            codes.least[start + c] = least
        least = np.float32(np.inf)
        for c in range(nominal.sizes[j] - 1, code, -1):
            least = min(least, codes.looks[row + c])
            codes.least[start + c] = least


@entry
def slack_for(radius, space):
    """How far a float32 distance can be off apart from `relative`; ``radius`` is the R above."""
    return 4.0 * UNIT * radius + space.floor


@entry
def near_limit(squared_distance, space, slack):
    """No point within that float64 squared distance has a float32 squared distance above the returned limit."""
    reach = (np.sqrt(squared_distance) * space.scale + slack) * (1.0 + space.relative)
    return np.float32(reach * reach)


@entry
def far_limit(squared_distance, space, slack):
    """No point at that float64 squared distance or beyond has a float32 squared distance below the returned limit."""
    reach = (np.sqrt(squared_distance) * space.scale - slack) * (1.0 - space.relative)
    if reach <= 0.0:
        return np.float32(-1.0)
    return np.float32(reach * reach)


@entry
def farthest_reach(squared_distance32, space, slack):
    """A bound, in units of the filter, on true distances whose float32 squared value is at most the given one."""
    return np.sqrt(np.float64(squared_distance32)) * (1.0 + 2.0 * space.relative) + slack


@inner
def exact_distance(values, row, query, nominal):
    """The squared distance of the definition: float64, summed in the order of the columns."""
    total = 0.0
    for j in range(numbers_of(nominal, query.shape[0])):
        gap = values[row, j] - query[j]
        total += gap * gap
    return plus_code_distance(nominal, values, row, query, total)


@inner
def block_distances(points, start, stride, n_vectors, query32, totals, nominal, codes):
    """Squared float32 distances of a block's points; returns the least and the largest.

    Attribute j of the points lies at ``start + j * stride``; ``n_vectors`` times sixteen points are looked at.
    """
    low, high = number_distances(
        points, start, stride, n_vectors, query32, totals, numbers_of(nominal, query32.shape[0])
    )
    return with_code_distances(points, start, stride, n_vectors, query32, totals, nominal, codes, low, high)


@inner
def number_distances(points, start, stride, n_vectors, query32, totals, n_numbers):
    """What the first columns, of numbers, have in the distances of `block_distances`."""
    zero = broadcast(np.float32(0.0))
    low, high = broadcast(np.float32(np.inf)), zero
    vector = 0
    # Four at a time keep the processor's arithmetic units busy; ends: vector grows.
    while vector + 4 <= n_vectors:
        a, b, c, d = zero, zero, zero, zero
        place = start + vector * WIDTH
        for j in range(n_numbers):
            centre = broadcast(query32[j])
            gap = subtract(load(points, place), centre)
            a = add_product(a, gap, gap)
            gap = subtract(load(points, place + WIDTH), centre)
            b = add_product(b, gap, gap)
            gap = subtract(load(points, place + 2 * WIDTH), centre)
            c = add_product(c, gap, gap)
            gap = subtract(load(points, place + 3 * WIDTH), centre)
            d = add_product(d, gap, gap)
            place += stride
        store(totals, vector * WIDTH, a)
        store(totals, (vector + 1) * WIDTH, b)
        store(totals, (vector + 2) * WIDTH, c)
        store(totals, (vector + 3) * WIDTH, d)
        low = minimum(low, minimum(minimum(a, b), minimum(c, d)))
        high = maximum(high, maximum(maximum(a, b), maximum(c, d)))
        vector += 4
    while vector < n_vectors:  # ends: vector grows
        a = zero
        place = start + vector * WIDTH
        for j in range(n_numbers):
            gap = subtract(load(points, place), broadcast(query32[j]))
            a = add_product(a, gap, gap)
            place += stride
        store(totals, vector * WIDTH, a)
        low, high = minimum(low, a), maximum(high, a)
        vector += 1
    return reduce_min(low), reduce_max(high)


@inner
def with_code_distances(points, start, stride, n_vectors, query32, totals, nominal, codes, low, high):
    """Add what the columns of codes have in the distances; returns the least and the largest sum."""
    if nominal is None:
        return low, high
    one, zero = broadcast(np.float32(1.0)), broadcast(np.float32(0.0))
    for j in range(nominal.weights.shape[0]):
        here = query32[nominal.first + j]
        column = start + (nominal.first + j) * stride
        look = looked_up(nominal, j, here)
        if look == NO_TABLE:
            centre, weight = broadcast(here), broadcast(codes.weights[j])
            for vector in range(n_vectors):
                gap = subtract(load(points, column + vector * WIDTH), centre)
                # Codes are whole numbers: the square of their difference is 0, or 1 and more.
                differ = minimum(add_product(zero, gap, gap), one)
                store(totals, vector * WIDTH, add_product(load(totals, vector * WIDTH), differ, weight))
        else:
            for place in range(n_vectors * WIDTH):
                totals[place] += codes.looks[look + np.int64(points[column + place])]
    return range_of(totals, np.int64(0), n_vectors)


@inner
def range_of(values, start, n_vectors):
    """The least and the largest of ``n_vectors`` times sixteen values."""
    low = load(values, start)
    high = low
    for vector in range(1, n_vectors):
        more = load(values, start + vector * WIDTH)
        low, high = minimum(low, more), maximum(high, more)
    return reduce_min(low), reduce_max(high)
