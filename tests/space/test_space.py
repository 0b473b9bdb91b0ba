"""Spaces: squared Euclidean distance in them is the distance that was declared."""

from __future__ import annotations

import numpy as np
import pyarrow as pa
import pytest
from hypothesis import given
from hypothesis import strategies as st

from microagg.errors import TableError
from microagg.schema.attribute import Attribute
from microagg.schema.encode import encode
from microagg.schema.taxonomy import Taxonomy
from microagg.space.mixed import mixed_space
from microagg.space.standardize import standardize
from microagg.tables.frames import Column


def measured(values, **declared):
    return encode(Column("a", pa.array(values)), Attribute(role="quasi_identifier", **declared))


def squared_distances(space):
    gaps = space.matrix[:, None, :] - space.matrix[None, :, :]
    return (gaps**2).sum(axis=2)


def test_zscores_have_mean_zero_and_population_deviation_one():
    z = standardize(np.array([1.0, 2.0, 4.0, 9.0]), "zscore")
    assert z.mean() == pytest.approx(0)
    assert z.std(ddof=0) == pytest.approx(1)


def test_zscores_survive_a_large_offset():
    values = np.array([0.0, 1.0, 2.0, 5.0])
    np.testing.assert_allclose(standardize(values + 2**40, "zscore"), standardize(values, "zscore"), atol=1e-12)


@pytest.mark.parametrize("how", ["zscore", "minmax"])
@pytest.mark.parametrize("unit", [5e-324, 1e-200, 1e200, 8e307])
def test_the_unit_of_measurement_does_not_matter_however_small_or_large(how, unit):
    values = np.array([0.0, 1.0, 2.0, -2.0])
    np.testing.assert_allclose(standardize(values * unit, how), standardize(values, how))


@pytest.mark.parametrize("how", ["zscore", "minmax"])
def test_a_constant_attribute_becomes_zero(how):
    assert (standardize(np.full(5, 0.1), how) == 0).all()


def test_bounds_map_the_declared_range_to_zero_and_one():
    np.testing.assert_allclose(standardize(np.array([10.0, 15.0]), "bounds", bounds=(0.0, 20.0)), [0.5, 0.75])


def test_scaling_by_bounds_without_bounds_names_the_column_and_the_line_to_add():
    with pytest.raises(TableError, match=r"'income'.*Add: bounds = \[low, high\]"):
        standardize(np.array([1.0, 2.0]), "bounds", name="income")


def test_a_weight_multiplies_the_squared_distance():
    plain = squared_distances(mixed_space([measured([1.0, 2.0, 4.0], kind="numeric")]))
    heavy = squared_distances(mixed_space([measured([1.0, 2.0, 4.0], kind="numeric", weight=3.0)]))
    np.testing.assert_allclose(heavy, 3 * plain)


@given(st.lists(st.sampled_from("abcde"), min_size=2, max_size=20))
def test_nominal_squared_distance_is_zero_or_one(labels):
    space = mixed_space([measured(labels, kind="nominal")])
    expected = np.array([[float(a != b) for b in labels] for a in labels])
    np.testing.assert_allclose(squared_distances(space), expected, atol=1e-12)


def test_ordinal_distance_is_that_of_ranks():
    space = mixed_space([measured(["low", "high", "mid"], kind="ordinal", categories=("low", "mid", "high"))], "minmax")
    np.testing.assert_allclose(space.matrix[:, 0], [0, 1, 0.5])


@given(st.dictionaries(st.integers(1, 14), st.integers(0, 13), min_size=2, max_size=14))
def test_with_a_taxonomy_squared_distance_is_the_semantic_distance(raw):
    # Child c hangs on a smaller number: always a tree with root 0.
    tree = Taxonomy.from_parents(
        {str(child): str(parent % child) if parent % child in raw else "0" for child, parent in raw.items()}
    )
    labels = list(tree.parents)
    space = mixed_space([measured(labels, kind="nominal", taxonomy=tree)])
    np.testing.assert_allclose(squared_distances(space), tree.distances(labels), atol=1e-9)


def test_records_that_lack_the_same_value_are_at_distance_zero_and_one_from_a_central_one():
    space = mixed_space([measured([-1.0, 0.0, 1.0, None, None], kind="numeric")])
    distances = squared_distances(space)
    assert distances[3, 4] == 0
    assert distances[3, 1] == pytest.approx(1)
    assert np.isfinite(space.matrix).all()


def test_an_attribute_with_no_values_at_all_is_still_a_point():
    assert np.isfinite(mixed_space([measured(pa.array([None, None], pa.float64()), kind="numeric")]).matrix).all()
