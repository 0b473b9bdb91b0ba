"""Many releases of one recipe: grids, tables, and the plot that needs an extra."""

from __future__ import annotations

import itertools
import json
import math

import numpy as np
import pyarrow as pa
import pytest

from declarations import numeric
from microagg import Recipe
from microagg.errors import ParameterError, RecipeError
from microagg.frontier.tradeoff import MEASURES, Tradeoff, grid, tradeoff
from optional_packages import need


@pytest.fixture
def table():
    rng = np.random.default_rng(1)
    x = rng.normal(size=(2, 200))
    return pa.table({"x": x[0], "y": x[1], "pay": np.sin(4 * x[0]) + rng.normal(size=200) / 4})


RECIPE = Recipe(k=5, attributes={"x": numeric(), "y": numeric(), "pay": {"role": "confidential", "kind": "numeric"}})


def test_grids_are_read_without_rounding_errors():
    assert grid("0:1:0.1") == (0.0, 0.1, 0.2, 0.3, 0.4, 0.5, 0.6, 0.7, 0.8, 0.9, 1.0)
    assert grid("0.2") == (0.2,)


@pytest.mark.parametrize("text", ["", "a", "0:1", "0:1:0", "1:0:0.1", "0:1:-1", "0:1:1e-9", "0:1:nan"])
def test_a_grid_that_is_none_is_explained(text):
    with pytest.raises(ParameterError, match="start:stop:step"):
        grid(text)


def test_dependence_is_bought_with_loss_and_diversity(table):
    found = tradeoff(table, RECIPE, "lambda", (0.0, 0.5, 1.0))
    column = {name: [row[name] for row in found.rows] for name in found.columns}
    assert column["D_X"] == sorted(column["D_X"])
    assert column["D_Y"] == sorted(column["D_Y"], reverse=True)
    assert column["l_avg"] == sorted(column["l_avg"], reverse=True)
    assert column["information_loss"] == pytest.approx([100 * value for value in column["D_X"]])
    assert json.loads(found.as_json())["rows"][1]["lambda"] == 0.5
    lines = found.as_csv().splitlines()
    assert len(lines) == 4
    assert float(lines[2].split(",")[2]) == column["D_X"][1]


def test_alpha_is_varied_too(table):
    recipe = RECIPE.changed({"space.discriminant": {"target": "pay", "alpha": 2}})
    found = tradeoff(table, recipe, "alpha", (1.0, 8.0))
    assert found.rows[0]["D_X"] < found.rows[1]["D_X"]
    with pytest.raises(RecipeError, match=r"space\.discriminant\.target: this key is required"):
        tradeoff(table, RECIPE, "alpha", (1.0,))


def test_records_left_out_do_not_keep_the_others_from_being_measured(table):
    x = table["x"].to_pylist()
    x[0] = None
    holes = table.set_column(0, "x", pa.array(x))
    found = tradeoff(holes, RECIPE.changed({"missing.policy": "suppress"}), "lambda", (0.5,))
    without = tradeoff(table.slice(1), RECIPE, "lambda", (0.5,))
    assert found.rows[0]["D_X"] == pytest.approx(without.rows[0]["D_X"], rel=0.02)
    assert found.rows[0]["D_Y"] == pytest.approx(without.rows[0]["D_Y"])


def test_what_cannot_be_had_leaves_a_gap():
    row = dict.fromkeys(("lambda", "information_loss", *MEASURES), 1.0) | {"D_X": None}
    assert Tradeoff("lambda", (row,)).as_csv().splitlines()[1].split(",")[2] == ""


def test_bad_values_and_parameters_are_refused(table):
    with pytest.raises(RecipeError, match="lambda: input should be less than or equal to 1"):
        tradeoff(table, RECIPE, "lambda", (2.0,))
    with pytest.raises(ParameterError, match="parameter must be one of lambda, alpha, l, t"):
        tradeoff(table, RECIPE, "k", (2.0,))


def test_the_plot_is_drawn(table, tmp_path):
    need("matplotlib")
    from microagg.frontier.tradeoff_plot import plot_tradeoff

    found = tradeoff(table, RECIPE, "lambda", (0.0, 0.5))
    plot_tradeoff(found.parameter, found.rows, tmp_path / "p.svg")
    drawn = (tmp_path / "p.svg").read_text()
    assert "<svg" in drawn
    assert "distance of confidential values from their cell's middle" in drawn


def test_what_differs_by_much_is_on_a_logarithmic_axis_and_marks_beside_their_points_are_told(monkeypatch, tmp_path):
    figures = need("matplotlib.figure")
    from microagg.frontier.tradeoff_plot import plot_tradeoff

    kept = []
    monkeypatch.setattr(figures.Figure, "savefig", lambda figure, *a, **k: kept.append(figure))
    names = ("information_loss", *MEASURES)
    rows = [dict.fromkeys(names, 1.0) | {"lambda": i / 4, "D_X": x, "D_Y": 0.5} for i, x in enumerate((0.01, 0.01, 1))]
    plot_tradeoff("lambda", rows, tmp_path / "p.svg")
    [figure] = kept
    assert figure.axes[0].get_xscale() == "log"
    assert "stand beside their point" in figure.get_supxlabel()


TRADED = {
    "as in life": [(0.1 + i / 9, 0.9 - i / 12, 0.2 / (i + 1)) for i in range(11)],
    "all alike": [(0.4, 0.2, 0.5)] * 11,
    "gaps": [(None, 0.2, 0.5), (0.2, None, None), (float("nan"), 0.1, 0.2), (0.3, 0.1, 0.0)],
    "one": [(0.3, 0.1, 0.0)],
    "none": [(None, None, None)],
}


@pytest.mark.parametrize("case", TRADED)
def test_every_release_of_the_picture_is_seen_and_labels_cover_nothing(case, monkeypatch, tmp_path):
    figures = need("matplotlib.figure")
    from microagg.frontier.tradeoff_plot import plot_tradeoff

    kept = []
    monkeypatch.setattr(figures.Figure, "savefig", lambda figure, *a, **k: kept.append(figure))
    rows = [
        {"lambda": i / 10, "information_loss": 1.0, "D_X": x, "D_Y": y, "l_avg": y, "distance_linkage": linkage}
        for i, (x, y, linkage) in enumerate(TRADED[case])
    ]
    plot_tradeoff("lambda", rows, tmp_path / "p.png")
    axis = next(one for one in kept[0].axes if "D_X" in one.get_xlabel())
    marks = [line for line in axis.lines if line.get_marker() == "o"]
    places = [tuple(line.get_transform().transform((line.get_xdata()[0], line.get_ydata()[0]))) for line in marks]
    shown = [row for row in rows if all(row[name] is not None and row[name] == row[name] for name in ("D_X", "D_Y"))]
    assert len(places) == len(shown)
    assert all(math.dist(*two) >= 7.9 * kept[0].dpi / 72 for two in itertools.combinations(places, 2))
    boxes = [text.get_window_extent() for text in axis.texts]
    assert len(boxes) == len(shown)
    assert not any(one.overlaps(other) for one, other in itertools.combinations(boxes, 2))
    assert not any(box.contains(*place) for box, place in itertools.product(boxes, places))
    if len(shown) < len(rows):
        assert (
            f"{len(rows) - len(shown)} of {len(rows)} releases have no value of D_X or D_Y" in kept[0].get_supxlabel()
        )


def test_t_is_bought_with_loss(table, tmp_path):
    recipe = RECIPE.protecting(t_closeness=0.5).changed({"rearrange.by": "merge"})
    found = tradeoff(table, recipe, "t", (0.1, 0.2, 0.4))
    column = {name: [row[name] for row in found.rows] for name in found.columns}
    assert column["t"] == [0.1, 0.2, 0.4]
    assert column["information_loss"] == sorted(column["information_loss"], reverse=True)
    assert all(measured <= t for t, measured in zip(column["t"], column["t_closeness"], strict=True))
    header, *lines = found.as_csv().splitlines()
    assert header.startswith("t,information_loss,t_closeness,")
    assert len(lines) == 3
    need("matplotlib")
    from microagg.frontier.tradeoff_plot import plot_tradeoff

    plot_tradeoff(found.parameter, found.rows, tmp_path / "t.svg")
    assert "information loss" in (tmp_path / "t.svg").read_text()


def test_t_without_confidential_attributes_cannot_be_varied(table):
    recipe = RECIPE.changed({"attributes.pay": {"role": "non_confidential", "kind": "numeric"}})
    with pytest.raises(RecipeError, match="nothing to protect"):
        tradeoff(table, recipe, "t", (0.1,))
