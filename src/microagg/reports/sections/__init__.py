"""The facts of a report, in their order in the JSON, and the sections of its page.

A new section is one module here that ends in a ``Section``, its template, and one line in :data:`SECTIONS`. A section
without facts of its own shows those of others.
"""

from __future__ import annotations

from microagg.reports.section import Section
from microagg.reports.sections.about import ABOUT
from microagg.reports.sections.alike import ALIKE
from microagg.reports.sections.attributes import ATTRIBUTES
from microagg.reports.sections.budget import BUDGET
from microagg.reports.sections.cells import CELLS
from microagg.reports.sections.correlations import CORRELATIONS
from microagg.reports.sections.exposure import EXPOSURE
from microagg.reports.sections.guarantees import GUARANTEES, VERDICT
from microagg.reports.sections.light import LIGHT
from microagg.reports.sections.measures import MEASURES
from microagg.reports.sections.noise import NOISE
from microagg.reports.sections.procedure import PROCEDURE

__all__ = ["SECTIONS"]

SECTIONS = (
    ABOUT,
    VERDICT,
    LIGHT,
    EXPOSURE,
    MEASURES,
    ALIKE,
    CORRELATIONS,
    Section("summary", None, of_release_alone=True, title="Summary"),
    Section("risk", None, of_release_alone=True, title="Risk"),
    Section("utility", None, of_release_alone=True, title="Utility"),
    ATTRIBUTES,
    CELLS,
    GUARANTEES,
    BUDGET,
    NOISE,
    Section("decision", None, of_release_alone=True, title="Decision"),
    PROCEDURE,
    Section("words", None, of_release_alone=True, title="What the words mean"),
)
