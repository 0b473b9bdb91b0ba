"""Random records of numbers and codes, and what partitioners should make of them, written down plainly."""

from __future__ import annotations

import math
from fractions import Fraction

import numpy as np

from microagg.space.points import NominalColumn, Points

# Random records


def random_points(rng: np.random.Generator, n_records: int, *, ties: bool) -> Points:
    """Records with up to four numbers and five columns of codes: plain, weighted, by a table, with missing values.

    With `ties`, numbers are whole and few, and records repeat.
    """
    n_numbers, n_nominal = int(rng.integers(0, 5)), int(rng.integers(0, 6))
    numbers = rng.normal(size=(n_records, n_numbers)) * 10.0 ** rng.uniform(-2, 2)
    if ties:
        numbers = rng.integers(0, 4, size=(n_records, n_numbers)).astype(float)
    codes, columns = [], []
    for j in range(n_nominal if n_numbers else max(n_nominal, 1)):
        column = _random_column(rng, f"code {j}")
        shares = rng.dirichlet(np.full(column.n_categories, rng.choice([0.05, 1.0, 20.0])))
        drawn = rng.choice(column.n_categories, size=n_records, p=shares)
        if column.to_missing is not None:
            drawn = np.where(rng.random(n_records) < 0.2, column.n_categories, drawn)
        codes.append(drawn)
        columns.append(column)
    values = np.column_stack([numbers, *codes]).astype(np.float64)
    if ties:
        values = values[rng.integers(0, n_records, n_records)]
    return Points(np.ascontiguousarray(values), tuple(columns))


def _random_column(rng: np.random.Generator, name: str) -> NominalColumn:
    n_categories = int(rng.choice([1, 2, 3, 5, 12, 60]))
    weight = float(rng.choice([1.0, 1.0, 0.3, 7.0, 1e-3, 1e3]))
    table = to_missing = None
    if rng.random() < 0.4:  # squared distances of points, some of which are in one place
        places = rng.normal(size=(n_categories, 3))[rng.integers(0, n_categories, n_categories)]
        table = weight * ((places[:, None] - places[None, :]) ** 2).sum(axis=2)
    if rng.random() < 0.4:
        shares = rng.dirichlet(np.ones(n_categories))
        towards = weight * (1.0 - shares) if table is None else table @ shares
        to_missing = towards - 0.5 * float(shares @ towards) + weight
    return NominalColumn(name, n_categories, weight, table, to_missing)


# The definitions, plainly


class PlainRecords:
    """Squared distances between records and to centroids, by the definition, number after number.

    Sums are exact here. Those of the package are compensated; both are rounded once to a float.
    """

    def __init__(self, points: Points) -> None:
        points = points.telling().near_one()
        self.n_numbers, self.nominal = points.n_numbers, points.nominal
        self.rows = points.values.tolist()

    def between(self, one: int, two: int) -> float:
        first, second = self.rows[one], self.rows[two]
        total = 0.0
        for j in range(self.n_numbers):
            total += (first[j] - second[j]) * (first[j] - second[j])
        for j, column in enumerate(self.nominal, self.n_numbers):
            if column.table is not None:
                total += float(column.table[int(first[j]), int(second[j])])
            elif first[j] != second[j]:
                total += column.weight
        return total

    def to_centroid(self, members: list[int]) -> dict[int, float]:
        """The squared distance of each of some records to their centroid."""
        n = len(members)
        means = [float(sum(Fraction(self.rows[i][j]) for i in members)) / n for j in range(self.n_numbers)]
        looks = [self._looks(j, column, members) for j, column in enumerate(self.nominal, self.n_numbers)]
        found = {}
        for i in members:
            total = 0.0
            for j, mean in enumerate(means):
                total += (self.rows[i][j] - mean) * (self.rows[i][j] - mean)
            for j, look in enumerate(looks, self.n_numbers):
                total += look[int(self.rows[i][j])]
            found[i] = total
        return found

    def _looks(self, j: int, column: NominalColumn, members: list[int]) -> list[float]:
        """The squared distance of each category to the centroid."""
        n, counts = len(members), [0] * column.n_categories
        for i in members:
            counts[int(self.rows[i][j])] += 1
        if column.table is None:
            squares = sum(count * count for count in counts)
            return [column.weight * ((n * n - 2 * n * count + squares) / (2.0 * float(n * n))) for count in counts]
        table = column.table.tolist()
        sums = [
            float(sum(count * Fraction(row[c]) for count, row in zip(counts, table, strict=True)))
            for c in range(column.n_categories)
        ]
        spread = 0.0
        for count, total in zip(counts, sums, strict=True):
            spread += count * total
        return [max(total / n - 0.5 * (spread / float(n * n)), 0.0) for total in sums]


def plain_mdav(points: Points, k: int) -> list[int]:
    """MDAV as its paper has it; ties go to the lowest index. Cells are numbered as they are formed."""
    records = PlainRecords(points)
    remaining = list(range(len(points)))
    labels = [-1] * len(points)
    n_cells = 0

    def form_cell(seed: int) -> None:
        nonlocal n_cells
        others = sorted((records.between(i, seed), i) for i in remaining if i != seed)[: k - 1]
        for i in [seed, *(i for _, i in others)]:
            labels[i] = n_cells
            remaining.remove(i)
        n_cells += 1

    def farthest(distances: dict[int, float]) -> int:
        return min(distances, key=lambda i: (-distances[i], i))

    while len(remaining) >= 2 * k:
        two = len(remaining) >= 3 * k
        seed = farthest(records.to_centroid(remaining))
        form_cell(seed)
        if two:
            form_cell(farthest({i: records.between(i, seed) for i in remaining}))
    for i in remaining:
        labels[i] = n_cells
    return labels


def plain_vmdav(points: Points, k: int, gamma: float) -> list[int]:
    """V-MDAV likewise; the records left over join the cell with the nearest centroid."""
    records = PlainRecords(points)
    n_records = len(points)
    from_centre = records.to_centroid(list(range(n_records)))
    remaining = sorted(range(n_records), key=lambda i: (-from_centre[i], i))
    labels, cells = [-1] * n_records, []
    while len(remaining) >= k:
        seed = remaining[0]
        cell = [seed, *(i for _, i in sorted((records.between(i, seed), i) for i in remaining if i != seed)[: k - 1])]
        remaining = [i for i in remaining if i not in cell]
        while gamma > 0 and remaining and len(cell) < 2 * k - 1:
            distance, candidate = min((min(records.between(i, member) for member in cell), i) for i in remaining)
            others = [records.between(i, candidate) for i in remaining if i != candidate]
            if not math.sqrt(distance) < gamma * math.sqrt(min(others, default=math.inf)):
                break
            cell.append(candidate)
            remaining.remove(candidate)
        for i in cell:
            labels[i] = len(cells)
        cells.append(cell)
    for i in remaining:
        labels[i] = min((_to_cell(records, i, cell), number) for number, cell in enumerate(cells))[1]
    return labels


def _to_cell(records: PlainRecords, record: int, cell: list[int]) -> float:
    """The squared distance of a record to the centroid of a cell it is not in."""
    total = 0.0
    for j in range(records.n_numbers):
        mean = float(sum(Fraction(records.rows[i][j]) for i in cell)) / len(cell)
        total += (records.rows[record][j] - mean) ** 2
    for j, column in enumerate(records.nominal, records.n_numbers):
        total += records._looks(j, column, cell)[int(records.rows[record][j])]
    return total


def sse_by_pairs(squared: np.ndarray, labels: np.ndarray) -> float:
    """The SSE of a partition from the squared distances of all pairs: those within a cell, by its size."""
    return float(sum(squared[np.ix_(cell, cell)].sum() / (2 * len(cell)) for cell in _members(labels)))


def _members(labels: np.ndarray) -> list[np.ndarray]:
    return [np.flatnonzero(labels == label) for label in range(int(labels.max()) + 1)]


def squared_distances(X: np.ndarray) -> np.ndarray:
    """Squared Euclidean distances of all pairs of rows."""
    return ((X[:, None, :] - X[None, :, :]) ** 2).sum(axis=2)


class _Followed:
    """Squared distances of many records, by arrays: between records, and to the centroid of those that remain."""

    def __init__(self, points: Points) -> None:
        points = points.telling().near_one()
        self.numbers, self.nominal = points.numbers - points.numbers.mean(axis=0), points.nominal
        self.codes = points.values[:, points.n_numbers :].astype(np.int64).T

    def from_record(self, record: int) -> np.ndarray:
        total = ((self.numbers - self.numbers[record]) ** 2).sum(axis=1)
        for codes, column in zip(self.codes, self.nominal, strict=True):
            row = column.weight * (np.arange(column.n_categories) != codes[record])
            total += (row if column.table is None else column.table[codes[record]])[codes]
        return total

    def from_centroid(self, remaining: np.ndarray) -> np.ndarray:
        total = ((self.numbers - self.numbers[remaining].mean(axis=0)) ** 2).sum(axis=1)
        for codes, column in zip(self.codes, self.nominal, strict=True):
            shares = np.bincount(codes[remaining], minlength=column.n_categories) / len(remaining)
            towards = column.weight * (1.0 - shares) if column.table is None else column.table @ shares
            total += (towards - 0.5 * (shares @ towards))[codes]
        return total


def first_choice_that_no_tie_explains(points: Points, labels: np.ndarray, k: int) -> str:
    """Follow MDAV and let ties be decided by `labels`, which are numbered as cells were formed.

    Returns "" if every choice that led to these cells was as good as any other, up to rounding, else what was not.
    """
    followed = _Followed(points)
    order = np.argsort(labels, kind="stable")
    members_of = np.split(order, np.cumsum(np.bincount(labels))[:-1])
    remains = np.ones(len(labels), dtype=bool)
    n_remaining, cell = len(labels), 0
    slack = 1e-9 * float(followed.from_centroid(np.arange(len(labels))).max())
    while cell < len(members_of) - 1:  # the last takes what is left
        before: list[np.ndarray] = []  # distances to each record that the cell before may be around
        for turn in range(2 if n_remaining >= 3 * k else 1):
            members, rows = members_of[cell], np.flatnonzero(remains)
            tried = [followed.from_centroid(rows)] if turn == 0 else before
            seeds = {int(i) for far in tried for i in members if far[i] >= far[rows].max() - slack}
            before = []
            others = rows[labels[rows] != cell]
            for seed in sorted(seeds):
                distances = followed.from_record(seed)
                if distances[members].max() <= distances[others].min() + slack:
                    before.append(distances)
            if not before:
                return f"cell {cell} is not around a farthest record, or not of its nearest"
            remains[members] = False
            n_remaining -= len(members)
            cell += 1
    return ""
