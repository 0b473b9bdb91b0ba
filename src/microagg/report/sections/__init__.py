"""The facts of a report, in their order in the JSON, and the sections of its page.

A new section is one module here that ends in a ``Section``, its template, and one line in :data:`SECTIONS`. A section
without facts of its own shows those of others.
"""

from __future__ import annotations

from microagg.report.section import Section
from microagg.report.sections.about import ABOUT
from microagg.report.sections.alike import ALIKE
from microagg.report.sections.attributes import ATTRIBUTES
from microagg.report.sections.budget import BUDGET
from microagg.report.sections.cells import CELLS
from microagg.report.sections.correlations import CORRELATIONS
from microagg.report.sections.exposure import EXPOSURE
from microagg.report.sections.guarantees import GUARANTEES, VERDICT
from microagg.report.sections.light import LIGHT
from microagg.report.sections.measures import MEASURES
from microagg.report.sections.noise import NOISE
from microagg.report.sections.procedure import PROCEDURE

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
