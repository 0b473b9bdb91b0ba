"""Protect Census and Water as the Mic1D paper does, and measure what its Tables 4 to 6 show."""

from __future__ import annotations

from functools import cache
from typing import Any

import numpy as np

from microagg._typing import FloatArray
from microagg.aggregate.centroid import Cells, cell_means
from microagg.evaluation.evaluate import evaluate
from microagg.partition.mdav import MDAV
from microagg.partition.mic1d import Mic1D
from microagg.partition.projection import Projection
from microagg.recipe.recipe import Recipe
from microagg.studies.mic1d.published import ATTRIBUTES, BLOCKS, KNOWN
from microagg.studies.reproduction.experiment import Point
from microagg.tables.reference import datasets

__all__ = ["original", "protect", "real_anonymity", "score", "standardized_sse"]

_NUMERIC = {"role": "quasi_identifier", "kind": "numeric"}


@cache
def original(data: str) -> FloatArray:
    """The nine attributes of Table 1 or 2; of Water the 380 records without a missing value."""
    table = datasets.load_census() if data == "census" else datasets.load_water().drop_null()
    return np.column_stack([table[name].to_numpy().astype(np.float64) for name in ATTRIBUTES[data]])


def protect(data: str, method: str, k: int, blocking: str, cut: str = "shortest_path") -> FloatArray:
    """The protected values: block by block, or all mixed (Mic1D).

    Mic1D and the centroids are of the values as they are. Distances are of columns scaled to [0, 1] (MDAV, the one
    scaling with which the printed k' of Water comes out) or z-scored (projections).
    """
    X = original(data)
    if method == "Mic1D":
        published: FloatArray = Mic1D(k=k).fit(X).published_
        return published
    protected = np.empty_like(X)
    for block in BLOCKS[blocking]:
        columns = [place - 1 for place in block]
        labels = _cells(X[:, columns], method, k, cut)
        for column in columns:
            protected[:, column] = cell_means(np.ascontiguousarray(X[:, column]), labels)[labels.labels]
    return protected


def _cells(X: FloatArray, method: str, k: int, cut: Any) -> Cells:
    if method == "MDAV":
        low = X.min(axis=0)
        return Cells(MDAV(k=k).fit((X - low) / (X.max(axis=0) - low)).labels_)
    axis: Any = {"PCP": "principal", "Zscores": "zscores"}[method]
    return Cells(Projection(k=k, axis=axis, cut=cut).fit((X - X.mean(axis=0)) / X.std(axis=0)).labels_)


def standardized_sse(before: FloatArray, after: FloatArray) -> float:
    """SSE of z-scored columns."""
    return float((((after - before) / before.std(axis=0)) ** 2).sum())


def anonymity_of(protected: FloatArray, known: tuple[int, ...]) -> float:
    """k' of an intruder who knows these attributes: records over different combinations of protected values."""
    columns = protected[:, [place - 1 for place in known]]
    return len(protected) / len(np.unique(columns, axis=0))


def real_anonymity(*, data: str, method: str, k: int, blocking: str, cut: str) -> list[Point]:
    """SSE and k' for one line of Table 4 or 5."""
    protected = protect(data, method, k, blocking, cut)
    groups = {
        group: float(np.mean([anonymity_of(protected, known) for known in sets]))
        for group, sets in KNOWN[blocking].items()
    }
    about = {"data": data, "method": method, "k": k, "blocking": blocking, "cut": cut}
    return [about | {"SSE": standardized_sse(original(data), protected)} | groups]


def score(*, method: str, k: int, blocking: str, cut: str) -> list[Point]:
    """IL in both forms, DLD over all 511 sets of attributes, ID by rank: one line of Table 6, in per cent."""
    import pyarrow as pa

    names = ATTRIBUTES["census"]
    before = pa.table(dict(zip(names, original("census").T, strict=True)))
    after = pa.table(dict(zip(names, protect("census", method, k, blocking, cut).T, strict=True)))
    recipe = Recipe(k=2, attributes=dict.fromkeys(names, _NUMERIC))
    measures = ["IL", "PIL", "distance_linkage_of_sets", "interval_disclosure_rank"]
    found = evaluate(before, after, recipe, measures=measures, aligned=True)
    shares = {name: 100 * float(found[name].value or 0.0) for name in measures}
    linked, disclosed = shares["distance_linkage_of_sets"], shares["interval_disclosure_rank"]
    about: Point = {
        "method": method,
        "k": k,
        "blocking": blocking,
        "cut": cut,
        "IL": shares["IL"],
        "PIL": shares["PIL"],
    }
    return [about | {"DLD": linked, "ID": disclosed, "score": 0.5 * shares["PIL"] + 0.25 * (linked + disclosed)}]
