"""Whether the ledger of a private release states the noise that its method draws."""

from __future__ import annotations

import json
import math
from collections.abc import Mapping
from itertools import pairwise
from typing import Any

from microagg.methods.output import MethodOutput
from microagg.private.base import budget_for_statement, option_of
from microagg.private.public_values import MICROSECONDS
from microagg.releases.check.published import PublishedFolder
from microagg.releases.folder.json_files import same

__all__ = ["fault_of_expenses"]

_CLOSE = 1e-8  # sensitivities are rounded up to a step of 2^-30 of them; which one, the size of the first cell decides


def fault_of_expenses(release: PublishedFolder, budget: Mapping[str, Any], again: MethodOutput) -> str:
    """Where a ledger differs from what its method spends; empty if it does not.

    Parameters
    ----------
    release : PublishedFolder
        Of a private method.
    budget : dict
        As the statement gives it.
    again : MethodOutput
        The release followed on no records.
    """
    assert again.budget is not None
    due = json.loads(json.dumps(budget_for_statement(again.budget, release.recipe)))
    if not same(*([one["epsilon"], one["spent"], len(one["expenses"])] for one in (budget, due))):
        return "its ledger spends differently from its method"
    wider = _unit_unknown(release)
    for stated, expected in zip(budget["expenses"], due["expenses"], strict=True):
        for key in expected:
            if key in ("sensitivity", "scale") and expected[key] is not None:
                fits = type(stated[key]) is float and _is_close(stated, expected, key, wider)
            else:
                fits = same(stated[key], expected[key])
            if not fits:
                return f"its ledger states another {key} of noise than its method draws"
    return ""


def _unit_unknown(release: PublishedFolder) -> float:
    """How much larger sensitivities may be where no column shows whether attributes are numbers or lengths of time."""
    if not release.rows_are_statistics or option_of(release.recipe, "units") != "raw":
        return 1.0
    return float(MICROSECONDS) ** 3


def _is_close(stated: Mapping[str, Any], expected: Mapping[str, Any], key: str, wider: float) -> bool:
    if wider == 1.0:
        return math.isclose(stated[key], expected[key], rel_tol=_CLOSE)
    ratios = [stated[name] / expected[name] for name in ("sensitivity", "scale")]
    return all(1 - _CLOSE <= ratio <= wider for ratio in ratios) and all(
        math.isclose(*pair, rel_tol=_CLOSE) for pair in pairwise(ratios)
    )
