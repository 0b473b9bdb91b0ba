"""Where a report may be written: an internal one never among public files, none beside what it does not describe."""

from __future__ import annotations

import json
from collections.abc import Callable
from dataclasses import replace
from pathlib import Path
from typing import TYPE_CHECKING, Any

from microagg.errors import InputError, TableError
from microagg.releases.manifest import sha256_of_file
from microagg.releases.recipe import Recipe
from microagg.releases.storage import refuse_existing, write_file_whole
from microagg.tables.frames import Frame

if TYPE_CHECKING:
    from microagg.report.document import Report

__all__ = ["MANIFEST", "REPORT", "REPORT_JSON", "report_on_tables", "write_beside_release"]

MANIFEST = "manifest.json"
REPORT = "report.html"
REPORT_JSON = "report.json"


def write_beside_release(
    make: Callable[[], Report], path: Path, *, internal: bool, overwrite: bool, salted_sha256: str | None
) -> Path:
    """Write a report to `path`; in the folder of its release, bring the manifest up to date.

    Parameters
    ----------
    make : callable
        Makes the report, once it is clear that it may be written.
    path : Path
    internal, overwrite : bool
    salted_sha256 : str or None
        The fingerprint of the release's input; None of a table that has none.
    """
    path = path.absolute()
    if path.suffix != ".html":
        raise InputError(f"a report is a page: its name must end in .html, not {path.name!r}")
    manifest = path.parent / MANIFEST
    beside = manifest.is_file()
    if beside:
        _refuse_other_release(manifest, path, internal, salted_sha256)
    for file in (path, path.with_suffix(".json")):
        if file.is_dir():
            raise InputError(f"{file.name!r} is a folder")
        # In its release's folder a public report replaces itself: the manifest tells which it was.
        refuse_existing(file, overwrite or beside)
    report = make()
    path.parent.mkdir(parents=True, exist_ok=True)
    write_file_whole(path, report.as_html(), readable=not internal)
    write_file_whole(path.with_suffix(".json"), report.as_json(), readable=not internal)
    if beside:
        content = json.loads(manifest.read_text(encoding="utf-8"))
        for name in (REPORT, REPORT_JSON):
            content["output"]["sha256"][name] = sha256_of_file(path.parent / name)
        write_file_whole(manifest, json.dumps(content, indent=2, ensure_ascii=False) + "\n", readable=True)
    return path


def _refuse_other_release(manifest: Path, path: Path, internal: bool, salted_sha256: str | None) -> None:
    if internal:
        raise InputError(
            "an internal report is not written into the folder of a release, which is published whole. Choose another"
        )
    if path.name != REPORT:
        raise InputError(f"in the folder of a release a report is called {REPORT}, not {path.name!r}")
    try:
        described = json.loads(manifest.read_text(encoding="utf-8"))["input"]["sha256_salted"]
    except (UnicodeDecodeError, json.JSONDecodeError, KeyError, TypeError):
        raise TableError(f"the {MANIFEST} of {path.parent.name!r} is damaged") from None
    if described != salted_sha256:
        raise InputError(f"the folder {path.parent.name!r} holds another release than the one reported on")


def report_on_tables(
    original: Any,
    released: Path,
    recipe: Recipe,
    path: Path,
    *,
    read: Callable[[Path], Any],
    internal: bool = False,
    full: bool = False,
    aligned: bool | None = None,
    key: str | None = None,
    overwrite: bool = False,
) -> Path:
    """Write a report on a table that lies in a file, or in the folder of a release with its statement and manifest.

    Parameters
    ----------
    original : table
    released : Path
        A file, of whatever tool, or the folder of a release; its own recipe then counts.
    recipe : Recipe
        What the columns are.
    path : Path
        The page to write.
    read : callable
        Reads a table from a path.
    internal, full, overwrite : bool
        As in :meth:`microagg.Release.report`.
    aligned, key
        As in :func:`microagg.evaluate`.
    """
    from microagg.evaluation.alignment import align
    from microagg.report.document import Report
    from microagg.report.material import Material

    table, statement, manifest = released, None, None
    if released.is_dir():
        table, statement, manifest = _saved(released)
        recipe = Recipe(**manifest["recipe"])
    before, after = Frame.wrap(original), Frame.wrap(read(table))
    digests = {table.name: sha256_of_file(table)}
    if manifest is not None:
        digests = {name: one for name, one in manifest["output"]["sha256"].items() if name not in (REPORT, REPORT_JSON)}

    def make() -> Report:
        material = Material(after, recipe, before, None, statement, manifest, (), digests, internal, full)
        if material.may_compare and material.rows_are_records:
            material = replace(material, origins=align(before, after, recipe.schema, aligned, key)[0])
        return Report.of(material)

    salted = None if manifest is None else manifest["input"]["sha256_salted"]
    return write_beside_release(make, path, internal=internal, overwrite=overwrite, salted_sha256=salted)


def _saved(folder: Path) -> tuple[Path, dict[str, Any], dict[str, Any]]:
    """Table, statement and manifest of a saved release."""
    try:
        manifest = json.loads((folder / MANIFEST).read_text(encoding="utf-8"))
        statement = json.loads((folder / "statement.json").read_text(encoding="utf-8"))
        table = folder / str(manifest["output"]["table"])
    except FileNotFoundError:
        raise TableError(f"{folder.name!r} is not a release: it lacks its manifest or statement") from None
    except (UnicodeDecodeError, json.JSONDecodeError, KeyError, TypeError):
        raise TableError(f"the manifest or statement of {folder.name!r} is damaged") from None
    return table, statement, manifest
