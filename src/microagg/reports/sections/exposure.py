"""What k does not hide: quoted from the statement in the public form, counted exactly in the internal one."""

from __future__ import annotations

from typing import Any

from microagg.reports.section import Section
from microagg.reports.source import ReportSource
from microagg.statements.exposure_text import describe_exposure

__all__ = ["EXPOSURE", "quoted_or_counted"]


def _exposure(source: ReportSource) -> dict[str, Any]:
    """Numbers and the sentences made of them; empty where nothing is k-anonymous, so that nothing is left unhidden."""
    entries = _entries(source)
    return {"entries": entries, "told": describe_exposure(entries)}


def quoted_or_counted(source: ReportSource) -> list[dict[str, Any]]:
    """What may be published of this, also in the internal form."""
    if source.statement is not None:
        return [dict(one) for one in source.statement.get("exposure", ())]
    found = source.results.exposure
    return [] if found is None else found.public()


def _entries(source: ReportSource) -> list[dict[str, Any]]:
    found = source.results.exposure
    if not source.internal:
        return quoted_or_counted(source)
    return [] if found is None else found.exact()


EXPOSURE = Section("exposure", _exposure, of_release_alone=True)
