"""What a differentially private release spent, and on what."""

from __future__ import annotations

from typing import Any

from microagg.reports.section import Section
from microagg.reports.source import ReportSource
from microagg.statements.total import SpentSoFar

__all__ = ["BUDGET"]


def _budget(source: ReportSource) -> dict[str, Any] | None:
    """The ledger of the statement; None if nothing was spent."""
    ledger = None if source.statement is None else source.statement.get("budget")
    if ledger is None:
        return None
    total = source.statement.get("total") if source.statement else None
    return {
        "epsilon": ledger["epsilon"],
        "spent": ledger["spent"],
        "expenses": [
            {key: one.get(key) for key in ("mechanism", "on", "epsilon", "sensitivity", "scale", "draws")}
            for one in ledger["expenses"]
        ],
        **({} if total is None else {"total": list(SpentSoFar.from_dict(total).sentences)}),
    }


BUDGET = Section("budget", _budget, of_release_alone=True, title="Budget")
