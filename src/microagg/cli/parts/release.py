"""``microagg release --engine outofcore``: a release in parts, and what is said of it."""

from __future__ import annotations

from pathlib import Path
from typing import TYPE_CHECKING

import typer

from microagg.cli.terminal import NO_REPORT, print_json, say, shows_progress, write_internal_report
from microagg.errors import InputError

if TYPE_CHECKING:
    from microagg.recipe.recipe import Recipe

__all__ = ["release_in_parts"]


def release_in_parts(
    data: Path,
    recipe: Recipe,
    output: Path,
    *,
    engine: str,
    workers: int | None,
    master: str | None,
    file_format: str | None,
    seed: int | None,
    overwrite: bool,
    sign: Path | None,
    state_total: bool,
    as_json: bool,
    internal_report: Path | None,
) -> None:
    """Release a table that need not fit in memory, and say what was written."""
    from microagg.engines.evaluation.report_files import report_on_parts
    from microagg.engines.release_files import release_files
    from microagg.private.public_types import numbers_without_resolution
    from microagg.statements.exposure_text import TITLE, describe_exposure
    from microagg.statements.statement import printable
    from microagg.tables.phrases import columns_phrase, names_phrase

    if file_format not in (None, "parquet"):
        raise InputError(
            f"a table that is released in parts is written as Parquet, not as {file_format}. Leave --format out, or "
            "choose --engine local"
        )
    with shows_progress():
        made = release_files(
            data,
            recipe,
            output,
            engine=engine,
            workers=workers,
            master=master,
            seed=seed,
            overwrite=overwrite,
            sign=sign,
            state_total=state_total,
        )
    unreported: list[str] = []
    if internal_report is not None:
        place = internal_report
        unreported = write_internal_report(
            lambda: report_on_parts(data, output, place, recipe, internal=True, overwrite=overwrite), output
        )
    statement = made.statement.as_dict()
    if as_json:
        print_json(
            {
                "folder": str(output),
                "files": sorted(file.name for file in made.folder.iterdir()),
                "n_records": made.statement.n_records,
                "n_cells": made.n_cells,
                "information_loss": made.information_loss,
                "statement": statement,
            }
        )
    n_files = sum(file.name.startswith("table") for file in made.folder.iterdir())
    cells = f" in {made.n_cells} cells" if made.n_cells else ""
    files = "1 file" if n_files == 1 else f"{n_files} files"
    say(f"Wrote {output}: {made.statement.n_records} records{cells}, in {files}.")
    for count in made.statement.recounts:
        say(
            f"Counted on the written files together: every combination of {names_phrase(count.attributes)} occurs at "
            f"least {count.smallest} times."
        )
    exposed = describe_exposure(made.statement.exposure or ())
    if exposed:
        say(TITLE)
    for sentence in exposed:
        say(f"  - {printable(sentence)}")
    for guarantee in made.statement.guarantees:
        if guarantee.private:
            say(f"{guarantee.title}, unit: {guarantee.unit}. Protects {guarantee.target}.")
    if made.information_loss is not None:
        say(f"Information loss: {made.information_loss:.4f} % (within cells, in the space they were formed in)")
    for remark in statement["remarks"]:
        say(f"Note: {remark}")
    for sentence in made.words:
        say(sentence)
    if recipe.entry.is_private:
        unrounded = numbers_without_resolution(recipe)
        if unrounded:
            say(
                f"Note: {columns_phrase(unrounded)} published unrounded: rounding only when every input is whole would "
                "leak that fact. To publish whole numbers, add to the declaration: resolution = 1"
            )
    else:
        say(
            "Note: the receipt does not say which record each row stands for; 'microagg report' makes the report of a "
            "table in parts"
        )
    say(f"What is and is not promised: {output / 'statement.txt'}")
    say(f"Keep, do not publish: {made.receipt}")
    if internal_report is not None and not unreported:
        say(f"Keep, do not publish: {internal_report}")
    for warning in unreported:
        say(f"warning: {warning}")
    if unreported:
        raise typer.Exit(NO_REPORT)
