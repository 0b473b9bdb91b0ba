"""The picture of a frontier shows every point, and is about the points."""

from __future__ import annotations

import itertools
import math
from dataclasses import replace

import pytest

from microagg.frontier.frontier import Axes, Frontier, FrontierPoint
from microagg.frontier.mark_places import places_apart
from optional_packages import need

matplotlib_figure = need("matplotlib.figure")

PAGE = (0.0, 0.0, 400.0, 300.0)


def drawn(points, monkeypatch, tmp_path, axes=("SSE_SST", "distance_linkage")):
    """The axes of the picture, and where the marks of points are on the page."""
    kept = []
    save = matplotlib_figure.Figure.savefig
    monkeypatch.setattr(
        matplotlib_figure.Figure, "savefig", lambda figure, *a, **k: (kept.append(figure), save(figure, *a, **k))
    )
    Frontier(tuple(points), Axes(*axes), axes).plot(tmp_path / "frontier.png")
    (axis,) = kept[0].axes
    kept[0].draw_without_rendering()
    marks = [line for line in axis.lines if len(line.get_xdata()) == 1 and line.get_marker() not in (".", "|", "_")]
    return axis, [tuple(line.get_transform().transform((line.get_xdata()[0], line.get_ydata()[0]))) for line in marks]


def point(name, loss, risk, method="mdav", chance=None):
    return FrontierPoint(
        name,
        {"method": method, "k": 3},
        values={"SSE_SST": loss, "distance_linkage": risk},
        baselines={"distance_linkage": chance},
    )


def test_no_mark_hides_another(monkeypatch, tmp_path):
    points = [point(f"p{i}", 0.2, 0.3, method=f"m{i}") for i in range(6)]
    points += [point(f"q{i}", 0.4 + i * 1e-5, 0.1 - i * 1e-5, method=f"m{i}") for i in range(6)]
    axis, marks = drawn(points, monkeypatch, tmp_path)
    assert len(marks) == len(points)
    apart = min(math.dist(one, other) for one, other in itertools.combinations(marks, 2))
    assert apart >= 9.9 * axis.figure.dpi / 72


def test_labels_say_what_is_required_of_confidential_values(monkeypatch, tmp_path):
    points = [point("a", 0.1, 0.5), point("b", 0.3, 0.3)]
    points = [
        replace(one, settings={**one.settings, "l": 2, "t": t}) for one, t in zip(points, (0.3, 0.05), strict=True)
    ]
    axis, _ = drawn(points, monkeypatch, tmp_path)
    assert {"k=3, l=2, t=0.3", "k=3, l=2, t=0.05"} <= {text.get_text() for text in axis.texts}


@pytest.mark.parametrize("chance", [1e-7, 0.0, 0.99])
def test_the_axes_are_set_by_the_points_and_not_by_chance(chance, monkeypatch, tmp_path):
    points = [point("a", 0.1, 0.5, chance=chance), point("b", 0.3, 0.3, chance=chance)]
    axis, marks = drawn(points, monkeypatch, tmp_path)
    low, high = sorted(axis.get_ylim())
    assert high - low < 2 * (0.5 - 0.3)
    said = [text.get_text() for text in axis.get_legend().get_texts()]
    assert any(text.startswith(f"by chance: {chance:.3g}") for text in said)
    assert len(marks) == 2


def test_chance_among_the_points_is_a_line(monkeypatch, tmp_path):
    axis, _ = drawn([point("a", 0.1, 0.5, chance=0.4), point("b", 0.3, 0.3, chance=0.4)], monkeypatch, tmp_path)
    assert "by chance" in [text.get_text() for text in axis.get_legend().get_texts()]


def test_points_that_are_apart_keep_their_places():
    points = [(50.0, 50.0), (100.0, 50.0), (200.0, 250.0)]
    assert places_apart(points, 10.0, PAGE) == points


def test_a_crowd_is_spread_within_the_page():
    places = places_apart([(200.0, 150.0)] * 40, 10.0, PAGE)
    assert all(math.dist(one, other) >= 10.0 - 1e-6 for one, other in itertools.combinations(places, 2))
    assert all(0 <= x <= 400 and 0 <= y <= 300 for x, y in places)
