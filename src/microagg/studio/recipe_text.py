"""Edits of a recipe's text: keys are set, comments stay, and questions that a draft asks are settled one by one."""

from __future__ import annotations

import json
import re
import tomllib
from collections.abc import Iterable, Mapping
from dataclasses import dataclass
from typing import Any

from microagg.errors import RecipeError
from microagg.recipe.explain import explain_toml
from microagg.schema.toml_items import toml_items

__all__ = ["Keys", "Question", "parse", "questions", "set_keys", "settle"]

Keys = tuple[str, ...]
"""The way to a key: ``("attributes", "age", "role")``."""

_ASKED, _SETTLED = "# DECIDE: ", "# decided: "


def parse(text: str) -> dict[str, Any]:
    """The content of a recipe's text.

    Raises
    ------
    RecipeError
        If it is no TOML; the message says where.
    """
    try:
        return tomllib.loads(text)
    except tomllib.TOMLDecodeError as error:
        raise RecipeError(f"this is not a recipe: {explain_toml(text, error)}") from None
    except (RecursionError, ValueError):
        raise RecipeError("this is not a recipe: it nests too deep, or has a number with too many digits") from None


def set_keys(text: str, changes: Mapping[Keys, Any]) -> str:
    """The text with keys set, or taken away where the value is None; comments stay where they are.

    An attribute that is declared by its role alone becomes a table of its own as soon as it has another key.

    Examples
    --------
    >>> print(set_keys("k = 5   # records\\n[attributes]\\nage = 'identifier'\\n", {("k",): 7}))
    k = 7   # records
    [attributes]
    age = 'identifier'
    <BLANKLINE>
    """
    import tomlkit

    content = parse(text)
    document: Any = tomlkit.parse(text)
    for keys, value in changes.items():
        _set(content, keys, value, dict)
        _set(document, keys, toml_items(value), tomlkit.table)
    written = tomlkit.dumps(document)
    try:
        if _same(tomllib.loads(written), content):
            return written
    except tomllib.TOMLDecodeError:
        pass
    return tomlkit.dumps(toml_items(content))  # of a file so unusual that its comments cannot be kept


def _same(one: Any, other: Any) -> bool:
    """Whether two contents are equal; not a number is, to itself."""
    return json.dumps(one, sort_keys=True, default=repr) == json.dumps(other, sort_keys=True, default=repr)


def _set(content: Any, keys: Keys, value: Any, new_table: Any) -> None:
    """Set a key in a table of tables; tables that become empty go, but for those of attributes."""
    way, table = [content], content
    for place, key in enumerate(keys[:-1]):
        if key not in table:
            if value is None:
                return
            table[key] = new_table()
        elif isinstance(table[key], str) and keys[:1] == ("attributes",) and place == 1:
            role = str(table[key])
            if keys[-1] == "role":
                table[key] = value
                return
            if value is None:
                return
            table[key] = _inline(role) if new_table is not dict else {"role": role}
        table = table[key]
        if not isinstance(table, dict):
            way_there = ".".join(keys[: place + 1])[:80]
            raise RecipeError(f"{way_there!r} is no table in this recipe, so no key of it can be set: edit it as text")
        way.append(table)
    if value is not None:
        table[keys[-1]] = value
        return
    if keys[-1] in table:
        del table[keys[-1]]
    for place in range(len(keys) - 2, -1, -1):
        if not len(way[place + 1]) and keys[0] != "attributes":
            del way[place][keys[place]]


def _inline(role: str) -> Any:
    import tomlkit

    found = tomlkit.inline_table()
    found["role"] = role
    return found


@dataclass(frozen=True)
class Question:
    """A question that a draft asks, and that only a person can answer.

    Attributes
    ----------
    line : int
        Where it stands, from 0.
    column : str or None
        The column it is about, if it is about one.
    topic : str
        The table of the recipe that it stands in; empty at the top.
    text : str
    """

    line: int
    column: str | None
    topic: str
    text: str


def questions(text: str) -> list[Question]:
    """All open questions of a recipe's text.

    Examples
    --------
    >>> questions("[attributes.age]\\n# DECIDE: is it known?\\nrole = 'identifier'\\n")[0].column
    'age'
    """
    found: list[Question] = []
    section: tuple[str, ...] = ()
    for number, line in enumerate(text.split("\n")):  # names of columns may hold what other lines end with
        section = _section(line) or section
        if _ASKED in line:
            words = line.split(_ASKED, 1)[1].strip()
            column = section[1] if len(section) > 1 and section[0] in ("attributes", "protect") else None
            found.append(Question(number, column, ".".join(section), words))
    return found


def _section(line: str) -> tuple[str, ...]:
    """The table that a line begins, also where it is only proposed in a comment."""
    header = re.match(r"(?:# )?(\[[^\[].*\])\s*(#.*)?$", line, re.DOTALL)
    if header is None:
        return ()
    try:
        content: Any = tomllib.loads(header[1])
    except tomllib.TOMLDecodeError:
        return ()
    way = []
    while isinstance(content, dict) and content:
        key = next(iter(content))
        way.append(key)
        content = content[key]
    return tuple(way)


def settle(text: str, lines: Iterable[int]) -> str:
    """The text with the questions of some lines settled: they stay as comments, and are not counted any more.

    Examples
    --------
    >>> settle("k = 5 # DECIDE: how many?\\n", [0])
    'k = 5 # decided: how many?\\n'
    """
    wanted = set(lines)
    rows = text.split("\n")
    for number in wanted & set(range(len(rows))):
        rows[number] = rows[number].replace(_ASKED, _SETTLED, 1)
    settled = "\n".join(rows)
    left = settled.count(_ASKED)
    said = "1 decision." if left == 1 else f"{left} decisions."
    return re.sub(r"^(# in capitals: )\d+ decisions?\.", rf"\g<1>{said}", settled, count=1, flags=re.MULTILINE)
