"""A release: table, statement and manifest, and the one way to write them."""

from __future__ import annotations

import json
from dataclasses import dataclass, field, replace
from pathlib import Path
from typing import TYPE_CHECKING, Any

import numpy as np
import numpy.typing as npt

from microagg.errors import ParameterError, did_you_mean
from microagg.releases.manifest import InputDigest, Manifest, sha256_of_file
from microagg.releases.recipe import Recipe
from microagg.releases.statement import Statement
from microagg.releases.storage import refuse_existing, whole_or_nothing, write_file_whole
from microagg.releases.verify import Recount, recount, require_k
from microagg.tables.frames import Frame
from microagg.tables.read import read_table
from microagg.tables.write import WRITABLE, write_table

if TYPE_CHECKING:
    import pyarrow as pa

__all__ = ["MANIFEST", "STATEMENT", "Block", "Release", "read_as_written", "receipt_path"]

MANIFEST = "manifest.json"
STATEMENT = "statement.json"
STATEMENT_TEXT = "statement.txt"


@dataclass(frozen=True)
class Block:
    """Attributes that were put into cells together, and each record's cell (-1 if it was left out)."""

    attributes: tuple[str, ...]
    labels: npt.NDArray[np.int64] = field(repr=False)

    @property
    def n_cells(self) -> int:
        return int(self.labels.max()) + 1


@dataclass(frozen=True)
class Release:
    """A table made safe to publish, with what is promised of it.

    Attributes
    ----------
    table : pandas.DataFrame, polars.DataFrame or pyarrow.Table
        Of the library of the input, with its dtypes and column order.
    statement : Statement
    manifest : Manifest
    recipe : Recipe
    blocks : tuple of Block
        The attributes that share cells, with the cell of each *input* record; one block unless the recipe says
        otherwise, none if the method has no cells of records. Internal: it must not be published.
    information_loss : float
        100 SSE/SST of the cells in the space in which they were formed.
    """

    frame: Frame = field(repr=False)
    recipe: Recipe = field(repr=False)
    statement: Statement
    manifest: Manifest = field(repr=False)
    digest: InputDigest = field(repr=False)
    blocks: tuple[Block, ...] = field(repr=False)
    information_loss: float

    @property
    def table(self) -> Any:
        return self.frame.native

    @property
    def partition(self) -> npt.NDArray[np.int64]:
        """Cell of each input record (one column per block if there are several). Internal, as `blocks`."""
        if len(self.blocks) == 1:
            return self.blocks[0].labels
        return np.array([block.labels for block in self.blocks], dtype=np.int64).T

    @property
    def n_cells(self) -> int:
        """The number of cells, summed over blocks."""
        return sum(block.n_cells for block in self.blocks)

    def save(self, folder: str | Path, *, format: str = "csv", overwrite: bool = False) -> Path:
        """Write table, statement and manifest into a new folder, whole or not at all.

        The table is read back from the written file and the guarantee counted again on what was read; if it does
        not hold, nothing is left behind. Beside the folder goes ``<folder>.receipt.json``, for the data holder
        only: it shows which input the release was made from.

        Parameters
        ----------
        folder : path
            Must not exist, unless `overwrite`.
        format : {"csv", "csv.gz", "parquet", "feather", "sav", "dta"}, default "csv"
        overwrite : bool, default False
        """
        folder = Path(folder).absolute()
        refuse_existing(folder, overwrite)
        if format not in WRITABLE:
            hint = did_you_mean(format, WRITABLE)
            raise ParameterError(f"format must be one of {', '.join(WRITABLE)}. Got {format!r} instead.{hint}")
        name = f"table.{format}"
        with whole_or_nothing(folder, overwrite=overwrite) as partial:
            write_table(self.frame.table, partial / name)
            statement = replace(self.statement, recounts=self._recounts_of_written(partial / name))
            for count in statement.recounts:
                require_k(count, f"the written file {name!r}")
            (partial / STATEMENT).write_text(statement.as_json(), encoding="utf-8")
            (partial / STATEMENT_TEXT).write_text(str(statement), encoding="utf-8")
            files = {file: sha256_of_file(partial / file) for file in (name, STATEMENT, STATEMENT_TEXT)}
            manifest = replace(self.manifest, output={"table": name, "sha256": files})
            (partial / MANIFEST).write_text(manifest.as_json(), encoding="utf-8")
            write_file_whole(receipt_path(folder), json.dumps(self.digest.receipt(), indent=2) + "\n")
        return folder

    def _recounts_of_written(self, path: Path) -> tuple[Recount, ...]:
        written = read_as_written(path)
        return tuple(recount(written, guarantee.attributes, self.recipe.k) for guarantee in self.statement.guarantees)


def receipt_path(folder: Path) -> Path:
    """Where the receipt of a release goes: beside its folder, never in it."""
    return folder.with_name(folder.name + ".receipt.json")


def read_as_written(path: Path) -> pa.Table:
    """Read a released file as a reader of its text would: in CSV every field is what is written, nothing else."""
    if path.name.lower().endswith((".csv", ".csv.gz", ".tsv")):
        names = read_table(path).column_names
        # A missing value is an empty field; where a table has one column, NA (an empty line would be skipped).
        return read_table(path, text_columns=names, missing=("",) if len(names) > 1 else ("NA",))
    return read_table(path)
