"""log2 SSE of the numbered methods over k: what Figures 7 to 14 draw, as parts and curves."""

from __future__ import annotations

import math
from collections.abc import Mapping, Sequence
from dataclasses import dataclass

import numpy as np

from microagg._typing import FloatArray
from microagg.methods.cross_moment_numbers import PAPER_METHODS
from microagg.studies.cross_moment.data import DATA
from microagg.studies.cross_moment.run import crossing, one_run
from microagg.studies.reproduction.experiment import Curve, Grid, Panel, Part, Point
from microagg.studies.reproduction.grouping import where

__all__ = ["MATCHED", "Curves", "draw_curves", "ks_of", "levels_at", "parts_of"]

MATCHED = (
    "scaled by the domain, records matched to the originals by rank within their cell before SSE is taken (a device: "
    "such a file is no release), log2 of the mean over runs"
)


def levels_at(
    *, data: str, k: int, epsilon: float, numbers: Sequence[str], seed: int, runs: int, matched: bool = True
) -> list[Point]:
    """log2 SSE of methods at one k, run by run; with epsilon 0 without noise."""
    found = []
    for number in numbers:
        silent = epsilon == 0.0 or not PAPER_METHODS[number].noise
        for run in range(runs):
            sse = one_run(
                DATA[data](), PAPER_METHODS[number], k, None if silent else epsilon, seed + run, matched=matched
            )
            found.append({"data": data, "k": k, "epsilon": epsilon, "method": number, "log2_SSE": math.log2(sse)})
    return found


def ks_of(data: str, grid: Grid) -> list[int]:
    """Sizes of cells up to half of the table for Census, a third for EIA; the paper does not print its grids."""
    if data.startswith("Census"):
        quick, standard = (60, 100, 180, 260, 340, 390, 500), (20, 60, 100, *range(140, 541, 40), 390)
        return sorted(grid.pick(quick, standard, {*range(20, 541, 20), 390}))
    return sorted(grid.pick((100, 400, 700, 1000, 1300), (100, *range(200, 1301, 100)), range(50, 1301, 50)))


def parts_of(
    names: Sequence[str], epsilons: Sequence[float], numbers: Sequence[str], grid: Grid, seed: int, *, runs: int = 0
) -> list[Part]:
    """One part per table, k and epsilon."""
    n_runs = runs or grid.pick(5, 30, 100)
    return [
        Part.of(levels_at, data=name, k=k, epsilon=epsilon, numbers=tuple(numbers), seed=seed, runs=n_runs)
        for name in names
        for epsilon in epsilons
        for k in ks_of(name, grid)
    ]


@dataclass(frozen=True)
class Curves:
    """The curves of one table at one epsilon: log2 of the mean SSE over runs, by method, in the order of k."""

    data: str
    epsilon: float
    ks: FloatArray
    of: dict[str, FloatArray]
    means_of_log: dict[str, FloatArray]

    @classmethod
    def read(cls, points: Sequence[Point], data: str, epsilon: float) -> Curves:
        own = where(points, data=data, epsilon=epsilon)
        ks = sorted({one["k"] for one in own})
        runs: dict[str, dict[int, list[float]]] = {}
        for one in own:
            runs.setdefault(one["method"], {}).setdefault(one["k"], []).append(one["log2_SSE"])
        levels = {method: np.array([np.log2(np.mean(np.exp2(by_k[k]))) for k in ks]) for method, by_k in runs.items()}
        logs = {method: np.array([np.mean(by_k[k]) for k in ks]) for method, by_k in runs.items()}
        return cls(data, epsilon, np.array(ks, dtype=np.float64), levels, logs)

    def crossing(self, before: str, after: str) -> float:
        """The k from which one method stays below another."""
        return crossing(self.of[before], self.of[after], [int(k) for k in self.ks])

    def best(self, numbers: Sequence[str]) -> str:
        """The method with the least mean over k."""
        return min(numbers, key=lambda number: float(self.of[number].mean()))

    def at(self, number: str, k: int) -> float:
        return float(self.of[number][int(np.argmin(np.abs(self.ks - k)))])

    def share_below(self, first: str, second: str) -> float:
        return float(np.mean(self.of[first] < self.of[second]))


def draw_curves(points: Sequence[Point], groups: Mapping[str, Sequence[str]]) -> list[Panel]:
    """A panel per table and group of methods; what has no noise is dotted."""
    panels = []
    settings = list(dict.fromkeys((one["data"], one["epsilon"]) for one in points if one["epsilon"]))
    for title, numbers in groups.items():
        for data, epsilon in settings:
            noisy, quiet = Curves.read(points, data, epsilon), Curves.read(points, data, 0.0)
            lines = []
            for number in numbers:
                source = quiet if number.endswith("alone") else noisy
                name = number.removesuffix(" alone")
                if name in source.of:
                    dotted = number.startswith("B") or number.endswith("alone")
                    lines.append(Curve(number, tuple(source.ks), tuple(source.of[name]), dotted=dotted))
            panels.append(Panel(f"{data}, {title}, epsilon = {epsilon:g}", "k", "log2 SSE", tuple(lines)))
    return panels
