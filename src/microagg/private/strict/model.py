"""The model: a pool of rows in groups, first from the copula and a tree of tables, then weighted to further tables."""

from __future__ import annotations

import itertools
import math
from collections.abc import Sequence
from dataclasses import dataclass

import numpy as np

from microagg._typing import FloatArray, IntArray
from microagg.privacy.budget import Budget
from microagg.privacy.mechanism import laplace_draws, select
from microagg.privacy.noise import Noise
from microagg.private.strict.allocate import spread_evenly
from microagg.private.strict.marginals import Marginal
from microagg.private.strict.plan import Plan
from microagg.private.strict.records import Records
from microagg.private.strict.tables import masses_of_groups, without_noise

__all__ = ["Model", "TableQuestions", "build_model", "empty_model"]

_SWEEPS = 12
_SWEEPS_BETWEEN = 2  # after each further table, so that the next is chosen where the model is still off
_MOST_FACTOR = 4.0
_NOISE_COUNTS = 1.0  # scales of noise that each free cell of a table must be worth to be chosen
_MOST_TAKEN_OFF = 2.0**60  # scores are 64-bit integers
_POOL = (20_000, 200_000)


@dataclass
class Model:
    """A pool of weighted rows.

    Attributes
    ----------
    marginals : list of Marginal
    groups : list of ndarray
        For each attribute, the group of each leaf.
    masses : list of ndarray
        For each attribute, the mass of each group.
    pool : ndarray of int16, of shape (n_rows, n_attributes)
        The group of each row.
    ranks : ndarray of shape (n_rows, n_attributes)
        Where a row lies in the order of an attribute, between 0 and 1.
    weights : ndarray of shape (n_rows,)
    """

    marginals: Sequence[Marginal]
    groups: Sequence[IntArray]
    masses: list[FloatArray]
    pool: IntArray
    ranks: FloatArray
    weights: FloatArray

    @property
    def sizes(self) -> list[int]:
        return [len(masses) for masses in self.masses]

    def is_ordered(self, attribute: int) -> bool:
        return self.marginals[attribute].scale.ordered

    def table(self, one: int, other: int) -> FloatArray:
        """The share of the pool in each pair of groups."""
        shape = self.sizes[one], self.sizes[other]
        cells = self.pool[:, one] * shape[1] + self.pool[:, other]
        return _weigh(cells, self.weights, shape[0] * shape[1]).reshape(shape)


def empty_model(
    marginals: Sequence[Marginal],
    groups: Sequence[IntArray],
    correlations: FloatArray,
    n_records: int,
    rng: np.random.Generator,
) -> Model:
    """A pool whose ordered attributes (or else the first one) follow the Gaussian copula; others are not placed yet."""
    n_rows = int(min(max(4 * n_records, _POOL[0]), _POOL[1]))
    masses = [masses_of_groups(one, groups[j]) for j, one in enumerate(marginals)]
    ordered = [j for j, one in enumerate(marginals) if one.scale.ordered]
    ranks, pool = rng.random((n_rows, len(marginals))), np.zeros((n_rows, len(marginals)), dtype=np.int64, order="F")
    if ordered:
        normals = _exact_normals(n_rows, correlations, rng)
        even = (np.arange(n_rows) + 0.5) / n_rows
        for place, j in enumerate(ordered):
            ranks[np.argsort(normals[:, place]), j] = even
            ends = np.cumsum(masses[j])
            pool[:, j] = np.minimum(np.searchsorted(ends, ranks[:, j]), len(ends) - 1)
    else:
        pool[:, 0] = spread_evenly(masses[0], n_rows, rng)
    return Model(marginals, groups, masses, pool, ranks, np.full(n_rows, 1.0 / n_rows))


def _exact_normals(n_rows: int, correlations: FloatArray, rng: np.random.Generator) -> FloatArray:
    """Normal numbers whose sample correlations are exactly those given."""
    drawn = rng.normal(size=(n_rows, len(correlations)))
    drawn -= drawn.mean(axis=0)
    whitened = np.linalg.solve(np.linalg.cholesky(drawn.T @ drawn / n_rows), drawn.T).T
    return np.asarray(whitened @ np.linalg.cholesky(correlations).T, dtype=np.float64)


class TableQuestions:
    """What is asked of records about pairs of attributes, and paid for: a table, or which table is furthest off."""

    def __init__(
        self,
        records: Records,
        model: Model,
        plan: Plan,
        n_records: int,
        choices: Budget | None,
        tables: Budget,
        noise: Noise,
    ) -> None:
        self._records, self._model, self._n_records, self._noise = records, model, n_records, noise
        self._choices = iter(_parts(choices, plan.n_choices, "a choice of two attributes"))
        self._tables = iter(_parts(tables, plan.n_tables, "a table of two attributes"))
        self.deviation = 0.0
        self._table_scale = 2.0 / (tables.epsilon / max(plan.n_tables, 1))

    def distance(self, pair: tuple[int, int], model: FloatArray) -> int:
        """How many records the table is off the model's, less what chance and the noise of a table would make of it.

        Both tables are counts. A replaced record moves two cells by one each: the distance by at most 2. What is taken
        off depends on the model and on public facts.
        """
        expected = self._n_records * model
        by_chance = min(float(np.sqrt(2.0 / math.pi * expected).sum()), float(self._n_records))
        by_noise = _NOISE_COUNTS * (model.shape[0] - 1) * (model.shape[1] - 1) * self._table_scale
        off = self._records.count_table(*pair, model.shape) - np.rint(expected).astype(np.int64)
        taken_off: float = min(by_chance + by_noise, _MOST_TAKEN_OFF)
        return int(np.abs(off).sum()) - round(taken_off)

    def choose(self, pairs: Sequence[tuple[int, int]], distances: dict[tuple[int, int], int]) -> tuple[int, int]:
        """Privately, a pair whose table is far off."""
        budget, on = next(self._choices)
        scores = np.array([[distances[pair] for pair in pairs]], dtype=np.int64)
        # One record moves every score by at most 2 (see `distance`).
        return pairs[int(select(scores, 2, budget=budget, noise=self._noise, on=on)[0])]

    def measure(self, pair: tuple[int, int]) -> FloatArray:
        """The table of a pair, with noise, as shares."""
        budget, on = next(self._tables)
        shape = self._model.sizes[pair[0]], self._model.sizes[pair[1]]
        counts = self._records.count_table(*pair, shape)
        # A replaced record leaves one cell and enters another: 2 in all.
        noisy = laplace_draws(2, budget=budget, noise=self._noise, on=on)(counts.ravel()).reshape(shape)
        self.deviation = math.sqrt(2.0) * 2.0 / budget.epsilon / self._n_records
        return np.asarray(noisy / self._n_records, dtype=np.float64)


def build_model(model: Model, questions: TableQuestions, plan: Plan, rng: np.random.Generator) -> Model:
    """Join the nominal attributes by a tree of tables, then weigh the pool by further tables."""
    n_attributes = len(model.marginals)
    pairs = list(itertools.combinations(range(n_attributes), 2))
    targets: list[tuple[tuple[int, int], FloatArray]] = []
    if plan.n_tree:
        _join_nominals(model, questions, pairs, targets, rng)
    rest = [pair for pair in pairs if pair not in {tuple(sorted(one)) for one, _ in targets}]
    for _ in range(plan.n_more):
        pair = rest[0] if plan.all_pairs else _furthest(model, questions, rest)
        rest.remove(pair)
        targets.append((pair, _denoised(model, questions, pair, model.table(*pair))))
        _rake(model, targets, _SWEEPS_BETWEEN)
    if plan.n_more:
        _rake(model, targets, _SWEEPS)
    return model


def _join_nominals(
    model: Model,
    questions: TableQuestions,
    pairs: Sequence[tuple[int, int]],
    targets: list[tuple[tuple[int, int], FloatArray]],
    rng: np.random.Generator,
) -> None:
    """Each nominal attribute joins by a table with one that is placed, privately the one it depends on most."""
    placed = {j for j in range(len(model.marginals)) if model.is_ordered(j)} or {0}
    product = {
        pair: np.outer(model.masses[pair[0]], model.masses[pair[1]])
        for pair in pairs
        if not (model.is_ordered(pair[0]) and model.is_ordered(pair[1]))
    }
    distances = {pair: questions.distance(pair, table) for pair, table in product.items()}
    while len(placed) < len(model.marginals):  # ends: each round places one more
        open_pairs = [pair for pair in product if (pair[0] in placed) != (pair[1] in placed)]
        pair = questions.choose(open_pairs, distances)
        table = _denoised(model, questions, pair, product[pair])
        old, new = pair if pair[0] in placed else pair[::-1]
        table = table if old == pair[0] else table.T
        for group in range(len(table)):
            rows = np.flatnonzero(model.pool[:, old] == group)
            model.pool[rows, new] = spread_evenly(np.maximum(table[group], 1e-12), len(rows), rng)
        placed.add(new)
        targets.append(((old, new), table))


def _furthest(model: Model, questions: TableQuestions, pairs: list[tuple[int, int]]) -> tuple[int, int]:
    """Privately, a pair whose table is far off the model's."""
    return questions.choose(pairs, {pair: questions.distance(pair, model.table(*pair)) for pair in pairs})


def _denoised(model: Model, questions: TableQuestions, pair: tuple[int, int], base: FloatArray) -> FloatArray:
    noisy = questions.measure(pair)
    ordered = model.is_ordered(pair[0]), model.is_ordered(pair[1])
    return without_noise(noisy, base, questions.deviation, ordered, (model.masses[pair[0]], model.masses[pair[1]]))


def _rake(model: Model, targets: Sequence[tuple[tuple[int, int], FloatArray]], sweeps: int) -> None:
    """Weigh the pool until its tables and marginals are as measured: iterative proportional fitting."""
    for _ in range(sweeps):
        for (one, other), table in targets:
            factors = _factors(table, model.table(one, other))
            model.weights *= factors[model.pool[:, one], model.pool[:, other]]
            model.weights /= model.weights.sum()
        for j, masses in enumerate(model.masses):
            factors = _factors(masses, _weigh(model.pool[:, j], model.weights, len(masses)))
            model.weights *= factors[model.pool[:, j]]
            model.weights /= model.weights.sum()


def _weigh(places: IntArray, weights: FloatArray, size: int) -> FloatArray:
    """The weight at each place."""
    return np.asarray(np.bincount(places, weights, minlength=size), dtype=np.float64)


def _factors(wanted: FloatArray, there: FloatArray) -> FloatArray:
    return np.clip(wanted / np.maximum(there, 1e-9), 1.0 / _MOST_FACTOR, _MOST_FACTOR)


def _parts(budget: Budget | None, count: int, what: str) -> list[tuple[Budget, str]]:
    """Even shares of a budget, each with what it is for; none where there is nothing to spend it on."""
    if budget is None:
        return []
    shares = budget.split([f"{what}, {i + 1} of {count}" for i in range(count)])
    return [(share, name) for name, share in shares.items()]
