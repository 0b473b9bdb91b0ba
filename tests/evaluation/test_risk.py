"""Risk of whole tables: anonymity, closest records, attribute disclosure, scores, and what cannot be had."""

from __future__ import annotations

import numpy as np
import pyarrow as pa
import pytest

import microagg
from declarations import nominal, numeric, ordinal
from microagg import Recipe
from microagg.evaluation.risk.anonymity import real_anonymity
from microagg.evaluation.risk.attribute_disclosure import skill
from microagg.tables.frames import Frame
from optional_packages import pandas as pd

ATTRIBUTES = {
    "x": numeric(),
    "y": numeric(),
    "c": nominal(),
    "pay": {"role": "confidential", "kind": "numeric"},
    "ill": {"role": "confidential", "kind": "nominal"},
}


def people(n_records, seed):
    rng = np.random.default_rng(seed)
    x, y = rng.normal(size=(2, n_records))
    return pa.table(
        {
            "x": x,
            "y": y,
            "c": rng.choice([*"abc"], n_records),
            "pay": 2 * x + rng.normal(size=n_records),
            "ill": np.where(x + y + rng.normal(size=n_records) > 1, "yes", "no"),
        }
    )


def recipe(k=5, **more):
    return Recipe(k=k, attributes=ATTRIBUTES, **more)


@pytest.fixture(scope="module")
def population():
    return people(300, 0)


@pytest.fixture(scope="module")
def holdout():
    return people(300, 1)


def test_anonymity_agrees_with_counting():
    rng = np.random.default_rng(0)
    table = pa.table({"a": rng.integers(0, 3, 90), "b": rng.choice(["u", None], 90), "c": rng.integers(0, 4, 90)})
    schema = Recipe(k=2, attributes={"a": ordinal(), "b": nominal(), "c": numeric()})
    found = microagg.evaluate(table, table, schema, measures="anonymity", per_record=True)
    rows = list(zip(*(column.to_pylist() for column in table.columns), strict=True))
    counts = [rows.count(row) for row in rows]
    assert found["k"].value == min(counts)
    assert found["k_prime"].value == pytest.approx(90 / len(set(rows)))
    assert found["singled_out"].value == pytest.approx(counts.count(1) / 90)
    assert found.per_record["k"].tolist() == counts
    assert found["k_prime_of_sets"].value == pytest.approx(90 / len(set(rows)))  # one set of three attributes
    pairs = microagg.evaluate(table, table, schema, measures="anonymity", known=[["a", "b"], ["c"]])["k_prime_of_sets"]
    assert pairs.value == pytest.approx((90 / len({row[:2] for row in rows}) + 90 / 4) / 2)
    assert list(pairs.details) == ["a, b", "c"]


def test_combinations_of_many_codes_are_told_apart():
    rng = np.random.default_rng(1)
    columns = [rng.integers(-(2**40), 2**40, 500) for _ in range(3)]
    columns = [np.where(rng.random(500) < 0.8, column[0], column) for column in columns]
    rows = list(zip(*(column.tolist() for column in columns), strict=True))
    assert 1 < len(set(rows)) < 400
    assert real_anonymity(columns) == pytest.approx(500 / len(set(rows)))


def plain_distances(points, queries):
    return np.sqrt(((queries[:, None] - points[None]) ** 2).sum(axis=-1)).min(axis=1)


def coordinates(table, scale):
    """Numbers as z-scores of `scale`; categories as corners of a simplex with edges of length 1."""
    numbers = [(table[name].to_numpy() - scale[name].to_numpy().mean()) / scale[name].to_numpy().std() for name in "xy"]
    letters = np.array(table["c"].to_pylist())
    return np.column_stack([*numbers, *((letters == letter) / np.sqrt(2) for letter in "abc")])


def test_closest_records_agree_with_all_pairs(population, holdout):
    released = microagg.release(population, recipe()).table
    found = microagg.evaluate(
        population, released, recipe(), holdout=holdout, measures="closest", per_record=True, seed=0
    )
    distances = plain_distances(coordinates(population, population), coordinates(released, population))
    assert found["distance_to_closest"].value == pytest.approx(np.median(distances))
    assert found["distance_to_closest"].details["5 %"] == pytest.approx(np.percentile(distances, 5))
    np.testing.assert_allclose(found.per_record["distance_to_closest"], distances, atol=1e-12)
    both = pa.concat_tables([population, holdout])
    inside, outside = (
        plain_distances(coordinates(t, both), coordinates(released, both)) for t in (population, holdout)
    )
    assert found["closer_than_holdout"].value == pytest.approx((inside < outside).mean())
    assert found["closer_than_holdout"].baseline == 0.5
    copied = microagg.evaluate(population, population, recipe(), holdout=holdout, measures="closest")
    assert copied["closer_than_holdout"].value == 1.0
    assert copied["distance_to_closest"].details["share at distance 0"] == 1.0


def test_a_table_that_tells_nothing_is_at_its_baseline(population, holdout):
    others = people(300, 2)
    found = microagg.evaluate(population, others, recipe(), holdout=holdout, measures="closest")["closer_than_holdout"]
    # A share of 300 fair coins has a standard error of 0.029: beyond 0.12 once in 30,000 draws, and the seed is fixed.
    assert abs(found.value - found.baseline) < 0.12


def test_ordered_categories_and_missing_values_of_a_holdout_are_taken():
    grades = pd.Categorical(["low", "mid", "high", None], categories=["low", "mid", "high"], ordered=True)
    frame = pd.DataFrame({"grade": grades, "x": [1.0, None, 3.0, 4.0]})
    schema = Recipe(k=2, attributes={"grade": ordinal(), "x": numeric()})
    found = microagg.evaluate(frame, frame, schema, holdout=frame, measures="closest")
    assert found["closer_than_holdout"].value == 0.5  # as near to the one as to the other
    assert found["distance_to_closest"].value == 0.0


def test_attribute_disclosure_is_skill_beyond_the_most_frequent(population, holdout):
    released = microagg.release(population, recipe(k=3)).table
    names = ["attribute_disclosure", "attribute_disclosure_gain"]
    found = microagg.evaluate(population, released, recipe(), holdout=holdout, measures=names)
    details = found["attribute_disclosure"].details
    assert set(details) == {"pay", "ill"}
    assert found["attribute_disclosure"].value == max(details.values()) > 0
    # The same model on a table without any bond between attributes knows no more than the most frequent category.
    rng = np.random.default_rng(3)
    broken = released
    for name in ("pay", "ill"):
        broken = broken.set_column(broken.column_names.index(name), name, released[name].take(rng.permutation(300)))
    without = microagg.evaluate(population, broken, recipe(), measures="attribute_disclosure")
    assert without["attribute_disclosure"].value < min(details.values())
    # Unprotected records are remembered: skill on them is far above that on others.
    bare = microagg.evaluate(population, population, recipe(), holdout=holdout, measures=names)
    assert bare["attribute_disclosure_gain"].value > 0.2
    assert found["attribute_disclosure_gain"].value < bare["attribute_disclosure_gain"].value


def test_skill_of_a_plain_guess_is_zero_and_of_a_copy_is_one(population):
    from sklearn.dummy import DummyClassifier
    from sklearn.neighbors import KNeighborsClassifier

    frame = Frame.wrap(population)
    schema = recipe().schema
    assert skill(frame, frame, schema, "ill", model=DummyClassifier()) == 0.0
    assert skill(frame, frame, schema, "ill", model=KNeighborsClassifier(1)) == 1.0
    constant = Frame.wrap(population.set_column(4, "ill", pa.array(["no"] * 300)))
    assert skill(frame, constant, schema, "ill") is None
    gaps = Frame.wrap(population.set_column(4, "ill", pa.array([None] * 150 + population["ill"].to_pylist()[150:])))
    assert skill(gaps, gaps, schema, "ill", model=KNeighborsClassifier(1)) == 1.0
    nothing = Frame.wrap(population.set_column(4, "ill", pa.array([None] * 300, pa.string())))
    assert skill(nothing, frame, schema, "ill") is None


def test_scores_add_up(population):
    kept = recipe(output={"order": "kept"})
    released = microagg.release(population, kept).table
    found = microagg.evaluate(population, released, kept, measures="all")
    risk = (found["distance_linkage"].value + found["interval_disclosure_rank"].value) / 2
    assert found["DR"].value == pytest.approx(risk)
    assert found["score"].value == pytest.approx((found["IL"].value + risk) / 2)
    of_sets = (found["distance_linkage_of_sets"].value + found["interval_disclosure_rank"].value) / 2
    assert found["DR_of_sets"].value == pytest.approx(of_sets)
    assert found["score_of_sets"].value == pytest.approx((found["IL"].value + of_sets) / 2)
    for one in found:
        if one.about == "risk" and one.value is not None:
            assert one.low is None or one.value >= one.low, one.name
            assert one.high is None or one.value <= one.high, one.name


def test_what_cannot_be_had_says_why(population):
    released = microagg.release(population, recipe()).table
    found = microagg.evaluate(population, released, recipe(), measures=["risk", "attribute"])
    for name in ("distance_linkage", "probabilistic_linkage", "interval_disclosure_rank", "DR", "score"):
        assert found[name].value is None
        assert 'order = "kept"' in found[name].note
    assert found["closer_than_holdout"].note == "needs a holdout"
    for name in ("k", "k_prime_of_sets", "t_closeness", "attribute_disclosure", "distance_to_closest"):
        assert found[name].value is not None, name
    bare = Recipe(k=5, attributes={name: ATTRIBUTES[name] for name in "xyc"})
    only = population.select([*"xyc"])
    found = microagg.evaluate(only, microagg.release(only, bare).table, bare, measures=["risk", "attribute"])
    for name in ("t_closeness", "beta_likeness", "entropy_l", "p_sensitivity", "attribute_disclosure"):
        assert "no confidential attribute" in found[name].note


def test_values_of_records_are_kept_only_where_asked_and_nowhere_else(population):
    kept = recipe(output={"order": "kept"})
    released = microagg.release(population, kept).table
    names = ["k", "distance_linkage", "probabilistic_linkage", "t_closeness", "entropy_l", "interval_disclosure_rank"]
    assert microagg.evaluate(population, released, kept, measures=names).per_record is None
    found = microagg.evaluate(population, released, kept, measures=names, per_record=True)
    assert set(found.per_record.names) == set(names)
    for name in names:
        assert len(found.per_record[name]) == 300
    assert found.per_record["t_closeness"].max() == pytest.approx(found["t_closeness"].value)
    assert "must not be published" in repr(found.per_record)


def test_cells_of_random_records_are_at_their_baseline():
    rng = np.random.default_rng(4)
    table = pa.table(
        {"x": np.repeat(np.arange(60.0), 10), "pay": rng.normal(size=600), "ill": rng.choice([*"yn"], 600)}
    )
    schema = Recipe(k=2, attributes={"x": numeric(), "pay": ATTRIBUTES["pay"], "ill": ATTRIBUTES["ill"]})
    found = microagg.evaluate(table, table, schema, measures=["closeness", "diversity"])
    for name in ("t_closeness", "delta_disclosure", "beta_likeness", "entropy_l", "l_avg", "label_purity"):
        # Extremes of 60 random cells against the mean of three such extremes; the seed is fixed.
        assert found[name].value == pytest.approx(found[name].baseline, rel=0.35), name
    # Cells that share their values are far from it.
    sorted_pay = table.set_column(1, "pay", pa.array(np.sort(rng.normal(size=600))))
    pay_only = Recipe(k=2, attributes={"x": numeric(), "pay": ATTRIBUTES["pay"], "ill": "non_confidential"})
    near = microagg.evaluate(sorted_pay, sorted_pay, pay_only, measures=["closeness"])["t_closeness"]
    assert near.value > 1.5 * near.baseline


def test_intervals_of_a_release_that_lacks_records_are_those_of_the_whole_original():
    rng = np.random.default_rng(6)
    before = pa.table({"id": np.arange(200), "x": rng.normal(size=200)})
    rows = rng.permutation(200)[:60]
    after = before.take(rows).set_column(1, "x", pa.array(before["x"].to_numpy()[rows] + 0.05))
    schema = Recipe(k=2, attributes={"id": "non_confidential", "x": numeric()})
    found = microagg.evaluate(before, after, schema, key="id", measures="intervals")
    windows = np.arange(1, 11) / 100
    x = before["x"].to_numpy()
    assert found["interval_disclosure_value"].value == pytest.approx((windows * x.std() >= 0.05).mean())
    places = np.array([[(x < value).sum() for value in side] for side in (x[rows], after["x"].to_numpy())])
    apart = np.abs(places[0] - places[1])
    expected = np.mean([(apart <= window * 200).mean() for window in windows])
    assert found["interval_disclosure_rank"].value == pytest.approx(expected)


def test_a_model_that_fits_one_kind_only_says_so(population):
    from sklearn.neighbors import KNeighborsClassifier

    found = microagg.evaluate(
        population, population, recipe(), measures="attribute_disclosure", model=KNeighborsClassifier(1)
    )["attribute_disclosure"]
    assert found.details["ill"] == 1.0
    assert "'pay' by gradient_boosting" in found.note
