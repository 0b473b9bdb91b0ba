"""Table 1 of the cross-moment paper: plain Laplace noise that is not clamped."""

from __future__ import annotations

from collections.abc import Sequence

import numpy as np

from microagg.studies.cross_moment.data import DATA, raw_values
from microagg.studies.cross_moment.published import PLAIN_LAPLACE
from microagg.studies.reproduction.comparison import LOG2, Row, compare, note
from microagg.studies.reproduction.experiment import Grid, Part, Point
from microagg.studies.reproduction.grouping import mean_over, where

__all__ = ["compare_laplace", "plan_laplace"]

_HOW = (
    "scale d x domain / epsilon on each attribute (epsilon / d each), no clipping, file order FEDTAX, POTHVAL, INTVAL, "
    "FICA; EIA without the 108 records whose four attributes are all zero; the standard error has the scatter of the "
    "printed column around -2 log2(epsilon) in it"
)


def simulated(*, data: str, epsilon: float, seed: int, runs: int) -> list[Point]:
    """log2 of the SSE of some runs, and of its expectation n sum 2 (d domain / epsilon)^2."""
    values, widths = raw_values(data), DATA[data]().widths
    rng = np.random.default_rng(seed)
    scales = len(widths) * widths / epsilon
    expected = float(np.log2(len(values) * 2 * np.square(scales).sum()))
    errors = [float(np.square(rng.laplace(scale=scales, size=values.shape)).sum()) for _ in range(runs)]
    return [{"data": data, "epsilon": epsilon, "log2_SSE": float(np.log2(one)), "expected": expected} for one in errors]


def plan_laplace(grid: Grid, seed: int) -> list[Part]:
    runs = grid.pick(20, 60, 200)
    return [
        Part.of(simulated, data=data, epsilon=epsilon, seed=seed, runs=runs)
        for epsilon in PLAIN_LAPLACE
        for data in DATA
    ]


def compare_laplace(points: Sequence[Point]) -> list[Row]:
    means = mean_over(points, ["data", "epsilon"], ["log2_SSE", "expected"])
    rows = []
    for place, data in enumerate(DATA):
        printed = {epsilon: figures[place] for epsilon, figures in PLAIN_LAPLACE.items()}
        scatter = float(np.std([figure + 2 * np.log2(epsilon) for epsilon, figure in printed.items()], ddof=1))
        for epsilon, figure in printed.items():
            (one,) = where(means, data=data, epsilon=epsilon)
            rows.append(
                compare(
                    f"{data}, epsilon = {epsilon:g}",
                    figure,
                    one["expected"],
                    error=scatter,
                    scale=LOG2,
                    convention=_HOW,
                )
            )
        (one,) = where(means, data=data, epsilon=1.0)
        said = f"{one['log2_SSE']:.3f} +- {one['log2_SSE_error']:.3f}"
        rows.append(note(f"{data}, epsilon = 1: mean of log2 over {one['runs']} runs", said))
    return rows
