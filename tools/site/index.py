"""A plain index of all pages: a line for each, with its first sentence."""

from __future__ import annotations

import posixpath
import re
from collections.abc import Iterator
from typing import Any

from repository import DOCS, PAPERS, ROOT, title_of

__all__ = ["by_heading", "entries", "first_sentence_of", "plain_index"]

_SOURCES = {place: ROOT / source for source, place in PAPERS.items() if source != "README.md"}
_MADE = {
    "project/pages.md": ("All pages", "Every page of this site in one line."),
    "project/examples.md": ("Examples", "Short scripts, whole, as they lie in examples/."),
}
_OF_NO_CONTENT = re.compile(r"Status\b|Asked\.|Repeat with|Measured with|Made with|python |make |`")
"""How sentences begin that say where a page comes from, not what is on it."""


def entries(nav: list[Any], above: tuple[str, ...] = ()) -> Iterator[tuple[tuple[str, ...], str, str, str]]:
    """Headings of the menu, title, place and first sentence of each page, in the order of the menu."""
    for entry in nav:
        title, what = next(iter(entry.items())) if isinstance(entry, dict) else ("", entry)
        if isinstance(what, list):
            yield from entries(what, (*above, title))
        else:
            heading, said = _of(what)
            yield above, title or heading, what, said


def _of(place: str) -> tuple[str, str]:
    if place in _MADE:
        return _MADE[place]
    text = (_SOURCES.get(place) or DOCS / place).read_text(encoding="utf-8")
    return title_of(text), first_sentence_of(text)


def first_sentence_of(text: str) -> str:
    """The first sentence of a page's first paragraph, without markup.

    Examples
    --------
    >>> first_sentence_of("# Title\\n\\n![x](y.svg)\\n\\nA [link](b.md) and `code`. More.")
    'A link and code.'
    """
    text = re.sub(r"```.*?```|<!--.*?-->|!\[[^\]]*\]\([^)]*\)", "", text, flags=re.DOTALL)
    for paragraph in re.split(r"\n\s*\n", text):
        plain = " ".join(paragraph.split())
        if plain and not plain.startswith(("#", "|", "-", ">", "<")):
            plain = re.sub(r"\[([^\]]*)\]\([^)]*\)", r"\1", plain)
            plain = re.sub(r"[`*]", "", plain)
            for sentence in re.split(r"(?<=[\w)\"'][.?!]) ", plain):
                if not _OF_NO_CONTENT.match(sentence):
                    return sentence
    return ""


def plain_index(nav: list[Any], about: str) -> str:
    """The index as llms.txt: a title, a line about the project, and the pages by heading."""
    lines = ["# microagg", "", f"> {about}"]
    for heading, listed in by_heading(nav).items():
        lines += ["", f"## {heading}", ""]
        lines += [f"- [{title}]({posixpath.splitext(place)[0]}.html): {said}" for title, place, said in listed]
    return "\n".join(lines) + "\n"


def by_heading(nav: list[Any]) -> dict[str, list[tuple[str, str, str]]]:
    """Title, place and first sentence of the pages below each heading of the menu; those below none come first."""
    found: dict[str, list[tuple[str, str, str]]] = {"First": []}
    for above, title, place, said in entries(nav):
        found.setdefault(": ".join(above) or "First", []).append((title, place, said))
    return found
