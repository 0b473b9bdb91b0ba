"""All measures by name. A new one is one line in `UTILITY` or `RISK`, or a call of :func:`register_measure`."""

from __future__ import annotations

from microagg.errors import ParameterError
from microagg.evaluation.definition import Definition
from microagg.evaluation.risk import RISK
from microagg.evaluation.utility import UTILITY

__all__ = ["OWN", "OWN_BY_DEFAULT", "all_measures", "measure_named", "register_measure", "unregister_measure"]

_measures: dict[str, Definition] = {one.name: one for one in (*UTILITY, *RISK)}

OWN = tuple(_measures)
"""Names of all measures, without what was registered."""

OWN_BY_DEFAULT = tuple(one.name for one in _measures.values() if one.default)
"""What is measured where no choice is made, without what was registered."""


def all_measures() -> tuple[Definition, ...]:
    """Every measure, in the order in which they are shown."""
    return tuple(_measures.values())


def measure_named(name: str) -> Definition:
    return _measures[name]


def register_measure(definition: Definition) -> Definition:
    """Add a measure: from then on evaluations, internal reports and sweeps know it.

    Public reports do not have it: what they show was weighed measure by measure, and their readers must know it, too.
    """
    words = {"all", "default", "utility", "risk", "sampled", *_measures}
    if definition.name in words | {one.group for one in _measures.values()}:
        raise ParameterError(f"there is a measure or a group of measures named {definition.name!r} already")
    if definition.group in words | {definition.name}:  # whoever asks for the one would get the other, too
        raise ParameterError(f"a group cannot be named {definition.group!r}: a measure or a choice is")
    _measures[definition.name] = definition
    return definition


def unregister_measure(name: str) -> None:
    """Take a measure out again that :func:`register_measure` added."""
    del _measures[name]
