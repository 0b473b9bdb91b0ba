"""Probabilistic linkage: how often the record that agrees best, as Fellegi and Sunter weigh it, is the right one."""

from __future__ import annotations

from collections.abc import Iterator
from dataclasses import dataclass

import numpy as np

from microagg._progress import report
from microagg._typing import FloatArray, IntArray
from microagg.evaluation.context import Context
from microagg.evaluation.definition import Definition, MeasureResult, Need
from microagg.evaluation.pairs import Pair
from microagg.evaluation.result import Values
from microagg.schema.attribute import Kind
from microagg.tables.words import Words

__all__ = [
    "PROBABILISTIC",
    "Agreement",
    "agreement_classes",
    "agreement_counts",
    "agreement_weights",
    "chance_of_match",
]


N_CLASSES = 10

_MOST_WORK = 2.5e8  # records of both tables times sets of attributes
_SPARSE = 32  # combinations per record beyond which they are sorted, not counted in place
_SAME_WEIGHT = 1e-9


def agreement_classes(one: Pair, n_classes: int = N_CLASSES) -> tuple[IntArray, IntArray]:
    """Whole numbers that are equal where two values agree: equal categories, or numbers of one class.

    Numbers and ranks of more than `n_classes` different values are put into classes of equally many original values.
    Missing values agree with each other only.
    """
    first, second = one.values
    present = first[~np.isnan(first)]
    different = np.unique(present)
    if one.joint.kind is Kind.NOMINAL or len(different) <= n_classes:
        edges = np.unique(one.joint.values[~np.isnan(one.joint.values)])
    else:
        edges = np.unique(np.quantile(present, np.arange(1, n_classes) / n_classes))

    def classes(values: FloatArray) -> IntArray:
        return np.where(np.isnan(values), 0, 1 + np.searchsorted(edges, values, side="right")).astype(np.int64)

    return classes(first), classes(second)


@dataclass(frozen=True)
class Agreement:
    """What agreement on each attribute is worth.

    Attributes
    ----------
    m, u : ndarray of shape (n_attributes,)
        Chance that two records agree on an attribute: if they belong together, and if not.
    """

    m: FloatArray
    u: FloatArray

    @property
    def weights(self) -> FloatArray:
        """What agreement adds over disagreement to the log likelihood ratio of a match; 0 where it says nothing."""
        telling = (self.u < 1.0 - _SAME_WEIGHT) & (self.m > self.u)
        m, u = np.where(telling, self.m, 0.5), np.where(telling, self.u, 0.5)
        return np.log(m / u) - np.log((1.0 - m) / (1.0 - u))


def agreement_counts(first: IntArray, second: IntArray) -> FloatArray:
    """The number of pairs of records, one of each table, that agree on just the attributes of each set.

    Parameters
    ----------
    first, second : ndarray of shape (n_records, n_attributes)
        Classes from :func:`agreement_classes`.

    Returns
    -------
    ndarray of shape (2 ** n_attributes,)
        Entry s counts the pairs whose agreeing attributes are the bits of s.

    Notes
    -----
    Pairs are never formed: for every set, records with equal values are counted in both tables and the counts
    multiplied; pairs that agree on more are then taken off. Memory is that of the tables, times their attributes.

    Examples
    --------
    >>> agreement_counts(np.array([[0, 0], [0, 1]]), np.array([[0, 0], [1, 1]])).tolist()
    [1.0, 1.0, 1.0, 1.0]
    """
    n_attributes = first.shape[1]
    counts = np.zeros(2**n_attributes)
    for agreeing, _, times in _shared_combinations(first, second):
        counts[agreeing] = times.sum()
    for j in range(n_attributes):
        without = np.flatnonzero(~np.arange(len(counts)) >> j & 1)
        counts[without] -= counts[without | 1 << j]
    return counts


def agreement_weights(counts: FloatArray, n_first: int, *, tolerance: float = 1e-8, most_steps: int = 500) -> Agreement:
    """Estimate how telling each attribute is, from counts of agreement alone (expectation maximisation).

    One pair in `n_first` is a match. `u` comes from all pairs, nearly all of which are not matches; `m` is estimated,
    with agreement on the attributes taken as independent within matches and within other pairs.

    References
    ----------
    .. [1] Fellegi, I. P. & Sunter, A. B. (1969). A theory for record linkage. JASA 64(328), 1183-1210.
       doi:10.1080/01621459.1969.10501049
    .. [2] Jaro, M. A. (1989). Advances in record-linkage methodology as applied to matching the 1985 census of Tampa,
       Florida. JASA 84(406), 414-420. doi:10.1080/01621459.1989.10478785
    """
    n_attributes = len(counts).bit_length() - 1
    agree = (np.arange(len(counts))[:, None] >> np.arange(n_attributes) & 1).astype(np.float64)
    u = np.clip(counts @ agree / counts.sum(), 1e-12, 1.0)
    share = 1.0 / n_first
    by_chance = np.exp(agree @ np.log(u) + (1.0 - agree) @ np.log(np.maximum(1.0 - u, 1e-300)))
    m = np.maximum(np.full(n_attributes, 0.9), u)
    for _ in range(most_steps):
        if_match = np.exp(agree @ np.log(m) + (1.0 - agree) @ np.log(np.maximum(1.0 - m, 1e-300)))
        matches = counts * share * if_match / (share * if_match + (1.0 - share) * by_chance + 1e-300)
        better = np.clip(matches @ agree / max(float(matches.sum()), 1e-300), u, 1.0 - 1e-9)
        moved = float(np.abs(better - m).max(initial=0.0))
        m = better
        if moved < tolerance:
            break
    return Agreement(m, u)


def chance_of_match(first: IntArray, second: IntArray, rows: IntArray, weights: FloatArray) -> FloatArray:
    """For each record of the second table, the chance that one of its best-agreeing records of the first is its own.

    Parameters
    ----------
    first, second : ndarray of shape (n_records, n_attributes)
        Classes from :func:`agreement_classes`.
    rows : ndarray
        The row of `first` that each record of `second` came from.
    weights : ndarray of shape (n_attributes,)
        At least 0; attributes of weight 0 are not looked at.

    Examples
    --------
    >>> first = np.array([[0, 0], [0, 1], [1, 1]])
    >>> chance_of_match(first, first[[0, 1, 1]], np.arange(3), np.ones(2)).tolist()
    [1.0, 1.0, 0.0]
    """
    used = np.flatnonzero(weights > _SAME_WEIGHT)
    first, second, weights = first[:, used], second[:, used], weights[used]
    own = (first[rows] == second) @ weights
    best, ties = np.full(len(second), -1.0), np.zeros(len(second))
    # Whoever agrees on a set of the largest worth at least, agrees on just that set: with more it would be worth more.
    for agreeing, places, times in _shared_combinations(first, second):
        worth = float(weights @ (agreeing >> np.arange(len(used)) & 1))
        better, as_good = worth > best[places] + _SAME_WEIGHT, np.abs(worth - best[places]) <= _SAME_WEIGHT
        best[places[better]], ties[places[better]] = worth, times[better]
        ties[places[as_good]] += times[as_good]
    return np.where(own >= best - 2 * _SAME_WEIGHT, 1.0 / ties, 0.0)


def _shared_combinations(first: IntArray, second: IntArray) -> Iterator[tuple[int, IntArray, IntArray]]:
    """Walk through the sets of attributes on which some records of both tables agree.

    Yields the set as bits, the rows of `second` that agree with some record of `first` on all of it, and with how many.
    Records without any such partner have none on larger sets either, and are left behind.
    """
    a, b = np.ascontiguousarray(first.T), np.ascontiguousarray(second.T)
    sizes = np.maximum(a.max(axis=1, initial=0), b.max(axis=1, initial=0)) + 1
    all_a, all_b = np.arange(len(first)), np.arange(len(second))
    yield 0, all_b, np.full(len(second), len(first))
    waiting = [(0, 0, all_a, np.zeros_like(all_a), all_b, np.zeros_like(all_b))]
    done = 0
    while waiting:
        agreeing, start, rows_a, labels_a, rows_b, labels_b = waiting.pop()
        for j in range(start, len(a)):
            keys_a = labels_a * sizes[j] + a[j][rows_a]
            keys_b = labels_b * sizes[j] + b[j][rows_b]
            span = int(max(keys_a.max(initial=0), keys_b.max(initial=0))) + 1
            if span > _SPARSE * (len(keys_a) + len(keys_b)):
                found, dense = np.unique(np.concatenate([keys_a, keys_b]), return_inverse=True)
                keys_a, keys_b, span = dense[: len(keys_a)], dense[len(keys_a) :], len(found)
            count_a = np.bincount(keys_a, minlength=span)
            shared = (count_a > 0) & (np.bincount(keys_b, minlength=span) > 0)
            labels = np.cumsum(shared) - 1
            stay_a, stay_b = shared[keys_a], shared[keys_b]
            left_a, left_b = keys_a[stay_a], keys_b[stay_b]
            if not len(left_b):
                continue
            yield agreeing | 1 << j, rows_b[stay_b], count_a[left_b]
            waiting.append((agreeing | 1 << j, j + 1, rows_a[stay_a], labels[left_a], rows_b[stay_b], labels[left_b]))
        done += 1
        report("counting agreements", done / 2 ** len(a))


def _probabilistic_linkage(context: Context) -> MeasureResult:
    sides = [agreement_classes(one) for one in context.pairs]
    first, second = (np.column_stack([side[i] for side in sides]) for i in (0, 1))
    note = ""
    fit = max(int(np.log2(_MOST_WORK / (len(first) + len(second)))), 1)
    if len(sides) > fit:
        same = [agreement_counts(first[:, [j]], second[:, [j]])[1] for j in range(len(sides))]
        telling = np.sort(np.argsort(same, kind="stable")[:fit])
        first, second = first[:, telling], second[:, telling]
        note = f"by the {fit} of {len(sides)} quasi-identifiers on which fewest pairs agree"
    found = agreement_weights(agreement_counts(first, second), len(first))
    linked = chance_of_match(first, second, context.aligned_rows, found.weights)
    records = Values("released", linked) if context.per_record else None
    return MeasureResult(float(linked.mean()), note, baseline=1.0 / len(first), records=records)


PROBABILISTIC = (
    Definition(
        "probabilistic_linkage",
        "risk",
        "linkage",
        "lower",
        "share of released records whose best-agreeing original record is the one they came from; agreement (equal "
        f"category, or the same of {N_CLASSES} classes of equally many original numbers) weighs log m/u - log "
        "(1-m)/(1-u), with m by EM and u from all pairs; of t best records the right one is guessed with chance 1/t",
        _probabilistic_linkage,
        high=1.0,
        needs=(Need.ROWS,),
        explained=Words(
            "An intruder links records by how well their attributes agree, weighing each attribute by how much its "
            "agreement tells. The number says how often that is right.",
            "Numbers count as equal if they fall into the same tenth, so fine differences are not used. Attributes "
            "are taken as independent.",
            "Fellegi & Sunter (1969), doi:10.1080/01621459.1969.10501049",
            short="share linked rightly by agreement of values",
        ),
    ),
)
