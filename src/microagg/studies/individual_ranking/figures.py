"""Figures 1 to 4 of the individual-ranking paper: errors against k, beside three baselines."""

from __future__ import annotations

from collections.abc import Iterator, Sequence
from functools import cache, partial
from typing import Any

import numpy as np

from microagg._typing import FloatArray
from microagg.studies.individual_ranking.devices import (
    Attribute,
    Categories,
    Numbers,
    errors_of,
    insensitive_mdav,
    plain_laplace,
    ranked,
)
from microagg.studies.individual_ranking.errors import errors
from microagg.studies.individual_ranking.run import (
    AS_PUBLISHED,
    adult,
    adult_attributes,
    adult_taxonomies,
    census,
    release_in_order,
)
from microagg.studies.reproduction.experiment import Grid, Panel, Part, Point
from microagg.studies.reproduction.grouping import curves, mean_over, where

__all__ = ["EPSILONS", "FIGURES", "METHODS", "draw_figure", "errors_at", "means_of", "plan_figure"]

EPSILONS = (0.1, 1.0, 10.0)
FIGURES: dict[str, tuple[str, tuple[int, ...], tuple[str, ...]]] = {
    "figure1": ("census", (1, 8, 13), ("IR", "IR alone", "Laplace")),
    "figure2": ("adult", (4,), ("IR", "IR, equation 6", "IR alone", "Laplace")),
    "figure3": ("census", (1, 8, 13), ("IR", "MV", "IR alone", "MDAV alone")),
    "figure4": ("adult", (4,), ("IR", "MV", "IR alone", "MDAV alone")),
}
"""Table, numbers of attributes, and what each figure compares."""

METHODS = {
    "IR": "individual ranking with noise, a release of the form 'aligned'",
    "IR, equation 6": "the same with categories by equation 6 as printed",
    "IR alone": "individual ranking without noise",
    "MV": "insensitive MDAV as published: noise per record, not divided over the attributes",
    "MDAV alone": "insensitive MDAV without noise",
    "Laplace": "noise on every value, categories by the exponential mechanism for every record",
}
_WITHOUT_NOISE = ("IR alone", "MDAV alone")


@cache
def _attributes(data: str, m: int) -> list[Attribute]:
    if data == "census":
        table = census()
        columns: list[Attribute] = [Numbers(table[name].to_numpy().astype(np.float64)) for name in table.column_names]
        return columns[:m]
    table, trees = adult(), adult_taxonomies()
    return [
        Categories.of(table[name].to_pylist(), trees[name])
        if name in trees
        else Numbers(table[name].to_numpy().astype(np.float64), whole=True)
        for name in table.column_names
    ]


def errors_at(*, data: str, m: int, method: str, k: int, epsilon: float, seed: int, runs: int) -> list[Point]:
    """Relative error and divergence of some runs; of methods without noise of one, with epsilon 0."""
    about: Point = {"data": data, "m": m, "method": method, "k": k, "epsilon": epsilon}
    found = []
    for run in range(runs):
        error, divergence = _one(data, m, method, k, epsilon, seed + run)
        found.append(about | {"RE": error, "JSD": divergence})
    return found


def _one(data: str, m: int, method: str, k: int, epsilon: float, seed: int) -> tuple[float, float]:
    if method == "IR" and data == "census":
        table = census(census().column_names[:m])
        return errors(table, release_in_order(table, k=k, epsilon=epsilon, seed=seed, **AS_PUBLISHED))
    if method == "IR":
        how: dict[str, Any] = {**AS_PUBLISHED, "attributes": adult_attributes()}
        made = release_in_order(adult(), k=k, epsilon=epsilon, seed=seed, **how)
        return errors(adult(), made, adult_taxonomies())
    attributes, rng = _attributes(data, m), np.random.default_rng(seed)
    noise = None if method in _WITHOUT_NOISE else epsilon
    if method == "Laplace":
        return errors_of(attributes, plain_laplace(attributes, epsilon, rng))
    form = ranked if method.startswith("IR") else insensitive_mdav
    return errors_of(attributes, form(attributes, k, noise, rng))


def _ks(data: str, grid: Grid) -> Sequence[int]:
    if data == "census":
        return list(grid.pick((2, 10, 25, 50, 100), (2, 5, 10, 15, 20, 25, 30, *range(40, 101, 10)), range(2, 101)))
    return list(grid.pick((2, 50, 100, 200), (2, 10, 25, 50, 75, 100, 110, 125, 150, 175, 200), range(2, 201, 2)))


def plan_figure(figure: str, grid: Grid, seed: int) -> list[Part]:
    """One part for each number of attributes, method, k and epsilon; what two figures share is run once."""
    data, sizes, methods = FIGURES[figure]
    runs = grid.pick(2, 10 if data == "census" else 4, 10)
    return [
        Part.of(errors_at, data=data, m=m, method=method, k=k, epsilon=epsilon, seed=seed, runs=runs if epsilon else 1)
        for m in sizes
        for method, k, epsilon in _settings(methods, _ks(data, grid))
    ]


def _settings(methods: Sequence[str], ks: Sequence[int]) -> Iterator[tuple[str, int, float]]:
    for method in methods:
        if method in _WITHOUT_NOISE:
            yield from ((method, k, 0.0) for k in ks)
        elif method == "Laplace":
            yield from ((method, 0, epsilon) for epsilon in EPSILONS)
        else:
            yield from ((method, k, epsilon) for k in ks for epsilon in EPSILONS)


def means_of(points: Sequence[Point]) -> list[Point]:
    """Means over runs; what does not depend on k or epsilon stands at every one of them."""
    means = mean_over(points, ["data", "m", "method", "k", "epsilon"], ["RE", "JSD"])
    ks = sorted({one["k"] for one in means} - {0})
    found = []
    for one in means:
        for k in [one["k"]] if one["k"] else ks:
            for epsilon in [one["epsilon"]] if one["epsilon"] else EPSILONS:
                found.append(one | {"k": k, "epsilon": epsilon})
    return found


def curve_of(means: Sequence[Point], what: str, **wanted: Any) -> tuple[FloatArray, FloatArray]:
    """k and one measure, in the order of k."""
    own = sorted(where(means, **wanted), key=lambda one: float(one["k"]))
    return np.array([one["k"] for one in own]), np.array([one[what] for one in own])


def draw_figure(figure: str, points: Sequence[Point]) -> list[Panel]:
    """RE on the left, JSD on the right, one row per number of attributes."""
    _, sizes, methods = FIGURES[figure]
    means = [
        one
        | {"line": one["method"] if one["method"] in _WITHOUT_NOISE else f"{one['method']}, epsilon {one['epsilon']:g}"}
        for one in means_of(points)
    ]
    dotted = [one["line"] for one in means if one["method"] in (*_WITHOUT_NOISE, "Laplace")]
    panels = []
    for m in sizes:
        for what, name in (("RE", "relative error"), ("JSD", "Jensen-Shannon divergence")):
            own = {(one["line"], one["k"]): one for one in where(means, m=m)}
            lines = curves(list(own.values()), by="line", x="k", y=what, dotted=dotted)
            panels.append(Panel(f"m = {m}", "k", name, lines, log_y=what == "RE"))
    assert methods
    return panels


PLANS = {figure: partial(plan_figure, figure) for figure in FIGURES}
