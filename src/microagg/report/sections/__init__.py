"""The sections of a report, in their order in the JSON and on the page.

A new section is one module here that ends in a ``Section``, its template, and one line in :data:`SECTIONS`.
"""

from __future__ import annotations

from microagg.report.section import Section
from microagg.report.sections.attributes import ATTRIBUTES
from microagg.report.sections.budget import BUDGET
from microagg.report.sections.cells import CELLS
from microagg.report.sections.correlations import CORRELATIONS
from microagg.report.sections.exposure import EXPOSURE
from microagg.report.sections.guarantees import GUARANTEES, VERDICT
from microagg.report.sections.measures import MEASURES
from microagg.report.sections.procedure import PROCEDURE

__all__ = ["SECTIONS"]

SECTIONS = (
    VERDICT,
    GUARANTEES,
    EXPOSURE,
    PROCEDURE,
    ATTRIBUTES,
    CORRELATIONS,
    CELLS,
    MEASURES,
    BUDGET,
    Section("decision", None, of_release_alone=True, title="Decision"),
)
