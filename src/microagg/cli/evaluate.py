"""``microagg evaluate``: measure utility and risk of a released file."""

from __future__ import annotations

from glob import glob
from pathlib import Path
from typing import Annotated, Any

import typer

from microagg.cli.input_flags import InputFlags, takes_input_flags
from microagg.cli.streams.sources import Sources, takes_sources
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

__all__ = ["evaluate"]


@explains_errors
@ends_in_time
@takes_input_flags
@takes_sources("original", "released", "holdout", "test")
def evaluate(
    original: Annotated[
        Path, typer.Argument(help="The table that was protected; of a release in parts also a folder or a pattern.")
    ],
    released: Annotated[
        list[Path],
        typer.Argument(
            help="The released table: the release's folder, a file, -, an address; if several, the best is marked."
        ),
    ],
    recipe: Annotated[
        Path | None,
        typer.Option("--recipe", "-r", help="What the columns are; the folder of a release brings its own."),
    ] = None,
    measures: Annotated[
        str | None,
        typer.Option(help="Names or groups of measures, separated by commas; 'utility', 'risk' or 'all'."),
    ] = None,
    aligned: Aligned = None,
    key: Key = None,
    receipt: ReceiptFile = None,
    rows: Annotated[
        str | None,
        typer.Option(
            help="What a row of a released file is: records, means or ranks (marginals); a release's folder knows."
        ),
    ] = None,
    holdout: Annotated[
        Path | None, typer.Option(help="Records of the same population that had no part in the release.")
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
    sample: Annotated[
        int | None,
        typer.Option(min=1, help="Of a release in parts, look at about so many records if it has more (200000)."),
    ] = None,
    seed: Annotated[int, typer.Option(min=0, help="Fixes samples and random queries.")] = 0,
    details: Annotated[bool, typer.Option("--details", help="Show each attribute's share too.")] = False,
    as_json: Annotated[bool, typer.Option("--json", help="Print the measures as JSON.")] = False,
    *,
    flags: InputFlags,
    sources: Sources,
) -> None:
    """Measure utility and risk of one or more released tables against the original."""
    from microagg.cli.parts.evaluate import is_in_parts, refuse_for_parts
    from microagg.engines.evaluation.evaluate_files import SAMPLE, evaluate_files
    from microagg.errors import InputError
    from microagg.evaluation.compare import compare
    from microagg.evaluation.evaluate import evaluate as judge
    from microagg.recipe.recipe import Recipe
    from microagg.releases.input import read_table

    if receipt is not None and (aligned is not None or key is not None or len(released) > 1):
        raise InputError(
            "--receipt belongs to one release and shows which rows belong together: leave out --aligned, --shuffled, "
            "--key "
            "and other releases"
        )
    tables = _name_files(released, sources)
    chosen = flags.apply(_recipe_of(tables) if recipe is None else Recipe.load(recipe))
    if target is not None and splits is None and test is None and holdout is None:
        raise InputError("to predict a --target, give either --test records.csv (or --holdout) or --splits 10")
    if target is None and (test is not None or splits is not None):
        raise InputError("--test and --splits are for --target: say which attribute to predict")
    if splits is not None and (test is not None or len(released) > 1):
        raise InputError("--splits makes releases of its own: it goes with one released table and without --test")
    parts = {name for name, path in tables.items() if is_in_parts(path)}
    for name in parts:
        refuse_for_parts(tables[name], rows, aligned, receipt, splits)
    if sample is not None and not parts:
        raise InputError("--sample is for releases in parts; other tables are measured whole: leave it out")
    options: dict[str, Any] = {"model": model, "lambda_": chosen.space.weight_of_d_y, "seed": seed}
    if measures is not None:
        options["measures"] = [word.strip() for word in measures.split(",")]
    others: dict[str, Any] = {"holdout": holdout}
    if target is not None and splits is None:
        options["target"], others["test"] = target, test
    whole = set(tables) - parts
    before = _read_whole(original, chosen) if whole else None
    held: dict[str, Any] = {name: read_table(file, chosen) for name, file in others.items() if file and whole}
    with shows_progress():
        found = {}
        for name, path in tables.items():
            if name in parts:
                more = options | others | {"key": key, "sample": SAMPLE if sample is None else sample}
                found[name] = evaluate_files(original, path, chosen, **more)
                continue
            how = _rows_of(path, original, chosen, rows, aligned, key, receipt)
            found[name] = judge(before, _read(path, chosen), chosen, **how, **options, **held)
        if target is not None and splits is not None:
            ((name, one),) = found.items()
            found[name] = _with_splits(one, before, chosen, target, splits, model)
    if len(found) == 1:
        (one,) = found.values()
        print_json(one.as_dict()) if as_json else typer.echo(one.as_text(details=details))
    else:
        side_by_side = compare(found)
        print_json(side_by_side.as_dict()) if as_json else typer.echo(side_by_side.as_text())
    if not as_json:
        for name, one in found.items():
            _say_notes(one, "" if len(found) == 1 else f"{name}: ")


def _read_whole(original: Path, recipe: Any) -> Any:
    """The original in memory, for releases of one file."""
    from microagg.errors import InputError
    from microagg.releases.input import read_table

    if original.is_dir() or (not original.exists() and glob(str(original))):  # noqa: PTH207
        raise InputError(f"{original.name!r} names several files, and a release of one file is compared with one")
    return read_table(original, recipe)


def _with_splits(found: Any, before: Any, recipe: Any, target: str, splits: int, model: str) -> Any:
    """The evaluation with what models learn from releases of parts of the records."""
    from microagg.evaluation.learning import repeated_splits
    from microagg.evaluation.result import Evaluation
    from microagg.evaluation.utility.training import learning_measures
    from microagg.releases.pipeline import release as make_release

    learning = repeated_splits(
        before,
        recipe.schema,
        target,
        lambda part: make_release(part, recipe).table,
        n_splits=splits,
        model=model,
    )
    repeated = learning_measures(learning, target, "a quarter of the records, left out of the release")
    return Evaluation((*found.measures, *repeated))


def _say_notes(found: Any, whose: str) -> None:
    """Each note once, with the measures it is on."""
    notes: dict[str, list[str]] = {}
    for measure in found:
        if measure.note:
            notes.setdefault(measure.note, []).append(measure.name)
    for note, names in notes.items():
        say(f"Note: {whose}{', '.join(names)}: {note}")


def _name_files(paths: list[Path], sources: Sources) -> dict[str, Path]:
    """Releases and files by a short name: that of the release's folder or of the file; by the path if names repeat."""
    names = [_short(path) if sources.is_file(path) else path.stem for path in paths]
    if len(set(names)) < len(names):
        names = [
            path.as_posix() if sources.is_file(path) else f"{path.stem} ({place})"  # it has no path that says anything
            for place, path in enumerate(paths, 1)
        ]
    return dict(zip(names, paths, strict=True))


def _short(path: Path) -> str:
    if path.is_dir():
        return path.resolve().name
    return path.parent.name if path.stem == "table" and path.parent.name else path.stem


def _recipe_of(tables: dict[str, Path]) -> Any:
    """The recipe of the first release; files have none."""
    from microagg.errors import InputError
    from microagg.releases.folder.saved import SavedRelease

    folder = next((path for path in tables.values() if path.is_dir()), None)
    if folder is None:
        raise InputError("to evaluate a file, say what its columns are: --recipe recipe.toml")
    return SavedRelease.open(folder).recipe


def _read(path: Path, recipe: Any) -> Any:
    """The table of a release folder, as it was written; or a file, as the recipe reads files."""
    from microagg.releases.folder.saved import SavedRelease
    from microagg.releases.input import read_released

    return read_released(SavedRelease.open(path).table if path.is_dir() else path, recipe, say)


def _rows_of(
    released: Path,
    original: Path,
    recipe: Any,
    rows: str | None,
    aligned: bool | None,
    key: str | None,
    receipt: Path | None,
) -> dict[str, Any]:
    """How the rows of a release belong to those of the original, and what they are."""
    from microagg.errors import InputError
    from microagg.releases.folder.places import MANIFEST
    from microagg.releases.folder.saved import SavedRelease, origins_of

    folder = released if released.is_dir() else released.parent
    if rows is None:
        rows = SavedRelease.open(folder).recipe.rows if released.is_dir() else recipe.rows
    elif released.is_dir() or (folder / MANIFEST).is_file():
        saved = SavedRelease.open(folder)
        if rows != saved.recipe.rows and (released.is_dir() or released.name == saved.table.name):
            raise InputError(
                f"rows of the release {folder.name!r} are {saved.recipe.rows}: leave out --rows {rows}. "
                "It is for files of other tools"
            )
    how: dict[str, Any] = {"rows": rows, "aligned": aligned, "key": key}
    if rows == "records" and aligned is None and key is None:
        how["origins"] = origins_of(released, original, receipt)
    return how
