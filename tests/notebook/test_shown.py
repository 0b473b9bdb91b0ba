"""What a notebook shows of results: short names, tables in which no data is markup, pictures that repeat."""

import copy
import re

import numpy as np
import pyarrow as pa
import pytest

import microagg
from microagg.errors import ParameterError
from microagg.frontier.frontier import Axes, Frontier, FrontierPoint
from optional_packages import need

HOSTILE = '<script>alert("x")</script>\u202e&$x$'
RECIPE = microagg.Recipe(
    k=2,
    attributes={
        HOSTILE: {"role": "quasi_identifier", "kind": "numeric"},
        "day": {"role": "quasi_identifier", "kind": "numeric"},
        "sick": "confidential",
    },
)
TABLE = pa.table(
    {
        HOSTILE: [20.5, 22.5, 61.5, 64.5],
        "day": pa.array([0, 1, 20000, 20001], pa.int32()).cast(pa.date32()),
        "sick": ["canary-1", "canary-2", "<b>", None],
    }
)


@pytest.fixture(scope="module")
def results():
    release = microagg.release(TABLE, RECIPE, seed=1)
    evaluation = microagg.evaluate(TABLE, release.table, RECIPE, measures=["SSE_SST", "k", "correlation_difference"])
    point = FrontierPoint(
        HOSTILE, {"method": "mdav", "k": 2}, "k-anonymity", values={"SSE_SST": 0.1, "distance_linkage": 0.2}
    )
    return {
        "Release": release,
        "Statement": release.statement,
        "Recipe": RECIPE,
        "Evaluation": evaluation,
        "Comparison": microagg.compare({HOSTILE: evaluation, "b": evaluation}),
        "Frontier": Frontier((point,), Axes("SSE_SST", "distance_linkage"), ("SSE_SST", "distance_linkage")),
        "Draft of a recipe": microagg.init(TABLE, k=2),
    }


TAGS = {"div", "b", "span", "ul", "li", "table", "thead", "tbody", "tr", "th", "td"}
NAMES = ("Release", "Statement", "Recipe", "Evaluation", "Comparison", "Frontier", "Draft of a recipe")


@pytest.mark.parametrize("name", NAMES)
def test_a_result_is_named_in_one_line_and_shown_as_escaped_html(results, name):
    result = results[name]
    assert repr(result).startswith(f"<{name}")
    assert len(repr(result)) < 200
    assert "\n" not in repr(result)
    shown = result._repr_html_()
    assert "<script" not in shown
    assert "\u202e" not in shown
    assert set(re.findall(r"</?(\w+)", shown)) <= TAGS
    assert "canary" not in shown + repr(result)
    for value in ("20.5", "64.5"):
        assert value not in shown


def test_releases_can_be_looked_for_and_kept_in_sets(results):
    release = results["Release"]
    other = copy.copy(release)
    assert release == release
    assert release != other
    assert [other, release].index(release) == 1
    assert len({release, other}) == 2


def test_what_a_statement_shows_is_what_it_says(results):
    shown = re.sub(r"<[^>]+>", " ", results["Statement"]._repr_html_())
    for word in re.findall(r"[A-Za-z]{4,}", str(results["Statement"])):
        assert word in shown


def test_pictures_repeat_and_hold_no_markup_of_the_data(results, tmp_path):
    need("matplotlib")
    release = results["Release"]
    for draw in (
        release.plot,
        lambda: release.plot(original=True),
        results["Evaluation"].plot,
        results["Frontier"].plot,
    ):
        picture = draw()
        assert picture._repr_svg_() == draw()._repr_svg_()
        assert picture.svg.startswith("<?xml")
        assert "<script" not in picture.svg
    assert picture.save(tmp_path / "x.svg").read_text(encoding="utf-8") == picture.svg
    with pytest.raises(ParameterError, match=r"ends in \.svg"):
        picture.save(tmp_path / "x.png")


def test_a_picture_of_the_original_says_that_it_is_internal(results):
    need("matplotlib")
    release = results["Release"]
    assert "INTERNAL" in release.plot(original=True).svg
    assert "INTERNAL" not in release.plot().svg


def test_a_picture_has_names_in_any_script_as_text_that_is_escaped():
    need("matplotlib")
    names = ("年齢", "возраст", "<b>")
    recipe = microagg.Recipe(k=2, attributes={name: {"role": "quasi_identifier", "kind": "numeric"} for name in names})
    drawn = microagg.release(pa.table({name: [1, 2, 3, 4] for name in names}), recipe, seed=1).plot().svg
    for shown in ("年齢", "возраст", "&lt;b&gt;"):
        assert f">{shown}</text>" in drawn


def test_the_table_of_a_release_is_a_dataframe_at_once():
    pandas = need("pandas")
    frame = pandas.DataFrame({"a": np.arange(8.0), "s": list("aabbccdd")})
    recipe = microagg.Recipe(
        k=2, attributes={"a": {"role": "quasi_identifier", "kind": "numeric"}, "s": "confidential"}
    )
    table = microagg.release(frame, recipe).table
    assert table.describe().loc["count", "a"] == 8
    assert len(table.sample(3)) == 3
