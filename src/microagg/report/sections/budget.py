"""What a differentially private release spent, and on what."""

from __future__ import annotations

from typing import Any

from microagg.report.source import Material

__all__ = ["budget"]


def budget(material: Material) -> dict[str, Any] | None:
    """The ledger of the statement; None if nothing was spent."""
    told = None if material.statement is None else material.statement.get("budget")
    if told is None:
        return None
    return {
        "epsilon": told["epsilon"],
        "spent": told["spent"],
        "expenses": [
            {key: one.get(key) for key in ("mechanism", "on", "epsilon", "sensitivity", "scale", "draws")}
            for one in told["expenses"]
        ],
    }
