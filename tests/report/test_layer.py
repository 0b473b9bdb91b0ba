"""A report shows finished results: it runs no measure, and has no way to."""

from __future__ import annotations

import ast
from pathlib import Path

import microagg.reports
from microagg.reports.document import Report
from microagg.reports.sections import SECTIONS

FOLDER = Path(microagg.reports.__file__).parent


def imports_of(path):
    for node in ast.walk(ast.parse(path.read_text(encoding="utf-8"))):
        if isinstance(node, ast.Import):
            yield from (alias.name for alias in node.names)
        elif isinstance(node, ast.ImportFrom):
            yield node.module or ""


def test_of_evaluation_a_report_knows_the_results_only():
    found = {name for path in FOLDER.rglob("*.py") for name in imports_of(path)}
    assert {name for name in found if name.startswith("microagg.evaluation")} == {"microagg.evaluation.result"}
    above = ("microagg.releases", "microagg.partition", "microagg.frontier", "microagg.cli", "microagg.studies")
    assert not {name for name in found if name.startswith(above)}


def test_nothing_is_counted_or_measured_while_a_report_is_written():
    counting = ("recount(", "exposure_of(", "judge(", "evaluate(", "combinations(", "encode(", "corrcoef")
    for path in FOLDER.rglob("*.py"):
        text = path.read_text(encoding="utf-8")
        assert not [word for word in counting if word in text], path.name


def test_every_section_of_the_page_has_a_template_and_every_fact_a_section():
    templates = {path.stem for path in (FOLDER / "templates").glob("*.html")}
    titled = {section.name for section in SECTIONS if section.title}
    assert titled <= templates
    assert templates - titled == {"figures", "measured", "correlations", "report"}
    assert len({section.name for section in SECTIONS}) == len(SECTIONS)
    always = [one["name"] for one in Report({section.name: None for section in SECTIONS})._on_page()]
    assert always == ["summary", "risk", "utility", "decision", "words"]
