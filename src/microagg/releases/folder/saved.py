"""A release as it lies in its folder, with what only its holder has: which input record each row stands for."""

from __future__ import annotations

from collections.abc import Mapping
from dataclasses import dataclass, field
from pathlib import Path
from typing import TYPE_CHECKING, Any

from microagg._typing import IntArray
from microagg.errors import InputError, TableError
from microagg.recipe.recipe import Recipe
from microagg.releases.folder.json_files import read_json
from microagg.releases.folder.places import MANIFEST, STATEMENT
from microagg.releases.folder.receipt import Receipt, receipt_beside
from microagg.statements.manifest import InputDigest, sha256_of_file

if TYPE_CHECKING:
    import pyarrow as pa

__all__ = ["SavedRelease", "origins_of", "recipe_of"]


@dataclass(frozen=True)
class SavedRelease:
    """The public files of a release.

    Attributes
    ----------
    folder : Path
    tables : tuple of Path
        The files of the table; several if it was released in parts.
    recipe : Recipe
        Of the manifest.
    statement, manifest : mapping
    in_parts : bool
        Whether the table was released in parts.
    """

    folder: Path
    tables: tuple[Path, ...]
    recipe: Recipe = field(repr=False)
    statement: Mapping[str, Any] = field(repr=False)
    manifest: Mapping[str, Any] = field(repr=False)
    in_parts: bool = False

    @classmethod
    def open(cls, folder: Path) -> SavedRelease:
        """Read manifest and statement.

        Raises
        ------
        TableError
            If the folder is not a release, or is damaged.
        """
        try:
            manifest, statement = read_json(folder / MANIFEST), read_json(folder / STATEMENT)
            in_parts = "tables" in manifest["output"]
            names = manifest["output"]["tables"] if in_parts else [manifest["output"]["table"]]
            tables, recipe = tuple(folder / str(name) for name in names), recipe_of(manifest)
            str(manifest["id"])
        except FileNotFoundError:
            raise TableError(f"{folder.name!r} is not a release: it lacks its manifest or statement") from None
        except (ValueError, KeyError, TypeError, AttributeError):
            raise TableError(f"the manifest or statement of {folder.name!r} is damaged") from None
        if not tables or any(not table.is_file() or table.parent != folder for table in tables):
            raise TableError(f"{folder.name!r} is not a release: it lacks the table that its manifest names")
        return cls(folder, tables, recipe, statement, manifest, in_parts)

    @property
    def table(self) -> Path:
        """The table, in one file.

        Raises
        ------
        InputError
            If it was released in parts.
        """
        if self.in_parts:
            raise InputError(
                f"the table of {self.folder.name!r} lies in several files. 'microagg check', 'evaluate' and 'report' "
                "take the folder; in Python, microagg.evaluate_files does"
            )
        return self.tables[0]


def recipe_of(manifest: Mapping[str, Any]) -> Recipe:
    """The recipe of a manifest: with taxonomies written out, since a manifest may be anybody's and name any file."""
    content = manifest["recipe"]
    if any(isinstance(one, Mapping) and isinstance(one.get("taxonomy"), str) for one in content["attributes"].values()):
        raise ValueError("taxonomy")
    return Recipe(**content)


def origins_of(released: Path, original: Path | pa.Table, receipt: Path | None) -> IntArray | None:
    """For each released row its place in the original, as the receipt has it.

    Parameters
    ----------
    released : Path
        The folder of a release, or its table.
    original : Path or table
        The file that was released (its bytes count), or the table if it was none.
    receipt : Path or None
        None takes the one that lies beside the folder, if there is one.

    Returns
    -------
    ndarray or None
        None if there is no receipt, or rows of the release are not records.

    Raises
    ------
    TableError, InputError
        If the receipt is damaged, or of another release or another original.
    """
    folder = released if released.is_dir() else released.parent
    found = receipt_beside(folder) if receipt is None else Receipt.load(receipt)
    if found is None:
        return None
    tables = sorted(folder.glob("table.*")) if released.is_dir() else [released]
    if not any(sha256_of_file(table) in found.files.values() for table in tables):
        if receipt is None:  # a file beside a release, not of it
            return None
        raise InputError(f"{receipt.name} is the receipt of another release than {released.name!r}")
    digest = sha256_of_file(original) if isinstance(original, Path) else InputDigest.of(original).sha256
    if digest != found.input.sha256:
        raise InputError(
            f"the original is not the one that {released.name!r} was made from, by its receipt: give that file; or say "
            "--aligned, --shuffled or --key to do without the receipt"
        )
    return found.origins
