"""Old names of renamed attributes: they work for one more version, and say what to write instead."""

from __future__ import annotations

import warnings
from typing import Any

__all__ = ["RenamedAttribute"]


class RenamedAttribute:
    """An attribute under its old name.

    Examples
    --------
    >>> class Partition:
    ...     cells = 3
    ...     groups = RenamedAttribute("Partition.groups", "cells")
    >>> import warnings
    >>> with warnings.catch_warnings(record=True, action="always") as caught:
    ...     Partition().groups
    3
    >>> str(caught[0].message)
    "Partition.groups is now called 'cells'; the old name goes with the next version"
    """

    def __init__(self, old: str, new: str) -> None:
        self._old, self._new = old, new

    def __get__(self, instance: Any, owner: type | None = None) -> Any:
        warnings.warn(
            f"{self._old} is now called {self._new!r}; the old name goes with the next version",
            DeprecationWarning,
            stacklevel=2,
        )
        return getattr(owner if instance is None else instance, self._new)
