"""What measures are called on a page for people, and their numbers with words and units."""

from __future__ import annotations

import math
from collections.abc import Mapping, Sequence
from typing import Any

__all__ = [
    "TITLES",
    "Unit",
    "count_of",
    "deviations_of",
    "in_sentence",
    "in_words",
    "named",
    "percent",
    "small",
    "title_of",
    "unit_of",
]

Unit = str
"""How a measure's number is read: one of the keys of ``_SAID``."""

# Title and unit of every measure of microagg's own. What others registered is called by its name.
TITLES: Mapping[str, tuple[str, Unit]] = {
    "D_X": ("Distance of released records from their originals", "square"),
    "D_Y": ("Distance of confidential values from the middle of their cell", "square"),
    "D": ("Loss of both kinds together", "plain"),
    "SSE": ("Sum of squared errors", "plain"),
    "log2_SSE": ("Sum of squared errors, in doublings", "doublings"),
    "SSE_SST": ("Variation lost in the protected columns", "share"),
    "IL1s": ("Typical change of a number", "root two"),
    "relative_error": ("Typical change of a value, relative to itself", "share"),
    "semantic_distance": ("Typical change of a category", "plain"),
    "variation_means": ("Change of means", "share"),
    "variation_variances": ("Change of variances", "share"),
    "variation_covariances": ("Change of covariances", "share"),
    "variation_correlations": ("Change of correlations between protected columns", "correlation"),
    "IL": ("Five changes of numbers, averaged", "share"),
    "PIL": ("How surely statistics changed", "chance"),
    "JSD": ("Change of distributions", "of one"),
    "wasserstein": ("Way that values of a column moved", "deviations"),
    "KS": ("Most that a share of records below a value is off", "share"),
    "categories_lost": ("Categories that are gone", "share"),
    "correlation_difference": ("Change of correlations", "correlation"),
    "rank_correlation_difference": ("Change of rank correlations", "correlation"),
    "eigenvalue_difference": ("Change of the shape of the data", "plain"),
    "pMSE": ("How well a model tells released records from original ones", "plain"),
    "range_query_error": ("Error of a count in a range of one column", "share"),
    "count_query_error": ("Error of a count with three conditions", "share"),
    "accuracy": ("Right predictions after learning from the release", "share"),
    "accuracy_unprotected": ("Right predictions after learning from the original", "share"),
    "f_measure": ("Balanced success of prediction, learning from the release", "of one"),
    "f_measure_unprotected": ("Balanced success of prediction, learning from the original", "of one"),
    "r_squared": ("Variance predicted after learning from the release", "share"),
    "r_squared_unprotected": ("Variance predicted after learning from the original", "share"),
    "k": ("Fewest records that look alike", "alike"),
    "k_prime": ("Records that look alike, on average", "alike on average"),
    "k_prime_of_sets": ("Records that look alike to who knows some columns", "alike on average"),
    "singled_out": ("Records that look like no other", "records"),
    "unique_values": ("Records with a value of their own", "records"),
    "in_pairs": ("Records that look like one other", "records"),
    "marketer_risk": ("Records named rightly, if all are guessed", "records"),
    "records_at_risk": ("Records named rightly with a chance above 1 in 10", "records"),
    "special_uniques": ("Records that few columns single out", "records"),
    "individual_risk": ("Chance to be named in the population, on average", "chance"),
    "agreement": ("Records whose class agrees in something confidential", "records"),
    "l_avg": ("Different confidential values of a cell, on average", "values"),
    "distinct_l_min": ("Fewest different confidential values in a cell", "values"),
    "distinct_l_mean": ("Different confidential values of a cell, exactly, on average", "values"),
    "label_purity": ("Share of a cell's most frequent confidential value", "of its records"),
    "p_sensitivity": ("Fewest different confidential values, over all columns", "values"),
    "entropy_l": ("Diversity of the least diverse cell", "values"),
    "largest_share": ("Largest share of one confidential value in a cell", "of its records"),
    "smallest_range": ("Narrowest range of confidential numbers in a cell", "plain"),
    "recursive_c": ("Weight of the most frequent confidential value", "times"),
    "t_closeness": ("Farthest that a cell is from the whole table", "of one"),
    "delta_disclosure": ("Most that a value is more or less likely in a cell", "plain"),
    "beta_likeness": ("Most that a value gains in a cell", "share"),
    "enhanced_beta_likeness": ("Most that a value gains in a cell, with a stricter limit", "share"),
    "attribute_disclosure": ("Confidential values that can be predicted", "share"),
    "attribute_disclosure_gain": ("Confidential values better predicted for people in the table", "share"),
    "distance_linkage": ("Records linked to their originals by nearness", "records"),
    "distance_linkage_by_chance": ("Records linked to their originals by blind guessing", "records"),
    "distance_linkage_of_sets": ("Records linked by who knows some columns", "records"),
    "probabilistic_linkage": ("Records linked by agreement of columns", "records"),
    "interval_disclosure_value": ("Original numbers close to the released ones", "numbers"),
    "interval_disclosure_rank": ("Original numbers at nearly the same place in the order", "numbers"),
    "DR": ("Risk score: links and numbers", "of one"),
    "DR_of_sets": ("Risk score of who knows some columns", "of one"),
    "score": ("Loss and risk together", "plain"),
    "score_of_sets": ("Loss and risk together, of who knows some columns", "plain"),
    "distance_to_closest": ("Distance to the nearest original record, in the middle", "deviations"),
    "closer_than_holdout": ("Records nearer to the table than to other people", "records"),
}


def title_of(name: str) -> str:
    """What a measure is called on the page: by its own name, without underscores, if it was registered by others."""
    return TITLES[name][0] if name in TITLES else name.replace("_", " ")


def unit_of(name: str) -> Unit:
    return TITLES[name][1] if name in TITLES else "plain"


def percent(share: float) -> str:
    """A share in whole percent that never says nothing or all of what is little or nearly all.

    Examples
    --------
    >>> percent(0.0034), percent(0.0), percent(0.126), percent(0.998), percent(1.0), percent(-0.08)
    ('<1 %', '0 %', '13 %', '>99 %', '100 %', '-8 %')
    """
    if 0 < share < 0.01:
        return "<1 %"
    if 0.99 < share < 1:
        return ">99 %"
    return f"{round(100 * share):,} %"


def _one_in(value: float) -> str:
    return f"{value:,.0f} records: at most 1 in {value:,.0f} by guessing"


def in_sentence(share: float) -> str:
    """A share in whole percent, without signs.

    Examples
    --------
    >>> in_sentence(0.0034), in_sentence(0.126), in_sentence(0.998)
    ('less than 1 %', '13 %', 'more than 99 %')
    """
    return percent(share).replace("<", "less than ").replace(">", "more than ")


def small(value: float) -> str:
    """A number in two digits, without an exponent if it is little.

    Examples
    --------
    >>> small(0.0), small(0.0003), small(0.126), small(98765.4)
    ('0', '<0.001', '0.13', '98,765')
    """
    if 0 < value < 0.001:
        return "<0.001"
    return f"{value:.2g}" if abs(value) < 100 else f"{value:,.0f}" if abs(value) < 1e12 else f"{value:.3g}"


def deviations_of(value: float) -> str:
    """What IL1s says in standard deviations: its unit is that of a difference of two records, larger by a root of two.

    Examples
    --------
    >>> deviations_of(0.12)
    '0.17 standard deviations'
    """
    return f"{small(value * math.sqrt(2))} standard deviations"


_SAID: Mapping[Unit, Any] = {
    "plain": small,
    "share": percent,
    "records": lambda value: f"{percent(value)} of the records" if value else "no record",
    "numbers": lambda value: f"{percent(value)} of the numbers" if value else "no number",
    "of its records": lambda value: f"{percent(value)} of its records",
    "chance": lambda value: f"a chance of {percent(value)}",
    "alike": _one_in,
    "alike on average": lambda value: f"{value:,.3g} {'record' if f'{value:,.3g}' == '1' else 'records'}",
    "values": lambda value: f"{value:,.3g} {'value' if value == 1 else 'values'}",
    "deviations": lambda value: f"{small(value)} standard deviations",
    "root two": lambda value: f"{small(value)} × √2 = {deviations_of(value)}",
    "square": lambda value: f"{small(value)} squared standard deviations",
    "correlation": lambda value: f"{small(value)} (of at most 2)",
    "of one": lambda value: f"{small(value)} (of at most 1)",
    "doublings": lambda value: f"{value:.1f} doublings",
    "times": lambda value: f"{small(value)} times the rest",
}


def in_words(name: str, value: float | None, *, can_guess: bool = True) -> str:
    """The number of a measure with its unit.

    Without `can_guess` nothing is said of the chance of a guess: records that look alike may be of one unit, or rows
    may be no records.

    Examples
    --------
    >>> in_words("k", 10), in_words("SSE_SST", 0.004), in_words("singled_out", 0.0), in_words("IL1s", None)
    ('10 records: at most 1 in 10 by guessing', '<1 %', 'no record', '–')
    """
    if value is None:
        return "–"
    if name == "k" and not can_guess:
        return count_of(round(value), "record")
    if name == "k" and value <= 1:
        return "1 record: somebody is alone"
    return str(_SAID[unit_of(name)](value))


def count_of(number: int, one: str, many: str = "") -> str:
    """A number of things.

    Examples
    --------
    >>> count_of(1, "record"), count_of(48842, "record"), count_of(3, "class", "classes")
    ('1 record', '48,842 records', '3 classes')
    """
    return f"{number:,} {one if number == 1 else many or one + 's'}"


def named(names: Sequence[str], most: int = 4) -> str:
    """Names in a sentence, the first of many.

    Examples
    --------
    >>> named(["age"]), named(["a", "b", "c"]), named(["a", "b", "c", "d"], most=2)
    ('age', 'a, b and c', 'a, b and 2 more')
    """
    shown = [_short(name) for name in names[:most]]
    if len(names) > most:
        return f"{', '.join(shown)} and {len(names) - most} more"
    return shown[0] if len(shown) == 1 else f"{', '.join(shown[:-1])} and {shown[-1]}" if shown else ""


def _short(name: str, longest: int = 40) -> str:
    return name if len(name) <= longest else f"{name[: longest - 1]}…"
