"""Risk against utility over many releases of one table: which of them no other beats."""

from __future__ import annotations

import math
from collections.abc import Mapping, Sequence
from dataclasses import dataclass, field, replace
from pathlib import Path
from tempfile import TemporaryDirectory
from typing import Any, Literal

from microagg._notebook.html import html_of_rows, html_of_sections
from microagg._notebook.picture import Picture
from microagg.errors import ParameterError, did_you_mean
from microagg.evaluation.measures import all_measures, measure_named
from microagg.evaluation.text import number

__all__ = ["Axes", "Frontier", "FrontierPoint", "axes_for", "check_axes", "undominated"]


_GUIDED = ("D", "label_purity")
_PROTECTED = ("SSE_SST", "t_closeness")
_LINKED = ("SSE_SST", "distance_linkage")
_UNLINKED = ("eigenvalue_difference", "distance_to_closest")
_CATEGORIES = ("JSD", "distance_to_closest")


@dataclass(frozen=True)
class Axes:
    """The two measures that points are compared by."""

    utility: str
    risk: str


@dataclass(frozen=True)
class FrontierPoint:
    """One way to make a release, with what was measured over its repeats.

    Attributes
    ----------
    name : str
    settings : mapping of str to value
        What distinguishes it: method, k, ...
    guarantee : str
        What its releases promise.
    recipe : str
        The recipe, as text, that makes such a release.
    repeats : int
        How many releases were measured.
    values : mapping of str to float or None
        The mean of each measure over repeats; None if any repeat has no value.
    spreads : mapping of str to float or None
        The standard deviation over repeats; None if there was one.
    baselines : mapping of str to float or None
        What chance alone would reach, where that is known.
    failures : tuple of str
        Why repeats failed; a point with any is not compared.
    """

    name: str
    settings: Mapping[str, Any]
    guarantee: str = ""
    recipe: str = field(default="", repr=False)
    repeats: int = 0
    values: Mapping[str, float | None] = field(default_factory=dict, repr=False)
    spreads: Mapping[str, float | None] = field(default_factory=dict, repr=False)
    baselines: Mapping[str, float | None] = field(default_factory=dict, repr=False)
    failures: tuple[str, ...] = ()

    def has(self, *names: str) -> bool:
        """Whether it can be compared by these measures."""
        return not self.failures and all(self.values.get(name) is not None for name in names)

    def cost(self, name: str) -> float:
        """The measure, turned so that lower is better."""
        value = self.values[name]
        assert value is not None, "ask has() first"
        return value if measure_named(name).better == "lower" else -value


def undominated(points: Sequence[FrontierPoint], axes: Axes) -> tuple[FrontierPoint, ...]:
    """The points that no other point beats: none is as good by both measures and better by one.

    They come from the least lost to the least risk. Means within rounding errors are equal. Points without a value
    are not among them.

    Examples
    --------
    >>> def at(name, loss, risk): return FrontierPoint(name, {}, values={"SSE_SST": loss, "distance_linkage": risk})
    >>> points = [at("a", 0.3, 0.1), at("b", 0.1, 0.5), at("c", 0.3, 0.2)]
    >>> [point.name for point in undominated(points, Axes("SSE_SST", "distance_linkage"))]
    ['b', 'a']
    """
    able = [point for point in points if point.has(axes.utility, axes.risk)]

    def beats(one: FrontierPoint, other: FrontierPoint) -> bool:
        pairs = [(one.cost(name), other.cost(name)) for name in (axes.utility, axes.risk)]
        same = [math.isclose(a, b, rel_tol=1e-9, abs_tol=1e-12) for a, b in pairs]
        no_worse = all(equal or a < b for equal, (a, b) in zip(same, pairs, strict=True))
        return no_worse and not all(same)

    best = [point for point in able if not any(beats(other, point) for other in able)]
    return tuple(sorted(best, key=lambda point: (point.cost(axes.utility), point.cost(axes.risk))))


def axes_for(points: Sequence[FrontierPoint], guided: bool, protected: bool = False) -> Axes:
    """The measures to compare by where none are named: the first pair that every point has.

    Guided cells buy dependence with diversity, so they are judged by both: D and how pure cells are. Cells that must
    hide confidential values, by SSE_SST and how much classes tell of them. Otherwise by SSE_SST and linkage. Where the
    rows of some release are not records, none of these exists: then by how far the shape of the data moved and the
    distance to the closest record. If no pair exists for all, the one that exists for most.
    """
    pairs = [*([_GUIDED] if guided else []), *([_PROTECTED] if protected else []), _LINKED, _UNLINKED, _CATEGORIES]
    able = [point for point in points if not point.failures]
    had = [sum(point.has(*pair) for point in able) for pair in pairs]
    return Axes(*pairs[had.index(max(had))])


@dataclass(frozen=True)
class Frontier:
    """Releases of one table in many ways, measured. Internal: it comes from the original records.

    Attributes
    ----------
    points : tuple of FrontierPoint
    axes : Axes
        The measures they are compared by.
    measures : tuple of str
        All that were measured.
    remarks : tuple of str
        What was left out, and why.
    options : mapping
        Options of the evaluations, which formulas name.
    """

    points: tuple[FrontierPoint, ...] = field(repr=False)
    axes: Axes
    measures: tuple[str, ...] = field(repr=False)
    remarks: tuple[str, ...] = ()
    options: Mapping[str, Any] = field(default_factory=lambda: {"lambda_": 0.5}, repr=False)

    def __getitem__(self, name: str) -> FrontierPoint:
        for point in self.points:
            if point.name == name:
                return point
        raise KeyError(f"no point {name!r}.{did_you_mean(name, [point.name for point in self.points])}")

    def best(self) -> tuple[FrontierPoint, ...]:
        """The points that no other beats by both measures, from the least lost to the least risk."""
        return undominated(self.points, self.axes)

    def by(self, utility: str | None = None, risk: str | None = None) -> Frontier:
        """The same points, compared by other measures."""
        axes = Axes(utility or self.axes.utility, risk or self.axes.risk)
        check_axes(axes.utility, axes.risk)
        absent = [name for name in (axes.utility, axes.risk) if name not in self.measures]
        if absent:
            raise ParameterError(f"{absent[0]} was not measured in this sweep. Measured: {', '.join(self.measures)}")
        return replace(self, axes=axes)

    def frame(self, kind: Literal["pyarrow", "pandas", "polars"] = "pyarrow") -> Any:
        """One row per point: settings, the promise, whether no other beats it, each measure's mean and spread.

        The measure k, counted on the released tables, is ``k_measured``.
        """
        import pyarrow as pa

        from microagg.tables.frames import table_from_arrow

        best = {point.name for point in self.best()}
        columns: dict[str, Any] = {"name": pa.array([point.name for point in self.points], pa.string())}
        for key in dict.fromkeys(key for point in self.points for key in point.settings):
            values = [point.settings.get(key) for point in self.points]
            as_text = any(isinstance(value, str) for value in values)
            known = [value if value is None or not as_text else str(value) for value in values]
            columns[key] = pa.array(
                known, pa.string() if as_text else pa.int64() if key in ("k", "l") else pa.float64()
            )
        columns["guarantee"] = pa.array([point.guarantee for point in self.points], pa.string())
        columns["repeats"] = pa.array([point.repeats for point in self.points], pa.int64())
        columns["failure"] = pa.array(["; ".join(dict.fromkeys(point.failures)) or None for point in self.points])
        columns["failure"] = columns["failure"].cast(pa.string())
        columns["best"] = pa.array([point.name in best for point in self.points], pa.bool_())
        for name in self.measures:
            measured = f"{name}_measured" if name in columns else name  # k is both a setting and counted
            columns[measured] = pa.array([point.values.get(name) for point in self.points], pa.float64())
            columns[f"{measured}_spread"] = pa.array([point.spreads.get(name) for point in self.points], pa.float64())
        return table_from_arrow(pa.table(columns), kind)

    def plot(self, path: str | Path | None = None) -> Picture | None:
        """Draw risk against utility into a PNG, SVG or PDF file; without one, return a picture that a notebook shows.

        Needs Matplotlib (the extra ``plot``).
        """
        from microagg.frontier.plot import can_plot, plot_frontier

        if not can_plot():
            raise ParameterError("pictures need Matplotlib: pip install 'microagg[plot]'")
        if path is not None:
            plot_frontier(self, path)
            return None
        with TemporaryDirectory() as folder:
            file = Path(folder) / "frontier.svg"
            plot_frontier(self, file)
            return Picture(file.read_text(encoding="utf-8"))

    def __repr__(self) -> str:
        return f"<Frontier: {len(self.points)} releases by {self.axes.utility} and {self.axes.risk}>"

    def _repr_html_(self) -> str:
        best = {point.name for point in self.best()}
        names = [self.axes.utility, self.axes.risk]
        rows = [
            [
                point.name,
                point.guarantee,
                *(number(point.values.get(name)) for name in names),
                "*" * (point.name in best),
            ]
            for point in self.points
        ]
        table = html_of_rows(["release", "promises", *names, "beaten by no other"], rows)
        return html_of_sections("Frontier; internal: measured on the original records, not for publication", table)

    def as_text(self) -> str:
        """Which points to consider, in words."""
        from microagg.frontier.text import frontier_text

        return frontier_text(self)

    def __str__(self) -> str:
        return self.as_text()


def check_axes(utility: str | None, risk: str | None) -> None:
    """Refuse words that do not name a measure of utility, or of risk."""
    for word, about in ((utility, "utility"), (risk, "risk")):
        if word is None:
            continue
        known = [one.name for one in all_measures() if one.about == about]
        if word not in known:
            raise ParameterError(
                f"{about} must be a measure of {about}. Got {word!r} instead.{did_you_mean(word, known)} "
                f"There are: {', '.join(known)}"
            )
