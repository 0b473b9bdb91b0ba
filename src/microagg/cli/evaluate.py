"""``microagg evaluate``: measure utility and risk of a released file."""

from __future__ import annotations

from pathlib import Path
from typing import Annotated, Any

import typer

from microagg.cli.terminal import explains_errors, print_json, read_for, say

__all__ = ["evaluate"]


@explains_errors
def evaluate(
    original: Annotated[Path, typer.Argument(help="The table that was protected.")],
    released: Annotated[Path, typer.Argument(help="The released table (or the release's folder).")],
    recipe: Annotated[Path, typer.Option("--recipe", "-r", help="What the columns are.")],
    aligned: Annotated[
        bool | None,
        typer.Option(
            "--aligned/--shuffled",
            help="Whether row i of both tables is the same record; by default found out from unchanged columns.",
        ),
    ] = None,
    target: Annotated[
        str | None, typer.Option(help="An attribute to predict by a model trained on the release.")
    ] = None,
    test: Annotated[
        Path | None, typer.Option(help="Records that had no part in the release, to test the model on.")
    ] = None,
    splits: Annotated[
        int | None, typer.Option(help="Instead of --test: release a part by the recipe, test on the rest, so often.")
    ] = None,
    model: Annotated[str, typer.Option(help="gradient_boosting or logistic_regression.")] = "gradient_boosting",
    as_json: Annotated[bool, typer.Option("--json", help="Print the measures as JSON.")] = False,
) -> None:
    """Measure utility and risk of a released table against the original."""
    from microagg.errors import InputError
    from microagg.evaluation.evaluate import evaluate as judge
    from microagg.evaluation.learning import repeated_splits
    from microagg.evaluation.measure import Evaluation
    from microagg.evaluation.utility.training import learning_measures
    from microagg.releases.pipeline import release as make_release
    from microagg.releases.recipe import Recipe

    chosen = Recipe.load(recipe)
    if target is not None and (test is None) is (splits is None):
        raise InputError("to predict a --target, give either --test records.csv or --splits 10")
    if target is None and (test is not None or splits is not None):
        raise InputError("--test and --splits are for --target: say which attribute to predict")
    before = read_for(original, chosen)
    after = read_for(_table_in(released), chosen)
    options: dict[str, Any] = {"aligned": aligned, "model": model}
    if chosen.space.dependence is not None:
        options["lambda_"] = chosen.space.dependence.lambda_
    if test is not None:
        options |= {"target": target, "test": read_for(test, chosen)}
    found = judge(before, after, chosen, **options)
    if target is not None and splits is not None:
        learning = repeated_splits(
            before,
            chosen.schema,
            target,
            lambda part: make_release(part, chosen).table,
            n_splits=splits,
            model=model,
        )
        repeated = learning_measures(learning, target, "a quarter of the records, left out of the release")
        found = Evaluation((*found.measures, *repeated))
    if as_json:
        print_json(found.as_dict())
        return
    for measure in found:
        value = "-" if measure.value is None else f"{measure.value:.4f}"
        spread = "" if measure.spread is None else f" +- {measure.spread:.4f}"
        typer.echo(f"{measure.name:<28} {value}{spread}  ({measure.better} is better)")
        if measure.note:
            say(f"Note: {measure.name}: {measure.note}")


def _table_in(path: Path) -> Path:
    """The table of a release folder, or the file itself."""
    if not path.is_dir():
        return path
    from microagg.errors import InputError

    tables = sorted(path.glob("table.*"))
    if len(tables) != 1:
        raise InputError(f"{path.name!r} is not a release: it has {len(tables)} tables")
    return tables[0]
