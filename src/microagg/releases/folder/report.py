"""Where a report may be written: an internal one never among public files, none beside what it does not describe."""

from __future__ import annotations

import json
import os
import shutil
from collections.abc import Callable, Mapping
from dataclasses import replace
from pathlib import Path
from typing import TYPE_CHECKING, Any

from microagg.errors import InputError, TableError
from microagg.recipe.recipe import Recipe
from microagg.releases.folder.atomic import refuse_existing, whole_or_nothing, write_file_whole
from microagg.releases.folder.json_files import read_json
from microagg.releases.folder.places import MANIFEST, STATEMENT
from microagg.releases.folder.receipt import Receipt, receipts_beside
from microagg.releases.folder.saved import SavedRelease, origins_of
from microagg.releases.folder.signing import SIGNATURE, sign_manifest
from microagg.releases.input import read_released
from microagg.statements.manifest import sha256_of_file
from microagg.tables.frames import Frame

if TYPE_CHECKING:
    from microagg.reports.document import Report

__all__ = [
    "MANIFEST",
    "REPORT",
    "REPORT_JSON",
    "refuse_internal_place",
    "report_on_tables",
    "statement_in",
    "write_beside_release",
]

REPORT = "report.html"
REPORT_JSON = "report.json"


def refuse_internal_place(path: Path, folder: Path, *, overwrite: bool) -> None:
    """Refuse a place where the internal report of a release in `folder` may not go, before the release is made."""
    if path.suffix != ".html":
        raise InputError(f"a report is a page: its name must end in .html, not {path.name!r}")
    inside = path.resolve().parent
    if folder.resolve() in (inside, *inside.parents) or (inside / MANIFEST).is_file():
        raise InputError(
            "an internal report is not written into the folder of a release, which is published whole. Choose another "
            "place: --internal-report"
        )
    for file in (path, path.with_suffix(".json")):
        refuse_existing(file, overwrite)
        if file.is_dir():
            raise InputError(f"{file.name!r} is a folder")


def write_beside_release(
    make: Callable[[Mapping[str, str]], Report],
    path: Path,
    *,
    internal: bool,
    overwrite: bool,
    release_id: str | None,
    sign: str | Path | None = None,
) -> Path:
    """Write a report to `path`; in the folder of its release, bring manifest, signature and receipt up to date.

    Parameters
    ----------
    make : callable
        Makes the report from the SHA-256 of the files beside it, once it is clear that it may be written.
    path : Path
    internal, overwrite : bool
    release_id : str or None
        The id of the release that is reported on; None for a table that has none.
    sign : path, optional
        A private key, to sign the folder again; a signed folder is not changed without.
    """
    if path.suffix != ".html":
        raise InputError(f"a report is a page: its name must end in .html, not {path.name!r}")
    if (path.absolute().parent / MANIFEST).is_file():
        return _write_into_release(make, path.absolute(), internal, release_id, sign)
    if sign is not None:
        raise InputError("a report by itself is not signed: --sign is for one in the folder of its release")
    for file in (path, path.with_suffix(".json")):
        refuse_existing(file, overwrite)
        if file.is_dir():
            raise InputError(f"{file.name!r} is a folder")
    path = path.absolute()
    report = make({})
    path.parent.mkdir(parents=True, exist_ok=True)
    write_file_whole(path, report.as_html(), readable=not internal)
    write_file_whole(path.with_suffix(".json"), report.as_json(), readable=not internal)
    return path


def _write_into_release(
    make: Callable[[Mapping[str, str]], Report],
    path: Path,
    internal: bool,
    release_id: str | None,
    sign: str | Path | None,
) -> Path:
    """Put a public report into the folder of its release: the folder is replaced whole by one that has it."""
    folder = path.parent
    content = _manifest_to_change(folder, path, internal, release_id)
    if (folder / SIGNATURE).exists() and sign is None:
        raise InputError(
            f"the folder {folder.name!r} is signed, and a new report would break the signature. Sign again: --sign KEY"
        )
    described = {name: one for name, one in content["output"]["sha256"].items() if name not in (REPORT, REPORT_JSON)}
    report = make(described)
    beside: dict[str, str] = {}
    with whole_or_nothing(folder, overwrite=True, beside=beside, ours=_anything_in(folder)) as partial:
        for file in folder.iterdir():
            if file.name not in (REPORT, REPORT_JSON, MANIFEST, SIGNATURE):
                _link_or_copy(file, partial / file.name)
        (partial / REPORT).write_text(report.as_html(), encoding="utf-8")
        (partial / REPORT_JSON).write_text(report.as_json(), encoding="utf-8")
        added = {name: sha256_of_file(partial / name) for name in (REPORT, REPORT_JSON)}
        content["output"]["sha256"] = described | added
        manifest = json.dumps(content, indent=2, ensure_ascii=False) + "\n"
        (partial / MANIFEST).write_text(manifest, encoding="utf-8")
        if sign is not None:
            (partial / SIGNATURE).write_text(sign_manifest(manifest.encode(), sign), encoding="utf-8")
        beside |= _receipt_of(folder, partial, release_id)
    return path


def _anything_in(folder: Path) -> set[str]:
    """What was in the folder before stays in it: a check says what does not belong there."""
    return {entry.name for entry in folder.iterdir()}


def _receipt_of(folder: Path, partial: Path, release_id: str | None) -> dict[str, str]:
    """The receipt beside the folder, brought up to date; nothing if it was put elsewhere, where it is the holder's."""
    for path in receipts_beside(folder):
        try:
            receipt = Receipt.load(path)
        except TableError:  # of an earlier release, or damaged: there is nothing in it to bring up to date
            continue
        if receipt.id == release_id:
            files = {file.name: sha256_of_file(file) for file in sorted(partial.iterdir()) if file.name in _WRITTEN}
            return {path.name: replace(receipt, files={**_files_left_alone(receipt), **files}).as_json()}
    return {}


_WRITTEN = (MANIFEST, REPORT, REPORT_JSON, SIGNATURE)


def _files_left_alone(receipt: Receipt) -> dict[str, str]:
    """What the receipt knows of files that a report does not touch: the folder may have been changed."""
    return {name: digest for name, digest in receipt.files.items() if name not in _WRITTEN}


def _link_or_copy(file: Path, to: Path) -> None:
    """The same file under a second name; where that is not possible, a copy."""
    if file.is_dir() and not file.is_symlink():
        shutil.copytree(file, to, symlinks=True)
        return
    try:
        os.link(file, to, follow_symlinks=False)
    except (OSError, NotImplementedError):
        shutil.copy2(file, to, follow_symlinks=False)


def _manifest_to_change(folder: Path, path: Path, internal: bool, release_id: str | None) -> dict[str, Any]:
    """The manifest in `folder`; refused if it is that of another release, or the report is not for it."""
    if internal:
        raise InputError(
            "an internal report is not written into the folder of a release, which is published whole. Choose another"
        )
    if path.name != REPORT:
        raise InputError(f"in the folder of a release a report is called {REPORT}, not {path.name!r}")
    for file in (path, path.with_suffix(".json")):
        if file.is_dir():
            raise InputError(f"{file.name!r} is a folder")
    try:
        content: dict[str, Any] = read_json(folder / MANIFEST)
        described, _ = content["id"], content["output"]["sha256"].items()
    except (ValueError, KeyError, TypeError, AttributeError):
        raise TableError(f"the {MANIFEST} of {folder.name!r} is damaged, or not that of a release") from None
    if described != release_id:
        raise InputError(f"the folder {folder.name!r} holds another release than the one reported on")
    return content


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
    sign: str | Path | None = None,
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
        What shows which record each row stands for; default: the one that lies beside the folder of the release.
    internal, full, overwrite : bool
        As in :meth:`microagg.Release.report`.
    sign : path, optional
        As there.
    aligned, key
        As in :func:`microagg.evaluate`.
    """
    from microagg.evaluation.alignment import align
    from microagg.releases.report_results import make_report
    from microagg.reports.source import ReportRequest

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
        request = ReportRequest(
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
        if not (request.may_compare and request.rows_are_records):
            return make_report(request)
        origins = None
        if aligned is None and key is None:
            origins = origins_of(released, before.table if source is None else source, receipt)
        rows = align(before, after, recipe.schema, aligned=aligned, key=key, origins=origins)
        return make_report(replace(request, origins=rows.origins, why_not_aligned=rows.why_not))

    release_id = None if saved is None else saved.manifest["id"]
    return write_beside_release(make, path, internal=internal, overwrite=overwrite, release_id=release_id, sign=sign)


def statement_in(folder: Path) -> dict[str, Any]:
    """The statement in the folder of a release."""
    try:
        found: dict[str, Any] = read_json(folder / STATEMENT)
    except (OSError, ValueError):
        raise TableError(f"the {STATEMENT} of {folder.name!r} is not there or damaged") from None
    return found
