"""The study of guided cells: its table, its intervals, the points it keeps, and one small run of the whole way."""

from __future__ import annotations

import json

import numpy as np
import pyarrow as pa
import pytest

import microagg
from microagg import Recipe
from microagg.studies.guided_cells import run as guided_cells
from microagg.studies.guided_cells.run import METHODS, Split, run, spaces, splits_of
from microagg.studies.guided_cells.settings import LABEL, NOMINAL, NUMERIC, SETTINGS, Setting
from microagg.studies.guided_cells.summary import MethodScores, as_markdown, gather_scores, paired_interval


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


SMALL = Setting(
    "small",
    small_table,
    {"x": NUMERIC, "y": NUMERIC, "job": NOMINAL, "label": LABEL},
    "label",
    "logistic_regression",
)


def test_every_method_is_compared_on_the_same_splits():
    outcomes = gather_scores(run(SMALL, [10], range(2), methods=["plain", "prediction"]))
    assert [(one.method, one.form) for one in outcomes] == [
        ("unprotected", "-"),
        ("plain", "centroids"),
        ("plain", "sampled"),
        ("plain", "paired"),
        ("plain", "shared"),
        ("prediction", "centroids"),
        ("prediction", "sampled"),
        ("prediction", "paired"),
        ("prediction", "shared"),
    ]
    assert all(one.splits == (0, 1) for one in outcomes)
    assert outcomes[1].purity == outcomes[2].purity  # the same cells
    for score in ("accuracy", "f_measure"):
        table = as_markdown(outcomes, score)
        assert len(table.splitlines()) == 2 + 3
        assert all(line.count("|") == 9 for line in table.splitlines())


@pytest.mark.parametrize("method", METHODS)
def test_the_study_publishes_what_a_release_does(method):
    """The study shares models and cells between releases; each must still be the release that a user gets."""
    (split,) = splits_of(SMALL, [1])
    labels, recipe, _ = split.cells(20, method)
    made = split.publish(labels, 20, recipe)
    aggregates = {
        "centroids": {},
        "sampled": {"form": "sampled"},
        "paired": {"form": "sampled", "paired_with": "label", "draws": "moments"},
        "shared": {"form": "sampled", "paired_with": "label", "draws": "shared"},
        "share = 10": {"form": "sampled", "paired_with": "label", "draws": "shared", "share": 10},
    }
    for form, aggregate in aggregates.items():
        asked = Recipe(
            k=20,
            attributes=SMALL.attributes,
            space=spaces("label")[method],
            aggregate=aggregate,
            output={"order": "kept"},
        )
        released = microagg.release(split.train.table, asked, seed=split.number)
        np.testing.assert_array_equal(released.partition, labels)
        assert released.table.equals(made[form].table)


def test_a_number_is_predicted_on_splits_without_classes(capsys, monkeypatch):
    attributes = {"x": NUMERIC, "job": NOMINAL, "y": {"role": "confidential", "kind": "numeric"}}
    number = Setting("number", lambda: small_table().drop_columns(["label"]), attributes, "y", "logistic_regression")
    monkeypatch.setitem(guided_cells.SETTINGS, "heart", number)
    guided_cells.main(["--data", "heart", "--k", "12", "--methods", "plain", "--splits", "2"])
    printed = capsys.readouterr().out
    assert "R squared:" in printed
    assert "Accuracy" not in printed
    assert "| share = 10 |" in printed


def test_finished_points_are_kept_and_not_computed_again(tmp_path, monkeypatch):
    first = run(SMALL, [10], [0], methods=["plain"], results=tmp_path)
    assert len(list(tmp_path.glob("*.json"))) == len(first) == 2
    monkeypatch.setattr(Split, "_score", lambda *_: pytest.fail("computed again"))
    again = run(SMALL, [10], [0], methods=["plain"], results=tmp_path)
    assert json.dumps(again) == json.dumps(first)  # as text, in which NaN equals itself


def test_a_split_does_not_depend_on_how_many_are_run():
    (alone,) = splits_of(SMALL, [1])
    among = list(splits_of(SMALL, [0, 1, 2]))[1]
    assert alone.train.table.equals(among.train.table)
    assert alone.test.table.equals(among.test.table)
    assert not set(alone.train.table["x"].to_pylist()) & set(alone.test.table["x"].to_pylist())


def test_the_discriminant_is_left_out_where_it_cannot_be_tuned():
    (split,) = splits_of(SMALL, [0])  # 120 records to train on
    assert split.can(96, "discriminant (auto)")
    assert not split.can(97, "discriminant (auto)")
    assert split.can(120, "plain")
    assert not split.can(121, "plain")


def test_gains_are_paired_by_split():
    def outcome(method, form, splits, accuracy):
        return MethodScores("t", 1 if method == "unprotected" else 9, method, form, splits, accuracy, accuracy, 0.7)

    three, two = (0, 1, 2), (2, 1)  # in another order, and one split short
    table = as_markdown(
        [
            outcome("unprotected", "-", three, (0.9, 0.9, 0.9)),
            outcome("plain", "centroids", three, (0.5, 0.6, 0.7)),
            outcome("plain", "sampled", three, (0.5, 0.6, 0.7)),
            outcome("plain", "paired", three, (0.6, 0.6, 0.6)),
            outcome("prediction", "centroids", two, (0.8, 0.7)),
            outcome("prediction", "sampled", two, (0.9, 0.9)),
            outcome("prediction", "paired", two, (0.7, 0.6)),
        ]
    )
    first, second = table.splitlines()[-2:]
    assert first.startswith("| 9 | plain | 3 | 0.700 | 60.00 | 60.00 (+0.00 +- 0.00; 0 %) | 60.00 (+0.00 +- ")
    # Of 20 and 30 the interval is t(0.975, 1) = 12.706 times the root of 50 (1/2 + 1/3).
    assert second == (
        "| 9 | prediction | 2 | 0.700 | 75.00 (+10.00 +- 0.00; 40 %) | 90.00 (+25.00 +- 82.02; 100 %) | "
        "65.00 (+0.00 +- 0.00; 0 %) |"
    )


def test_the_command_prints_a_table_and_takes_its_share_of_the_splits(capsys, monkeypatch, tmp_path):
    monkeypatch.setitem(guided_cells.SETTINGS, "heart", SMALL)
    words = ["--data", "heart", "--k", "10", "--methods", "plain", "--splits", "4", "--results", str(tmp_path)]
    guided_cells.main([*words, "--part", "2/2"])
    printed = capsys.readouterr().out
    assert "## small" in printed
    assert printed.count("| 10 | plain | 2 |") == 2
    assert sorted({path.name.split("-")[1] for path in tmp_path.iterdir()}) == ["1", "3"]
    with pytest.raises(SystemExit):
        guided_cells.main([*words, "--part", "3/2"])


def test_the_interval_allows_for_splits_that_share_records():
    differences = [0.0, 1.0, 2.0]
    mean, width = paired_interval(differences)
    assert mean == 1.0
    # t(0.975, 2) = 4.3027 times the root of 1 * (1/3 + 1/3).
    assert width == pytest.approx(4.302653 * np.sqrt(2 / 3), rel=1e-6)
    assert paired_interval([1.0]) == (1.0, np.inf)


def test_the_settings_name_the_columns_of_their_tables(reference_data):
    for name, data in (("adult10", "adult"), ("breast_cancer", "breast_cancer"), ("heart", "heart")):
        reference_data(data)
        table = SETTINGS[name].load()
        assert set(table.column_names) == set(SETTINGS[name].attributes)
        assert sum(column.null_count for column in table.columns) == 0
    assert SETTINGS["adult10"].load().num_rows == 4522
