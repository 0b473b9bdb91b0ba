"""Who wants to hear that a kernel is being compiled: on a new machine that may take longer than the work itself."""

from __future__ import annotations

from collections.abc import Callable

__all__ = ["call_before_compiling", "say_compiling"]

Listener = Callable[[str, int], None]

# What takes long to compile, and about how many seconds. All else takes a second or two, which needs no announcement.
LONG = {
    "form_cells": ("the plain scan for cells", 4),
    "form_cells_brute": ("the scan for cells", 10),
    "form_cells_tree": ("the tree search for cells", 7),
    "form_variable_cells": ("the scan for cells of variable size", 3),
    "form_variable_cells_tree": ("the tree search for cells of variable size", 7),
    "sweep": ("the local search", 6),
    "anneal": ("the annealing", 4),
    "exchange_until_enough": ("the search for cells of k units", 10),
    "nearest_points": ("the search for nearest records", 3),
    "price_cells": ("the search for a lower bound", 4),
}

_listeners: list[Listener] = []


def call_before_compiling(listener: Listener) -> None:
    """Let `listener` hear, before something long is compiled, what that is and about how many seconds it takes."""
    _listeners.append(listener)


def say_compiling(kernel: str) -> None:
    """Tell all listeners that a kernel is about to be compiled, if that takes long."""
    if kernel in LONG:
        for listener in _listeners:
            listener(*LONG[kernel])
