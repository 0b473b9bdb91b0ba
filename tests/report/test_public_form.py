"""The public form: no value of a record, nothing about few records, nothing of the original of a private release."""

from __future__ import annotations

import datetime as dt
import json
import re
from dataclasses import replace

import numpy as np
import pyarrow as pa
import pytest
from hypothesis import given
from hypothesis import strategies as st

import microagg
from declarations import nominal, numeric, ordinal
from microagg import Recipe
from microagg.reports.disclosure import pool_bins, pool_categories
from microagg.reports.distributions import public_categories, public_numbers
from microagg.schema.attribute import Attribute
from microagg.tables.frames import Column, Frame
from release_kinds import RECIPES, people


def canaries(n_records=300, seed=0):
    """Every value but the frequent categories is the only one of its kind, and told by its digits."""
    rng = np.random.default_rng(seed)
    days = rng.permutation(20_000)[:n_records]
    area = [f"rare-{rng.integers(10**9)}" if i % 30 == 0 else ("north", "south")[i % 2] for i in range(n_records)]
    return pa.table(
        {
            "person": [f"person-{rng.integers(10**9)}" for _ in range(n_records)],
            "amount": rng.normal(50_000, 9_000, n_records),
            "code": rng.permutation(10**6)[:n_records] + 3_141_592,
            "narrow": 27_182_818.0 + rng.permutation(n_records) / 1000,
            "born": [dt.date(1940, 1, 1) + dt.timedelta(days=int(day)) for day in days],
            "area": area,
            "name": [f"name-{rng.integers(10**9)}" for _ in range(n_records)],
            "income": np.exp(rng.normal(10, 1, n_records)),
            "diagnosis": [f"diagnosis-{rng.integers(10**9)}" for _ in range(n_records)],
            "note": [f"note-{rng.integers(10**9)}" for _ in range(n_records)],
        }
    )


ROLES = {
    "person": "identifier",
    "amount": numeric(),
    "code": numeric(),
    "narrow": numeric(),
    "born": numeric(),
    "area": nominal(),
    "name": nominal(),
    "income": {"role": "confidential", "kind": "numeric"},
    "diagnosis": {"role": "confidential", "kind": "nominal"},
    "note": "confidential",
}


def spellings(value):
    if isinstance(value, float):
        return {str(value), f"{value:.6g}", f"{value:,.2f}", f"{value:.3f}"}
    if isinstance(value, int):
        return {str(value), f"{value:,}"}
    return {str(value)}


MEDOIDS = {"aggregate": {"numeric": "medoid", "nominal": "medoid"}}
GROUPS = {"blocks": {"form": "given", "attributes": [["amount", "code", "area"], ["narrow", "born", "name"]]}}
ABOUT = {"about": {"title": "Canaries", "holder": "An office", "purpose": "Tests", "contact": "nobody"}}
WITHOUT_MEDOIDS = {name: one for name, one in ROLES.items() if name not in ("area", "name")}


@pytest.mark.parametrize(
    ("k", "more", "roles"),
    [
        (3, ABOUT, ROLES),
        (12, {}, ROLES),
        (3, MEDOIDS, ROLES),
        (12, MEDOIDS, ROLES),
        (12, GROUPS, ROLES),
        (5, {"method": "individual_ranking"}, WITHOUT_MEDOIDS | {"area": "identifier", "name": "identifier"}),
        (10, {"aggregate": {"form": "sampled"}}, WITHOUT_MEDOIDS | {"area": "identifier", "name": "identifier"}),
    ],
)
def test_no_value_of_a_record_is_in_the_page_or_the_json(tmp_path, k, more, roles):
    """With k = 12 a name that one record has is published for twelve: the report still does not say it."""
    table = canaries()
    made = microagg.release(table, Recipe(k=k, attributes=roles, **more))
    made.save(tmp_path / "out", report=True)
    shown = (tmp_path / "out/report.html").read_text() + (tmp_path / "out/report.json").read_text()
    shown = re.sub(r"[0-9a-f]{32,}", "", shown)  # hashes hold seven digits in a row by chance
    frequent = {"north", "south"}
    for name in table.column_names:
        for value in table[name].to_pylist():
            leaked = [one for one in spellings(value) if one not in frequent and one in shown]
            assert not leaked, name
    if roles is ROLES:
        assert "north" in shown or "south" in shown  # what may be shown is shown
    # The same search finds them in the internal form, so it can fail.
    internal = made._report({}, internal=True).as_html()
    assert any(str(name) in internal for name in table["name"].to_pylist()) or roles is not ROLES
    assert f"{max(table['income'].to_pylist()):.6g}" in internal


def test_public_numbers_have_three_digits_and_open_ends():
    facts = microagg.release(canaries(), Recipe(k=3, attributes=ROLES))._report({}).facts
    described = {one["name"]: one["distribution"] for one in facts["attributes"]["described"]}
    for name in ("amount", "code", "income"):
        bins = described[name]["bins"]
        assert bins[0]["from"] is None
        assert bins[-1]["to"] is None
        told = [one["to"] for one in bins[:-1]] + [one["after"] for one in described[name]["quantiles"]]
        for text in told:
            assert len(re.sub(r"[-,.]", "", text).strip("0")) <= 3, name
    assert described["narrow"]["quantiles"] == []  # 27 182 818 and a bit: three digits cannot tell
    assert all(one["to"] is None for one in described["narrow"]["bins"])
    assert all(re.fullmatch(r"\d{4}-\d\d", one["after"]) for one in described["born"]["quantiles"])


def test_a_public_report_has_no_figure_of_single_records_or_cells():
    made = microagg.release(canaries(), Recipe(k=3, attributes=ROLES))
    public, internal = made._report({}).facts, made._report({}, internal=True).facts
    assert "per_record" not in public["measures"]
    assert internal["measures"]["per_record"]
    assert "worst" not in public["cells"]["loss"]
    assert internal["cells"]["loss"]["worst"]
    assert all("details" not in one and "note" not in one for one in public["measures"]["risk"])
    assert "before" in internal["correlations"]
    assert "before" not in json.dumps(public["correlations"])


def private_recipe(form, epsilon=1.0):
    attributes = {
        "age": numeric(bounds=[0, 120]),
        "level": ordinal(categories=["low", "middle", "high"]),
        **({"pay": {"role": "confidential", "kind": "numeric"}} if form == "aligned" else {}),
    }
    return Recipe(
        method="dp_individual_ranking", k=5, attributes=attributes, privacy={"epsilon": epsilon, "form": form}
    )


def private_table(n_records=200, seed=0):
    rng = np.random.default_rng(seed)
    return pa.table(
        {
            "age": rng.integers(0, 121, n_records),
            "level": rng.choice(["low", "middle", "high"], n_records),
            "pay": rng.normal(1000, 100, n_records),
        }
    )


@pytest.mark.parametrize("form", ["marginals", "aligned"])
def test_nothing_of_a_private_release_is_computed_from_the_original(form):
    """With another original in its place, the public report is the same to the last letter."""
    recipe = private_recipe(form)
    made = microagg.release(private_table().select(list(recipe.attributes)), recipe)
    other = private_table(seed=1).select(list(recipe.attributes))
    disguised = replace(made, original=Frame.wrap(other), origins=None, blocks=())
    assert made._report({}).as_json() == disguised._report({}).as_json()
    assert made._report({}).as_html() == disguised._report({}).as_html()
    facts = made._report({}).facts
    assert facts["measures"]["utility"] == facts["measures"]["risk"] == []
    assert "outside the budget" in facts["measures"]["notes"][0]
    assert facts["budget"]["spent"] <= facts["budget"]["epsilon"]
    assert made._report({}, internal=True).facts["measures"]["utility"]


PRIVATE = [kind for kind in RECIPES if "privacy" in RECIPES[kind]]


@pytest.mark.parametrize("kind", PRIVATE)
def test_of_no_kind_of_private_release_a_letter_changes_with_the_original(kind):
    """Another original of the same size, with none of the values of the first; no origins and no cells are known."""
    recipe = Recipe(**RECIPES[kind])
    columns = people(kind).select(list(recipe.attributes))
    made = microagg.release(columns, recipe)
    other = pa.table({name: columns[name].take(np.zeros(columns.num_rows, dtype=int)) for name in columns.column_names})
    disguised = replace(made, original=Frame.wrap(other), origins=None, blocks=())
    assert made._report({}).as_json() == disguised._report({}).as_json()
    assert made._report({}).as_html() == disguised._report({}).as_html()
    assert made._report({}, internal=True).as_json() != disguised._report({}, internal=True).as_json()


@given(counts=st.lists(st.integers(0, 30), min_size=1, max_size=30), least=st.integers(1, 40))
def test_pooled_bins_are_empty_or_large_and_lose_nothing(counts, least):
    edges, pooled = pool_bins(range(len(counts) + 1), counts, least)
    if sum(counts) < least:
        assert (edges, pooled) == ([], [])
        return
    assert all(count == 0 or count >= least for count in pooled)
    assert sum(pooled) == sum(counts)
    assert len(edges) == len(pooled) + 1
    assert (edges[0], edges[-1]) == (0, len(counts))
    assert edges == sorted(edges)
    for i, count in enumerate(pooled):
        assert count == sum(counts[edges[i] : edges[i + 1]])


@given(
    counts=st.lists(st.integers(1, 60), min_size=1, max_size=30),
    least=st.integers(1, 40),
    data=st.data(),
)
def test_named_categories_are_frequent_and_the_rest_is_not_few(counts, least, data):
    allowed = data.draw(st.lists(st.booleans(), min_size=len(counts), max_size=len(counts)))
    named, others = pool_categories(counts, allowed, least, 12)
    assert all(allowed[i] and counts[i] >= least for i in named)
    assert len(named) <= 12
    assert sum(counts[i] for i in named) + others == sum(counts)
    assert not named or others == 0 or others >= least


@given(
    values=st.lists(st.floats(-1e12, 1e12, allow_subnormal=False), min_size=1, max_size=120),
    scale=st.sampled_from([1e-9, 1.0, 1e9]),
)
def test_public_numbers_never_fail_and_shares_are_of_enough_records(values, scale):
    column = Column("x", pa.array(np.array(values) * scale))
    shown = public_numbers(column, 10)
    if shown["type"] == "numbers":
        assert all(one["after"] == 0 or one["after"] >= round(10 / len(values), 2) for one in shown["bins"])
        assert abs(sum(one["after"] for one in shown["bins"]) - 1) <= 0.005 * len(shown["bins"]) + 1e-9


@given(values=st.lists(st.integers(-(2**62), 2**62 - 1) | st.integers(0, 50), min_size=20, max_size=80))
def test_public_whole_numbers_never_fail(values):
    assert public_numbers(Column("x", pa.array(values, type=pa.int64())), 10)["type"] in ("numbers", "none")


def test_a_category_of_few_originals_is_not_named_though_many_records_publish_it():
    attribute = Attribute(role="quasi_identifier", kind="nominal")
    before = Column("c", pa.array(["usual"] * 50 + ["odd"]))
    after = Column("c", pa.array(["usual"] * 31 + ["odd"] * 20))
    shown = public_categories(after, before, attribute, 10)
    assert [one["label"] for one in shown["bars"]] == ["usual", None]
    declared = attribute.model_copy(update={"categories": ("usual", "odd")})
    assert [one["label"] for one in public_categories(after, before, declared, 10)["bars"]] == ["usual", "odd"]
