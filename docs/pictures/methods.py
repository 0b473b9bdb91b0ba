"""Draw what each method publishes of a small table: docs/pictures/methods/. Run: python docs/pictures/methods.py [name]

On the left the records of the table (nobody in it exists), in groups that are published alike; on the right what is
published, larger where more records share it.
"""

from __future__ import annotations

import sys
from collections.abc import Mapping
from html import escape
from pathlib import Path
from typing import Any

import numpy as np
import pyarrow as pa
from numpy.typing import NDArray
from scipy.spatial import ConvexHull, QhullError

import microagg
from microagg.methods.catalogue import METHODS
from microagg.methods.method import Method

FOLDER = Path(__file__).with_name("methods")
BOUNDS = {"age": (18, 90), "income": (0, 6000)}
K = 4
EPSILON = 2.0
HUES = ("#3b6fb6", "#c8553d", "#4c9a6a", "#8a5fb0", "#c08a1e", "#3a97a6", "#b84d86", "#77803a", "#5b6b8c", "#a4634f")
GREY, INK = "#8b93a1", "#5c6470"
WIDTH, HEIGHT, GAP, MARGIN, TOP = 330, 250, 40, 14, 30


def small_table() -> dict[str, NDArray[np.int64]]:
    """Forty people in four crowds, and two on their own."""
    rng = np.random.default_rng(11)
    centres = np.array([[28, 1600], [36, 3400], [55, 2500], [72, 1300]])
    points = np.vstack([rng.normal(one, (5, 420), (10, 2)) for one in centres])
    points[9], points[19] = (44, 5300), (84, 3500)
    points[:, 0], points[:, 1] = np.round(points[:, 0]), np.round(points[:, 1], -1)
    whole = np.clip(points, [18, 0], [90, 6000]).astype(np.int64)
    return {"age": whole[:, 0], "income": whole[:, 1]}


def large_table() -> dict[str, NDArray[np.int64]]:
    """Four hundred people: noise needs many."""
    rng = np.random.default_rng(5)
    age = np.clip(rng.normal(48, 15, 400), 18, 90)
    income = np.clip(600 + 45 * age + rng.normal(0, 600, 400), 0, 6000)
    return {"age": np.round(age).astype(np.int64), "income": np.round(income).astype(np.int64)}


def recipe_of(method: Method) -> microagg.Recipe:
    """The recipe of the picture: two numeric quasi-identifiers with public bounds."""
    column = {"role": "quasi_identifier", "kind": "numeric", "resolution": 1}
    recipe: dict[str, Any] = {
        "method": method.name,
        "k": K,
        "attributes": {name: {**column, "bounds": list(ends)} for name, ends in BOUNDS.items()},
        "output": {"order": "kept"},
    }
    if method.is_private:
        del recipe["output"]
        recipe["privacy"] = {"epsilon": EPSILON}
        recipe["k"] = 60 if method.has_cells else recipe["k"]
        if not method.has_cells or method.name.startswith("dp_ranked"):
            del recipe["k"]
    if method.name == "insensitive_mdav":
        recipe["space"] = {"standardize": "bounds"}
    if method.name == "optimal_univariate":
        recipe["blocks"] = {"form": "contiguous", "size": 1}
    if method.mixes_values:
        recipe["k"] = 20
    return microagg.Recipe(**recipe)


def published_by(method: Method) -> tuple[dict[str, Any], dict[str, Any], microagg.Release]:
    """The table, and what the method publishes of it; always the same, by a seed."""
    table = large_table() if method.is_private else small_table()
    release = microagg.release(pa.table(table), recipe_of(method), seed=4)
    return table, release.table.to_pydict(), release


def picture(method: Method) -> str:
    """The SVG of a method."""
    before, after, _release = published_by(method)
    points = np.column_stack([before[name] for name in BOUNDS])
    published = np.column_stack([np.asarray(after[name], dtype=np.float64) for name in BOUNDS])
    linked = not method.is_private
    title = f"{method.title}: a small table, and what is published of it"
    return drawn(title, points, published, linked=linked, radius=3.2 if linked else 1.6)


def drawn(title: str, points: NDArray[Any], published: NDArray[Any], *, linked: bool, radius: float) -> str:
    """Two panels: records, and what is published of them; `linked` if row by row, so that groups can be outlined."""
    groups = _groups(published) if linked else {}
    hues = {row: _hue(number) for number, group in enumerate(groups.values()) for row in group}
    left = [_hull(points[group], _hue(number)) for number, group in enumerate(groups.values())]
    left.append(_cloud(points, hues, radius))
    total = 2 * WIDTH + GAP + 2 * MARGIN
    return "\n".join(
        [
            f'<svg xmlns="http://www.w3.org/2000/svg" viewBox="0 0 {total} {HEIGHT + TOP + 2 * MARGIN + 14}" '
            f'font-family="system-ui, sans-serif" font-size="12" role="img">',
            f"<title>{escape(title)}</title>",
            _panel(MARGIN, f"The table: {len(points)} records", left),
            _panel(MARGIN + WIDTH + GAP, f"Published: {_told(groups, len(published))}", _shared(published, linked)),
            "</svg>",
            "",
        ]
    )


def _told(groups: Mapping[Any, list[int]], n_rows: int) -> str:
    """What is counted of the published rows."""
    if not groups:
        return f"{n_rows} rows, epsilon {EPSILON:g}"
    rarest, alone = min(map(len, groups.values())), sum(len(group) == 1 for group in groups.values())
    last = f"the rarest is shared by {rarest}" if rarest > 1 else f"{alone} belong to one record"
    return f"{len(groups)} combinations; {last}"


def _panel(x: int, caption: str, marks: list[str]) -> str:
    frame = f'<rect width="{WIDTH}" height="{HEIGHT}" rx="6" fill="none" stroke="{GREY}" stroke-opacity=".45"/>'
    axes = (
        f'<text x="{WIDTH}" y="{HEIGHT + 15}" text-anchor="end" fill="{INK}" font-size="11">age</text>'
        f'<text x="6" y="14" fill="{INK}" font-size="11">income</text>'
    )
    words = f'<text y="-9" fill="{INK}">{escape(caption)}</text>'
    return f'<g transform="translate({x} {MARGIN + TOP - 10})">{words}{frame}{axes}\n' + "\n".join(marks) + "</g>"


def _place(point: NDArray[np.float64]) -> tuple[float, float]:
    """Where a record is drawn: what lies outside the bounds, on the edge."""
    (low_x, high_x), (low_y, high_y) = BOUNDS.values()
    x = (point[0] - low_x) / (high_x - low_x) * (WIDTH - 24) + 12
    y = HEIGHT - 12 - (point[1] - low_y) / (high_y - low_y) * (HEIGHT - 36)
    return round(float(np.clip(x, 4, WIDTH - 4)), 1), round(float(np.clip(y, 4, HEIGHT - 4)), 1)


def _groups(published: NDArray[np.float64]) -> Mapping[tuple[float, ...], list[int]]:
    found: dict[tuple[float, ...], list[int]] = {}
    for row, values in enumerate(published.tolist()):
        found.setdefault(tuple(values), []).append(row)
    return found


def _hue(number: int) -> str:
    return HUES[number % len(HUES)]


def _cloud(points: NDArray[Any], hues: Mapping[int, str], radius: float) -> str:
    by_hue: dict[str, list[NDArray[Any]]] = {}
    for row, point in enumerate(points):
        by_hue.setdefault(hues.get(row, GREY), []).append(point)
    return "\n".join(_dots(some, hue, radius) for hue, some in by_hue.items())


def _dots(points: list[NDArray[Any]], hue: str, radius: float) -> str:
    """Points of one size as one path of round ends: a tenth of the bytes of circles."""
    path = "".join("M{} {}h0".format(*_place(point)) for point in points)
    return (
        f'<path d="{path}" stroke="{hue}" stroke-width="{2 * radius:.1f}" stroke-linecap="round" '
        f'stroke-opacity=".85" fill="none"/>'
    )


def _shared(published: NDArray[np.float64], linked: bool) -> list[str]:
    """Each published combination once, its area by how many records share it."""
    by_look: dict[tuple[str, float], list[NDArray[Any]]] = {}
    for number, (values, rows) in enumerate(_groups(published).items()):
        hue, unit = (_hue(number), 2.4) if linked else (HUES[0], 1.5)
        by_look.setdefault((hue, round(unit * len(rows) ** 0.5, 1)), []).append(np.array(values))
    return [_dots(points, hue, radius) for (hue, radius), points in by_look.items()]


def _hull(points: NDArray[Any], hue: str) -> str:
    """The outline of a group, with room around it."""
    places = np.unique(np.array([_place(point) for point in points]), axis=0)
    try:
        corners = places[ConvexHull(places).vertices] if len(places) > 2 else places
    except QhullError:  # all on one line
        corners = places[[0, -1]]
    path = "M" + "L".join(f"{x} {y}" for x, y in corners) + "Z"
    return f'<path d="{path}" fill="{hue}" stroke="{hue}" opacity=".22" stroke-width="13" stroke-linejoin="round"/>'


def pictured() -> list[Method]:
    """The methods that have a page: moments over other cells than MDAV's are on one page with `dp_moments`."""
    return [method for name, method in METHODS.items() if not name.startswith("dp_moments_")]


if __name__ == "__main__":
    FOLDER.mkdir(exist_ok=True)
    for one in pictured():
        if not sys.argv[1:] or one.name in sys.argv[1:]:
            (FOLDER / f"{one.name}.svg").write_text(picture(one), encoding="utf-8")
