"""For mkdocstrings: what docstrings say in reStructuredText, said in Markdown.

Docstrings are numpydoc: ``:class:`~microagg.Recipe` `` is a name, a line that ends in ``::`` begins a block of code,
and ``.. [1]`` a reference.
"""

from __future__ import annotations

import re
from typing import Any

import griffe

__all__ = ["PlainRoles", "in_markdown"]


def in_markdown(text: str) -> str:
    """Markup of reStructuredText as Markdown.

    Examples
    --------
    >>> in_markdown("See :class:`~microagg.Recipe` and [1]_.")
    'See `Recipe` and \\\\[1\\\\].'
    """
    text = re.sub(r":\w+:`~(?:[\w]+\.)*(\w+)`", r"`\1`", text)
    text = re.sub(r":\w+:`([^`]+)`", r"`\1`", text)
    text = re.sub(r"^\.\. \[(\d+)\] ", r"\\[\1\\] ", text, flags=re.MULTILINE)
    text = re.sub(r"\[(\d+)\]_", r"\\[\1\\]", text)
    return re.sub(r"::\n(\n+)(?= {4})", r":\n\1", text)


class PlainRoles(griffe.Extension):
    """Rewrites every docstring before it is parsed."""

    def on_instance(self, *, obj: griffe.Object, **_: Any) -> None:
        if obj.docstring is not None:
            obj.docstring.value = in_markdown(obj.docstring.value)
