"""Ten lines for whoever decides: what is published, promised, lost, left, and what to watch.

They are made from the other facts of the report alone, so that a check can make them again.
"""

from __future__ import annotations

import math
from collections.abc import Mapping, Sequence
from typing import Any

from microagg.privacy.guarantee import DRAWN, EPSILON_DP, EPSILON_IDP, K_ANONYMITY
from microagg.privacy.promises.drawn import sources_words
from microagg.privacy.unit_clauses import WHOLE_UNIT
from microagg.reports.plain import count_of, deviations_of, in_sentence, named, percent, small
from microagg.reports.premises import conditions_of, premise_of
from microagg.tables.phrases import names_phrase

__all__ = ["summarize"]

Facts = Mapping[str, Any]

_NOT_COMPARED = (
    "Not measured here: a comparison with the original would weaken the promise. The internal report has it."
)


def summarize(facts: Facts) -> list[dict[str, str]]:
    """The lines of the summary, each with its name."""
    lines = {
        "Published": _published(facts),
        "Made by": _made(facts),
        "Promised": _promised(facts),
        "Checked": _checked(facts),
        "Not promised": _not_promised(facts),
        "Left: who it is": _left_of_identity(facts),
        "Left: what it says": _left_of_values(facts),
        "Cost: values": _cost_of_values(facts),
        "Cost: statistics": _cost_of_statistics(facts),
        "To watch": _to_watch(facts),
    }
    return [{"name": name, "text": text} for name, text in lines.items()]


def _columns(facts: Facts, *, released: bool = True) -> list[Facts]:
    return [one for one in facts["attributes"]["overview"] if one["released"] is released]


def _published(facts: Facts) -> str:
    by_treatment = {
        "protected": [one for one in _columns(facts) if not _is_untouched(one)],
        "published as they are": [one for one in _columns(facts) if _is_untouched(one)],
    }
    rows = count_of(facts["records"], "row" if facts["rows"] != "records" else "record")
    parts = [f"{len(some)} {how}" for how, some in by_treatment.items() if some]
    dropped = [one for one in _columns(facts, released=False) if one["role"] == "identifier"]
    left_out = f"; {count_of(len(dropped), 'identifying column')} dropped" if dropped else ""
    columns = count_of(facts["columns"], "column")
    what = _ROWS[facts["rows"]] if parts else "A row is a statistic of several records."
    return f"{rows} of {columns}{': ' + ', '.join(parts) if parts else ''}{left_out}. {what}".strip()


_ROWS = {
    "records": "",
    "drawn": "A row was drawn from a model and is no record.",
    "means": "A row is a repeated mean and no record.",
    "ranks": "A row is a rank: values in it do not belong together.",
}


def _is_untouched(one: Facts) -> bool:
    return one["treatment"] in ("published as it is", "not to be changed", "an identifier, and published")


def _made(facts: Facts) -> str:
    method = facts["done"]["method"]
    if method is None:
        return f"{facts['done']['by'].capitalize()}: how is not known here."
    treated = " ".join(one["treatment"] for one in _columns(facts)) or "with noise"
    how = next(words for word, words in _HOW.items() if word in treated)
    k = next((one["parameters"].get("k") for one in facts["promises"]["guarantees"]), None)
    return f"{how.format(several=f'at least {k}' if k else 'several')} Method: {method['title']}."


_HOW = {
    "replaced by its cell's": "Records that are alike were put together, {several} in a cell; each cell publishes one "
    "value for all.",
    "drawn from its cell's": "Records that are alike were put together, {several} in a cell; values were drawn from "
    "each cell's statistics.",
    "drawn from what many": "Records that are alike were put together, {several} in a cell; values were drawn from "
    "numbers and intervals that many records share, as often as each cell has them.",
    "drawn anew": "Rows were drawn anew from counts to which noise was added.",
    "with noise": "What is published was computed from the records, and noise was added.",
    "": "Values of different records were mixed.",
}
"""What was done, by the treatment of the columns."""


def _promised(facts: Facts) -> str:
    promises = facts["promises"]["guarantees"]
    if not promises:
        return f"Nothing. {facts['verdict']['text']}"
    first = promises[0]
    of_values = [one["title"] for one in promises if "confidential" in one]
    also = f" Also: {'; '.join(of_values[:2])}{f' and {len(of_values) - 2} more' if len(of_values) > 2 else ''}."
    return _promise(first, [one for one in promises if "confidential" not in one]) + (also if of_values else "")


def _promise(first: Facts, alike: Sequence[Facts]) -> str:
    model, parameters = first["model"], first["parameters"]
    if model == K_ANONYMITY:
        k = parameters["k"]
        n_columns = len(first["attributes"])
        known = f"the {n_columns} protected columns" if n_columns > 1 else "the protected column"
        known = known if len(alike) == 1 else f"one of the {len(alike)} groups of columns, and no more,"
        found = f"records of at least {k} units" if WHOLE_UNIT in first["unit"] else f"at least {k} records"
        guess = (
            "which of them it is does not show, but one with many of the records is the likelier guess."
            if WHOLE_UNIT in first["unit"]
            else f"a guess at whose is whose is right at most 1 in {k} times."
        )
        return f"Who looks for somebody by {known} finds {found} that look alike (k-anonymity, k = {k}): {guess}"
    if model == DRAWN:
        n_columns = len(first["attributes"])
        drawn = f"The {n_columns} protected columns of every row were" if n_columns > 1 else "The protected column was"
        whence = sources_words(parameters, units=WHOLE_UNIT in first["unit"])
        return f"{drawn} drawn from {whence}. This is not k-anonymity."
    if model in (EPSILON_DP, EPSILON_IDP):
        epsilon = float(parameters["epsilon"])
        factor = f"{math.exp(epsilon):,.3g}" if epsilon < 13 else "over a million"
        return (
            f"{premise_of(first)}, no outcome is more than {factor} times as likely ({model}, epsilon = {epsilon:g})."
            f"{conditions_of(first)}"
        )
    return str(first["title"])


def _checked(facts: Facts) -> str:
    promises = [one for one in facts["promises"]["guarantees"] if "confidential" not in one]
    if not promises:
        remark = str(next(iter(facts["promises"]["remarks"]), "nothing could be counted"))
        return f"{remark[:1].upper()}{remark[1:]}{'' if remark.endswith('.') else '.'}"
    if promises[0]["model"] != K_ANONYMITY:
        return str(promises[0]["checked"])
    if len(promises) > 1:
        return f"Counted again on the released table for each of {len(promises)} groups of columns."
    said = promises[0]["counted"]
    return (
        f"Counted on the released table: {count_of(said['combinations'], 'combination')}, the rarest shared by "
        f"{count_of(said['smallest'], 'record')}. Whoever has the table can count it again."
    )


def _not_promised(facts: Facts) -> str:
    clauses = [clause for one in facts["promises"]["guarantees"][:1] for clause in one["not_promised"]]
    if not clauses:
        return "Anything: there is no promise."
    more = f"; and {len(clauses) - 1} more under promises" if len(clauses) > 1 else ""
    return f"{clauses[0][:1].upper()}{clauses[0][1:]}{more}."


def _measured(facts: Facts, name: str) -> Facts | None:
    every = [*facts["measures"]["utility"], *facts["measures"]["risk"]]
    return next((one for one in every if one["name"] == name and one["value"] is not None), None)


def _left_of_identity(facts: Facts) -> str:
    fewest, mean = _measured(facts, "k"), _measured(facts, "k_prime")
    if fewest is None or mean is None:
        if facts["budget"] is not None:
            beside = [one for one in _columns(facts) if _is_untouched(one)]
            named_above = "; what is published beside the noise is named above" if beside else ""
            return f"No protected value is a record's own without noise{named_above}."
        return "Not measured: rows of this table cannot be compared with records."
    promised = [one for one in facts["promises"]["guarantees"] if one["model"] == K_ANONYMITY]
    if len(promised) > 1:
        alone = _measured(facts, "singled_out")
        share = (
            ""
            if alone is None
            else f" {alone['text'][:1].upper()}{alone['text'][1:]} look like no other in all of them."
        )
        return f"Groups of columns were protected one by one.{share}"
    if not promised and facts["done"]["method"] is not None:
        return "Not counted: where rows are drawn or mixed, that one looks like no other says nothing of who it is."
    alike = f"On average {mean['value']:,.3g} records look alike, at least {fewest['value']:,.0f}"
    if any(WHOLE_UNIT in one["unit"] for one in promised):
        return f"{alike}. Several may be of one unit: how many units look alike is known to the data holder alone."
    share = percent(1 / mean["value"])
    return f"{alike}: naming every record by guessing is right for about {share} of them."


def _left_of_values(facts: Facts) -> str:
    agreeing = [one for one in facts["exposure"]["entries"] if one["what"] == "agreement"]
    # Nothing is nothing where figures are exact; in public, a share that is told is of enough records.
    shares = [one for one in agreeing if one["share"] or (one["share"] == 0 and facts["form"] == "public")]
    if shares:
        worst = max(shares, key=lambda one: one["share"])
        share = in_sentence(worst["share"]) if worst["share"] else "less than 1 %"
        of_blocks = len([one for one in facts["promises"]["guarantees"] if one["model"] == K_ANONYMITY]) > 1
        who = "look alike in one of the groups of columns alone" if of_blocks else "look alike"
        told = f"Of {share} of the records, all that {who} agree in {_short(worst['attribute'])}: finding the group"
        further = len(shares) - 1
        others = "column is" if further == 1 else "columns are"
        more = f" {further} further confidential {others} listed under risk." if further else ""
        return f"{told} tells it.{more}"
    if agreeing:
        return "Groups that agree in something confidential hold very few records, or none."
    untouched = [one["name"] for one in _columns(facts) if _is_untouched(one)]
    if untouched:
        return f"{named(untouched)}: published as in the original."
    return "No column is published as it is."


def _short(name: str) -> str:
    return names_phrase((name if len(name) <= 40 else f"{name[:39]}…",))


def _cost_of_values(facts: Facts) -> str:
    lost, moved = _measured(facts, "SSE_SST"), _measured(facts, "IL1s")
    if lost is None:
        return _noise(facts) or _why_not(facts)
    typical = f" A number is off by {deviations_of(moved['value'])}, typically." if moved is not None else ""
    drawn = any(one["model"] == DRAWN for one in facts["promises"]["guarantees"])
    if drawn:  # draws keep the variation, but stand beside other records
        share = in_sentence(lost["value"])
        return f"Drawn values are off from those of their original records by {share} of the variation.{typical}"
    if lost["value"] > 1:
        return f"The protected columns lost all their variation, and more was added.{typical}"
    return f"The protected columns lost {in_sentence(lost['value'])} of their variation.{typical}"


def _cost_of_statistics(facts: Facts) -> str:
    shift, moved = _measured(facts, "KS"), _measured(facts, "correlation_difference")
    words = []
    if shift is not None:
        off = in_sentence(shift["value"])
        off = off if off.startswith("less") else f"at most {off}"
        words.append(f"The share of records below a value is off by {off}, on average")
    if moved is not None:
        words.append(f"a correlation moved by {_little(moved)}, on average")
    changed = _measured(facts, "JSD")
    if not words and changed is not None:
        words.append(f"Distributions moved by {_little(changed)} on a scale from 0 (not at all) to 1, on average")
    if not words:
        return _why_not(facts)
    return f"{'; '.join(words)[:1].upper()}{'; '.join(words)[1:]}."


def _little(measure: Facts) -> str:
    return small(measure["value"]).replace("<", "less than ")


def _noise(facts: Facts) -> str:
    noisy = [one for one in facts["noise"] if one["share"] is not None]
    if not noisy:
        return ""
    worst = max(noisy, key=lambda one: one["share"])
    return (
        f"One draw of noise is {in_sentence(worst['share'])} of {worst['of']}, on average, where it is largest "
        f"({_short(worst['on'])})."
    )


def _why_not(facts: Facts) -> str:
    if facts["form"] == "public" and facts["budget"] is not None:
        return _NOT_COMPARED
    return "Not measured: see the notes under utility."


def _to_watch(facts: Facts) -> str:
    assumed = [clause for one in facts["promises"]["guarantees"][:1] for clause in one["assumptions"]]
    if facts["budget"] is not None:
        return "Every further release of the same records adds its epsilon to this one: keep a ledger."
    other = "A second release of the same records may tell what this one hides"
    first = f"It is assumed that {assumed[0]}" if assumed else ""
    return f"{other}. {first[:1].upper()}{first[1:]}{'.' if first else ''}".strip()
