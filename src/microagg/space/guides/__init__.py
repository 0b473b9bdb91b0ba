"""Guided spaces: each a class in a file of its own, found by the registry."""

from importlib import import_module

from microagg.space.guides.base import Guide, GuidedSpace, PlainSpace, SweptKey
from microagg.space.guides.registry import register_guide, registered_guides, swept_guides, unregister_guide

__all__ = [
    "Guide",
    "GuidedSpace",
    "PlainSpace",
    "SweptKey",
    "register_guide",
    "registered_guides",
    "swept_guides",
    "unregister_guide",
]

for _module in (  # one line per guide, in the order of the recipe's keys
    "dependence",
    "discriminant",
    "prediction",
):
    import_module(f"{__name__}.{_module}")
