"""Where a report may be written: an internal one never among public files, none beside what it does not describe."""

from __future__ import annotations

import json
from collections.abc import Callable, Mapping
from dataclasses import replace
from pathlib import Path
from typing import TYPE_CHECKING, Any

from microagg.errors import InputError, TableError
from microagg.releases.manifest import sha256_of_file
from microagg.releases.recipe import Recipe
from microagg.releases.saved import MANIFEST, SavedRelease, origins_of, read_released
from microagg.releases.storage import refuse_existing, write_file_whole
from microagg.tables.frames import Frame

if TYPE_CHECKING:
    from microagg.report.document import Report

__all__ = ["MANIFEST", "REPORT", "REPORT_JSON", "report_on_tables", "write_beside_release"]

REPORT = "report.html"
REPORT_JSON = "report.json"


def write_beside_release(
    make: Callable[[Mapping[str, str]], Report],
    path: Path,
    *,
    internal: bool,
    overwrite: bool,
    salted_sha256: str | None,
) -> Path:
    """Write a report to `path`; in the folder of its release, bring the manifest up to date.

    Parameters
    ----------
    make : callable
        Makes the report from the SHA-256 of the files beside it, once it is clear that it may be written.
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
    files = _described_files(manifest, path, internal, salted_sha256) if beside else {}
    for file in (path, path.with_suffix(".json")):
        if file.is_dir():
            raise InputError(f"{file.name!r} is a folder")
        # In its release's folder a public report replaces itself: the manifest tells which it was.
        refuse_existing(file, overwrite or beside)
    report = make(files)
    path.parent.mkdir(parents=True, exist_ok=True)
    write_file_whole(path, report.as_html(), readable=not internal)
    write_file_whole(path.with_suffix(".json"), report.as_json(), readable=not internal)
    if beside:
        content = json.loads(manifest.read_text(encoding="utf-8"))
        for name in (REPORT, REPORT_JSON):
            content["output"]["sha256"][name] = sha256_of_file(path.parent / name)
        write_file_whole(manifest, json.dumps(content, indent=2, ensure_ascii=False) + "\n", readable=True)
    return path


def _described_files(manifest: Path, path: Path, internal: bool, salted_sha256: str | None) -> dict[str, str]:
    """SHA-256 of the files of the release at `manifest`; refused if it is another one, or the report is not for it."""
    if internal:
        raise InputError(
            "an internal report is not written into the folder of a release, which is published whole. Choose another"
        )
    if path.name != REPORT:
        raise InputError(f"in the folder of a release a report is called {REPORT}, not {path.name!r}")
    try:
        content = json.loads(manifest.read_text(encoding="utf-8"))
        described, files = content["input"].get("sha256_salted"), dict(content["output"]["sha256"])
    except (UnicodeDecodeError, json.JSONDecodeError, KeyError, TypeError, ValueError):
        raise TableError(f"the {MANIFEST} of {path.parent.name!r} is damaged, or not that of a release") from None
    if described != salted_sha256:
        raise InputError(f"the folder {path.parent.name!r} holds another release than the one reported on")
    return {name: digest for name, digest in files.items() if name not in (REPORT, REPORT_JSON)}


def report_on_tables(
    original: Any,
    released: Path,
    recipe: Recipe,
    path: Path,
    *,
    read: Callable[[Path], Any],
    internal: bool = False,
    full: bool = False,
    source: Path | None = None,
    receipt: Path | None = None,
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
        Reads a file of another tool.
    source : Path, optional
        The file that the original was read from.
    receipt : Path, optional
        What tells which record each row stands for; default: the one that lies beside the folder of the release.
    internal, full, overwrite : bool
        As in :meth:`microagg.Release.report`.
    aligned, key
        As in :func:`microagg.evaluate`.
    """
    from microagg.evaluation.alignment import align
    from microagg.report.document import Report
    from microagg.report.material import Material

    saved = SavedRelease.open(released) if released.is_dir() else None
    table = released if saved is None else saved.table
    recipe = recipe if saved is None else saved.recipe
    before = Frame.wrap(original)
    after = Frame.wrap(read(table) if saved is None else read_released(table, recipe))
    digests = {table.name: sha256_of_file(table)}
    if saved is not None:
        listed = saved.manifest["output"]["sha256"]
        digests = {name: one for name, one in listed.items() if name not in (REPORT, REPORT_JSON)}

    def make(_: Mapping[str, str]) -> Report:
        material = Material(
            after,
            recipe,
            before,
            None,
            None if saved is None else saved.statement,
            None if saved is None else saved.manifest,
            (),
            digests,
            internal,
            full,
        )
        if not (material.may_compare and material.rows_are_records):
            return Report.of(material)
        origins = None
        if aligned is None and key is None:
            origins = origins_of(released, before.table if source is None else source, receipt)
        rows = align(before, after, recipe.schema, aligned=aligned, key=key, origins=origins)
        return Report.of(replace(material, origins=rows.origins, why_not_aligned=rows.why_not))

    salted = None if saved is None else saved.manifest["input"].get("sha256_salted")
    return write_beside_release(make, path, internal=internal, overwrite=overwrite, salted_sha256=salted)
