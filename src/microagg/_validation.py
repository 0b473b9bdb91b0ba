"""What a parameter may be, declared once: the check, the sentence that explains it, and bad values for the tests."""

from __future__ import annotations

import math
import numbers
from collections.abc import Mapping
from dataclasses import dataclass
from typing import Any, Protocol

from microagg.errors import ParameterError, did_you_mean, shown

__all__ = [
    "Choice",
    "ChoiceOrWeights",
    "Constraint",
    "Flag",
    "Integer",
    "Optional",
    "Real",
    "as_float",
    "check_parameters",
]


def as_float(value: Any) -> float:
    """A number as a float: infinity beyond all floats, where ``float`` raises an error of its own."""
    try:
        return float(value)
    except OverflowError:
        return math.inf if value > 0 else -math.inf


class Constraint(Protocol):
    """A set of allowed values that can describe itself."""

    def allows(self, value: Any) -> bool: ...

    def describe(self) -> str: ...

    def bad_values(self) -> list[Any]: ...


@dataclass(frozen=True)
class Integer:
    """A whole number of at least `low` (and at most `high`)."""

    low: int
    high: int | None = None

    def allows(self, value: Any) -> bool:
        whole = isinstance(value, numbers.Integral) and not isinstance(value, bool)
        return whole and value >= self.low and (self.high is None or value <= self.high)

    def describe(self) -> str:
        upper = "" if self.high is None else f" and at most {self.high}"
        return f"a whole number of at least {self.low}{upper}"

    def bad_values(self) -> list[Any]:
        above = [] if self.high is None else [self.high + 1]
        return [self.low - 1, self.low + 0.5, str(self.low), None, True, *above]


@dataclass(frozen=True)
class Real:
    """A finite number in [`low`, `high`], or above `low` if `open_low`."""

    low: float
    high: float = math.inf
    open_low: bool = False

    def allows(self, value: Any) -> bool:
        if not isinstance(value, numbers.Real) or isinstance(value, bool):
            return False
        number = as_float(value)
        if not math.isfinite(number):
            return False
        return (number > self.low if self.open_low else number >= self.low) and number <= self.high

    def describe(self) -> str:
        upper = "" if self.high == math.inf else f" and at most {self.high}"
        return f"a finite number {'above' if self.open_low else 'of at least'} {self.low}{upper}"

    def bad_values(self) -> list[Any]:
        above = [] if self.high == math.inf else [self.high + 1.0]
        return [self.low if self.open_low else self.low - 1.0, math.nan, math.inf, "1", None, *above]


@dataclass(frozen=True)
class Choice:
    """One of a few words."""

    words: tuple[str, ...]

    def allows(self, value: Any) -> bool:
        return isinstance(value, str) and value in self.words

    def describe(self) -> str:
        return "one of " + ", ".join(repr(word) for word in self.words)

    def bad_values(self) -> list[Any]:
        return [self.words[0] + "x", None, 0]


@dataclass(frozen=True)
class ChoiceOrWeights:
    """One of a few words, or a list of weights above 0 that sum to 1."""

    words: tuple[str, ...]

    def allows(self, value: Any) -> bool:
        if isinstance(value, str):
            return value in self.words
        if not isinstance(value, list | tuple) or not value:
            return False
        return all(Real(0.0, open_low=True).allows(weight) for weight in value) and abs(math.fsum(value) - 1.0) <= 1e-9

    def describe(self) -> str:
        return f"{Choice(self.words).describe()}, or a list of weights above 0 that sum to 1"

    def bad_values(self) -> list[Any]:
        return [self.words[0] + "x", None, 0, [], [0.5, 0.4], [1.5, -0.5], ["1"]]


@dataclass(frozen=True)
class Flag:
    """True or False."""

    def allows(self, value: Any) -> bool:
        return isinstance(value, bool)

    def describe(self) -> str:
        return "True or False"

    def bad_values(self) -> list[Any]:
        return [None, 1, "True"]


@dataclass(frozen=True)
class Optional:
    """None, or what another constraint allows."""

    otherwise: Constraint

    def allows(self, value: Any) -> bool:
        return value is None or self.otherwise.allows(value)

    def describe(self) -> str:
        return f"None or {self.otherwise.describe()}"

    def bad_values(self) -> list[Any]:
        return [value for value in self.otherwise.bad_values() if value is not None]


def check_parameters(owner: str, constraints: Mapping[str, Constraint], values: Mapping[str, Any]) -> None:
    """Raise one sentence that names the parameter, what is allowed and what came.

    Examples
    --------
    >>> check_parameters("MDAV", {"k": Integer(2)}, {"k": 1})
    Traceback (most recent call last):
        ...
    microagg.errors.ParameterError: The 'k' parameter of MDAV must be a whole number of at least 2. Got 1 instead.
    """
    for name, constraint in constraints.items():
        value = values[name]
        if not constraint.allows(value):
            hint = (
                did_you_mean(value, constraint.words)
                if isinstance(constraint, Choice) and isinstance(value, str)
                else ""
            )
            raise ParameterError(
                f"The {name!r} parameter of {owner} must be {constraint.describe()}. Got {shown(value)} instead.{hint}"
            )
