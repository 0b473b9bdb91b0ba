"""Linkage by distance: how often a released record is nearest to the record it came from."""

from __future__ import annotations

from collections.abc import Sequence

import numpy as np

from microagg._progress import report
from microagg._typing import FloatArray, IntArray
from microagg.evaluation.context import Context
from microagg.evaluation.definition import Definition, MeasureResult, Need
from microagg.evaluation.nearest import PointTree
from microagg.evaluation.pairs import Pair
from microagg.evaluation.points import (
    as_points,
    attribute_points,
    different_records,
    join_points,
    points_of,
    row_distances,
)
from microagg.evaluation.result import Values
from microagg.evaluation.risk.attacker import all_or_sampled
from microagg.evaluation.utility.papers import COMPARISON, RECORD_LINKAGE
from microagg.space.points import Points
from microagg.tables.words import Words

__all__ = [
    "LINKAGE",
    "chance_of_link",
    "distance_linkage",
    "distance_linkage_of_sets",
    "known_sets",
    "linked_by_distance",
]


MOST_SETS = 1023

_SAME_DISTANCE = 1e-9  # relative, of squared distances: a centroid is as far from both of its two records


def chance_of_link(original: FloatArray | Points, released: FloatArray | Points, rows: IntArray) -> FloatArray:
    """For each released record, the chance that someone who picks one of its nearest originals picks the right one.

    Parameters
    ----------
    original, released : ndarray of shape (n_records, n_columns) or Points
        Numbers, or numbers and codes of the same attributes; not necessarily equally many records.
    rows : ndarray of shape (n_released,)
        The row of `original` that each released record came from.

    Returns
    -------
    ndarray of shape (n_released,)
        1 / (number of nearest originals) if the right one is among them, else 0. Equal released records name the same
        candidates, so over all records the sum is at most the number of different released records: with cells of at
        least k records and one combination per cell the mean is at most 1/k.

    Notes
    -----
    Records of equal released values are searched for once, and only as far as the nearest of their own originals: the
    search ends when any other is closer.

    Examples
    --------
    >>> chance_of_link(np.array([[0.0], [2.0], [9.0]]), np.array([[1.0], [1.0], [8.0]]), np.arange(3)).tolist()
    [0.5, 0.5, 1.0]
    """
    original, released = as_points(original), as_points(released)
    own = row_distances(original.take(rows), released)
    different, which = different_records(released)
    nearest_own = np.full(len(different), np.inf)
    np.minimum.at(nearest_own, which, own)
    as_close = nearest_own * (1.0 + _SAME_DISTANCE)
    ties = PointTree.of(original).ties_unless_closer(different, nearest_own * (1.0 - _SAME_DISTANCE), as_close)
    linked = (ties[which] > 0) & (own <= as_close[which])
    return np.where(linked, 1.0 / np.maximum(ties[which], 1), 0.0)


def linked_by_distance(pairs: Sequence[Pair], rows: IntArray) -> FloatArray:
    """For each released record, the chance that it is linked to the original record it came from.

    Both tables are z-scored, each by its own means and deviations; categories are at distance 0 or 1 (or semantic).

    References
    ----------
    .. [1] Pagliuca, D. & Seri, G. (1999). Some results of individual ranking method on the system of enterprise
       accounts annual survey. Esprit SDC Project, Deliverable MI-3/D2.
    """
    return chance_of_link(*points_of(pairs, own_scale=True), rows)


def distance_linkage(context: Context) -> MeasureResult:
    """Linkage by someone who knows all quasi-identifiers."""
    linked = context.cached("linked", lambda: linked_by_distance(context.pairs, context.aligned_rows))
    records = Values("released", linked) if context.per_record else None
    return MeasureResult(float(linked.mean()), baseline=1.0 / context.before.n_records, records=records)


def distance_linkage_of_sets(context: Context) -> MeasureResult:
    """Linkage by someone who knows some of them: the mean over sets."""

    def measured() -> tuple[float, float, int]:
        sets = known_sets(context) or all_or_sampled(len(context.pairs), MOST_SETS, context.rng("linkage of sets"))
        parts = [attribute_points(one, own_scale=True) for one in context.pairs]
        shares = np.empty(len(sets))
        for i, known in enumerate(sets):
            shares[i] = chance_of_link(*join_points([parts[j] for j in known]), context.aligned_rows).mean()
            report("linking by sets of attributes", (i + 1) / len(sets))
        return float(shares.mean()), float(shares.std()), len(sets)

    mean, spread, n_sets = context.cached("linkage of sets", measured)
    return MeasureResult(mean, f"over {n_sets} sets of attributes", spread, baseline=1.0 / context.before.n_records)


def known_sets(context: Context) -> tuple[tuple[int, ...], ...]:
    """The sets of attributes that the caller says an intruder may know, as places among the quasi-identifiers."""
    place = {one.name: i for i, one in enumerate(context.pairs)}
    return tuple(tuple(place[name] for name in names) for names in context.options.get("known") or ())


LINKAGE = (
    Definition(
        "distance_linkage",
        "risk",
        "linkage",
        "lower",
        "share of released records whose nearest original record, both tables z-scored, is the one they came from; "
        "among t equally near records the right one is guessed with chance 1/t",
        distance_linkage,
        high=1.0,
        needs=(Need.ROWS,),
        explained=Words(
            "An intruder has the original records and links each released one to the nearest. The number says how "
            "often that is right.",
            "The intruder here knows all quasi-identifiers exactly, which few do. Under k-anonymity it is at most "
            "1/k, however close the values are.",
            RECORD_LINKAGE,
            short="share of records linked to the right person",
        ),
    ),
    Definition(
        "distance_linkage_by_chance",
        "risk",
        "linkage",
        "lower",
        "what guessing would reach: 1 / number of original records",
        lambda context: MeasureResult(1.0 / context.before.n_records),
        high=1.0,
        explained=Words(
            "It is what blind guessing would reach: one in the number of original records. It stands here to compare "
            "linkages with.",
            "It is a yardstick, and says nothing about the release.",
            RECORD_LINKAGE,
            short="share linked rightly by blind guessing",
        ),
    ),
    Definition(
        "distance_linkage_of_sets",
        "risk",
        "linkage",
        "lower",
        "distance_linkage of an intruder who knows some of the quasi-identifiers: mean over the sets in `known`, or "
        f"over all non-empty sets, or over {MOST_SETS} drawn at random if there are more",
        distance_linkage_of_sets,
        high=1.0,
        needs=(Need.ROWS,),
        default=False,
        explained=Words(
            "It is distance_linkage for intruders who know some of the quasi-identifiers only, averaged over what "
            "they may know.",
            "It is a mean over intruders: the one who knows most does better. With many attributes a part of the sets "
            "is drawn by chance.",
            COMPARISON,
            short="share linked rightly by who knows a part",
        ),
    ),
)
