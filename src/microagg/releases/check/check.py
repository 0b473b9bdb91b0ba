"""Recount the guarantee of a release, or of any file, from what is written."""

from __future__ import annotations

from collections.abc import Callable
from pathlib import Path
from typing import TYPE_CHECKING, Any

from microagg._version import __version__
from microagg.errors import TableError
from microagg.privacy.verify import Finding, absent_from, values_out_of_type
from microagg.private.base import own_columns_of
from microagg.recipe.output import Formulas
from microagg.recipe.recipe import Recipe
from microagg.releases.check.files import check_files, check_form, check_receipt
from microagg.releases.check.manifest import VERSION, check_blocks, check_manifest
from microagg.releases.check.published import PublishedFolder
from microagg.releases.check.report import check_report
from microagg.releases.check.statement import check_statement
from microagg.releases.check.units import check_units, state_units, units_of_file
from microagg.releases.folder.signing import check_signature
from microagg.releases.input import read_released
from microagg.releases.release import MANIFEST, read_as_written
from microagg.releases.strategy import strategy_of
from microagg.schema.attribute import Role
from microagg.statements.requirements import find_requirements
from microagg.tables.phrases import columns_phrase, names_phrase
from microagg.tables.text.dialect import Dialect
from microagg.tables.text.formulas import unescape_formulas

if TYPE_CHECKING:
    import pyarrow as pa

__all__ = ["Finding", "check_release", "check_table"]


def check_release(
    folder: str | Path,
    *,
    receipt: str | Path | None = None,
    signed_by: str | Path | None = None,
    original: Any = None,
) -> list[Finding]:
    """Check a saved release: its files are those of the manifest, and what it promises holds on the written table.

    Everything is worked out again that a reader can: counts, the words of the statement, what of manifest and report
    follows from recipe and table. Whoever changes values so that all of it still holds, and all hashes with them, is
    found by the receipt or by a signature only.

    Parameters
    ----------
    folder : path
    receipt : path, optional
        What the data holder kept: all files must be as it names them. By default one beside the folder is looked for.
    signed_by : path, optional
        A public key (PEM): the release must be signed by it.
    original : path, address of a database's table, or dataframe, optional
        The input, for the data holder: with the receipt, the units of ``[unit]`` are counted again.

    Raises
    ------
    TableError
        If the folder is not that of a release, or damaged beyond being read.
    """
    folder = Path(folder)
    outside = (
        [*check_receipt(folder, receipt), *check_signature(folder, folder / MANIFEST, signed_by)]
        if ((folder / MANIFEST).is_file())
        else []
    )
    try:
        release = PublishedFolder.open(folder)
    except TableError as error:
        broken = [finding for finding in outside if not finding.holds]
        if broken:
            raise TableError(f"{error}; {'; '.join(f'{one.name}: {one.detail}' for one in broken)}") from None
        raise
    vouched = any(one.holds for one in outside if one.name == "receipt" or signed_by is not None)
    found = [*(finding for check in CHECKS for finding in check(release)), *_check_version(release, vouched), *outside]
    return [*found, *(state_units(release) if original is None else check_units(release, receipt, original))]


def _check_version(release: PublishedFolder, vouched: bool) -> list[Finding]:
    """Whether this version knows the words that were due; if not, somebody must vouch for the files as they are."""
    report = release.report.get("microagg") if isinstance(release.report, dict) else __version__
    others = sorted({str(version) for version in (release.manifest.get("microagg"), report)} - {__version__})
    if not others:
        return []
    versions = names_phrase([other if VERSION.fullmatch(other) else "of no known version" for other in others])
    if vouched:
        detail = f"made by microagg {versions}: words were not compared, but receipt or signature vouch for the files"
        return [Finding("version", True, detail)]
    detail = (
        f"made by microagg {versions}: words were not compared; check with that version, or with its receipt "
        "(--receipt) or signature (--signed-by)"
    )
    return [Finding("version", False, detail)]


def check_table(path: str | Path, recipe: Recipe) -> list[Finding]:
    """Check a file against a recipe: no identifiers, and k-anonymity on all quasi-identifiers together, as written.

    Only the columns of sampled records can be checked, and only the public domain of differentially private values;
    the findings say so.
    """
    table = _read_any(Path(path), recipe)
    if recipe.output.formulas is Formulas.ESCAPE:  # counted as written, under the names of the recipe
        table = table.rename_columns(unescape_formulas(table).column_names)
    strategy = strategy_of(recipe)
    if strategy.is_private:
        table = read_as_written(Path(path), recipe)
    promise = strategy.find_promise(table, [(recipe.schema.quasi_identifiers, None)])
    required = find_requirements(read_released(Path(path), recipe), recipe, table) if recipe.protect else []
    found = [_check_columns(table, recipe), *values_out_of_type(table), *promise, *required]
    return [*found, *units_of_file(recipe)]


def _read_any(path: Path, recipe: Recipe) -> pa.Table:
    """A file of whatever tool: plain, or, if it does not have the recipe's columns so, as the recipe's input is."""
    layout = recipe.input.layout
    try:
        plain = read_as_written(path, dialect=Dialect())
    except TableError:
        if layout == Dialect():
            raise
        return read_as_written(path, dialect=layout)
    if layout == Dialect() or all(name in plain.column_names for name in recipe.schema.quasi_identifiers):
        return plain
    try:
        return read_as_written(path, dialect=layout)
    except TableError:
        return plain


def _check_columns(table: pa.Table, recipe: Recipe) -> Finding:
    written = set(table.column_names)
    identifiers = [name for name in recipe.schema.of_role(Role.IDENTIFIER) if name in written]
    known = set(own_columns_of(recipe) or recipe.attributes)
    undeclared = [name for name in table.column_names if name not in known]
    if identifiers:
        return Finding("columns", False, f"identifiers are published: {columns_phrase(identifiers)}")
    if undeclared:
        names = (
            columns_phrase(undeclared) if recipe.schema.may_quote(table.column_names) else f"{len(undeclared)} columns"
        )
        return Finding("columns", False, f"not declared in the recipe: {names}")
    if table.schema.metadata:
        keys = ", ".join(sorted(repr(key.decode(errors="replace")) for key in table.schema.metadata))
        return Finding("columns", False, f"the file carries metadata of another program, under {keys}")
    return Finding("columns", True, f"{table.num_columns} columns, no identifier among them")


def _columns_of_release(release: PublishedFolder) -> list[Finding]:
    """No column too many, none too few, and nothing beside the values that no record needs."""
    recipe = release.recipe
    due = own_columns_of(recipe) or recipe.schema.published
    broken: list[Finding] = []
    for name, table in zip(release.table_names, release.tables(), strict=True):
        found = _check_columns(table, recipe)
        absent = absent_from(table, due)
        if found.holds and absent:
            found = Finding("columns", False, f"not there: {columns_phrase(absent)}")
        if found.holds and table.column_names != release.table.column_names:
            found = Finding("columns", False, f"those of {name} stand in another order")
        if not found.holds:
            return [found]
        broken += values_out_of_type(table)
    return [found, *broken[:1], check_form(release)]


def _promise_of_release(release: PublishedFolder) -> list[Finding]:
    """What is promised, as far as it can be seen on the table."""
    required = find_requirements(release.typed, release.recipe, release.table) if release.recipe.protect else []
    return [*release.find_promise(), *required]


def _exposure_of_release(release: PublishedFolder) -> list[Finding]:
    """What the statement says about what k does not hide, as far as the table shows it."""
    if not (release.strategy.is_counted and release.blocks):
        return []
    return [release.recheck_exposure()]


CHECKS: tuple[Callable[[PublishedFolder], list[Finding]], ...] = (
    check_files,
    _columns_of_release,
    check_blocks,
    _promise_of_release,
    check_statement,
    _exposure_of_release,
    check_manifest,
    check_report,
)
"""All that is checked of a release without its receipt and without a key."""
