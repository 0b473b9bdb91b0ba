"""Attributes by themselves: noisy counts of leaves, repaired.

With little budget, ordered attributes of the same weight are counted together, in one draw of noise for all of their
histograms: first in parts that are even on the public measure, then, if there is enough, in parts that the first
answers make equally full. With more, each has a tree of its own. Short lists and categories are counted point by point.

The tree is PrivTree [1]_ with two children on the public measure: a node is halved while its count, less a little for
each level, is above zero with noise. However deep it gets, the noise is that of a few levels. Its cost under
*replacement* of a record and with integer noise is derived in docs/algorithms/ranked_graph.md.

References
----------
.. [1] Zhang, J., Xiao, X. & Xie, X. (2016). PrivTree: a differentially private algorithm for hierarchical
   decompositions. SIGMOD, 155-170. doi:10.1145/2882903.2882928
"""

from __future__ import annotations

import math
from collections import defaultdict
from collections.abc import Callable, Mapping, Sequence
from dataclasses import dataclass

import numpy as np

from microagg._typing import FloatArray, IntArray
from microagg.errors import GuaranteeError, ParameterError
from microagg.privacy.budget import Budget
from microagg.privacy.mechanism import add_laplace, add_to_histograms, laplace_draws
from microagg.privacy.noise import Noise
from microagg.privacy.noise.histograms import deviation_of_cells
from microagg.private.strict.records import Records
from microagg.private.strict.scales import Scale
from microagg.private.strict.smoothing import Observation, smooth_density

__all__ = [
    "COST_OF_SPLITS",
    "LONGEST_LIST",
    "Marginal",
    "lowering_of",
    "measure_marginals",
    "noisy_tree",
    "project",
]

LONGEST_LIST = 32
"""Ordered attributes of at most as many points are counted point by point, without a tree."""

COST_OF_SPLITS = 4
"""All splits of a tree together cost this over the scale of their noise, if one record is replaced."""

_DEEPEST = 60
_LARGEST_LOWERING = 2.0**56  # of all levels together below 2^62
_MOST = 1e6  # times all records: a noisy count beyond is noise, and floats would lack the digits to repair it
_MOST_NODES = 4096  # of one level
_DIGITS_OF_WEIGHTS = 9  # weights that differ by less are the same
_NARROWEST = 1e-6  # leaf, on the public measure
_SPLITS = 0.3  # of a tree's budget; the rest is for counting its leaves
_NOISE_ALONE = {"tree": 2.0, "nominal": 1.0, "list": 0.0}  # counts below so many scales of noise are taken as none


_SHORT_GRID = 1024
_TREES_FROM = {"short": 250.0, "long": 1000.0}
"""Records x epsilon of an attribute, below which a tree's splits cost more than they tell.

Of few points single ones may hold many records, such as 40 hours a week. A tree finds them, a smooth density does not.
"""

_ROUNDS: tuple[tuple[float, tuple[tuple[int, float], ...]], ...] = (
    (40.0, ((8, 1.0),)),
    (70.0, ((12, 1.0),)),
    (150.0, ((12, 0.6), (6, 0.4))),
    (math.inf, ((8, 0.4), (12, 0.6))),
)
"""Below so many records x epsilon of an attribute: how many parts each round has, and its share of the budget."""


@dataclass(frozen=True)
class Marginal:
    """The distribution of one attribute.

    Attributes
    ----------
    scale : Scale
    edges : ndarray of int64, of shape (n_leaves + 1,)
        Leaf i holds the points ``edges[i] .. edges[i+1] - 1``.
    mass : ndarray of shape (n_leaves,)
        Sums to 1.
    """

    scale: Scale
    edges: IntArray
    mass: FloatArray

    @property
    def n_leaves(self) -> int:
        return len(self.mass)

    @property
    def is_list(self) -> bool:
        """Whether every leaf is one point."""
        return self.n_leaves == self.scale.size


def measure_marginals(
    records: Records,
    scales: Sequence[Scale],
    n_records: int,
    *,
    budget: Budget,
    noise: Noise,
    weights: Mapping[str, float],
) -> list[Marginal]:
    """Spend a budget on all attributes, divided by weights: on counts of points, of parts, or of leaves of trees."""
    ways = _ways_of_counting(scales, n_records * budget.epsilon, weights)
    shares = budget.divide(
        {str(group[0]): math.fsum(weights[scales[j].name] for j in group) for group in ways},
        attributes={str(group[0]): [scales[j].name for j in group] for group in ways},
    )
    found: dict[int, Marginal] = {}
    for group, count in sorted(ways.items()):
        of_group = {j: scales[j] for j in group}
        found |= count(records, of_group, n_records, budget=shares[str(group[0])], noise=noise)
    return [found[j] for j in range(len(scales))]


def _ways_of_counting(
    scales: Sequence[Scale], records_times_epsilon: float, weights: Mapping[str, float]
) -> dict[tuple[int, ...], Callable[..., dict[int, Marginal]]]:
    """Which attributes are counted together, and how: parts of those that weigh the same share a draw of noise."""
    ways: dict[tuple[int, ...], Callable[..., dict[int, Marginal]]] = {}
    in_parts = defaultdict(list)
    for j, scale in enumerate(scales):
        if scale.size <= LONGEST_LIST or not scale.ordered:
            ways[j,] = _measure_points
        elif records_times_epsilon * weights[scale.name] >= _trees_from(scale):
            ways[j,] = _measure_leaves
        else:
            in_parts[round(weights[scale.name], _DIGITS_OF_WEIGHTS)].append(j)
    return ways | {tuple(group): _measure_parts for group in in_parts.values()}


def _trees_from(scale: Scale) -> float:
    return _TREES_FROM["short" if scale.size <= _SHORT_GRID else "long"]


def _measure_points(
    records: Records, scales: Mapping[int, Scale], n_records: int, *, budget: Budget, noise: Noise
) -> dict[int, Marginal]:
    """Count every point of an attribute."""
    ((attribute, scale),) = scales.items()
    counts = records.count_points(attribute, scale.size)
    # A replaced record leaves one count and enters another: 2 in all.
    noisy = add_laplace(counts, 2, budget=budget, noise=noise, on=f"counts of the values of {scale.name}")
    how = "list" if scale.ordered else "nominal"
    return {attribute: _repaired(scale, np.arange(scale.size + 1), noisy, n_records, budget.epsilon, how)}


def _measure_parts(
    records: Records, scales: Mapping[int, Scale], n_records: int, *, budget: Budget, noise: Noise
) -> dict[int, Marginal]:
    """Count parts of several attributes together, in one round or two, and smooth them."""
    rounds = _rounds_for(n_records * budget.epsilon / len(scales))
    names = scales[next(iter(scales))].name if len(scales) == 1 else f"{len(scales)} attributes"
    shares = budget.split({str(i): share for i, (_, share) in enumerate(rounds)})
    observations: dict[int, list[Observation]] = {j: [] for j in scales}
    found: dict[int, Marginal] = {}
    for i, (count, _) in enumerate(rounds):
        edges = {j: _equally_full(found[j], count) if found else scale.cut_evenly(count) for j, scale in scales.items()}
        on = f"{'full' if found else 'even'} parts of {names}"
        for j, one in _count_parts(records, edges, n_records, budget=shares[str(i)], noise=noise, on=on).items():
            observations[j].append(one)
        found = {j: Marginal(scale, *smooth_density(scale, observations[j])) for j, scale in scales.items()}
    return found


def _count_parts(
    records: Records, edges: Mapping[int, IntArray], n_records: int, *, budget: Budget, noise: Noise, on: str
) -> dict[int, Observation]:
    """Histograms of several attributes, with one draw of noise for all."""
    counts = [records.count_runs(j, one) for j, one in edges.items()]
    if any(int(one.sum()) != n_records for one in counts):  # the noise would not hide how many are missing
        raise GuaranteeError("counts of parts do not add up to the number of records. Nothing was written")
    # A replaced record leaves one run of each attribute and enters another, so one record of each histogram moves.
    noisy = add_to_histograms(counts, budget=budget, noise=noise, on=f"counts of {on}")
    deviations = deviation_of_cells([len(one) for one in counts], budget.epsilon)
    return {
        j: Observation(one, counted / n_records, max(deviation, 1e-9) / n_records)
        for (j, one), counted, deviation in zip(edges.items(), noisy, deviations, strict=True)
    }


def _equally_full(marginal: Marginal, count: int) -> IntArray:
    """Edges of parts that have about the same mass; fewer where one point has more than that.

    A cut that nearly is an edge of a leaf is that edge: no leaf may be too narrow to be told from none.
    """
    reached = np.concatenate([[0.0], np.cumsum(marginal.mass)])
    cuts = np.rint(np.interp(np.arange(1, count) / count, reached, marginal.edges.astype(np.float64)))
    places, leaves = marginal.scale.measure(cuts), marginal.scale.measure(marginal.edges.astype(np.float64))
    nearest = np.abs(places[:, None] - leaves).argmin(axis=1)
    near = np.abs(places - leaves[nearest]) < _NARROWEST
    cuts = np.where(near, marginal.edges[nearest], cuts).astype(np.int64)
    return np.unique(np.concatenate([[0], cuts, [marginal.scale.size]]))


def _rounds_for(records_times_epsilon: float) -> tuple[tuple[int, float], ...]:
    """How to count parts with so much for each attribute."""
    return next(rounds for below, rounds in _ROUNDS if records_times_epsilon < below)


def _measure_leaves(
    records: Records, scales: Mapping[int, Scale], n_records: int, *, budget: Budget, noise: Noise
) -> dict[int, Marginal]:
    """Let a noisy tree choose leaves of an attribute, and count them."""
    ((attribute, scale),) = scales.items()
    shares = budget.split({"splits": _SPLITS, "leaves": 1.0 - _SPLITS})
    edges = noisy_tree(records, attribute, scale, budget=shares["splits"], noise=noise)
    draw = laplace_draws(2, budget=shares["leaves"], noise=noise, on=f"counts of all leaves of {scale.name}")
    noisy = draw(records.count_runs(attribute, edges))
    return {attribute: _repaired(scale, edges, noisy, n_records, shares["leaves"].epsilon, "tree")}


def noisy_tree(records: Records, attribute: int, scale: Scale, *, budget: Budget, noise: Noise) -> IntArray:
    """The edges of the leaves that a noisy tree chooses; spends all of `budget`.

    Level by level, so that the noise of a level is drawn at once. Runs of one point and nodes of the deepest level are
    leaves without asking; so are all nodes of a level that has more than is sensible, which only earlier answers
    decide.
    """
    draw = laplace_draws(COST_OF_SPLITS, budget=budget, noise=noise, on=f"all splits of {scale.name}")
    per_level = lowering_of(budget.epsilon)
    starts, ends = np.array([0], dtype=np.int64), np.array([scale.size], dtype=np.int64)
    leaves: list[IntArray] = []
    for depth in range(_DEEPEST):
        small = ends - starts <= 1
        leaves.append(ends[small])
        starts, ends = starts[~small], ends[~small]
        if len(starts) == 0 or len(starts) > _MOST_NODES:
            break
        counts = _counts_of_nodes(records, attribute, starts, ends)
        lowered = np.maximum(counts - depth * per_level, -per_level)
        split = draw(lowered) > 0
        leaves.append(ends[~split])
        starts, ends = starts[split], ends[split]
        middles = scale.halve(starts, ends)
        starts, ends = np.column_stack([starts, middles]).ravel(), np.column_stack([middles, ends]).ravel()
    leaves.append(ends)
    return np.unique(np.concatenate([np.zeros(1, dtype=np.int64), *leaves]))


def lowering_of(epsilon: float) -> int:
    """What counts are lowered by at each level: at least ln 2 scales of the noise, which the proof asks for."""
    lowering = COST_OF_SPLITS / epsilon * math.log(2) * (1 + 1e-9)
    if lowering > _LARGEST_LOWERING:  # lowered by less, a tree would cost more than its budget
        raise ParameterError(f"epsilon = {epsilon:g} is too small for a tree of values")
    return math.ceil(lowering)


def _counts_of_nodes(records: Records, attribute: int, starts: IntArray, ends: IntArray) -> IntArray:
    """How many records lie in each of several runs that do not overlap, in ascending order."""
    edges = np.column_stack([starts, ends]).ravel()
    return records.count_runs(attribute, edges)[::2]


def _repaired(scale: Scale, edges: IntArray, noisy: IntArray, n_records: int, epsilon: float, how: str) -> Marginal:
    """Masses from noisy counts: what noise alone explains is taken as none, and the rest is moved to sum to 1."""
    least = _NOISE_ALONE[how] * 2.0 / epsilon
    counts = np.clip(noisy.astype(np.float64), -_MOST * n_records, _MOST * n_records)
    if (counts >= least).any():
        counts = np.where(counts < least, 0.0, counts)
    return Marginal(scale, edges, project(counts / n_records))


def project(values: FloatArray) -> FloatArray:
    """The nearest point of all that are not negative and sum to 1, by least squares."""
    descending = np.sort(values)[::-1]
    excess = np.cumsum(descending) - 1.0
    places = np.arange(1, len(values) + 1)
    last = np.flatnonzero(descending - excess / places > 0)[-1]
    projected = np.maximum(values - excess[last] / (last + 1), 0.0)
    return np.asarray(projected / projected.sum(), dtype=np.float64)
