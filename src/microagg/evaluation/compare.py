"""Two or more evaluations side by side."""

from __future__ import annotations

import json
import math
from collections.abc import Mapping
from dataclasses import dataclass
from textwrap import fill
from typing import Any, Literal

from microagg._notebook.html import html_of_rows, html_of_sections
from microagg.errors import ParameterError
from microagg.evaluation.result import Evaluation, Measure
from microagg.evaluation.text import columns_of_text, number

__all__ = ["Comparison", "compare"]


@dataclass(frozen=True)
class Comparison:
    """Evaluations of releases of one table, measure by measure.

    Attributes
    ----------
    evaluations : mapping of str to Evaluation
    """

    evaluations: Mapping[str, Evaluation]

    @property
    def names(self) -> tuple[str, ...]:
        """Every measure of any of the evaluations, in the order of the first that has it."""
        return tuple(dict.fromkeys(measure.name for one in self.evaluations.values() for measure in one))

    def values(self, name: str) -> dict[str, float | None]:
        """One measure's value in each evaluation; None where it has none."""
        return {who: one[name].value if name in one else None for who, one in self.evaluations.items()}

    def best(self, name: str) -> str | None:
        """Who does best by a measure; None if fewer than two have it, or the best are equal (apart from rounding)."""
        had = {who: value for who, value in self.values(name).items() if value is not None}
        if len(had) < 2:
            return None
        wanted = min(had.values()) if self._about(name).better == "lower" else max(had.values())
        winners = [who for who, value in had.items() if math.isclose(value, wanted, rel_tol=1e-9, abs_tol=1e-12)]
        return winners[0] if len(winners) == 1 else None

    def _about(self, name: str) -> Measure:
        return next(one[name] for one in self.evaluations.values() if name in one)

    def _rows(self) -> list[dict[str, Any]]:
        rows = []
        for name in self.names:
            measure = self._about(name)
            rows.append(
                {
                    "name": name,
                    "about": measure.about,
                    "better": measure.better,
                    **self.values(name),
                    "best": self.best(name),
                }
            )
        return rows

    def as_dict(self) -> dict[str, Any]:
        """The evaluations by name."""
        return {who: one.as_dict() for who, one in self.evaluations.items()}

    def as_json(self) -> str:
        return json.dumps(self.as_dict(), indent=2, ensure_ascii=False, allow_nan=False) + "\n"

    def as_frame(self, kind: Literal["pyarrow", "pandas", "polars"] = "pyarrow") -> Any:
        """One row per measure, one column per evaluation, and who does best."""
        from microagg.tables.frames import table_from_rows

        return table_from_rows(self._rows(), kind)

    def as_text(self) -> str:
        """Lines of text; ``*`` marks the best."""
        parts = []
        for about in ("utility", "risk"):
            had = [row for row in self._rows() if row["about"] == about and self._has_value(row["name"])]
            if not had:
                continue
            rows = [[about, *self.evaluations, "better"]]
            for row in had:
                marked = [number(row[who]) + ("*" if row["best"] == who else " ") for who in self.evaluations]
                rows.append([row["name"], *marked, row["better"]])
            parts.append(columns_of_text(rows, left=(0, len(rows[0]) - 1)))
        for who, one in self.evaluations.items():
            if one.sampled is not None:
                said = f"{who}: {one.sampled.as_text()}"
                parts.append(fill(said, 120, break_long_words=False, break_on_hyphens=False))
        return "\n\n".join(parts)

    def _has_value(self, name: str) -> bool:
        return any(value is not None for value in self.values(name).values())

    def __str__(self) -> str:
        return self.as_text()

    def __repr__(self) -> str:
        return f"<Comparison of {len(self.evaluations)} evaluations>"

    def _repr_html_(self) -> str:
        tables = []
        for about in ("utility", "risk"):
            had = [row for row in self._rows() if row["about"] == about and self._has_value(row["name"])]
            rows = [
                [
                    row["name"],
                    *(number(row[who]) + "*" * (row["best"] == who) for who in self.evaluations),
                    row["better"],
                ]
                for row in had
            ]
            tables += [html_of_rows([about, *self.evaluations, "better"], rows)] if rows else []
        return html_of_sections("Comparison; * is the best", *tables)


def compare(evaluations: Mapping[str, Evaluation]) -> Comparison:
    """Put evaluations side by side: which of two ways is better, by which measure.

    Parameters
    ----------
    evaluations : mapping of str to Evaluation
        Two or more, of releases of the same original table.

    Examples
    --------
    >>> def one(value): return Evaluation((Measure("D_X", value, 0.0, None, "lower", "mean squared distance"),))
    >>> print(compare({"a": one(0.1), "b": one(0.2)}))
    utility     a     b  better
    D_X      0.1*  0.2   lower
    """
    if len(evaluations) < 2 or not all(isinstance(one, Evaluation) for one in evaluations.values()):
        raise ParameterError("compare needs two or more evaluations by name: {'a': evaluate(...), 'b': evaluate(...)}")
    taken = {"name", "about", "better", "best"} & set(evaluations)
    if taken:
        raise ParameterError(
            f"an evaluation cannot be called {sorted(taken)[0]!r}: it would hide a column of that name"
        )
    return Comparison(dict(evaluations))
