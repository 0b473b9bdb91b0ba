"""What is wrong with a recipe, in sentences that name the key and what is allowed there."""

from __future__ import annotations

import re
import tomllib
from typing import Any, get_args, get_origin

from pydantic import BaseModel, ValidationError

from microagg.errors import did_you_mean, shown
from microagg.recipe.open_table import OpenTable

__all__ = ["explain", "explain_toml"]


def explain(error: ValidationError, recipe: type[BaseModel], *table: str) -> str:
    """What is wrong with a recipe, or with the table of it that is named."""
    return "\n".join(_explain_one(dict(problem), recipe, table) for problem in error.errors(include_url=False))


def _explain_one(problem: dict[str, Any], recipe: type[BaseModel], table: tuple[str, ...]) -> str:
    """One sentence: the key, what is allowed, what came, and near misses."""
    location = [*table, *(str(part) for part in problem["loc"])]
    key = ".".join(location)
    if problem["type"] == "extra_forbidden":
        known = _known_keys(recipe, location[:-1])
        return f"{key}: unknown key.{did_you_mean(location[-1], known)} Known keys: {', '.join(known)}"
    if problem["type"] == "missing":
        return f"{key}: this key is required"
    came = problem["input"]
    if problem["type"] == "enum":
        words = re.findall(r"'([^']*)'", problem["ctx"]["expected"])
        hint = did_you_mean(came, words) if isinstance(came, str) else ""
        return f"{key}: must be one of {', '.join(repr(word) for word in words)}. Got {shown(came)} instead.{hint}"
    if problem["type"] == "value_error":
        message = str(problem["ctx"]["error"])
        return f"{key}: {message}" if key else message
    sentence = str(problem["msg"])
    return f"{key}: {sentence[0].lower()}{sentence[1:]}. Got {shown(came)} instead"


def _known_keys(recipe: type[BaseModel], location: list[str]) -> list[str]:
    """The keys a table of the recipe may have."""
    table: Any = recipe
    by_name = False
    for part in location:
        if by_name:  # of an attribute, whose table is like all others
            by_name = False
            continue
        fields = table.closed().model_fields if issubclass(table, OpenTable) else table.model_fields
        inner = fields[part].annotation
        by_name = get_origin(inner) is dict
        table = next(kind for kind in get_args(inner) or (inner,) if hasattr(kind, "model_fields"))
    if issubclass(table, OpenTable):
        keys: list[str] = table.known_keys()
        return keys
    return [field.alias or name for name, field in table.model_fields.items()]


def explain_toml(text: str, error: tomllib.TOMLDecodeError) -> str:
    """What is wrong with the TOML; a column declared twice is named as such."""
    seen: set[str] = set()
    section = ""
    for number, line in enumerate(text.splitlines(), start=1):
        header = re.match(r"\s*\[\s*(.+?)\s*\]\s*(#.*)?$", line)
        key = re.match(r"\s*(\"[^\"]*\"|'[^']*'|[\w-]+)\s*=", line)
        section = re.sub(r"\s*\.\s*", ".", header.group(1), count=1) if header else section
        column = section.removeprefix("attributes.") if header and section.startswith("attributes.") else None
        column = key.group(1) if key and section == "attributes" else column
        if column is None:
            continue
        column = column.strip("\"'")
        if column in seen:
            return f"line {number} declares column {column!r} a second time"
        seen.add(column)
    return str(error)
