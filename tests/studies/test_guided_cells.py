"""The study of guided cells: its table, its intervals, and one small run of the whole way."""

from __future__ import annotations

import numpy as np
import pyarrow as pa
import pytest

from microagg.studies.guided_cells import LABEL, NOMINAL, NUMERIC, Setting, as_markdown, paired_interval, run


def small_table():
    rng = np.random.default_rng(0)
    x, y = rng.normal(size=(2, 160))
    return pa.table(
        {
            "x": x,
            "y": y,
            "job": rng.choice(["a", "b"], 160),
            "label": np.where(x * y > 0, "yes", "no"),
        }
    )


def test_every_method_is_compared_on_the_same_splits():
    attributes = {"x": NUMERIC, "y": NUMERIC, "job": NOMINAL, "label": LABEL}
    setting = Setting("small", small_table, attributes, "label", "logistic_regression")
    outcomes = run(setting, [10], 2, methods=["plain", "prediction (1)"])
    assert [(one.method, one.form) for one in outcomes] == [
        ("unprotected", "-"),
        ("plain", "centroids"),
        ("plain", "sampled"),
        ("prediction (1)", "centroids"),
        ("prediction (1)", "sampled"),
    ]
    assert all(len(one.accuracy) == 2 for one in outcomes)
    assert outcomes[1].purity == outcomes[2].purity  # the same cells
    table = as_markdown(outcomes)
    assert len(table.splitlines()) == 2 + 5
    assert all(line.count("|") == 10 for line in table.splitlines())


def test_the_interval_allows_for_splits_that_share_records():
    differences = [0.0, 1.0, 2.0]
    mean, width = paired_interval(differences)
    assert mean == 1.0
    # t(0.975, 2) = 4.3027 times the root of 1 * (1/3 + 1/3).
    assert width == pytest.approx(4.302653 * np.sqrt(2 / 3), rel=1e-6)


def test_the_settings_name_the_columns_of_their_tables(reference_data):
    from microagg.studies.guided_cells import SETTINGS

    for name, data in (("adult10", "adult"), ("breast_cancer", "breast_cancer"), ("heart", "heart")):
        reference_data(data)
        table = SETTINGS[name].load()
        assert set(table.column_names) == set(SETTINGS[name].attributes)
        assert sum(column.null_count for column in table.columns) == 0
    assert SETTINGS["adult10"].load().num_rows == 4522
