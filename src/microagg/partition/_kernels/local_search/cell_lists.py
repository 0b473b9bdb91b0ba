"""A partition that can be changed cell by cell, and measures of all of it."""

from __future__ import annotations

from typing import NamedTuple

import numpy as np

from microagg._kernels.jit import compiled
from microagg.partition._kernels.random import draw_below, shuffle


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
def distances_to_centroids(X, label, most_cells, distances):
    """Fill in each record's distance to the centroid of its cell; returns the SSE."""
    n_records, n_attributes = X.shape
    sums = np.zeros((most_cells, n_attributes))
    size = np.zeros(most_cells)
    for i in range(n_records):
        size[label[i]] += 1.0
        for j in range(n_attributes):
            sums[label[i], j] += X[i, j]
    total = 0.0
    for i in range(n_records):
        squared = 0.0
        for j in range(n_attributes):
            gap = X[i, j] - sums[label[i], j] / size[label[i]]
            squared += gap * gap
        distances[i] = np.sqrt(squared)
        total += squared
    return total
