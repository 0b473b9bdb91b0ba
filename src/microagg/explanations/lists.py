"""What there is to choose from, as rows: methods and measures."""

from __future__ import annotations

from typing import Any

from microagg.errors import ParameterError, did_you_mean
from microagg.evaluation.measures import all_measures
from microagg.explanations.of_catalogues import explained_measures
from microagg.methods.catalogue import METHODS, PAPERS

__all__ = ["list_measures", "list_methods"]


def list_methods(paper: str | None = None) -> list[dict[str, Any]]:
    """The methods that a recipe can name, with their stages and what they promise; as ``microagg methods``.

    Parameters
    ----------
    paper : str, optional
        List the numbered methods of a paper instead: ``"cross_moment"``.
    """
    if paper is not None and paper not in PAPERS:
        raise ParameterError(f"paper must be one of {', '.join(PAPERS)}. Got {paper!r}.{did_you_mean(paper, PAPERS)}")
    return [
        {
            **({"number": method.number} if method.number else {}),
            "name": method.name,
            "title": method.title,
            "summary": method.summary,
            "stages": method.stages,
            "guarantee": method.guarantee,
            "reference": method.reference,
        }
        for method in (METHODS if paper is None else PAPERS[paper]).values()
    ]


def list_measures() -> list[dict[str, Any]]:
    """All measures: what each says, which way is better, its range and what it needs; as ``microagg measures``."""
    defined = {one.name: one for one in all_measures()}
    return [
        {
            "name": one.name,
            "about": defined[one.name].about,
            "group": defined[one.name].group,
            "better": defined[one.name].better,
            "range": one.range,
            "needs": [str(need) for need in defined[one.name].needs],
            "default": defined[one.name].default,
            "summary": one.summary,
        }
        for one in explained_measures()
    ]
