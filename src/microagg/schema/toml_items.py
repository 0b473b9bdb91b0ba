"""Long lists and tables of words as TOML: trees and orders of thousands of categories.

Given them as Python has them, tomlkit takes time by the square of their length; their text it reads at once.
"""

from __future__ import annotations

from typing import Any

__all__ = ["toml_items"]

_LONG = 50


def toml_items(value: Any) -> Any:
    """The value, with lists and tables of many words in it as items of tomlkit.

    Examples
    --------
    >>> import tomlkit
    >>> content = {"towns": [f"{i}" for i in range(60)], "of": {f"town {i}": 'the "land"' for i in range(60)}}
    >>> tomlkit.dumps(toml_items(content)) == tomlkit.dumps(content)
    True
    """
    import tomlkit

    if isinstance(value, dict):
        if len(value) < _LONG or not _are_words([*value, *value.values()]):
            return {key: toml_items(one) for key, one in value.items()}
        lines = [f"{_quoted(key)} = {_quoted(one)}" for key, one in value.items()]
        read = tomlkit.parse("[long]\n" + "\n".join(lines) + "\n")
    elif isinstance(value, list) and len(value) >= _LONG and _are_words(value):
        read = tomlkit.parse(f"long = [{', '.join(map(_quoted, value))}]\n")
    else:
        return value
    return read["long"]


def _are_words(values: list[Any]) -> bool:
    return all(isinstance(one, str) for one in values)


def _quoted(text: str) -> str:
    import tomlkit

    return tomlkit.string(text).as_string()
