"""A method as a composition of stages: what an entry of the catalogue says, without loading its mathematics."""

from __future__ import annotations

from collections.abc import Mapping
from dataclasses import dataclass, field
from functools import cache
from importlib import import_module
from typing import Any, Literal

from microagg._deprecation import RenamedAttribute
from microagg._validation import Constraint
from microagg.schema.attribute import Kind
from microagg.tables.words import NO_WORDS, Words

__all__ = ["K_ANONYMOUS", "PUBLIC_SPACE", "Method"]

ANY_SPACE = "any (z-scores by default); numeric, ordinal and nominal attributes"
REPRESENTATIVES = "mean, median, medoid; mode or taxonomic centre"
PUBLIC_SPACE = "public bounds and categories; nothing may depend on the data"
K_ANONYMOUS = "k-anonymity on the quasi-identifiers (with blocks: on each block)"

Address = str
"""Where something is, as ``"module:name"``: imported when it is first used."""


@dataclass(frozen=True)
class Method:
    """A published way from a table to a release, as a composition of stages.

    Attributes
    ----------
    name : str
        What a recipe calls it.
    title, summary : str
    cells_by : class or "module:Class"
        The partitioner that forms its cells; empty if it forms none.
    reference : str
    preset : dict
        Parameters of the partitioner that make it this method.
    partitions : {"records", "attributes", "values"}
        What is put into cells: whole records, the values of each attribute alone, or all values mixed.
    space, aggregate, noise, guarantee : str
        The other stages and the promise, in words.
    kinds : tuple of Kind
        Which quasi-identifiers it takes.
    data_free_space : bool
        True if the space must be declared whole: bounds, categories, and nothing settled from the data.
    protected_by : class or "module:Class"
        The :class:`microagg.private.base.PrivateMethod` that spends its budget; empty if it is not differentially
        private.
    whole_table : bool
        True if every published attribute is protected, whatever its role.
    number : str
        Its number in the paper it is from, if that numbers its methods.
    tables : dict of dict
        Keys of the recipe's tables that the method fixes.
    explained : Words
        What `microagg explain` says of it, in plain words.
    """

    name: str
    title: str
    summary: str
    reference: str
    cells_by: type | Address = ""
    preset: Mapping[str, Any] = field(default_factory=dict)
    partitions: Literal["records", "attributes", "values"] = "records"
    space: str = ANY_SPACE
    aggregate: str = REPRESENTATIVES
    noise: str = "none"
    guarantee: str = K_ANONYMOUS
    kinds: tuple[Kind, ...] = tuple(Kind)
    data_free_space: bool = False
    protected_by: type | Address = ""
    whole_table: bool = False
    number: str = ""
    tables: Mapping[str, Mapping[str, Any]] = field(default_factory=dict)
    explained: Words = NO_WORDS

    labels = RenamedAttribute("Method.labels", "partitions", gone_in="0.3")

    @property
    def has_cells(self) -> bool:
        """Whether records, or values, are put into cells at all."""
        return bool(self.cells_by)

    @property
    def mixes_values(self) -> bool:
        """Whether its cells hold values of all attributes, so that no record has a cell."""
        return self.has_cells and self.partitions == "values"

    @property
    def is_private(self) -> bool:
        """Whether it is differentially private, and a recipe needs ``[privacy]``."""
        return bool(self.protected_by)

    @property
    def private(self) -> Any:
        """The :class:`microagg.private.base.PrivateMethod`; None if it is not differentially private."""
        return _instance_of(load(self.protected_by)) if self.is_private else None

    @property
    def partitioner_class(self) -> Any:
        return load(self.cells_by)

    @property
    def options(self) -> dict[str, Constraint]:
        """Parameters of the partitioner that a recipe may set; not a seed, since recipes are published."""
        if not self.has_cells:
            return {}
        fixed = {"k", "random_state", *self.preset}
        return {name: rule for name, rule in self.partitioner_class.constraints.items() if name not in fixed}

    @property
    def searches_by_chance(self) -> bool:
        """Whether its cells depend on chance, which the partitioner's `random_state` fixes."""
        return self.has_cells and bool(self.partitioner_class.searches_by_chance)

    def partitioner(self, k: int, **options: Any) -> Any:
        """The method's partitioner with a recipe's options."""
        return self.partitioner_class(k=k, **self.preset, **options)

    @property
    def stages(self) -> dict[str, str]:
        """Stage by stage, what the method does."""
        preset = ", ".join(f"{name}={value!r}" for name, value in self.preset.items())
        return {
            "space": self.space,
            "partition": (_class_name(self.cells_by) or "none") + (f"({preset})" if preset else ""),
            "aggregate": self.aggregate,
            "noise": self.noise,
        }


def load(source: type | Address) -> Any:
    """A class, or what stands at an address.

    Examples
    --------
    >>> load("microagg.schema.attribute:Kind").__name__
    'Kind'
    """
    if not isinstance(source, str):
        return source
    module, _, name = source.partition(":")
    return getattr(import_module(module), name)


@cache
def _instance_of(kind: Any) -> Any:
    return kind()


def _class_name(source: type | Address) -> str:
    return source.rpartition(":")[2] if isinstance(source, str) else source.__name__
