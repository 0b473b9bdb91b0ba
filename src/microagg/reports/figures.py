"""Where the bars of a picture stand; templates draw them as SVG with every word escaped."""

from __future__ import annotations

from collections.abc import Mapping, Sequence
from typing import Any

from microagg.reports.plain import percent

__all__ = ["bar_chart", "bars_from", "counted_classes", "histogram", "rows_of_bars", "shade", "sizes_of"]

_WIDTH, _HEIGHT, _FOOT = 320.0, 88.0, 20.0
_HEAD, _EDGE = 20.0, 8.0
_ROW, _LABEL, _BAR = 16.0, 126.0, 138.0
_PAIR, _BAR_OF_PAIR = 29.0, 98.0  # two bars with a number each, the second with its change: 1,234 (+12 %)
_MOST_LETTERS = 30
_FONT, _NARROW, _WIDE = 11.5, 6.6, 9.2  # the font of a label, and how wide its letters are
_MOST_BARS = 20
_TOLD = 40


def histogram(bins: Sequence[Mapping[str, Any]]) -> dict[str, Any]:
    """Bars side by side, their area the share; where bins were pooled, bars are wide and low.

    Examples
    --------
    >>> figure = histogram([{"from": None, "to": "5", "width": 1, "after": 0.5, "text": "50 %"},
    ...                     {"from": "5", "to": None, "width": 1, "after": 0.5, "text": "50 %"}])
    >>> len(figure["bars"]), [tick["text"] for tick in figure["ticks"]]
    (2, ['5'])
    """
    total = sum(one["width"] for one in bins)
    sides = [side for side in ("after", "before") if any(side in one for one in bins)]  # an outline over filled bars
    densities = {side: [one[side] / one["width"] for one in bins] for side in sides}
    highest = max((value for values in densities.values() for value in values), default=0) or 1
    bars, ticks, x = [], [], 0.0
    last = -100.0
    for i, one in enumerate(bins):
        width = _WIDTH * one["width"] / total
        for side in sides:
            height = (_HEIGHT - 6) * densities[side][i] / highest
            bars.append(
                {
                    "side": side,
                    "is_open": one.get("from") is None or one.get("to") is None,
                    "x": round(x + 0.5, 1),
                    "y": round(_HEIGHT - height, 1),
                    "width": round(max(width - 1, 0.5), 1),
                    "height": round(height, 1),
                    "title": _interval(one, side),
                }
            )
        if one.get("from") is not None:
            tick = _tick(x, one["from"])
            aside = _NARROW * len(one["from"]) / 2
            if x - last > 8 + 7.5 * len(one["from"]) + (aside if tick["anchor"] == "end" else 0):
                ticks.append(tick)
                last = x + (aside if tick["anchor"] == "start" else 0)
        x += width
    text = ", ".join(bar["title"] for bar in bars[:_TOLD]) + (" ..." if len(bars) > _TOLD else "")
    size = {"width": _WIDTH, "height": _HEIGHT + _FOOT, "base": _HEIGHT}
    return {**size, "bars": bars, "ticks": ticks, "told": text}


def _tick(x: float, text: str) -> dict[str, Any]:
    """A number below its place; beside it where the picture ends."""
    half = _NARROW * len(text) / 2
    anchor = "start" if x < half - _EDGE else "end" if x > _WIDTH + _EDGE - half else "middle"
    return {"x": round(x, 1), "text": text, "anchor": anchor}


def _interval(one: Mapping[str, Any], side: str) -> str:
    value = one["text"] if "text" in one else f"{one[side]} records {side}"
    if one.get("from") is None and one.get("to") is None:
        return value
    if one.get("from") is None:
        return f"below {one['to']}: {value}"
    return f"{one['from']} or more: {value}" if one.get("to") is None else f"{one['from']} to {one['to']}: {value}"


def counted_classes(bins: Sequence[Mapping[str, Any]], mark: int) -> dict[str, Any]:
    """Bars of equal width, their height the number of classes, and a line before bar number `mark`.

    Bins of a range have the numbers at their ends below them; others have their label below their middle.

    Examples
    --------
    >>> figure = counted_classes([{"label": "below 3", "classes": 1}, {"label": "3", "classes": 4}], 1)
    >>> [bar["title"] for bar in figure["bars"]], figure["mark"]
    (['below 3: 1 class', '3: 4 classes'], 160.0)
    """
    width = _WIDTH / max(len(bins), 1)
    highest = max((one["classes"] for one in bins), default=0) or 1
    bars, ticks = [], []
    last = -100.0
    for i, one in enumerate(bins):
        height = (_HEIGHT - _HEAD) * one["classes"] / highest
        bars.append(
            {
                "x": round(i * width + 0.5, 1),
                "y": round(_HEIGHT - height, 1),
                "width": round(width - 1, 1),
                "height": round(height, 1),
                "middle": round((i + 0.5) * width, 1),
                "count": one["classes"],
                "title": f"{one['label']}: {one['classes']} {'class' if one['classes'] == 1 else 'classes'}",
            }
        )
        places = [(one["label"], (i + 0.5) * width)]
        if "from" in one:
            places = [(one["from"], i * width), (one["to"], (i + 1) * width)]
        for text, x in places:
            if x - last > 8 + 7.5 * len(text):
                ticks.append({"x": round(x, 1), "text": text})
                last = x
    told = ", ".join(bar["title"] for bar in bars)
    size = {"width": _WIDTH, "height": _HEIGHT + _FOOT, "base": _HEIGHT}
    return {**size, "bars": bars, "ticks": ticks, "mark": round(mark * width, 1), "told": told}


def bar_chart(bars: Sequence[Mapping[str, Any]], other: str = "all others together") -> dict[str, Any]:
    """Bars below each other, one per category (two where there is a before and an after).

    Examples
    --------
    >>> bar_chart([{"label": "a", "after": 0.25}])["rows"][0]["bars"][0]["text"]
    '25 %'
    """
    sides = [side for side in ("before", "after") if any(side in one for one in bars)]
    highest = max((one[side] for one in bars for side in sides), default=0) or 1
    height, longest = (_ROW, _BAR) if len(sides) < 2 else (_PAIR, _BAR_OF_PAIR)
    thick = (height - 6) / max(len(sides), 1)
    rows: list[dict[str, Any]] = []
    for i, one in enumerate(bars):
        label = other if one["label"] is None else one["label"]
        rows.append(
            {
                **_label(label),
                "y": round(i * height + height / 2 + 4, 1),
                "bars": [
                    {
                        "side": side,
                        "y": round(i * height + 3 + j * thick, 1),
                        "height": round(thick - 1, 1),
                        "width": round(longest * one[side] / highest, 1),
                        "text_y": round(i * height + 3 + j * thick + thick / 2 + 3.5, 1),
                        "text": _told(one, side, is_all=len(bars) == 1),
                    }
                    for j, side in enumerate(sides)
                ],
            }
        )
    text = ", ".join(f"{row['label']} {' and '.join(bar['text'] for bar in row['bars'])}" for row in rows)
    return {"width": _WIDTH, "height": max(height * len(bars), 1), "left": _LABEL, "rows": rows, "told": text}


def _label(label: str) -> dict[str, Any]:
    """A label as it is drawn: smaller if it is long, and cut if it is longer still; the whole one is its tooltip."""
    cut = label if len(label) <= _MOST_LETTERS else f"{label[: _MOST_LETTERS - 1]}…"
    return {"label": cut, "whole": label, "size": round(_FONT * min(1.0, (_LABEL - 8) / max(_width_of(cut), 1)), 1)}


def _width_of(label: str) -> float:
    """About how wide a label is drawn."""
    return sum(_WIDE if char.isupper() or char in "mwMW" or ord(char) > 0x2E7F else _NARROW for char in label)


def _told(one: Mapping[str, Any], side: str, *, is_all: bool) -> str:
    """The number at the end of a bar; after a count before, by how much it changed."""
    value = one[side]
    if isinstance(value, float):
        return "<1 %" if not value else ">99 %" if value == 1 and not is_all else percent(value)
    before = one.get("before", 0) if side == "after" else 0
    return f"{value:,}" + (f" ({100 * (value - before) / before:+.0f} %)" if before and value != before else "")


def rows_of_bars(
    bars: Sequence[Mapping[str, Any]], value: str = "share", *, before: Sequence[Mapping[str, Any]] = ()
) -> dict[str, Any]:
    """Bars below each other, with their label to the left and ``text`` (or the share) at their end.

    Parameters
    ----------
    bars : sequence of mapping
        Each with ``label`` and a number under `value`.
    before : sequence of mapping
        Those of the original, drawn above the others; bars of one label go together.

    Examples
    --------
    >>> rows_of_bars([{"label": "1 to 4", "share": 0.25}])["rows"][0]["bars"][0]["text"]
    '25 %'
    """
    labels = list(dict.fromkeys(one["label"] for one in (*before, *bars)))
    of = {"before": {one["label"]: one for one in before}, "after": {one["label"]: one for one in bars}}
    joined: list[tuple[str, dict[str, tuple[float, str | None]]]] = []
    for label in labels:
        both = {side: found.get(label, {}) for side, found in of.items() if side == "after" or before}
        joined.append((label, {side: (one.get(value) or 0.0, one.get("text")) for side, one in both.items()}))
    highest = max((number for _, sides in joined for number, _ in sides.values()), default=0) or 1
    height = _ROW if not before else 1.5 * _ROW
    rows = []
    for i, (label, sides) in enumerate(joined):
        thick = (height - 4) / len(sides)
        rows.append(
            {
                **_label(label),
                "y": round(i * height + height / 2 + 4, 1),
                "bars": [
                    {
                        "side": side,
                        "y": round(i * height + 2 + j * thick, 1),
                        "height": round(thick - 1, 1),
                        "width": round(_BAR * min(number / highest, 1), 1),
                        "text_y": round(i * height + 2 + j * thick + thick / 2 + 3.5, 1),
                        "text": text or (percent(number) if number else "none"),
                    }
                    for j, (side, (number, text)) in enumerate(sides.items())
                ],
            }
        )
    told = ", ".join(f"{row['label']}: {' and '.join(bar['text'] for bar in row['bars'])}" for row in rows[:_TOLD])
    return {"width": _WIDTH, "height": max(height * len(rows), 1), "left": _LABEL, "rows": rows, "told": told}


def bars_from(
    facts: Sequence[Mapping[str, Any]], label: str, value: str, *, shares: bool = True
) -> list[dict[str, Any]]:
    """Bars of facts that have a number, as shares or as numbers from 0 to 1; of many facts the 20 largest.

    Examples
    --------
    >>> bars_from([{"of": "age", "JSD": 0.0}, {"of": "pay", "JSD": None}], "of", "JSD", shares=False)
    [{'label': 'age', 'share': 0.0, 'text': '<0.01'}]
    """
    bars = []
    for one in facts:
        number = one[value]
        if number is None:
            continue
        little = "<1 %" if shares else "<0.01"
        text = little if number < 0.005 else percent(number) if shares else f"{number:.2f}"
        bars.append({"label": str(one[label]), "share": number, "text": text})
    return sorted(bars, key=lambda bar: -bar["share"])[:_MOST_BARS] if len(bars) > _MOST_BARS else bars


def sizes_of(block: Mapping[str, Any]) -> list[dict[str, Any]]:
    """The sizes of cells, or of classes, as bars.

    Examples
    --------
    >>> sizes_of({"of": "cell", "sizes": [{"size": "3 to 5", "cells": 1200}]})
    [{'label': '3 to 5', 'share': 1200, 'text': '1,200'}]
    """
    many = "cells" if block["of"] == "cell" else "classes"
    return [{"label": one["size"], "share": one[many], "text": f"{one[many]:,}"} for one in block["sizes"]]


def shade(value: float | None) -> str:
    """The background of a correlation: blue above zero, red below, the deeper the farther.

    Examples
    --------
    >>> shade(0.0), shade(1.0), shade(None)
    ('#ffffff', '#a6c8f0', '#f3f3f3')
    """
    if value is None:
        return "#f3f3f3"
    far = min(abs(value), 1.0)
    full = (166, 200, 240) if value >= 0 else (244, 180, 164)
    return "#" + "".join(f"{round(255 + (part - 255) * far):02x}" for part in full)
