"""Results as HTML. Every text is escaped: names of columns are whatever somebody wrote into a file."""

from __future__ import annotations

from collections.abc import Iterable, Sequence
from html import escape

__all__ = ["html_of_prose", "html_of_rows", "html_of_sections", "shown_text"]

_CELL = "text-align:left;padding:2px 12px 2px 0;vertical-align:top"


def shown_text(value: object) -> str:
    """A value as text that is neither markup nor invisible: control characters are written as escapes.

    Examples
    --------
    >>> shown_text("<b>\\u202e")
    '&lt;b&gt;\\\\u202e'
    """
    return escape("".join(char if char.isprintable() else repr(char)[1:-1] for char in str(value)))


def html_of_rows(header: Sequence[str], rows: Iterable[Sequence[object]]) -> str:
    """A table."""
    head = "".join(f'<th style="{_CELL}">{shown_text(name)}</th>' for name in header)
    body = "".join(
        f"<tr>{''.join(f'<td style={chr(34)}{_CELL}{chr(34)}>{shown_text(cell)}</td>' for cell in row)}</tr>"
        for row in rows
    )
    return f"<table><thead><tr>{head}</tr></thead><tbody>{body}</tbody></table>"


def html_of_prose(text: str) -> str:
    """Text as a statement has it: paragraphs, headings that end with a colon, and lists of lines that begin with -."""
    parts: list[str] = []
    items: list[str] = []

    def close() -> None:
        if items:
            parts.append(f"<ul>{''.join(f'<li>{shown_text(item)}</li>' for item in items)}</ul>")
            items.clear()

    paragraph: list[str] = []
    for line in [*text.splitlines(), ""]:
        if line.startswith("  - "):
            items.append(line[4:])
        elif line.startswith("    ") and items:
            items[-1] += " " + line.strip()
        else:
            close()
            paragraph.append(line.strip())
            if line.endswith((".", ":", "!")) or not line.strip():
                said = " ".join(word for word in paragraph if word)
                tag = "b" if said.endswith(":") else "span"
                parts += [f"<div><{tag}>{shown_text(said)}</{tag}></div>"] if said else []
                paragraph.clear()
    close()
    return "".join(parts)


def html_of_sections(title: str, *sections: str) -> str:
    """A title, plain text, over parts that are HTML already."""
    return f'<div class="microagg"><div><b>{shown_text(title)}</b></div>{"".join(sections)}</div>'
