"""One number for disclosure risk, and one for risk and loss together, added up as the literature does."""

from __future__ import annotations

from collections.abc import Callable

from microagg.evaluation.context import Context
from microagg.evaluation.definition import Definition, MeasureResult, Need
from microagg.evaluation.risk.intervals import interval_disclosure_rank
from microagg.evaluation.risk.linkage import distance_linkage, distance_linkage_of_sets
from microagg.evaluation.utility.papers import COMPARISON
from microagg.evaluation.utility.variation import information_loss
from microagg.tables.words import Words

__all__ = ["SCORE"]

Compute = Callable[[Context], MeasureResult]


def _risk(linkage: Compute) -> Compute:
    def compute(context: Context) -> MeasureResult:
        linked, disclosed = linkage(context), interval_disclosure_rank(context)
        if linked.value is None or disclosed.value is None:
            return MeasureResult(None, linked.note or disclosed.note)
        assert linked.baseline is not None
        assert disclosed.baseline is not None
        return MeasureResult(
            (linked.value + disclosed.value) / 2,
            linked.note,
            baseline=(linked.baseline + disclosed.baseline) / 2,
            details={"DLD": linked.value, "ID": disclosed.value},
        )

    return compute


def _score(risk: Compute) -> Compute:
    def compute(context: Context) -> MeasureResult:
        at_risk, lost = risk(context), information_loss(context)
        if at_risk.value is None or lost.value is None:
            return MeasureResult(None, at_risk.note or lost.note)
        return MeasureResult(
            (lost.value + at_risk.value) / 2, at_risk.note, details={"IL": lost.value, "DR": at_risk.value}
        )

    return compute


def _define(
    name: str, formula: str, compute: Compute, high: float | None, *, default: bool, explained: Words
) -> Definition:
    needs = (Need.ROWS, Need.NUMBERS)
    return Definition(
        name, "risk", "scores", "lower", formula, compute, high=high, needs=needs, default=default, explained=explained
    )


SCORE = (
    _define(
        "DR",
        "(DLD + ID) / 2, with DLD the distance_linkage and ID the interval_disclosure_rank",
        _risk(distance_linkage),
        1.0,
        default=True,
        explained=Words(
            "It averages two risks: that records are linked, and that numbers are told nearly. It is the risk half of "
            "the score.",
            "The two parts are of very different sizes: under k-anonymity linkage is small and the intervals decide.",
            COMPARISON,
            short="average of linkage and interval risk",
        ),
    ),
    _define(
        "DR_of_sets",
        "(DLD + ID) / 2, with DLD the distance_linkage_of_sets and ID the interval_disclosure_rank",
        _risk(distance_linkage_of_sets),
        1.0,
        default=False,
        explained=Words(
            "It is DR with intruders who know some of the quasi-identifiers only, as in the literature.",
            "Two parts of very different sizes are averaged. With many attributes a part of the sets is drawn by "
            "chance.",
            COMPARISON,
            short="average of linkage and interval risk, knowing a part",
        ),
    ),
    _define(
        "score",
        "(IL + DR) / 2, as shares, not per cent",
        _score(_risk(distance_linkage)),
        None,
        default=True,
        explained=Words(
            "It is the mean of a loss (IL) and a risk (DR), to rank methods by one number. Lower is better for both "
            "sides.",
            "It trades a loss for a risk at a fixed rate that nobody chose. Papers define IL in other ways, so scores "
            "cannot be compared with theirs.",
            COMPARISON,
            short="mean of information loss and disclosure risk",
        ),
    ),
    _define(
        "score_of_sets",
        "(IL + DR_of_sets) / 2, as shares, not per cent",
        _score(_risk(distance_linkage_of_sets)),
        None,
        default=False,
        explained=Words(
            "It is the score with intruders who know some of the quasi-identifiers only, as in the literature.",
            "It trades a loss for a risk at a fixed rate that nobody chose. With many attributes a part of the sets "
            "is drawn by chance.",
            COMPARISON,
            short="mean of loss and risk, knowing a part",
        ),
    ),
)
