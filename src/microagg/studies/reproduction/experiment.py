"""An experiment: one table or figure of a paper, as parts, a comparison and a picture."""

from __future__ import annotations

import hashlib
import json
from collections.abc import Callable, Sequence
from dataclasses import dataclass, field
from enum import StrEnum
from typing import Any

from microagg.studies.reproduction.comparison import Row

__all__ = ["Curve", "Experiment", "Grid", "Panel", "Part", "Point"]

Point = dict[str, Any]
"""What a part found: plain numbers and texts by name."""


class Grid(StrEnum):
    """How finely an experiment is run."""

    QUICK = "quick"
    STANDARD = "standard"
    FULL = "full"

    def pick(self, quick: Any, standard: Any, full: Any) -> Any:
        """What an experiment takes at this fineness."""
        return {Grid.QUICK: quick, Grid.STANDARD: standard, Grid.FULL: full}[self]


@dataclass(frozen=True)
class Part:
    """A piece of work that needs no other: a function of a module, and arguments that JSON can hold.

    Experiments that need the same part share it.
    """

    function: Callable[..., list[Point]]
    arguments: tuple[tuple[str, Any], ...]

    @classmethod
    def of(cls, function: Callable[..., list[Point]], **arguments: Any) -> Part:
        hashable = {name: tuple(one) if isinstance(one, list) else one for name, one in arguments.items()}
        return cls(function, tuple(sorted(hashable.items())))

    def key(self, code: str) -> str:
        """What the part's result is kept under; `code` is the digest of the code that computes it."""
        made = [code, self.function.__module__, self.function.__qualname__, [list(pair) for pair in self.arguments]]
        return hashlib.sha256(json.dumps(made).encode()).hexdigest()[:32]

    def run(self) -> list[Point]:
        return self.function(**dict(self.arguments))


@dataclass(frozen=True)
class Curve:
    """A line of a figure."""

    label: str
    x: tuple[float, ...]
    y: tuple[float, ...]
    dotted: bool = False


@dataclass(frozen=True)
class Panel:
    """One pair of axes of a figure."""

    title: str
    x_label: str
    y_label: str
    curves: tuple[Curve, ...]
    log_y: bool = False


def _nothing(_: Sequence[Point]) -> list[Panel]:
    return []


@dataclass(frozen=True)
class Experiment:
    """One table or figure of a paper.

    Attributes
    ----------
    name : str
        ``<paper>.<table or figure>``, what ``microagg reproduce`` calls it.
    title : str
        A line on what it shows.
    place : str
        Where the paper has it.
    needs : tuple of str
        Reference tables, by their names in :mod:`microagg.datasets`.
    plan : callable
        From a grid and a seed to parts.
    compare : callable
        From the points of all parts, in the order of the parts, to the rows of the table.
    draw : callable
        The same points as panels, for what the paper shows as a figure.
    numbers_printed : bool
        Whether the paper prints the figures; of curves that are only drawn, what its text says of them is tested.
    """

    name: str
    title: str
    place: str
    needs: tuple[str, ...]
    plan: Callable[[Grid, int], Sequence[Part]]
    compare: Callable[[Sequence[Point]], list[Row]]
    draw: Callable[[Sequence[Point]], list[Panel]] = field(default=_nothing)
    numbers_printed: bool = True

    @property
    def paper(self) -> str:
        return self.name.partition(".")[0]
