"""The registry of guides: all ways to guide the cells that a recipe can choose.

A new guide is one file and one line: a class that derives from :class:`~microagg.space.guides.base.Guide`, marked with
``@register_guide``, and the name of its module in ``microagg/space/guides/__init__.py``. A guide of another package is
there once its module is imported. Nothing else in microagg names a particular guide: recipe, release, statement, check
and sweep ask the registry, or the guide that the recipe chose. ``docs/algorithms/guided_spaces.md`` has a complete
example.

A guide can be registered at any time. From then on recipes may have the table ``[space.<name>]``, and ``[sweep]`` the
key that the guide lets it vary: ``SpaceChoice`` and ``SweepChoice`` of the recipe look here whenever they validate a
table (see :mod:`microagg.recipe.open_table`). Recipes that were made before stay as they are. A process of a sweep
imports the module of a guide when it receives a recipe with it, and so comes to know the guide.
"""

from __future__ import annotations

import inspect
from typing import TypeVar

from pydantic import BaseModel

from microagg.errors import ParameterError
from microagg.space.guides.base import Guide

__all__ = ["TAKEN", "register_guide", "registered_guides", "swept_guides", "unregister_guide"]

TAKEN = frozenset(
    [
        *("standardize", "guide", "weight_of_d_y"),  # in [space]
        *("methods", "k", "epsilon", "l", "t", "repeats", "measures"),  # in [sweep]
        *("closed", "known_keys", "keys_of_guides", "keys_before_guides", "given_by_guides"),  # in both
        *("name", "method", "guarantee", "failure", "best"),  # columns of the table that a sweep writes
    ]
)
"""Names that mean something else where guides add theirs."""

AnyGuide = TypeVar("AnyGuide", bound=type[Guide])

_guides: dict[str, type[Guide]] = {}


def register_guide(guide: AnyGuide) -> AnyGuide:
    """Let recipes choose a guide: a decorator of its class. Registering a class again changes nothing.

    Parameters
    ----------
    guide : subclass of Guide
        All its abstract methods must be written.
    """
    fault = _fault_of(guide)
    if fault:
        raise ParameterError(f"the guide {guide.__name__} cannot be registered: {fault}")
    _guides[guide.name] = guide
    return guide


def unregister_guide(guide: type[Guide]) -> None:
    """Take a guide out of the registry; recipes that chose it stay as they are, new ones cannot."""
    if _guides.get(guide.name) is guide:
        del _guides[guide.name]


def registered_guides() -> tuple[type[Guide], ...]:
    """All guides, in the order of the recipe's keys."""
    return tuple(_guides.values())


def swept_guides() -> dict[str, type[Guide]]:
    """The guides that a sweep may vary, by the key that it varies."""
    return {guide.swept.key: guide for guide in _guides.values() if guide.swept is not None}


def _fault_of(guide: type[Guide]) -> str:
    """Why a class cannot be a guide beside those that are registered; empty if it can."""
    if inspect.isabstract(guide):
        return f"it lacks {', '.join(sorted(guide.__abstractmethods__))}"
    for key in ("name", "named_by"):
        if not isinstance(getattr(guide, key, None), str):
            return f"it has no {key}"
    name = guide.name
    if not _can_be_key(name):
        return f"[space.{name}] cannot be the name of its table"
    if _guides.get(name, guide) is not guide:
        return f"another guide has the table [space.{name}]"
    keys = {field.alias or key for key, field in guide.model_fields.items()}
    if guide.named_by not in keys:
        return f"it has no key {guide.named_by!r} that names attributes"
    if guide.swept is None:
        return ""
    key = guide.swept.key
    if key not in keys:
        return f"a sweep cannot vary {key!r}: the guide has no such key"
    if not _can_be_key(key):
        return f"sweep.{key} cannot be the name of a key"
    if swept_guides().get(key, guide) is not guide:
        return f"another guide has the key sweep.{key}"
    return ""


def _can_be_key(name: str) -> bool:
    """Whether a guide can add a key of this name to a table of the recipe."""
    return name.isidentifier() and not name.startswith("_") and name not in TAKEN and not hasattr(BaseModel, name)
