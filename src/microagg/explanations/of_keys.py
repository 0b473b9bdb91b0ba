"""Explanations of the recipe's keys, from the docstrings of the classes that read them."""

from __future__ import annotations

from collections.abc import Iterator
from typing import Any, get_args, get_origin

from pydantic import BaseModel

from microagg.explanations.docstrings import Described, first_sentence, parameters_of, summary_of
from microagg.explanations.explanation import Explained, Explanation
from microagg.methods.catalogue import METHODS
from microagg.methods.method import Method
from microagg.recipe.open_table import OpenTable
from microagg.recipe.privacy import PrivacyChoice
from microagg.recipe.recipe import Recipe
from microagg.space.guides import Guide, registered_guides

__all__ = ["COLUMN", "explained_keys"]

COLUMN = "<column>"
"""What stands for the name of a column in the name of a key."""

_PAGE = "docs/recipe.md"
_GUIDES_PAGE = "docs/algorithms/guided_spaces.md"
_PAGES = {
    "attributes": _PAGE,
    "blocks": f"{_PAGE}#blocks",
    "engine": "docs/large_tables.md",
    "input": f"{_PAGE}#files",
    "output": f"{_PAGE}#files",
    "partition": f"{_PAGE}#methods-and-their-parameters",
    "privacy": f"{_PAGE}#private-methods",
    "protect": "docs/algorithms/diversity.md#what-can-be-required",
    "rearrange": "docs/algorithms/diversity.md#the-ways",
    "space": _GUIDES_PAGE,
    "sweep": "docs/sweep.md",
}


def explained_keys() -> Iterator[Explanation]:
    """Every key of the recipe, table by table, a table before its keys."""
    described = parameters_of(Recipe)
    for name, field in Recipe.model_fields.items():
        table, by_column = _table_of(field.annotation)
        if table is None:
            yield _key(name, described[name])
        else:
            yield from _table(f"{name}.{COLUMN}" if by_column else name, table)
        if name == "partition":
            yield from _of_classes("partition", _partitioners())
        elif table is PrivacyChoice:
            yield from _of_classes("privacy", _private_methods())


def _table_of(annotation: Any) -> tuple[type[BaseModel] | None, bool]:
    """The model of a table of the recipe, and whether each column has one."""
    by_column = get_origin(annotation) is dict
    kinds = get_args(annotation) or (annotation,)
    return next((kind for kind in kinds if isinstance(kind, type) and issubclass(kind, BaseModel)), None), by_column


def _table(path: str, table: type[BaseModel]) -> Iterator[Explanation]:
    described = parameters_of(table)
    guides = table.keys_of_guides(registered_guides()) if issubclass(table, OpenTable) else {}
    keys = table.known_keys() if issubclass(table, OpenTable) else _keys_of(table)
    words = summary_of(table)
    yield Explanation(
        name=path,
        kind=Explained.KEY,
        summary=first_sentence(words),
        words=words,
        range=f"a table [{path}] with the keys {', '.join(keys)}",
        default="left out",
        more=_page_of(path),
    )
    for key in keys:
        guide = guides.get(key)
        if guide is None:
            yield _key(f"{path}.{key}", described[key])
        elif isinstance(guide, type) and issubclass(guide, Guide):
            yield from _table(f"{path}.{key}", guide)
        else:
            yield _swept_key(f"{path}.{key}", key)


def _keys_of(table: type[BaseModel]) -> list[str]:
    return [field.alias or name for name, field in table.model_fields.items()]


def _swept_key(path: str, key: str) -> Explanation:
    """A key of ``[sweep]`` that a guide adds: values of the guide's own key."""
    guide = next(one for one in registered_guides() if one.swept is not None and one.swept.key == key)
    one = parameters_of(guide)[key] if key in parameters_of(guide) else Described("a value", "", "", "")
    words = f"Which values of space.{guide.name}.{key} are tried."
    return _key(path, Described(f"a list, each: {one.values}", "none", words, one.care))


def _key(path: str, one: Described, *, of: str = "") -> Explanation:
    words = f"{one.words}{f' It is for {of}.' if of else ''}"
    return Explanation(
        name=path,
        kind=Explained.KEY,
        summary=first_sentence(words),
        words=words,
        range=one.values,
        default=one.default or "it must be given",
        misleads=one.care,
        more=_page_of(path),
    )


def _page_of(path: str) -> str:
    return _PAGES.get(path.partition(".")[0], _PAGE)


def _partitioners() -> dict[type, dict[str, tuple[str, ...]]]:
    """Classes that form cells: their options, each with the methods that have it."""
    found: dict[type, dict[str, tuple[str, ...]]] = {}
    for method in _own_methods():
        if method.has_cells:
            options = found.setdefault(method.partitioner_class, {})
            for option in method.options:
                options[option] = (*options.get(option, ()), method.name)
    return found


def _private_methods() -> dict[type, dict[str, tuple[str, ...]]]:
    """Differentially private methods: their own keys of ``[privacy]``, each with the methods that have it."""
    found: dict[type, dict[str, tuple[str, ...]]] = {}
    for method in METHODS.values():
        if method.is_private:
            kind = type(method.private)
            # A method that inherits its keys from another is named with that other.
            described_by = next(one for one in reversed(kind.__mro__) if set(kind.options) <= set(_options_of(one)))
            options = found.setdefault(described_by, {})
            for option in kind.options:
                options[option] = (*options.get(option, ()), method.name)
    return found


def _options_of(kind: type) -> dict[str, Any]:
    return dict(getattr(kind, "options", {}) or {})


def _own_methods() -> list[Method]:
    """Methods but for moments over the cells of others, which have the options of those."""
    return [one for one in METHODS.values() if not one.name.startswith("dp_moments")]


def _of_classes(table: str, classes: dict[type, dict[str, tuple[str, ...]]]) -> Iterator[Explanation]:
    for kind, options in classes.items():
        described = parameters_of(kind)
        for option, methods in options.items():
            one = described.get(option, Described("", "", f"An option of {kind.__name__}.", ""))
            named = [name for name in methods if not name.startswith("dp_moments_")]
            yield _key(f"{table}.{option}", one, of=", ".join(named or methods))
