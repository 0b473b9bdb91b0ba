"""An assessment of risk in sentences: every number with the words that say what it is."""

from __future__ import annotations

from collections.abc import Iterator, Mapping
from typing import TYPE_CHECKING

from microagg.tables.phrases import columns_phrase, names_phrase

if TYPE_CHECKING:
    from microagg.evaluation.disclosure.scenarios import Scenario
    from microagg.risks.assessment import RiskAssessment, SpecialUniqueCounts

__all__ = ["chance_phrase", "describe_risk", "percent", "records_phrase"]

_SHOWN = 8  # attributes


def percent(share: float) -> str:
    """A share in whole percent; what is neither nothing nor all never looks like it.

    Examples
    --------
    >>> percent(0.0), percent(0.001), percent(0.249), percent(0.9999), percent(1.0)
    ('0 %', '<1 %', '25 %', '>99 %', '100 %')
    """
    if share <= 0.0 or share >= 1.0:
        return "0 %" if share <= 0.0 else "100 %"
    if share < 0.01:
        return "<1 %"
    return ">99 %" if share > 0.99 else f"{100 * share:.0f} %"


def records_phrase(count: int, total: int) -> str:
    """How many of all records, with their share.

    Examples
    --------
    >>> records_phrase(12, 1080), records_phrase(0, 1080), records_phrase(1080, 1080)
    ('12 of 1,080 records (1 %)', 'none of 1,080 records', 'all 1,080 records')
    >>> records_phrase(2, 2), records_phrase(1, 1), records_phrase(0, 1)
    ('both records', 'the only record', 'none of 1 record')
    """
    if count == 0:
        return f"none of {total:,} {'record' if total == 1 else 'records'}"
    if count == total:
        return {1: "the only record", 2: "both records"}.get(total, f"all {total:,} records")
    return f"{count:,} of {total:,} records ({percent(count / total)})"


def chance_phrase(chance: float) -> str:
    """A chance in two digits; a small one as one in so many.

    Examples
    --------
    >>> chance_phrase(1.0), chance_phrase(0.634), chance_phrase(0.00051), chance_phrase(0.0)
    ('1', '0.63', '1 in 2,000', '0')
    """
    if chance <= 0.0 or chance >= 0.01:
        return f"{chance:.2g}"
    return f"1 in {float(f'{1 / chance:.2g}'):,.0f}"


def describe_risk(found: RiskAssessment) -> str:
    """The whole assessment, section by section."""
    sections = [
        (_title(found), ()),
        ("Who is alone", _alone(found)),
        ("What classes tell", _agreeing(found)),
        ("Who is special", _special(found)),
        ("In the population", _population(found)),
        ("Three intruders", _intruders(found)),
    ]
    blocks = []
    for title, sentences in sections:
        listed = [f"  {_capital(one)}" if one[:1] != " " else f"  {one}" for one in sentences]
        blocks.append("\n".join([title, *listed]))
    blocks.append(
        "These figures are for whoever holds the data, not for publication. What each means, and when it misleads: "
        "docs/risk.md"
    )
    return "\n\n".join(blocks)


def _capital(sentence: str) -> str:
    return sentence[:1].upper() + sentence[1:]


def _title(found: RiskAssessment) -> str:
    names = found.quasi_identifiers
    which = "quasi-identifier" if len(names) == 1 else f"{len(names)} quasi-identifiers"
    known = f"known by the {which} {names_phrase(names)}"
    n_records = found.n_records if found.unit is None else found.unit.records
    records = f"{n_records:,} {'record' if n_records == 1 else 'records'}"
    if found.unit is None:
        return f"Risk of the table as it is: {records}, {known}."
    return (
        f"Risk of the table as it is: {records} of units by {found.unit.key!r}, {known}. Records "
        f"of one unit that are alike in these count as one, which leaves {found.n_records:,}."
    )


def _alone(found: RiskAssessment) -> Iterator[str]:
    n, counts = found.n_records, found.combinations
    if not counts.unique:
        yield "no record is unique: whoever knows the quasi-identifiers of a person finds two records or more."
    else:
        alone = "is unique: whoever knows its" if counts.unique == 1 else "are unique: whoever knows their"
        finds = "it" if counts.unique == 1 else "them"
        yield f"{records_phrase(counts.unique, n)} {alone} quasi-identifiers finds {finds}."
    if counts.in_pairs:
        yield f"{records_phrase(counts.in_pairs, n)} are in pairs: each of the two finds the other."
    else:
        yield "no record is in a pair, in which each of the two would find the other."
    classes = f"are {counts.classes:,} different combinations" if counts.classes > 1 else "is one combination"
    shared = f"{counts.smallest:,} {'record' if counts.smallest == 1 else 'records'}"
    yield f"there {classes}. The rarest is that of {shared}: k of this table is {counts.smallest:,}."
    if found.k > 1:
        below = f"{records_phrase(counts.below_k, n)} {_are(counts.below_k)}" if counts.below_k else "no record is"
        yield f"{below} in a class of fewer than k = {found.k:,}, which the recipe asks for."
    if counts.unique and len(counts.unique_without) > 1:
        yield f"unique records that would be left: {_left(counts.unique_without)}."
    if found.records_with_missing:
        yield (
            f"{records_phrase(found.records_with_missing, n)} {'lacks' if found.records_with_missing == 1 else 'lack'} "
            "the value of a quasi-identifier. Missing is counted as a value of its own."
        )


def _left(unique_without: Mapping[str, int]) -> str:
    """What dropping one attribute would do, where it does most."""
    most = list(unique_without.items())[:_SHOWN]
    return ", ".join(f"{count:,} without {names_phrase([name])}" for name, count in most)


def _are(count: int) -> str:
    return "is" if count == 1 else "are"


def _agreeing(found: RiskAssessment) -> Iterator[str]:
    if not found.agreeing:
        yield "the recipe declares no confidential attribute that the table has."
    for one in found.agreeing[:_SHOWN]:
        yield (
            f"{columns_phrase([one.attribute])}: {records_phrase(one.records, found.n_records)} {_are(one.records)} in "
            f"classes that all have one value; {one.in_shared_classes:,} of them in classes of two or more, where k "
            "alone hides nothing."
        )
    if len(found.agreeing) > _SHOWN:
        yield f"and {len(found.agreeing) - _SHOWN} more attributes, which --json lists."


def _special(found: RiskAssessment) -> Iterator[str]:
    special = found.special_uniques
    if special is not None and found.unit is not None and found.unit.units < found.n_records:
        yield (
            f"the {found.n_records:,} that are left are of {found.unit.units:,} units. Those of one unit differ, and "
            "count as different units here and where one attribute is left out: these figures may be too low."
        )
    if special is None:
        yield "a single quasi-identifier has no parts that could single out records."
        return
    looked = "" if special.is_complete else f" (sets of at most {special.largest_size} were looked at)"
    size, n_names = special.largest_size, len(found.quasi_identifiers)
    fewer = f"one of the {n_names}" if size == 1 else f"{size} or fewer of the {n_names}"
    if not special.records:
        yield f"no record is unique on {fewer} quasi-identifiers alone{looked}."
    else:
        who = f"{records_phrase(special.records, found.n_records)} {_are(special.records)}"
        yield f"{who} already unique on {fewer} quasi-identifiers{looked}."
    for size, count in special.by_size.items():
        if count:
            knowing = "a single one" if size == 1 else f"{size} of them"
            yield f"{records_phrase(count, found.n_records)} {'needs' if count == 1 else 'need'} {knowing}, no fewer."
    if special.records:
        yield (
            f"SUDA scores: {special.largest_score:,.0f} at most, {special.mean_score:,.1f} on average over unique "
            "records."
        )
        yield f"what singles them out: {_contributions(special.contributions)} of all scores."
    yield from _match(special)


def _contributions(contributions: Mapping[str, float]) -> str:
    most = [(name, share) for name, share in contributions.items() if share > 0][:_SHOWN]
    return ", ".join(f"{names_phrase([name])} in {percent(share)}" for name, share in most)


def _match(special: SpecialUniqueCounts) -> Iterator[str]:
    match = special.match
    if match is None:
        return
    if match.standard_error is None:
        how = "estimated, with an error that is not known, as there are no pairs"
    elif match.is_counted:
        how = "counted in the population table"
    else:
        how = f"estimated, with a standard error of {match.standard_error:.1g}"
    yield (
        f"if somebody of the population matches a unique record, it is the right one with a chance of "
        f"{chance_phrase(match.chance)} ({how}; {_fraction(match.fraction)} of the population is in the table, "
        f"{match.fraction_from}). For the record with the largest SUDA score: {chance_phrase(match.largest)} "
        "(DIS-SUDA)."
    )


def _fraction(share: float) -> str:
    return percent(share) if share >= 0.01 else f"{100 * share:.2g} %"


def _population(found: RiskAssessment) -> Iterator[str]:
    n, counts, guessed = found.n_records, found.population, found.estimated
    if counts is None and guessed is None:
        yield "nothing is known of it: name a sampling_weight in the recipe, or give a --population table."
    if counts is not None:
        yield (
            f"counted in a population table of {counts.population:,} records: the rarest combination that both tables "
            f"have is that of {counts.k_map:,} there (k-map)."
            if counts.k_map
            else f"the population table of {counts.population:,} records shares no combination with the table. See "
            "that both write their values alike: 2 and '2.0', or 01 and 1, are different texts."
        )
        yield f"{records_phrase(counts.unique, n)} {_have(counts.unique)} a combination that one record has there."
        if found.k > 1:
            yield (
                f"{records_phrase(counts.below_k, n)} {_have(counts.below_k)} a combination that fewer than k = "
                f"{found.k:,} have there."
            )
        if counts.without:
            yield f"{records_phrase(counts.without, n)} {_have(counts.without)} a combination that nobody has there."
        if counts.incomplete:
            yield (
                f"Note: for {records_phrase(counts.incomplete, n)} it has fewer people than the table itself, so it is "
                "not the whole population of it. For those, the table's own number is taken."
            )
    if guessed is not None:
        yield (
            f"estimated from the weights {guessed.weight!r}, which sum to {guessed.population:,.0f} people: "
            f"{guessed.expected:,.1f} of {n:,} records are expected to be named rightly (give or take "
            f"{guessed.spread:,.1f}), {percent(guessed.average)} of all."
        )
        yield f"the record most at risk is named rightly with a chance of {chance_phrase(guessed.largest)}."
        for threshold, count in guessed.above.items():
            yield f"{records_phrase(count, n)} {_have(count)} an estimated risk above {threshold:g}."
        if guessed.is_understated and guessed.average_of_unique is not None:
            yield (
                "Note: this estimate is too low. For unique records it is "
                f"{chance_phrase(guessed.average_of_unique)} on average, but the numbers of unique records and pairs "
                "show that a match with one is right more often. Do not rely on it."
            )
        if guessed.records_underweighted:
            yield (
                f"Note: {records_phrase(guessed.records_underweighted, n)} {_are(guessed.records_underweighted)} in "
                "classes whose weights sum to fewer people than there are records. Each record stands for 1 there."
            )


def _have(count: int) -> str:
    return "has" if count == 1 else "have"


def _intruders(found: RiskAssessment) -> Iterator[str]:
    yield from _one_intruder(
        "a prosecutor, who knows that a person is in the table, picks the right record", found.prosecutor, found
    )
    if found.journalist is None:
        yield "a journalist, who does not know who is in it: not known without a population (see above)."
    else:
        how = "counted" if found.population is not None else "estimated"
        yield from _one_intruder(
            f"a journalist, who does not know who is in it, is right ({how})", found.journalist, found
        )
    shares = found.marketer
    told = f"{percent(shares['table'])} of all records with a list of the table's people"
    if "population" in shares:
        told += f", {percent(shares['population'])} with a list of the population"
    yield f"a marketer, who names every record as well as possible, names rightly {told}."


def _one_intruder(who: str, scenario: Scenario, found: RiskAssessment) -> Iterator[str]:
    largest, average = chance_phrase(scenario.largest), chance_phrase(scenario.average)
    yield f"{who} with a chance of up to {largest}, and {average} on average."
    for threshold, count in scenario.above.items():
        who_above = _capital(records_phrase(count, found.n_records))
        yield f"  {who_above} {_have(count)} a chance above {threshold:g}."
