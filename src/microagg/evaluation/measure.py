"""Measures as values: a number with its range, its better direction and its formula in words."""

from __future__ import annotations

import json
import math
import time
from collections.abc import Callable, Iterator
from dataclasses import asdict, dataclass
from typing import Any, Literal

__all__ = ["Evaluation", "Measure", "Worth", "timed"]

Better = Literal["lower", "higher"]


@dataclass(frozen=True)
class Measure:
    """One thing that was measured.

    Attributes
    ----------
    name : str
    value : float or None
        None if it cannot be had from these tables; `note` then says why.
    low, high : float or None
        The range of possible values; None where there is no limit.
    better : {"lower", "higher"}
        Which direction is better for whoever the measure speaks for: users of the data (utility) or the people in it
        (risk, diversity).
    formula : str
        How it is computed, in words.
    seconds : float
        What it took.
    spread : float or None
        Standard deviation over repetitions, where there are any.
    note : str
    """

    name: str
    value: float | None
    low: float | None
    high: float | None
    better: Better
    formula: str
    seconds: float = 0.0
    spread: float | None = None
    note: str = ""

    def as_dict(self) -> dict[str, Any]:
        return asdict(self)


@dataclass(frozen=True)
class Worth:
    """A value with what there is to say of it."""

    value: float | None
    note: str = ""
    spread: float | None = None


def timed(
    name: str, low: float | None, high: float | None, better: Better, formula: str, compute: Callable[[], Worth]
) -> Measure:
    """Compute a measure and note the seconds it took."""
    started = time.perf_counter()
    worth = compute()
    seconds = time.perf_counter() - started
    if worth.value is not None and not math.isfinite(worth.value):
        worth = Worth(None, worth.note or "not defined for these tables")
    return Measure(name, worth.value, low, high, better, formula, seconds, worth.spread, worth.note)


@dataclass(frozen=True)
class Evaluation:
    """What was measured of a release, in order.

    Examples
    --------
    >>> evaluation = Evaluation((Measure("D_X", 0.1, 0.0, None, "lower", "mean squared distance"),))
    >>> evaluation["D_X"].value
    0.1
    """

    measures: tuple[Measure, ...]

    def __getitem__(self, name: str) -> Measure:
        for measure in self.measures:
            if measure.name == name:
                return measure
        raise KeyError(f"no measure {name!r}; there are: {', '.join(measure.name for measure in self.measures)}")

    def __iter__(self) -> Iterator[Measure]:
        return iter(self.measures)

    def as_dict(self) -> dict[str, Any]:
        """The measures by name, as plain dicts."""
        return {measure.name: {k: v for k, v in measure.as_dict().items() if k != "name"} for measure in self.measures}

    def as_json(self) -> str:
        return json.dumps(self.as_dict(), indent=2, ensure_ascii=False, allow_nan=False) + "\n"

    def as_frame(self, kind: Literal["pyarrow", "pandas", "polars"] = "pyarrow") -> Any:
        """The measures as a table, one row each."""
        from microagg.tables.frames import table_from_rows

        return table_from_rows([measure.as_dict() for measure in self.measures], kind)
