"""Numbers and codes that cannot be partitioned are refused in a sentence: columns and counts, never values."""

from __future__ import annotations

from dataclasses import replace

import numpy as np
import pytest

from microagg import MDAV, VMDAV, NearOptimal, refine
from microagg.errors import ParameterError
from microagg.partition.projection import Projection
from microagg.space.points import NominalColumn, Points
from microagg.space.valid_points import valid_points

N = 30
TABLE = 1.0 - np.eye(5)


def records(column: NominalColumn | None = None, **places: float) -> Points:
    """Two numbers and a code; a value of the fourth record is another if `places` names its column."""
    rng = np.random.default_rng(0)
    values = np.column_stack([rng.normal(size=(N, 2)), rng.integers(0, 5, N)])
    for place, value in places.items():
        values[3, ["first", "second", "code"].index(place)] = value
    return Points(values, (column or NominalColumn("region", 5),))


def spoiled(table: np.ndarray, value: float) -> np.ndarray:
    table = table.copy()
    table[1] = value
    return table


BY_TABLE, WITH_MISSING = NominalColumn("region", 5, 1.0, TABLE), NominalColumn("region", 5, 1.0, None, np.ones(5))
NOT_VALID = [
    (records(first=np.nan), r"column 0 has numbers that are NaN or infinite \(1 of 30\)"),
    (records(second=-np.inf), r"column 1 has numbers that are NaN or infinite \(1 of 30\)"),
    (records(code=777.25), r"column 'region' has codes that are not whole numbers \(1 of 30\)"),
    (records(code=np.nan), r"column 'region' has codes that are not whole numbers \(1 of 30\)"),
    (records(code=777.0), r"column 'region' has codes that stand for none of its 5 categories \(1 of 30\)"),
    (records(code=5.0), r"column 'region' has codes that stand for none of its 5 categories \(1 of 30\)"),
    (records(code=-777.0), r"codes that stand for none of its 5 categories \(1 of 30\)"),
    (records(code=np.inf), r"codes that stand for none of its 5 categories \(1 of 30\)"),
    (records(BY_TABLE, code=5.0), r"codes that stand for none of its 5 categories \(1 of 30\)"),
    (records(WITH_MISSING, code=6.0), r"none of its 5 categories, nor for a missing value \(1 of 30\)"),
    *(
        (records(replace(BY_TABLE, weight=weight)), "the weight of column 'region' must be a finite number")
        for weight in (np.nan, np.inf, -777.0)
    ),
    (records(replace(BY_TABLE, n_categories=-1)), "n_categories of column 'region' must be a whole number"),
    (records(replace(BY_TABLE, n_categories=5.0)), "n_categories of column 'region' must be a whole number"),
    (records(replace(BY_TABLE, table=TABLE[:4])), r"table of column 'region' has the shape \(4, 5\)"),
    (records(replace(BY_TABLE, table=TABLE.astype(str))), "table of column 'region' must be an array of numbers"),
    *(
        (
            records(replace(BY_TABLE, table=spoiled(TABLE, value))),
            r"table of column 'region' has distances that are NaN, infinite or below 0 \(5 of 25\)",
        )
        for value in (np.nan, np.inf, -777.0)
    ),
    (records(replace(WITH_MISSING, to_missing=np.ones(4))), r"to_missing of column 'region' has the shape \(4,\)"),
    (records(replace(WITH_MISSING, to_missing=spoiled(np.ones(5), np.nan))), r"to_missing .* NaN, .* \(1 of 5\)"),
    (Points(np.zeros(N)), "values has 1 dimensions; it needs two"),
    (Points(np.zeros((N, 1)), (NominalColumn("a", 1), NominalColumn("b", 1))), "values has 1 columns, and nominal"),
    (Points(np.zeros((N, 0))), "values has 0 columns, and nominal describes 0 of them"),
    (Points(np.full((N, 1), "777")), "values must be an array of numbers"),
]


@pytest.mark.parametrize(("points", "message"), NOT_VALID, ids=lambda one: one[:40] if isinstance(one, str) else "")
def test_what_cannot_be_partitioned_is_refused_with_columns_and_counts(points, message):
    for run in (
        MDAV(k=3).fit,
        VMDAV(k=3).fit,
        NearOptimal(k=3, random_state=0).fit,
        lambda given: refine(np.arange(N) // 3, given, 3),
    ):
        with pytest.raises(ParameterError, match=message) as refused:
            run(points)
        assert "777" not in str(refused.value)


@pytest.mark.parametrize("value", [np.nan, np.inf])
def test_a_method_of_coordinates_refuses_points_whose_numbers_are_not_finite(value):
    X = np.random.default_rng(1).normal(size=(N, 2))
    X[5, 1] = value
    with pytest.raises(ParameterError, match=r"column 1 has numbers that are NaN or infinite \(1 of 30\)"):
        Projection(k=3).fit(Points(X))


def test_too_few_records_are_counted_before_anything_else_is_done():
    none = records().take(np.arange(0))
    with pytest.raises(ParameterError, match="k = 3 needs at least 3 records"):
        MDAV(k=3).fit(none)
    with pytest.raises(ParameterError, match="k = 3 needs at least 3 records"):
        refine([], none, 3)
    with pytest.raises(ParameterError, match="labels has 4 entries; X has 30 records"):
        refine([0, 0, 1, 1], records(), 3)


def test_valid_points_are_taken_as_they_are():
    for points in (records(), records(BY_TABLE), records(WITH_MISSING, code=5.0)):
        assert valid_points(points).values is points.values
        (before,), (after,) = points.nominal, valid_points(points).nominal
        assert after.table is before.table
        assert after.to_missing is before.to_missing
    no_category = Points(np.zeros((N, 1)), (NominalColumn("nothing", 0, 1.0, None, np.ones(0)),))
    assert np.bincount(MDAV(k=3).fit(no_category).labels_).min() >= 3


def test_whole_numbers_and_columns_in_another_order_of_memory_have_the_same_cells():
    codes = np.random.default_rng(2).integers(0, 5, (N, 2))
    whole = tuple(NominalColumn(name, 5, 1, (TABLE * 2).astype(np.int64)) for name in "ab")
    floats = tuple(NominalColumn(name, 5, 1.0, TABLE * 2) for name in "ab")
    expected = MDAV(k=3).fit(Points(codes.astype(float), floats)).labels_
    np.testing.assert_array_equal(MDAV(k=3).fit(Points(np.asfortranarray(codes), whole)).labels_, expected)
