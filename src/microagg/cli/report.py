"""``microagg report``: a page about any released table that a person can read, print and sign."""

from __future__ import annotations

from pathlib import Path
from typing import Annotated

import typer

from microagg.cli.input_flags import InputFlags, takes_input_flags
from microagg.cli.streams.sources import takes_sources
from microagg.cli.terminal import (
    Aligned,
    Key,
    ReceiptFile,
    ends_in_time,
    explains_errors,
    print_json,
    say,
    shows_progress,
)

__all__ = ["report"]


@explains_errors
@ends_in_time
@takes_input_flags
@takes_sources("original", "released")
def report(
    original: Annotated[
        Path, typer.Argument(help="The table that was protected; of a release in parts also a folder or a pattern.")
    ],
    released: Annotated[
        Path, typer.Argument(help="The released table, of any tool, or the folder of a release; -, or an address.")
    ],
    output: Annotated[
        Path | None,
        typer.Option(
            "--output",
            "-o",
            help="The page to write; its numbers go beside it as JSON. Default for an internal report on a folder: "
            "beside it.",
        ),
    ] = None,
    recipe: Annotated[
        Path | None,
        typer.Option("--recipe", "-r", help="What the columns are; the folder of a release brings its own."),
    ] = None,
    internal: Annotated[
        bool, typer.Option("--internal", help="Add exact figures of the original, of cells and of records.")
    ] = False,
    full: Annotated[bool, typer.Option("--full", help="Take all default measures on all records.")] = False,
    aligned: Aligned = None,
    key: Key = None,
    receipt: ReceiptFile = None,
    sign: Annotated[
        Path | None, typer.Option(help="The key that a signed release is signed with again, as its report is new.")
    ] = None,
    pdf: Annotated[
        Path | None, typer.Option("--pdf", help="Print the page into this file, too, by a browser of this machine.")
    ] = None,
    overwrite: Annotated[bool, typer.Option(help="Replace an existing report.")] = False,
    as_json: Annotated[bool, typer.Option("--json", help="Print the names of the files as JSON.")] = False,
    *,
    flags: InputFlags,
) -> None:
    """Write a report on a released table: public by default, or internal, for the data holder."""
    from microagg.cli.parts.evaluate import is_in_parts, refuse_for_parts
    from microagg.engines.evaluation.report_files import report_on_parts
    from microagg.errors import InputError
    from microagg.recipe.recipe import Recipe
    from microagg.releases.folder.pdf import find_browser, refuse_pdf_place
    from microagg.releases.folder.places import refuse_place
    from microagg.releases.folder.report import report_on_tables
    from microagg.releases.folder.saved import SavedRelease
    from microagg.releases.input import read_released, read_table

    if output is not None and str(output) == "-":
        refuse_place(output, what="report")
    if recipe is None and not released.is_dir():
        raise InputError("to report on a file, say what its columns are: --recipe recipe.toml")
    if output is None:
        if not (internal and released.is_dir()):
            raise InputError("say where to write the page: --output report.html")
        output = released.absolute().with_name(f"{released.absolute().name}.internal.html")
    if receipt is not None and (aligned is not None or key is not None):
        raise InputError("--receipt shows which rows belong together: leave out --aligned, --shuffled and --key")
    browser = None
    if pdf is not None:
        refuse_pdf_place(pdf, overwrite=overwrite)
        browser = find_browser()
    given = None if recipe is None else Recipe.load(recipe)
    chosen = flags.apply(SavedRelease.open(released).recipe if given is None or released.is_dir() else given)
    if is_in_parts(released):
        refuse_for_parts(released, aligned=aligned, receipt=receipt)
        if sign is not None:
            raise InputError("a report by itself is not signed: leave out --sign")
        with shows_progress():
            report_on_parts(
                original, released, output, chosen, internal=internal, full=full, key=key, overwrite=overwrite
            )
        _finish(output, internal, pdf, browser, as_json=as_json)
        return
    with shows_progress():
        report_on_tables(
            read_table(original, chosen),
            released,
            chosen,
            output,
            read=lambda path: read_released(path, chosen, say),
            internal=internal,
            full=full,
            source=original,
            receipt=receipt,
            aligned=aligned,
            key=key,
            overwrite=overwrite,
            sign=sign,
        )
    _finish(output, internal, pdf, browser, as_json=as_json)


def _finish(output: Path, internal: bool, pdf: Path | None, browser: Path | None, *, as_json: bool) -> None:
    """Say what was written, and print it if that is wanted."""
    from microagg.releases.folder.pdf import print_page

    say(f"Wrote {output} and, with the same numbers, {output.with_suffix('.json')}.")
    if pdf is not None and browser is not None:
        print_page(output, pdf, browser=browser, readable=not internal)
        say(f"Printed {pdf}.")
    if internal:
        say("INTERNAL: keep them, do not publish them.")
    if as_json:
        files = {
            "page": str(output),
            "numbers": str(output.with_suffix(".json")),
            "pdf": None if pdf is None else str(pdf),
        }
        print_json({**files, "internal": internal})
