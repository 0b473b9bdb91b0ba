"""Whether the files of a release are those of its manifest, of its receipt, and of whoever signed it."""

from __future__ import annotations

from importlib.metadata import version
from pathlib import Path

from microagg.errors import TableError
from microagg.privacy.verify import Finding
from microagg.releases.check.published import PublishedFolder
from microagg.releases.folder.receipt import Receipt, receipts_beside
from microagg.releases.folder.signing import SIGNATURE
from microagg.releases.release import MANIFEST, REPORT, REPORT_JSON, STATEMENT, STATEMENT_TEXT
from microagg.statements.manifest import sha256_of_file
from microagg.tables.formats.base import WritableFormat
from microagg.tables.formats.registry import format_of

__all__ = ["check_files", "check_form", "check_receipt"]

_WRITERS = ("pyarrow", "pyreadstat")


def check_files(release: PublishedFolder) -> list[Finding]:
    """Every file is the manifest's, and there is no other."""
    promised = release.hashes
    reports = (REPORT, REPORT_JSON)
    either = any(name in promised or (release.folder / name).exists() for name in reports)
    expected = (*release.table_names, STATEMENT, STATEMENT_TEXT, *(reports if either else ()))
    findings = [_check_file(release.folder, name, promised.get(name)) for name in expected]
    unknown = sorted(set(promised) - set(expected))
    if unknown:
        findings.append(Finding("manifest", False, f"lists {len(unknown)} files that no release has"))
    known = {MANIFEST, SIGNATURE, *expected}
    others = sorted(path.name for path in release.folder.iterdir() if path.name not in known or not path.is_file())
    detail = f"not part of the release: {', '.join(map(repr, others))}" if others else "none"
    return [*findings, Finding("other files", not others, detail)]


def _check_file(folder: Path, name: str, digest: str | None) -> Finding:
    path = folder / name
    if digest is None:
        return Finding(f"file {name}", False, "is not in the manifest")
    if not path.is_file():
        return Finding(f"file {name}", False, "is not there")
    same = sha256_of_file(path) == digest
    return Finding(f"file {name}", same, "is the one in the manifest" if same else "was changed since the release")


def check_form(release: PublishedFolder) -> Finding:
    """Whether the file of the table holds nothing but the table: no mark on a record, no label that none needs."""
    several = "" if len(release.table_names) == 1 else f" and {len(release.table_names) - 1:,} more"
    name = f"form of {release.table_name}{several}"
    if not release.same_version:
        return Finding(name, True, f"not compared: written by microagg {release.manifest.get('microagg')}")
    file_format = format_of(release.table_name)
    if not isinstance(file_format, WritableFormat):
        return Finding(name, False, f"microagg does not write {file_format.title}")
    versions = release.manifest.get("versions")
    alike = isinstance(versions, dict) and all(versions.get(one) == version(one) for one in _WRITERS)
    is_exact = True
    for one in release.table_names:
        form = file_format.compare_form(release.folder / one, same_libraries=alike)
        if form.fault:
            return Finding(name, False, f"{one}: {form.fault}" if several else form.fault)
        is_exact = is_exact and form.is_to_the_byte
    how_exactly = "to the byte" if is_exact else "as far as its labels, categories and headers show"
    return Finding(name, True, f"it is written as microagg writes, {how_exactly}")


def check_receipt(folder: Path, given: str | Path | None) -> list[Finding]:
    """Whether the files are those that the receipt names: all of them, as they were written, and no other.

    Parameters
    ----------
    folder : Path
    given : path or None
        A receipt; None looks for those that lie beside the folder under its name. If there are some and none fits, the
        folder was changed, or is not the one that they were written for.
    """
    if given is not None:
        path = Path(given)
        found = _differences(folder, path)
        return [Finding("receipt", not found, found or f"every file is as {path.name} names it")]
    beside = receipts_beside(folder)
    if not beside:
        return []
    differences = {}
    for path in beside:
        try:
            differences[path] = _differences(folder, path)
        except TableError:
            differences[path] = "it is damaged"
    fitting = [path for path, found in differences.items() if not found]
    if fitting:
        return [Finding("receipt", True, f"every file is as {fitting[0].name} names it")]
    least = min(beside, key=lambda path: (len(differences[path]), path.name))
    others = f"; nor do {len(beside) - 1} others" if len(beside) > 1 else ""
    return [Finding("receipt", False, f"{least.name} beside the folder does not match: {differences[least]}{others}")]


def _differences(folder: Path, path: Path) -> str:
    """What is not as the receipt at `path` says, in words; empty if nothing."""
    receipt = Receipt.load(path)
    there = {file.name: file for file in folder.iterdir() if file.is_file()}
    lacking = sorted(set(receipt.files) - set(there))
    added = sorted(set(there) - set(receipt.files))
    changed = sorted(
        name for name, file in there.items() if name in receipt.files and sha256_of_file(file) != receipt.files[name]
    )
    parts = (("lacks", lacking), ("has besides", added), ("changed since", changed))
    return "; ".join(f"{what} {', '.join(map(repr, names))}" for what, names in parts if names)
