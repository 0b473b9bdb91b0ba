"""A measure before anything is measured: its name, range, direction, formula, what it needs and how it is computed."""

from __future__ import annotations

import math
import time
from collections.abc import Callable, Iterable, Mapping, Sequence
from dataclasses import dataclass, field
from enum import StrEnum
from typing import TYPE_CHECKING, Any

import numpy as np

from microagg.errors import ParameterError, did_you_mean
from microagg.evaluation.result import About, Better, Measure, RowKind, Values
from microagg.tables.words import NO_WORDS, Words

if TYPE_CHECKING:
    from microagg.evaluation.context import Context

__all__ = ["Definition", "Limit", "MeasureResult", "Need", "choose"]


_ORDER = {RowKind.RANKS: 0, RowKind.MEANS: 1, RowKind.DRAWN: 2, RowKind.RECORDS: 3}


class Need(StrEnum):
    """What a measure needs of the tables; where it is not there the measure has no value and its note says so."""

    ROWS = "aligned rows"
    NUMBERS = "a numeric or ordinal quasi-identifier"
    CATEGORIES = "a nominal quasi-identifier"
    CONFIDENTIAL = "a confidential attribute with a kind"
    CELLS = "cells with confidential attributes"
    HOLDOUT = "a holdout"
    TARGET = "a target"
    WEIGHTS = "sampling weights that the recipe names"


@dataclass(frozen=True)
class Limit:
    """A largest possible value that depends on the tables.

    Attributes
    ----------
    words : str
        What it is, for whoever has no tables yet.
    find : callable
        From the context of an evaluation to the number.
    """

    words: str
    find: Callable[[Context], float | None] = field(repr=False)

    def __call__(self, context: Context) -> float | None:
        return self.find(context)


@dataclass(frozen=True)
class MeasureResult:
    """What the computation of a measure found.

    Attributes
    ----------
    value : float or None
        None, or not finite, where the tables leave it undefined; `note` says why.
    note : str
    spread, baseline, details
        As in :class:`~microagg.evaluation.result.Measure`.
    records : Values, optional
        A value per record, for internal use. Compute it only if ``context.per_record``.
    """

    value: float | None
    note: str = ""
    spread: float | None = None
    baseline: float | None = None
    details: Mapping[str, float | None] = field(default_factory=dict)
    records: Values | None = None


@dataclass(frozen=True)
class Definition:
    """A measure that can be computed of any release.

    Attributes
    ----------
    name : str
    about : {"utility", "risk"}
    group : str
        A word that chooses this measure together with its kin.
    better : {"lower", "higher"}
    formula : str
        How it is computed, in words. ``{name}`` stands for an option of the evaluation, for example ``{lambda_:g}``.
    compute : callable
        From the context of an evaluation to a :class:`MeasureResult`. It may rely on all of `needs`.
    low, high : float or None, or a callable that finds it from the context
    needs : tuple of Need
    default : bool
        Whether it is measured where no choice is made.
    holds_of : RowKind
        The least that rows must be: ranks if it looks at each attribute alone, means if it looks at how attributes go
        together, else records.
    explained : Words
        What `microagg explain`, reports and the page of measures say of it, in plain words.
    """

    name: str
    about: About
    group: str
    better: Better
    formula: str
    compute: Callable[[Context], MeasureResult] = field(repr=False)
    low: float | None = 0.0
    high: float | Callable[[Context], float | None] | None = None
    needs: tuple[Need, ...] = ()
    default: bool = True
    holds_of: RowKind = RowKind.RECORDS
    explained: Words = NO_WORDS

    @property
    def range_words(self) -> str:
        """The possible values, in words."""
        if isinstance(self.high, Limit):
            high: str | None = self.high.words
        else:
            high = "a limit that depends on the tables" if callable(self.high) else _plain(self.high)
        low = _plain(self.low)
        if low is None:
            return "any number" if high is None else f"at most {high}"
        return f"{low} and above, without limit" if high is None else f"{low} to {high}"

    @property
    def formula_words(self) -> str:
        """The formula with the options of an evaluation as they are by default."""
        return self.formula.format_map({"lambda_": 0.5, "target": "target"})

    def without_value(self, why: str, options: Mapping[str, Any]) -> Measure:
        """The measure where it was not taken."""
        formula = self.formula.format_map(options)
        words = self.explained.plain
        return Measure(self.name, None, self.low, None, self.better, formula, note=why, about=self.about, words=words)

    def measure(self, context: Context) -> tuple[Measure, Values | None]:
        """Compute it, or say what is lacking; with the seconds it took, and values per record if there are any."""
        started = time.perf_counter()
        lacking = [lack for need in self.needs if (lack := context.lacks(need))]
        unfit = _ORDER[context.rows.kind] < _ORDER[self.holds_of]
        if unfit:
            lacking = [context.rows.kind.limitation]
        # A sum of squares of numbers near the largest double overflows: what is not finite has no value.
        with np.errstate(over="ignore", invalid="ignore", divide="ignore"):
            result = MeasureResult(None, lacking[0]) if lacking else self.compute(context)
        value, note = result.value, result.note
        if value is not None and not math.isfinite(value):
            value, note = None, note or "not defined for these tables"
        details = {of: _finite(part) for of, part in result.details.items()}
        high = (None if unfit else self.high(context)) if callable(self.high) else self.high
        measure = Measure(
            self.name,
            None if value is None else float(value),
            self.low,
            _finite(high),
            self.better,
            self.formula.format_map(context.options),
            time.perf_counter() - started,
            _finite(result.spread),
            note,
            self.about,
            _finite(result.baseline),
            details,
            self.explained.plain,
        )
        return measure, result.records


def _plain(number: float | None) -> str | None:
    return None if number is None else f"{number:g}"


def _finite(value: float | None) -> float | None:
    return None if value is None or not math.isfinite(value) else float(value)


def choose(definitions: Sequence[Definition], wanted: str | Iterable[str] | None) -> list[Definition]:
    """Those of the definitions that `wanted` names, in their own order.

    Parameters
    ----------
    wanted : None, "all", or one or more of: names of measures, groups, "utility", "risk", "default"
        "utility" and "risk" are those of the default; a group or "all" has the others too.
    """
    if wanted is None:
        wanted = "default"
    words = [wanted] if isinstance(wanted, str) else list(wanted)
    by_word: dict[str, set[str]] = {"all": set(), "default": set()}
    for one in definitions:
        for word in ("all", one.group, one.name, *(["default", one.about] if one.default else [])):
            by_word.setdefault(word, set()).add(one.name)
    unknown = [word for word in words if word not in by_word]
    if unknown:
        raise ParameterError(
            f"no measure or group of measures is called {unknown[0]!r}.{did_you_mean(unknown[0], by_word)} "
            f"There are: {', '.join(by_word)}"
        )
    chosen = {name for word in words for name in by_word[word]}
    return [one for one in definitions if one.name in chosen]
