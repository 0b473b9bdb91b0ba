"""What k does not hide: quoted from the statement in the public form, counted exactly in the internal one."""

from __future__ import annotations

from typing import Any

from microagg.report.section import Section
from microagg.report.source import ReportSource
from microagg.statements.exposure_text import describe_exposure

__all__ = ["EXPOSURE"]


def _exposure(source: ReportSource) -> dict[str, Any]:
    """Numbers and the sentences made of them; empty where nothing is k-anonymous, so that nothing is left unhidden."""
    entries = _entries(source)
    return {"entries": entries, "told": describe_exposure(entries)}


def _entries(source: ReportSource) -> list[dict[str, Any]]:
    if source.statement is not None and not source.internal:
        return [dict(one) for one in source.statement.get("exposure", ())]
    found = source.results.exposure
    if found is None:
        return []
    return found.exact() if source.internal else found.public()


EXPOSURE = Section("exposure", _exposure, of_release_alone=True)
