"""microagg: publish a table about people or firms without exposing any of them.

A partition is a labelling of the records in which every label occurs at least k times; all that comes before it
makes the distance, all that comes after it sees only the cells::

    table -> schema -> space -> partition -> aggregate -> release -> evaluate
             roles     which     cells of     what a      table +    utility,
             kinds     distance  >= k         cell says   statement  risk

The names below are imported when first used, so that ``import microagg`` stays light.
"""

from __future__ import annotations

from importlib import import_module
from typing import TYPE_CHECKING, Any

from microagg._version import __version__

if TYPE_CHECKING:
    from microagg import datasets
    from microagg.engines.evaluation.evaluate_files import evaluate_files
    from microagg.engines.evaluation.report import report
    from microagg.engines.release_files import release_files
    from microagg.errors import GuaranteeError, InputError, MicroaggError
    from microagg.evaluation.compare import Comparison, compare
    from microagg.evaluation.evaluate import evaluate
    from microagg.evaluation.result import Evaluation
    from microagg.explanations.explain import explain
    from microagg.explanations.explanation import Explanation
    from microagg.explanations.lists import list_measures, list_methods
    from microagg.frontier.frontier import Frontier
    from microagg.frontier.sweep import sweep
    from microagg.frontier.tradeoff import Tradeoff, tradeoff
    from microagg.partition import (
        MDAV,
        VMDAV,
        IndividualRanking,
        InsensitiveMDAV,
        Mic1D,
        NearOptimal,
        OptimalUnivariate,
        Projection,
        refine,
    )
    from microagg.partition.rearrange.arrays import rearrange
    from microagg.recipe.drafts.draft import Draft, init
    from microagg.recipe.recipe import Recipe
    from microagg.releases.account.account import Account
    from microagg.releases.check.result import CheckResult, check
    from microagg.releases.folder.signing import make_keys
    from microagg.releases.input import read_table
    from microagg.releases.pipeline import release
    from microagg.releases.release import Release
    from microagg.risks.assess import risk
    from microagg.risks.assessment import RiskAssessment
    from microagg.schema.attribute import Attribute
    from microagg.schema.schema import Schema
    from microagg.schema.taxonomy import Taxonomy
    from microagg.studies.reproduction.writing import reproduce

__all__ = [
    "MDAV",
    "VMDAV",
    "Account",
    "Attribute",
    "CheckResult",
    "Comparison",
    "Draft",
    "Evaluation",
    "Explanation",
    "Frontier",
    "GuaranteeError",
    "IndividualRanking",
    "InputError",
    "InsensitiveMDAV",
    "Mic1D",
    "MicroaggError",
    "NearOptimal",
    "OptimalUnivariate",
    "Projection",
    "Recipe",
    "Release",
    "RiskAssessment",
    "Schema",
    "Taxonomy",
    "Tradeoff",
    "__version__",
    "check",
    "compare",
    "datasets",
    "evaluate",
    "evaluate_files",
    "explain",
    "init",
    "list_measures",
    "list_methods",
    "make_keys",
    "read_table",
    "rearrange",
    "refine",
    "release",
    "release_files",
    "report",
    "reproduce",
    "risk",
    "sweep",
    "tradeoff",
]

_HOME = {
    "list_methods": "microagg.explanations.lists",
    "list_measures": "microagg.explanations.lists",
    "make_keys": "microagg.releases.folder.signing",
    "MDAV": "microagg.partition.mdav",
    "VMDAV": "microagg.partition.vmdav",
    "IndividualRanking": "microagg.partition.ranking",
    "InsensitiveMDAV": "microagg.partition.insensitive",
    "Mic1D": "microagg.partition.mic1d",
    "NearOptimal": "microagg.partition.near_optimal",
    "OptimalUnivariate": "microagg.partition.univariate",
    "Projection": "microagg.partition.projection",
    "Account": "microagg.releases.account.account",
    "Attribute": "microagg.schema.attribute",
    "Comparison": "microagg.evaluation.compare",
    "compare": "microagg.evaluation.compare",
    "Evaluation": "microagg.evaluation.result",
    "evaluate": "microagg.evaluation.evaluate",
    "evaluate_files": "microagg.engines.evaluation.evaluate_files",
    "Explanation": "microagg.explanations.explanation",
    "explain": "microagg.explanations.explain",
    "Frontier": "microagg.frontier.frontier",
    "GuaranteeError": "microagg.errors",
    "InputError": "microagg.errors",
    "MicroaggError": "microagg.errors",
    "Recipe": "microagg.recipe.recipe",
    "Release": "microagg.releases.release",
    "RiskAssessment": "microagg.risks.assessment",
    "risk": "microagg.risks.assess",
    "Schema": "microagg.schema.schema",
    "Taxonomy": "microagg.schema.taxonomy",
    "read_table": "microagg.releases.input",
    "rearrange": "microagg.partition.rearrange.arrays",
    "refine": "microagg.partition.refine",
    "release": "microagg.releases.pipeline",
    "release_files": "microagg.engines.release_files",
    "reproduce": "microagg.studies.reproduction.writing",
    "sweep": "microagg.frontier.sweep",
    "CheckResult": "microagg.releases.check.result",
    "check": "microagg.releases.check.result",
    "Draft": "microagg.recipe.drafts.draft",
    "init": "microagg.recipe.drafts.draft",
    "Tradeoff": "microagg.frontier.tradeoff",
    "tradeoff": "microagg.frontier.tradeoff",
    "report": "microagg.engines.evaluation.report",
}

# Commands whose name in Python is another.
_OF_COMMANDS = {
    "methods": "list_methods",
    "measures": "list_measures",
    "keygen": "make_keys",
    "budget": "Account",
}


def __getattr__(name: str) -> Any:
    if name == "datasets":
        return import_module("microagg.datasets")
    if name not in _HOME:
        hint = f": the command {name!r} is microagg.{_OF_COMMANDS[name]} in Python" if name in _OF_COMMANDS else ""
        raise AttributeError(f"module 'microagg' has no attribute {name!r}{hint}")
    return getattr(import_module(_HOME[name]), name)


def __dir__() -> list[str]:
    return __all__
