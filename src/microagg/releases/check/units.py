"""Count the units of a release again: for the data holder alone, who has the receipt and the input."""

from __future__ import annotations

import os
from pathlib import Path
from typing import Any

import numpy as np

from microagg.errors import InputError
from microagg.privacy.verify import Finding, combinations_of
from microagg.recipe.recipe import Recipe
from microagg.releases.check.published import PublishedFolder
from microagg.releases.folder.receipt import Receipt, receipt_beside
from microagg.releases.input import read_table
from microagg.releases.units import units_of
from microagg.statements.manifest import InputDigest, sha256_of_file
from microagg.tables.databases.address import is_address
from microagg.tables.databases.spool import fetched
from microagg.tables.frames import Frame
from microagg.tables.missing_codes import frame_without_codes
from microagg.tables.phrases import columns_phrase

__all__ = ["check_units", "state_units", "units_of_file"]

_NAME = "units"


_NOT_STATED = Finding(_NAME, False, "the manifest does not say how many units every cell holds")


def _stated(release: PublishedFolder) -> list[int]:
    """What the manifest says of each block; nothing if it does not say it of all."""
    stated = [one for block in release.blocks if type(one := block.get("fewest_units")) is int]
    return stated if len(stated) == len(release.blocks) else []


def state_units(release: PublishedFolder) -> list[Finding]:
    """What is stated of units and cannot be counted on the file; nothing where no units are counted."""
    if release.recipe.unit is None or release.is_private:
        return []
    stated = _stated(release)
    if not stated:
        return [_NOT_STATED]
    fewest = min(stated)
    detail = (
        f"stated, not counted here: every cell holds records of at least {fewest} units by "
        f"{release.recipe.unit.key!r}. The file shows records alone; its holder counts units with --original INPUT"
    )
    return [Finding(_NAME, fewest >= release.recipe.k, detail)]


def units_of_file(recipe: Recipe) -> list[Finding]:
    """That nobody counted the units of a file that came alone; nothing where no units are counted."""
    if recipe.unit is None or recipe.entry.is_private:
        return []
    detail = (
        f"not counted: k = {recipe.k} of the recipe counts units by {recipe.unit.key!r}, and the file shows records, "
        "of which one unit may have several"
    )
    return [Finding(_NAME, True, detail)]


def check_units(release: PublishedFolder, receipt: str | Path | None, original: Any) -> list[Finding]:
    """Whether every published combination is shared by records of at least k units.

    Parameters
    ----------
    release : PublishedFolder
    receipt : path or None
        Which row stands for which record of the input; None looks for it beside the folder.
    original : path, address or table
        The input; of a release of a dataframe the dataframe, since no file has its types for sure.

    Raises
    ------
    InputError
        If the release counts no units, or there is no receipt.
    """
    if isinstance(original, str) and is_address(original):
        with fetched(original) as file:
            return check_units(release, receipt, file)
    recipe = release.recipe
    if recipe.unit is None:
        raise InputError("--original is to count the units of a release again, and this one's recipe has no [unit]")
    if release.is_private:
        raise InputError(
            "--original is to count the units of cells again, and a differentially private release has no cells that "
            "promise k units: its statement says what was spent on each unit. Leave it out"
        )
    kept = receipt_beside(release.folder) if receipt is None else Receipt.load(receipt)
    if kept is None or kept.origins is None:
        raise InputError("units are counted with the receipt, which says whose each row is: --receipt RECEIPT")
    found = _input(original, recipe, kept)
    if isinstance(found, Finding):
        return [found]
    units = units_of(frame_without_codes(found, recipe.input.missing), recipe)
    assert units is not None
    if len(kept.origins) != release.n_rows or kept.origins.max(initial=0) >= found.n_records:
        return [Finding(_NAME, False, "the receipt is about another number of records")]
    if len(np.unique(kept.origins)) < release.n_rows or kept.origins.min(initial=0) < 0:
        return [Finding(_NAME, False, "by the receipt several rows stand for one record")]
    of_rows = units.take(kept.origins)
    stated = _stated(release)
    if not stated:
        return [_NOT_STATED]
    findings = []
    for block, at_least in zip(release.blocks, stated, strict=True):
        fewest = int(of_rows.in_groups(combinations_of(release.table, block["attributes"])).min())
        holds = fewest >= max(recipe.k, at_least)
        detail = f"counted again on {columns_phrase(block['attributes'])}: at least {fewest} share every combination"
        findings.append(Finding(_NAME, holds, f"{detail}; {recipe.k} were promised"))
    return findings


def _input(original: Any, recipe: Recipe, receipt: Receipt) -> Frame | Finding:
    """The input that the receipt names; a finding if it is another one."""
    if isinstance(original, str | os.PathLike):
        path = Path(original)
        if not path.is_file():
            raise InputError(f"there is no file named {path.name!r}")
        if sha256_of_file(path) == receipt.input.sha256:
            return Frame.wrap(read_table(path, recipe))
        detail = (
            f"{path.name} is not the input that the receipt names. If that was a dataframe, and no source= was named, "
            "only the same dataframe is it, in Python: microagg.check(folder, original=dataframe)"
        )
        return Finding(_NAME, False, detail)
    frame = Frame.wrap(original)
    if InputDigest.of(frame.table).sha256 == receipt.input.sha256:
        return frame
    detail = (
        "the dataframe is not the input that the receipt names: other values, types or columns. If that was a file "
        "(source=...), give its path"
    )
    return Finding(_NAME, False, detail)
