"""Measures of re-identification: of a release, and of its original in the details."""

from __future__ import annotations

import numpy as np
import pyarrow as pa
import pytest

import microagg
from declarations import nominal, numeric
from microagg import Recipe

RNG = np.random.default_rng(7)
PEOPLE = pa.table(
    {
        "age": RNG.integers(20, 60, 300),
        "zip": RNG.choice(["a", "b", "c"], 300),
        "ill": RNG.choice(["flu", "gout"], 300),
        "w": RNG.uniform(1, 20, 300),
    }
)
ATTRIBUTES = {"age": numeric(), "zip": nominal(), "ill": "confidential", "w": "non_confidential"}
RECIPE = Recipe(k=4, sampling_weight="w", attributes=ATTRIBUTES)
NAMES = ("in_pairs", "marketer_risk", "records_at_risk", "special_uniques", "individual_risk")


@pytest.fixture(scope="module")
def found():
    released = microagg.release(PEOPLE, RECIPE, seed=1)
    return microagg.evaluate(PEOPLE, released, measures="reidentification"), microagg.risk(PEOPLE, RECIPE)


def test_the_original_in_the_details_is_the_assessment_before(found):
    after, before = found
    assert [one.name for one in after] == list(NAMES)
    original = {name: after[name].details["original"] for name in NAMES}
    assert original["in_pairs"] == before.combinations.in_pairs / 300
    assert original["marketer_risk"] == pytest.approx(before.marketer["table"])
    assert original["records_at_risk"] == before.prosecutor.above[0.1] / 300
    assert original["special_uniques"] == before.special_uniques.records / 300
    assert original["individual_risk"] == pytest.approx(before.estimated.average)


def test_shares_above_thresholds_are_those_of_the_assessment(found):
    after, _ = found
    released = microagg.release(PEOPLE, RECIPE, seed=1).table
    before, then = (microagg.risk(one, RECIPE, thresholds=[0.05, 0.1, 0.2, 0.33]) for one in (PEOPLE, released))
    details = after["records_at_risk"].details
    for threshold in (0.05, 0.2, 0.33):
        assert details[f"above {threshold}, original"] == before.prosecutor.above[threshold] / 300
        assert details[f"above {threshold}"] == then.prosecutor.above[threshold] / 300
    assert after["individual_risk"].details["above 0.1, original"] == before.estimated.above[0.1] / 300


def test_a_release_is_safer_than_its_original(found):
    after, _ = found
    assert after["special_uniques"].value == after["in_pairs"].value == 0.0
    assert after["marketer_risk"].value <= 1 / 4
    for name in ("marketer_risk", "individual_risk"):
        assert after[name].value < after[name].details["original"]


def test_what_is_lacking_is_said():
    plain = Recipe(k=4, attributes=ATTRIBUTES)
    found = microagg.evaluate(PEOPLE, PEOPLE, plain, measures="individual_risk", aligned=True)
    assert (found["individual_risk"].value, found["individual_risk"].note[:22]) == (None, "needs sampling weights")
    without = microagg.evaluate(PEOPLE, PEOPLE.drop_columns(["w"]), RECIPE, measures="individual_risk", aligned=True)
    assert "lacks sampling weights" in without["individual_risk"].note
    single = Recipe(k=4, attributes=ATTRIBUTES | {"zip": "non_confidential"})
    found = microagg.evaluate(PEOPLE, PEOPLE, single, measures="special_uniques", aligned=True)
    assert "needs two quasi-identifiers" in found["special_uniques"].note


def test_values_of_single_records():
    found = microagg.evaluate(PEOPLE, PEOPLE, RECIPE, measures="reidentification", aligned=True, per_record=True)
    values = found.per_record.values
    assert set(values) == {"marketer_risk", "special_uniques", "individual_risk"}
    assert values["marketer_risk"].values.mean() == pytest.approx(found["marketer_risk"].value)
    assert (values["special_uniques"].values > 0).mean() == pytest.approx(found["special_uniques"].value)
