"""A recipe's content as pages can show it: what has another shape than its key must have is left out.

A text that is no recipe yet is shown, too, with what is wrong with it; the page about it must not fail.
"""

from __future__ import annotations

from collections.abc import Mapping
from typing import Any

__all__ = ["shaped"]

_PLAIN = ("k", "method", "sampling_weight")
_SEVERAL = {
    "input": ("columns", "missing_values"),
    "strata": ("by",),
    "sweep": ("methods", "k", "epsilon", "lambda", "l", "t", "measures"),
}


def shaped(content: Mapping[str, Any]) -> dict[str, Any]:
    """The content without what pages cannot read; one value where a recipe may have several is a list of one.

    Examples
    --------
    >>> shaped({"k": 3, "missing": 5, "sweep": {"epsilon": 1.0}, "attributes": {"age": {"bounds": 5}, "sex": 1}})
    {'k': 3, 'sweep': {'epsilon': [1.0]}, 'attributes': {'age': {}}}
    """
    found = {key: value for key, value in content.items() if key in _PLAIN or isinstance(value, dict)}
    if not isinstance(found.get("method", ""), str):
        del found["method"]
    for table, keys in _SEVERAL.items():
        if table in found:
            found[table] = {key: _several(one) if key in keys else one for key, one in found[table].items()}
    if "protect" in found:
        found["protect"] = {name: wanted for name, wanted in found["protect"].items() if isinstance(wanted, dict)}
    if "attributes" in found:
        declared = found["attributes"].items()
        found["attributes"] = {name: _attribute(one) for name, one in declared if isinstance(one, dict | str)}
    return found


def _several(value: Any) -> list[Any]:
    values = value if isinstance(value, list) else [value]
    return [one for one in values if not isinstance(one, dict | list)]


def _attribute(declared: dict[str, Any] | str) -> dict[str, Any] | str:
    if isinstance(declared, str):
        return declared
    lists = {key: declared[key] for key in ("bounds", "categories") if key in declared}
    unfit = {
        key for key, value in lists.items() if not isinstance(value, list) or (key == "bounds" and len(value) != 2)
    }
    return {key: value for key, value in declared.items() if key not in unfit}
