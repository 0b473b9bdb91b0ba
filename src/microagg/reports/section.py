"""What a section of a report is."""

from __future__ import annotations

from collections.abc import Callable
from dataclasses import dataclass
from typing import Any

from microagg.reports.source import ReportSource

__all__ = ["Section"]


@dataclass(frozen=True)
class Section:
    """One part of a report: a key of its JSON, and a piece of its page.

    Attributes
    ----------
    name : str
        The key in the JSON. The template of a section with a title is called ``<name>.html``.
    make : callable or None
        From the source of the report to plain dicts, lists, numbers and text. None if the section shows no facts.
    of_release_alone : bool
        Whether the published files alone decide what `make` returns: a check then makes it again and compares it whole.
    title : str
        What the page's table of contents calls it; empty if the template of another section shows it.
    """

    name: str
    make: Callable[[ReportSource], Any] | None
    of_release_alone: bool
    title: str = ""
