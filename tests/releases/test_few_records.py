"""Public files are silent about fewer than max(k, 10) records, in every figure and in the difference of two."""

from __future__ import annotations

import json

import numpy as np
import pyarrow as pa
import pytest

import microagg
from declarations import nominal, numeric
from microagg import Recipe


def released(rare, **options):
    """A table whose rare jobs vanish into two common ones."""
    jobs = ["A"] * 40 + ["B"] * 40 + rare
    ages = np.random.default_rng(1).integers(20, 60, len(jobs))
    recipe = Recipe(k=5, attributes={"job": nominal(weight=1e-4), "age": numeric(weight=100)})
    return microagg.release(pa.table({"job": jobs, "age": ages}), recipe, seed=1, **options)


def of_categories(release):
    return [entry for entry in release.statement.as_dict()["exposure"] if entry["what"] == "categories"]


def test_beside_a_named_category_the_count_does_not_tell_of_a_rare_one():
    (entry,) = of_categories(released(["C"] * 12 + ["rare"]))
    assert entry["vanished"] == ["C"]
    assert entry["before"] is None
    (entry,) = of_categories(released(["C"] * 13))
    assert entry["before"] == 3


@pytest.mark.parametrize("full", [False, True])
def test_how_many_rare_categories_there_were_is_in_no_public_file(tmp_path, full):
    made = []
    for number, rare in enumerate((["r1"] * 3, ["r1", "r1", "r2"], ["r1", "r2", "r3"])):
        release = released(rare)
        folder = release.save(tmp_path / str(number))
        release.report(folder / "report.html", full=full)
        report = json.loads((folder / "report.json").read_text())
        manifest = json.loads((folder / "manifest.json").read_text())
        made.append(
            (
                of_categories(release),
                manifest["stages"],
                [one for one in report["measures"]["utility"] if one["name"] == "categories_lost"],
            )
        )
    assert made[0] == made[1] == made[2]


@pytest.mark.parametrize("n_rare", [1, 2])
def test_remarks_on_merged_strata_do_not_tell_how_few_records_were_merged(n_rare):
    x = np.random.default_rng(0).integers(20, 60, 40).astype(float)
    strata = ["a"] * 20 + ["b"] * (20 - n_rare) + ["rare"] * n_rare
    recipe = Recipe(k=3, strata={"by": ["s"], "small": "merge_small"}, attributes={"x": numeric(), "s": nominal()})
    remarks = microagg.release(pa.table({"x": x, "s": strata}), recipe).statement.as_dict()["remarks"]
    assert any("fewer than 10 in all" in remark for remark in remarks)
    assert not any(f"({n_rare} in all" in remark for remark in remarks)


@pytest.mark.parametrize("unit", [None, {"key": "id"}, {"key": "id", "together": True}])
def test_runs_of_one_attribute_take_in_the_few_records_that_lack_it(unit):
    """Merged with the others, a missing value has a column of its own in the space, which is no second attribute."""
    table = pa.table({"id": list(range(30)), "x": [None if i in (3, 9) else float(i % 13) for i in range(30)]})
    choices = {"missing": {"policy": "own_cell", "small": "merge_small"}, "output": {"order": "kept"}, "unit": unit}
    attributes = {"id": "identifier", "x": numeric()}
    alone = Recipe(method="optimal_univariate", k=3, attributes=attributes, **choices)
    ranked = Recipe(method="individual_ranking", partition={"cut": "optimal"}, k=3, attributes=attributes, **choices)
    made = microagg.release(table, alone)
    assert made.table.equals(microagg.release(table, ranked).table)
    assert made.table["x"].null_count >= 3
