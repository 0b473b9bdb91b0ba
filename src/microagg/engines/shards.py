"""Cut a table into neighbouring parts: a sampled tree for shards of any table, exact cuts for the blocks of one shard.

Nothing here reads or writes. What a record's shard is depends on the record and the tree alone: scores are computed
column by column, value by value, so that no batch, no order and no library of matrices can change a digit of them.

Privacy. Where records are cut decides which of them share a cell, and so how much is lost. It promises nothing: every
cell has at least k records wherever the cuts are, and k is counted on what is written.

Complexity. A node of the tree takes some 20 passes over its sample; routing takes one score per level; a cut of a shard
takes one score and one selection by rank.
"""

from __future__ import annotations

import hashlib
from collections.abc import Iterator, Sequence
from dataclasses import dataclass, field

import numpy as np
import numpy.typing as npt

from microagg._typing import FloatArray, IntArray

__all__ = [
    "Axis",
    "Coordinates",
    "Tree",
    "axis_to_cut",
    "cut_blocks",
    "generator_for",
    "grow_tree",
    "hash_rows",
    "key_of",
    "merge_small",
    "principal_axis",
]

HashArray = npt.NDArray[np.uint64]

_ROUNDS = 20
_LOPSIDED = 0.1  # mean of |x| x over that of |x|^2: 0 of what is alike on all sides, 1 of a ray
_LOOKED_AT = 5_000  # records of a block that decide its axis: they stand in an order of chance


@dataclass(frozen=True)
class Coordinates:
    """Records as columns of numbers and of codes.

    Attributes
    ----------
    numbers : tuple of ndarray
        Standardised, times the root of their weight; no missing values.
    codes : tuple of ndarray of int
        Categories from 0.
    n_categories : tuple of int
    lengths : tuple of float
        How far each category lies from the origin along an axis of its own.
    """

    numbers: tuple[FloatArray, ...]
    codes: tuple[IntArray, ...] = ()
    n_categories: tuple[int, ...] = ()
    lengths: tuple[float, ...] = ()

    def __len__(self) -> int:
        return len((*self.numbers, *self.codes)[0])

    def take(self, rows: IntArray | npt.NDArray[np.bool_]) -> Coordinates:
        return Coordinates(
            tuple(column[rows] for column in self.numbers),
            tuple(column[rows] for column in self.codes),
            self.n_categories,
            self.lengths,
        )


@dataclass(frozen=True)
class Axis:
    """A direction: what a unit of each number adds to a record's score, and what each category adds."""

    numbers: tuple[float, ...]
    categories: tuple[FloatArray, ...] = ()

    def scores(self, records: Coordinates) -> FloatArray:
        """Where records lie along the axis; each from its own values alone, added up in the order of the columns."""
        total = np.zeros(len(records))
        for loading, column in zip(self.numbers, records.numbers, strict=True):
            total += loading * column
        for table, codes in zip(self.categories, records.codes, strict=True):
            total += table[codes]
        return total


def axis_to_cut(records: Coordinates, weights: FloatArray | None = None) -> Axis:
    """The direction along which records are best cut: where they differ most, or where their tail is.

    A cut across a long tail parts records that have few neighbours, and costs most there: lognormal columns lose up to
    a third more. Where records lie more to one side, the cut is made along that side, so that it parts the dense ones
    from the tail, which stays whole; unless another direction is more than twice as wide.
    """
    principal = principal_axis(records, weights)
    weights = np.ones(len(records)) if weights is None else weights
    total = float(weights.sum())
    centred = [column - float((weights * column).sum()) / total for column in records.numbers]
    squared = np.zeros(len(records))
    for column in centred:
        squared += column**2
    for length, codes, n in zip(records.lengths, records.codes, records.n_categories, strict=True):
        shares = np.bincount(codes, weights, minlength=n) / total
        squared += (length**2 * (1.0 + float((shares**2).sum()) - 2.0 * shares))[codes]
    pulled = weights * np.sqrt(squared)
    spread = float((weights * squared).sum())
    if not spread > 0.0:
        return principal
    numbers = [float((pulled * column).sum()) / spread for column in centred]
    mean_pull = float(pulled.sum()) / total
    tables = [
        length
        * (np.bincount(codes, pulled, minlength=n) - mean_pull * np.bincount(codes, weights, minlength=n))
        / spread
        for length, codes, n in zip(records.lengths, records.codes, records.n_categories, strict=True)
    ]
    norm = float(np.sqrt(sum(one**2 for one in numbers) + sum(float((t**2).sum()) for t in tables)))
    if norm < _LOPSIDED or not np.isfinite(norm):
        return principal
    lengths = records.lengths
    tail = Axis(
        tuple(one / norm for one in numbers),
        tuple(length * table / norm for length, table in zip(lengths, tables, strict=True)),
    )
    widths = [_variance(axis.scores(records), weights, total) for axis in (tail, principal)]
    return tail if 2.0 * widths[0] >= widths[1] else principal


def _variance(scores: FloatArray, weights: FloatArray, total: float) -> float:
    centred = scores - float((weights * scores).sum()) / total
    return float((weights * centred**2).sum()) / total


def principal_axis(records: Coordinates, weights: FloatArray | None = None) -> Axis:
    """The direction in which records differ most, by repeated multiplication; the widest column is where it starts."""
    weights = np.ones(len(records)) if weights is None else weights
    total = float(weights.sum())
    centred = [column - float((weights * column).sum()) / total for column in records.numbers]
    shares = [
        np.bincount(codes, weights, minlength=n) / total
        for codes, n in zip(records.codes, records.n_categories, strict=True)
    ]
    widths = [float((weights * column**2).sum()) / total for column in centred]
    widths += [length**2 * (1.0 - float((s**2).sum())) for length, s in zip(records.lengths, shares, strict=True)]
    widest = int(np.argmax(widths))
    numbers = [float(place == widest) for place in range(len(centred))]
    tables = [
        np.where(np.arange(len(s)) == int(np.argmax(s)), 1.0, 0.0) * float(len(centred) + place == widest)
        for place, s in enumerate(shares)
    ]
    for _ in range(_ROUNDS):
        scores = np.zeros(len(records))
        for loading, column in zip(numbers, centred, strict=True):
            scores += loading * column
        for length, table, codes in zip(records.lengths, tables, records.codes, strict=True):
            scores += (length * table)[codes]
        scores -= float((weights * scores).sum()) / total
        pulled = weights * scores
        numbers = [float((pulled * column).sum()) for column in centred]
        tables = [
            np.bincount(codes, pulled, minlength=n).astype(np.float64) * length
            for length, codes, n in zip(records.lengths, records.codes, records.n_categories, strict=True)
        ]
        norm = float(np.sqrt(sum(one**2 for one in numbers) + sum(float((t**2).sum()) for t in tables)))
        if not norm > 0.0 or not np.isfinite(norm):
            break
        numbers, tables = [one / norm for one in numbers], [table / norm for table in tables]
    lengths = records.lengths
    return Axis(tuple(numbers), tuple(length * table for length, table in zip(lengths, tables, strict=True)))


@dataclass(frozen=True)
class Tree:
    """A leaf, or a cut: records whose score is at most `threshold` go to `low`, the others to `high`."""

    axis: Axis | None = None
    threshold: float = 0.0
    low: Tree | None = field(default=None, repr=False)
    high: Tree | None = field(default=None, repr=False)

    @property
    def n_leaves(self) -> int:
        if self.low is None or self.high is None:
            return 1
        return self.low.n_leaves + self.high.n_leaves

    def route(self, records: Coordinates) -> IntArray:
        """The leaf of each record, counted from the low end."""
        leaves = np.zeros(len(records), dtype=np.int64)
        if self.axis is None or self.low is None or self.high is None or not len(records):
            return leaves
        is_high = self.axis.scores(records) > self.threshold
        for child, rows, first in ((self.low, ~is_high, 0), (self.high, is_high, self.low.n_leaves)):
            places = np.flatnonzero(rows)
            leaves[places] = first + (child.route(records.take(places)) if child.n_leaves > 1 else 0)
        return leaves


def grow_tree(sample: Coordinates, weights: FloatArray, n_leaves: int) -> Tree:
    """A tree of about equal leaves, from a weighted sample.

    Each node is cut along its axis (:func:`axis_to_cut`), between two scores that differ: equal records are never
    parted. Nodes whose records are all alike along it stay whole.
    """
    if n_leaves < 2 or len(sample) < 2:
        return Tree()
    axis = axis_to_cut(sample, weights)
    scores = axis.scores(sample)
    order = np.argsort(scores, kind="stable")
    ranked, below = scores[order], np.cumsum(weights[order])
    differs = np.flatnonzero(ranked[1:] > ranked[:-1])
    if not len(differs):
        return Tree()
    wanted = below[-1] * (n_leaves // 2) / n_leaves
    cut = int(differs[np.argmin(np.abs(below[differs] - wanted))])
    threshold = ranked[cut] + 0.5 * (ranked[cut + 1] - ranked[cut])
    if not ranked[cut] <= threshold < ranked[cut + 1]:
        threshold = ranked[cut]
    share = float(below[cut] / below[-1])
    n_low = min(max(round(share * n_leaves), 1), n_leaves - 1)
    is_low = scores <= threshold
    low, high = (
        grow_tree(sample.take(rows), weights[rows], n) for rows, n in ((is_low, n_low), (~is_low, n_leaves - n_low))
    )
    return Tree(axis, float(threshold), low, high)


def merge_small(tree: Tree, counts: Sequence[int], least: int) -> list[list[int]]:
    """Leaves in groups of at least `least` records: a part with fewer joins the nearest leaf of its sibling.

    Groups hold every leaf that has records, once. One group may stay small if all records together are fewer.
    """

    def size(group: Sequence[int]) -> int:
        return sum(counts[leaf] for leaf in group)

    def groups_of(node: Tree, first: int) -> list[list[int]]:
        if node.low is None or node.high is None:
            return [[first]] if counts[first] else []
        low, high = groups_of(node.low, first), groups_of(node.high, first + node.low.n_leaves)
        if low and high and (size(low[-1]) < least or size(high[0]) < least):
            return [*low[:-1], [*low[-1], *high[0]], *high[1:]]
        return [*low, *high]

    return groups_of(tree, 0)


def cut_blocks(records: Coordinates, most: int, k: int) -> Iterator[IntArray]:
    """The places of a shard's records, block by block: at most about `most` each, cut at multiples of k.

    Records must stand in an order of chance: the first of them decide the axis of each cut, and of records that are
    alike along it the first go low. Every block but one has a multiple of k records, and none has fewer than k if there
    are k at all.
    """
    yield from _cut(records, np.arange(len(records)), max(most, 2 * k), k)


def _cut(records: Coordinates, places: IntArray, most: int, k: int) -> Iterator[IntArray]:
    n = len(places)
    if n <= most:
        yield places
        return
    n_blocks = -(-n // most)
    n_low = min(max(round(n * (n_blocks // 2) / n_blocks / k), 1) * k, (n - k) // k * k)
    axis = axis_to_cut(records.take(places[:_LOOKED_AT]))
    scores = axis.scores(records.take(places))
    threshold = np.partition(scores, n_low - 1)[n_low - 1]
    is_low = scores < threshold
    tied = np.flatnonzero(scores == threshold)
    is_low[tied[: n_low - int(is_low.sum())]] = True
    yield from _cut(records, places[is_low], most, k)
    yield from _cut(records, places[~is_low], most, k)


def hash_rows(columns: Sequence[HashArray], n_records: int, key: int) -> HashArray:
    """A number of 64 bits for each record, from its values and a key alone; equal records have equal numbers."""
    state = np.full(n_records, np.uint64(key & (2**64 - 1)), dtype=np.uint64)
    for column in columns:
        state = _mix(state ^ column)
    return _mix(state)


def _mix(state: HashArray) -> HashArray:
    """The finaliser of SplitMix64 (Steele, Lea & Flood 2014)."""
    with np.errstate(over="ignore"):
        state = state + np.uint64(0x9E3779B97F4A7C15)
        state = (state ^ (state >> np.uint64(30))) * np.uint64(0xBF58476D1CE4E5B9)
        state = (state ^ (state >> np.uint64(27))) * np.uint64(0x94D049BB133111EB)
    mixed: HashArray = state ^ (state >> np.uint64(31))
    return mixed


def key_of(secret: bytes, *purpose: int | str) -> int:
    """A key of 128 bits for one purpose of one run."""
    words = "/".join(map(str, purpose)).encode()
    return int.from_bytes(hashlib.blake2b(words, key=secret[:64], digest_size=16).digest(), "little")


def generator_for(secret: bytes, *purpose: int | str) -> np.random.Generator:
    """Chance for one purpose: counter-based, so that work that is done again draws the same."""
    key = key_of(secret, *purpose)
    return np.random.Generator(np.random.Philox(key=np.array([key & (2**64 - 1), key >> 64], dtype=np.uint64)))
