"""Recount the guarantee of a release, or of any file, from what is written."""

from __future__ import annotations

import json
from collections.abc import Sequence
from pathlib import Path
from typing import TYPE_CHECKING

from microagg.errors import TableError
from microagg.privacy.guarantee import DRAWN, K_ANONYMITY
from microagg.releases.catalogue import method_named
from microagg.releases.manifest import sha256_of_file
from microagg.releases.private import own_columns_of
from microagg.releases.private_check import check_private_statement, check_private_table
from microagg.releases.recipe import AggregateForm, Recipe
from microagg.releases.release import MANIFEST, REPORT, REPORT_JSON, STATEMENT, STATEMENT_TEXT, read_as_written
from microagg.releases.verify import Finding, absent_from, recount, values_out_of_type
from microagg.schema.attribute import Role
from microagg.space.blocks import BlockForm
from microagg.tables.phrases import columns_phrase, names_phrase

if TYPE_CHECKING:
    import pyarrow as pa

__all__ = ["Finding", "check_release", "check_table"]


def check_release(folder: str | Path) -> list[Finding]:
    """Check a saved release: its files are those of the manifest, and what it promises holds on the written table."""
    folder = Path(folder)
    try:
        manifest = json.loads((folder / MANIFEST).read_text(encoding="utf-8"))
        recipe = Recipe(**manifest["recipe"])
        promised: dict[str, str] = manifest["output"]["sha256"]
        table_name: str = manifest["output"]["table"]
        (partition,) = (stage for stage in manifest["stages"] if stage["stage"] == "partition")
        blocks = [tuple(block["attributes"]) for block in partition["blocks"]]
        smallest = [int(block["smallest_cell"]) for block in partition["blocks"]]
        if not (isinstance(promised, dict) and isinstance(table_name, str) and table_name.startswith("table.")):
            raise TypeError("output")
    except FileNotFoundError:
        raise TableError(f"{folder.name!r} is not a release: it has no {MANIFEST}") from None
    except (UnicodeDecodeError, json.JSONDecodeError, KeyError, TypeError, ValueError, AttributeError):
        raise TableError(f"the {MANIFEST} of {folder.name!r} is damaged") from None
    expected = (table_name, STATEMENT, STATEMENT_TEXT, *(name for name in (REPORT, REPORT_JSON) if name in promised))
    findings = [_check_file(folder, name, promised.get(name)) for name in expected]
    findings.append(_check_nothing_else(folder, {MANIFEST, *expected}))
    table = read_as_written(folder / table_name)
    findings += [_check_columns(table, recipe), *values_out_of_type(table)]
    if method_named(recipe.method).is_private:
        return [
            *findings,
            *check_private_table(table, recipe),
            check_private_statement(folder / STATEMENT, recipe, table),
        ]
    findings.append(_check_blocks(blocks, recipe))
    if recipe.aggregate.form is AggregateForm.SAMPLED:
        findings += [_check_drawn(table, block, recipe.k, least) for block, least in zip(blocks, smallest, strict=True)]
    else:
        findings += [_check_k(table, block, recipe.k) for block in blocks]
    findings.append(_check_statement(folder, recipe, blocks))
    return findings


def check_table(path: str | Path, recipe: Recipe) -> list[Finding]:
    """Check a file against a recipe: no identifiers, and k-anonymity on all quasi-identifiers together, as written.

    Of sampled records only the columns can be checked, and of a differentially private table that it holds nothing but
    public values, which the findings say.
    """
    table = read_as_written(Path(path))
    shown = [_check_columns(table, recipe), *values_out_of_type(table)]
    if method_named(recipe.method).is_private:
        return [*shown, *check_private_table(table, recipe)]
    if recipe.aggregate.form is AggregateForm.SAMPLED:
        return [*shown, _check_drawn(table, recipe.schema.quasi_identifiers, recipe.k, None)]
    return [*shown, _check_k(table, recipe.schema.quasi_identifiers, recipe.k)]


def _check_k(table: pa.Table, attributes: Sequence[str], k: int) -> Finding:
    name = f"k-anonymity (k = {k}) on {names_phrase(attributes)}"
    absent = absent_from(table, attributes)
    if absent:
        return Finding(name, False, f"cannot be counted without {columns_phrase(absent)}")
    count = recount(table, attributes, k)
    detail = f"{count.n_records} records, {count.n_combinations} combinations, the rarest shared by {count.smallest}"
    if not count.holds:
        detail += f"; {count.records_below} records are in combinations rarer than k = {count.k}"
    return Finding(name, count.holds, detail)


def _check_drawn(table: pa.Table, attributes: Sequence[str], k: int, smallest: int | None) -> Finding:
    """Of drawn records a file shows nothing but that its columns are there."""
    name = f"drawn from cells of at least k = {k} records: {names_phrase(attributes)}"
    absent = absent_from(table, attributes)
    if absent:
        return Finding(name, False, f"without {columns_phrase(absent)}")
    said = "nothing can be counted on the file; only that the columns are there was checked"
    if smallest is None:
        return Finding(name, True, said)
    return Finding(name, smallest >= k, f"{said}. By the manifest the smallest cell has {smallest} records")


def _check_blocks(blocks: Sequence[Sequence[str]], recipe: Recipe) -> Finding:
    """Cells must speak for every quasi-identifier once; several blocks only where the recipe asks for them."""
    labels = method_named(recipe.method).labels
    covered = sorted(name for block in blocks for name in block)
    if labels == "values":
        return Finding("cells", not blocks, "none: the method has no cells of records and promises nothing")
    several = labels == "attributes" or recipe.blocks.form is not BlockForm.ONE
    holds = covered == sorted(recipe.schema.quasi_identifiers) and (several or len(blocks) == 1)
    said = (
        "every quasi-identifier is in one block of cells" if holds else "do not speak for every quasi-identifier once"
    )
    return Finding("cells", holds, said)


def _check_nothing_else(folder: Path, expected: set[str]) -> Finding:
    others = sorted(path.name for path in folder.iterdir() if path.name not in expected)
    said = f"not part of the release: {', '.join(map(repr, others))}" if others else "none"
    return Finding("other files", not others, said)


def _check_file(folder: Path, name: str, digest: str | None) -> Finding:
    path = folder / name
    if digest is None:
        return Finding(f"file {name}", False, "is not in the manifest")
    if not path.is_file():
        return Finding(f"file {name}", False, "is not there")
    same = sha256_of_file(path) == digest
    return Finding(f"file {name}", same, "is the one in the manifest" if same else "was changed since the release")


def _check_columns(table: pa.Table, recipe: Recipe) -> Finding:
    written = set(table.column_names)
    identifiers = [name for name in recipe.schema.of_role(Role.IDENTIFIER) if name in written]
    known = set(own_columns_of(recipe) or recipe.attributes)
    undeclared = [name for name in table.column_names if name not in known]
    if identifiers:
        return Finding("columns", False, f"identifiers are published: {columns_phrase(identifiers)}")
    if undeclared:
        return Finding("columns", False, f"not declared in the recipe: {columns_phrase(undeclared)}")
    if table.schema.metadata:
        keys = ", ".join(sorted(repr(key.decode(errors="replace")) for key in table.schema.metadata))
        return Finding("columns", False, f"the file carries metadata of another program, under {keys}")
    return Finding("columns", True, f"{table.num_columns} columns, no identifier among them")


def _check_statement(folder: Path, recipe: Recipe, blocks: Sequence[Sequence[str]]) -> Finding:
    """The statement must promise what the recipe asks for, on the blocks that were checked."""
    try:
        statement = json.loads((folder / STATEMENT).read_text(encoding="utf-8"))
        promised = [
            (entry["model"], entry["parameters"]["k"], tuple(entry["attributes"])) for entry in statement["guarantees"]
        ]
        for_publication = bool(statement["for_publication"])
    except (FileNotFoundError, UnicodeDecodeError, json.JSONDecodeError, KeyError, TypeError, AttributeError):
        return Finding("statement", False, "is not there or damaged")
    model = DRAWN if recipe.aggregate.form is AggregateForm.SAMPLED else K_ANONYMITY
    if promised != [(model, recipe.k, tuple(block)) for block in blocks]:
        return Finding("statement", False, "does not promise what was checked")
    if not promised:
        return Finding("statement", not for_publication, "states no guarantee")
    if not for_publication:
        return Finding("statement", True, "for research, not for publication (made with a fixed seed)")
    return Finding("statement", True, "promises what the recipe asks for")
