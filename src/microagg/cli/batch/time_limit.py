"""``--time-limit``: a command that ends in time, with a whole result or with none."""

from __future__ import annotations

import functools
import inspect
import math
import signal
import time
from collections.abc import Callable, Iterator
from contextlib import contextmanager
from contextvars import ContextVar
from typing import TYPE_CHECKING, Annotated, Any, TypeVar, get_type_hints

import typer

from microagg.errors import ParameterError

if TYPE_CHECKING:
    from microagg.recipe.recipe import Recipe

__all__ = ["TimeIsUp", "ends_in_time", "with_searches_in_time"]

R = TypeVar("R")

_SEARCHING, _REARRANGING = 0.4, 0.2  # shares of what is left; the rest reads, measures and writes

_deadline: ContextVar[float | None] = ContextVar("microagg_deadline", default=None)

TimeLimit = Annotated[
    float | None,
    typer.Option(
        "--time-limit",
        help="Seconds until the command ends, if need be with nothing (exit code 124); searches for cells stop before "
        "and give their best so far.",
    ),
]


class TimeIsUp(KeyboardInterrupt):
    """The time limit of a command is over: it is ended as by Ctrl-C, and says why."""

    def __init__(self, limit: float) -> None:
        super().__init__()
        self.limit = limit


@contextmanager
def _alarm(limit: float, rung: Callable[[float], None]) -> Iterator[None]:
    def ring(number: int, frame: Any) -> None:
        rung(limit)
        raise TimeIsUp(limit)

    usual = signal.signal(signal.SIGALRM, ring)
    token = _deadline.set(time.monotonic() + limit)
    signal.setitimer(signal.ITIMER_REAL, limit)
    try:
        yield
    finally:
        signal.setitimer(signal.ITIMER_REAL, 0.0)
        signal.signal(signal.SIGALRM, usual)
        _deadline.reset(token)


def ends_in_time(rung: Callable[[float], None]) -> Callable[[Callable[..., R]], Callable[..., R]]:
    """Add ``--time-limit`` to a command; `rung` is told when it is over."""

    def decorate(command: Callable[..., R]) -> Callable[..., R]:
        signature = inspect.signature(command)
        hints = get_type_hints(command, include_extras=True)
        own = [one.replace(annotation=hints[name]) for name, one in signature.parameters.items()]
        more = inspect.Parameter("time_limit", inspect.Parameter.KEYWORD_ONLY, default=None, annotation=TimeLimit)

        @functools.wraps(command)
        def in_time(*args: Any, **values: Any) -> R:
            limit = values.pop("time_limit", None)
            if limit is None:
                return command(*args, **values)
            if not 0.0 < limit < 1e8:
                raise ParameterError("--time-limit is a number of seconds above 0")
            with _alarm(limit, rung):
                return command(*args, **values)

        in_time.__signature__ = signature.replace(parameters=[*own, more])  # type: ignore[attr-defined]
        in_time.__annotations__ = {one.name: one.annotation for one in (*own, more)}
        return in_time

    return decorate


def with_searches_in_time(recipe: Recipe) -> Recipe:
    """The recipe with time limits of its searches that leave time to write what they find, if the command has one.

    A search that the limit cuts has its best so far, which is valid; the statement says that it was cut. With several
    groups of records each has a search of its own: the command may then end before all are done, with nothing.
    """
    from microagg.recipe.protect import rearranges

    deadline = _deadline.get()
    if deadline is None:
        return recipe
    left = max(deadline - time.monotonic(), 0.01)
    changes: dict[str, float] = {}
    if recipe.entry.has_cells and "time_limit" in recipe.entry.partitioner_class.constraints:
        searches = _blocks(recipe) * (2 if recipe.partition.get("certificate") else 1)
        changes["partition.time_limit"] = _shorter(recipe.partition.get("time_limit"), _SEARCHING * left / searches)
    if rearranges(recipe):
        changes["rearrange.time_limit"] = _shorter(recipe.rearrange.time_limit, _REARRANGING * left)
    return recipe.changed(changes) if changes else recipe


def _blocks(recipe: Recipe) -> int:
    """Into how many blocks the attributes are split, each with a search of its own."""
    if recipe.blocks.attributes is not None:
        return len(recipe.blocks.attributes)
    n_attributes = len(recipe.schema.quasi_identifiers)
    return math.ceil(n_attributes / (recipe.blocks.size or n_attributes))


def _shorter(own: float | None, limit: float) -> float:
    rounded = max(round(limit, 3), 0.001)
    return rounded if own is None else min(own, rounded)
