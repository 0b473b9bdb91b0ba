"""Where the marks of a frontier stand; a template draws them as SVG, every word escaped, every mark a link."""

from __future__ import annotations

import math
from collections.abc import Mapping, Sequence
from typing import Any

from microagg.frontier.mark_places import places_apart

__all__ = ["frontier_picture", "number"]

_WIDTH, _HEIGHT = 720.0, 430.0
_LEFT, _RIGHT, _TOP, _FOOT = 74.0, 18.0, 18.0, 52.0
_APART, _PAD = 15.0, 18.0
_WIDE = 50.0
_SHAPES = ("circle", "square", "diamond", "triangle", "down")
_TICKS = 6


def number(value: float | None) -> str:
    """A figure with as many digits as one can use.

    Examples
    --------
    >>> number(0.123456), number(12345.6), number(None), number(0.0)
    ('0.123', '12,346', '–', '0')
    """
    if value is None:
        return "–"
    return f"{value:,.0f}" if abs(value) >= 1000 else f"{value:.3g}"


def frontier_picture(points: Sequence[Mapping[str, Any]], axes: Mapping[str, Mapping[str, Any]]) -> dict[str, Any]:
    """Marks, ticks and the line through the points that no other beats; better is to the left and down.

    Examples
    --------
    >>> axes = {name: {"name": name, "better": "lower"} for name in ("utility", "risk")}
    >>> points = [{"name": "a", "settings": {"method": "mdav", "k": 3}, "best": True, "failures": [],
    ...            "values": {"utility": 0.1, "risk": 0.2}}]
    >>> picture = frontier_picture(points, axes)
    >>> [mark["name"] for mark in picture["marks"]], picture["methods"]
    (['a'], [{'name': 'mdav', 'shape': 'circle', 'place': 0}])
    """
    across, up = axes["utility"], axes["risk"]
    able = [one for one in points if not one["failures"] and None not in (_value(one, across), _value(one, up))]
    drawn = sorted(able, key=lambda one: not one["best"])
    scale_x = _Scale([_known(one, across) for one in drawn], _LEFT + _PAD, _WIDTH - _RIGHT - _PAD, across["better"])
    scale_y = _Scale([_known(one, up) for one in drawn], _HEIGHT - _FOOT - _PAD, _TOP + _PAD, up["better"])
    at = [(scale_x.at(_known(one, across)), scale_y.at(_known(one, up))) for one in drawn]
    frame = (_LEFT, _TOP, _WIDTH - _RIGHT, _HEIGHT - _FOOT)
    methods = list(dict.fromkeys(str(one["settings"].get("method")) for one in points))
    marks = []
    for one, true, place in zip(drawn, at, places_apart(at, _APART, frame), strict=True):
        method = methods.index(str(one["settings"].get("method")))
        marks.append(
            {
                "name": one["name"],
                "best": one["best"],
                "shape": _SHAPES[method % len(_SHAPES)],
                "colour": method % 6,
                "x": round(place[0], 1),
                "y": round(place[1], 1),
                "from_x": round(true[0], 1),
                "from_y": round(true[1], 1),
                "moved": place != true,
                "text": _settings(one["settings"]),
                "said": f"{one['name']}: {across['name']} {number(_value(one, across))}, "
                f"{up['name']} {number(_value(one, up))}{', beaten by no other' if one['best'] else ''}",
            }
        )
    best = sorted((place for one, place in zip(drawn, at, strict=True) if one["best"]), key=lambda place: place[0])
    return {
        "width": _WIDTH,
        "height": _HEIGHT,
        "left": _LEFT,
        "right": _WIDTH - _RIGHT,
        "top": _TOP,
        "base": _HEIGHT - _FOOT,
        "marks": _labelled(marks),
        "line": _steps(best),
        "x_ticks": scale_x.ticks(),
        "y_ticks": scale_y.ticks(),
        "methods": [
            {"name": name, "shape": _SHAPES[i % len(_SHAPES)], "place": i % 6} for i, name in enumerate(methods)
        ],
        "n_best": len(best),
    }


def _value(point: Mapping[str, Any], axis: Mapping[str, Any]) -> float | None:
    found: float | None = point["values"].get(axis["name"])
    return found


def _known(point: Mapping[str, Any], axis: Mapping[str, Any]) -> float:
    return float(point["values"][axis["name"]])


def _settings(settings: Mapping[str, Any]) -> str:
    """What distinguishes a point of a method, in few letters."""
    symbols = {"epsilon": "ε", "lambda": "λ", "alpha": "α"}
    words = [f"{symbols.get(key, key)}={value:g}" if not isinstance(value, str) else f"{symbols.get(key, key)}={value}"
             for key, value in settings.items() if key != "method" and value is not None]  # fmt: skip
    return ", ".join(words)


def _labelled(marks: list[dict[str, Any]]) -> list[dict[str, Any]]:
    """The marks with a label each, beside it, where that hides no other mark or label."""
    taken = [(mark["x"] - 8, mark["y"] - 8, mark["x"] + 8, mark["y"] + 8) for mark in marks]
    for mark in marks:
        wide = 6.4 * len(mark["text"])
        for dx, dy, anchor in ((11, 4, "start"), (-11, 4, "end"), (0, -12, "middle"), (0, 20, "middle")):
            x, y = mark["x"] + dx, mark["y"] + dy
            left = x - {"start": 0.0, "end": wide, "middle": wide / 2}[anchor]
            box = (left, y - 10, left + wide, y + 2)
            inside = box[0] >= _LEFT and box[2] <= _WIDTH and box[1] >= 0 and box[3] <= _HEIGHT - _FOOT
            others = [one for one in taken if one[:2] != (mark["x"] - 8, mark["y"] - 8)]
            if inside and not any(
                box[0] < one[2] and one[0] < box[2] and box[1] < one[3] and one[1] < box[3] for one in others
            ):
                taken.append(box)
                mark["label"] = {"x": round(x, 1), "y": round(y, 1), "anchor": anchor}
                break
    return marks


def _steps(places: Sequence[tuple[float, float]]) -> str:
    """The line through places as steps, since between two releases there is none."""
    if len(places) < 2:
        return ""
    words = [f"M{places[0][0]:.1f} {places[0][1]:.1f}"]
    words += [f"H{x:.1f} V{y:.1f}" for x, y in places[1:]]
    return " ".join(words)


class _Scale:
    """From values to places on the page; logarithmic where values are far apart, turned so that better is first."""

    def __init__(self, values: Sequence[float], start: float, end: float, better: str) -> None:
        low, high = (min(values), max(values)) if values else (0.0, 1.0)
        self.is_log = low > 0 and high > _WIDE * low
        self._low, self._high = (math.log10(low), math.log10(high)) if self.is_log else (low, high)
        if self._high - self._low < 1e-12 * max(abs(self._low), 1.0):
            room = abs(self._low) / 2 or 0.5
            self._low, self._high = self._low - room, self._high + room
        self._start, self._end = (start, end) if better == "lower" else (end, start)

    def at(self, value: float) -> float:
        placed = math.log10(value) if self.is_log else value
        return self._start + (self._end - self._start) * (placed - self._low) / (self._high - self._low)

    def ticks(self) -> list[dict[str, Any]]:
        """Round numbers along the axis."""
        if self.is_log:
            powers = range(math.floor(self._low), math.ceil(self._high) + 1)
            values = [step * 10.0**power for power in powers for step in (1, 2, 5)]
            values = [value for value in values if self._low <= math.log10(value) <= self._high]
        else:
            rough = (self._high - self._low) / _TICKS
            power = 10.0 ** math.floor(math.log10(rough))
            step = next(one * power for one in (1, 2, 5, 10) if one * power >= rough)
            first = math.ceil(self._low / step)
            values = [i * step for i in range(first, math.floor(self._high / step) + 1)]
        return [{"at": round(self.at(value), 1), "text": f"{value:.4g}"} for value in values]
