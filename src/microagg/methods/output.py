"""What a method hands on: the protected attributes, their cells, and what the manifest says of each stage."""

from __future__ import annotations

from collections.abc import Mapping, Sequence
from dataclasses import dataclass, field, fields
from typing import TYPE_CHECKING, Any, Self

import numpy as np
import numpy.typing as npt

from microagg.errors import GuaranteeError
from microagg.privacy.budget import Budget

if TYPE_CHECKING:
    import pyarrow as pa

    from microagg.methods.method import Method

__all__ = ["Block", "CellSizes", "MethodOutput", "Stages"]


@dataclass(frozen=True)
class CellSizes:
    """The cells of one block of attributes as the manifest describes them; a check refuses any other key.

    Attributes
    ----------
    attributes : tuple of str
    n_cells, smallest_cell, largest_cell : int
    fewest_units : int or None
        Units in the cell that has the fewest, where records have units.
    spiked : tuple of str
        Attributes whose draws keep how many records of a cell have the value that many share.
    search : dict
        How the cells were searched for, if they were.
    """

    attributes: tuple[str, ...]
    n_cells: int
    smallest_cell: int
    largest_cell: int
    fewest_units: int | None = None
    spiked: tuple[str, ...] = ()
    search: Mapping[str, Any] = field(default_factory=dict)

    @classmethod
    def of(cls, attributes: Sequence[str], sizes: npt.NDArray[np.int64], **more: Any) -> Self:
        """From the number of records in each cell."""
        return cls(tuple(attributes), len(sizes), int(sizes.min()), int(sizes.max()), **more)

    @classmethod
    def keys(cls) -> tuple[str, ...]:
        """All keys that the manifest may have for a block."""
        return tuple(one.name for one in fields(cls))

    def as_dict(self) -> dict[str, Any]:
        return {
            "attributes": list(self.attributes),
            "n_cells": self.n_cells,
            "smallest_cell": self.smallest_cell,
            "largest_cell": self.largest_cell,
            **({} if self.fewest_units is None else {"fewest_units": self.fewest_units}),
            **({"spiked": list(self.spiked)} if self.spiked else {}),
            **({"search": dict(self.search)} if self.search else {}),
        }


@dataclass(frozen=True)
class Block:
    """Attributes that were put into cells together, and each record's cell (-1 if it was left out).

    `spiked`, `search` and `fewest_units` are those of :class:`CellSizes`.
    """

    attributes: tuple[str, ...]
    labels: npt.NDArray[np.int64]
    spiked: tuple[str, ...] = ()
    search: Mapping[str, Any] = field(default_factory=dict)
    fewest_units: int | None = None

    def __repr__(self) -> str:
        return f"Block(attributes={self.attributes!r})"

    @property
    def n_cells(self) -> int:
        return int(self.labels.max()) + 1

    @property
    def sizes(self) -> CellSizes:
        """The cells as the manifest describes them."""
        more = {"fewest_units": self.fewest_units, "spiked": self.spiked, "search": self.search}
        return CellSizes.of(self.attributes, np.bincount(self.labels), **more)


@dataclass(frozen=True)
class Stages:
    """What the manifest says of the stages that were run.

    Attributes
    ----------
    cells : tuple of CellSizes
        One for each block of attributes; empty if the method has no cells of records.
    partition : dict
        What else there is to say of the cells.
    space, rearrange, aggregate, noise : dict or None
        None if there was no such stage.
    """

    cells: tuple[CellSizes, ...] = ()
    partition: Mapping[str, Any] = field(default_factory=dict)
    space: Mapping[str, Any] | None = None
    rearrange: Mapping[str, Any] | None = None
    aggregate: Mapping[str, Any] | None = None
    noise: Mapping[str, Any] | None = None

    def as_list(self, method: Method, k: int) -> list[dict[str, Any]]:
        """In the order in which they were run, as the manifest has them."""
        cells = {"method": method.name, "k": k, "blocks": [one.as_dict() for one in self.cells]}
        fixed = [key for key in self.partition if key in cells]
        if fixed:
            raise GuaranteeError(f"{method.name} describes its partition by {fixed[0]!r}, which is not its to say")
        cells |= self.partition
        run = {"space": self.space, "partition": cells, "rearrange": self.rearrange}
        run |= {"aggregate": self.aggregate, "noise": self.noise}
        return [{"stage": stage, **facts} for stage, facts in run.items() if facts is not None]


@dataclass(frozen=True)
class MethodOutput:
    """What partition, aggregation and noise made of the quasi-identifiers.

    Attributes
    ----------
    arrays : dict of name to Arrow array
        The columns as they will be published.
    blocks : tuple of Block
        Only where each record has a cell that the data holder may be shown.
    stages : Stages
    remarks : tuple of str
        For the statement.
    information_loss : float or None
        None where telling it would tell more than the method promises to hide.
    budget : Budget or None
        The budget that a differentially private method spent.
    linked : bool
        False if a row is not a record: values of different attributes in one row have nothing to do with each other.
    table : Arrow table or None
        What is published instead of records, if that is something else.
    """

    arrays: Mapping[str, pa.Array]
    blocks: tuple[Block, ...] = ()
    stages: Stages = Stages()
    remarks: tuple[str, ...] = ()
    information_loss: float | None = None
    budget: Budget | None = None
    linked: bool = True
    table: pa.Table | None = None
