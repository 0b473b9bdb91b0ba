"""Records as rows of numbers and codes: the distances of the coordinates in `mixed`, without the coordinates.

A nominal attribute of C categories takes C coordinates, each record one code. Between two codes the squared distance is
known (a weight if they differ, or what a table says), and so is that between a code and the centroid of a cell. With
s_c the share of category c in the cell and D the squared distances of categories,

    distance to the centroid = sum over b of s_b D(c, b)  -  1/2 sum over a, b of s_a s_b D(a, b),

which for a weight w per mismatch is w (1/2 - s_c + 1/2 sum of s_b^2).
"""

from __future__ import annotations

import math
from collections.abc import Callable, Sequence
from dataclasses import dataclass, replace

import numpy as np

from microagg._scaling import exponent_near_one, times_power_of_two
from microagg._typing import FloatArray, IntArray
from microagg.errors import TableError

__all__ = [
    "NominalColumn",
    "Points",
    "code_distances_to_cells",
    "distances_to_centroids",
    "join_points",
    "points_at_squared_distances",
    "require_room_for_table",
]

_MOST_BYTES = 4 * 2**30  # of a table of distances between the categories of one attribute
_PAIRS_AT_ONCE = 4_000_000  # of categories in a cell


def require_room_for_table(name: str, n_categories: int) -> None:
    """Refuse an attribute whose categories need a table of distances that is too large."""
    if 8 * n_categories**2 > _MOST_BYTES:
        raise TableError(
            f"column {name!r} has {n_categories} categories: a table of the distances between them needs "
            f"{8 * n_categories**2 / 2**30:.1f} GiB. Use a coarser attribute (a region for a postcode)"
        )


@dataclass(frozen=True)
class NominalColumn:
    """What is known about the codes of one attribute.

    Attributes
    ----------
    name : str
    n_categories : int
        Codes are 0 to ``n_categories - 1``; the code `n_categories` stands for a missing value.
    weight : float
        Squared distance of two codes that differ, where there is no table.
    table : ndarray of shape (n_categories, n_categories) or None
        Squared distances of categories.
    to_missing : ndarray of shape (n_categories,) or None
        Squared distances of a missing value to each category; None if none is missing.
    """

    name: str
    n_categories: int
    weight: float = 1.0
    table: FloatArray | None = None
    to_missing: FloatArray | None = None

    @property
    def largest(self) -> float:
        """The largest squared distance of two codes."""
        parts = [np.array(self.weight) if self.table is None else self.table, self.to_missing]
        return max(float(part.max(initial=0.0)) for part in parts if part is not None)

    def times(self, factor: float) -> NominalColumn:
        """The same attribute with squared distances times a factor."""
        return replace(
            self,
            weight=self.weight * factor,
            table=None if self.table is None else self.table * factor,
            to_missing=None if self.to_missing is None else self.to_missing * factor,
        )

    def corners(self) -> FloatArray:
        """A point for each category, so that squared distances between them are those wanted."""
        if self.table is not None:
            return points_at_squared_distances(self.table)
        # Two categories need one coordinate, and C of them the corners of a simplex.
        if self.n_categories <= 2:
            return math.sqrt(self.weight) * np.arange(self.n_categories, dtype=np.float64)[:, None]
        return math.sqrt(0.5 * self.weight) * np.eye(self.n_categories)

    def among(self, codes: IntArray) -> NominalColumn:
        """The same attribute where only `codes` (ascending) occur, which become 0, 1, ...; missing a code like others.

        Raises
        ------
        TableError
            The distances between these codes would need too much memory.
        """
        has_missing = self.to_missing is not None and bool(codes[-1] == self.n_categories)
        if self.table is None and (not has_missing or len(codes) <= 2):
            weight = self.weight
            if has_missing and self.to_missing is not None and len(codes) == 2:
                weight = float(self.to_missing[codes[0]])
            return NominalColumn(self.name, len(codes), weight)
        require_room_for_table(self.name, len(codes))
        present = codes[:-1] if has_missing else codes
        table = np.zeros((len(codes), len(codes)))
        if self.table is None:
            table += self.weight * (1.0 - np.eye(len(codes)))
        else:
            table[: len(present), : len(present)] = self.table[np.ix_(present, present)]
        if has_missing and self.to_missing is not None:
            table[-1, :-1] = table[:-1, -1] = self.to_missing[present]
        return NominalColumn(self.name, len(codes), self.weight, table)


@dataclass(frozen=True)
class Points:
    """Records as rows of numbers and codes.

    The squared distance of two records is the sum of the squared differences of their numbers, in the order of the
    columns, plus that of their codes, in the order of the columns.

    Attributes
    ----------
    values : ndarray of shape (n_records, n_columns)
        C-contiguous float64 without missing values: numbers first, then codes.
    nominal : tuple of NominalColumn
        The last columns, which hold codes.
    """

    values: FloatArray
    nominal: tuple[NominalColumn, ...] = ()

    def __len__(self) -> int:
        return len(self.values)

    @property
    def n_numbers(self) -> int:
        return int(self.values.shape[1]) - len(self.nominal)

    @property
    def numbers(self) -> FloatArray:
        return self.values[:, : self.n_numbers]

    @property
    def exponent(self) -> int:
        """The exponent of the power of two by which squared distances neither overflow nor vanish; 0: as they are.

        Columns on which records do not differ count, too: where they must not, ask what `telling` returns.
        """
        largest = np.array([column.largest for column in self.nominal])
        return exponent_near_one([self.numbers, np.sqrt(largest)])

    def times_power_of_two(self, exponent: int) -> Points:
        """All distances times ``2**exponent``."""
        values = self.values.copy()
        values[:, : self.n_numbers] = times_power_of_two(self.numbers, exponent)
        return Points(values, tuple(_scaled(column, 2 * exponent) for column in self.nominal))

    def times(self, factor: float) -> Points:
        """All distances times a factor."""
        values = self.values.copy()
        values[:, : self.n_numbers] *= factor
        return Points(values, tuple(column.times(factor**2) for column in self.nominal))

    def near_one(self) -> Points:
        """The same records on a scale on which squared distances neither overflow nor vanish."""
        exponent = self.exponent
        return self.times_power_of_two(exponent) if exponent else self

    def centred(self) -> Points:
        """The same distances, with numbers of mean 0."""
        values = self.values.copy()
        values[:, : self.n_numbers] -= self.numbers.mean(axis=0)
        return replace(self, values=values)

    @property
    def n_coordinates(self) -> int:
        """How many coordinates `coordinates` makes, at most."""
        return self.n_numbers + sum(column.n_categories for column in self.nominal)

    def coordinates(self) -> FloatArray:
        """The records as coordinates, whose squared Euclidean distances are these; only codes that occur count."""
        if not self.nominal:
            return self.values
        parts = [self.numbers]
        for codes, column in zip(self.values[:, self.n_numbers :].T, self.nominal, strict=True):
            found, dense = np.unique(codes.astype(np.int64), return_inverse=True)
            parts.append(column.among(found).corners()[dense])
        joined = np.ascontiguousarray(np.hstack(parts))
        return joined if joined.shape[1] else np.zeros((len(self), 1))

    def take(self, records: IntArray) -> Points:
        """Some of the records."""
        return replace(self, values=self.values[records])

    def has_distances_of(self, other: Points) -> bool:
        """Whether both have the same columns, apart from some on which records do not differ."""
        one, two = self.telling(), other.telling()
        return np.array_equal(one.values, two.values) and all(
            first.weight == second.weight
            and (first.table is None) == (second.table is None)
            and (first.table is None or second.table is None or np.array_equal(first.table, second.table))
            for first, second in zip(one.nominal, two.nominal, strict=True)
        )

    def telling(self) -> Points:
        """The same distances by columns on which records differ; only codes that occur, those with a table last.

        At least one column of numbers, of zeros if there is no other. What kernels work on is in this form.
        """
        numbers = [column for column in self.numbers.T if (column != column[0]).any()]
        plain: list[tuple[FloatArray, NominalColumn]] = []
        with_table: list[tuple[FloatArray, NominalColumn]] = []
        for values, column in zip(self.values[:, self.n_numbers :].T, self.nominal, strict=True):
            if (values == values[0]).all():
                continue
            found = np.bincount(values.astype(np.int64), minlength=column.n_categories)
            codes = np.flatnonzero(found)
            among = column.among(codes)
            if among.table is None:  # frequent categories first: searches bound what a range of codes can be by that
                codes = codes[np.argsort(-found[codes], kind="stable")]
            new_code = np.empty(len(found))
            new_code[codes] = np.arange(len(codes))
            (plain if among.table is None else with_table).append((new_code[values.astype(np.int64)], among))
        columns = [*(numbers or [np.zeros(len(self))]), *(values for values, _ in plain + with_table)]
        return Points(np.ascontiguousarray(np.column_stack(columns)), tuple(column for _, column in plain + with_table))


def join_points(parts: Sequence[Points]) -> Points:
    """The attributes of several side by side: all numbers, then all codes."""
    if not parts:
        return Points(np.empty((0, 0)))
    columns = [part.numbers for part in parts] + [part.values[:, part.n_numbers :] for part in parts]
    nominal = tuple(column for part in parts for column in part.nominal)
    return Points(np.ascontiguousarray(np.hstack(columns)), nominal)


def _scaled(column: NominalColumn, exponent: int) -> NominalColumn:
    """The same attribute with squared distances times ``2**exponent``."""
    return replace(
        column,
        weight=float(times_power_of_two(np.array(column.weight), exponent)),
        table=None if column.table is None else times_power_of_two(column.table, exponent),
        to_missing=None if column.to_missing is None else times_power_of_two(column.to_missing, exponent),
    )


def distances_to_centroids(
    points: Points,
    labels: IntArray,
    n_cells: int,
    weights: FloatArray | None = None,
    *,
    is_telling: bool = False,
) -> FloatArray:
    """Squared distance of each record to the centroid of its cell; every cell has a record.

    Parameters
    ----------
    points : Points
    labels : ndarray of shape (n_records,)
    n_cells : int
    weights : ndarray of shape (n_records,) or None
        How much each record counts in its centroid; None: all the same.
    is_telling : bool
        Whether the records are in the form of `Points.telling` already.
    """
    points = points if is_telling else points.telling()
    counted = np.ones(len(labels)) if weights is None else weights
    sizes = np.asarray(np.bincount(labels, weights=counted, minlength=n_cells), dtype=np.float64)
    a_member = np.empty(n_cells, dtype=np.int64)
    a_member[labels] = np.arange(len(labels))
    total = np.zeros(len(points))
    for column in points.numbers.T:
        # Measured from a member of the cell, so that neither an offset nor far cells cost digits.
        gaps = column - column[a_member][labels]
        gaps -= (np.bincount(labels, weights=counted * gaps, minlength=n_cells) / sizes)[labels]
        total += np.square(gaps, out=gaps)
    for codes, attribute in zip(points.values[:, points.n_numbers :].T, points.nominal, strict=True):
        total += _distances_of_codes(codes.astype(np.int64), attribute, labels, counted, sizes)
    return total


def _distances_of_codes(
    codes: IntArray, column: NominalColumn, labels: IntArray, counted: FloatArray, sizes: FloatArray
) -> FloatArray:
    """What one nominal attribute adds to the squared distances of records to their centroids."""
    pairs, which = np.unique(labels * column.n_categories + codes, return_inverse=True)
    cell, category = np.divmod(pairs, column.n_categories)
    share = np.bincount(which, weights=counted) / sizes[cell]
    if column.table is None:
        squares = np.bincount(cell, weights=share**2, minlength=len(sizes))
        distances = column.weight * (0.5 - share + 0.5 * squares[cell])
    else:
        towards = _mean_distances(cell, category, share, column.table)
        spread = np.bincount(cell, weights=share * towards, minlength=len(sizes))
        distances = towards - 0.5 * spread[cell]
    found: FloatArray = np.maximum(distances, 0.0)[which]
    return found


def _mean_distances(cell: IntArray, category: IntArray, share: FloatArray, table: FloatArray) -> FloatArray:
    """For each category in a cell the mean of its squared distances to the cell's records; `cell` is ascending."""
    n_in_cell = np.bincount(cell)
    starts = np.cumsum(n_in_cell) - n_in_cell
    towards = np.empty(len(cell))
    # As many rows at once as make some million pairs of categories; a row is a category in a cell.
    ends = np.cumsum(n_in_cell[cell])
    first = 0
    while first < len(cell):  # ends: at least one row every time
        done = int(ends[first - 1]) if first else 0
        last = max(int(np.searchsorted(ends, done + _PAIRS_AT_ONCE, side="right")), first + 1)
        lengths = n_in_cell[cell[first:last]]
        row = np.repeat(np.arange(first, last), lengths)
        within = np.arange(len(row)) - np.repeat(np.cumsum(lengths) - lengths, lengths)
        other = starts[cell[row]] + within
        terms = share[other] * table[category[row], category[other]]
        towards[first:last] = np.bincount(row - first, weights=terms, minlength=last - first)
        first = last
    return towards


def code_distances_to_cells(
    points: Points, members: IntArray, labels: IntArray, n_cells: int
) -> list[Callable[[int], FloatArray]]:
    """For each column of codes: a function from a record to the squared distances of its code to all cells' centroids.

    Parameters
    ----------
    points : Points
        In the form of `Points.telling`.
    members : ndarray
        Records that have a cell.
    labels : ndarray
        Their cells; every cell has a record.
    n_cells : int
    """
    codes = points.values[:, points.n_numbers :].astype(np.int64)
    sizes = np.bincount(labels, minlength=n_cells)
    return [_distances_to_cells(codes[:, j], column, members, labels, sizes) for j, column in enumerate(points.nominal)]


def _distances_to_cells(
    codes: IntArray, column: NominalColumn, members: IntArray, labels: IntArray, sizes: IntArray
) -> Callable[[int], FloatArray]:
    pairs, counts = np.unique(labels * column.n_categories + codes[members], return_counts=True)
    cell, category = np.divmod(pairs, column.n_categories)
    if column.table is None:
        squares = np.bincount(cell, weights=counts * counts)
        twice = 2.0 * (sizes * sizes).astype(np.float64)

        def by_mismatch(record: int) -> FloatArray:
            wanted = np.arange(len(sizes)) * column.n_categories + codes[record]
            places = np.minimum(np.searchsorted(pairs, wanted), len(pairs) - 1)
            same = np.where(pairs[places] == wanted, counts[places], 0)
            found: FloatArray = column.weight * ((sizes * sizes - 2 * sizes * same + squares) / twice)
            return found

        return by_mismatch
    table = column.table
    spread = np.bincount(cell, weights=counts * _mean_distances(cell, category, counts / sizes[cell], table)) / sizes

    def by_table(record: int) -> FloatArray:
        means = np.bincount(cell, weights=counts * table[codes[record], category]) / sizes
        return np.maximum(means - 0.5 * spread, 0.0)

    return by_table


def points_at_squared_distances(squared: FloatArray) -> FloatArray:
    """Points whose squared Euclidean distances are `squared` (classical scaling).

    Examples
    --------
    >>> points = points_at_squared_distances(np.array([[0.0, 4.0], [4.0, 0.0]]))
    >>> float(round(((points[0] - points[1]) ** 2).sum(), 12))
    4.0
    """
    centred = squared - squared.mean(axis=0)
    gram = -0.5 * (centred - centred.mean(axis=1)[:, None])
    eigenvalues, vectors = np.linalg.eigh(gram)
    keep = eigenvalues > 1e-12 * max(eigenvalues.max(initial=0.0), 1e-300)
    points: FloatArray = vectors[:, keep] * np.sqrt(eigenvalues[keep])
    return points
