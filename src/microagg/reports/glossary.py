"""What the words of a report mean: every measure, promise and method that it names, from the one text about each."""

from __future__ import annotations

from collections.abc import Iterable, Mapping
from typing import Any

from microagg.explanations.explanation import Explanation
from microagg.explanations.of_catalogues import explained_guarantees, explained_measures, explained_methods
from microagg.reports.plain import title_of

__all__ = ["explain_names"]


def explain_names(facts: Mapping[str, Any]) -> list[dict[str, str]]:
    """Explanations of what the facts of a report name, measures first."""
    shown = [one["name"] for about in ("risk", "utility") for one in facts["measures"][about]]
    promised = [one["model"] for one in facts["promises"]["guarantees"]]
    method = facts["done"]["method"]
    return [
        *_chosen(explained_measures(), shown),
        *_chosen(explained_guarantees(), promised),
        *(one | {"title": method["title"]} for one in _chosen(explained_methods(), [method["name"]] if method else [])),
    ]


def _chosen(every: Iterable[Explanation], names: list[str]) -> list[dict[str, str]]:
    known = {one.name: one for one in every}
    return [_plain(known[name]) for name in dict.fromkeys(names) if name in known]


def _plain(one: Explanation) -> dict[str, str]:
    return {
        "name": one.name,
        "kind": str(one.kind),
        "title": title_of(one.name) if one.kind == "measure" else one.name,
        "words": one.words,
        "misleads": one.misleads,
        "formula": one.formula,
        "range": one.range if one.kind == "measure" else "",
        "reference": one.reference,
    }
