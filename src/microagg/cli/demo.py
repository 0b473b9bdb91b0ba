"""``microagg demo``: the whole way through on generated data, offline."""

from __future__ import annotations

from pathlib import Path
from typing import TYPE_CHECKING, Annotated, Any

import typer

from microagg.cli.terminal import explains_errors, print_json, say, shows_progress

if TYPE_CHECKING:
    from microagg.recipe.recipe import Recipe

__all__ = ["demo"]

FILES = (
    "survey.csv",
    "recipe.toml",
    "private.toml",
    *("mdav", "near_optimal", "guided", "private"),
    *("mdav.", "near_optimal.", "guided.", "private."),
    "frontier",
)
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


PRIVATE_RECIPE = """\
# Differential privacy: two distributions, epsilon-DP of the original records. Bounds are what everybody knows.
method = "dp_individual_ranking"
k = 50

[privacy]
epsilon = 1.0
clamp = true             # a few incomes lie above the public bound

[attributes]
person_id = "identifier"
age = "identifier"       # dropped, as are the others: what is not published needs no budget
region = "identifier"
education = "identifier"
occupation = "identifier"
health = "identifier"

[attributes.income]
role = "quasi_identifier"
kind = "numeric"
bounds = [0, 150000]
resolution = 100

[attributes.hours]
role = "quasi_identifier"
kind = "numeric"
bounds = [0, 80]
resolution = 1
"""
# What is tried beside the recipe: the changes it makes, and what for.
VARIANTS: dict[str, tuple[dict[str, Any], str]] = {
    "mdav": ({}, "MDAV: k-anonymous"),
    "near_optimal": ({"method": "near_optimal"}, "near-optimal cells: k-anonymous, less lost"),
    "guided": (
        {
            "space.prediction.target": "health",
            "aggregate.form": "sampled",
            "aggregate.paired_with": ["health"],
            "attributes.health": {"role": "confidential", "kind": "nominal"},
        },
        "guided by predictions of health, records sampled: for learning",
    ),
}
SWEEP = {"sweep.methods": ["mdav", "near_optimal", "pcp"], "sweep.k": [3, 5, 10], "sweep.repeats": 1}


@explains_errors
def demo(
    output: Annotated[Path, typer.Option("--output", "-o", help="The folder for the demonstration.")] = Path(
        "demo-output"
    ),
    overwrite: Annotated[bool, typer.Option(help="Replace an existing folder.")] = False,
    as_json: Annotated[bool, typer.Option("--json", help="Print what was written, and what holds, as JSON.")] = False,
) -> None:
    """Generate a survey; release it k-anonymously, guided and privately; check, judge, compare; show where to look."""
    from microagg.recipe.recipe import Recipe
    from microagg.releases.folder.atomic import whole_or_nothing
    from microagg.releases.folder.places import refuse_place
    from microagg.tables.reference.generated import generate_survey
    from microagg.tables.write import write_table

    say("A generated survey of 2000 people (nobody in it exists), with missing values, five regions, a taxonomy.")
    refuse_place(output)
    with whole_or_nothing(output.absolute(), overwrite=overwrite, ours=FILES) as folder:
        write_table(generate_survey(2_000), folder / "survey.csv")
        (folder / "recipe.toml").write_text(RECIPE, encoding="utf-8")
        (folder / "private.toml").write_text(PRIVATE_RECIPE, encoding="utf-8")
        recipe, private = Recipe.load(folder / "recipe.toml"), Recipe.load(folder / "private.toml")
        with shows_progress():
            holds = _release_all(folder, recipe, private)
            _judge(folder, recipe)
    with shows_progress():
        _sweep(output, recipe)
    say(f"\nThe first published records ({output / 'mdav' / 'table.csv'}):")
    with (output / "mdav" / "table.csv").open(encoding="utf-8") as file:
        for _ in range(4):
            say("    " + file.readline().rstrip())
    say(f"\nLook at  {output / 'mdav' / 'report.html'}      the report, to read, print and sign (one per release)")
    say(f"         {output / 'private' / 'statement.txt'}   what differential privacy promises and what it does not")
    say(f"         {output / 'frontier' / 'which.txt'}     which release to take, with the command for each")
    say(f"         {output / 'recipe.toml'}             what was decided")
    say(f"Repeat   microagg release {output / 'survey.csv'} -r {output / 'recipe.toml'} -o again/")
    if as_json:
        print_json({"folder": str(output), "releases": holds, "frontier": str(output / "frontier")})


def _release_all(folder: Path, recipe: Recipe, private: Recipe) -> dict[str, bool]:
    """Make, write and check the four releases; whether each holds."""
    from microagg.releases.check.check import check_release
    from microagg.releases.input import read_table
    from microagg.releases.pipeline import release

    made = {name: (recipe.changed(changes), why) for name, (changes, why) in VARIANTS.items()}
    made["private"] = (private, "individual ranking: 1.0-differentially private for the original records")
    holds = {}
    say("\nFour releases of it, each checked on its written files:")
    for name, (chosen, why) in made.items():
        table = read_table(folder / "survey.csv", chosen)
        done = release(table, chosen, source=folder / "survey.csv")
        done.save(folder / name, report=True)
        findings = check_release(folder / name)
        failed = [finding.name for finding in findings if not finding.holds]
        holds[name] = not failed
        loss = "" if done.information_loss is None else f"; information loss {done.information_loss:.1f} %"
        say(f"    {name + '/':<14} {'FAIL: ' + ', '.join(failed) if failed else 'ok'}   {why}{loss}")
    return holds


def _judge(folder: Path, recipe: Recipe) -> None:
    """Utility and risk of the two k-anonymous releases, side by side."""
    from microagg.evaluation.compare import compare
    from microagg.evaluation.evaluate import evaluate
    from microagg.releases.input import read_table

    shown = ("JSD", "correlation_difference", "pMSE", "count_query_error", "k", "k_prime", "distance_to_closest")
    original = read_table(folder / "survey.csv", recipe)
    found = {
        name: evaluate(original, read_table(folder / name / "table.csv", recipe), recipe, measures=list(shown))
        for name in ("mdav", "near_optimal")
    }
    say("\nJudged against the original (* is better):")
    for line in str(compare(found)).splitlines():
        if line.strip() and not line.startswith("Note"):
            say("    " + line)


def _sweep(folder: Path, recipe: Recipe) -> None:
    """A small frontier."""
    from microagg.frontier.sweep import sweep
    from microagg.frontier.text import frontier_text
    from microagg.releases.input import read_table

    chosen = recipe.changed(SWEEP)
    table = read_table(folder / "survey.csv", chosen)
    frontier = sweep(table, chosen, folder=folder / "frontier", source=folder / "survey.csv")
    say("\nRisk against utility of nine recipes:")
    for line in frontier_text(frontier).splitlines():
        say("    " + line if line else "")
