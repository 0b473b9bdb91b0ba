"""Make a release of all records, check it, and set it beside its original."""

from __future__ import annotations

import json
import warnings
from pathlib import Path
from typing import Any

from microagg.engines.evaluation.report_files import report_on_parts
from microagg.engines.release_files import choose_engine, release_files
from microagg.errors import ReportWarning
from microagg.recipe.recipe import Recipe
from microagg.releases.account.spending import Spending
from microagg.releases.check.check import check_release
from microagg.releases.folder.report import report_on_tables
from microagg.releases.folder.saved import SavedRelease
from microagg.releases.input import read_released
from microagg.releases.pipeline import release
from microagg.releases.strategy import strategy_of
from microagg.studio.work.table import Tell, table_for
from microagg.tables.formats.registry import format_of, writable_format, writable_names

__all__ = ["check_folder", "describe_release", "make_release"]


def make_release(
    path: str,
    recipe: str,
    folder: str,
    into: str,
    seed: int | None,
    file_format: str | None,
    sign: str | None,
    state_total: bool,
    facts: str,
    tell: Tell,
) -> dict[str, Any]:
    """Make a release as ``microagg release`` does, and say what it is."""
    source, target = Path(path), Path(into)
    chosen = Recipe.loads(recipe, folder=folder)
    engine, why = choose_engine(source, chosen, "auto")
    notes = [why] if why else []
    if engine == "local":
        own = format_of(source).name
        kind = writable_format(file_format or (own if own in writable_names() else "csv"))
        strategy_of(chosen).require_room_in(kind)
        Spending.of(source, chosen, seed=seed, stated=state_total)
        table = table_for(source, chosen, as_text=kind.is_text)
        made = release(table, chosen, seed=seed, source=source, state_total=state_total)
        with warnings.catch_warnings(record=True) as heard:
            warnings.simplefilter("always", ReportWarning)
            made.save(target, format=kind.name, report=True, sign=sign)
        notes += [str(one.message) for one in heard if issubclass(one.category, ReportWarning)]
        notes += list(made.spending.words)
        receipt, cells, loss = made.receipt_path(target), made.n_cells, made.information_loss
    else:
        done = release_files(source, chosen, target, engine=engine, seed=seed, sign=sign, state_total=state_total)
        receipt, cells, loss = done.receipt, done.n_cells, done.information_loss
        notes += list(done.words)
    found = {"engine": engine, "cells": cells, "loss": loss, "receipt": Path(receipt).name, "notes": notes}
    tell(found)
    return {**found, **check_folder(into, tell), "facts": describe_release(path, recipe, folder, into, facts, tell)}


def check_folder(into: str, tell: Tell) -> dict[str, Any]:
    """What ``microagg check`` finds."""
    findings = check_release(Path(into))
    return {
        "holds": all(finding.holds for finding in findings),
        "findings": [{"name": one.name, "holds": one.holds, "detail": one.detail} for one in findings],
    }


def describe_release(path: str, recipe: str, folder: str, into: str, facts: str, tell: Tell) -> dict[str, Any]:
    """The release beside its original: what the internal report says, which goes to the file `facts` and a page."""
    source, released, page = Path(path), Path(into), Path(facts)
    saved = SavedRelease.open(released)
    if saved.in_parts:
        report_on_parts(source, released, page, saved.recipe, internal=True, overwrite=True)
    else:
        report_on_tables(
            table_for(source, saved.recipe),
            released,
            saved.recipe,
            page,
            read=lambda file: read_released(file, saved.recipe),
            internal=True,
            source=source,
            overwrite=True,
        )
    for file in (page, page.with_suffix(".json")):
        file.chmod(0o600)
    found: dict[str, Any] = json.loads(page.with_suffix(".json").read_text(encoding="utf-8"))
    return found
