"""What is bounded in cells is what the literature defines, and cells that are joined keep what both satisfied."""

from __future__ import annotations

import math

import numpy as np
import pytest
from hypothesis import given, settings
from hypothesis import strategies as st

from microagg.privacy.requirement import REQUIREMENTS, ConfidentialValues, Requirement
from microagg.privacy.within_cells import ValueTree
from microagg.schema.attribute import Kind
from microagg.schema.taxonomy import Taxonomy
from requirement_oracle import Asked, Scale, cost_of_the_stated_plan, counts_of, earth_movers_distance, entropy_of

BALANCED = {"office": "any", "field": "any", "clerk": "office", "boss": "office", "smith": "field", "farmer": "field"}
# Leaves at depths 1, 2 and 4; "trade" has one child only.
UNBALANCED = {
    "none": "any",
    "office": "any",
    "clerk": "office",
    "boss": "office",
    "trade": "any",
    "craft": "trade",
    "wood": "craft",
    "joiner": "wood",
    "carver": "wood",
}
# Below "field" are leaves at two depths.
RAGGED = {"idle": "any", "field": "any", "smith": "field", "wood": "field", "joiner": "wood", "carver": "wood"}
FLAT = dict.fromkeys("abcd", "any")
CHAIN = {"one": "any", "two": "one", "three": "two"}
TREES = {"balanced": BALANCED, "unbalanced": UNBALANCED, "ragged": RAGGED, "flat": FLAT, "chain": CHAIN}


def leaves_of(parents):
    return sorted(set(parents) - set(parents.values()))


def nodes_of(parents):
    return sorted(set(parents) | set(parents.values()))


@st.composite
def cells_of_values(draw, values, *, missing=True, max_size=24):
    """Values of some records, None where missing, and the cell of each; all cells are in use."""
    some = st.one_of(values, values, values, st.none()) if missing else values
    records = draw(st.lists(st.tuples(some, st.integers(0, 3)), min_size=1, max_size=max_size))
    labels = np.unique([cell for _, cell in records], return_inverse=True)[1].astype(np.int64)
    return [value for value, _ in records], labels


def in_cell(values, labels, cell):
    return [value for value, label in zip(values, labels, strict=True) if label == cell]


def numbers(values):
    return np.array([math.nan if value is None else value for value in values], dtype=np.float64)


def as_given(values, scale):
    """The values as the package takes them: numbers, ranks among all categories, or codes."""
    tree = None
    if scale.kind == "ordinal":
        coded = [None if value is None else scale.order.index(value) for value in values]
    elif scale.kind == "nominal":
        labels = sorted({value for value in values if value is not None})
        coded = [None if value is None else labels.index(value) for value in values]
        if scale.parents is not None:
            tree = ValueTree.of_taxonomy(Taxonomy(scale.parents), [*labels, None])
    else:
        coded = values
    return ConfidentialValues("secret", numbers(coded), Kind(scale.kind), tree)


def required(key, bound=0.0, rarest=0):
    return Requirement(REQUIREMENTS[key], "secret", bound, rarest)


# Counts

few_numbers = st.sampled_from([0.0, 1.0, 2.0, 2.5, 7.0])


@given(cells_of_values(few_numbers), st.integers(2, 4))
def test_counts_of_values_are_those_of_plain_loops(drawn, rarest):
    values, labels = drawn
    given_values = as_given(values, Scale("numeric"))
    for key in ("distinct_l", "p_sensitive", "entropy_l", "recursive_c_l", "max_share", "min_range"):
        requirement = required(key, rarest=rarest if key == "recursive_c_l" else 0)
        found = requirement.per_cell(given_values, labels)
        assert len(found) == labels.max() + 1
        asked = Asked("secret", key, (2.0, rarest) if key == "recursive_c_l" else 2.0)
        for cell, one in enumerate(found):
            assert one == pytest.approx(asked.found(in_cell(values, labels, cell), values), rel=1e-12), key


@given(
    cells_of_values(few_numbers),
    st.sampled_from(
        [
            *(("distinct_l", 2), ("distinct_l", 3), ("p_sensitive", 2), ("entropy_l", 1.5), ("entropy_l", 2.0)),
            *(("entropy_l", 3.0), ("max_share", 0.5), ("max_share", 0.6), ("max_share", 0.1), ("max_share", 0.9)),
            *(("recursive_c_l", (1.0, 2)), ("recursive_c_l", (2.0, 2)), ("recursive_c_l", (0.5, 2))),
            *(("recursive_c_l", (3.0, 3)), ("min_range", 0.5), ("min_range", 2.0), ("min_range", 7.0)),
        ]
    ),
)
def test_a_bound_that_is_just_reached_holds_as_the_definition_says(drawn, asked):
    values, labels = drawn
    key, bound = asked
    c, rarest = bound if key == "recursive_c_l" else (bound, 0)
    requirement = required(key, float(c), rarest)
    holds = requirement.holds(requirement.per_cell(as_given(values, Scale("numeric")), labels))
    plainly = [Asked("secret", key, bound).holds(in_cell(values, labels, cell), values) for cell in range(len(holds))]
    assert holds.tolist() == plainly


@pytest.mark.parametrize("n_values", [2, 3, 5, 7, 10, 49])
@pytest.mark.parametrize("times", [1, 3, 7])
def test_equally_frequent_values_reach_the_entropy_of_their_number(n_values, times):
    values = np.tile(np.arange(n_values, dtype=float), times)
    requirement = required("entropy_l", float(n_values))
    found = requirement.per_cell(ConfidentialValues("secret", values), np.zeros(len(values), dtype=np.int64))
    assert requirement.holds(found).all()
    assert entropy_of(values.tolist()) == pytest.approx(math.log(n_values))
    assert not required("entropy_l", n_values * (1 + 1e-9)).holds(found).any()


@pytest.mark.parametrize(("share", "holds"), [(0.3, True), (0.29, False), (0.31, True)])
def test_a_share_that_equals_its_bound_holds(share, holds):
    values = [0.0] * 3 + [float(one) for one in range(1, 8)]
    assert counts_of(values)[0] / len(values) == 0.3
    requirement = required("max_share", share)
    found = requirement.per_cell(as_given(values, Scale("numeric")), np.zeros(10, dtype=np.int64))
    assert requirement.holds(found).tolist() == [holds]


# The earth mover

some_programs = settings(max_examples=40)  # each example solves a few linear programs


def distances(values, labels, scale):
    return required("t_closeness").per_cell(as_given(values, scale), labels)


def check_distances(values, labels, scale):
    for cell, found in enumerate(distances(values, labels, scale)):
        exact = earth_movers_distance(in_cell(values, labels, cell), values, scale)
        assert found == pytest.approx(exact, abs=1e-9)


@given(cells_of_values(st.sampled_from([-3.0, 0.0, 0.5, 1.0, 1e6]), missing=False))
@some_programs
def test_numbers_are_as_far_as_the_earth_mover_carries_them_along_their_ranks(drawn):
    check_distances(*drawn, Scale("numeric"))


GRADES = ("never", "low", "mid", "high", "top")


@given(cells_of_values(st.sampled_from(["low", "mid", "top"]), missing=False))
@some_programs
def test_categories_in_order_that_no_record_has_do_not_count(drawn):
    check_distances(*drawn, Scale("ordinal", GRADES))


@given(cells_of_values(st.one_of(few_numbers, st.sampled_from([3.0, 4.0, 5.0])), max_size=16))
@some_programs
def test_missing_numbers_cost_what_the_stated_plan_costs_and_never_less_than_the_earth_mover(drawn):
    values, labels = drawn
    scale = Scale("numeric")
    for cell, found in enumerate(distances(values, labels, scale)):
        some = in_cell(values, labels, cell)
        assert found == pytest.approx(cost_of_the_stated_plan(some, values, scale), abs=1e-9)
        assert found >= earth_movers_distance(some, values, scale) - 1e-9


@given(cells_of_values(st.sampled_from("abcd")))
@some_programs
def test_names_are_all_one_apart_also_from_missing(drawn):
    check_distances(*drawn, Scale("nominal"))


@pytest.mark.parametrize("parents", TREES.values(), ids=TREES)
@given(data=st.data())
@some_programs
def test_leaves_of_a_taxonomy_are_as_far_apart_as_their_lowest_common_ancestor_is_high(parents, data):
    drawn = data.draw(cells_of_values(st.sampled_from(leaves_of(parents))))
    check_distances(*drawn, Scale("nominal", parents=parents))


@pytest.mark.parametrize("parents", TREES.values(), ids=TREES)
@given(data=st.data())
@some_programs
def test_values_that_are_inner_nodes_are_as_far_apart_as_their_lowest_common_ancestor_is_high(parents, data):
    drawn = data.draw(cells_of_values(st.sampled_from(nodes_of(parents)), max_size=12))
    check_distances(*drawn, Scale("nominal", parents=parents))


@pytest.mark.parametrize("parents", TREES.values(), ids=TREES)
def test_every_two_nodes_of_a_taxonomy_are_as_far_apart_as_their_lowest_common_ancestor_is_high(parents):
    values, scale = [*nodes_of(parents), None], Scale("nominal", parents=parents)
    found = ValueTree.of_taxonomy(Taxonomy(parents), values).distances()
    plainly = [[float(scale.distance(one, two, values)) for two in values] for one in values]
    np.testing.assert_allclose(found, plainly, atol=1e-12)


def test_one_value_alone_is_at_no_distance_and_of_no_diversity():
    labels = np.array([0, 0, 1])
    for values in ([3.0, 3.0, 3.0], [None, None, None]):
        given_values = as_given(values, Scale("numeric"))
        assert required("t_closeness").per_cell(given_values, labels).tolist() == [0.0, 0.0]
        assert required("entropy_l").per_cell(given_values, labels).tolist() == [1.0, 1.0]
        assert required("recursive_c_l", rarest=2).per_cell(given_values, labels).tolist() == [math.inf, math.inf]
        assert required("min_range").per_cell(given_values, labels).tolist() == [0.0, 0.0]


# Joining

SCALES = {
    "numeric": (Scale("numeric"), few_numbers),
    "ordinal": (Scale("ordinal", GRADES), st.sampled_from(GRADES)),
    "nominal": (Scale("nominal"), st.sampled_from("abcd")),
    "leaves": (Scale("nominal", parents=UNBALANCED), st.sampled_from(leaves_of(UNBALANCED))),
    "ragged": (Scale("nominal", parents=RAGGED), st.sampled_from(leaves_of(RAGGED))),
    "nodes": (Scale("nominal", parents=UNBALANCED), st.sampled_from(nodes_of(UNBALANCED))),
}


@pytest.mark.parametrize("on", SCALES)
@given(data=st.data())
def test_two_cells_that_satisfy_a_bound_satisfy_it_together(on, data):
    scale, possible = SCALES[on]
    values, labels = data.draw(cells_of_values(possible))
    one, two = data.draw(st.integers(0, int(labels.max()))), data.draw(st.integers(0, int(labels.max())))
    joined = np.unique(np.where(labels == two, one, labels), return_inverse=True)[1].astype(np.int64)
    place = int(joined[np.flatnonzero(labels == one)[0]])
    given_values = as_given(values, scale)
    for key in REQUIREMENTS:
        if key == "min_range" and on != "numeric":
            continue
        for rarest in (2, 3) if key == "recursive_c_l" else (0,):
            found = required(key, rarest=rarest).per_cell(given_values, labels)[[one, two]]
            together = required(key, rarest=rarest).per_cell(given_values, joined)[place]
            if REQUIREMENTS[key].at_least:
                assert together >= found.min() * (1 - 1e-12)
            else:
                assert together <= found.max() * (1 + 1e-12) + 1e-12
