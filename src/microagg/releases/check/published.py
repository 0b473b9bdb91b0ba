"""The folder of a release as anybody may have left it: read once, for all that is checked of it."""

from __future__ import annotations

from collections.abc import Iterator, Mapping
from dataclasses import dataclass, field
from functools import cached_property
from pathlib import Path
from typing import TYPE_CHECKING, Any

from microagg._version import __version__
from microagg.errors import TableError
from microagg.privacy.verify import Finding, Recount, finding_of_recount, recount
from microagg.private.base import own_columns_of
from microagg.recipe.recipe import Recipe
from microagg.releases.check.follow import follow
from microagg.releases.folder.json_files import read_json
from microagg.releases.folder.saved import recipe_of
from microagg.releases.input import read_own
from microagg.releases.release import MANIFEST, REPORT_JSON, STATEMENT, read_as_written
from microagg.releases.strategy import Strategy, strategy_of
from microagg.statements.exposure import compare_exposure, recheck_exposure
from microagg.statements.parts import PartsCount, count_parts, joint_exposure
from microagg.statements.requirements import RequirementCount, count_requirements
from microagg.tables.parts.files import read_part

if TYPE_CHECKING:
    import pyarrow as pa

    from microagg.methods.output import MethodOutput

__all__ = ["PublishedFolder"]


@dataclass(frozen=True)
class PublishedFolder:
    """What a reader of a release has.

    Attributes
    ----------
    folder : Path
    manifest : dict
    recipe : Recipe
        The manifest's.
    table : Arrow table
        As written; of escaped formulas the escape is undone.
    """

    folder: Path
    manifest: Mapping[str, Any]
    recipe: Recipe
    table: pa.Table = field(repr=False)

    @classmethod
    def open(cls, folder: Path) -> PublishedFolder:
        """Read manifest and table.

        Raises
        ------
        TableError
            If the folder is not that of a release, or its manifest cannot be understood.
        """
        try:
            manifest = read_json(folder / MANIFEST)
            recipe = recipe_of(manifest)
            files, hashes = _names_of_tables(manifest["output"]), manifest["output"]["sha256"]
            if not isinstance(hashes, dict):
                raise TypeError("output")
            if "tables" in manifest["output"] and not _partition(manifest)["blocks"]:
                raise ValueError("blocks")
            for block in _partition(manifest)["blocks"]:
                sizes = [block[key] for key in ("n_cells", "smallest_cell", "largest_cell")]
                names = [*block["attributes"], *block.get("spiked", ())]
                if not all(isinstance(size, int) for size in sizes) or not all(isinstance(one, str) for one in names):
                    raise TypeError("blocks")
        except (FileNotFoundError, NotADirectoryError):
            raise TableError(f"{folder.name!r} is not a release: it has no {MANIFEST}") from None
        except (LookupError, TypeError, ValueError, AttributeError, OverflowError):
            raise TableError(f"the {MANIFEST} of {folder.name!r} is damaged") from None
        if "tables" in manifest["output"]:
            return PublishedParts(folder, manifest, recipe, read_part(folder / files[0]).slice(0, 0))
        return cls(folder, manifest, recipe, read_as_written(folder / files[0], recipe))

    @property
    def table_name(self) -> str:
        return self.table_names[0]

    @property
    def table_names(self) -> list[str]:
        """The files of the table; several if it was released in parts."""
        return _names_of_tables(self.manifest["output"])

    @property
    def n_rows(self) -> int:
        return int(self.table.num_rows)

    def tables(self) -> Iterator[pa.Table]:
        """The table, file by file."""
        yield self.table

    def has_missing(self, name: str) -> bool:
        """Whether a column has missing values."""
        return bool(self.table[name].null_count)

    @property
    def engine(self) -> Mapping[str, Any] | None:
        """How the table was cut if it was released in parts."""
        return None

    def find_promise(self) -> list[Finding]:
        """What is promised, as far as it can be seen on the table."""
        cells = [(block["attributes"], block["smallest_cell"]) for block in self.blocks]
        return self.strategy.find_promise(self.table, cells)

    def recheck_exposure(self) -> Finding:
        """What the statement says about what k does not hide, as far as the table shows it."""
        return recheck_exposure(self.table, self.recipe, self.statement if isinstance(self.statement, dict) else {})

    @property
    def hashes(self) -> dict[str, str]:
        """SHA-256 of the files, by the manifest."""
        return dict(self.manifest["output"]["sha256"])

    @property
    def same_version(self) -> bool:
        """Whether the release was made by this version, whose words can be compared."""
        return bool(self.manifest.get("microagg") == __version__)

    @cached_property
    def strategy(self) -> Strategy:
        """How releases of this recipe are made, and what they promise."""
        return strategy_of(self.recipe)

    @property
    def is_private(self) -> bool:
        return self.strategy.is_private

    @property
    def rows_are_statistics(self) -> bool:
        """Whether the table has columns of its own, and a row for each statistic."""
        return own_columns_of(self.recipe) is not None

    @cached_property
    def partition(self) -> dict[str, Any]:
        """What the manifest says of the cells."""
        return _partition(self.manifest)

    @property
    def blocks(self) -> list[dict[str, Any]]:
        return list(self.partition["blocks"])

    @cached_property
    def statement(self) -> Any:
        """What the statement's file holds; None if it cannot be read."""
        return _read(self.folder / STATEMENT)

    @cached_property
    def report(self) -> Any:
        """What the report's file holds; None if it cannot be read."""
        return _read(self.folder / REPORT_JSON)

    @cached_property
    def made_again(self) -> MethodOutput:
        """Ledger, remarks and stages of a private release, as its method makes them from public facts.

        Raises
        ------
        KeyError, TypeError, ValueError, AssertionError, InputError
            If manifest and table are not those of a release.
        """
        return follow(self.recipe, self.table, self.blocks, self._times_of_day())

    def _times_of_day(self) -> set[str]:
        """Columns of times, whose noise is counted in microseconds."""
        import pyarrow as pa

        if self.rows_are_statistics:
            return set()
        return {field.name for field in self.typed.schema if pa.types.is_time(field.type)}

    @cached_property
    def required(self) -> tuple[RequirementCount, ...]:
        """What confidential values must be like, counted afresh; none if nothing is required or columns lack."""
        due = {*self.recipe.protect, *self.recipe.schema.quasi_identifiers}
        if not self.recipe.protect or not due <= set(self.table.column_names):
            return ()
        try:
            return count_requirements(self.typed, self.recipe, self.table)
        except TableError:
            return ()

    @cached_property
    def typed(self) -> pa.Table:
        """The table with numbers as numbers, as the recipe has them."""
        return read_own(self.folder / self.table_name, self.recipe)

    @cached_property
    def recounts(self) -> tuple[Recount, ...]:
        """The table counted afresh, block by block; none if nothing can be counted or columns lack."""
        if not self.strategy.is_counted:
            return ()
        attributes = [block["attributes"] for block in self.blocks]
        if not {name for names in attributes for name in names} <= set(self.table.column_names):
            return ()
        return tuple(recount(self.table, names, self.recipe.k) for names in attributes)


class PublishedParts(PublishedFolder):
    """A release whose table lies in several files: they are read one after the other, and counted together.

    `table` has their columns, and no row.
    """

    @property
    def paths(self) -> list[Path]:
        return [self.folder / name for name in self.table_names]

    @cached_property
    def counted(self) -> tuple[PartsCount, ...]:
        """What all files together show, for each block of attributes that share cells.

        Raises
        ------
        TableError
            If one of them is not there or damaged, or lacks a column.
        """
        named = [name for block in self.blocks for name in block["attributes"]]
        due = {*named, *self.recipe.schema.published}
        if due - set(self.table.column_names) or due - set(self.recipe.attributes):
            raise TableError(f"{self.table_name} lacks columns that the recipe publishes, or that have cells")
        return tuple(
            count_parts(self.paths, block["attributes"], self.recipe, singles=place == 0)
            for place, block in enumerate(self.blocks)
        )

    @property
    def n_rows(self) -> int:
        return self.counted[0].recount.n_records

    def tables(self) -> Iterator[pa.Table]:
        for path in self.paths:
            yield read_part(path)

    def has_missing(self, name: str) -> bool:
        return any(one.n_missing.get(name) for one in self.counted)

    @property
    def engine(self) -> Mapping[str, Any] | None:
        return dict(self.partition["engine"])

    def find_promise(self) -> list[Finding]:
        return [finding_of_recount(one.recount) for one in self.counted]

    def recheck_exposure(self) -> Finding:
        statement = self.statement if isinstance(self.statement, dict) else {}
        categories = {name: labels for one in self.counted for name, labels in one.categories.items()}
        return compare_exposure(
            joint_exposure(self.counted), self.recipe, statement, lambda name: len(categories.get(name, ()))
        )

    @cached_property
    def recounts(self) -> tuple[Recount, ...]:
        return tuple(one.recount for one in self.counted)


def _names_of_tables(output: Mapping[str, Any]) -> list[str]:
    """The files of the table as a manifest lists them.

    Raises
    ------
    KeyError, TypeError, ValueError
        If it lists none, or names that no release has.
    """
    if "tables" in output:
        names = [str(name) for name in output["tables"]]
        if not names or names != [f"table-{number:05d}.parquet" for number in range(len(names))]:
            raise ValueError("tables")
        return names
    name = output["table"]
    if not (isinstance(name, str) and name.startswith("table.")):
        raise TypeError("output")
    if Path(name).name != name:
        raise ValueError("table")
    return [name]


def _partition(manifest: Mapping[str, Any]) -> dict[str, Any]:
    (found,) = (stage for stage in manifest["stages"] if stage["stage"] == "partition")
    return dict(found)


def _read(path: Path) -> Any:
    try:
        return read_json(path)
    except (OSError, ValueError):
        return None
