"""``microagg release``: from a file and a recipe to a verified release."""

from __future__ import annotations

from collections.abc import Mapping
from pathlib import Path
from typing import TYPE_CHECKING, Annotated, Any

import typer

from microagg.cli.batch.time_limit import with_searches_in_time
from microagg.cli.input_flags import InputFlags, takes_input_flags
from microagg.cli.streams.destination import Destination
from microagg.cli.streams.sources import Sources, takes_sources
from microagg.cli.terminal import (
    NO_REPORT,
    ends_in_time,
    explains_errors,
    hears_report_warnings,
    if_interrupted,
    print_json,
    say,
    shows_progress,
    write_internal_report,
)
from microagg.errors import InputError
from microagg.privacy.ways import Way
from microagg.tables.formats.registry import writable_names

if TYPE_CHECKING:
    from microagg.releases.folder.delivery import Delivery

__all__ = ["release"]

LOSS_OF_CELLS = (
    "within cells, in the space they were formed in, before values are chosen and rounded; SSE_SST in reports and "
    "evaluations is of the published values"
)
_SHOWN = 12  # blocks of attributes that are listed one by one


@explains_errors
@ends_in_time
@takes_input_flags
@takes_sources("data")
def release(
    data: Annotated[
        Path,
        typer.Argument(
            help="The table to protect: a file, - for standard input, the address of a table in a database; in parts "
            "also a folder or a pattern in quotes."
        ),
    ],
    recipe: Annotated[Path, typer.Option("--recipe", "-r", help="The recipe (see 'microagg init').")],
    output: Annotated[
        str,
        typer.Option(
            "--output",
            "-o",
            help="The folder to write; must not exist. With --papers: - for standard output, or a table's address.",
        ),
    ],
    k: Annotated[int | None, typer.Option(help="Overrides the recipe's k.")] = None,
    method: Annotated[str | None, typer.Option(help="Overrides the recipe's method.")] = None,
    epsilon: Annotated[
        float | None, typer.Option(help="Overrides privacy.epsilon, for differentially private methods.")
    ] = None,
    l_: Annotated[
        int | None, typer.Option("--l", help="Different confidential values in every class: sets protect's distinct_l.")
    ] = None,
    t: Annotated[
        float | None, typer.Option("--t", help="How far a class may differ from the table: sets protect's t_closeness.")
    ] = None,
    rearrange: Annotated[str | None, typer.Option(help=f"Overrides rearrange.by: {', '.join(Way)}.")] = None,
    standardize: Annotated[str | None, typer.Option(help="Overrides space.standardize.")] = None,
    missing: Annotated[str | None, typer.Option(help="Overrides missing.policy.")] = None,
    order: Annotated[str | None, typer.Option(help="Overrides output.order: shuffled or kept.")] = None,
    file_format: Annotated[
        str | None,
        typer.Option("--format", help=f"{', '.join(writable_names())}; default: the input's."),
    ] = None,
    engine: Annotated[
        str,
        typer.Option(
            help="local: in memory. outofcore: in neighbouring parts, for tables of any size. spark: the same, by a "
            "cluster. auto: by size."
        ),
    ] = "auto",
    workers: Annotated[int | None, typer.Option(help="Processes that share the work, out of core or by Spark.")] = None,
    master: Annotated[
        str | None, typer.Option(help="The Spark cluster: spark://host:7077, yarn ...; default: this machine.")
    ] = None,
    seed: Annotated[int | None, typer.Option(help="Fix chance, for research; never for publication.")] = None,
    report: Annotated[
        bool, typer.Option("--report/--no-report", help="Write report.html and report.json, public, into the folder.")
    ] = True,
    internal_report: Annotated[
        Path | None,
        typer.Option(
            "--internal-report", help="Write the internal report, too, to this page outside of the folder; keep it."
        ),
    ] = None,
    sign: Annotated[
        Path | None, typer.Option(help="A private key (see 'microagg keygen'): readers can see who published.")
    ] = None,
    state_total: Annotated[
        bool,
        typer.Option(
            "--state-total", help="The statement says what the file's releases spent (see 'microagg budget')."
        ),
    ] = False,
    papers: Annotated[
        Path | None,
        typer.Option(
            help="The folder for statement, manifest, report and a copy of the table, if the table itself goes to "
            "standard output or into a database."
        ),
    ] = None,
    overwrite: Annotated[bool, typer.Option(help="Replace an existing folder, or table that microagg wrote.")] = False,
    as_json: Annotated[bool, typer.Option("--json", help="Print the result as JSON.")] = False,
    *,
    flags: InputFlags,
    sources: Sources,
) -> None:
    """Make a release: table, statement, manifest and report, with the guarantee recounted on the written file."""
    if_interrupted(lambda: "interrupted; nothing was written")
    from microagg.cli.parts.release import release_in_parts
    from microagg.engines.release_files import choose_engine, only_file
    from microagg.privacy.guarantee import DRAWN
    from microagg.privacy.promises.drawn import sources_words
    from microagg.private.base import own_columns_of
    from microagg.private.public_types import numbers_without_resolution
    from microagg.recipe.recipe import Recipe
    from microagg.releases.account.spending import Spending
    from microagg.releases.folder.atomic import refuse_existing
    from microagg.releases.folder.json_files import read_json
    from microagg.releases.folder.report import REPORT, refuse_internal_place
    from microagg.releases.folder.signing import require_key
    from microagg.releases.input import read_table
    from microagg.releases.pipeline import release as make_release
    from microagg.releases.release import FILES, STATEMENT
    from microagg.releases.strategy import strategy_of
    from microagg.statements.exposure_text import TITLE, describe_exposure
    from microagg.statements.statement import printable
    from microagg.tables.formats.declared_missing import declared_missing_phrase
    from microagg.tables.formats.registry import format_of, writable_format
    from microagg.tables.labels import has_labels
    from microagg.tables.phrases import columns_phrase, names_phrase

    destination = Destination.of(output, papers, as_json=as_json)
    folder = destination.folder
    refuse_existing(folder, overwrite, FILES)
    if sign is not None:
        require_key(sign)
    if internal_report is not None:
        refuse_internal_place(internal_report, folder, overwrite=overwrite)
    before = _manifest_of(folder)
    if_interrupted(lambda: _told_of_interrupt(folder, before))
    overrides: dict[str, Any] = {
        "k": k,
        "method": method,
        "privacy.epsilon": epsilon,
        "space.standardize": standardize,
        "missing.policy": missing,
        "output.order": order,
    }
    chosen = flags.apply(Recipe.load(recipe)).changed(
        {key: value for key, value in overrides.items() if value is not None}
    )
    chosen = chosen.protecting(distinct_l=l_, t_closeness=t)
    if rearrange is not None:
        chosen = chosen.changed({"rearrange.by": rearrange})
    chosen = with_searches_in_time(chosen)
    taken, why = choose_engine(data, chosen, engine)
    if taken != "local":
        if why:
            say(why)
        if not (destination.is_folder_alone and sources.is_file(data)):
            raise InputError(
                "a table in parts comes from files and goes into a folder: leave out - and addresses, or choose "
                "--engine local"
            )
        release_in_parts(
            data,
            chosen,
            folder,
            engine=taken,
            workers=workers,
            master=master,
            file_format=file_format,
            seed=seed,
            overwrite=overwrite,
            sign=sign,
            state_total=state_total,
            as_json=as_json,
            internal_report=internal_report,
        )
        return
    if workers is not None or master is not None:
        raise InputError("--workers and --master belong to --engine outofcore or spark; leave them out")
    if data.is_dir():
        data = only_file(data)
    source_name = format_of(data).name
    usual = source_name if source_name in writable_names() and sources.is_file(data) else "csv"
    target = writable_format(file_format or destination.usual_format or usual)
    strategy_of(chosen).require_room_in(target)  # before anything is spent
    Spending.of(data, chosen, seed=seed, stated=state_total)  # before the file is read, which may take long
    if chosen.entry.is_private and not sources.is_file(data):
        say("Note: no ledger is kept of what is no file: what this release spends is recorded nowhere")
    with shows_progress(), destination.delivery(sources.database_of(data), overwrite=overwrite) as delivery:
        table = read_table(data, chosen, as_text=target.is_text and delivery is None)
        made = make_release(table, chosen, seed=seed, source=data, state_total=state_total)
        if_interrupted(lambda: _told_of_interrupt(folder, before, delivery))
        with hears_report_warnings() as unreported:
            made.save(folder, format=target.name, report=report, overwrite=overwrite, sign=sign, to=delivery)
        if internal_report is not None:
            kept = made
            unreported += write_internal_report(
                lambda: kept.report(internal_report, internal=True, overwrite=overwrite), folder
            )
    destination.send(folder, f"table.{target.name}")
    statement, written = made.statement, read_json(folder / STATEMENT)
    if as_json:
        print_json(
            {
                "folder": str(folder),
                "files": sorted(file.name for file in folder.iterdir()),
                "n_records": statement.n_records,
                "n_cells": made.n_cells,
                "information_loss": made.information_loss,
                "statement": written,
            }
        )
    declared_missing = declared_missing_phrase(data)
    if declared_missing:
        say(f"Note: {declared_missing}")
    if not target.keeps_labels and has_labels(table):
        keeping = " or ".join(writable_names(keeping_labels=True))
        say(f"Note: {target.name} cannot hold the labels of the input; --format {keeping} keeps them")
    if chosen.entry.is_private:
        unrounded = numbers_without_resolution(chosen) if own_columns_of(chosen) is None else ()
        if unrounded:
            say(
                f"Note: {columns_phrase(unrounded)} published unrounded: rounding only when every input is whole would "
                "leak that fact. To publish whole numbers, add to the declaration: resolution = 1"
            )
    cells = f" in {made.n_cells} cells" if made.n_cells else ""
    what = "records" if own_columns_of(chosen) is None else "statistics"
    say(f"Wrote {destination.words()}: {statement.n_records} {what}{cells}.")
    for count in written["recounts"][:_SHOWN]:
        say(
            f"Counted on the written file: every combination of {names_phrase(count['attributes'])} occurs at least "
            f"{count['smallest']} times."
        )
    if len(written["recounts"]) > _SHOWN:
        least = min(count["smallest"] for count in written["recounts"])
        say(
            f"... and the same for {len(written['recounts']) - _SHOWN:,} more blocks of attributes, at least {least} "
            "times."
        )
    for sentence in _counted_requirements(written):
        say(printable(sentence))
    exposed = describe_exposure(written.get("exposure", ()))
    if exposed:
        say(TITLE)
    for sentence in exposed:
        say(f"  - {printable(sentence)}")
    for guarantee in statement.guarantees:
        if guarantee.private:
            say(f"{guarantee.title}, unit: {guarantee.unit}. Protects {guarantee.target}.")
    drawn = next((guarantee for guarantee in statement.guarantees if guarantee.model == DRAWN), None)
    if drawn is not None:
        whence = sources_words(drawn.parameters, units=drawn.counts_units)
        say(f"Every published record was drawn from {whence}; this is not k-anonymity.")
    if not statement.guarantees:
        say("No guarantee is stated for this method.")
    if made.information_loss is not None:
        say(f"Information loss: {made.information_loss:.4f} % ({LOSS_OF_CELLS})")
    for remark in written["remarks"]:
        say(f"Note: {remark}")
    for line in made.spending.words:
        say(line)
    say(f"What is and is not promised: {folder / 'statement.txt'}")
    if report and (folder / REPORT).is_file():
        say(f"To read, print and sign: {folder / 'report.html'}")
    say(f"Keep, do not publish: {made.receipt_path(folder)}")
    if internal_report is not None and internal_report.is_file():
        say(f"Keep, do not publish: {internal_report}")
    for warning in unreported:
        say(f"warning: {warning}")
    if unreported:
        raise typer.Exit(NO_REPORT)


def _counted_requirements(statement: Mapping[str, Any]) -> list[str]:
    """What was counted of each requirement on confidential values, in a sentence."""
    from microagg.privacy.requirement import REQUIREMENTS, Requirement
    from microagg.statements.requirements import RequirementCount

    sentences = []
    for one in map(RequirementCount.from_dict, statement.get("requirements", ())):
        title = Requirement(REQUIREMENTS[one.requirement], one.attribute, one.bound, one.rarest).title
        sentences.append(f"Counted on the written file: {title} holds; {one.description}.")
    return sentences


def _manifest_of(folder: Path) -> bytes | None:
    from microagg.releases.release import MANIFEST

    try:
        return (folder / MANIFEST).read_bytes()
    except OSError:
        return None


def _told_of_interrupt(output: Path, before: bytes | None, delivery: Delivery | None = None) -> str:
    """What lies at the output path decides: the release comes there whole, in one step; then, what the database did."""
    if _manifest_of(output) == before:
        return "interrupted; nothing was written"
    if delivery is not None:
        return f"interrupted. {delivery.end(output.name)}"
    return f"interrupted, but the release was complete: it is in {output}"
