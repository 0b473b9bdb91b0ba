"""What is required of confidential values, in reports: promised and found for all, class by class for the holder."""

from __future__ import annotations

import json

import numpy as np
import pyarrow as pa
import pytest

import microagg
from declarations import numeric
from microagg import Recipe
from microagg.privacy.requirement import REQUIREMENTS, Requirement
from microagg.releases.check.check import check_release
from microagg.releases.report_results import make_report
from microagg.reports.document import Report
from microagg.reports.results import ClassesFound
from microagg.reports.sections.classes import QUANTITIES, describe_classes
from microagg.reports.sections.guarantees import _plain
from microagg.reports.source import ReportRequest
from microagg.tables.frames import Frame

ASKED = {
    "pay": {"t_closeness": 0.3, "min_range": 5.0, "entropy_l": 2.5},
    "illness": {"distinct_l": 2, "p_sensitive": 2, "recursive_c_l": [4.0, 2], "max_share": 0.8},
}
ROLES = {
    "age": numeric(),
    "size": numeric(),
    "pay": {"role": "confidential", "kind": "numeric"},
    "illness": {"role": "confidential", "kind": "nominal"},
}


def check_page(report):
    """The page is made from the numbers alone, and its pictures can be heard."""
    html = report.as_html()
    assert Report(json.loads(report.as_json())).as_html() == html
    assert html.count("<svg") == html.count('role="img" aria-label=')
    return html


def report_on_other(table, released, recipe, internal=False):
    """A report on a table that another tool made."""
    return make_report(ReportRequest(Frame.wrap(released), recipe, Frame.wrap(table), internal=internal))


def people(n_records=120):
    rng = np.random.default_rng(2)
    x = rng.normal(size=(2, n_records))
    illness = rng.choice(["flu", "ulcer", "gout"], n_records)
    return pa.table({"age": x[0], "size": x[1], "pay": rng.permutation(n_records), "illness": illness})


def recipe_of(protect=ASKED):
    by = {"rearrange": {"by": "swap"}} if protect else {}
    return Recipe(k=4, attributes=ROLES, protect=protect, **by)


@pytest.fixture(scope="module")
def made():
    return microagg.release(people(), recipe_of())


def test_the_public_form_says_what_is_promised_and_what_was_found(made):
    report = made._report({}, internal=False)
    check_page(report)
    promises = report.facts["promises"]["guarantees"]
    counts = made.statement.as_dict()["requirements"]
    assert len(promises) == 1 + len(counts) == 8
    for promise, count in zip(promises[1:], counts, strict=True):
        assert (promise["promised"], promise["found"]) == (count["bound"], count["found"])
        assert f"is {count['found']:.6g}; " in promise["checked"]
        assert promise["checked"].endswith(f"{count['bound']:g} is promised. It holds.")
        assert repr(count["attribute"]) in promise["plain"]
    html = report.as_html()
    assert "t-closeness (t = 0.3) of &#39;pay&#39;" in html
    assert "at least 2 different values of &#39;illness&#39;" in html
    assert "The promise of t-closeness in full" in html
    assert report.facts["verdict"] == {
        "holds": True,
        "text": "What is promised below was counted on the released table, and holds.",
    }


def test_the_public_form_shows_nothing_of_single_classes(made):
    report = made._report({}, internal=False)
    assert "required" not in report.facts["cells"]
    assert "What classes hide" not in report.as_html()
    assert '"bins"' not in json.dumps(report.facts["cells"])


def test_the_internal_form_counts_all_classes_and_marks_the_bound(made):
    report = made._report({}, internal=True)
    html = check_page(report)
    required = report.facts["cells"]["required"]
    assert [one["title"] for one in required] == [one["title"] for one in report.facts["promises"]["guarantees"][1:]]
    n_classes = made.statement.recounts[0].n_combinations
    for one in required:
        assert sum(bin["classes"] for bin in one["bins"]) == one["n_classes"] == n_classes
        assert one["n_missing"] == 0
        assert one["mark"] == (0 if "at least" in one["limit"] else len(one["bins"]))
    assert html.count('<line class="bound"') == len(required)


def test_other_promises_are_told_as_before():
    plain = microagg.release(people(), recipe_of({}))
    for internal in (False, True):
        report = plain._report({}, internal=internal)
        check_page(report)
        assert "required" not in report.facts["cells"]
        assert set(report.facts["promises"]) == {"guarantees", "remarks", "note"}
        assert "in full" not in report.as_html()


def test_a_release_with_its_report_can_be_checked(made, tmp_path):
    made.save(tmp_path / "out", report=True)
    assert all(finding.holds for finding in check_release(tmp_path / "out"))


def test_a_requirement_that_does_not_hold_is_the_verdict(made):
    statement = made.statement.as_dict()
    statement["requirements"][0] |= {"holds": False, "n_missing": 2}
    statement["for_publication"] = False
    quoted = {"statement": statement, "manifest": made.manifest.as_dict()}
    request = ReportRequest(made.frame, made.recipe, made.original, **quoted)
    report = make_report(request)
    assert report.facts["verdict"]["text"].endswith("was counted and does not hold.")
    assert "It does NOT hold: 2 of" in report.facts["promises"]["guarantees"][1]["checked"]


def test_of_another_tools_table_requirements_are_counted():
    table = people()
    other = microagg.release(table, recipe_of({})).table
    strict = recipe_of({"pay": {"t_closeness": 0.05}, "illness": {"recursive_c_l": [0.1, 3]}})
    for internal in (False, True):
        report = report_on_other(table, other, strict, internal=internal)
        check_page(report)
        assert report.facts["verdict"]["holds"] is False
        assert "t-closeness (t = 0.05) of 'pay' does not hold" in report.facts["verdict"]["text"]
        remarks = report.facts["promises"]["remarks"]
        assert any("0.05 is asked for. It does NOT hold" in said for said in remarks)
        assert json.loads(report.as_json())
    loose = recipe_of({"pay": {"t_closeness": 0.9}})
    report = report_on_other(table, other, loose)
    assert report.facts["verdict"]["holds"] is None
    assert any("0.9 is asked for. It holds." in said for said in report.facts["promises"]["remarks"])
    without = report_on_other(table, other.drop_columns(["pay"]), loose)
    assert not any("t-closeness" in said for said in without.facts["promises"]["remarks"])


def test_every_requirement_has_words():
    assert list(QUANTITIES) == list(REQUIREMENTS.values())
    for kind in REQUIREMENTS.values():
        one = Requirement(kind, "pay", 3.0, 2 if kind.key == "recursive_c_l" else 0)
        told = _plain({"model": kind.model, "parameters": one.parameters, "confidential": "pay"})
        assert "'pay'" in told


@pytest.mark.parametrize(
    ("key", "bound", "found", "counts", "mark"),
    [
        ("distinct_l", 3, [2, 3, 3, 5], [1, 2, 0, 1], 1),
        ("distinct_l", 2, [2, 41], [1, 0, 0, 0, 0, 0, 0, 0, 0, 1], 0),
        ("distinct_l", 3, [1, 1], [2, 0], 1),
        ("t_closeness", 0.2, [0.0, 0.2, 0.21], [1, 0, 0, 0, 0, 0, 0, 0, 0, 1, 1], 10),
        ("recursive_c_l", 2.0, [2.0, np.inf, 1.9], [0, 0, 0, 0, 0, 0, 0, 0, 0, 1, 2], 10),
        ("min_range", 10.0, [10.0, 20.0, 5.0], [1, 1, 0, 0, 0, 0, 0, 0, 0, 0, 1], 1),
        ("min_range", 10.0, [10.0, 10.0], [2, 0, 0, 0, 0, 0, 0, 0, 0, 0], 0),
        ("entropy_l", 3.0, [3.0 * (1 - 1e-14), 4.0], [1, 0, 0, 0, 0, 0, 0, 0, 0, 1], 0),
    ],
)
def test_the_bound_parts_classes_that_hold_from_those_that_miss(key, bound, found, counts, mark):
    requirement = Requirement(REQUIREMENTS[key], "pay", bound, 2 if key == "recursive_c_l" else 0)
    values = np.array(found, dtype=np.float64)
    (facts,) = describe_classes([ClassesFound(requirement, values, requirement.holds(values))])
    assert [one["classes"] for one in facts["bins"]] == counts
    assert facts["mark"] == mark
    assert facts["n_missing"] == int((~requirement.holds(values)).sum())


def test_many_promises_are_cut_on_the_page_and_kept_in_the_numbers():
    names = [f"c{i}" for i in range(15)]
    table = people().select(["age", "size"])
    for name in names:
        table = table.append_column(name, pa.array(np.arange(120)))
    roles = {"age": numeric(), "size": numeric()} | dict.fromkeys(names, ROLES["pay"])
    recipe = Recipe(k=4, attributes=roles, protect={name: {"distinct_l": 2} for name in names})
    report = microagg.release(table, recipe.changed({"rearrange.by": "merge"}))._report({}, internal=False)
    check_page(report)
    assert len(report.facts["promises"]["guarantees"]) == 16
    html = report.as_html()
    assert "3 further promises about confidential values are in the statement" in html
    assert "further groups of attributes" not in html
    assert Report(report.facts).as_html() == html
