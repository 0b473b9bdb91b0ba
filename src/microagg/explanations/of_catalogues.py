"""Explanations of measures, methods and guarantees, from their own definitions."""

from __future__ import annotations

from collections.abc import Iterator

from microagg.evaluation.definition import Definition, Need
from microagg.evaluation.measures import all_measures
from microagg.evaluation.result import RowKind
from microagg.explanations.docstrings import first_sentence, parameters_of
from microagg.explanations.explanation import Explained, Explanation
from microagg.methods.catalogue import METHODS, PAPERS
from microagg.methods.method import Method
from microagg.privacy.models import MODELS
from microagg.privacy.requirement import REQUIREMENTS, RequirementKind
from microagg.recipe.protect import ProtectChoice
from microagg.tables.words import Words

__all__ = ["explained_guarantees", "explained_measures", "explained_methods", "needs_of"]

_MEASURES_PAGE = "docs/measures.md"
_NEEDED = {
    Need.ROWS: "which released row came from which original record",
    Need.NUMBERS: "a numeric or ordinal quasi-identifier",
    Need.CATEGORIES: "a nominal quasi-identifier",
    Need.CONFIDENTIAL: "a confidential attribute with a kind",
    Need.CELLS: "confidential attributes with a kind, and records that share quasi-identifiers",
    Need.HOLDOUT: "a holdout: records of the same population that had no part in the release",
    Need.TARGET: "a target, with records to test on",
    Need.WEIGHTS: "sampling weights, named in the recipe",
}


def explained_measures() -> Iterator[Explanation]:
    """Every measure, also those that were registered."""
    for one in all_measures():
        words = one.explained.plain or f"It is the {one.formula_words}."
        yield Explanation(
            name=one.name,
            kind=Explained.MEASURE,
            summary=_listed(one.explained.short) or first_sentence(words),
            words=words,
            formula=one.formula_words,
            range=one.range_words,
            better=f"{one.better} is better",
            needs=needs_of(one),
            misleads=one.explained.misleads,
            reference=one.explained.reference,
            more=one.explained.more or f"{_MEASURES_PAGE}#{one.group}",
        )


def _listed(short: str) -> str:
    return f"{short[:1].upper()}{short[1:]}." if short else ""


def needs_of(one: Definition) -> tuple[str, ...]:
    """What a measure needs of the tables, in words; a release of ranks or means lacks records."""
    records = () if one.holds_of is not RowKind.RECORDS else ("rows that are records",)
    return (*(_NEEDED[need] for need in one.needs), *records)


def explained_methods() -> Iterator[Explanation]:
    """Every method of the catalogue, then the numbered ones of papers."""
    yield from map(_of_method, METHODS.values())
    for paper in PAPERS.values():
        yield from map(_of_method, paper.values())


def _of_method(one: Method) -> Explanation:
    words = one.explained.plain or one.summary
    budget = ("[privacy] epsilon",) if one.is_private else ()
    space = ("declared bounds and categories",) if one.is_private or one.data_free_space else ()
    return Explanation(
        name=one.name,
        kind=Explained.METHOD,
        summary=one.summary,
        words=words,
        formula=one.explained.formula,
        range=f"quasi-identifiers that are {' or '.join(one.kinds)}",
        needs=(*(("k",) if one.has_cells else ()), *budget, *space),
        promises=one.guarantee,
        misleads=one.explained.misleads,
        reference=one.reference,
        more=one.explained.more or "docs/recipe.md#methods-and-their-parameters",
    )


def explained_guarantees() -> Iterator[Explanation]:
    """Every privacy model, then the requirements on confidential values."""
    for name, model in MODELS.items():
        yield _of_guarantee(name, model.explained, range=model.range, better=model.better)
    yield from map(_of_requirement, REQUIREMENTS.values())


def _of_requirement(one: RequirementKind) -> Explanation:
    bound = parameters_of(ProtectChoice)[one.key].values
    better = f"a {'larger' if one.at_least else 'smaller'} {one.letter} protects more"
    return _of_guarantee(one.model, one.explained, range=f"{one.letter}: {bound}", better=better)


def _of_guarantee(name: str, words: Words, *, range: str, better: str) -> Explanation:
    return Explanation(
        name=name,
        kind=Explained.GUARANTEE,
        summary=first_sentence(words.plain),
        words=words.plain,
        formula=words.formula,
        range=range,
        better=better,
        misleads=words.misleads,
        reference=words.reference,
        more=words.more,
    )
