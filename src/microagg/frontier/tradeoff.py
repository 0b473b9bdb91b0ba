"""One recipe, many values of one key: what each release keeps and what it costs."""

from __future__ import annotations

import json
from collections.abc import Sequence
from dataclasses import dataclass
from pathlib import Path
from typing import Any

from microagg._progress import report
from microagg.errors import ParameterError
from microagg.frontier.point import keep_order, release_and_measure
from microagg.recipe.recipe import Recipe
from microagg.recipe.sweep import SWEPT_REQUIREMENTS
from microagg.space.guides import swept_guides

__all__ = ["FILES", "MEASURES", "OF_REQUIREMENTS", "Tradeoff", "grid", "tradeoff"]

MEASURES = ("D_X", "D_Y", "D", "l_avg", "distinct_l_min", "label_purity", "distance_linkage")
OF_REQUIREMENTS = ("t_closeness", "l_avg", "distinct_l_min", "label_purity", "distance_linkage")
"""Measures of releases that differ in what they require of confidential values."""
FILES = ("tradeoff.csv", "tradeoff.json", "tradeoff.svg")
_MOST = 1000


@dataclass(frozen=True)
class Tradeoff:
    """Measures of releases that differ in one key.

    Attributes
    ----------
    parameter : str
        The key that was varied, such as ``"lambda"``, ``"alpha"`` or ``"t"``.
    rows : tuple of dict
        For each value: the value, ``information_loss`` and the measures (None where one has no value).
    """

    parameter: str
    rows: tuple[dict[str, Any], ...]

    @property
    def columns(self) -> tuple[str, ...]:
        return (self.parameter, "information_loss", *_measures_of(self.parameter))

    def as_csv(self) -> str:
        """The table as CSV text; empty where a measure has no value."""
        lines = [",".join(self.columns)]
        for row in self.rows:
            lines.append(",".join("" if row[column] is None else repr(row[column]) for column in self.columns))
        return "\n".join(lines) + "\n"

    def as_json(self) -> str:
        return json.dumps({"parameter": self.parameter, "rows": list(self.rows)}, indent=2, allow_nan=False) + "\n"

    def write(self, folder: Path) -> list[str]:
        """Write the table as CSV and JSON into an existing folder; return the names of the files."""
        (folder / "tradeoff.csv").write_text(self.as_csv(), encoding="utf-8")
        (folder / "tradeoff.json").write_text(self.as_json(), encoding="utf-8")
        return ["tradeoff.csv", "tradeoff.json"]


def grid(text: str) -> tuple[float, ...]:
    """Read ``start:stop:step`` (both ends included) or values between commas.

    Examples
    --------
    >>> grid("0:1:0.25")
    (0.0, 0.25, 0.5, 0.75, 1.0)
    >>> grid("1,2,4")
    (1.0, 2.0, 4.0)
    """
    what = "must be start:stop:step, as in 0:1:0.1, or values between commas, as in 0,0.2,0.5"
    try:
        parts = [float(part) for part in text.split(":" if ":" in text else ",")]
    except ValueError:
        raise ParameterError(f"{what}. Got {text!r} instead.") from None
    if ":" not in text:
        return tuple(parts)
    if len(parts) != 3 or not parts[2] > 0 or not parts[1] >= parts[0] or not parts[1] - parts[0] < _MOST * parts[2]:
        raise ParameterError(f"{what}. Got {text!r} instead.")
    start, stop, step = parts
    count = int((stop - start) / step + 1e-9) + 1
    # Twelve digits: 3 * 0.1 shall be 0.3.
    return tuple(float(f"{start + i * step:.12g}") for i in range(count))


def tradeoff(table: Any, recipe: Recipe, parameter: str, values: Sequence[float]) -> Tradeoff:
    """Make a release for each value of a key and measure it.

    Parameters
    ----------
    table : pandas.DataFrame, polars.DataFrame or pyarrow.Table
    recipe : Recipe
        All but the key. Rows are kept in order for the measures; nothing of the releases is written.
    parameter : str
        The key of a guide that a sweep may vary, such as "lambda" or "alpha", of which the recipe must have what else
        the guide needs; or "l" or "t", which are required of all that the recipe protects, or else of all that is
        confidential.
    values : sequence of float
    """
    guides = swept_guides()
    if parameter not in (*guides, *SWEPT_REQUIREMENTS):
        known = ", ".join([*guides, *SWEPT_REQUIREMENTS])
        raise ParameterError(f"parameter must be one of {known}. Got {parameter!r} instead.")
    measures = _measures_of(parameter)
    rows = []
    for i, value in enumerate(values):
        if parameter in guides:
            changed = keep_order(recipe, {f"space.{guides[parameter].name}.{parameter}": value})
        else:
            changed = keep_order(recipe.protecting(**{SWEPT_REQUIREMENTS[parameter]: value}))
        made, found = release_and_measure(table, changed, measures=measures, lambda_=changed.space.weight_of_d_y)
        row: dict[str, Any] = {parameter: value, "information_loss": made.information_loss}
        rows.append(row | {name: found[name].value for name in measures})
        report("measuring releases", (i + 1) / len(values))
    return Tradeoff(parameter, tuple(rows))


def _measures_of(parameter: str) -> tuple[str, ...]:
    return OF_REQUIREMENTS if parameter in SWEPT_REQUIREMENTS else MEASURES
