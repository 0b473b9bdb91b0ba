"""t-closeness first: cells that take one record of each run of the confidential values.

Soria-Comas, J., Domingo-Ferrer, J., Sanchez, D. & Martinez, S. (2015). t-closeness through microaggregation: strict
privacy with enhanced utility preservation. IEEE TKDE 27(11), 3098-3110, algorithm 3. doi:10.1109/TKDE.2015.2435777
"""

from __future__ import annotations

import numpy as np

from microagg._kernels.jit import compiled
from microagg._kernels.nominal import numbers_of
from microagg.partition._kernels.rearrange.cells import NOBODY, between


@compiled
def nearest_of_run(X, run, label, seed, nominal):
    """The nearest to a record of those in a run that have no cell; NOBODY if all have one."""
    best, least = NOBODY, np.inf
    for record in run:
        if label[record] == NOBODY:
            apart = between(X, record, seed, nominal)
            if apart < least:
                best, least = record, apart
    return best


@compiled
def farthest(X, label, query, nominal):
    """The farthest of the records without a cell from a record."""
    best, most = NOBODY, -1.0
    for record in range(X.shape[0]):
        if label[record] == NOBODY:
            apart = between(X, record, query, nominal)
            if apart > most:
                best, most = record, apart
    return best


@compiled
def farthest_from_centroid(X, label, query, nominal):
    """The farthest from the mean of the records without a cell; by their numbers alone where there are codes, too."""
    n_numbers = numbers_of(nominal, X.shape[1])
    count = 0
    for j in range(n_numbers):
        query[j] = 0.0
    for record in range(X.shape[0]):
        if label[record] == NOBODY:
            count += 1
            for j in range(n_numbers):
                query[j] += X[record, j]
    best, most = NOBODY, -1.0
    for record in range(X.shape[0]):
        if label[record] == NOBODY:
            apart = 0.0
            for j in range(n_numbers):
                gap = X[record, j] - query[j] / count
                apart += gap * gap
            if apart > most:
                best, most = record, apart
    return best


@compiled
def form_cell(X, order, starts, left, label, seed, cell, nominal):
    """Give a cell the nearest record of each run, and one more of the run that has most left, if one has more."""
    n_runs = len(starts) - 1
    fewest, fullest = left[0] - 1, 0
    for run in range(n_runs):
        record = nearest_of_run(X, order[starts[run] : starts[run + 1]], label, seed, nominal)
        if record != NOBODY:
            label[record] = cell
            left[run] -= 1
        fewest = min(fewest, left[run])
        if left[run] > left[fullest]:
            fullest = run
    if left[fullest] > fewest:
        record = nearest_of_run(X, order[starts[fullest] : starts[fullest + 1]], label, seed, nominal)
        label[record] = cell
        left[fullest] -= 1


@compiled
def closeness_first(X, order, starts, stop, nominal):
    """Cells around the outermost record and the farthest from it, in turn; each takes one record of each run.

    ``order`` lists the records by their confidential value, ``starts`` where runs of it begin. Records that had no cell
    when it was stopped have NOBODY.
    """
    label = np.full(X.shape[0], NOBODY)
    query = np.empty(X.shape[1])
    left = starts[1:] - starts[:-1]
    cell = 0
    remaining = X.shape[0]
    while remaining > 0 and stop[0] == 0:  # ends: every turn gives a record a cell
        first = farthest_from_centroid(X, label, query, nominal)
        form_cell(X, order, starts, left, label, first, cell, nominal)
        cell += 1
        remaining = left.sum()
        if remaining > 0:
            form_cell(X, order, starts, left, label, farthest(X, label, first, nominal), cell, nominal)
            cell += 1
            remaining = left.sum()
    return label
