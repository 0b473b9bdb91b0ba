"""log2 SSE of the numbered methods over k: what Figures 7 to 14 draw, as parts and curves."""

from __future__ import annotations

import math
from collections.abc import Mapping, Sequence
from dataclasses import dataclass

import numpy as np

from microagg._typing import FloatArray
from microagg.methods.cross_moment_numbers import PAPER_METHODS
from microagg.studies.cross_moment.crossing import WAYS, Crossing, crossing, first_of_steps, interpolated, settle
from microagg.studies.cross_moment.data import DATA
from microagg.studies.cross_moment.run import one_run
from microagg.studies.reproduction.experiment import Curve, Grid, Panel, Part, Point
from microagg.studies.reproduction.grouping import where

__all__ = [
    "DEVICE",
    "MATCHED",
    "MEAN_FIRST",
    "Curves",
    "draw_curves",
    "ks_of",
    "levels_at",
    "parts_of",
    "read_all",
    "runs_to_settle",
]

DEVICE = (
    "scaled by the domain, records matched to the originals by rank within their cell before SSE is taken (a device: "
    "such a file is no release)"
)
MEAN_FIRST = "log2 of the mean"
"""The way to average of whatever names none."""
MATCHED = f"{DEVICE}, {MEAN_FIRST} over runs"


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
    """Sizes of cells up to half of the table for Census, a third for EIA; the paper does not print its grids.

    Evenly spaced, and with the first k of every step: there the number of cells falls by one, and every curve jumps.
    """
    if data.startswith("Census"):
        quick, standard = (60, 100, 180, 260, 340, 390, 500), (20, 60, 100, *range(140, 541, 40), 390)
        even = grid.pick(quick, standard, {*range(20, 541, 20), 390})
    else:
        even = grid.pick((100, 400, 700, 1000, 1300), (100, *range(200, 1301, 100)), range(50, 1301, 50))
    return sorted({*even, *(() if grid is Grid.QUICK else _steps(data, max(even)))})


def _steps(data: str, most: int) -> list[int]:
    """Where cells are so large that methods cross; below, steps are as near to each other as the grid."""
    return first_of_steps(len(DATA[data]().values), 100 if data.startswith("Census") else 300, most)


def runs_to_settle(grid: Grid) -> int:
    """How many runs of methods whose crossing is printed.

    One run's log2 SSE has a standard deviation near 0.8, and a run has one seed at all k: chance moves a whole curve,
    by 0.15 with 30 runs and by 0.04 with 400, and with it the k where it crosses another.
    """
    return int(grid.pick(10, 60, 400))


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
    """The curves of one table at one epsilon: log2 SSE by method, in the order of k.

    Attributes
    ----------
    data : str
    epsilon : float
    ks : ndarray of shape (n_k,)
    runs : dict of str to ndarray of shape (n_runs, n_k)
        A run has one seed at all k and for all methods; methods whose crossing is printed have more runs.
    of : dict of str to ndarray of shape (n_k,)
        log2 of the mean SSE over the runs that all methods with noise have: methods are compared on the same seeds.
    """

    data: str
    epsilon: float
    ks: FloatArray
    runs: dict[str, FloatArray]
    of: dict[str, FloatArray]

    @classmethod
    def read(cls, points: Sequence[Point], data: str, epsilon: float) -> Curves:
        own = where(points, data=data, epsilon=epsilon)
        ks = sorted({one["k"] for one in own})
        by_method: dict[str, dict[int, list[float]]] = {}
        for one in own:
            by_method.setdefault(one["method"], {}).setdefault(one["k"], []).append(one["log2_SSE"])
        runs = {method: np.array([by_k[k] for k in ks]).T for method, by_k in by_method.items()}
        shared = _shared(runs)
        of = {method: WAYS[MEAN_FIRST](each[:shared]) for method, each in runs.items()}
        return cls(data, epsilon, np.array(ks, dtype=np.float64), runs, of)

    @property
    def _whole_ks(self) -> list[int]:
        return [int(k) for k in self.ks]

    def crossing(self, before: str, after: str) -> float:
        """The first k from which one method stays below another."""
        return crossing(self.of[before], self.of[after], self._whole_ks)

    def settled(self, before: str, after: str, way: str = MEAN_FIRST) -> Crossing:
        """The same by one way to average, and how far chance moves it."""
        n_runs = min(len(self.runs[before]), len(self.runs[after]))
        return settle(self.runs[before][:n_runs], self.runs[after][:n_runs], self._whole_ks, way)

    def without_steps(self, before: str, after: str, way: str) -> tuple[float, float]:
        """The crossing on the even grid alone: the first k from which, and where lines between the points cross."""
        steps = _steps(self.data, int(self.ks[-1]))
        kept = [place for place, k in enumerate(self._whole_ks) if k not in steps]
        first, second = (WAYS[way](self.runs[method])[kept] for method in (before, after))
        ks = [self._whole_ks[place] for place in kept]
        return crossing(first, second, ks), interpolated(first, second, ks)

    def means_of_log(self, number: str) -> FloatArray:
        """Of the same runs as `of`."""
        return WAYS["mean of log2"](self.runs[number][: _shared(self.runs)])

    def best(self, numbers: Sequence[str]) -> str:
        """The method with the least mean over k."""
        return min(numbers, key=lambda number: float(self.of[number].mean()))

    def at(self, number: str, k: int) -> float:
        return float(self.of[number][int(np.argmin(np.abs(self.ks - k)))])

    def share_below(self, first: str, second: str) -> float:
        return float(np.mean(self.of[first] < self.of[second]))


def _shared(runs: Mapping[str, FloatArray]) -> int | None:
    """How many runs all methods with noise have; None, which slices everything, where there is none."""
    return min((len(each) for method, each in runs.items() if PAPER_METHODS[method].noise), default=None)


def read_all(points: Sequence[Point]) -> list[Curves]:
    """The curves of every table and epsilon, in the order of the points."""
    settings = dict.fromkeys((one["data"], one["epsilon"]) for one in points)
    return [Curves.read(points, data, epsilon) for data, epsilon in settings]


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
