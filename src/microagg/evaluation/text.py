"""Evaluations as lines of text for a terminal."""

from __future__ import annotations

from collections.abc import Sequence
from textwrap import fill
from typing import TYPE_CHECKING

if TYPE_CHECKING:
    from microagg.evaluation.result import Evaluation, Measure

__all__ = ["columns_of_text", "evaluation_text", "measure_row", "number"]


def number(value: float | None) -> str:
    """A value in four significant digits, "-" for none.

    Examples
    --------
    >>> number(0.123456), number(123456.0), number(3.0), number(None)
    ('0.1235', '1.235e+05', '3', '-')
    """
    return "-" if value is None else f"{value:.4g}"


def columns_of_text(rows: Sequence[Sequence[str]], left: Sequence[int]) -> str:
    """Rows as aligned columns; the columns in `left` begin at the left, the others end at the right.

    Examples
    --------
    >>> print(columns_of_text([["a", "1"], ["bb", "22"]], left=[0]))
    a    1
    bb  22
    """
    widths = [max(len(row[i]) for row in rows) for i in range(len(rows[0]))]
    lines = []
    for row in rows:
        cells = [
            cell.ljust(w) if i in left else cell.rjust(w) for i, (cell, w) in enumerate(zip(row, widths, strict=True))
        ]
        lines.append("  ".join(cells).rstrip())
    return "\n".join(lines)


def evaluation_text(evaluation: Evaluation, *, details: bool = False) -> str:
    parts = []
    for about in ("utility", "risk"):
        had = [measure for measure in evaluation if measure.about == about and measure.value is not None]
        if not had:
            continue
        rows = [[about, "value", "by chance", "range", "better"]]
        for measure in had:
            rows.append(measure_row(measure))
            if details:
                rows += [[f"  {of}", number(value), "", "", ""] for of, value in measure.details.items()]
        parts.append(columns_of_text(rows, left=(0, 3, 4)))
    if evaluation.sampled is not None:
        parts.append(fill(evaluation.sampled.as_text(), 120, break_long_words=False, break_on_hyphens=False))
    return "\n\n".join(parts)


def measure_row(measure: Measure) -> list[str]:
    """A measure's name, value, what chance alone would reach, its range, and which way is better."""
    spread = "" if measure.spread is None else f" +- {measure.spread:.2g}"
    limits = f"{number(measure.low)} .. {number(measure.high)}"
    return [measure.name, f"{number(measure.value)}{spread}", number(measure.baseline), limits, measure.better]
