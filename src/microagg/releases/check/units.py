"""Count the units of a release again: for the data holder alone, who has the receipt and the input."""

from __future__ import annotations

import os
from pathlib import Path
from typing import Any

import numpy as np

from microagg.errors import GuaranteeError, InputError
from microagg.privacy.verify import Finding, combinations_of
from microagg.recipe.choices import Draws
from microagg.recipe.recipe import Recipe
from microagg.releases.check.published import PublishedFolder
from microagg.releases.drawing.recount import count_unfounded
from microagg.releases.folder.receipt import Receipt, receipt_beside
from microagg.releases.input import read_table
from microagg.releases.prepare import prepare
from microagg.releases.units import Units, units_of
from microagg.statements.manifest import InputDigest, sha256_of_file
from microagg.tables.databases.address import is_address
from microagg.tables.databases.spool import fetched
from microagg.tables.frames import Frame
from microagg.tables.missing_codes import frame_without_codes
from microagg.tables.phrases import columns_phrase, names_phrase

__all__ = ["check_units", "state_units", "units_of_file"]

_NAME = "units"


_WHO_COUNTS = {
    None: "The file shows records alone; its holder counts units with --original INPUT",
    Draws.SHARED: "The file shows drawn records alone; its holder counts units of numbers and categories with "
    "--original INPUT",
    Draws.MOMENTS: "The file shows drawn records alone, and nobody can count it again",
}
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
        f"{release.recipe.unit.key!r}. {_WHO_COUNTS[release.recipe.aggregate.way_of_drawing]}"
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

    Of records drawn from what many share it is whether each published number and category may be: so many units of the
    input share it or make its interval. Of records drawn from moments nothing can be counted again.

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
    drawn = recipe.aggregate.way_of_drawing
    if drawn is not None:
        for block, at_least in zip(release.blocks, stated, strict=True):
            most = _most_units(of_rows, block["n_cells"])
            if at_least > most:
                detail = f"{block['n_cells']} cells of at least {at_least} units are stated; there are units for {most}"
                return [Finding(_NAME, False, detail)]
        if drawn is Draws.MOMENTS:
            return [Finding(_NAME, True, "not counted again: of records drawn from moments of cells nobody can")]
        return [_recount_draws(release, found)]
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


def _most_units(units: Units, n_cells: int) -> int:
    """The most units that every one of so many cells can have: a unit is in no more cells than it has records."""
    return int(np.minimum(np.bincount(units.codes), n_cells).sum()) // n_cells


def _recount_draws(release: PublishedFolder, frame: Frame) -> Finding:
    """Whether all that is published was drawn from what enough units of the input share."""
    recipe = release.recipe
    try:
        prepared = prepare(frame_without_codes(frame, recipe.input.missing), recipe)
        unfounded = {
            column.name: count_unfounded(column, release.typed.column(column.name), recipe, prepared.units)
            for column in prepared.measured.values()
        }
    except (InputError, GuaranteeError) as error:
        return Finding(_NAME, False, f"records of this input cannot be drawn as the recipe says: {error}")
    wrong = {name: count for name, count in unfounded.items() if count}
    if wrong:
        counts = names_phrase([f"{name!r} ({count})" for name, count in wrong.items()])
        return Finding(_NAME, False, f"values that not enough units of the input share or make: {counts}")
    detail = (
        "counted again in the input: each published number is shared, or its interval made, by records of enough "
        f"units, and so is each category; k = {recipe.k} was promised"
    )
    return Finding(_NAME, True, detail)
