"""Words that not everybody knows, each with what it means: shown where a page uses it, by mouse and by keyboard."""

from __future__ import annotations

from typing import Any

from microagg.errors import MicroaggError
from microagg.explanations.explain import explain

__all__ = ["TERMS", "Terms", "meaning_of"]

TERMS: dict[str, tuple[str, str]] = {
    "role": (
        "Role",
        "What a column means for disclosure: whether it names somebody, whether outsiders may know it of a person, or "
        "whether it is what must not be tied to anyone.",
    ),
    "identifier": ("Identifier", "It names a person or firm by itself: a name, a number, an address. It is dropped."),
    "quasi_identifier": (
        "Quasi-identifier",
        "An outsider may know it of a person: age, place, job. Together such columns single people out. Their values "
        "are replaced by what a whole cell of records has in common.",
    ),
    "confidential": (
        "Confidential",
        "What must not be tied to anyone: an income, a diagnosis. It is published as it is, so it is safe only if "
        "nobody can tell whose it is.",
    ),
    "non_confidential": ("Not confidential", "Neither known to outsiders nor secret. It is published as it is."),
    "kind": (
        "Kind",
        "Numbers, categories that have an order, or categories without one. It decides which records count as alike.",
    ),
    "numeric": ("Numbers", "Amounts, counts, dates. Codes such as postcodes are no numbers, although they look so."),
    "ordinal": ("Ordered categories", "Categories with an order, such as levels of education."),
    "nominal": ("Categories", "Categories without an order, such as regions or postcodes."),
    "bounds": (
        "Bounds",
        "The smallest and largest value as everybody knows them, not as they are in this table. They are published, "
        "and a value outside is refused.",
    ),
    "weight": ("Weight", "How much a column counts when records are compared. What counts more is changed less."),
    "resolution": ("Resolution", "Published numbers are multiples of it: 1 for whole numbers, 100 for hundreds."),
    "taxonomy": (
        "Tree of categories",
        "Which categories belong together: nurse and teacher to care, care and office to work. Near relatives then "
        "count as alike.",
    ),
    "k": (
        "k",
        "How many records must share each published combination of quasi-identifiers. A larger k protects more and "
        "loses more. 5 to 10 is usual.",
    ),
    "cell": ("Cell", "A group of at least k similar records that publish the same values."),
    "class": ("Class", "Records that are alike in all quasi-identifiers, as a reader of the table sees them."),
    "unique": ("Unique", "No other record has the same combination. Whoever knows it has found the person."),
    "homogeneous": (
        "Homogeneous",
        "All records of a class have the same confidential value. k then hides whose record it is, but not the value.",
    ),
    "sample k": ("k of the table", "How many records share the rarest combination. 1 means that somebody is alone."),
    "frontier": (
        "Frontier",
        "Many ways to make a release, each a point: what it loses to the right, what can be found out upwards. The "
        "points on the line are beaten by no other.",
    ),
    "epsilon": (
        "Epsilon",
        "The budget of differential privacy: how much the release may depend on any one record. Smaller protects "
        "more. Above 10 little is promised.",
    ),
    "lambda": ("Lambda", "How much cells are guided by what they must keep of the confidential columns: 0 not at all."),
    "l": ("l", "At least so many different confidential values in every class."),
    "t": ("t", "How far the confidential values of a class may be from those of the whole table: from 0 to 1."),
    "recipe": ("Recipe", "Every choice of how a release is made, in one file. It is all that this page edits."),
    "statement": ("Statement", "What a release promises, to whom, what it assumes, and what it does not promise."),
    "recount": (
        "Recount",
        "What is promised is counted again on the file that was written. If it did not hold, there would be no file.",
    ),
    "receipt": (
        "Receipt",
        "For your own files: it shows which input the release was made from, and which record each row stands for. "
        "Whoever has it undoes the protection.",
    ),
    "seed": (
        "Seed",
        "A number that fixes chance, so that the same release can be made again. A release that is published needs "
        "real chance: leave it empty.",
    ),
    "strata": ("Strata", "Columns that no cell crosses, such as the region. Their values are published unchanged."),
    "standardize": ("Common scale", "How numbers of different units are made comparable before records are compared."),
    "unit": (
        "Unit",
        "Whose the records are: if a person has several, k counts people and not records once you say which column "
        "tells them apart.",
    ),
    "sample": ("Sample", "Records that were drawn at random, so that pictures come soon. A release is made of all."),
    "correlation": ("Correlation", "How two columns move together: 1 always, 0 not at all, -1 in opposite ways."),
    "differential privacy": (
        "Differential privacy",
        "What is published hardly depends on any one record, whatever an outsider knows. It costs noise.",
    ),
}


def meaning_of(name: str) -> tuple[str, str]:
    """A word as it is written and what it means; also of measures, methods and keys of the recipe."""
    if name in TERMS:
        return TERMS[name]
    try:
        one = explain(name)
    except MicroaggError:
        return name, ""
    misleads = f" Take care: {one.misleads[:1].lower()}{one.misleads[1:]}" if one.misleads else ""
    return one.name, f"{one.words or one.summary}{misleads}"


class Terms:
    """The words that one page explains: asked for by the page, told at its end."""

    def __init__(self) -> None:
        self.used: dict[str, tuple[str, str]] = {}

    def __call__(self, name: str) -> dict[str, Any]:
        """What the page needs to write a word with its explanation."""
        if name not in self.used:
            self.used[name] = meaning_of(name)
        title, words = self.used[name]
        return {"id": f"tip-{list(self.used).index(name)}", "title": title, "words": words}

    def told(self) -> list[dict[str, Any]]:
        """All that were asked for."""
        return [self(name) for name in list(self.used)]
