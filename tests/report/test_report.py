"""Reports of all kinds of releases: they render, escape, stay small, and hold the same numbers as their JSON."""

from __future__ import annotations

import itertools
import json
from html.parser import HTMLParser

import numpy as np
import pyarrow as pa
import pytest

import microagg
from declarations import nominal, numeric, ordinal
from microagg import InputError, Recipe
from microagg.releases.check.check import check_release
from microagg.releases.folder.report import report_on_tables
from microagg.releases.report_results import ON_ALL, Comparison
from microagg.reports.document import Report
from microagg.reports.sections.attributes import PICTURED
from microagg.reports.source import ReportRequest
from microagg.tables.frames import Frame

HOSTILE = "<script>alert(1)</script>"
ODD = '年齢 "é" & \u202e\x07\'></svg>'


class Page(HTMLParser):
    """What a browser would make of a page."""

    VOID = frozenset({"meta", "br", "line", "rect"})

    def __init__(self, html):
        super().__init__()
        self.elements, self.open, self.text = [], [], []
        self.feed(html)
        assert self.open == []

    def handle_starttag(self, tag, attrs):
        self.elements.append((tag, dict(attrs)))
        if tag not in self.VOID or (tag == "rect" and not self.get_starttag_text().endswith("/>")):
            self.open.append(tag)

    def handle_startendtag(self, tag, attrs):
        self.elements.append((tag, dict(attrs)))

    def handle_endtag(self, tag):
        if tag not in self.VOID or tag == "rect":
            assert self.open.pop() == tag

    def handle_data(self, data):
        if "style" not in self.open:
            self.text.append(data)


def check_page(report):
    """No script, nothing to load, headings in order, tables and pictures that can be heard; JSON says the same."""
    html = report.as_html()
    page = Page(html)
    tags = [tag for tag, _ in page.elements]
    assert not {"script", "img", "link", "iframe", "object"} & set(tags)
    assert all(attrs.get("href", "#").startswith("#") for tag, attrs in page.elements)
    assert not any(key.startswith("on") for _, attrs in page.elements for key in attrs)
    assert all(attrs.get("scope") in ("col", "row") for tag, attrs in page.elements if tag == "th")
    assert all(attrs.get("aria-label") for tag, attrs in page.elements if tag == "svg")
    levels = [int(tag[1]) for tag in tags if tag in ("h1", "h2", "h3", "h4")]
    assert levels[0] == 1
    assert all(after - before <= 1 for before, after in itertools.pairwise(levels))
    assert ("INTERNAL: not to be published" in html) is (report.facts["form"] == "internal")
    assert Report(json.loads(report.as_json())).as_html() == html
    return page


def both_forms(made):
    for internal in (False, True):
        report = made._report({}, internal=internal)
        page = check_page(report)
        assert (("body", {"class": "internal"}) in page.elements) is internal
        yield report


RNG = np.random.default_rng(0)
N = 60
GAPS = [None if i % 4 == 0 else float(i) for i in range(N)]
TABLES = {
    "no numbers": ({"c": RNG.choice(["u", "v"], N), "d": RNG.choice(["s", "t"], N)}, {"c": nominal(), "d": nominal()}),
    "one attribute": ({"x": RNG.normal(size=N)}, {"x": numeric()}),
    "constant": ({"x": np.ones(N), "y": np.zeros(N, dtype=int)}, {"x": numeric(), "y": numeric()}),
    "missing": ({"x": GAPS, "y": RNG.normal(size=N)}, {"x": numeric(), "y": numeric()}),
    "all missing": (
        {"x": RNG.normal(size=N), "y": pa.nulls(N, pa.float64())},
        {"x": numeric(), "y": {"role": "confidential", "kind": "numeric"}},
    ),
    "few records": ({"x": np.arange(6.0)}, {"x": numeric()}),
    "hostile": (
        {HOSTILE: RNG.normal(size=N), ODD: RNG.choice([HOSTILE, ODD], N), "{{ 7 * 7 }}": RNG.integers(0, 3, N)},
        {HOSTILE: numeric(), ODD: nominal(), "{{ 7 * 7 }}": ordinal()},
    ),
    "huge": ({"x": RNG.normal(size=N) * 1e200, "y": RNG.integers(2**61, 2**62, N)}, {"x": numeric(), "y": numeric()}),
    "dates": (
        {
            "x": pa.array(RNG.integers(0, 10**9, N), pa.timestamp("s")),
            "y": pa.array(RNG.integers(0, 9999, N).astype(np.int32)).cast(pa.time32("s")),
        },
        {"x": numeric(), "y": numeric()},
    ),
}


@pytest.mark.parametrize("kind", TABLES)
def test_a_report_renders_of(kind):
    columns, attributes = TABLES[kind]
    recipe = Recipe(k=3, attributes=attributes, missing={"policy": "own_cell"})
    made = microagg.release(pa.table(columns), recipe)
    for report in both_forms(made):
        for name in columns:
            assert any(one["name"] == name for one in report.facts["attributes"]["overview"])


def test_of_few_records_only_the_release_is_measured_in_public():
    made = microagg.release(pa.table({"x": np.arange(18.0)}), Recipe(k=3, attributes={"x": numeric()}))
    public, internal = (made._report({}, internal=one).facts["measures"] for one in (False, True))
    assert public["utility"] == []
    assert [one["name"] for one in public["risk"]] == ["k", "k_prime", "singled_out"]
    assert internal["utility"]


def test_names_stay_text():
    columns, attributes = TABLES["hostile"]
    made = microagg.release(pa.table(columns), Recipe(k=3, attributes=attributes))
    for report in both_forms(made):
        html = report.as_html()
        assert "<script" not in html
        assert "&lt;script&gt;alert(1)&lt;/script&gt;" in html
        assert "49" not in "".join(Page(html).text).split("{{ 7 * 7 }}")[0].split()
        assert "\u202e" not in html
        assert "\x07" not in html
        assert "\\u202e" in html


@pytest.mark.parametrize("method", ["individual_ranking", "mic1d", "zscores"])
def test_a_report_renders_of_other_methods(method):
    table = pa.table({"x": RNG.normal(size=N), "y": RNG.normal(size=N)})
    made = microagg.release(table, Recipe(method=method, k=3, attributes={"x": numeric(), "y": numeric()}))
    for report in both_forms(made):
        assert report.facts["verdict"]["holds"] is (method != "mic1d")


def test_a_report_renders_of_sampled_records_and_of_a_seeded_release():
    table = pa.table({"x": RNG.normal(size=N), "y": RNG.normal(size=N)})
    recipe = Recipe(k=3, attributes={"x": numeric(), "y": numeric()}, aggregate={"form": "sampled"})
    for report in both_forms(microagg.release(table, recipe, seed=1)):
        assert "fixed seed" in report.facts["verdict"]["text"]
        assert "drawn" in report.facts["attributes"]["overview"][0]["treatment"]


@pytest.mark.parametrize("name", ["dp_individual_ranking", "dp_insensitive_mdav", "dp_laplace"])
def test_a_report_renders_of_private_releases(name):
    table = pa.table({"x": RNG.integers(0, 100, N), "y": RNG.integers(0, 10, N)})
    attributes = {"x": numeric(bounds=[0, 100]), "y": numeric(bounds=[0, 10])}
    k = {} if name == "dp_laplace" else {"k": 5}
    recipe = Recipe(method=name, attributes=attributes, privacy={"epsilon": 1.0}, **k)
    for report in both_forms(microagg.release(table, recipe)):
        assert report.facts["budget"]["epsilon"] == 1.0
        assert report.facts["promises"]["guarantees"][0]["not_promised"]
        assert "cannot be counted" in report.facts["verdict"]["text"]


def test_an_aligned_private_release_is_not_said_to_protect_the_original_records():
    table = pa.table({"x": RNG.integers(0, 100, N)})
    privacy = {"epsilon": 1.0, "form": "aligned"}
    recipe = Recipe(method="dp_individual_ranking", k=5, attributes={"x": numeric(bounds=[0, 100])}, privacy=privacy)
    for report in both_forms(microagg.release(table, recipe)):
        assert "not the original records" in report.facts["verdict"]["text"]
        plain = report.facts["promises"]["guarantees"][0]["plain"]
        assert plain.startswith("The original records themselves are not what is protected")


def test_a_report_renders_of_published_moments():
    table = pa.table({"x": RNG.integers(0, 100, N), "y": RNG.integers(0, 10, N)})
    attributes = {"x": numeric(bounds=[0, 100]), "y": numeric(bounds=[0, 10])}
    privacy = {"epsilon": 1.0, "form": "moments"}
    recipe = Recipe(method="dp_moments_zscores", k=20, attributes=attributes, privacy=privacy)
    for report in both_forms(microagg.release(table, recipe)):
        assert "6 released columns" in report.facts["attributes"]["notes"][0]
        assert report.facts["measures"]["utility"] == []


def test_two_hundred_attributes_make_a_small_page():
    columns = {f"x{i}": RNG.normal(size=N) for i in range(200)}
    made = microagg.release(pa.table(columns), Recipe(k=5, attributes={name: numeric() for name in columns}))
    for report in both_forms(made):
        facts = report.facts["attributes"]
        assert len(facts["overview"]) == 200
        assert len(facts["described"]) == PICTURED
        assert f"first {PICTURED} of 200" in facts["notes"][0]
        assert len(report.as_html()) < 800_000


def test_of_a_large_table_costly_measures_are_taken_on_whole_classes_of_a_sample(monkeypatch):
    monkeypatch.setattr("microagg.releases.report_results.COMPARED", 2_000)
    rng = np.random.default_rng(1)
    table = pa.table({"x": rng.normal(size=4_000), "sick": rng.choice(["no", "yes"], 4_000, p=[0.9, 0.1])})
    attributes = {"x": numeric(), "sick": {"role": "confidential", "kind": "nominal"}}
    made = microagg.release(table, Recipe(method="individual_ranking", k=5, attributes=attributes))
    request = ReportRequest(made.frame, made.recipe, made.original, made.origins, blocks=made.blocks)
    sample = Comparison(request).sample
    assert not sample.is_whole
    assert 1_800 <= sample.after.n_records <= 2_000
    # Rows stand beside their originals, and classes are whole: their mean is what they publish.
    x, published = (np.array(frame.table["x"]) for frame in (sample.before, sample.after))
    _, labels, sizes = np.unique(published, return_inverse=True, return_counts=True)
    assert sizes.min() >= 5
    np.testing.assert_allclose((np.bincount(labels, weights=x) / sizes)[labels], published)
    told = made._report({}, internal=True).facts["measures"]
    assert "Most that a share of records below a value is off, Way that values" in told["notes"][0]
    assert "estimated on" in told["notes"][0]
    # What costs little is of all records, and the same number as everywhere.
    figures = {one["name"]: one["value"] for about in ("utility", "risk") for one in told[about]}
    wanted = microagg.evaluate(table, made, measures=ON_ALL)
    assert {name: figures[name] for name in ON_ALL} == {one.name: one.value for one in wanted}


def test_measures_are_those_of_an_evaluation_though_the_release_is_shuffled():
    table = pa.table({"x": RNG.normal(size=200), "y": RNG.normal(size=200)})
    recipe = Recipe(k=4, attributes={"x": numeric(), "y": numeric()})
    made = microagg.release(table, recipe)
    facts = made._report({}, internal=True).facts
    by_name = {one["name"]: one["value"] for one in facts["measures"]["utility"]}
    assert by_name["SSE_SST"] * 100 == pytest.approx(made.information_loss)
    sizes, losses = made.blocks[0].labels, facts["cells"]["loss"]["worst"]
    assert all(one["size"] == int((sizes == one["cell"]).sum()) for one in losses)
    public = {one["name"]: one["value"] for one in made._report({}).facts["measures"]["utility"]}
    assert public["SSE_SST"] == float(f"{by_name['SSE_SST']:.2g}")


def test_a_full_report_takes_all_default_measures():
    table = pa.table({"x": RNG.normal(size=N), "y": RNG.normal(size=N)})
    made = microagg.release(table, Recipe(k=3, attributes={"x": numeric(), "y": numeric()}))
    names = {one["name"] for one in made._report({}, full=True).facts["measures"]["risk"]}
    assert "distance_linkage" in names


# A table that another tool made.


def other_tool(tmp_path, released, recipe, original=None, **options):
    table = pa.table({"x": np.arange(40.0), "c": ["a", "b"] * 20}) if original is None else original
    path = tmp_path / "released.csv"
    path.write_text("unused")
    report_on_tables(table, path, recipe, tmp_path / "report.html", read=lambda _: released, **options)
    return Report(json.loads((tmp_path / "report.json").read_text()))


TWO = Recipe(k=5, attributes={"x": numeric(), "c": nominal()})


def test_a_report_of_another_tools_table_counts_what_it_can(tmp_path):
    released = pa.table({"x": np.repeat([4.5, 14.5, 24.5, 34.5], 10), "c": ["a"] * 40})
    report = other_tool(tmp_path, released, TWO)
    check_page(report)
    assert "holds for k = 5" in report.facts["verdict"]["text"]
    assert report.facts["promises"]["guarantees"] == []
    assert report.facts["cells"]["blocks"][0]["smallest"] == 10


def test_a_report_says_if_another_tools_table_is_not_k_anonymous(tmp_path):
    report = other_tool(tmp_path, pa.table({"x": np.arange(40.0), "c": ["a", "b"] * 20}), TWO, aligned=True)
    assert report.facts["verdict"]["holds"] is False
    assert "does NOT hold" in report.facts["promises"]["remarks"][0]
    check_page(report)


@pytest.mark.parametrize("internal", [False, True])
def test_a_report_survives_columns_that_the_original_does_not_have(tmp_path, internal):
    moments = pa.table({"cell": [0, 1], "moment": ["mean", "mean"], "value": [1.0, 2.0]})
    report = other_tool(tmp_path, moments, TWO, internal=internal)
    check_page(report)
    assert "cell, moment, value" in report.facts["attributes"]["notes"][0]
    assert "cannot be compared" in report.facts["measures"]["notes"][0]


@pytest.mark.parametrize("internal", [False, True])
def test_a_report_survives_intervals_in_place_of_numbers(tmp_path, internal):
    released = pa.table({"x": ["[0, 20)"] * 20 + ["[20, 40)"] * 20, "c": ["*"] * 40})
    report = other_tool(tmp_path, released, TWO, internal=internal)
    check_page(report)
    assert "holds text" in report.facts["attributes"]["described"][0]["distribution"]["note"]


# Files.


def small_release():
    return microagg.release(pa.table({"x": np.arange(40.0)}), Recipe(k=4, attributes={"x": numeric()}))


def test_a_saved_report_is_part_of_the_release_and_of_its_check(tmp_path):
    folder = small_release().save(tmp_path / "out", report=True)
    assert all(finding.holds for finding in check_release(folder))
    manifest = json.loads((folder / "manifest.json").read_text())
    assert {"report.html", "report.json"} <= set(manifest["output"]["sha256"])
    report = json.loads((folder / "report.json").read_text())
    assert report["done"]["files"]["table.csv"] == manifest["output"]["sha256"]["table.csv"]
    (folder / "report.html").write_text("changed")
    failed = [finding.name for finding in check_release(folder) if not finding.holds]
    assert failed == ["file report.html", "page of the report", "receipt"]


def test_a_report_may_follow_a_saved_release(tmp_path):
    made = small_release()
    folder = made.save(tmp_path / "out")
    assert made.report(folder / "report.html").is_file()
    assert made.report(folder / "report.html").is_file()  # and replace itself
    assert all(finding.holds for finding in check_release(folder))
    assert (folder / "report.html").stat().st_mode == (folder / "statement.txt").stat().st_mode


def test_an_internal_report_never_lies_among_public_files(tmp_path):
    made = small_release()
    folder = made.save(tmp_path / "out")
    before = sorted(folder.iterdir())
    with pytest.raises(InputError, match="internal report"):
        made.report(folder / "report.html", internal=True)
    with pytest.raises(InputError, match=r"called report\.html"):
        made.report(folder / "other.html")
    with pytest.raises(InputError, match="another release"):
        small_release().report(folder / "report.html")
    (tmp_path / "site").mkdir()
    (tmp_path / "site/manifest.json").write_text('{"name": "a web page\'s"}')
    with pytest.raises(InputError, match="not that of a release"):
        made.report(tmp_path / "site/report.html")
    with pytest.raises(InputError, match=r"end in \.html"):
        made.report(tmp_path / "report.pdf")
    assert sorted(folder.iterdir()) == before
    made.report(tmp_path / "internal.html", internal=True)
    assert (tmp_path / "internal.html").stat().st_mode & 0o077 == 0
    with pytest.raises(InputError, match="exists"):
        made.report(tmp_path / "internal.html", internal=True)


def test_the_original_is_in_no_text_of_a_release():
    made = microagg.release(pa.table({"x": [314159.0, 271828.0]}), Recipe(k=2, attributes={"x": numeric()}))
    assert "314159" not in repr(made)
    assert isinstance(made.original, Frame)
