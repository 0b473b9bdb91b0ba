"""Addresses of databases given where a command takes files alone."""

from __future__ import annotations

import re
from collections.abc import Mapping
from pathlib import Path
from typing import Any

from microagg.errors import InputError

__all__ = ["refuse_addresses"]

_ADDRESS = re.compile(r"[A-Za-z][A-Za-z0-9+.-]+:/")  # two letters at least: C:/ is a drive. A path has lost one slash


def refuse_addresses(values: Mapping[str, Any]) -> None:
    """Refuse addresses that would be taken for paths: messages would show them, and folders would have their names.

    Parameters
    ----------
    values : mapping of name to value
        The arguments and flags of a command.

    Raises
    ------
    InputError
        The message does not quote the address, which may hold a password.
    """
    for name, value in values.items():
        for one in value if isinstance(value, list) else [value]:
            if isinstance(one, Path) and _ADDRESS.match(one.as_posix()) and not Path(one.parts[0]).exists():
                raise InputError(
                    f"{name.replace('_', '-')!r} takes a file or a folder here, not an address of a database or website"
                )
