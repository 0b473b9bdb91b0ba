"""Edits as the pages make them: one click becomes keys of the recipe, and keys that no longer fit go."""

from __future__ import annotations

import math
from collections.abc import Iterable, Mapping, Sequence
from typing import Any

from microagg.errors import InputError
from microagg.recipe.recipe import Recipe
from microagg.schema.attribute import Kind, Role
from microagg.schema.notices import asks_how_it_is_read
from microagg.studio.recipe_text import Keys, parse, questions, set_keys, settle
from microagg.studio.shapes import shaped

__all__ = ["edit", "edit_columns", "label_of", "settle_columns", "value_of"]

_ONLY_FOR: Mapping[str, Sequence[str]] = {
    "bounds": (Kind.NUMERIC,),
    "resolution": (Kind.NUMERIC,),
    "categories": (Kind.ORDINAL, Kind.NOMINAL),
    "taxonomy": (Kind.NOMINAL,),
}
_DEEPEST = 4


def edit(text: str, changes: Mapping[Keys, Any]) -> str:
    """The recipe with keys set or taken away, and without what no longer fits what was changed.

    Raises
    ------
    InputError
        If a key is none that a recipe could have.
    """
    for keys in changes:
        if not 1 <= len(keys) <= _DEEPEST or keys[0] not in Recipe.model_fields:
            raise InputError(f"a recipe has no key {'.'.join(keys)[:80]!r}")
    return set_keys(text, {**_consequences(text, changes), **changes})


def _consequences(text: str, changes: Mapping[Keys, Any]) -> dict[Keys, None]:
    """Keys that must go with a change: bounds of what is no number any more, wishes about what is not confidential."""
    content = shaped(parse(text))
    found: dict[Keys, None] = {}
    for keys, value in changes.items():
        if len(keys) != 3 or keys[0] != "attributes":
            continue
        name = keys[1]
        declared = content.get("attributes", {}).get(name, {})
        declared = {"role": declared} if isinstance(declared, str) else declared
        if keys[2] == "kind":
            unfit = [key for key, kinds in _ONLY_FOR.items() if value not in kinds]
            found |= {("attributes", name, key): None for key in (*unfit, "representative") if key in declared}
        if keys[2] == "role":
            if value != Role.CONFIDENTIAL and name in content.get("protect", {}):
                found[("protect", name)] = None
            by = content.get("strata", {}).get("by", [])
            if value != Role.QUASI_IDENTIFIER and name in by:
                kept = [one for one in by if one != name]
                found[("strata", "by")] = kept or None  # type: ignore[assignment]
            if value != Role.IDENTIFIER and content.get("unit", {}).get("key") == name:
                found[("unit",)] = None
    if ("method",) in changes and changes[("method",)] != content.get("method"):
        found |= {("partition",): None} if "partition" in content else {}
    return found


def edit_columns(text: str, names: Iterable[str], role: str | None, kind: str | None) -> str:
    """The recipe with role, kind or both of several columns set; what is asked about these is settled by that."""
    names = list(names)
    changes: dict[Keys, Any] = {}
    for name in names:
        if role:
            changes[("attributes", name, "role")] = Role(role).value
        if kind:
            changes[("attributes", name, "kind")] = Kind(kind).value
    content = shaped(parse(text)).get("attributes", {})
    for name in names if role == Role.QUASI_IDENTIFIER and not kind else ():
        declared = content.get(name, {})
        if isinstance(declared, str) or "kind" not in declared:
            changes[("attributes", name, "kind")] = Kind.NOMINAL.value  # a quasi-identifier needs one
    return settle_columns(edit(text, changes), names)


def settle_columns(text: str, names: Iterable[str], *, reading: bool = False) -> str:
    """The recipe with questions about some columns settled; with `reading`, also those about how values are written."""
    wanted = set(names)
    asked = [one for one in questions(text) if one.column in wanted and one.topic[:4] == "attr"]
    return settle(text, [one.line for one in asked if reading or not asks_how_it_is_read(one.text)])


def value_of(written: str, form: str) -> Any:
    """What somebody typed, as a recipe holds it; nothing if the field was emptied.

    Examples
    --------
    >>> value_of("3, 5 ,10", "numbers"), value_of(" ", "number"), value_of("a\\nb", "lines"), value_of("0.5", "number")
    ([3, 5, 10], None, ['a', 'b'], 0.5)
    """
    text = written.strip()
    if form == "character":  # a blank may be a separator
        return {"\\t": "\t", "tab": "\t", "space": " "}.get(text, written) or None
    if not text:
        return None
    if form == "number":
        return _number(text)
    if form == "numbers":
        return [one if one == "auto" else _number(one) for one in _split(text)]
    if form == "words":
        return _split(text)
    if form == "lines":
        return [line.strip() for line in written.splitlines() if line.strip()] or None
    if form == "codes":
        return [_code(one) for one in _split(text)]
    if form == "flag":
        return text == "true"
    if form == "bound":
        return _bound(text)
    return text


def _split(text: str) -> list[str]:
    return [one.strip() for one in text.split(",") if one.strip()]


def _number(text: str) -> int | float:
    for kind in (int, float):
        try:
            found = kind(text)
        except ValueError:
            continue
        if math.isfinite(found):
            return found
    raise InputError("a number is needed here, like 5 or 0.5")


def _code(text: str) -> int | float | str:
    try:
        return _number(text)
    except InputError:
        return text


def _bound(text: str) -> Any:
    import datetime as dt

    try:
        return _number(text)
    except InputError:
        try:
            return dt.date.fromisoformat(text) if len(text) == 10 else dt.datetime.fromisoformat(text)
        except ValueError:
            raise InputError("a bound is a number, or a date like 2020-12-31") from None


def label_of(keys: Keys, value: Any) -> str:
    """A change in a few words, for the history.

    Examples
    --------
    >>> label_of(("attributes", "age", "role"), "identifier"), label_of(("k",), 7), label_of(("unit",), None)
    ('age: role = identifier', 'k = 7', 'unit left out')
    """
    name = f"{keys[1]}: {'.'.join(keys[2:])}" if keys[0] == "attributes" and len(keys) > 2 else ".".join(keys)
    if value is None:
        return f"{name} left out"
    shown = ", ".join(str(one) for one in value) if isinstance(value, list) else str(value)
    return f"{name} = {shown if len(shown) <= 40 else shown[:39] + '…'}"
