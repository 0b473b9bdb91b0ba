"""One error in a paper, and what an example shows of it."""

from __future__ import annotations

from collections.abc import Callable
from dataclasses import dataclass

__all__ = ["Erratum", "Shown"]


@dataclass(frozen=True)
class Shown:
    """What an example found.

    Attributes
    ----------
    found : float
        What it measured.
    allowed : float
        The most (or, where `at_least`, the least) that the paper's statement allows.
    text : str
        The example in words, with its numbers.
    at_least : bool
    """

    found: float
    allowed: float
    text: str
    at_least: bool = False

    @property
    def contradicts(self) -> bool:
        """Whether the paper's statement does not hold of the example."""
        return self.found < self.allowed if self.at_least else self.found > self.allowed


@dataclass(frozen=True)
class Erratum:
    """An error in a paper.

    Attributes
    ----------
    name : str
    paper : str
        The first word of its experiments' names.
    place : str
    said : str
        What the paper states, in our words.
    instead : str
        What holds.
    example : callable
        The smallest example that contradicts it.
    """

    name: str
    paper: str
    place: str
    said: str
    instead: str
    example: Callable[[], Shown]
