"""The traffic light: never green where something is not promised that ought to be, and the same in both forms."""

from __future__ import annotations

import json

import numpy as np
import pyarrow as pa
import pytest

import microagg
from declarations import nominal, numeric
from microagg import Recipe
from microagg.releases.check.check import check_release
from microagg.releases.report_results import make_report
from microagg.reports.source import ReportRequest
from microagg.tables.frames import Frame
from release_kinds import RECIPES, people

N = 200
RNG = np.random.default_rng(0)
TABLE = pa.table(
    {
        "name": [f"person {i}" for i in range(N)],
        "age": RNG.integers(18, 90, N),
        "region": RNG.choice(["n", "e", "s"], N),
        "sick": RNG.choice(["yes", "no"], N),
        "code": np.arange(N) * 7919,
    }
)
QUASI = {"age": numeric(), "region": nominal()}
SICK = {"sick": {"role": "confidential", "kind": "nominal"}}
DP = {"age": numeric(bounds=[0, 120])}
TWO = {"distinct_l": 2}


def light_of(attributes, seed=None, **more):
    recipe = Recipe(attributes=attributes, **({"k": 5} | more))
    made = microagg.release(TABLE.select(list(recipe.attributes)), recipe, seed=seed)
    lights = [made._report({}, internal=internal).facts["light"] for internal in (False, True)]
    assert lights[0] == lights[1]
    return lights[0]


GREEN = [
    (QUASI, {}),
    (QUASI | {"name": "identifier"}, {}),
    (QUASI | SICK, {"protect": {"sick": TWO}}),
    (DP, {"method": "dp_laplace", "k": 1, "privacy": {"epsilon": 1.0}}),
]


@pytest.mark.parametrize(("attributes", "more"), GREEN)
def test_green_is_what_leaves_nothing_open(attributes, more):
    light = light_of(attributes, **more)
    assert (light["color"], light["because"]) == ("green", [])
    assert "Green: none of this" in light["rule"]


AMBER = {
    "a small k": (QUASI, {"k": 4}, "Only 4 records"),
    "confidential values without a requirement": (QUASI | SICK, {}, "Nothing is required of confidential sick"),
    "a requirement that lets classes agree": (
        QUASI | SICK,
        {"protect": {"sick": {"t_closeness": 0.9}}},
        "agree in sick",
    ),
    "values of one record each": (QUASI | {"code": "non_confidential"}, {}, "occur once are published as they are"),
    "groups of columns": (QUASI, {"blocks": {"form": "given", "attributes": [["age"], ["region"]]}}, "2 groups"),
    "draws": ({"age": numeric()}, {"aggregate": {"form": "sampled"}}, "less than k-anonymity"),
    "the order of the input": (QUASI, {"output": {"order": "kept"}}, "order of the input"),
    "a large epsilon": (DP, {"method": "dp_laplace", "k": 1, "privacy": {"epsilon": 1.5}}, "4.48 times as likely"),
    "columns beside the noise": (
        DP | SICK,
        {"method": "dp_laplace", "k": 1, "privacy": {"epsilon": 1.0}},
        "not of sick: published as in the original",
    ),
    "not the original records": (
        DP,
        {"method": "dp_individual_ranking", "privacy": {"epsilon": 1.0, "form": "aligned"}},
        "not of the original records",
    ),
}


@pytest.mark.parametrize("gap", AMBER)
def test_each_gap_alone_makes_it_amber_and_is_named(gap):
    attributes, more, said = AMBER[gap]
    light = light_of(attributes, **more)
    assert light["color"] == "amber"
    assert any(said in reason for reason in light["because"])


UNIT = {"unit": {"key": "name"}}


@pytest.mark.parametrize(
    ("column", "more"),
    [
        ({"sick": SICK["sick"]}, {"protect": {"sick": TWO}}),
        ({"region": {"role": "non_confidential"}}, {}),
    ],
)
def test_columns_published_as_they_are_where_a_unit_may_have_several_records_are_never_green(column, more):
    attributes = {"name": "identifier", "age": numeric()}
    assert light_of(attributes, **UNIT)["color"] == "green"
    light = light_of(attributes | column, **UNIT, **more)
    assert light["color"] == "amber"
    assert any(reason.startswith(next(iter(column))) and "not counted" in reason for reason in light["because"])


def test_a_summary_of_units_claims_no_chance_to_guess_right():
    for unit, claimed in (({}, True), (UNIT, False)):
        recipe = Recipe(k=5, attributes=QUASI | {"name": "identifier"}, **unit)
        made = microagg.release(TABLE.select(list(recipe.attributes)), recipe)
        said = " ".join(line["text"] for line in made._report({}).facts["summary"])
        assert ("1 in 5 times" in said) is claimed
        assert ("guessing is right" in said) is claimed


def test_a_stated_total_above_one_is_amber(tmp_path):
    from pyarrow import csv

    data = tmp_path / "data.csv"
    csv.write_csv(TABLE.select(["age"]), data)
    microagg.Account.start(data, cap=10)
    recipe = Recipe(method="dp_laplace", k=1, privacy={"epsilon": 1.0}, attributes=DP)
    lights = []
    for _ in range(2):
        made = microagg.release(TABLE.select(["age"]), recipe, source=data, state_total=True)
        lights.append(made._report({}).facts["light"])
    assert lights[0]["color"] == "green"
    assert lights[1]["because"] == ["Releases of the same table have epsilon = 2 together."]


def test_red_is_what_promises_nothing_or_was_made_without_chance():
    assert light_of(QUASI, seed=1)["color"] == "red"
    assert light_of({"age": numeric(), "code": numeric()}, method="mic1d", k=3)["color"] == "red"


def test_of_another_tools_table_it_is_red_if_k_does_not_hold_or_an_identifier_is_left_and_never_green():
    recipe = Recipe(k=5, attributes=QUASI | {"name": "identifier"})
    made = microagg.release(TABLE.select(list(recipe.attributes)), recipe)
    good = made.frame.table

    def light(table):
        return make_report(ReportRequest(Frame.wrap(table), recipe, made.original)).facts["light"]

    assert light(good)["color"] == "amber"
    assert light(TABLE.select(["age", "region"]))["color"] == "red"
    assert light(good.append_column("name", TABLE["name"]))["color"] == "red"
    assert light(good.select(["age"]))["color"] == "red"


def test_color_is_said_in_words_and_drawn_in_a_shape():
    pages = {}
    for color, k in (("green", 5), ("amber", 4)):
        made = microagg.release(TABLE.select(list(QUASI)), Recipe(k=k, attributes=QUASI))
        pages[color] = made._report({}).as_html()
        assert f"<strong>{color.upper()}: " in pages[color]
        assert f'aria-label="Traffic light: {color}."' in pages[color]
        assert "The rule of the light." in pages[color]
    assert '<circle cx="20"' in pages["green"]
    assert '<circle cx="20"' not in pages["amber"]


def test_a_check_finds_a_light_or_a_summary_that_was_changed(tmp_path):
    recipe = Recipe(k=4, attributes=QUASI)
    folder = microagg.release(TABLE.select(list(QUASI)), recipe).save(tmp_path / "out", report=True)
    content = json.loads((folder / "report.json").read_text())
    for key, changed in (
        ("light", content["light"] | {"color": "green", "because": []}),
        ("summary", [one | {"text": "All is well."} for one in content["summary"]]),
    ):
        (folder / "report.json").write_text(json.dumps(content | {key: changed}, ensure_ascii=False, indent=2))
        found = {one.name: one for one in check_release(folder) if not one.holds}
        assert key in found["report"].detail


@pytest.mark.parametrize("kind", RECIPES)
def test_ten_lines_say_what_is_published_promised_lost_and_left_of_every_kind(kind):
    recipe = Recipe(**RECIPES[kind])
    made = microagg.release(people(kind).select(list(recipe.attributes)), recipe)
    for internal in (False, True):
        report = made._report({}, internal=internal)
        lines = report.facts["summary"]
        assert len(lines) == 10
        assert all(line["text"][-1] == "." and " None" not in line["text"] for line in lines)
        assert report.as_html().index('id="summary"') < report.as_html().index('id="risk"')
