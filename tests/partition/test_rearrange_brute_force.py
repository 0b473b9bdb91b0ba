"""Rearranged cells against all partitions of tiny tables: never better than the best one, and hardly ever worse."""

from __future__ import annotations

import functools
import math
from dataclasses import dataclass

import numpy as np
import pytest

from mdav_tables import compiled
from microagg import MDAV
from microagg.partition.base import within_cell_sse
from microagg.partition.rearrange.rearrange import rearrange_cells
from microagg.partition.rearrange.rules import Demands
from microagg.privacy.requirement import REQUIREMENTS, ConfidentialValues, Requirement
from microagg.privacy.ways import Way
from microagg.schema.attribute import Kind
from microagg.space.points import Points
from requirement_oracle import Asked, Scale

N_TABLES = 60
BOUNDS = {
    "distinct_l": (2, 3),
    "entropy_l": (1.5, 2.0, 2.5),
    "recursive_c_l": ((1.0, 2), (2.0, 2), (3.0, 3)),
    "max_share": (0.4, 0.5, 0.67),
    "min_range": (2.0, 3.0),
    "t_closeness": (0.1, 0.15, 0.25),
}


@dataclass(frozen=True)
class TinyTable:
    """A few records, and what is asked of the confidential value of each."""

    X: np.ndarray
    values: list[float]
    asked: Asked
    k: int

    def rearranged(self, by: Way, effort: str = "default") -> np.ndarray:
        bound = self.asked.bound
        c, rarest = bound if self.asked.key == "recursive_c_l" else (bound, 0)
        kind = Kind.NUMERIC if self.asked.scale.kind == "numeric" else Kind.NOMINAL
        secret = ConfidentialValues("secret", np.array(self.values), kind)
        demands = Demands((Requirement(REQUIREMENTS[self.asked.key], "secret", float(c), rarest),), {"secret": secret})
        everyone = np.arange(len(self.X))
        labels = MDAV(k=self.k).fit(self.X).labels_
        found = rearrange_cells(Points(self.X), labels, self.k, demands, everyone, by=by, effort=effort, random_state=0)
        return found.labels

    def sse(self, labels: np.ndarray) -> float:
        return within_cell_sse(Points(self.X), labels, int(labels.max()) + 1)

    def least_sse(self) -> float:
        """Of all partitions into cells of at least k records that satisfy the requirement.

        Records are taken in turn: the first that is left shares its cell with any of the others.
        """
        n_records, known = len(self.X), {}

        def cost(cell: int) -> float:
            members = [i for i in range(n_records) if cell >> i & 1]
            if len(members) < self.k:
                return math.inf
            values = tuple(sorted(self.values[i] for i in members))
            if values not in known:
                known[values] = self.asked.holds(values, self.values)
            return float(((self.X[members] - self.X[members].mean(axis=0)) ** 2).sum()) if known[values] else math.inf

        costs = [cost(cell) for cell in range(1 << n_records)]
        best = [0.0] + [math.inf] * ((1 << n_records) - 1)
        for left in range(1, 1 << n_records):
            first = left & -left
            others = some = left ^ first
            while True:  # ends: runs through the subsets of the others, down to none
                best[left] = min(best[left], costs[first | some] + best[others ^ some])
                if not some:
                    break
                some = (some - 1) & others
        return best[-1]


@functools.cache
def tiny_table(number: int) -> TinyTable:
    """Seven to nine records; what is asked all of them together satisfy, but cells need not."""
    rng = np.random.default_rng([number, 7])
    while True:  # ends: most draws can be satisfied
        n_records, k = int(rng.integers(7, 10)), int(rng.integers(2, 4))
        X = rng.normal(size=(n_records, 2)) if rng.random() < 0.7 else rng.integers(0, 4, (n_records, 2)).astype(float)
        values = rng.integers(0, 5, n_records).astype(float).tolist()
        key = str(rng.choice(list(BOUNDS)))
        bound = BOUNDS[key][int(rng.integers(len(BOUNDS[key])))]
        on = "numeric" if key == "min_range" or rng.random() < 0.5 else "nominal"
        table = TinyTable(X, values, Asked("secret", key, bound, Scale(on)), k)
        if table.asked.holds(values, values) and len(np.unique(X, axis=0)) > n_records // k:
            return table


@functools.cache
def least_sse(number: int) -> float:
    return tiny_table(number).least_sse()


def check_cells(table: TinyTable, labels: np.ndarray) -> None:
    for cell in range(int(labels.max()) + 1):
        members = np.flatnonzero(labels == cell)
        assert len(members) >= table.k
        assert table.asked.holds([table.values[i] for i in members], table.values)


def ratios(numbers, by: Way = Way.SEARCH) -> np.ndarray:
    """The SSE of rearranged cells over the least possible one, for tables of these numbers."""
    found = []
    for number in numbers:
        table = tiny_table(number)
        labels = table.rearranged(by)
        check_cells(table, labels)
        least = least_sse(number)
        sse = table.sse(labels)
        assert sse >= least * (1 - 1e-9) - 1e-12, f"table {number}: less than all partitions lose"
        found.append(sse / least if least > 1e-12 else 1.0 if sse <= 1e-12 else math.inf)
    return np.array(found)


@compiled
def test_a_search_finds_nearly_the_best_of_all_partitions():
    found = ratios(range(N_TABLES))
    assert found.mean() <= 1.01
    assert found.max() <= 1.35


@compiled
@pytest.mark.parametrize("by", [Way.SWAP, Way.MERGE])
def test_other_ways_satisfy_the_requirement_and_lose_no_less_than_the_best_partition(by):
    assert ratios(range(20), by).max() < math.inf


@compiled
def test_a_search_loses_no_more_than_the_ways_it_starts_from():
    for number in (*range(20), 280):
        table = tiny_table(number)
        others = [table.sse(table.rearranged(by)) for by in (Way.SWAP, Way.MERGE)]
        assert table.sse(table.rearranged(Way.SEARCH)) <= min(others) * (1 + 1e-9) + 1e-12
