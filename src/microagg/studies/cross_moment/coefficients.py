"""Figures 7 to 10 of the cross-moment paper: coefficient methods."""

from __future__ import annotations

from collections.abc import Iterator, Sequence

import numpy as np

from microagg.studies.cross_moment.crossing import WAYS
from microagg.studies.cross_moment.curves import DEVICE, MATCHED, Curves, draw_curves, parts_of, read_all
from microagg.studies.cross_moment.data import DATA
from microagg.studies.cross_moment.overtaking import m1_overtakes, overtakes, plan_overtaking
from microagg.studies.cross_moment.published import COSKEWNESS_CROSSINGS, COVARIANCE_CROSSING
from microagg.studies.reproduction.comparison import LOG2, Row, claim, compare
from microagg.studies.reproduction.experiment import Grid, Panel, Part, Point

__all__ = [
    "compare_census_1",
    "compare_census_2",
    "compare_eia_1",
    "compare_eia_2",
    "draw_coefficients",
    "plan_coefficients",
]

_M1 = ("2", "3", "4", "5", "6", "7")
_M2 = ("8", "9", "10", "11", "12", "13")
_BASELINES = ("B1", "B2", "B3", "B4", "B5")
_LEVEL = "between the steps, where one cell fewer is left, the two curves run level, so chance tells where they cross"
_MATCHING = "rank matching, the one found that gives the published levels, may not be the paper's"


def plan_coefficients(which: str, epsilon: float, grid: Grid, seed: int) -> list[Part]:
    names = [name for name in DATA if name.startswith(which)]
    return [
        *plan_overtaking(names, [epsilon], grid, seed),
        *parts_of(names, [epsilon], (*(number for number in _M1 if number != "3"), *_M2), grid, seed),
        *parts_of(names, [epsilon], _BASELINES, grid, seed, runs=grid.pick(2, 5, 20)),
    ]


def draw_coefficients(points: Sequence[Point]) -> list[Panel]:
    groups = {"m = 1": ("1", *_M1, "B1", "B2", "B3"), "m = 2": ("1", "3", *_M2, "B4", "B5")}
    return draw_curves(points, groups)


def _shape(curves: Curves) -> Iterator[Row]:
    """What the text says of all four figures."""
    name, of = curves.data, curves.of
    falls = [number for number in (*_M1, *_M2) if of[number][-1] < of[number][0] - 1]
    yield claim(
        f"{name}: methods with m = 1, 2",
        "distortion substantially decreases with the size of cells",
        f"halves at least for {len(falls)} of {len(_M1 + _M2)} methods",
        len(falls) == len(_M1 + _M2),
        convention=MATCHED,
        why="pure methods repair noisy matrices, which costs most where cells are small",
    )
    rises = [float(np.mean(np.diff(of[number]) > -0.05)) for number in _BASELINES]
    yield claim(
        f"{name}: B1 to B5",
        "roughly monotonically increasing",
        f"in {np.mean(rises):.0%} of the steps of k",
        float(np.mean(rises)) >= 0.8,
    )
    gap = float(of["1"][-1] - of["B1"][-1])
    yield claim(
        f"{name}: the price of noise for m = 0",
        "vanishes for large k",
        f"{gap:.3f} in log2 at k = {curves.ks[-1]:.0f}",
        gap < 0.1,
    )
    alike = float(np.abs((curves.means_of_log("3") - curves.means_of_log("6")).mean()))
    yield claim(
        f"{name}: methods 3 and 6",
        "very similar",
        f"{alike:.2f} apart on average over k (mean of log2)",
        alike < 0.2,
        convention="in the scaled space both have one law: the same scale of noise on every statistic",
    )
    best = curves.best(_M1)
    least = curves.best(("3", "6"))
    lead = float(of[least].mean() - of[best].mean())
    yield claim(
        f"{name}: of m = 1",
        "methods 3 and 6 lose least",
        f"method {best}, by {lead:.2f} on average",
        lead < 0.1,
        why=_MATCHING,
    )
    best = curves.best(_M2)
    lead = float(of["12"].mean() - of[best].mean())
    yield claim(
        f"{name}: of m = 2",
        "method 12 loses least",
        f"method {best}, by {lead:.2f} on average",
        lead < 0.1,
        why=_MATCHING,
    )


def _m1_beats_m2(curves: Curves) -> Row:
    share = float(np.mean(np.min([curves.of[n] for n in _M1], axis=0) < np.min([curves.of[n] for n in _M2], axis=0)))
    return claim(
        f"{curves.data}: the best of m = 1",
        "outperforms the best of m = 2",
        f"at {share:.0%} of the k",
        share >= 0.9,
        why=_MATCHING,
    )


def compare_census_1(points: Sequence[Point]) -> list[Row]:
    """Figure 7."""
    rows: list[Row] = []
    for curves in read_all(points):
        rows += [m1_overtakes(curves), *_shape(curves), _m1_beats_m2(curves)]
        below = curves.crossing("1", "12")
        only = curves.data == "Census 2"
        rows.append(
            claim(
                f"{curves.data}: m = 2 (method 12) against m = 0",
                "better for large k" if only else "not better at any k",
                "never better" if np.isnan(below) else f"better from k = {below:.0f}",
                np.isnan(below) != only,
                why=_LEVEL,
            )
        )
    return rows


def compare_census_2(points: Sequence[Point]) -> list[Row]:
    """Figure 8."""
    rows: list[Row] = []
    for curves in read_all(points):
        rows += [m1_overtakes(curves), *_shape(curves), _m1_beats_m2(curves)]
        if (curves.data, 2.0) in COSKEWNESS_CROSSINGS:
            rows.append(
                overtakes(
                    f"{curves.data}: k from which m = 2 (method 12) is better than m = 0",
                    COSKEWNESS_CROSSINGS[curves.data, 2.0],
                    curves,
                    "1",
                    "12",
                )
            )
        else:
            rows.append(
                compare("Census 2: B1, k = 100", 35.4, curves.at("B1", 100), digits=1, scale=LOG2, convention=MATCHED)
            )
            rows += [_at_the_printed_point(curves, way) for way in ("log2 of the mean", "mean of log2")]
    return rows


def _at_the_printed_point(curves: Curves, way: str) -> Row:
    runs = curves.runs["6"][:, int(np.argmin(np.abs(curves.ks - 390)))]
    error = float(np.std(runs, ddof=1) / np.sqrt(len(runs)))
    return compare(
        f"Census 2: method 6, k = 390, {way}",
        34.9,
        float(WAYS[way](runs[:, None])[0]),
        digits=1,
        error=error,
        scale=LOG2,
        convention=f"{DEVICE}, {way} over runs",
    )


def _eia(curves: Curves) -> Iterator[Row]:
    yield m1_overtakes(curves)
    yield from _shape(curves)
    for pure, few in (("B2", "B3"), ("B4", "B5")):
        gap = float(np.abs(curves.of[pure] - curves.of[few]).max())
        yield claim(
            f"{curves.data}: {pure} and {few}",
            "important differences",
            f"at most {gap:.2f} in log2",
            gap > 0.5,
            why="records matched attribute by attribute make both alike; assignment in the scaled space shows the gap",
        )


def compare_eia_1(points: Sequence[Point]) -> list[Row]:
    """Figure 9."""
    rows: list[Row] = []
    for curves in read_all(points):
        rows += [*_eia(curves), _m1_beats_m2(curves)]
        below = curves.crossing("1", "12")
        few = curves.data == "EIA 2"
        rows.append(
            claim(
                f"{curves.data}: method 12 against m = 0",
                "better for k near 1000" if few else "not better at any k",
                "never better" if np.isnan(below) else f"better from k = {below:.0f}",
                np.isnan(below) != few,
                why=_LEVEL,
            )
        )
        if few:
            rows.append(
                overtakes(
                    "EIA 2: k from which method 2 is better than method 3",
                    COVARIANCE_CROSSING,
                    curves,
                    "3",
                    "2",
                    reason="records matched attribute by attribute cannot show what a covariance keeps",
                )
            )
    return rows


def compare_eia_2(points: Sequence[Point]) -> list[Row]:
    """Figure 10."""
    rows: list[Row] = []
    for curves in read_all(points):
        rows += list(_eia(curves))
        if curves.data != "EIA 2":
            continue
        for coskew, few in (("8", "2"), ("12", "3")):
            lead = curves.at(few, 1000) - curves.at(coskew, 1000)
            rows.append(
                claim(
                    f"EIA 2, k near 1000: method {coskew} against {few}",
                    "slightly better",
                    f"by {lead:+.2f} in log2",
                    -0.1 < lead < 1,
                    why=_MATCHING,
                )
            )
    return rows
