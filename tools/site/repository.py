"""What lies where: files of the repository, and their places on the site."""

from __future__ import annotations

import posixpath
import re
from pathlib import Path

__all__ = ["DOCS", "FILES", "PAPERS", "ROOT", "rewritten", "title_of"]

ROOT = Path(__file__).resolve().parents[2]
DOCS = ROOT / "docs"

PAPERS = {
    "README.md": "index.md",
    "CONTRIBUTING.md": "project/contributing.md",
    "SECURITY.md": "project/security.md",
    "CHANGELOG.md": "project/changelog.md",
}
"""Pages outside docs/, and where they are on the site; the README's place is that of the front page."""

_FOLDERS = {"docs": "project/pages.md", "docs/decisions": "project/pages.md", "examples": "project/examples.md"}
FILES = "project/files"
"""Where the site keeps other files that pages link to."""

_LINK = re.compile(r"(?<=\]\()([^)#\s]+)(#[^)\s]*)?(?=\))")


def rewritten(text: str, source: str, place: str) -> tuple[str, set[str]]:
    """The text of a page with its links to the repository made links of the site, and the files that these need.

    Parameters
    ----------
    source : str
        Where the page is in the repository.
    place : str
        Where it is on the site.
    """
    needed: set[str] = set()

    def link(found: re.Match[str]) -> str:
        target, anchor = found[1], found[2] or ""
        if "://" in target:
            return found[0]
        there = posixpath.normpath(posixpath.join(posixpath.dirname(source), target))
        to = _place_of(there)
        if to is None:
            return found[0]
        if to.startswith(FILES):
            needed.add(there)
        return posixpath.relpath(to, posixpath.dirname(place) or ".") + anchor

    return _LINK.sub(link, text), needed


def _place_of(there: str) -> str | None:
    """Where a file of the repository is on the site; None of what is not there."""
    if there in PAPERS:
        return PAPERS[there]
    if there in _FOLDERS:
        return _FOLDERS[there]
    if there.startswith("docs/") and not there.endswith(".py"):
        return there.removeprefix("docs/")
    return f"{FILES}/{there}" if (ROOT / there).is_file() else None


def title_of(text: str) -> str:
    """The heading of a page, without markup."""
    found = re.search(r"^# (.+)$", text, re.MULTILINE)
    return found[1].replace("`", "") if found else ""
