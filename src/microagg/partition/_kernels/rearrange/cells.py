"""Cells as linked lists of records, with what their SSE follows from.

For a cell g and a record x, W(g, x) is the sum of squared distances of x to the members of g, and Q(g) that over the
pairs of g; SSE(g) = Q(g) / |g|. Of numbers W follows from sums; of codes it is added up member by member.
"""

from __future__ import annotations

from typing import NamedTuple

import numpy as np

from microagg._kernels.codes import NO_TABLE
from microagg._kernels.jit import compiled
from microagg._kernels.nominal import numbers_of
from microagg._kernels.random import draw_below

NOBODY = -1
ENOUGH = 50  # records of a large cell that its distance to another is estimated from, where there are codes


class LinkedCells(NamedTuple):
    """A partition that can be changed record by record; cells may have any size."""

    label: np.ndarray  # (n_records,)
    after: np.ndarray  # (n_records,): the next member of the record's cell, NOBODY for the last
    before: np.ndarray  # (n_records,)
    first: np.ndarray  # (most cells,): a member, NOBODY for a free number
    size: np.ndarray  # (most cells,)
    pairs: np.ndarray  # (most cells,): Q
    sums: np.ndarray  # (most cells, n_numbers)
    squares: np.ndarray  # (most cells,): sum of squared norms
    free: np.ndarray  # (most cells,); the first n_free are free numbers
    n_free: np.ndarray  # (1,)
    norms: np.ndarray  # (n_records,): squared, of the numbers


@compiled
def link_cells(X, label, most_cells, nominal):
    """Lists of members, from labels 0, 1, ..."""
    n_records, n_numbers = X.shape[0], numbers_of(nominal, X.shape[1])
    norms = np.zeros(n_records)
    for i in range(n_records):
        for j in range(n_numbers):
            norms[i] += X[i, j] * X[i, j]
    cells = LinkedCells(
        label,
        np.full(n_records, NOBODY),
        np.full(n_records, NOBODY),
        np.full(most_cells, NOBODY),
        np.zeros(most_cells, dtype=np.int64),
        np.zeros(most_cells),
        np.zeros((most_cells, n_numbers)),
        np.zeros(most_cells),
        np.empty(most_cells, dtype=np.int64),
        np.zeros(1, dtype=np.int64),
        norms,
    )
    for i in range(n_records):
        link(X, cells, i, label[i])
    for cell in range(most_cells - 1, -1, -1):
        if cells.size[cell] == 0:
            cells.free[cells.n_free[0]] = cell
            cells.n_free[0] += 1
        else:
            sum_up_cell(X, cells, cell, nominal)
    return cells


@compiled
def link(X, cells, record, cell):
    """Make a record a member of a cell; its Q is the caller's to mend."""
    other = cells.first[cell]
    cells.before[record], cells.after[record] = NOBODY, other
    if other != NOBODY:
        cells.before[other] = record
    cells.first[cell] = record
    cells.label[record] = cell
    cells.size[cell] += 1
    cells.squares[cell] += cells.norms[record]
    for j in range(cells.sums.shape[1]):
        cells.sums[cell, j] += X[record, j]


@compiled
def unlink(X, cells, record):
    """Take a record out of its cell; the cell's Q is the caller's to mend."""
    cell = cells.label[record]
    left, right = cells.before[record], cells.after[record]
    if left == NOBODY:
        cells.first[cell] = right
    else:
        cells.after[left] = right
    if right != NOBODY:
        cells.before[right] = left
    cells.size[cell] -= 1
    cells.squares[cell] -= cells.norms[record]
    for j in range(cells.sums.shape[1]):
        cells.sums[cell, j] -= X[record, j]


@compiled
def sum_up_cell(X, cells, cell, nominal):
    """Form a cell's sums and its Q anew from its members."""
    n_numbers = cells.sums.shape[1]
    cells.squares[cell] = 0.0
    for j in range(n_numbers):
        cells.sums[cell, j] = 0.0
    record = cells.first[cell]
    for _ in range(cells.size[cell]):
        cells.squares[cell] += cells.norms[record]
        for j in range(n_numbers):
            cells.sums[cell, j] += X[record, j]
        record = cells.after[record]
    total = 0.0
    record = cells.first[cell]
    for _ in range(cells.size[cell]):
        total += to_cell(X, cells, record, cell, nominal)
        record = cells.after[record]
    cells.pairs[cell] = max(0.5 * total, 0.0)


@compiled
def to_cell(X, cells, record, cell, nominal):
    """W: the sum of squared distances of a record to the members of a cell."""
    mixed = 0.0
    for j in range(cells.sums.shape[1]):
        mixed += X[record, j] * cells.sums[cell, j]
    total = max(cells.size[cell] * cells.norms[record] - 2.0 * mixed + cells.squares[cell], 0.0)
    if nominal is None:
        return total
    other = cells.first[cell]
    for _ in range(cells.size[cell]):
        total += between_codes(X, record, other, nominal)
        other = cells.after[other]
    return total


@compiled
def between(X, one, two, nominal):
    """The squared distance of two records."""
    total = 0.0
    for j in range(numbers_of(nominal, X.shape[1])):
        gap = X[one, j] - X[two, j]
        total += gap * gap
    if nominal is None:
        return total
    return total + between_codes(X, one, two, nominal)


@compiled
def between_codes(X, one, two, nominal):
    total = 0.0
    for j in range(nominal.weights.shape[0]):
        here, there = X[one, nominal.first + j], X[two, nominal.first + j]
        if here == there:
            continue
        if nominal.table_at[j] == NO_TABLE:
            total += nominal.weights[j]
        else:
            total += nominal.looks[nominal.table_at[j] + np.int64(here) * nominal.sizes[j] + np.int64(there)]
    return total


@compiled
def centroid_distance(X, cells, one, two, nominal):
    """The squared distance between the centroids of two cells, times |g||h| / (|g| + |h|): what joining them adds."""
    crossing = 0.0
    if nominal is None:
        mixed = 0.0
        for j in range(cells.sums.shape[1]):
            mixed += cells.sums[one, j] * cells.sums[two, j]
        crossing = cells.size[two] * cells.squares[one] + cells.size[one] * cells.squares[two] - 2.0 * mixed
    else:
        record = cells.first[one]
        looked_at = min(cells.size[one], ENOUGH)  # of a large cell some: it is an estimate then
        for _ in range(looked_at):
            crossing += to_cell(X, cells, record, two, nominal)
            record = cells.after[record]
        crossing *= cells.size[one] / looked_at
    together = (cells.pairs[one] + cells.pairs[two] + crossing) / (cells.size[one] + cells.size[two])
    return max(together - cells.pairs[one] / cells.size[one] - cells.pairs[two] / cells.size[two], 0.0)


@compiled
def draw_member(cells, cell, rng):
    """A random member of a cell."""
    record = cells.first[cell]
    for _ in range(draw_below(rng, cells.size[cell])):
        record = cells.after[record]
    return record


@compiled
def list_members(cells, cell, records, start):
    """Write the members of a cell to ``records`` from ``start`` on; returns where they end."""
    record = cells.first[cell]
    for place in range(start, start + cells.size[cell]):
        records[place] = record
        record = cells.after[record]
    return start + cells.size[cell]


@compiled
def free_cell(cells, cell):
    """Give the number of an empty cell back."""
    cells.pairs[cell] = 0.0
    cells.squares[cell] = 0.0
    for j in range(cells.sums.shape[1]):
        cells.sums[cell, j] = 0.0
    cells.free[cells.n_free[0]] = cell
    cells.n_free[0] += 1


@compiled
def join(X, cells, one, two, nominal):
    """Make the records of the second cell members of the first."""
    record = cells.first[two]
    for _ in range(cells.size[two]):
        following = cells.after[record]
        unlink(X, cells, record)
        link(X, cells, record, one)
        record = following
    free_cell(cells, two)
    sum_up_cell(X, cells, one, nominal)


@compiled
def total_sse(X, cells, nominal):
    """Form all sums anew, so that rounding does not add up; returns the SSE."""
    total = 0.0
    for cell in range(len(cells.size)):
        if cells.size[cell] > 0:
            sum_up_cell(X, cells, cell, nominal)
            total += cells.pairs[cell] / cells.size[cell]
    return total
