"""``microagg init``: draft a recipe for a table."""

from __future__ import annotations

from pathlib import Path
from typing import Annotated

import typer

from microagg.cli.input_flags import InputFlags, takes_input_flags
from microagg.cli.terminal import explains_errors, print_json, say
from microagg.tables.formats.registry import registered_formats

__all__ = ["init"]


@explains_errors
@takes_input_flags
def init(
    data: Annotated[Path, typer.Argument(help=f"The table: {', '.join(one.name for one in registered_formats())}.")],
    output: Annotated[Path, typer.Option("--output", "-o", help="Where the recipe goes.")] = Path("recipe.toml"),
    k: Annotated[int, typer.Option(help="Records that must share each published combination.")] = 5,
    overwrite: Annotated[bool, typer.Option(help="Replace an existing recipe.")] = False,
    as_json: Annotated[bool, typer.Option("--json", help="Print the guesses as JSON.")] = False,
    *,
    flags: InputFlags,
) -> None:
    """Guess roles, kinds and bounds of a table's columns into a commented recipe to edit."""
    import json

    from microagg.recipe.output import ask_about_formulas
    from microagg.recipe.recipe import Recipe
    from microagg.releases.folder.atomic import refuse_existing, write_file_whole
    from microagg.schema.draft import draft_for
    from microagg.schema.infer import decisions_in
    from microagg.tables.formats.declared_missing import declared_missing_phrase
    from microagg.tables.phrases import columns_phrase

    refuse_existing(output, overwrite)
    draft = draft_for(data, flags.dialect_for_draft(), set(flags.given), k=k, ask_more=ask_about_formulas)
    looked, guesses, text = draft.looked, draft.guesses, draft.text
    if draft.has_quasi_identifiers:
        Recipe.loads(text)  # a draft that could not be used would be worse than none
    else:
        say("no column looks like a quasi-identifier: declare at least one before a release")
    declared_missing = declared_missing_phrase(data)
    if declared_missing:
        say(f"Note: {declared_missing}")
    output.parent.mkdir(parents=True, exist_ok=True)
    write_file_whole(output, text)
    for one in looked.decisions:
        chosen = "undecided" if one.value is None else json.dumps(one.value, ensure_ascii=False)
        say(f"[input] {one.key}: {chosen} ({one.reason})")
    if looked.dialect.missing:
        say(f"[input] missing: codes of {columns_phrase(list(looked.dialect.missing))}")
    say(f"Read {draft.frame.n_records} records of {len(guesses)} columns.")
    say(f"Wrote {output}: {len(guesses)} columns guessed, {decisions_in(text)} decisions marked DECIDE.")
    say(f"Read and edit it, then: microagg release {data} -r {output} -o release/")
    if as_json:
        print_json(
            {
                "recipe": str(output),
                "decisions": decisions_in(text),
                "input": [{"key": one.key, "value": one.value, "reason": one.reason} for one in looked.decisions],
                "guesses": [
                    {
                        "column": guess.name,
                        "role": guess.role,
                        "kind": guess.kind,
                        "reasons": guess.reasons,
                        "decide": guess.decide,
                        "n_missing": guess.n_missing,
                    }
                    for guess in guesses
                ],
            }
        )
