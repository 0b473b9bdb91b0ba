"""Queries: how far counts of records that meet some conditions are off."""

from __future__ import annotations

from collections.abc import Sequence

import numpy as np

from microagg._typing import BoolArray, FloatArray
from microagg.evaluation.definition import Definition, MeasureResult, Need
from microagg.evaluation.pairs import Pair
from microagg.evaluation.result import RowKind
from microagg.evaluation.utility.papers import RANGE_COUNTS
from microagg.schema.attribute import Kind
from microagg.tables.words import Words

__all__ = ["QUERIES", "Asked", "query_errors"]


_N_QUERIES = 1000
_LEAST = 0.001  # of the records: the sanity bound of relative errors


class Asked:
    """An attribute of which random conditions are asked.

    Parameters
    ----------
    one : Pair
        With a value that is not missing in its first table.
    """

    def __init__(self, one: Pair) -> None:
        self._nominal = one.joint.kind is Kind.NOMINAL
        self._n_categories = len(one.joint.labels)
        missing = one.joint.missing
        # A missing category has a code after all others, which is never asked for; a missing number is in no range.
        codes = np.where(missing, self._n_categories, one.joint.values)
        self._values = codes.astype(np.int64) if self._nominal else one.joint.values
        self._drawn_from = one.values[0][~one.missing[0]]

    def draw(self, rng: np.random.Generator) -> BoolArray:
        """Which records of both tables meet a random condition.

        It is a range between two original values drawn at random, or each category with probability 1/2, at least one.
        """
        if self._nominal:
            asked = np.zeros(self._n_categories + 1, dtype=np.bool_)
            asked[:-1] = rng.random(self._n_categories) < 0.5
            asked[rng.integers(self._n_categories)] = True
            return asked[self._values]
        one, other = self._drawn_from[rng.integers(len(self._drawn_from), size=2)]
        met: BoolArray = (self._values >= min(one, other)) & (self._values <= max(one, other))
        return met


def query_errors(pairs: Sequence[Pair], n_conditions: int, n_queries: int, rng: np.random.Generator) -> FloatArray:
    """Relative errors of random counting queries: |share' - share| / max(share, 1/1000, 1/n).

    Each query asks for the share of records that meet a random condition on each of `n_conditions` attributes, drawn
    without repetition (all of them if there are fewer).
    """
    n_first = pairs[0].n_first
    n_second = len(pairs[0].joint.values) - n_first
    attributes = [Asked(one) for one in pairs]
    chosen = rng.random((n_queries, len(pairs))).argsort(axis=1)[:, :n_conditions]
    errors = np.empty(n_queries)
    for i, places in enumerate(chosen):
        met = attributes[places[0]].draw(rng)
        for place in places[1:]:
            met &= attributes[place].draw(rng)
        before = np.count_nonzero(met[:n_first]) / n_first
        after = np.count_nonzero(met[n_first:]) / n_second
        errors[i] = abs(after - before) / max(before, _LEAST, 1.0 / n_first)
    return errors


def _error(pairs: Sequence[Pair], n_conditions: int, rng: np.random.Generator) -> MeasureResult:
    usable = [one for one in pairs if not one.missing[0].all()]
    if not usable:
        return MeasureResult(None, "every value is missing in the original")
    errors = query_errors(usable, n_conditions, _N_QUERIES, rng)
    return MeasureResult(
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
        holds_of=RowKind.RANKS,
        explained=Words(
            "It asks 1000 random questions of the kind 'which share lies between these two values', and says how far "
            "off the answers are. Errors are relative to the true share.",
            "Narrow ranges have large relative errors by nature. Your own questions may be wider, or of another kind.",
            RANGE_COUNTS,
            short="error of counts of one range",
        ),
    ),
    Definition(
        "count_query_error",
        "utility",
        "queries",
        "lower",
        f"mean over {_N_QUERIES} random queries of {_BOUND}; a query has conditions on three published attributes with "
        "a kind: a range, or about half of the categories",
        lambda context: _error(context.published, 3, context.rng("count queries")),
        holds_of=RowKind.MEANS,
        explained=Words(
            "It asks 1000 random questions about three attributes at once, and says how far off the answers are. It "
            "shows whether counts of small groups can be trusted.",
            "Random questions are not your questions: look at the details, where the median and the worst twentieth "
            "stand.",
            RANGE_COUNTS,
            short="error of counts by three attributes",
        ),
    ),
)
