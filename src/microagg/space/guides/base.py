"""What a guide is: attributes that are published as they are help to form the cells.

A guide is one class. Its fields are the keys of its table in the recipe, ``[space.<name>]``; its methods say which
attributes it needs, how it builds the space, and what statement, manifest and sweep tell about it.
"""

from __future__ import annotations

from abc import abstractmethod
from collections.abc import Callable, Mapping, Sequence
from dataclasses import dataclass, field
from functools import cached_property
from typing import TYPE_CHECKING, Any, ClassVar

import numpy as np
from pydantic import BaseModel, ConfigDict

from microagg._typing import FloatArray, IntArray
from microagg.errors import TableError
from microagg.schema.attribute import Kind
from microagg.schema.schema import Schema, toml_key
from microagg.space.points import Points
from microagg.space.standardize import Standardize

if TYPE_CHECKING:
    from microagg.schema.encode import EncodedColumn

__all__ = [
    "EVEN_WEIGHT",
    "Guide",
    "GuidedSpace",
    "PlainSpace",
    "SweptKey",
    "line_that_declares",
    "refuse_constant",
]


EVEN_WEIGHT = 0.5
"""How much D_Y counts in D where no guide says otherwise."""


@dataclass(frozen=True)
class PlainSpace:
    """The space of one block before it is guided, and what a guide may use to change it.

    Attributes
    ----------
    points : Points
        The quasi-identifiers of the block, as numbers and codes.
    attributes : tuple of str
        Their names.
    guides : sequence of EncodedColumn
        The guiding attributes, in the order of :meth:`Guide.guiding_attributes`.
    standardize : Standardize
        How the recipe standardises numbers.
    k : int
    form_cells : callable
        From a matrix, or points, to the cells that the recipe's method forms, without groups.
    coordinates : callable or None
        Builds `matrix`; None: the points' own coordinates.
    """

    points: Points
    attributes: tuple[str, ...]
    guides: Sequence[EncodedColumn]
    standardize: Standardize
    k: int
    form_cells: Callable[[FloatArray | Points], IntArray]
    coordinates: Callable[[], FloatArray] | None = None

    @cached_property
    def matrix(self) -> FloatArray:
        """The same points as coordinates, of shape (n_records, n_coordinates); a category takes one of its own."""
        return self.coordinates() if self.coordinates is not None else self.points.coordinates()


@dataclass(frozen=True)
class GuidedSpace:
    """The space in which the cells of a block are formed.

    Attributes
    ----------
    space : ndarray of shape (n_records, n_coordinates), or Points
        The quasi-identifiers of the block, changed or with further coordinates.
    facts : mapping
        What was done, for the manifest: plain values that JSON can hold. Empty if the cells were not guided.
    """

    space: FloatArray | Points
    facts: Mapping[str, Any] = field(default_factory=dict)

    @property
    def points(self) -> Points:
        """The space as numbers and codes."""
        return self.space if isinstance(self.space, Points) else Points(self.space)


@dataclass(frozen=True)
class SweptKey:
    """The key of a guide that a sweep varies.

    Attributes
    ----------
    key : str
        A key of the guide's table. It is also the key of ``[sweep]``, a column of the sweep's table, and a part of the
        points' names. The sweep takes the type and limits of the guide's field.
    values : tuple
        What is tried if the recipe has the guide and ``[sweep]`` names no values.
    needs : str
        Why the recipe must have the guide's table if ``[sweep]`` names values, as a sentence that goes on from the
        key. Leave it empty if the key alone makes a whole table.
    """

    key: str
    values: tuple[Any, ...]
    needs: str = ""


class Guide(BaseModel):
    """One way to guide the cells, as a recipe chose it.

    Write a class with fields for the keys of ``[space.<name>]``, and register it with
    :func:`~microagg.space.guides.register_guide`.

    Attributes
    ----------
    name : str
        The name of the table in the recipe.
    named_by : str
        The key of the table that names the guiding attributes, for messages.
    fills_in_missing : bool
        Whether ``[missing] policy = "impute"`` also fills in missing values of guiding attributes. A label that was
        made up must not teach a model; a coordinate must have a value.
    swept : SweptKey or None
        What a sweep may vary.
    """

    model_config = ConfigDict(extra="forbid", frozen=True)

    name: ClassVar[str]
    named_by: ClassVar[str]
    fills_in_missing: ClassVar[bool] = False
    swept: ClassVar[SweptKey | None] = None

    @abstractmethod
    def guiding_attributes(self, schema: Schema) -> tuple[str, ...]:
        """Names of the attributes that help to form the cells without being replaced by them."""

    @property
    def is_idle(self) -> bool:
        """Whether these settings leave the space as it is: the guiding attributes are then only reported on."""
        return False

    @property
    def weight_of_d_y(self) -> float:
        """How much the distortion D_Y of the guiding attributes counts in D, when a release is measured."""
        return EVEN_WEIGHT

    def check(self, schema: Schema) -> None:
        """Raise ValueError with the line that mends the recipe, if its attributes cannot be guided by.

        That the guiding attributes are declared, published as they are and have a kind is checked for all guides.
        """
        return

    @abstractmethod
    def shape(self, plain: PlainSpace) -> GuidedSpace:
        """Build the space of one block."""

    def figures(self, d_x: float, d_y: float) -> Mapping[str, float]:
        """Further facts for the manifest, from the distortions of the finished cells."""
        return {}

    @property
    @abstractmethod
    def fact_keys(self) -> frozenset[str]:
        """The keys of all facts that :meth:`shape` and :meth:`figures` add to the manifest."""

    @abstractmethod
    def facts_fit(self, facts: Mapping[str, Any]) -> bool:
        """Whether the facts of a manifest can be those of these settings.

        Whoever checks a release has no records: compare what follows from the settings, and the types of the rest. A
        KeyError is taken for a damaged manifest.
        """

    @abstractmethod
    def describe(self, facts: Mapping[str, Any]) -> str:
        """How cells were guided, in a few words for the statement, such as "dependence, lambda = 0.2"."""

    def did_shape(self, facts: Mapping[str, Any]) -> bool:
        """Whether the guiding attributes had any influence on the cells, by the facts of the manifest."""
        return True

    def values_to_sweep(self) -> tuple[Any, ...]:
        """What a sweep tries if ``[sweep]`` names no values: those of :attr:`swept`, and the recipe's own."""
        if self.swept is None:
            return ()
        own = self.model_dump(by_alias=True)[self.swept.key]
        return tuple(dict.fromkeys([*self.swept.values, own]))


def line_that_declares(name: str, role: str = "confidential") -> str:
    """The line to add to a recipe, so that an attribute has a kind."""
    kinds = ", ".join(Kind)
    return f'Add: [attributes.{toml_key(name)}] role = "{role}", kind = "..." (one of: {kinds})'


def refuse_constant(targets: Sequence[EncodedColumn]) -> None:
    """Raise TableError for a target with fewer than two different values: nothing can be learned from it."""
    for target in targets:
        different = len(np.unique(target.values[~target.missing]))
        if different < 2:
            raise TableError(f"target {target.name!r} has {different} different values: it cannot guide the cells")
