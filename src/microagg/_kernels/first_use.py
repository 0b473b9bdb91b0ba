"""Who wants to hear that a kernel is being compiled: on a new machine that may take longer than the work itself."""

from __future__ import annotations

from collections.abc import Callable

__all__ = ["call_before_compiling", "say_compiling"]

# Seconds, roughly, of the kernels that take long to compile; the others take a second or less, which needs no word.
SECONDS = {
    "form_cells_brute": 8,
    "form_cells_tree": 8,
    "form_variable_cells_tree": 10,
    "sweep": 5,
    "anneal": 10,
}

_listeners: list[Callable[[int], None]] = []


def call_before_compiling(listener: Callable[[int], None]) -> None:
    """Let `listener` hear, before a kernel is compiled, about how many seconds that will take."""
    _listeners.append(listener)


def say_compiling(kernel: str) -> None:
    """Tell all listeners that a kernel is about to be compiled, unless that is soon done."""
    if kernel in SECONDS:
        for listener in _listeners:
            listener(SECONDS[kernel])
