"""The catalogue of methods: each entry names the stages it is composed of."""

from __future__ import annotations

from dataclasses import dataclass
from importlib import import_module
from typing import TYPE_CHECKING, Any

from microagg.errors import RecipeError, did_you_mean

if TYPE_CHECKING:
    from microagg.partition.base import Partitioner

__all__ = ["METHODS", "Method", "method_named"]


@dataclass(frozen=True)
class Method:
    """A published way from a table to a release, as a composition of stages.

    Attributes
    ----------
    name : str
        What a recipe calls it.
    title, summary : str
    partitioner_path : str
        Where its partitioner lives, ``"module:Class"``; imported when used.
    aggregate, noise, guarantee : str
        The other stages and the promise, in words.
    reference : str
    """

    name: str
    title: str
    summary: str
    partitioner_path: str
    space: str
    aggregate: str
    noise: str
    guarantee: str
    reference: str

    @property
    def partitioner_class(self) -> type[Partitioner]:
        module, _, name = self.partitioner_path.partition(":")
        found: type[Partitioner] = getattr(import_module(module), name)
        return found

    def partitioner(self, k: int, **options: Any) -> Partitioner:
        """The method's partitioner with a recipe's options."""
        return self.partitioner_class(k=k, **options)

    @property
    def stages(self) -> dict[str, str]:
        """Stage by stage, what the method does."""
        return {
            "space": self.space,
            "partition": self.partitioner_path.rpartition(":")[2],
            "aggregate": self.aggregate,
            "noise": self.noise,
        }


METHODS: dict[str, Method] = {
    method.name: method
    for method in (
        Method(
            name="mdav",
            title="MDAV",
            summary="Maximum distance to average vector: cells of k records from the outside in.",
            partitioner_path="microagg.partition.mdav:MDAV",
            space="any (z-scores by default); numeric, ordinal and nominal attributes",
            aggregate="mean, median, medoid; mode or taxonomic centre",
            noise="none",
            guarantee="k-anonymity on the quasi-identifiers",
            reference="Domingo-Ferrer & Torra (2005), doi:10.1007/s10618-005-0007-5",
        ),
    )
}


def method_named(name: str) -> Method:
    """The catalogue's entry of that name."""
    if name not in METHODS:
        raise RecipeError(f"no method named {name!r}.{did_you_mean(name, METHODS)} Known methods: {', '.join(METHODS)}")
    return METHODS[name]
