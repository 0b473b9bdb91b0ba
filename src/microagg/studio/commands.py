"""The command line that does the same as what was clicked."""

from __future__ import annotations

import shlex
from pathlib import Path

__all__ = ["command", "short_path"]


def command(name: str, *words: object, **flags: object) -> str:
    """A command as one types it; flags that are None are left out, and what a shell would take apart is quoted.

    Examples
    --------
    >>> command("release", "my survey.csv", r="recipe.toml", o="out", seed=None)
    "microagg release 'my survey.csv' -r recipe.toml -o out"
    """
    parts = ["microagg", name, *(str(word) for word in words)]
    for flag, value in flags.items():
        dashes = "-" if len(flag) == 1 else "--"
        if value is True:
            parts.append(f"{dashes}{flag.replace('_', '-')}")
        elif value is not None and value is not False:
            parts += [f"{dashes}{flag.replace('_', '-')}", str(value)]
    return shlex.join(parts)


def short_path(path: Path) -> str:
    """A path as one would type it here: relative if it lies below, and whole otherwise."""
    try:
        return path.relative_to(Path.cwd()).as_posix()
    except (ValueError, FileNotFoundError):
        return path.as_posix()
