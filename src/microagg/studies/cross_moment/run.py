"""Run the methods of the cross-moment paper and set their losses beside the published ones."""

from __future__ import annotations

import argparse
import math
from collections.abc import Sequence
from dataclasses import dataclass, replace
from functools import cache

import numpy as np

from microagg._typing import FloatArray, IntArray
from microagg.methods.cross_moment_numbers import PAPER_METHODS, PaperMethod
from microagg.partition.mdav import MDAV
from microagg.privacy.budget import Budget
from microagg.privacy.noise import SeededNoise
from microagg.private.moments.masked import drawn_records, kept_moments, masked_moments, repaired
from microagg.studies import cross_moment as study
from microagg.studies.cross_moment.crossing import WAYS, first_of_steps, settle
from microagg.studies.cross_moment.data import DATA, Data
from microagg.studies.cross_moment.published import CROSSINGS
from microagg.studies.markdown import markdown_table

__all__ = ["Curve", "as_markdown", "by_rank", "crossings", "curve", "levels", "rank_matched"]


def rank_matched(
    drawn: FloatArray, original: FloatArray, labels: IntArray, *, ranked: IntArray | None = None
) -> FloatArray:
    """Drawn values moved within their cell, attribute by attribute, to the record of the same rank.

    An evaluation device: it uses the original ranks. Who matches many draws to one table gives `ranked`, which is
    ``by_rank(original, labels)``.

    Examples
    --------
    >>> rank_matched(np.array([[5.0], [1.0], [3.0]]), np.array([[10.0], [30.0], [20.0]]), np.zeros(3, np.int64)).ravel()
    array([1., 5., 3.])
    """
    ranked = by_rank(original, labels) if ranked is None else ranked
    cell_by_cell = np.argsort(labels, kind="stable")
    ends = np.cumsum(np.bincount(labels))[:-1]
    matched = np.empty_like(drawn)
    for j in range(drawn.shape[1]):
        column = drawn[cell_by_cell, j]
        for cell in np.split(column, ends):
            cell.sort()
        matched[ranked[:, j], j] = column
    return matched


def by_rank(values: FloatArray, labels: IntArray) -> IntArray:
    """The records cell by cell, and within a cell from the smallest value to the largest, for each attribute."""
    return np.column_stack([np.lexsort((values[:, j], labels)) for j in range(values.shape[1])])


def squared_error(data: Data, published: FloatArray) -> float:
    """SSE in raw units."""
    return float((np.square(published - data.values) * np.square(data.widths)).sum())


@cache
def _cells(data_name: str, k: int) -> IntArray:
    labels: IntArray = MDAV(k=k).fit(DATA[data_name]().values).labels_
    return labels


@cache
def _cells_of_each(data_name: str, k: int) -> IntArray:
    values = DATA[data_name]().values
    return np.column_stack([MDAV(k=k).fit(values[:, [j]]).labels_ for j in range(values.shape[1])])


@cache
def _ranked(data_name: str, k: int) -> IntArray:
    return by_rank(DATA[data_name]().values, _cells(data_name, k))


@cache
def _ranked_each(data_name: str, k: int) -> IntArray:
    values, labels = DATA[data_name]().values, _cells_of_each(data_name, k)
    return np.column_stack([by_rank(values[:, [j]], labels[:, j]) for j in range(values.shape[1])])


def one_run(
    data: Data, method: PaperMethod, k: int, epsilon: float | None, seed: int, *, matched: bool = True
) -> float:
    """SSE of one method, once; `epsilon` None leaves the noise out (the baselines)."""
    noise = SeededNoise(seed)
    groups = [[j] for j in range(data.n_attributes)] if method.each_alone else [list(range(data.n_attributes))]
    budget = None if epsilon is None else Budget(epsilon)
    shares = None if budget is None else list(budget.divide([str(i) for i in range(len(groups))]).values())
    published = np.empty_like(data.values)
    for place, group in enumerate(groups):
        values = np.ascontiguousarray(data.values[:, group])
        labels = _cells_of_each(data.name, k)[:, group[0]] if method.each_alone else _cells(data.name, k)
        widths = np.ones(len(group))
        moments = kept_moments(values, labels, method.plan)
        if shares is None:
            moments = repaired(moments, widths, method.plan)
        else:
            moments = masked_moments(moments, widths, method.plan, budget=shares[place], noise=noise, on="study")
        drawn = drawn_records(moments, labels, widths, noise.uniforms)
        if matched and method.plan.m:
            ranked = (_ranked_each if method.each_alone else _ranked)(data.name, k)[:, group]
            drawn = rank_matched(drawn, values, labels, ranked=ranked)
        published[:, group] = drawn
    return squared_error(data, published)


@dataclass(frozen=True)
class Curve:
    """log2 SSE of one method over k: each run's, of shape (n_k, n_runs)."""

    data: str
    number: str
    epsilon: float | None
    ks: tuple[int, ...]
    runs: FloatArray

    @property
    def mean_of_log(self) -> FloatArray:
        return np.asarray(self.runs.mean(axis=1))

    @property
    def log_of_mean(self) -> FloatArray:
        return np.asarray(np.log2(np.exp2(self.runs).mean(axis=1)))

    @property
    def median(self) -> FloatArray:
        return np.asarray(np.median(self.runs, axis=1))


def curve(
    data: Data, number: str, epsilon: float | None, ks: Sequence[int], n_runs: int, *, matched: bool = True
) -> Curve:
    """Run a method of the paper over several k; every run has its own seed, the same for every method."""
    method = PAPER_METHODS[number.rstrip("*")]
    if number.endswith("*"):  # ours: variances truncated by the mean
        method = replace(method, plan=replace(method.plan, within_mean=True))
    runs = np.array(
        [[math.log2(one_run(data, method, k, epsilon, seed, matched=matched)) for seed in range(n_runs)] for k in ks]
    )
    return Curve(data.name, number, epsilon, tuple(ks), runs)


def crossings(names: Sequence[str], n_runs: int, *, step: int = 20) -> list[dict[str, str]]:
    """Where m = 1 overtakes m = 0, beside the published figure; three ways to average runs, each with its interval."""
    rows = []
    for (name, epsilon), published in CROSSINGS.items():
        if name not in names:
            continue
        data = DATA[name]()
        least, most = 20 * (published // 50), min(15 * (published // 10), len(data.values) // 2)
        even = range(max(60, least), most + 1, step)
        ks = sorted({*even, *first_of_steps(len(data.values), even[0], even[-1])})
        before, after = (curve(data, number, epsilon, ks, n_runs).runs.T for number in ("1", "3"))
        found = {way: settle(before, after, ks, way) for way in WAYS}
        rows.append(
            {"data": name, "epsilon": f"{epsilon:g}", "published": str(published)}
            | {way: f"{one.told(one.place)} ({one.interval})" for way, one in found.items()}
        )
    return rows


def levels(
    name: str, numbers: Sequence[str], epsilon: float, ks: Sequence[int], n_runs: int, *, matched: bool = True
) -> list[dict[str, str]]:
    """log2 SSE (mean over runs) of several methods, one row per method."""
    data, rows = DATA[name](), []
    for number in numbers:
        budget = None if number.startswith("B") else epsilon
        found = curve(data, number, budget, ks, n_runs, matched=matched).mean_of_log
        rows.append(
            {"method": f"{number} {PAPER_METHODS[number.rstrip('*')].name}"}
            | {f"k = {k}": f"{one:.2f}" for k, one in zip(ks, found, strict=True)}
        )
    return rows


def as_markdown(rows: Sequence[dict[str, str]]) -> str:
    """Rows with the same keys as a table."""
    return markdown_table(list(rows[0]), [list(row.values()) for row in rows])


def main(arguments: Sequence[str] | None = None) -> None:
    """Run the study from the command line; tables go to standard output."""
    parser = argparse.ArgumentParser(prog="python -m microagg.studies.cross_moment", description=study.__doc__)
    parser.add_argument("--quick", action="store_true", help="few runs, Census 2 only")
    parser.add_argument("--runs", type=int, default=150)
    chosen = parser.parse_args(arguments)
    names = ["Census 2"] if chosen.quick else list(DATA)
    n_runs = 20 if chosen.quick else chosen.runs
    print("## k from which m = 1 (method 3) is better than m = 0 (method 1)\n")
    print(as_markdown(crossings([name for name in names if name.startswith("Census")], n_runs)))
    if not chosen.quick:
        print(as_markdown(crossings([name for name in names if name.startswith("EIA")], max(n_runs // 4, 1), step=50)))
    every = [str(number) for number in range(1, 20)] + ["B1", "B2", "B3", "B4", "B5"]
    for name in names:
        census_ks, eia_ks = (50, 100, 200, 300, 400, 500), (100, 300, 500, 700, 1000, 1300)
        ks = census_ks if name.startswith("Census") else eia_ks
        print(f"## {name}, epsilon = 2, log2 SSE\n")
        print(as_markdown(levels(name, every, 2.0, ks, max(n_runs // 5, 1))))
    for name in [name for name in names if name.endswith("4")]:
        ks = (100, 200, 300, 360, 400, 500) if name.startswith("Census") else (200, 400, 600, 800, 1000, 1300)
        print(f"## {name}, each attribute alone (IR-MDAV), epsilon = 2, log2 SSE\n")
        print(as_markdown(levels(name, [str(number) for number in range(20, 27)], 2.0, ks, max(n_runs // 5, 1))))
    for name in [name for name in names if name.startswith("Census")]:
        print(f"## {name}, epsilon = 1, variances truncated by width and (*) by the mean, log2 SSE\n")
        print(as_markdown(levels(name, ["3", "3*", "12", "12*"], 1.0, (20, 50, 100, 200, 400), max(n_runs // 5, 1))))
    print("## Census 2, epsilon = 2, not matched: what a release really loses\n")
    few = ["1", "3", "3*", "12", "12*", "B1", "B3", "B5"]
    print(as_markdown(levels("Census 2", few, 2.0, (100, 200, 300, 400, 500), max(n_runs // 5, 1), matched=False)))
