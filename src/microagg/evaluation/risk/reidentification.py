"""Re-identification: the chance that whoever knows the quasi-identifiers of records puts the right names to them."""

from __future__ import annotations

import numpy as np

from microagg._typing import FloatArray
from microagg.evaluation.context import Context
from microagg.evaluation.definition import Definition, MeasureResult, Need
from microagg.evaluation.disclosure.classes import Classes, classes_of
from microagg.evaluation.disclosure.individual_risk import individual_risk, people_can_be, unusable_weights
from microagg.evaluation.disclosure.special_uniques import affordable_size, find_special_uniques
from microagg.evaluation.result import Values
from microagg.tables.frames import Frame
from microagg.tables.words import Words

__all__ = ["REIDENTIFICATION"]

MSU_SIZE = 3
AT_RISK = 0.1
OTHER_THRESHOLDS = (0.05, 0.2, 0.33)


def _classes(context: Context, which: str) -> Classes:
    """The classes of the "original" or the "released" table, found once."""
    table = context.after if which == "released" else context.before
    return context.cached(f"classes, {which}", lambda: classes_of(table, context.schema.quasi_identifiers))


def _counted(context: Context, *notes: str) -> str:
    """Notes, and that records are counted where a recipe says that a unit may have several."""
    if context.options.get("unit") is None:
        return "; ".join(notes)
    return "; ".join((*notes, "records are counted, of which one unit may have several: microagg risk counts units"))


def _share_of_records(which_classes: Classes, chosen: np.ndarray) -> float:
    return float(which_classes.sizes[chosen].sum()) / len(which_classes.labels)


def _pairs(context: Context) -> MeasureResult:
    shares = {
        which: _share_of_records(found, found.sizes == 2)
        for which in ("released", "original")
        for found in [_classes(context, which)]
    }
    return MeasureResult(shares["released"], _counted(context), details={"original": shares["original"]})


def _marketer(context: Context) -> MeasureResult:
    after, before = _classes(context, "released"), _classes(context, "original")
    records = Values("released", 1.0 / after.sizes[after.labels]) if context.per_record else None
    return MeasureResult(
        len(after.sizes) / len(after.labels),
        _counted(context),
        details={"original": len(before.sizes) / len(before.labels)},
        records=records,
    )


def _at_risk(context: Context) -> MeasureResult:
    after, before = _classes(context, "released"), _classes(context, "original")
    details: dict[str, float | None] = {"original": _share_of_records(before, before.sizes * AT_RISK < 1.0)}
    for threshold in OTHER_THRESHOLDS:
        details[f"above {threshold:g}"] = _share_of_records(after, after.sizes * threshold < 1.0)
        details[f"above {threshold:g}, original"] = _share_of_records(before, before.sizes * threshold < 1.0)
    return MeasureResult(_share_of_records(after, after.sizes * AT_RISK < 1.0), _counted(context), details=details)


def _special_uniques(context: Context) -> MeasureResult:
    n_attributes = len(context.schema.quasi_identifiers)
    if n_attributes < 2:
        return MeasureResult(None, "needs two quasi-identifiers: a single one has no part that could single out")
    tables = {which: _classes(context, which) for which in ("original", "released")}
    most = max(len(classes.sizes) for classes in tables.values())
    size = min(MSU_SIZE, affordable_size(most, n_attributes))
    complete = size == min(MSU_SIZE, n_attributes - 1)
    note = _counted(context, *(() if complete else (f"sets of at most {size} were looked at: there are many",)))
    shares, records = {}, None
    for which, classes in tables.items():
        found = find_special_uniques(classes, size)
        shares[which] = float((found.smallest > 0).sum()) / len(classes.labels)
        if which == "released" and context.per_record:
            of_class = np.zeros(len(classes.sizes))
            of_class[found.classes] = found.scores
            records = Values("released", of_class[classes.labels])
    return MeasureResult(shares["released"], note, details={"original": shares["original"]}, records=records)


def _individual_risks(context: Context, which: str, table: Frame) -> FloatArray | None:
    """The risk of each record in the population; None if the table does not have the sampling weights."""
    name = context.options["sampling_weight"]
    if name not in table.names:
        return None
    weights = table.column(name).absolute()
    if unusable_weights(weights) or not people_can_be(weights):
        return None
    classes = _classes(context, which)
    return individual_risk(classes.sizes, classes.sums(weights))[classes.labels]


def _individual(context: Context) -> MeasureResult:
    after = _individual_risks(context, "released", context.after)
    if after is None:
        return MeasureResult(None, "the released table lacks sampling weights that are all above 0 and sum to people")
    before = _individual_risks(context, "original", context.before)
    details: dict[str, float | None] = {
        "largest": float(after.max()),
        f"above {AT_RISK:g}": float((after > AT_RISK).mean()),
    }
    if before is not None:
        details |= {
            "original": float(before.mean()),
            "original, largest": float(before.max()),
            f"above {AT_RISK:g}, original": float((before > AT_RISK).mean()),
        }
    records = Values("released", after) if context.per_record else None
    return MeasureResult(float(after.mean()), _counted(context), details=details, records=records)


REIDENTIFICATION = (
    Definition(
        "in_pairs",
        "risk",
        "reidentification",
        "lower",
        "share of released records whose combination of quasi-identifiers one other record has; of the original in "
        "the details",
        _pairs,
        high=1.0,
        default=False,
        explained=Words(
            "It says which share of released records has exactly one other record with the same "
            "quasi-identifiers. One of the two can find the other by leaving out itself.",
            "Where k is above 2 it is 0 and tells nothing more. It does not look at the confidential values of "
            "the two.",
            "Elamir & Skinner (2006), Record level measures of disclosure risk for survey microdata",
            short="share of records in pairs",
        ),
    ),
    Definition(
        "marketer_risk",
        "risk",
        "reidentification",
        "lower",
        "combinations of quasi-identifiers over released records: the share of records that is named rightly, where "
        "one of its class is guessed for each; of the original in the details",
        _marketer,
        high=1.0,
        default=False,
        explained=Words(
            "Someone guesses a name for every released record, among the people with its quasi-identifiers. The "
            "measure says which share of the names is right on average.",
            "It is a mean: single records may have a far higher risk. It takes for granted that everyone in the "
            "sample is known to be in it.",
            "Dankar & El Emam (2010), A method for evaluating marketer re-identification risk",
            short="share named rightly by guessing (marketer)",
        ),
    ),
    Definition(
        "records_at_risk",
        "risk",
        "reidentification",
        "lower",
        f"share of released records that a prosecutor names rightly with a chance above {AT_RISK:g}: those of classes "
        f"of fewer than {1 / AT_RISK:.0f}; of the original, and with other thresholds, in the details",
        _at_risk,
        high=1.0,
        default=False,
        explained=Words(
            "It says which share of released records can be named rightly with a chance above one in ten. These "
            "are records of classes of fewer than ten.",
            "One in ten is a habit and not a law. The attacker of this measure knows that the person is in the table.",
            "El Emam & Dankar (2008), Protecting privacy using k-anonymity",
            short="share with a chance above one in ten (prosecutor)",
        ),
    ),
    Definition(
        "special_uniques",
        "risk",
        "reidentification",
        "lower",
        f"share of released records that {MSU_SIZE} or fewer quasi-identifiers already single out (a minimal sample "
        "unique of fewer than all); of the original in the details",
        _special_uniques,
        high=1.0,
        default=False,
        explained=Words(
            "It says which share of released records few quasi-identifiers already single out. Such records are "
            "unusual in more than one way, and more often unique in the population than others.",
            "Only sets of up to three attributes are looked at. After k-anonymity it is 0; a record may still be "
            "found by what is published as it is.",
            "Elliot, Manning & Ford (2002), A computational algorithm for handling the special uniques problem",
            short="share that few quasi-identifiers single out",
        ),
    ),
    Definition(
        "individual_risk",
        "risk",
        "reidentification",
        "lower",
        "mean over released records of the expected 1/F, F the people in the population with their quasi-identifiers, "
        "estimated from sampling weights after Benedetti and Franconi; the largest, and those of the original, in the "
        "details",
        _individual,
        high=1.0,
        needs=(Need.WEIGHTS,),
        default=False,
        explained=Words(
            "It estimates how likely a released record is to be named rightly by someone who knows its "
            "quasi-identifiers and the whole population. Sampling weights say how many people stand behind a record.",
            "It is an estimate, and often far too low where many records are unique. It takes weights to be right "
            "within every class.",
            "Benedetti & Franconi (1998), Statistical and technological solutions for controlled data dissemination",
            short="average risk of a record in the population",
        ),
    ),
)
