"""The picture of a frontier shows every point, and is about the points."""

from __future__ import annotations

import itertools
import math
import random
import re
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
    marks = [
        line for line in axis.lines if len(line.get_xdata()) == 1 and line.get_marker() not in (".", "|", "_", "None")
    ]
    return axis, [tuple(line.get_transform().transform((line.get_xdata()[0], line.get_ydata()[0]))) for line in marks]


def labels_of(axis):
    """What is written at marks, with its box on the page."""
    return [(text.get_text(), text.get_window_extent()) for text in axis.texts if text.get_path_effects()]


def notes_of(axis):
    return " ".join(axis.figure.get_supxlabel().split())


def assert_readable(axis, marks):
    """Every mark is within the axes and apart from others; labels are within, and cover neither marks nor labels."""
    window, per_point = axis.get_window_extent(), axis.figure.dpi / 72
    for x, y in marks:
        assert window.x0 <= x <= window.x1
        assert window.y0 <= y <= window.y1
    apart = [math.dist(one, other) for one, other in itertools.combinations(marks, 2)]
    assert min(apart, default=math.inf) >= 9.9 * per_point
    boxes = [box for _, box in labels_of(axis)]
    for box in boxes:
        assert window.x0 <= box.x0 and box.x1 <= window.x1 and window.y0 <= box.y0 and box.y1 <= window.y1  # noqa: PT018
        assert not any(box.contains(x, y) for x, y in marks)
    assert not any(one.overlaps(other) for one, other in itertools.combinations(boxes, 2))


def point(name, loss, risk, method="mdav", chance=None):
    return FrontierPoint(
        name,
        {"method": method, "k": 3},
        values={"SSE_SST": loss, "distance_linkage": risk},
        baselines={"distance_linkage": chance},
    )


RNG = random.Random(3)
CASES = {
    "one point": [point("a", 0.2, 0.3)],
    "equal points": [point(f"p{i}", 0.2, 0.3, method=f"m{i % 6}") for i in range(60)],
    "points that nearly agree": [point(f"q{i}", 0.4 + i * 1e-5, 0.1 - i * 1e-5, method=f"m{i}") for i in range(12)],
    "sixty points": [point(f"p{i}", RNG.random() ** 3, RNG.random() ** 3, method=f"m{i % 7}") for i in range(60)],
    "a narrow frontier": [point(f"p{i}", 0.1 + i / 400, 0.5 - i / 300, method=f"m{i % 3}") for i in range(40)],
    "zeros": [point("a", 0.0, 0.9), point("b", 0.001, 0.5), point("c", 0.5, 0.0)],
    "all zero": [point("a", 0.0, 0.0), point("b", 0.0, 0.0, method="n")],
    "long names": [
        point(f"p{i}", 0.1 * i, 0.5 / (i + 1), method="a_method_of_a_very_long_name_" * 4 + str(i)) for i in range(9)
    ],
    "many methods": [point(f"p{i}", i + 1.0, 1 / (i + 1), method=f"method_{i}") for i in range(30)],
    "huge and tiny": [point("a", 1e-12, 0.9), point("b", 1e12, 1e-9)],
    "below zero": [point("a", -3.0, 0.9), point("b", 4.0, 0.1)],
}


@pytest.mark.parametrize("name", CASES)
def test_every_point_is_seen_and_labels_cover_nothing(name, monkeypatch, tmp_path):
    axis, marks = drawn(CASES[name], monkeypatch, tmp_path)
    assert len(marks) == len(CASES[name])
    assert_readable(axis, marks)
    shown = len(labels_of(axis))
    left_out = re.search(r"no room for (\d+) label", axis.get_title())
    assert shown + (int(left_out[1]) if left_out else 0) == len(CASES[name])
    page = axis.figure.bbox
    legend = axis.get_legend().get_window_extent()
    assert page.x0 <= legend.x0 <= legend.x1 <= page.x1 + 1
    assert axis.get_window_extent().width > page.width / 3


def test_few_points_have_all_their_labels(monkeypatch, tmp_path):
    points = [point(f"p{i}", 0.05 * 1.3**i, 0.5 / 1.4**i, method=f"m{i % 4}") for i in range(20)]
    axis, _ = drawn(points, monkeypatch, tmp_path)
    assert len(labels_of(axis)) == 20


def test_releases_without_a_place_are_counted(monkeypatch, tmp_path):
    points = [point("a", 0.1, 0.5), point("b", None, 0.5), point("c", float("nan"), 0.2), point("d", 0.1, float("inf"))]
    axis, marks = drawn(points, monkeypatch, tmp_path)
    assert len(marks) == 1
    assert "3 releases are not shown" in notes_of(axis)


def test_a_picture_without_any_point_is_drawn(monkeypatch, tmp_path):
    axis, marks = drawn([point("a", None, None)], monkeypatch, tmp_path)
    assert (marks, axis.get_title()) == ([], "no releases")
    assert "1 release is not shown" in notes_of(axis)


def test_axes_say_in_words_what_they_measure(monkeypatch, tmp_path):
    axis, _ = drawn([point("a", 0.1, 0.5), point("b", 0.3, 0.3)], monkeypatch, tmp_path)
    assert axis.get_xlabel() == "utility: share of the variation lost\n(SSE_SST; lower is better)"
    assert "share of records linked to the right person" in axis.get_ylabel()
    assert {text.get_text()[-2:] for text in axis.get_xticklabels() if text.get_text()} == {" %"}
    assert "MDAV" in [text.get_text() for text in axis.get_legend().get_texts()]
    assert "k: least number of records in a cell" in notes_of(axis)


def test_values_of_many_sizes_are_on_a_logarithmic_scale_with_or_without_zero(monkeypatch, tmp_path):
    axis, _ = drawn([point("a", 0.001, 0.0), point("b", 0.5, 0.001), point("c", 0.6, 0.9)], monkeypatch, tmp_path)
    assert (axis.get_xscale(), axis.get_yscale()) == ("log", "symlog")


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
    assert f"Blind guessing reaches {100 * chance:.3g} %" in notes_of(axis)
    assert len(marks) == 2


def test_chance_among_the_points_is_a_line(monkeypatch, tmp_path):
    axis, _ = drawn([point("a", 0.1, 0.5, chance=0.4), point("b", 0.3, 0.3, chance=0.4)], monkeypatch, tmp_path)
    assert "Dotted line: blind guessing reaches 40 %." in notes_of(axis)
    assert any(set(line.get_ydata()) == {0.4} for line in axis.lines)


def test_points_that_are_apart_keep_their_places():
    points = [(50.0, 50.0), (100.0, 50.0), (200.0, 250.0)]
    assert places_apart(points, 10.0, PAGE) == points


def test_a_crowd_is_spread_within_the_page():
    places = places_apart([(200.0, 150.0)] * 40, 10.0, PAGE)
    assert all(math.dist(one, other) >= 10.0 - 1e-6 for one, other in itertools.combinations(places, 2))
    assert all(0 <= x <= 400 and 0 <= y <= 300 for x, y in places)
