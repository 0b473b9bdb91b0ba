"""Blocks of attributes: contiguous, of attributes that go together, spread over blocks, or given."""

from __future__ import annotations

from itertools import combinations

import numpy as np
import pytest
from hypothesis import given
from hypothesis import strategies as st

from microagg.errors import RecipeError
from microagg.space.blocks import (
    BlockForm,
    association,
    choose_blocks,
    contiguous_blocks,
    correlated_blocks,
    given_blocks,
    spread_blocks,
)
from microagg.space.points import NominalColumn, Points

WATER = ("PH-E", "PH-P", "PH-D", "DQO-E", "COND-P", "COND-D", "DBO-S", "SS-S", "SED-S")
CENSUS = ("AGI", "FICA", "INTVAL", "EMCONTRB", "TAXINC", "WSALVAL", "ERNVAL", "PEARNVAL", "POTHVAL")


@st.composite
def associations(draw):
    """Names, a symmetric matrix in [0, 1], and a block size."""
    n = draw(st.integers(1, 8))
    half = np.random.default_rng(draw(st.integers(0, 2**32 - 1))).random((n, n))
    if draw(st.booleans()):
        half = np.round(half)
    matrix = np.maximum(half, half.T)
    np.fill_diagonal(matrix, 1.0)
    return tuple("abcdefgh"[:n]), matrix, draw(st.integers(1, 9))


@given(associations())
def test_every_attribute_is_in_one_block_and_blocks_are_full_but_the_last(case):
    names, matrix, size = case
    for blocks in (contiguous_blocks(names, size), correlated_blocks(names, matrix, size)):
        assert sorted(name for block in blocks for name in block) == sorted(names)
        assert all(len(block) == size for block in blocks[:-1])
        assert 1 <= len(blocks[-1]) <= size


@given(associations())
def test_spread_blocks_hold_every_attribute_once_and_none_is_larger_than_asked(case):
    names, matrix, size = case
    blocks = spread_blocks(names, matrix, size)
    assert sorted(name for block in blocks for name in block) == sorted(names)
    assert all(1 <= len(block) <= size for block in blocks)


def test_blocks_of_neighbours():
    assert contiguous_blocks(("a", "b", "c", "d", "e"), 2) == (("a", "b"), ("c", "d"), ("e",))
    assert contiguous_blocks(("a", "b"), 9) == (("a", "b"),)


def test_attributes_that_go_together_share_a_block_whatever_their_order():
    rng = np.random.default_rng(0)
    one, two = rng.normal(size=(2, 500, 1))
    columns = {"a": one, "x": two, "b": one + 0.1 * two, "y": two - 0.1 * one, "c": -one, "z": 2 * two}
    coordinates = list(columns.values())
    chosen = choose_blocks(BlockForm.CORRELATED, tuple(columns), size=3, points=coordinates)
    assert set(chosen) == {("a", "b", "c"), ("x", "y", "z")}
    spread = choose_blocks(BlockForm.SPREAD, tuple(columns), size=2, points=coordinates)
    for block in spread:
        assert len(set(block) & set("abc")) == len(set(block) & set("xyz")) == 1


def test_association_of_numbers_is_the_absolute_correlation():
    X = np.random.default_rng(1).normal(size=(50, 3)) @ np.array([[1, 1, 0], [0, 1, -1], [0, 0, 1.0]])
    np.testing.assert_allclose(association([X[:, [j]] for j in range(3)]), np.abs(np.corrcoef(X.T)))


def test_association_of_categories_is_one_with_themselves_and_does_not_depend_on_their_coding():
    codes = np.random.default_rng(2).integers(0, 3, 200)
    one_hot, renamed = np.eye(3)[codes], np.eye(3)[(codes + 1) % 3]
    other = np.eye(2)[np.random.default_rng(3).integers(0, 2, 200)]
    same, apart = association([one_hot, renamed])[0, 1], association([one_hot, other])[0, 1]
    assert same == pytest.approx(1)
    assert apart < 0.3


def test_a_constant_attribute_goes_with_nothing():
    found = association([np.ones((5, 1)), np.arange(5.0)[:, np.newaxis]])
    assert found.tolist() == [[1, 0], [0, 1]]


def test_given_blocks_are_kept_as_listed():
    assert given_blocks(("a", "b", "c"), [["c", "a"], ["b"]]) == (("c", "a"), ("b",))


@pytest.mark.parametrize(
    ("blocks", "message"),
    [
        ([["a", "b"], ["b", "c"]], r"overlap: 'b' must be in one block only"),
        ([["a", "a"], ["b", "c"]], r"overlap: 'a' must be in one block only"),
        ([["a"]], r"miss 'b', 'c': add to a block, for example attributes = \[\.\.\., \['b', 'c'\]\]"),
        ([["a", "b", "c"], ["income"]], r"names 'income', which is not a declared quasi_identifier"),
        ([["a", "b", "cc"]], r"names 'cc', which is not a declared quasi_identifier\. Did you mean 'c'\?"),
        ([["a", "b", "c"], []], r"has an empty block: leave it out"),
        ([], r"miss 'a', 'b', 'c'"),
    ],
)
def test_given_blocks_that_do_not_fit_are_refused_with_what_mends_them(blocks, message):
    with pytest.raises(RecipeError, match=message):
        given_blocks(("a", "b", "c"), blocks)


def coordinates(table, names):
    return [table[name].to_numpy().astype(float)[:, np.newaxis] for name in names]


def mean_association_within(blocks, names, matrix) -> float:
    pairs = [pair for block in blocks for pair in combinations([names.index(name) for name in block], 2)]
    return float(np.mean([matrix[pair] for pair in pairs]))


def test_on_water_treatment_the_correlated_blocks_are_those_of_the_paper(reference_data):
    complete = reference_data("water").drop_null()
    columns = coordinates(complete, WATER)
    chosen = choose_blocks(BlockForm.CORRELATED, WATER, size=3, points=columns)
    assert set(chosen) == set(contiguous_blocks(WATER, 3))
    spread = choose_blocks(BlockForm.SPREAD, WATER, size=3, points=columns)
    for block in spread:
        assert all(len(set(block) & set(group)) == 1 for group in chosen)


def test_on_census_the_correlated_blocks_are_correlated_and_those_of_the_paper_are_not(reference_data):
    columns = coordinates(reference_data("census"), CENSUS)
    chosen = choose_blocks(BlockForm.CORRELATED, CENSUS, size=3, points=columns)
    assert chosen == (
        ("AGI", "TAXINC", "PEARNVAL"),
        ("FICA", "WSALVAL", "ERNVAL"),
        ("INTVAL", "EMCONTRB", "POTHVAL"),
    )
    matrix = association(columns)
    assert mean_association_within(chosen, CENSUS, matrix) > 0.6
    assert mean_association_within(contiguous_blocks(CENSUS, 3), CENSUS, matrix) < 0.45


@pytest.mark.parametrize("with_table", [False, True])
def test_an_attribute_without_any_value_goes_with_nothing(with_table):
    codes = np.array([0.0, 1.0, 2.0, 0.0, 1.0, 2.0])[:, None]
    table = 1.0 - np.eye(3) if with_table else None
    nothing = Points(np.full((6, 1), 3.0), (NominalColumn("nothing", 3, 1.0, table, np.ones(3)),))
    no_category = Points(np.zeros((6, 1)), (NominalColumn("no category", 0, 1.0, None, np.ones(0)),))
    found = association([Points(codes, (NominalColumn("c", 3),)), nothing, no_category, codes])
    np.testing.assert_array_equal(found[1:3], [[0, 1, 0, 0], [0, 0, 1, 0]])
    assert 0.0 < found[0, 3] < 1.0


def test_an_attribute_without_any_value_has_coordinates_that_do_not_differ():
    nothing = Points(np.full((6, 1), 3.0), (NominalColumn("nothing", 3, 1.0, None, np.ones(3)),))
    assert not np.ptp(nothing.coordinates(), axis=0).any()
