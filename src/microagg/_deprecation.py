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
    ...     groups = RenamedAttribute("Partition.groups", "cells", gone_in="9.9")
    >>> import warnings
    >>> with warnings.catch_warnings(record=True, action="always") as caught:
    ...     Partition().groups
    3
    >>> str(caught[0].message)
    "Partition.groups is now called 'cells'; the old name goes with version 9.9"
    """

    def __init__(self, old: str, new: str, *, gone_in: str) -> None:
        self._old, self._new, self._gone_in = old, new, gone_in

    def __get__(self, instance: Any, owner: type | None = None) -> Any:
        warnings.warn(
            f"{self._old} is now called {self._new!r}; the old name goes with version {self._gone_in}",
            DeprecationWarning,
            stacklevel=2,
        )
        return getattr(owner if instance is None else instance, self._new)
