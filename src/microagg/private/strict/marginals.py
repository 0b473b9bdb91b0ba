"""One attribute alone: leaves that a noisy tree chose, with noisy counts that were repaired.

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
from dataclasses import dataclass

import numpy as np

from microagg._typing import FloatArray, IntArray
from microagg.errors import ParameterError
from microagg.privacy.budget import Budget
from microagg.privacy.mechanism import Noise, add_laplace, laplace_draws
from microagg.private.strict.records import Records
from microagg.private.strict.scales import Scale
from microagg.private.strict.smoothing import smooth_shares

__all__ = [
    "COST_OF_SPLITS",
    "LONGEST_LIST",
    "Marginal",
    "lowering_of",
    "measure_marginal",
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
_EVEN_PARTS = ((50.0, 8, 1.0), (120.0, 12, 4.0), (250.0, 16, 8.0))
"""Below so many records x epsilon a tree's splits cost more than they tell: how many even parts, and how stiff."""

_SPLITS = 0.3  # of a tree's budget; the rest is for counting its leaves
_NOISE_ALONE = {"tree": 2.0, "nominal": 1.0, "list": 0.0}  # counts below so many scales of noise are taken as none


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


def measure_marginal(
    records: Records, attribute: int, scale: Scale, n_records: int, *, budget: Budget, noise: Noise
) -> Marginal:
    """Spend a budget on one attribute: on counts of all points, of a few even parts, or of leaves that a tree chose."""
    if scale.size <= LONGEST_LIST or not scale.ordered:
        counts = records.count_points(attribute, scale.size)
        # A replaced record leaves one count and enters another: 2 in all.
        noisy = add_laplace(counts, 2, budget=budget, noise=noise, on=f"counts of the values of {scale.name}")
        how = "list" if scale.ordered else "nominal"
        return _repaired(scale, np.arange(scale.size + 1), noisy, n_records, budget.epsilon, how)
    parts = _even_parts(n_records * budget.epsilon)
    if parts is not None:
        n_parts, stiffness = parts
        edges = scale.cut_evenly(n_parts)
        # As above: 2 in all.
        on = f"counts of {len(edges) - 1} even parts of {scale.name}"
        noisy = add_laplace(records.count_runs(attribute, edges), 2, budget=budget, noise=noise, on=on)
        origin = int(np.searchsorted(edges, scale.origin, side="right")) - 1
        mass = smooth_shares(noisy.astype(np.float64), n_records, 2.0 / budget.epsilon, stiffness, alone=origin)
        return Marginal(scale, edges, mass)
    shares = budget.divide({"splits": _SPLITS, "leaves": 1.0 - _SPLITS})
    edges = noisy_tree(records, attribute, scale, budget=shares["splits"], noise=noise)
    draw = laplace_draws(2, budget=shares["leaves"], noise=noise, on=f"counts of all leaves of {scale.name}")
    noisy = draw(records.count_runs(attribute, edges))
    return _repaired(scale, edges, noisy, n_records, shares["leaves"].epsilon, "tree")


def _even_parts(records_times_epsilon: float) -> tuple[int, float] | None:
    """How many even parts are counted instead of a tree, and how stiff their shares are; None for a tree."""
    for below, n_parts, stiffness in _EVEN_PARTS:
        if records_times_epsilon < below:
            return n_parts, stiffness
    return None


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
