"""What the release is called, whose it is, what it is for, of which day, and whom to ask."""

from __future__ import annotations

from microagg.reports.section import Section
from microagg.reports.source import ReportSource

__all__ = ["ABOUT"]


def _about(source: ReportSource) -> dict[str, str]:
    """What the recipe says, and the date that the release got when it was made; never the day of the report."""
    said = source.recipe.about.model_dump(mode="json")
    date = None if source.manifest is None else source.manifest.get("date")
    facts = {**said, "date": said["date"] if date is None else str(date)}
    return {key: value for key, value in facts.items() if value is not None}


ABOUT = Section("about", _about, of_release_alone=True)
