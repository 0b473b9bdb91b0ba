"""A pandas index is no column: it is dropped, and if it looks like data, that is said."""

from __future__ import annotations

import datetime as dt

import pytest

import microagg
from declarations import numeric
from microagg import Recipe
from optional_packages import pandas as pd

RECIPE = Recipe(k=2, attributes={"x": numeric()})


def released(index):
    return microagg.release(pd.DataFrame({"x": [1.0, 2.0, 3.0, 4.0]}, index=index), RECIPE)


@pytest.mark.parametrize("names", [["hospital", "patient"], [None, "patient"]])
def test_a_multiindex_is_dropped_aloud(names):
    index = pd.MultiIndex.from_product([["a", "b"], [1, 2]], names=names)
    with pytest.warns(UserWarning, match=r"the index of the dataframe \(.*'patient'\) is not a column and was dropped"):
        made = released(index)
    assert any("reset_index()" in remark for remark in made.statement.remarks)
    assert made.table.index.equals(pd.RangeIndex(4))


@pytest.mark.parametrize(
    ("index", "said"),
    [
        (pd.Index(["ann", "bob", "cy", "di"], name="who"), "('who')"),
        (pd.Index(["ann", "bob", "cy", "di"]), "(without a name)"),
        (pd.Index([4, 3, 2, 1], name="patient"), "('patient')"),
        (pd.Index([dt.date(2001, 1, day) for day in (1, 2, 3, 4)]), "(without a name)"),
    ],
)
def test_an_index_with_a_name_or_values_is_dropped_with_a_remark(index, said):
    (remark,) = released(index).statement.remarks
    assert said in remark
    assert "ann" not in remark


def test_a_private_release_says_nothing_that_follows_from_values_of_the_index():
    recipe = Recipe(method="dp_laplace", privacy={"epsilon": 1.0}, attributes={"x": numeric(bounds=[0, 10])})
    for index, n_remarks in ((["ann", "bob"], 0), (pd.Index([2, 1], name="who"), 1)):
        made = microagg.release(pd.DataFrame({"x": [1.0, 2.0]}, index=index), recipe)
        assert len(made.statement.remarks) == n_remarks


@pytest.mark.parametrize("index", [None, [7, 3, 5, 1], [0, 0, 0, 0]])
def test_places_of_records_are_dropped_without_a_word(index):
    assert released(index).statement.remarks == ()
