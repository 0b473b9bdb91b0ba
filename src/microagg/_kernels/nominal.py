"""Distances between codes (see `codes`).

Kernels that work on numbers and on mixed records alike take a `Nominal` or None. A function that is given None is
compiled without its branch for codes, so that tables of numbers pay nothing for it.
"""

from __future__ import annotations

import numpy as np

from microagg._kernels.codes import CENTROID, NO_TABLE
from microagg._kernels.jit import compiled, entry, inner
from microagg._kernels.sums import add_compensated


@compiled
def numbers_of(nominal, n_columns):
    """How many of the columns hold numbers."""
    if nominal is None:
        return n_columns
    return nominal.first


@compiled
def looked_up(nominal, j, code):
    """Where the distances to a query are listed by category, for column j; NO_TABLE for a weight per mismatch."""
    if code == CENTROID:
        return nominal.look_at[j]
    if nominal.table_at[j] == NO_TABLE:
        return np.int64(NO_TABLE)
    return nominal.table_at[j] + np.int64(code) * nominal.sizes[j]


@compiled
def add_code_distances(nominal, columns, query, start, stop, totals):
    """Add the squared distances of the codes of records start..stop-1; ``columns`` has a row per column."""
    if nominal is None:
        return
    for j in range(nominal.weights.shape[0]):
        here = query[nominal.first + j]
        codes = columns[nominal.first + j]
        place = looked_up(nominal, j, here)
        if place == NO_TABLE:
            weight = nominal.weights[j]
            for i in range(stop - start):
                totals[i] += weight if codes[start + i] != here else 0.0
        else:
            for i in range(stop - start):
                totals[i] += nominal.looks[place + np.int64(codes[start + i])]


@entry
def add_code_distances_at(nominal, columns, at, start, stop, totals):
    """Add the squared distances of the codes of the record at a place to those at start..stop-1."""
    if nominal is None:
        return
    for j in range(nominal.weights.shape[0]):
        codes = columns[nominal.first + j]
        here = codes[at]
        if nominal.table_at[j] == NO_TABLE:
            weight = nominal.weights[j]
            for i in range(stop - start):
                totals[i] += weight if codes[start + i] != here else 0.0
        else:
            row = nominal.table_at[j] + np.int64(here) * nominal.sizes[j]
            for i in range(stop - start):
                totals[i] += nominal.looks[row + np.int64(codes[start + i])]


@inner
def plus_code_distance(nominal, values, row, query, total):
    """``total`` plus the squared distance of a row's codes to the query; added in the order of the columns."""
    if nominal is None:
        return total
    for j in range(nominal.weights.shape[0]):
        code, here = values[row, nominal.first + j], query[nominal.first + j]
        place = looked_up(nominal, j, here)
        if place == NO_TABLE:
            total += nominal.weights[j] if code != here else 0.0
        else:
            total += nominal.looks[place + np.int64(code)]
    return total


@compiled
def take_code_off(nominal, j, code):
    """Take a record with this code in column j off the counts, and off the sums of distances."""
    start = nominal.look_at[j]
    nominal.counts[start + code] -= 1
    if nominal.table_at[j] != NO_TABLE:
        row = nominal.table_at[j] + code * nominal.sizes[j]
        for place in range(nominal.sizes[j]):
            nominal.high[start + place], nominal.low[start + place] = add_compensated(
                nominal.high[start + place], nominal.low[start + place], -nominal.looks[row + place]
            )


@inner
def take_row_off(nominal, values, row):
    """Take a record with a row's codes off what the centroid is computed from."""
    if nominal is None:
        return
    for j in range(nominal.weights.shape[0]):
        take_code_off(nominal, j, np.int64(values[row, nominal.first + j]))


@compiled
def place_centroid(nominal, n_records):
    """Look up the squared distances of all categories to the centroid of the records that are counted."""
    if nominal is None:
        return
    for j in range(nominal.weights.shape[0]):
        start, stop = nominal.look_at[j], nominal.look_at[j] + nominal.sizes[j]
        if nominal.table_at[j] == NO_TABLE:
            # In whole numbers as far as possible: categories of equal counts are equally far, to the last bit.
            squares = np.int64(0)
            for place in range(start, stop):
                squares += nominal.counts[place] * nominal.counts[place]
            twice = 2.0 * np.float64(n_records * n_records)
            for place in range(start, stop):
                parts = n_records * n_records - 2 * n_records * nominal.counts[place] + squares
                nominal.looks[place] = nominal.weights[j] * (np.float64(parts) / twice)
        else:
            spread = 0.0
            for place in range(start, stop):
                spread += np.float64(nominal.counts[place]) * nominal.high[place]
            half = 0.5 * (spread / np.float64(n_records * n_records))
            for place in range(start, stop):
                nominal.looks[place] = max(nominal.high[place] / n_records - half, 0.0)
