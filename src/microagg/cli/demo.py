"""``microagg demo``: the whole way through on generated data, offline."""

from __future__ import annotations

from pathlib import Path
from typing import Annotated

import typer

from microagg.cli.terminal import explains_errors, say, shows_progress

__all__ = ["demo"]

FILES = ("survey.csv", "recipe.toml", "release", "release.")
RECIPE = """\
# The demonstration's recipe: a generated survey, nobody in it exists.
method = "mdav"
k = 5

[missing]
policy = "own_cell"
small = "merge_small"

[strata]
by = ["region"]

[attributes]
person_id = "identifier"
income = "confidential"
health = "confidential"

[attributes.age]
role = "quasi_identifier"
kind = "numeric"
bounds = [18, 110]

[attributes.region]
role = "quasi_identifier"
kind = "nominal"

[attributes.education]
role = "quasi_identifier"
kind = "ordinal"
categories = ["primary", "secondary", "vocational", "bachelor", "master"]

[attributes.occupation]
role = "quasi_identifier"
kind = "nominal"
taxonomy = { clerk = "office", manager = "office", salesperson = "office", nurse = "care", teacher = "care", \
farmer = "hands", technician = "hands", office = "work", care = "work", hands = "work" }

[attributes.hours]
role = "quasi_identifier"
kind = "numeric"
"""


@explains_errors
def demo(
    output: Annotated[Path, typer.Option("--output", "-o", help="The folder for the demonstration.")] = Path(
        "demo-output"
    ),
    overwrite: Annotated[bool, typer.Option(help="Replace an existing folder.")] = False,
) -> None:
    """Generate a survey, release it with MDAV, check the written file, and show what to look at."""
    from microagg.cli.terminal import read_for
    from microagg.releases.check import check_release
    from microagg.releases.pipeline import release
    from microagg.releases.recipe import Recipe
    from microagg.releases.storage import whole_or_nothing
    from microagg.tables.generated import generate_survey
    from microagg.tables.write import write_table

    say("A generated survey of 2000 people (nobody in it exists), with missing values, five regions, a taxonomy.")
    with whole_or_nothing(output.absolute(), overwrite=overwrite, ours=FILES) as folder:
        write_table(generate_survey(2_000), folder / "survey.csv")
        (folder / "recipe.toml").write_text(RECIPE, encoding="utf-8")
        recipe = Recipe.load(folder / "recipe.toml")
        table = read_for(folder / "survey.csv", recipe)
        say("\nHow much is lost at which k (100 SSE/SST in the space of the cells):")
        with shows_progress():
            for k in (3, 5, 10, 25):
                made = release(table, recipe.changed({"k": k}))
                say(f"    k = {k:>2}   {made.n_cells:>4} cells   loss {made.information_loss:6.2f}")
            release(table, recipe, source=folder / "survey.csv").save(folder / "release", report=True)
        findings = check_release(folder / "release")
    say("\nThe release at k = 5, checked on the written files:")
    for finding in findings:
        say(f"    {'ok  ' if finding.holds else 'FAIL'}  {finding.name}: {finding.detail}")
    say(f"\nThe first published records ({output / 'release' / 'table.csv'}):")
    with (output / "release" / "table.csv").open(encoding="utf-8") as file:
        for _ in range(6):
            say("    " + file.readline().rstrip())
    say(f"\nLook at  {output / 'recipe.toml'}             what was decided")
    say(f"         {output / 'release' / 'statement.txt'}   what is promised, and what is not")
    say(f"         {output / 'release' / 'report.html'}     the same to read in a browser, print and sign")
    say(f"         {output / 'release' / 'manifest.json'}   what was run, with the hashes of the files")
    say(f"Repeat   microagg release {output / 'survey.csv'} -r {output / 'recipe.toml'} -o again/")
