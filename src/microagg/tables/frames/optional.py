"""Packages that microagg can do without, until somebody asks for what only they can do."""

from __future__ import annotations

import importlib
from typing import Any

from microagg.errors import TableError

__all__ = ["import_optional"]


def import_optional(module: str, install: str) -> Any:
    """Import `module`, or say with which line it is installed.

    Raises
    ------
    TableError
        If the module is not installed.
    """
    try:
        return importlib.import_module(module)
    except ModuleNotFoundError as error:
        raise TableError(
            f'This needs the package {module}, which is not installed here. Install it with: pip install "{install}"'
        ) from error
