"""What a method made of the protected attributes, before it is put together into a release."""

from __future__ import annotations

from collections.abc import Mapping
from dataclasses import dataclass, field
from typing import TYPE_CHECKING, Any

import numpy as np
import numpy.typing as npt

from microagg.privacy.budget import Budget

if TYPE_CHECKING:
    import pyarrow as pa

__all__ = ["FACTS", "Block", "Protected"]


FACTS = ("attributes", "n_cells", "smallest_cell", "largest_cell", "spiked", "search")


@dataclass(frozen=True)
class Block:
    """Attributes that were put into cells together, and each record's cell (-1 if it was left out).

    Of the attributes in `spiked`, draws keep how many records of a cell have the value that many share.
    `search` tells how the cells were searched for, if they were.
    """

    attributes: tuple[str, ...]
    labels: npt.NDArray[np.int64]
    spiked: tuple[str, ...] = ()
    search: Mapping[str, Any] = field(default_factory=dict)

    def __repr__(self) -> str:
        return f"Block(attributes={self.attributes!r})"

    @property
    def n_cells(self) -> int:
        return int(self.labels.max()) + 1

    def facts(self) -> dict[str, Any]:
        """Sizes of the cells, for the manifest; `FACTS` names all keys, and a check refuses others."""
        sizes = np.bincount(self.labels)
        return {
            "attributes": list(self.attributes),
            "n_cells": self.n_cells,
            "smallest_cell": int(sizes.min()),
            "largest_cell": int(sizes.max()),
            **({"spiked": list(self.spiked)} if self.spiked else {}),
            **({"search": dict(self.search)} if self.search else {}),
        }


@dataclass(frozen=True)
class Protected:
    """What partition, aggregation and noise made of the quasi-identifiers.

    Attributes
    ----------
    arrays : dict of name to Arrow array
        The columns as they will be published.
    blocks : tuple of Block
    information_loss : float or None
        None where telling it would tell more than the method promises to hide.
    remarks : tuple of str
        For the statement.
    stages : dict
        What the manifest says of the stages, by stage.
    budget : Budget or None
        Of a differentially private method, spent.
    linked : bool
        False if a row is no record: values of different attributes in one row have nothing to do with each other.
    table : Arrow table or None
        What is published instead of records, if that is something else.
    """

    arrays: Mapping[str, pa.Array]
    blocks: tuple[Block, ...]
    information_loss: float | None
    remarks: tuple[str, ...]
    stages: Mapping[str, Mapping[str, Any]]
    budget: Budget | None = None
    linked: bool = True
    table: pa.Table | None = None
