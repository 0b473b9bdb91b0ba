"""Distance to the closest record: whether released records are nearer to the original ones than to others like them."""

from __future__ import annotations

import numpy as np

from microagg._typing import FloatArray
from microagg.evaluation.context import Context
from microagg.evaluation.definition import Definition, MeasureResult, Need
from microagg.evaluation.nearest import PointTree
from microagg.evaluation.pairs import join_columns, pair
from microagg.evaluation.points import as_points, different_records, points_of
from microagg.evaluation.result import Values
from microagg.evaluation.utility.papers import HOLDOUT_TESTS
from microagg.space.points import Points
from microagg.tables.frames import Frame
from microagg.tables.words import Words

__all__ = ["NEAREST", "closer_to_first", "distances_to_closest"]


_SAME_DISTANCE = 1e-9


def distances_to_closest(points: FloatArray | Points, queries: FloatArray | Points) -> FloatArray:
    """Distance of each query to the nearest of the points; equal queries are searched for once.

    Both are rows of numbers, or of numbers and codes of the same attributes.

    Examples
    --------
    >>> distances_to_closest(np.array([[0.0], [4.0]]), np.array([[1.0], [3.5], [1.0]])).tolist()
    [1.0, 0.5, 1.0]
    """
    different, which = different_records(as_points(queries))
    squared, _ = PointTree.of(as_points(points)).nearest(different)
    return np.asarray(np.sqrt(squared)[which], dtype=np.float64)


def closer_to_first(to_first: FloatArray, to_second: FloatArray) -> FloatArray:
    """1 where the first distance is the smaller, 0 where it is the larger, 1/2 where they are the same.

    Examples
    --------
    >>> closer_to_first(np.array([1.0, 2.0, 3.0]), np.array([2.0, 2.0, 2.0])).tolist()
    [1.0, 0.5, 0.0]
    """
    same = np.abs(to_first - to_second) <= _SAME_DISTANCE * np.maximum(to_first, to_second)
    return np.where(same, 0.5, (to_first < to_second).astype(np.float64))


def _distance_to_closest(context: Context) -> MeasureResult:
    original, released = points_of(context.pairs)
    distances = distances_to_closest(original, released)
    details: dict[str, float | None] = {f"{share} %": float(np.percentile(distances, share)) for share in (1, 5, 25)}
    details["share at distance 0"] = float((distances == 0).mean())
    records = Values("released", distances) if context.per_record else None
    return MeasureResult(float(np.median(distances)), details=details, records=records)


def _closer_than_holdout(context: Context) -> MeasureResult:
    assert context.holdout is not None
    everyone, released = _with_holdout(context, context.holdout)
    n_original, n_holdout = context.before.n_records, context.holdout.n_records
    to_original = distances_to_closest(everyone.take(np.arange(n_original)), released)
    to_holdout = distances_to_closest(everyone.take(np.arange(n_original, len(everyone))), released)
    closer = closer_to_first(to_original, to_holdout)
    return MeasureResult(
        float(closer.mean()),
        baseline=n_original / (n_original + n_holdout),
        details={
            "median distance to original": float(np.median(to_original)),
            "to holdout": float(np.median(to_holdout)),
        },
        records=Values("released", closer) if context.per_record else None,
    )


def _with_holdout(context: Context, holdout: Frame) -> tuple[Points, Points]:
    """Original and holdout records, one below the other, and the released ones; scaled by the first two together."""
    import pyarrow as pa

    pairs = []
    for name in context.schema.quasi_identifiers:
        column = join_columns(context.before, holdout, name)
        attribute = context.schema[name]
        if attribute.categories is None and column.ordered_categories is not None:
            attribute = attribute.model_copy(update={"categories": tuple(column.ordered_categories)})
        pairs.append(pair(Frame.wrap(pa.table({name: column.values})), context.after, name, attribute))
    return points_of(pairs)


NEAREST = (
    Definition(
        "distance_to_closest",
        "risk",
        "closest",
        "higher",
        "median distance of released records to their nearest original record, numbers in standard deviations of the "
        "original, categories 0 or 1 (or semantic) apart; the details have lower percentiles",
        _distance_to_closest,
        explained=Words(
            "It says how far released records are from the nearest original record, in the middle of all. Copies of "
            "real records would be at 0.",
            "Means of cells are near real records without being copies, so a small number need not be a risk. A large "
            "one is no proof of safety, either: compare with a holdout.",
            HOLDOUT_TESTS,
            short="typical distance to the nearest original record, in standard deviations",
        ),
    ),
    Definition(
        "closer_than_holdout",
        "risk",
        "closest",
        "lower",
        "share of released records that are nearer to an original record than to any record of the holdout, ties half; "
        "a release that reveals nothing about the original records beyond their population reaches their share of "
        "both tables",
        _closer_than_holdout,
        high=1.0,
        needs=(Need.HOLDOUT,),
        explained=Words(
            "It says how often a released record is nearer to a record of the table than to people who had no part in "
            "it. If the release tells of its own people no more than of others, both are as near.",
            "It is fair only if the holdout was drawn as the original was. Read it against what chance reaches, not "
            "against 0.",
            HOLDOUT_TESTS,
            short="share nearer to the table than to outsiders",
        ),
    ),
)
