"""Pictures of bars: what is written beside them can be read."""

from __future__ import annotations

from itertools import pairwise

import pytest

from microagg.reports.figures import bar_chart, histogram

_LETTER, _LINE = 6.7, 10.5  # of the font of 12 pixels: how wide a digit is, and how high


def test_numbers_beside_two_bars_fit_and_do_not_overlap():
    figure = bar_chart(
        [{"label": "north", "before": 12_345, "after": 13_579}, {"label": None, "before": 9, "after": 1}]
    )
    places = [bar["text_y"] for row in figure["rows"] for bar in row["bars"]]
    assert all(below - above > _LINE for above, below in pairwise(places))
    for row in figure["rows"]:
        for bar in row["bars"]:
            end = figure["left"] + bar["width"] + 6 + _LETTER * len(bar["text"])
            assert end <= figure["width"] + 8  # the margin of the picture
    assert places[-1] < figure["height"]


@pytest.mark.parametrize("names", [[f"19{i:02d}-01-02" for i in range(40, 80)], [f"{13091.5 + i}" for i in range(30)]])
def test_numbers_below_a_histogram_are_whole_and_apart(names):
    figure = histogram([{"from": one, "to": None, "width": 1, "before": 1, "after": 1} for one in names])
    spans = []
    for tick in figure["ticks"]:
        wide = _LETTER * len(tick["text"])
        start = tick["x"] - {"start": 0, "middle": wide / 2, "end": wide}[tick["anchor"]]
        spans.append((start, start + wide))
    assert spans[0][0] >= -8.5  # the margin of the picture
    assert spans[-1][1] <= figure["width"] + 8.5
    assert all(before[1] < after[0] for before, after in pairwise(spans))
