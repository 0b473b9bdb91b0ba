"""All measures by name. A new one is one line in `UTILITY` or `RISK`, or a call of :func:`register_measure`."""

from __future__ import annotations

from microagg.errors import ParameterError
from microagg.evaluation.definition import Definition
from microagg.evaluation.risk import RISK
from microagg.evaluation.utility import UTILITY

__all__ = ["all_measures", "measure_named", "register_measure", "unregister_measure"]

_measures: dict[str, Definition] = {one.name: one for one in (*UTILITY, *RISK)}


def all_measures() -> tuple[Definition, ...]:
    """Every measure, in the order in which they are shown."""
    return tuple(_measures.values())


def measure_named(name: str) -> Definition:
    return _measures[name]


def register_measure(definition: Definition) -> Definition:
    """Add a measure: from then on evaluations, reports and sweeps know it."""
    words = {"all", "default", "utility", "risk", *_measures, *(one.group for one in _measures.values())}
    if definition.name in words:
        raise ParameterError(f"there is a measure or a group of measures named {definition.name!r} already")
    _measures[definition.name] = definition
    return definition


def unregister_measure(name: str) -> None:
    """Take a measure out again that :func:`register_measure` added."""
    del _measures[name]
