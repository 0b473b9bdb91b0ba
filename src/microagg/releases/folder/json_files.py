"""Read a JSON file that anybody may have written."""

from __future__ import annotations

import json
from pathlib import Path
from typing import Any

__all__ = ["parse_json", "read_json", "same"]

_LARGEST = 1 << 28


def read_json(path: Path) -> Any:
    """What a JSON file holds.

    Raises
    ------
    ValueError
        If it is not JSON, names a key twice, nests without end, or is larger than anything that is written here.
    """
    if path.stat().st_size > _LARGEST:
        raise ValueError("too large")
    return parse_json(path.read_text(encoding="utf-8"))


def parse_json(text: str) -> Any:
    """What a text of JSON holds; ValueError as of :func:`read_json`."""
    try:
        return json.loads(text, object_pairs_hook=_once, parse_constant=_refuse)
    except RecursionError:
        raise ValueError("nests too deep") from None


def _once(pairs: list[tuple[str, Any]]) -> dict[str, Any]:
    """Two programs may read two values from a key that is there twice."""
    found = dict(pairs)
    if len(found) < len(pairs):
        raise ValueError("a key twice")
    return found


def _refuse(constant: str) -> float:
    raise ValueError(constant)


def same(first: Any, second: Any) -> bool:
    """Whether two contents of JSON are the same to the letter: 1, 1.0 and true are three."""
    return _canonical(first) == _canonical(second)


def _canonical(content: Any) -> str:
    return json.dumps(content, sort_keys=True, default=str)
