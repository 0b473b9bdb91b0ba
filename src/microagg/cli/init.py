"""``microagg init``: draft a recipe for a table."""

from __future__ import annotations

from pathlib import Path
from typing import Annotated

import typer

from microagg.cli.terminal import explains_errors, print_json, say

__all__ = ["init"]


@explains_errors
def init(
    data: Annotated[Path, typer.Argument(help="The table: csv, parquet, feather, sav, dta, sas7bdat or xlsx.")],
    output: Annotated[Path, typer.Option("--output", "-o", help="Where the recipe goes.")] = Path("recipe.toml"),
    k: Annotated[int, typer.Option(help="Records that must share each published combination.")] = 5,
    overwrite: Annotated[bool, typer.Option(help="Replace an existing recipe.")] = False,
    as_json: Annotated[bool, typer.Option("--json", help="Print the guesses as JSON.")] = False,
) -> None:
    """Guess roles, kinds and bounds of a table's columns into a commented recipe to edit."""
    from microagg.releases.output_choice import ask_about_formulas
    from microagg.releases.recipe import Recipe
    from microagg.releases.storage import refuse_existing, write_file_whole
    from microagg.schema.infer import draft_recipe, guess_schema
    from microagg.tables.codes import columns_with_leading_zeros
    from microagg.tables.frames import Frame
    from microagg.tables.read import read_table

    refuse_existing(output, overwrite)
    frame = Frame.wrap(read_table(data))
    guesses = guess_schema(frame, codes=columns_with_leading_zeros(data))
    text = draft_recipe(guesses, table_name=data.name, n_records=frame.n_records, k=k)
    text += ask_about_formulas(frame.table)
    if any(guess.role == "quasi_identifier" for guess in guesses):
        Recipe.loads(text)  # a draft that could not be used would be worse than none
    else:
        say("no column looks like a quasi-identifier: declare at least one before a release")
    output.parent.mkdir(parents=True, exist_ok=True)
    write_file_whole(output, text)
    say(f"Wrote {output}: {len(guesses)} columns guessed, {text.count('DECIDE: ')} decisions marked DECIDE.")
    say(f"Read and edit it, then: microagg release {data} -r {output} -o release/")
    if as_json:
        print_json(
            {
                "recipe": str(output),
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
