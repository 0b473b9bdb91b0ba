"""What a private release says beside its table, made again from its recipe and public facts by the code that made it.

A private method may let nothing but public facts decide what it spends, on what, and with which noise. So a reader can
follow it on a table that holds no record at all.
"""

from __future__ import annotations

import json
import math
from collections.abc import Mapping
from itertools import pairwise
from typing import Any

from microagg.methods.catalogue import method_named
from microagg.methods.output import Protected
from microagg.privacy.budget import Budget
from microagg.privacy.mechanism import Silence
from microagg.private.base import bounds_read_from_data, option_of, told_budget
from microagg.private.public_column import blank_column
from microagg.private.public_values import MICROSECONDS
from microagg.releases.check.published import PublishedFolder, same
from microagg.releases.input import read_own

__all__ = ["fault_of_expenses", "made_again"]

_CLOSE = 1e-8  # sensitivities are rounded up to a step of 2^-30 of them; which one, the size of the first cell decides


def made_again(release: PublishedFolder) -> Protected:
    """Ledger, remarks and stages of a private release, as its method makes them of public facts.

    Raises
    ------
    ValueError
        If the manifest states cells that no records can have.
    """
    recipe = release.recipe
    private = method_named(recipe.method).private
    blocks = release.blocks
    if getattr(private, "uses_blocks", False):
        names = [name for block in blocks for name in block["attributes"]]
        if any(not 1 <= block["n_cells"] <= release.table.num_rows for block in blocks):
            raise ValueError("more cells than rows")
    else:
        protected = set(recipe.schema.quasi_identifiers)
        names = [name for name in release.table.column_names if name in protected]
    times = _times_of_day(release)
    from_data = bounds_read_from_data(recipe)
    n_records = release.table.num_rows
    columns = [
        blank_column(
            name, recipe.attributes[name], n_records, is_time=name in times, bounds_from_data=name in from_data
        )
        for name in names
    ]
    assert recipe.privacy is not None
    budget = Budget(recipe.privacy.epsilon, names)
    if getattr(private, "uses_blocks", False):
        followed: Protected = private.without_records(columns, recipe, budget, blocks)
    else:
        followed = private.protect(columns, recipe, Silence(), budget)
    return followed


def _times_of_day(release: PublishedFolder) -> set[str]:
    """Columns of times, whose noise is stated in microseconds."""
    import pyarrow as pa

    if release.rows_are_statistics:
        return set()
    table = read_own(release.folder / release.table_name, release.recipe)
    return {field.name for field in table.schema if pa.types.is_time(field.type)}


def fault_of_expenses(release: PublishedFolder, budget: Mapping[str, Any], again: Protected) -> str:
    """Where a ledger differs from what its method spends; empty if it does not.

    Parameters
    ----------
    release : PublishedFolder
        Of a private method.
    budget : dict
        As the statement gives it.
    again : Protected
        The release followed on no records.
    """
    assert again.budget is not None
    due = json.loads(json.dumps(told_budget(again.budget, release.recipe)))
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
