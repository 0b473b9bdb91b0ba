"""Distortions, diversity and linkage of dependence-guided cells on the field's benchmark files.

k = 10, MDAV on (x, beta y) in z-scores, the first six attributes quasi-identifiers, the others confidential. The
dependence paper prints curves only; these are figures of an independent implementation of its text.
"""

from __future__ import annotations

import numpy as np
import pyarrow as pa
import pytest

import microagg
from declarations import numeric

LAMBDAS = np.arange(11) / 10
REFERENCE = {
    "census": {
        "D_X": [0.0999, 0.1117, 0.1248, 0.1392, 0.1504, 0.1638, 0.1769, 0.1942, 0.2185, 0.2578, 0.3581],
        "D_Y": [0.3706, 0.2474, 0.1796, 0.1524, 0.1365, 0.1226, 0.1125, 0.0999, 0.0914, 0.0826, 0.0734],
        "l_avg": [3.08, 3.00, 2.86, 2.72, 2.69, 2.56, 2.52, 2.49, 2.42, 2.28, 2.19],
        "distance_linkage": [0.0907, 0.0824, 0.0741, 0.0685, 0.0630, 0.0546, 0.0565, 0.0509, 0.0472, 0.0407, 0.0222],
    },
    "tarragona": {
        "D_X": [0.2546, 0.2587, 0.2778, 0.2893, 0.3073, 0.3195, 0.3231, 0.3516, 0.3885, 0.4118, 0.4432],
        "D_Y": [0.4918, 0.4235, 0.4114, 0.4042, 0.3629, 0.3428, 0.3215, 0.3112, 0.2848, 0.2778, 0.2722],
        "l_avg": [2.61, 2.59, 2.47, 2.42, 2.28, 2.29, 2.28, 2.30, 2.23, 2.23, 2.07],
    },
}
TOLERANCE = {"l_avg": 0.005}


def as_floats(table):
    """Means of whole numbers would be rounded to whole numbers."""
    return pa.table({name: table[name].cast(pa.float64()) for name in table.column_names})


def recipe_for(table, lambda_, **more):
    roles = [numeric()] * 6 + [{"role": "confidential", "kind": "numeric"}] * (len(table.column_names) - 6)
    return microagg.Recipe(
        k=10,
        space={"dependence": {"lambda": float(lambda_)}},
        output={"order": "kept"},
        attributes=dict(zip(table.column_names, roles, strict=True)),
        **more,
    )


@pytest.mark.parametrize("name", REFERENCE)
def test_the_trade_off_of_dependence(reference_data, name):
    table = as_floats(reference_data(name))
    measured = {}
    for lambda_ in LAMBDAS:
        recipe = recipe_for(table, lambda_)
        made = microagg.release(table, recipe)
        found = microagg.evaluate(table, made.table, recipe)
        measured[lambda_] = {what: found[what].value for what in REFERENCE[name]}
        # The release tells the same of itself as an outsider measures.
        (facts,) = (stage["guided"][0] for stage in made.manifest.stages if stage["stage"] == "space")
        assert facts["D_X"] == pytest.approx(found["D_X"].value)
        assert facts["D_Y"] == pytest.approx(found["D_Y"].value)
        assert facts["diversity"]["l_avg"] == pytest.approx(found["l_avg"].value)
        assert found["distance_linkage"].value <= 1 / 10
    for what, values in REFERENCE[name].items():
        got = [measured[lambda_][what] for lambda_ in LAMBDAS]
        np.testing.assert_allclose(got, values, atol=TOLERANCE.get(what, 0.0005), rtol=0, err_msg=what)


@pytest.mark.parametrize(("size", "expected", "linked"), [(2, 0.0176, 0.945), (3, 0.0450, 0.618), (6, 0.0999, 0.091)])
def test_blocks_lose_less_and_link_more(reference_data, size, expected, linked):
    table = as_floats(reference_data("census"))
    recipe = recipe_for(table, 0.0, blocks={"form": "contiguous", "size": size})
    found = microagg.evaluate(table, microagg.release(table, recipe).table, recipe)
    assert found["D_X"].value == pytest.approx(expected, abs=0.0005)
    assert found["distance_linkage"].value == pytest.approx(linked, abs=0.0006)
