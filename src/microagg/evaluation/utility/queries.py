"""Queries: how far counts of records that meet some conditions are off."""

from __future__ import annotations

from collections.abc import Sequence

import numpy as np
import numpy.typing as npt

from microagg.evaluation.definition import Definition, Need, Worth
from microagg.evaluation.pairs import Pair
from microagg.schema.attribute import Kind

__all__ = ["QUERIES", "Condition", "query_errors", "random_condition"]

FloatArray = npt.NDArray[np.float64]
BoolArray = npt.NDArray[np.bool_]

_N_QUERIES = 1000
_LEAST = 0.001  # of the records: the sanity bound of relative errors

Condition = tuple[float, float] | BoolArray
"""A closed range of numbers or ranks, or for each category whether it is asked for."""


def random_condition(one: Pair, rng: np.random.Generator) -> Condition:
    """A range between two original values drawn at random, or each category with probability 1/2 (at least one)."""
    first, lacking = one.values[0], one.missing[0]
    present = first[~lacking]
    if one.joint.kind is Kind.NOMINAL:
        asked = rng.random(len(one.joint.labels)) < 0.5
        asked[rng.integers(len(asked))] = True
        return asked
    low, high = np.sort(present[rng.integers(len(present), size=2)])
    return float(low), float(high)


def _meets(values: FloatArray, condition: Condition) -> BoolArray:
    """Which records meet it; a missing value never does."""
    if isinstance(condition, tuple):
        return (values >= condition[0]) & (values <= condition[1])
    codes = np.where(np.isnan(values), len(condition), values).astype(np.int64)
    return np.append(condition, False)[codes]


def query_errors(pairs: Sequence[Pair], n_conditions: int, n_queries: int, rng: np.random.Generator) -> FloatArray:
    """Relative errors of random counting queries: |share' - share| / max(share, 1/1000, 1/n).

    Each query asks for the share of records that meet a random condition on each of `n_conditions` attributes, drawn
    without repetition (all of them if there are fewer).
    """
    n_first = pairs[0].n_first
    errors = np.empty(n_queries)
    for i in range(n_queries):
        drawn = rng.choice(len(pairs), size=min(n_conditions, len(pairs)), replace=False)
        shares = []
        conditions = [(pairs[at], random_condition(pairs[at], rng)) for at in drawn]
        for side in (0, 1):
            met = [_meets(one.values[side], condition) for one, condition in conditions]
            shares.append(float(np.logical_and.reduce(met).mean()))
        errors[i] = abs(shares[1] - shares[0]) / max(shares[0], _LEAST, 1.0 / n_first)
    return errors


def _error(pairs: Sequence[Pair], n_conditions: int, rng: np.random.Generator) -> Worth:
    usable = [one for one in pairs if not one.missing[0].all()]
    if not usable:
        return Worth(None, "every value is missing in the original")
    errors = query_errors(usable, n_conditions, _N_QUERIES, rng)
    return Worth(
        float(errors.mean()),
        spread=float(errors.std(ddof=1)),
        details={"median": float(np.median(errors)), "95 % of queries below": float(np.quantile(errors, 0.95))},
    )


_BOUND = "|share' - share| / max(share, 1/1000, 1/n), share of the records that meet the query"

QUERIES = (
    Definition(
        "range_query_error",
        "utility",
        "queries",
        "lower",
        f"mean over {_N_QUERIES} random queries of {_BOUND}; a query asks for a range, between two values drawn from "
        "the original, of one numeric or ordinal quasi-identifier",
        lambda context: _error(context.numbers, 1, context.rng("range queries")),
        needs=(Need.NUMBERS,),
    ),
    Definition(
        "count_query_error",
        "utility",
        "queries",
        "lower",
        f"mean over {_N_QUERIES} random queries of {_BOUND}; a query has conditions on three published attributes with "
        "a kind: a range, or about half of the categories",
        lambda context: _error(context.published, 3, context.rng("count queries")),
    ),
)
