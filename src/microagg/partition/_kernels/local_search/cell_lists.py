"""A partition that can be changed cell by cell, and measures of all of it."""

from __future__ import annotations

from typing import NamedTuple

import numpy as np

from microagg._kernels.codes import NO_TABLE
from microagg._kernels.jit import compiled
from microagg._kernels.nominal import numbers_of
from microagg._kernels.random import draw_below, shuffle


class CellLists(NamedTuple):
    """A partition that can be changed cell by cell."""

    label: np.ndarray  # (n_records,)
    members: np.ndarray  # (most cells, 2k - 1)
    size: np.ndarray  # (most cells,); 0 for a free number
    sse: np.ndarray  # (most cells,); nan until a pool with the cell was summed up
    free: np.ndarray  # (most cells,); the first n_free are free numbers
    n_free: np.ndarray  # (1,)


@compiled
def list_cells(label, k):
    """The partition's lists of members, from labels 0, 1, ... with k to 2k - 1 records each."""
    most_cells = len(label) // k
    members = np.empty((most_cells, 2 * k - 1), dtype=np.int64)
    size = np.zeros(most_cells, dtype=np.int64)
    for record in range(len(label)):
        cell = label[record]
        members[cell, size[cell]] = record
        size[cell] += 1
    free = np.empty(most_cells, dtype=np.int64)
    n_free = np.zeros(1, dtype=np.int64)
    for cell in range(most_cells - 1, -1, -1):
        if size[cell] == 0:
            free[n_free[0]] = cell
            n_free[0] += 1
    return CellLists(label, members, size, np.full(most_cells, np.nan), free, n_free)


@compiled
def one_of_each_cell(cells, rng):
    """A random member of each cell, in random order."""
    records = np.empty(len(cells.size), dtype=np.int64)
    count = 0
    for cell in range(len(cells.size)):
        if cells.size[cell] > 0:
            records[count] = cells.members[cell, draw_below(rng, cells.size[cell])]
            count += 1
    drawn = records[:count]
    shuffle(rng, drawn)
    return drawn


@compiled
def distances_to_centroids(X, label, most_cells, distances, nominal):
    """Fill in each record's distance to the centroid of its cell; returns the SSE."""
    n_records, n_attributes = X.shape[0], numbers_of(nominal, X.shape[1])
    code_distances_to_centroids(X, label, most_cells, distances, nominal)
    sums = np.zeros((most_cells, n_attributes))
    size = np.zeros(most_cells)
    for i in range(n_records):
        size[label[i]] += 1.0
        for j in range(n_attributes):
            sums[label[i], j] += X[i, j]
    total = 0.0
    for i in range(n_records):
        squared = code_part(distances[i], nominal)
        for j in range(n_attributes):
            gap = X[i, j] - sums[label[i], j] / size[label[i]]
            squared += gap * gap
        distances[i] = np.sqrt(squared)
        total += squared
    return total


@compiled
def code_part(distance, nominal):
    """What codes have in a squared distance, if there are any."""
    if nominal is None:
        return 0.0
    return distance


@compiled
def code_distances_to_centroids(X, label, most_cells, distances, nominal):
    """Fill in what codes have in each record's squared distance to the centroid of its cell."""
    if nominal is None:
        return
    n_records = X.shape[0]
    starts = np.zeros(most_cells + 1, dtype=np.int64)
    for i in range(n_records):
        starts[label[i] + 1] += 1
    for cell in range(most_cells):
        starts[cell + 1] += starts[cell]
    members = np.empty(n_records, dtype=np.int64)
    place = starts[:-1].copy()
    for i in range(n_records):
        distances[i] = 0.0
        members[place[label[i]]] = i
        place[label[i]] += 1
    counts = np.zeros(nominal.sizes.max(), dtype=np.int64)
    towards = np.empty(nominal.sizes.max())
    found = np.empty(nominal.sizes.max(), dtype=np.int64)
    for j in range(nominal.weights.shape[0]):
        codes = X[:, nominal.first + j]
        for cell in range(most_cells):
            own = members[starts[cell] : starts[cell + 1]]
            if nominal.table_at[j] == NO_TABLE:
                add_mismatches(codes, own, nominal.weights[j], counts, distances)
            else:
                table = nominal.looks[nominal.table_at[j] : nominal.table_at[j] + nominal.sizes[j] ** 2]
                add_looked_up(codes, own, table, nominal.sizes[j], counts, towards, found, distances)


@compiled
def add_mismatches(codes, members, weight, counts, distances):
    """Add the squared distances of a cell's codes to their centroid; ``counts`` is zero before and after."""
    size, squares = len(members), np.int64(0)
    for i in members:
        counts[np.int64(codes[i])] += 1
    for i in members:
        squares += counts[np.int64(codes[i])]
    for i in members:
        apart = size * size - 2 * size * counts[np.int64(codes[i])] + squares
        distances[i] += weight * (apart / (2.0 * size * size))
    for i in members:
        counts[np.int64(codes[i])] = 0


@compiled
def add_looked_up(codes, members, table, n_categories, counts, towards, found, distances):
    """The same by a table of the squared distances of categories; ``found`` lists those in the cell."""
    size, n_found = len(members), 0
    for i in members:
        code = np.int64(codes[i])
        if counts[code] == 0:
            found[n_found] = code
            n_found += 1
        counts[code] += 1
    spread = 0.0
    for a in found[:n_found]:
        total = 0.0
        for b in found[:n_found]:
            total += counts[b] * table[a * n_categories + b]
        towards[a] = total / size
        spread += counts[a] * towards[a]
    for i in members:
        distances[i] += max(towards[np.int64(codes[i])] - 0.5 * (spread / size), 0.0)
    for code in found[:n_found]:
        counts[code] = 0
