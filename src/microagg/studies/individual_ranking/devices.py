"""Devices of the individual-ranking paper that no release can use: its comparators, and equation 6 as it is printed.

What is drawn here is drawn for pictures of errors: noise per record, budgets that are not divided over the attributes,
and floating-point noise carry no guarantee.
"""

from __future__ import annotations

from collections.abc import Sequence
from dataclasses import dataclass
from typing import Any

import numpy as np

from microagg._typing import FloatArray, IntArray
from microagg.partition.insensitive import order_of_domain
from microagg.partition.runs import order_of, run_labels, run_sizes
from microagg.privacy.categorical import distance_counts, marginality_order, score_sensitivity
from microagg.private.public_column import FROM_DATA_FACTOR
from microagg.schema.taxonomy import Taxonomy
from microagg.studies.individual_ranking.errors import jensen_shannon, relative_error

__all__ = [
    "Categories",
    "Numbers",
    "errors_of",
    "insensitive_mdav",
    "plain_laplace",
    "printed_choice",
    "ranked",
]


@dataclass(frozen=True)
class Numbers:
    """A numeric attribute in the paper's domain, [0, 1.5 x maximum]."""

    values: FloatArray
    whole: bool = False

    @property
    def width(self) -> float:
        return FROM_DATA_FACTOR * float(self.values.max())

    def published(self, values: FloatArray) -> FloatArray:
        """Clipped to the domain; whole numbers where records have them."""
        clipped: FloatArray = np.clip(values, 0.0, self.width)
        return np.rint(clipped) if self.whole else clipped

    def errors(self, published: FloatArray) -> tuple[float, float]:
        """Relative error and divergence; of whole numbers each value is a bin."""
        bins = None if self.whole else 100
        return relative_error(self.values, published), jensen_shannon(self.values, published, bins)


@dataclass(frozen=True)
class Categories:
    """A nominal attribute with its taxonomy: places of records in the public order, distances to all nodes."""

    places: IntArray
    distances: FloatArray
    codes: IntArray
    nodes: int

    @classmethod
    def of(cls, labels: Sequence[str], tree: Taxonomy) -> Categories:
        nodes = list(tree.nodes)
        between = tree.distances(nodes)
        domain = np.array([nodes.index(leaf) for leaf in tree.leaves])
        order = domain[marginality_order(between[np.ix_(domain, domain)])]
        place = {nodes[code]: place for place, code in enumerate(order)}
        return cls(np.array([place[label] for label in labels]), between[order], order, len(nodes))

    def scores(self, labels: IntArray, n_cells: int) -> FloatArray:
        """Minus the marginality of each node in each cell (equation 4 over the cell's records)."""
        counts = np.zeros((n_cells, len(self.distances)))
        np.add.at(counts, (labels, self.places), 1.0)
        found: FloatArray = -(counts @ self.distances)
        return found

    def sensitivity(self, n_runs: int) -> float:
        """That of the scores of all runs, as it is proved for releases; the paper prints none."""
        counts = distance_counts(self.distances)
        return float(score_sensitivity(counts, n_runs)) * 2.0**-20

    def errors(self, published: IntArray) -> tuple[float, float]:
        """Semantic distance and divergence of frequencies."""
        apart = self.distances[self.places, published]
        return float(apart.mean()), jensen_shannon(self.codes[self.places], published, None)


Attribute = Numbers | Categories
Published = list[Any]


def printed_choice(scores: FloatArray, sensitivity: float, epsilon: float, rng: np.random.Generator) -> IntArray:
    """Equation 6 as printed: for each row a candidate, with weights exp(epsilon q / (2 sensitivity)).

    Releases choose by permute-and-flip, which costs as much and is never further from the best.

    Examples
    --------
    >>> printed_choice(np.array([[0.0, -50.0]]), 1.0, 10.0, np.random.default_rng(0)).tolist()
    [0]
    """
    # The largest of independent Gumbel variables added to log-weights falls on each with its probability.
    noisy = epsilon * scores / (2.0 * sensitivity) + rng.gumbel(size=scores.shape)
    chosen: IntArray = np.argmax(noisy, axis=1)
    return chosen


def ranked(attributes: Sequence[Attribute], k: int, epsilon: float | None, rng: np.random.Generator) -> Published:
    """Individual ranking as the paper prints it, each attribute with epsilon / m; None leaves the noise out."""
    share = None if epsilon is None else epsilon / len(attributes)
    found: Published = []
    for one in attributes:
        order = order_of(one.values if isinstance(one, Numbers) else one.places.astype(np.float64))
        sizes = run_sizes(len(order), k, "middle")
        labels = run_labels(order, sizes)
        if isinstance(one, Numbers):
            means = np.bincount(labels, one.values) / sizes
            noise = 0.0 if share is None else rng.laplace(scale=one.width / (k * share), size=len(sizes))
            found.append(one.published((means + noise)[labels]))
        else:
            found.append(_centres(one, labels, len(sizes), share, 1.0, rng)[labels])
    return found


def insensitive_mdav(
    attributes: Sequence[Attribute], k: int, epsilon: float | None, rng: np.random.Generator
) -> Published:
    """The paper's comparator MV: cells of whole records along a public order, all of epsilon for every attribute, and
    noise for every record. None leaves the noise out.

    Not differentially private: each centroid goes out k times with independent noise. Divided over the attributes and
    drawn per cell, as proved, it is the method ``dp_insensitive_mdav``.
    """
    scaled = np.column_stack(
        [
            one.values / one.width if isinstance(one, Numbers) else one.distances[one.places, one.codes[0]]
            for one in attributes
        ]
    )
    sizes = run_sizes(len(scaled), k, "middle")
    labels = run_labels(order_of_domain(scaled), sizes)
    n_records = len(scaled)
    found: Published = []
    for one in attributes:
        if isinstance(one, Numbers):
            means = (np.bincount(labels, one.values) / sizes)[labels]
            noise = (
                0.0 if epsilon is None else rng.laplace(scale=n_records / k * one.width / (k * epsilon), size=n_records)
            )
            found.append(one.published(means + noise))
        elif epsilon is None:
            found.append(_centres(one, labels, len(sizes), None, 1.0, rng)[labels])
        else:
            scores = one.scores(labels, len(sizes))[labels]
            found.append(printed_choice(scores, n_records / k * _widest(one), epsilon, rng))
    return found


def plain_laplace(attributes: Sequence[Attribute], epsilon: float, rng: np.random.Generator) -> Published:
    """Noise on every value, with epsilon / m for each attribute; categories by equation 6 for every record."""
    share = epsilon / len(attributes)
    found: Published = []
    for one in attributes:
        if isinstance(one, Numbers):
            noise = rng.laplace(scale=one.width / share, size=len(one.values))
            found.append(one.published(one.values + noise))
        else:
            found.append(printed_choice(-one.distances[one.places], _widest(one), share, rng))
    return found


def _widest(one: Categories) -> float:
    """How far one record moves any score: the largest difference of two categories' distances to a node."""
    return float(max(np.abs(one.distances - row).max() for row in one.distances))


def _centres(
    one: Categories, labels: IntArray, n_cells: int, epsilon: float | None, factor: float, rng: np.random.Generator
) -> IntArray:
    scores = one.scores(labels, n_cells)
    if epsilon is None:
        best: IntArray = np.argmax(scores, axis=1)
        return best
    return printed_choice(scores, factor * one.sensitivity(n_cells), epsilon, rng)


def errors_of(attributes: Sequence[Attribute], published: Published) -> tuple[float, float]:
    """Relative error (for categories the semantic distance) and divergence, means over attributes."""
    found = [one.errors(values) for one, values in zip(attributes, published, strict=True)]
    return float(np.mean([error for error, _ in found])), float(np.mean([divergence for _, divergence in found]))
