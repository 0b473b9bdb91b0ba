"""What rows of a release are: records whose originals the holder knows, repeated means, or ranks."""

from __future__ import annotations

import numpy as np
import pyarrow as pa
import pytest

import microagg
from declarations import nominal, numeric
from microagg import InputError, Recipe
from microagg.evaluation.evaluate import DEFINITIONS
from optional_packages import need

N = 120
RNG = np.random.default_rng(3)
X = RNG.normal(size=N)
PEOPLE = pa.table({"x": X, "c": RNG.choice(["a", "b"], N), "pay": X + RNG.normal(size=N)})
SURVEY = {"x": numeric(), "c": nominal(), "pay": {"role": "confidential", "kind": "numeric"}}
BOUNDED = pa.table({"u": RNG.integers(0, 100, N), "v": RNG.integers(0, 10, N)})
BOUNDS = {"u": numeric(bounds=[0, 100]), "v": numeric(bounds=[0, 10])}

OF_EACH_ATTRIBUTE = {"JSD", "KS", "wasserstein", "variation_means", "variation_variances", "range_query_error"}


def values(found):
    return {one.name: one.value for one in found if one.value is not None}


def test_a_shuffled_release_has_every_figure_of_the_same_release_in_order():
    shuffled = microagg.release(PEOPLE, Recipe(k=4, attributes=SURVEY))
    kept = microagg.release(PEOPLE, Recipe(k=4, attributes=SURVEY, output={"order": "kept"}))
    wanted = values(microagg.evaluate(PEOPLE, kept.table, kept.recipe, measures="all"))
    assert {"SSE_SST", "distance_linkage", "interval_disclosure_rank", "label_purity"} <= set(wanted)
    for found in (
        microagg.evaluate(PEOPLE, shuffled, measures="all"),
        microagg.evaluate(PEOPLE, shuffled.table, shuffled.recipe, measures="all", origins=shuffled.origins),
    ):
        # By chance is drawn anew in another order of rows; values are not.
        assert values(found) == pytest.approx(wanted)


def test_records_that_were_left_out_do_not_spoil_the_origins():
    table = PEOPLE.set_column(0, "x", pa.array([None if i % 7 == 0 else float(x) for i, x in enumerate(X)]))
    made = microagg.release(table, Recipe(k=4, attributes=SURVEY, missing={"policy": "suppress"}))
    found = microagg.evaluate(table, made)
    assert made.statement.n_records < N
    x, published = np.array(table["x"].to_pylist(), dtype=float)[made.origins], made.table["x"].to_numpy()
    assert found["SSE"].value == pytest.approx(((x - published) ** 2).sum())


def test_a_release_is_judged_against_its_own_input_only():
    need("pandas")
    made = microagg.release(PEOPLE, Recipe(k=4, attributes=SURVEY))
    turned = PEOPLE.take(np.arange(N)[::-1])
    for other in (turned, PEOPLE.slice(1), PEOPLE.drop_columns(["pay"])):
        with pytest.raises(InputError, match="not the table that the release was made from"):
            microagg.evaluate(other, made)
    assert values(microagg.evaluate(PEOPLE.to_pandas(), made))["SSE_SST"] > 0


@pytest.mark.parametrize(
    ("origins", "said"),
    [
        ([0.5] * N, "whole numbers"),
        (range(N - 1), "are for 119 released records"),
        ([*range(N - 1), N], "does not have"),
        ([*range(N - 1), 0], "twice"),
    ],
)
def test_origins_that_cannot_be_are_refused(origins, said):
    made = microagg.release(PEOPLE, Recipe(k=4, attributes=SURVEY))
    with pytest.raises(InputError, match=said):
        microagg.evaluate(PEOPLE, made.table, made.recipe, origins=list(origins))


def private(method, form):
    return Recipe(method=method, k=5, attributes=BOUNDS, privacy={"epsilon": 1.0, "form": form})


def test_ranks_are_never_measured_as_if_they_were_records():
    made = microagg.release(BOUNDED, private("dp_individual_ranking", "marginals"))
    for found in (
        microagg.evaluate(BOUNDED, made, measures="all"),
        microagg.evaluate(BOUNDED, made.table, made.recipe, measures="all"),
        microagg.evaluate(BOUNDED, made.table, made.recipe.schema, measures="all", rows="ranks"),
    ):
        assert set(values(found)) == OF_EACH_ATTRIBUTE
        for one in found:
            assert one.name in {*OF_EACH_ATTRIBUTE, "categories_lost"} or "ranks, not records" in one.note


def test_repeated_means_have_structure_but_no_anonymity():
    made = microagg.release(BOUNDED, private("dp_insensitive_mdav", "centroids"))
    found = microagg.evaluate(BOUNDED, made, measures="all")
    assert OF_EACH_ATTRIBUTE | {"correlation_difference", "pMSE", "count_query_error"} <= set(values(found))
    assert not [one.name for one in found if one.about == "risk" and one.value is not None]
    assert "repeated means, not records" in found["k"].note


@pytest.mark.parametrize(("method", "form"), [("dp_individual_ranking", "aligned"), ("dp_laplace", "records")])
def test_private_records_are_measured_as_records(method, form):
    k = {} if method == "dp_laplace" else {"k": 5}
    recipe = Recipe(method=method, attributes=BOUNDS, privacy={"epsilon": 1.0, "form": form}, **k)
    found = values(microagg.evaluate(BOUNDED, microagg.release(BOUNDED, recipe)))
    assert {"k", "SSE_SST", "distance_linkage", "correlation_difference"} <= set(found)


def test_what_rows_are_must_be_a_known_word():
    with pytest.raises(InputError, match="records, means, ranks"):
        microagg.evaluate(PEOPLE, PEOPLE, Recipe(k=4, attributes=SURVEY), rows="marginals")


def test_every_measure_of_risk_speaks_of_records():
    assert {str(one.holds_of) for one in DEFINITIONS if one.about == "risk"} == {"records"}
