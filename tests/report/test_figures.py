"""Pictures of bars: what is written beside them can be read."""

from __future__ import annotations

from itertools import pairwise

from microagg.reports.figures import bar_chart

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
