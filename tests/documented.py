"""The pages of the repository, and the blocks of code that stand on them."""

from __future__ import annotations

import re
from dataclasses import dataclass
from functools import cache
from pathlib import Path

__all__ = ["DOCS", "PAGES", "ROOT", "Block", "blocks_of", "commands_of", "named"]

ROOT = Path(__file__).resolve().parents[1]
DOCS = ROOT / "docs"
PAGES = (ROOT / "README.md", ROOT / "CONTRIBUTING.md", ROOT / "SECURITY.md", *sorted(DOCS.rglob("*.md")))

_FENCED = re.compile(r"^([ ]*)```([\w-]*)[^\n]*\n(.*?)^\1```[ ]*$", re.DOTALL | re.MULTILINE)


@dataclass(frozen=True)
class Block:
    """A fenced block: its language (empty where none is named), its text, and the line it begins in."""

    language: str
    text: str
    line: int


@cache
def blocks_of(page: Path) -> tuple[Block, ...]:
    """The blocks of a page, in order."""
    text = page.read_text(encoding="utf-8")
    return tuple(
        Block(found[2], re.sub(f"^{found[1]}", "", found[3], flags=re.MULTILINE), text[: found.start()].count("\n") + 1)
        for found in _FENCED.finditer(text)
    )


def commands_of(block: Block) -> list[str]:
    """Its command lines without remarks, and without what a shell does with their output, if it has any."""
    text = re.sub(r"\\\n\s*", "", block.text)
    lines = [re.sub(r"\s+#.*", "", line).removeprefix("$ ").rpartition(" | ")[2] for line in text.splitlines()]
    lines = [re.sub(r"\s+\d?>\s*\S+", "", line) for line in lines]
    return [line for line in lines if re.match(r"(microagg|make|pip|python|git|cd|docker) ", line)]


def named(page: Path) -> str:
    """What a page is called in the names of tests."""
    return page.relative_to(ROOT).as_posix()
