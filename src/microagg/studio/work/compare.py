"""Several releases of one table side by side, made here or by another tool."""

from __future__ import annotations

from pathlib import Path
from typing import Any

from microagg._progress import report
from microagg.engines.evaluation.evaluate_files import evaluate_files
from microagg.evaluation.compare import compare
from microagg.evaluation.evaluate import evaluate
from microagg.evaluation.result import Evaluation
from microagg.recipe.recipe import Recipe
from microagg.releases.folder.saved import SavedRelease, origins_of
from microagg.releases.input import read_released
from microagg.releases.report_results import QUICK
from microagg.studio.work.table import Tell, table_for

__all__ = ["compare_releases"]

_MEASURES = (*QUICK, "pMSE", "count_query_error", "distance_linkage", "distance_to_closest")


def compare_releases(path: str, recipe: str, folder: str, others: dict[str, str], tell: Tell) -> dict[str, Any]:
    """Measure each release against the original by the same measures.

    Parameters
    ----------
    path : str
    recipe, folder : str
        What the columns of other tools' files are.
    others : dict of str to str
        The folder of a release, or a file of another tool, by the name that the page calls it.
    tell : callable
    """
    source, chosen = Path(path), Recipe.loads(recipe, folder=folder)
    notes: list[str] = []
    found: dict[str, Evaluation] = {}
    for place, (name, other) in enumerate(others.items()):
        report(f"measuring releases: {name}", place / len(others))
        found[name] = _evaluate(source, Path(other), chosen, notes)
        for measure in found[name]:
            if measure.note and not measure.value:
                notes.append(f"{name}, {measure.name}: {measure.note}")
    report("measuring releases", 1.0)
    rows = []
    if len(found) > 1:
        both = compare(found)
        rows = [_row(found, name, both.best(name)) for name in both.names]
    elif found:
        (only,) = found.values()
        rows = [_row(found, measure.name, None) for measure in only]
    rows = [row for row in rows if any(value is not None for value in row["values"])]
    return {"names": list(found), "rows": rows, "notes": list(dict.fromkeys(notes))}


def _evaluate(source: Path, other: Path, chosen: Recipe, notes: list[str]) -> Evaluation:
    saved = SavedRelease.open(other) if other.is_dir() else None
    if saved is not None and saved.in_parts:
        found: Evaluation = evaluate_files(source, other, measures=_MEASURES)
        return found
    own = chosen if saved is None else saved.recipe
    released = read_released(other if saved is None else saved.table, own, notes.append)
    origins = origins_of(other, source, None) if saved is not None and own.rows == "records" else None
    return evaluate(
        table_for(source, own), released, own, measures=_MEASURES, rows=own.rows, **_alignment(saved, origins)
    )


def _alignment(saved: SavedRelease | None, origins: Any) -> dict[str, Any]:
    return {} if saved is None or origins is None else {"origins": origins}


def _row(found: dict[str, Evaluation], name: str, best: str | None) -> dict[str, Any]:
    one = next(evaluation[name] for evaluation in found.values() if name in evaluation)
    values = [evaluation[name].value if name in evaluation else None for evaluation in found.values()]
    return {
        "name": name,
        "about": one.about,
        "better": one.better,
        "words": one.words,
        "values": values,
        "best": best,
        "by_chance": one.baseline,
    }
