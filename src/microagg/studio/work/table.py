"""Look at a file: how it was read, what its columns hold, what a draft of a recipe says of them."""

from __future__ import annotations

from collections.abc import Callable, Mapping
from pathlib import Path
from typing import TYPE_CHECKING, Any

from microagg._notebook.values import shown_values
from microagg.recipe.drafts.draft import draft_of_file
from microagg.recipe.input import InputChoice
from microagg.recipe.recipe import Recipe
from microagg.releases.input import read_table
from microagg.tables.formats.declared_missing import declared_missing_phrase
from microagg.tables.formats.registry import format_of
from microagg.tables.frames import Frame
from microagg.tables.labels import labels_of

if TYPE_CHECKING:
    import pyarrow as pa

__all__ = ["PREVIEWED", "Tell", "look", "table_for"]

Tell = Callable[[Any], None]

PREVIEWED = 200
"""So many records of a table are shown."""
_CATEGORIES, _LENGTH = 60, 80
_kept: dict[str, tuple[Any, Any]] = {}


def table_for(path: Path, recipe: Recipe, *, as_text: bool = False) -> pa.Table:
    """The table as its recipe reads it; the one that was read last is kept, as one job follows the other."""
    about = path.stat()
    read_by = {name: (one.role, one.kind, one.categories) for name, one in recipe.attributes.items()}
    key = (str(path), about.st_mtime_ns, about.st_size, recipe.input, read_by, as_text, recipe.entry.is_private)
    if _kept.get("table", (None, None))[0] != key:
        _kept["table"] = (key, read_table(path, recipe, as_text=as_text))
    return _kept["table"][1]


def look(path: str, chosen: Mapping[str, Any], k: int, tell: Tell) -> dict[str, Any]:
    """What the page about a table shows, and the draft of a recipe.

    Parameters
    ----------
    path : str
    chosen : mapping
        The ``[input]`` that somebody chose; the rest is found out.
    k : int
    tell : callable
    """
    import pyarrow.compute as pc

    file = Path(path)
    dialect = InputChoice(**chosen).dialect
    draft, table = draft_of_file(file, k, dialect, set(chosen))
    frame = Frame.wrap(table)
    columns = []
    for guess, stored in zip(draft.guesses, table.schema, strict=True):
        column, labels = frame.column(guess.name), labels_of(stored)
        known = column.is_text or column.is_number or column.is_boolean or column.is_temporal
        distinct = pc.count_distinct(column.values).as_py() if known else None  # quicker than naming them all
        found = shown_values(column.distinct) if distinct is not None and 0 < distinct <= _CATEGORIES else ()
        columns.append(
            {
                "name": guess.name,
                "type": str(stored.type),
                "missing": guess.n_missing,
                "distinct": distinct,
                "label": labels.label,
                "value_labels": [f"{_short(value)} = {_short(text)}" for value, text in labels.value_labels],
                "categories": [str(one) for one in found],  # whole: orders and trees are made of them
                "role": str(guess.role),
                "kind": None if guess.kind is None else str(guess.kind),
                "reasons": list(guess.reasons),
                "decide": list(guess.decide),
            }
        )
    first = table.slice(0, PREVIEWED)
    return {
        "records": frame.n_records,
        "columns": columns,
        "first": [
            [None if one is None else _short(one) for one in row]
            for row in zip(*(shown_values(one) for one in first.columns), strict=True)
        ]
        if len(set(first.column_names)) == len(first.column_names)
        else [],
        "decisions": [
            {"key": one.key, "value": None if one.value is None else str(one.value), "reason": one.reason}
            for one in draft.decisions
        ],
        "format": format_of(file).title,
        "is_text": format_of(file).is_text,
        "note": declared_missing_phrase(file) or "",
        "bytes": file.stat().st_size,
        "draft": draft.text,
    }


def _short(value: Any) -> str:
    text = str(value)
    return text if len(text) <= _LENGTH else f"{text[: _LENGTH - 1]}…"
