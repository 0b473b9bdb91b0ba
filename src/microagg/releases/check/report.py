"""Whether a public report quotes its release truly, as far as the release alone shows."""

from __future__ import annotations

import json
from collections.abc import Iterator, Mapping, Sequence
from dataclasses import replace
from typing import TYPE_CHECKING, Any

from microagg._version import __version__
from microagg.errors import InputError
from microagg.privacy.verify import Finding
from microagg.releases.check.published import PublishedFolder
from microagg.releases.folder.json_files import same
from microagg.releases.input import read_own
from microagg.releases.release import REPORT, REPORT_JSON
from microagg.tables.frames import Frame

if TYPE_CHECKING:
    import pyarrow as pa

    from microagg.reports.source import ReportRequest

__all__ = ["check_report"]

# The heading of a report; of its sections, each says whether the release alone decides it. The rest compares the
# release with the original, which a reader does not have.
_HEADING = ("format", "microagg", "form", "about_this_form", "records", "rows", "columns")

_OF_BLOCK = {"of", "attributes", "smallest", "median", "largest", "sizes"}
_OF_MEASURE = {
    *("name", "title", "better", "low", "formula", "words"),
    *("value", "text", "by_chance", "chance_text", "high"),
}


def check_report(release: PublishedFolder) -> list[Finding]:
    """The page is the one that its numbers make, and these are the release's where the release shows them."""
    if REPORT_JSON not in release.hashes and REPORT not in release.hashes:
        return []
    facts = release.report
    if not isinstance(facts, dict):
        return [Finding("report", False, f"{REPORT_JSON} is not there or damaged")]
    if not facts.get("microagg") == __version__ == release.manifest.get("microagg"):
        return [
            Finding(
                "report", True, f"not compared: written by microagg {facts.get('microagg')!r}, not by {__version__}"
            )
        ]
    if facts.get("form") != "public":
        return [Finding("report", False, "is not the public form")]
    return [_check_page(release, facts), _check_quotes(release, facts)]


def _check_page(release: PublishedFolder, facts: Mapping[str, Any]) -> Finding:
    from jinja2 import TemplateError

    from microagg.reports.document import Report

    try:
        page = Report(facts).as_html()
        written = (release.folder / REPORT).read_bytes().decode("utf-8")
    except (OSError, UnicodeDecodeError):
        return Finding("page of the report", False, f"{REPORT} is not there or no text")
    except (TemplateError, LookupError, TypeError, ValueError, AttributeError, ArithmeticError):
        return Finding("page of the report", False, f"cannot be made from {REPORT_JSON}")
    detail = (
        f"{REPORT} is made from {REPORT_JSON}"
        if page == written
        else f"{REPORT} shows something else than {REPORT_JSON}"
    )
    return Finding("page of the report", page == written, detail)


def _check_quotes(release: PublishedFolder, facts: Mapping[str, Any]) -> Finding:
    from microagg.releases.report_results import make_report
    from microagg.reports.sections import SECTIONS

    if release.statement is None:
        return Finding("report", False, "there is no statement that it could quote")
    try:
        table = read_own(release.folder / release.table_name, release.recipe)
        request = _request_for(release, table)
        again = json.loads(json.dumps(make_report(request).facts))
        if set(again) != set(facts):
            return Finding("report", False, "has other sections than a report")
        quoted = [*_HEADING, *(one.name for one in SECTIONS if one.make is not None and one.of_release_alone)]
        differing = {name for name in quoted if not same(again[name], facts[name])}
        differing |= set(_differing_sections(release, again, facts))
        differing |= {name for name, one in _made_of_facts(facts).items() if not same(one, facts[name])}
        if not release.is_private:
            original_unknown = replace(request, original=request.released)
            differing |= set(_faults_of_measures(original_unknown, facts["measures"]))
        unlike = _unlike(request, again["attributes"]["described"], facts["attributes"]["described"])
    except (LookupError, TypeError, ValueError, AttributeError, ArithmeticError, InputError):
        return Finding("report", False, "it, or what it should quote, is damaged")
    differing |= {f"attributes ({name})" for name in unlike}
    if differing:
        return Finding("report", False, f"does not say what the release does: {', '.join(sorted(differing))}")
    return Finding("report", True, "quotes the release truly; what compares it with the original is not checked")


def _made_of_facts(facts: Mapping[str, Any]) -> dict[str, Any]:
    """What a report says of its own facts."""
    from microagg.reports.glossary import explain_names
    from microagg.reports.sections.summary import summarize

    return {"summary": summarize(facts), "explained": explain_names(facts)}


def _request_for(release: PublishedFolder, table: pa.Table) -> ReportRequest:
    """What a report on a table with the release's statement and manifest is made from."""
    from microagg.reports.source import ReportRequest

    files = {name: one for name, one in release.hashes.items() if name not in (REPORT, REPORT_JSON)}
    frame = Frame.wrap(table)
    # What a private release shows of its original comes from the released table alone.
    original = frame if release.is_private else None
    quoted: dict[str, Any] = {"statement": release.statement, "manifest": release.manifest, "files": files}
    return ReportRequest(frame, release.recipe, original, **quoted)


def _differing_sections(release: PublishedFolder, again: Mapping[str, Any], facts: Mapping[str, Any]) -> Iterator[str]:
    """Sections about the release and the original: the parts of them that the release alone decides."""
    if set(facts["attributes"]) != set(again["attributes"]):
        yield "attributes"
    unknown = (set(b) ^ {*_OF_BLOCK, "n_cells" if b["of"] == "cell" else "n_classes"} for b in facts["cells"]["blocks"])
    if set(facts["cells"]) - {"blocks", "notes", "loss"} or any(unknown):
        yield "cells"
    for part in ("overview", "notes"):
        if not same(again["attributes"][part], facts["attributes"][part]):
            yield "attributes"
    cells, classes = ([b for b in facts["cells"]["blocks"] if b["of"] == of] for of in ("cell", "class"))
    again_classes = [block for block in again["cells"]["blocks"] if block["of"] == "class"]
    if len(cells) + len(classes) != len(facts["cells"]["blocks"]) or (classes and not same(classes, again_classes)):
        yield "cells"
    blocks = [[b["attributes"], b["n_cells"], b["smallest"], b["largest"]] for b in cells]
    stated = [[b[key] for key in ("attributes", "n_cells", "smallest_cell", "largest_cell")] for b in release.blocks]
    if not same(blocks, stated[: len(blocks)]):
        yield "cells"
    for block in cells:
        if block["sizes"] and sum(one["cells"] for one in block["sizes"]) != block["n_cells"]:
            yield "cells"
    if release.is_private:
        yield from (name for name in ("cells", "measures") if not same(again[name], facts[name]))


def _unlike(request: ReportRequest, again: Sequence[Mapping[str, Any]], facts: Sequence[Mapping[str, Any]]) -> set[str]:
    """Attributes that are described differently."""
    if [one["name"] for one in again] != [one["name"] for one in facts]:
        raise ValueError("other attributes")
    pairs = zip(again, facts, strict=True)
    return {mine["name"] for mine, theirs in pairs if not same(_described_alike(request, mine, theirs), theirs)}


def _described_alike(request: ReportRequest, mine: Mapping[str, Any], theirs: Mapping[str, Any]) -> Mapping[str, Any]:
    """The description with those categories named that the report names: which were frequent in the original, too."""
    from microagg.reports.distributions import public_categories

    if not mine["distribution"]["type"] == theirs["distribution"]["type"] == "categories":
        return mine
    named = {bar["label"] for bar in theirs["distribution"]["bars"]} - {None}
    name = mine["name"]
    column = request.described[0].column(name)
    shares = public_categories(column, None, request.schema[name], request.least, frequent=named)
    return {**mine, "distribution": json.loads(json.dumps(shares))}


def _faults_of_measures(request: ReportRequest, measures: Mapping[str, Any]) -> Iterator[str]:
    """Measures are known ones, in the usual form; those that the released table alone decides have their value."""
    from microagg.evaluation.measures import all_measures
    from microagg.releases.report_results import measure_release_alone
    from microagg.reports.sections.measures import describe_publicly, describe_value

    shown = [*measures["utility"], *measures["risk"]]
    known = {one.name for one in all_measures()}
    names = [one["name"] for one in shown]
    if set(measures) - {"utility", "risk", "notes", "changes"} or len(set(names)) < len(names) or set(names) - known:
        yield "measures"
    if any(set(one) != _OF_MEASURE or type(one["value"]) not in (int, float) for one in shown):
        yield "measures"
    said = [describe_value(one["name"], one["value"], one["by_chance"], request) for one in shown]
    if any(not same({**one, **words}, one) for one, words in zip(shown, said, strict=True)):
        yield "measures"
    alone = describe_publicly(measure_release_alone(request), request) if shown else {}
    for one in shown:
        if one["name"] in alone and not same(one, json.loads(json.dumps(alone[one["name"]]))):
            yield f"measures ({one['name']})"
