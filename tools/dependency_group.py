"""Print the requirements of a dependency group of pyproject.toml, one in a line, for pips that have no `--group`.

python tools/dependency_group.py oracle | python -m pip install --no-deps -r /dev/stdin
"""

from __future__ import annotations

import sys
import tomllib
from pathlib import Path

PROJECT = Path(__file__).resolve().parents[1] / "pyproject.toml"


def requirements(group: str) -> list[str]:
    """The requirements of a group, or an exit that names the groups there are."""
    groups = tomllib.loads(PROJECT.read_text(encoding="utf-8"))["dependency-groups"]
    if group not in groups:
        sys.exit(f"{PROJECT.name} has no dependency group {group!r}; it has {', '.join(sorted(groups))}.")
    return list(groups[group])


if __name__ == "__main__":
    print(*requirements(sys.argv[1]), sep="\n")
