"""The report: one self-contained page, and the same numbers as JSON."""

from __future__ import annotations

import json
from collections.abc import Mapping
from dataclasses import dataclass
from functools import cache
from typing import TYPE_CHECKING, Any

from microagg._version import __version__
from microagg.reports.figures import bar_chart, bars_from, counted_classes, histogram, rows_of_bars, shade, sizes_of
from microagg.reports.glossary import explain_names
from microagg.reports.plain import named, percent
from microagg.reports.sections import SECTIONS
from microagg.reports.sections.summary import summarize
from microagg.reports.source import ReportSource

if TYPE_CHECKING:
    from jinja2 import Environment

__all__ = ["Report"]

FORMAT = 2

PUBLIC = (
    "This is the public form. It shows no value of a record and no risk of a single record. Nothing exact is shown "
    "about the original records: no smallest or largest value, no quantile, no distribution. Distributions of the "
    "released "
    "table are coarse: numbers of at most three digits, shares in whole percent, both ends open, nothing about fewer "
    "than {least} records. What the public statement and manifest of the release say is repeated as it is."
)
GONE = (
    " The statement says how many categories the original had, and names those that are gone if at least {least} "
    "original records had them."
)
PRIVATE = (
    " The release is differentially private: what is shown here about the original records was computed from the "
    "released "
    "table alone."
)
INTERNAL = (
    "INTERNAL: for the data holder only, not to be published. It shows exact figures of the original records, of "
    "single cells and of single records."
)


@dataclass(frozen=True)
class Report:
    """A report, as the numbers and words it shows.

    Attributes
    ----------
    facts : mapping
        Plain dicts, lists, numbers and text: what the JSON file holds, and all that the page is made from.
    """

    facts: Mapping[str, Any]

    @classmethod
    def of(cls, source: ReportSource) -> Report:
        """Put finished results into words and plain numbers; nothing is measured here."""
        form = INTERNAL if source.internal else PUBLIC.format(least=source.least)
        gone = any(one["what"] == "categories" for one in (source.statement or {}).get("exposure", ()))
        if gone and not source.internal:
            form += GONE.format(least=source.least)
        if source.is_private and not source.internal:
            form += PRIVATE
        heading = {
            "format": FORMAT,
            "microagg": __version__,
            "form": "internal" if source.internal else "public",
            "about_this_form": form,
            "records": source.n_records,
            "rows": source.recipe.rows,
            "columns": len(source.released.names),
        }
        made = {section.name: section.make(source) for section in SECTIONS if section.make is not None}
        facts = heading | made
        return cls(facts | {"summary": summarize(facts), "explained": explain_names(facts)})

    def as_json(self) -> str:
        return json.dumps(self.facts, indent=2, ensure_ascii=False, allow_nan=False) + "\n"

    def as_html(self) -> str:
        """The page: no script, nothing to load, every word of the data escaped."""
        return _environment().get_template("report.html").render({**self.facts, "sections": self._on_page()})

    def _on_page(self) -> list[dict[str, str]]:
        """Sections that the page has, in order: those with a title that show no facts, or have some."""
        return [
            {"name": section.name, "title": section.title}
            for section in SECTIONS
            if section.title and (section.make is None or self.facts[section.name])
        ]


@cache
def _environment() -> Environment:
    from jinja2 import Environment, PackageLoader, StrictUndefined

    found = Environment(
        loader=PackageLoader("microagg.reports"),
        autoescape=True,
        undefined=StrictUndefined,
        finalize=_printable,
        trim_blocks=True,
        lstrip_blocks=True,
    )
    found.globals |= {
        "histogram": histogram,
        "bar_chart": bar_chart,
        "counted_classes": counted_classes,
        "rows_of_bars": rows_of_bars,
        "bars_from": bars_from,
        "shade": shade,
        "sizes_of": sizes_of,
    }
    found.filters |= {
        "number": _number,
        "exact": _exact,
        "percent": percent,
        "few": named,
        "capitalize_first": _capitalized,
        "moved": _moved,
    }
    return found


def _moved(value: float | None) -> str:
    """How far something moved, from 0 to 1."""
    return "–" if value is None else "<0.01" if value < 0.005 else f"{value:.2f}"


def _capitalized(text: str) -> str:
    return text[:1].upper() + text[1:]


def _printable(value: Any) -> Any:
    """Control characters, and those that turn the direction of text, as escapes: a name must not disguise itself."""
    if not isinstance(value, str) or hasattr(value, "__html__") or value.isprintable():
        return value
    return "".join(char if char.isprintable() else repr(char)[1:-1] for char in value)


def _number(value: float | None) -> str:
    """As in an evaluation's text."""
    return "–" if value is None else f"{value:.4g}"


def _exact(value: Any) -> str:
    return "–" if value is None else f"{value:.6g}" if isinstance(value, float) else str(value)
