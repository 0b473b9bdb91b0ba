"""``microagg.report``: a page about any released table, as ``microagg report`` writes it."""

from __future__ import annotations

import os
from pathlib import Path
from typing import Any

from microagg.engines.evaluation.report_files import report_on_parts
from microagg.errors import InputError
from microagg.recipe.recipe import Recipe
from microagg.releases.folder.places import refuse_place
from microagg.releases.folder.report import report_on_tables
from microagg.releases.folder.saved import SavedRelease
from microagg.releases.input import read_released, read_table
from microagg.tables.databases.address import is_address

__all__ = ["report"]


def report(
    original: Any,
    released: str | os.PathLike[str],
    path: str | os.PathLike[str],
    recipe: Recipe | None = None,
    *,
    internal: bool = False,
    full: bool = False,
    aligned: bool | None = None,
    key: str | None = None,
    receipt: str | Path | None = None,
    overwrite: bool = False,
    sign: str | Path | None = None,
) -> Path:
    """Write a page about a released table that a person can read, print and sign, and its numbers beside it.

    A release in memory has :meth:`microagg.Release.report`.

    Parameters
    ----------
    original : pandas.DataFrame, polars.DataFrame, pyarrow.Table or path
        The table that was protected.
    released : path
        A table of any tool, or the folder of a release.
    path : path ending in ".html"
    recipe : Recipe, optional
        What the columns are; the folder of a release brings its own.
    internal : bool, default False
        Add exact figures of the original, of cells and of records; never for publication.
    full : bool, default False
        Take all default measures on all records.
    aligned : bool, optional
        Whether row i of both tables is the same record; default: found out from unchanged columns.
    key : str, optional
        A column of both tables that shows which rows belong together.
    receipt : path, optional
        What shows the same; default: the one beside the folder of the release.
    overwrite : bool, default False
    sign : path, optional
        The key that a signed folder is signed with again.

    Returns
    -------
    Path
    """
    released, path = Path(released), Path(path)
    if str(path) == "-":
        refuse_place(path, what="report")
    if receipt is not None and (aligned is not None or key is not None):
        raise InputError("a receipt shows which rows belong together: leave out aligned and key")
    if released.is_dir():
        recipe = SavedRelease.open(released).recipe
    elif recipe is None:
        raise InputError("to report on a file, say what its columns are: recipe = Recipe.load('recipe.toml')")
    names_file = isinstance(original, str | os.PathLike)
    if any(released.glob("table-*")) and released.is_dir():
        if not names_file or aligned is not None or receipt is not None or sign is not None:
            raise InputError(
                "the report of a release in parts takes the files of the original, and no aligned, receipt or sign"
            )
        more: dict[str, Any] = {"internal": internal, "full": full, "key": key, "overwrite": overwrite}
        report_on_parts(Path(original), released, path, recipe, **more)
        return path
    chosen = recipe
    return report_on_tables(
        read_table(original, chosen) if names_file else original,
        released,
        chosen,
        path,
        read=lambda file: read_released(file, chosen),
        internal=internal,
        full=full,
        source=Path(original) if names_file and not is_address(str(original)) else None,
        receipt=None if receipt is None else Path(receipt),
        aligned=aligned,
        key=key,
        overwrite=overwrite,
        sign=sign,
    )
