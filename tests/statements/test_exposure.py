"""What k does not hide is counted: rounded for everyone, exactly for the holder, and again by a check."""

from __future__ import annotations

import json

import numpy as np
import pyarrow as pa
import pytest

import microagg
from declarations import nominal, numeric
from microagg import Recipe
from microagg.releases.check.check import check_release
from microagg.releases.release import read_as_written
from microagg.statements.exposure import recheck_exposure
from microagg.statements.exposure_text import describe_exposure

N = 400
RNG = np.random.default_rng(5)
AGE = np.repeat(np.arange(40), 10)
SICK = {"role": "confidential", "kind": "nominal"}


def people(**columns):
    """Forty groups of ten records: of every other one all are sick; two places of many records, and small ones."""
    sick = np.where((AGE % 2 == 0) | (np.arange(N) % 2 == 0), "yes", "no")
    place = np.where(np.arange(N) < 200, "north", "south").astype(object)
    place[:12], place[12:15] = "hamlet", "farm"
    table = {"age": AGE, "place": place, "sick": sick, "weight": np.arange(N) // 2 * 2 + (np.arange(N) < 300) * 0.0}
    return pa.table(table | columns)


RECIPE = Recipe(
    k=5, attributes={"age": numeric(), "place": nominal(), "sick": SICK, "weight": {"role": "non_confidential"}}
)


def entries(made, what):
    return {one["attribute"]: one for one in made.statement.as_dict()["exposure"] if one["what"] == what}


def plain_agreement(table, attribute, by):
    rows = list(zip(*(table[name].to_pylist() for name in by), strict=True))
    values = table[attribute].to_pylist()
    found = {}
    for row, value in zip(rows, values, strict=True):
        found.setdefault(row, set()).add(value)
    return sum(len(found[row]) == 1 for row in rows)


def test_the_share_of_records_in_classes_that_agree_is_stated():
    made = microagg.release(people(), RECIPE)
    count = plain_agreement(made.table, "sick", ["age", "place"])
    assert 0.4 < count / N < 0.7
    assert entries(made, "agreement")["sick"]["share"] == round(count / N, 2)
    (exact,) = [one for one in made.exposure.exact() if one["what"] == "agreement"]
    assert exact["records"] == count
    assert microagg.evaluate(people(), made)["agreement"].details == {"sick": count / N}
    assert f"{100 * round(count / N, 2):.0f} % of the records share" in str(made.statement).replace("\n    ", " ")


def test_missing_counts_as_a_value_that_records_may_agree_in():
    made = microagg.release(people(sick=pa.nulls(N, pa.string())), RECIPE)
    assert entries(made, "agreement")["sick"]["share"] == 1.0


def test_a_column_published_as_it_is_with_unique_values_is_named():
    made = microagg.release(people(weight=np.where(np.arange(N) < 123, np.arange(N), 9999)), RECIPE)
    assert entries(made, "unique_values")["weight"] | {"share": 0} == {
        "what": "unique_values",
        "attribute": "weight",
        "values": 120,
        "share": 0,
    }
    found = microagg.evaluate(people(weight=np.where(np.arange(N) < 123, np.arange(N), 9999)), made)
    assert found["unique_values"].value == 123 / N
    nine = microagg.release(people(weight=np.where(np.arange(N) < 9, np.arange(N), 9999)), RECIPE)
    assert entries(nine, "unique_values") == {}
    assert [one["values"] for one in nine.exposure.exact() if one["what"] == "unique_values"] == [9]


def test_categories_that_vanished_are_counted_and_named_only_if_ten_records_had_them():
    place = ["n"] * 200 + ["s"] * 165 + ["hamlet"] * 20 + ["farm"] * 3 + ["mill"] * 12
    order = RNG.permutation(N)
    table = people(place=np.array(place)[order])
    by_age = Recipe(k=40, attributes=RECIPE.attributes | {"place": nominal(weight=0.001)})
    made = microagg.release(table, by_age)
    left = set(made.table["place"].to_pylist())
    assert left == {"n", "s"}
    assert entries(made, "categories")["place"] | {"shrunk": []} == {
        "what": "categories",
        "attribute": "place",
        "before": None,
        "after": 2,
        "fewer_than": 40,
        "vanished": [],
        "shrunk": [],
    }
    smaller = microagg.release(table, by_age.changed({"k": 13}))
    stated = entries(smaller, "categories")["place"]
    assert stated["vanished"] == ["hamlet"]
    assert (stated["before"], stated["after"]) == (5, 2)
    public = smaller.statement.as_json() + str(smaller.statement)
    assert "farm" not in public
    assert "mill" not in public
    exact = next(one for one in smaller.exposure.exact() if one["what"] == "categories")
    assert exact["vanished"] == ["hamlet (20)", "mill (12)", "farm (3)"]
    assert microagg.evaluate(table, smaller)["categories_lost"].value == 3 / 5


@pytest.mark.parametrize(("agreeing", "said"), [(8, "fewer than 10 records"), (N - 8, "all but fewer than 10 records")])
def test_a_figure_about_few_records_is_not_given(agreeing, said):
    sick = np.where(np.arange(N) % 2 == 0, "yes", "no").astype(object)
    whole = np.arange(agreeing)
    sick[whole] = "yes"
    made = microagg.release(people(sick=sick, age=np.arange(N) // 8, place=["n"] * N), RECIPE.changed({"k": 8}))
    assert plain_agreement(made.table, "sick", ["age", "place"]) == agreeing
    assert entries(made, "agreement")["sick"]["share"] is None
    assert said in str(made.statement).replace("\n    ", " ")


def test_of_several_blocks_the_one_that_tells_most_is_stated():
    table = people(place=np.arange(N) // 40)
    recipe = Recipe(k=5, method="individual_ranking", attributes=RECIPE.attributes | {"place": numeric()})
    made = microagg.release(table, recipe)
    counts = {name: plain_agreement(made.table, "sick", [name]) for name in ("age", "place")}
    (stated,) = entries(made, "agreement").values()
    assert stated["classes_of"] == [max(counts, key=counts.get)]
    assert stated["share"] == round(max(counts.values()) / N, 2)


def test_releases_that_are_not_k_anonymous_state_nothing_of_it():
    table = pa.table({"age": AGE})
    private = Recipe(method="dp_laplace", attributes={"age": numeric(bounds=[0, 99])}, privacy={"epsilon": 1.0})
    for recipe in (
        private,
        Recipe(k=5, attributes={"age": numeric()}, aggregate={"form": "sampled"}),
        Recipe(k=5, method="mic1d", attributes={"age": numeric()}),
    ):
        made = microagg.release(table, recipe)
        assert made.exposure is None
        assert "exposure" not in made.statement.as_dict()
        assert "does not hide" not in str(made.statement)
        assert made._report({}, internal=True).facts["exposure"] == {"entries": [], "told": []}


@pytest.mark.parametrize("file_format", ["csv", "parquet"])
def test_a_check_counts_it_again(tmp_path, file_format):
    odd = np.where(np.arange(N) % 3 == 0, "", "x").astype(object)
    odd[::7] = None
    attributes = RECIPE.attributes | {"odd": SICK, "half": {"role": "confidential", "kind": "numeric"}}
    table = people(odd=pa.array(odd.tolist()), half=np.arange(N) / 2 + 0.25)
    folder = microagg.release(table, Recipe(k=5, attributes=attributes)).save(tmp_path / "out", format=file_format)
    assert all(finding.holds for finding in check_release(folder))
    statement = json.loads((folder / "statement.json").read_text())
    written = read_as_written(folder / f"table.{file_format}")
    recipe = Recipe(**json.loads((folder / "manifest.json").read_text())["recipe"])
    assert recheck_exposure(written, recipe, statement).holds
    for i, entry in enumerate(statement["exposure"]):
        changes = [{"attribute": "age"}]
        changes += [{"share": 0.01}, {"share": None}] if "share" in entry else [{"after": 99}]
        for change in [one for one in changes if entry | one != entry]:
            told_otherwise = [*statement["exposure"]]
            told_otherwise[i] = entry | change
            assert not recheck_exposure(written, recipe, statement | {"exposure": told_otherwise}).holds
        rest = [one for one in statement["exposure"] if one is not entry and one["what"] != "categories"]
        assert not recheck_exposure(written, recipe, statement | {"exposure": rest}).holds
    for damaged in ({}, statement | {"exposure": None}, statement | {"exposure": [3]}, {"exposure": []}):
        assert not recheck_exposure(written, recipe, damaged).holds


def test_the_report_has_it_rounded_in_public_and_exact_inside():
    made = microagg.release(people(), RECIPE)
    public, internal = (made._report({}, internal=one) for one in (False, True))
    assert public.facts["exposure"]["entries"] == made.statement.as_dict()["exposure"]
    assert internal.facts["exposure"]["entries"] == made.exposure.exact()
    assert "What k does not hide" in public.as_html()


def test_a_thousand_attributes_are_not_told_one_by_one():
    many = [{"what": "agreement", "attribute": f"a{i}", "classes_of": ["x"], "share": 0.5} for i in range(1000)]
    assert len(describe_exposure(many)) == 13
    assert "988 more" in describe_exposure(many)[-1]


def test_adult_tells_what_ten_anonymity_leaves_open(reference_data):
    adult = reference_data("adult").select(
        ["age", "race", "sex", "education-num", "occupation", "native-country", "fnlwgt", "income"]
    )
    adult = adult.take(np.random.default_rng(0).choice(adult.num_rows, 6000, replace=False))
    kinds = {"age": numeric(), "education-num": numeric()}
    kinds |= {name: nominal() for name in ("race", "sex", "occupation", "native-country")}
    recipe = Recipe(
        k=10,
        attributes=kinds | {"income": SICK, "fnlwgt": {"role": "non_confidential", "kind": "numeric"}},
        missing={"policy": "own_cell", "small": "merge_small"},
    )
    made = microagg.release(adult, recipe)
    stated = {(one["what"], one["attribute"]): one for one in made.statement.as_dict()["exposure"]}
    weights = np.unique(adult["fnlwgt"].to_numpy(), return_counts=True)[1]
    assert stated["unique_values", "fnlwgt"]["values"] == float(f"{(weights == 1).sum():.2g}")
    assert 0.2 < stated["agreement", "income"]["share"] < 0.5
    countries = stated["categories", "native-country"]
    assert countries["after"] < countries["before"] / 2


def test_how_much_a_category_lost_does_not_tell_how_many_had_it():
    place = np.array(["n"] * 342 + ["mill"] * 58)
    place = place[np.random.default_rng(1).permutation(N)]
    place[AGE == 39] = "mill"  # one cell of ten keeps it
    had = int((place == "mill").sum())
    by_age = Recipe(k=10, attributes=RECIPE.attributes | {"place": nominal(weight=0.001)})
    made = microagg.release(people(place=place), by_age)
    has = made.table["place"].to_pylist().count("mill")
    assert 0 < has < had / 2
    (shrunk,) = entries(made, "categories")["place"]["shrunk"]
    assert shrunk == {"category": "mill", "lost": round(1 - has / had, 1)}
    candidates = [n for n in range(has + 10, N) if min(round(1 - has / n, 1), 0.9) == shrunk["lost"]]
    assert len(candidates) > 3
    (exact,) = [one for one in made.exposure.exact() if one["what"] == "categories"]
    assert exact["shrunk"] == [{"category": "mill", "lost": 1 - has / had, "before": had, "after": has}]


def test_a_category_that_one_unit_had_is_never_named_however_many_records_it_has(tmp_path):
    numbers = np.arange(N)
    key = np.where(numbers < 200, "one", np.char.add("p", numbers.astype(str)))
    place = np.where(numbers % 2 == 0, "north", "south").astype(object)
    place[:12], place[12:32] = "hamlet", "farm"  # of one unit each
    place[380:392] = "isle"  # of twelve
    table = pa.table({"id": key, "age": RNG.integers(0, 40, N), "place": place})
    recipe = Recipe(k=80, unit={"key": "id"}, attributes={"id": "identifier", "age": numeric(), "place": nominal()})
    made = microagg.release(table, recipe)
    assert set(made.table["place"].to_pylist()) == {"north", "south"}
    (said,) = entries(made, "categories").values()
    assert (said["vanished"], said["before"], said["counted"]) == ([], None, "units")
    text = " ".join(str(made.statement).split())
    assert "lost categories that fewer than 80 units had each" in text
    assert all(finding.holds for finding in check_release(made.save(tmp_path / "out", report=True)))
    alone = recipe.changed({"unit": None, "k": 12, "attributes": dict(recipe.attributes)})
    assert "counted" not in entries(microagg.release(table, alone), "categories").get("place", {})
