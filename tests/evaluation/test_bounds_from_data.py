"""Errors are measured by the domain of the release: declared, or read from the data as the recipe says."""

from __future__ import annotations

import numpy as np
import pyarrow as pa
import pytest

import microagg
from declarations import numeric


def recipe_of(bounds):
    declared = numeric() | ({} if bounds is None else {"bounds": bounds})
    return microagg.Recipe(
        method="dp_laplace",
        privacy={"epsilon": 1.0, **({"bounds": "from_data"} if bounds is None else {})},
        output={"order": "kept"},
        attributes={"x": declared},
    )


@pytest.mark.parametrize("low", [2.0, -4.0])
def test_bounds_read_from_the_data_count_as_declared_ones_would(low):
    x = np.append(np.linspace(0.0, 9.0, 40), [low, 10.0])
    table, other = pa.table({"x": x}), pa.table({"x": x[::-1] + 0.3})
    widened = [1.5 * min(0.0, low), 15.0]
    measures = ["relative_error", "IL", "JSD"]
    read = microagg.evaluate(table, other, recipe_of(None), measures=measures, aligned=True)
    declared = microagg.evaluate(table, other, recipe_of(widened), measures=measures, aligned=True)
    by_range = microagg.evaluate(table, other, recipe_of([low, 10.0]), measures=measures, aligned=True)
    for name in measures:
        assert read[name].value == declared[name].value
    assert read["relative_error"].value != by_range["relative_error"].value


def test_hamming_distortion_is_the_share_that_the_best_guess_of_a_cell_gets_wrong():
    table = pa.table({"x": [1.0, 1.0, 1.0, 5.0, 5.0], "job": ["a", "a", "b", "c", None]})
    recipe = microagg.Recipe(k=2, attributes={"x": numeric(), "job": {"role": "confidential", "kind": "nominal"}})
    found = microagg.evaluate(table, table, recipe, measures=["D_Y_hamming"], aligned=True)
    assert found["D_Y_hamming"].value == pytest.approx(2 / 5)  # b, and one of c and missing
