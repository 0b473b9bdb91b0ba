"""Recount the guarantee of a release, or of any file, from what is written."""

from __future__ import annotations

import json
from dataclasses import asdict, dataclass
from pathlib import Path
from typing import TYPE_CHECKING, Any

from microagg.errors import TableError
from microagg.releases.manifest import sha256_of_file
from microagg.releases.recipe import Recipe
from microagg.releases.release import MANIFEST, STATEMENT, read_as_written
from microagg.releases.verify import recount
from microagg.schema.attribute import Role
from microagg.tables.frames import columns_phrase

if TYPE_CHECKING:
    import pyarrow as pa

__all__ = ["Finding", "check_release", "check_table"]


@dataclass(frozen=True)
class Finding:
    """One thing that was checked."""

    name: str
    holds: bool
    detail: str

    def as_dict(self) -> dict[str, Any]:
        return asdict(self)


def check_release(folder: str | Path) -> list[Finding]:
    """Check a saved release: its files are those of the manifest, and its guarantee holds on the written table."""
    folder = Path(folder)
    try:
        manifest = json.loads((folder / MANIFEST).read_text(encoding="utf-8"))
        recipe = Recipe(**manifest["recipe"])
        promised: dict[str, str] = manifest["output"]["sha256"]
        table_name: str = manifest["output"]["table"]
    except FileNotFoundError:
        raise TableError(f"{folder.name!r} is not a release: it has no {MANIFEST}") from None
    except (UnicodeDecodeError, json.JSONDecodeError, KeyError, TypeError):
        raise TableError(f"the {MANIFEST} of {folder.name!r} is damaged") from None
    findings = [_check_file(folder, name, digest) for name, digest in promised.items()]
    findings += check_table(folder / table_name, recipe)
    findings.append(_check_statement(folder, recipe))
    return findings


def check_table(path: str | Path, recipe: Recipe) -> list[Finding]:
    """Check a file against a recipe: no identifiers, every quasi-identifier there, k-anonymity as written."""
    table = read_as_written(Path(path))
    findings = [_check_columns(table, recipe)]
    absent = [name for name in recipe.schema.quasi_identifiers if name not in table.column_names]
    if absent:
        return [*findings, Finding("k-anonymity", False, f"cannot be counted without {columns_phrase(absent)}")]
    count = recount(table, recipe.schema.quasi_identifiers, recipe.k)
    detail = (
        f"{count.n_records} records, {count.n_combinations} combinations of quasi-identifiers, the rarest shared by "
        f"{count.smallest}"
    )
    if not count.holds:
        detail += f"; {count.records_below} records are in combinations rarer than k = {count.k}"
    return [*findings, Finding(f"k-anonymity (k = {recipe.k})", count.holds, detail)]


def _check_file(folder: Path, name: str, digest: str) -> Finding:
    path = folder / name
    if not path.is_file():
        return Finding(f"file {name}", False, "is not there")
    same = sha256_of_file(path) == digest
    return Finding(f"file {name}", same, "is the one in the manifest" if same else "was changed since the release")


def _check_columns(table: pa.Table, recipe: Recipe) -> Finding:
    identifiers = [name for name in recipe.schema.of_role(Role.IDENTIFIER) if name in table.column_names]
    undeclared = [name for name in table.column_names if name not in recipe.attributes]
    if identifiers:
        return Finding("columns", False, f"identifiers are published: {columns_phrase(identifiers)}")
    if undeclared:
        return Finding("columns", False, f"not declared in the recipe: {columns_phrase(undeclared)}")
    return Finding("columns", True, f"{table.num_columns} columns, no identifier among them")


def _check_statement(folder: Path, recipe: Recipe) -> Finding:
    """The statement must promise what the recipe asks for."""
    try:
        statement = json.loads((folder / STATEMENT).read_text(encoding="utf-8"))
        promised = [guarantee["parameters"].get("k") for guarantee in statement["guarantees"]]
    except (FileNotFoundError, UnicodeDecodeError, json.JSONDecodeError, KeyError, TypeError):
        return Finding("statement", False, "is not there or damaged")
    if promised != [recipe.k]:
        return Finding("statement", False, "does not promise the k of the recipe")
    if not statement.get("for_publication"):
        return Finding("statement", True, "for research, not for publication (made with a fixed seed)")
    return Finding("statement", True, "promises what the recipe asks for")
