"""Packages that some tests need and microagg does not: without one, the tests that touch it are skipped, by name.

``from optional_packages import pandas as pd`` works on any machine. Whatever then uses ``pd`` on a machine without
pandas is skipped: a test that uses it in its body alone, a module that uses it at its top as a whole.
"""

from __future__ import annotations

from importlib import import_module
from typing import Any

import pytest


def need(name: str) -> Any:
    """The module of this name, or skip the test (or the module, if called at its top) that asks for it."""
    try:
        return import_module(name)
    except ModuleNotFoundError as error:
        package = name.partition(".")[0]
        if error.name is None or error.name.partition(".")[0] != package:
            raise  # The package is here, but something that it needs is not: a broken machine, not a smaller one.
        pytest.skip(f"needs {package}", allow_module_level=True)


class _OnUse:
    """A module that is looked for when something in it is asked for."""

    def __init__(self, name: str) -> None:
        self._name = name

    def __getattr__(self, attribute: str) -> Any:
        if attribute.startswith("__"):  # Collecting asks every name of a module what it is: that is no use of it.
            raise AttributeError(attribute)
        return getattr(need(self._name), attribute)


pandas: Any = _OnUse("pandas")
polars: Any = _OnUse("polars")
