"""Draw docs/pictures/layers.svg from the import graph: the rooms of microagg. Run: python docs/pictures/layers.py

A room may use the rooms below it. `tests/architecture` holds this list against the code.
"""

from __future__ import annotations

import ast
import re
from collections.abc import Iterator
from dataclasses import dataclass
from functools import cache
from html import escape
from pathlib import Path

SOURCE = Path(__file__).resolve().parents[2] / "src" / "microagg"

LAYERS: tuple[tuple[str, ...], ...] = (
    ("cli",),
    ("studio",),
    ("studies",),
    ("frontier",),
    ("engines",),
    ("releases",),
    ("reports",),
    ("statements",),
    ("explanations",),
    ("private", "risks"),
    ("recipe", "sklearn"),
    ("methods",),
    ("evaluation",),
    ("space", "partition", "aggregate", "privacy"),
    ("schema",),
    ("tables",),
    ("ground",),
)
"""Rooms from top to bottom; those in one line do not know each other in a circle."""

WHAT = {
    "cli": "the command line: flags, progress, exit codes",
    "studio": "the whole way in a browser: pages, edits of the recipe, jobs",
    "studies": "papers and their figures, reproduced",
    "frontier": "many releases of one table, set against each other",
    "engines": "release_files(): tables larger than memory, in neighbouring parts",
    "releases": "release(), the folder it writes, and the check of such a folder",
    "reports": "a page for people from finished results",
    "statements": "what a release says about itself: promises, counts, manifest",
    "explanations": "what each measure, method, guarantee and recipe key means",
    "private": "differentially private methods and what they may know",
    "risks": "what a table gives away before any release",
    "recipe": "every choice of how a release is made, validated",
    "sklearn": "a step of scikit-learn pipelines",
    "methods": "the catalogue: what each method is composed of",
    "evaluation": "measures of utility and risk",
    "space": "distance, and what guides it",
    "partition": "cells of at least k",
    "aggregate": "what a cell says",
    "privacy": "guarantees, budget, noise",
    "schema": "what each column is",
    "tables": "any dataframe or file in, the same kind out",
    "ground": "errors, validation, progress, labels, threads",
}

FACADE = {"", "__main__", "datasets"}
"""What users import or run: it stands above all rooms."""


@dataclass(frozen=True)
class Import:
    """One module uses another. `typing_only` imports are not run; an `address` is a string that is imported later."""

    source: str
    target: str
    typing_only: bool = False
    address: bool = False


def modules() -> dict[str, Path]:
    """All modules by name, without the leading ``microagg``."""
    found = {}
    for path in SOURCE.rglob("*.py"):
        parts = path.relative_to(SOURCE).with_suffix("").parts
        found[".".join(parts[:-1] if parts[-1] == "__init__" else parts)] = path
    return found


def room_of(module: str) -> str:
    """The room that a module is in."""
    first = module.partition(".")[0]
    if module in FACADE:
        return "facade"
    is_file = (SOURCE / f"{first}.py").exists()
    return "ground" if is_file or first in ("_kernels", "_notebook") else first


@cache
def imports() -> tuple[Import, ...]:
    """All imports of microagg's modules by each other, lazy ones and addresses included."""
    return tuple(_imports(modules()))


def _imports(known: dict[str, Path]) -> Iterator[Import]:
    address = re.compile(r"microagg((?:\.\w+)+):\w+")
    for name, path in known.items():
        tree = ast.parse(path.read_text(encoding="utf-8"))
        typing_only = {
            id(inner)
            for node in ast.walk(tree)
            if isinstance(node, ast.If) and "TYPE_CHECKING" in ast.unparse(node.test)
            for inner in ast.walk(node)
        }
        for node in ast.walk(tree):
            if isinstance(node, ast.ImportFrom) and (node.module or "").partition(".")[0] == "microagg":
                package = (node.module or "").removeprefix("microagg").removeprefix(".")
                for alias in node.names:
                    inner = f"{package}.{alias.name}".removeprefix(".")
                    yield Import(name, inner if inner in known else package, id(node) in typing_only)
            elif isinstance(node, ast.Import):
                for alias in node.names:
                    if alias.name.startswith("microagg."):
                        yield Import(name, alias.name.removeprefix("microagg."), id(node) in typing_only)
            elif isinstance(node, ast.Constant) and isinstance(node.value, str):
                match = address.fullmatch(node.value)
                if match:
                    yield Import(name, match[1].removeprefix("."), address=True)


def draw() -> str:
    """The rooms as SVG, each line a layer; in small letters the rooms that it uses."""
    uses: dict[str, set[str]] = {room: set() for layer in LAYERS for room in layer}
    for one in imports():
        source, target = room_of(one.source), room_of(one.target)
        if source in uses and target in uses and source != target and not one.address:
            uses[source].add(target)
    order = [room for layer in LAYERS for room in layer]
    width, height, gap = 940, 44, 8
    drawn = []
    for line, layer in enumerate(LAYERS):
        y, share = 10 + line * (height + gap), (width - 20 - gap * (len(layer) - 1)) / len(layer)
        for place, room in enumerate(layer):
            x = 10 + place * (share + gap)
            used = ", ".join(other for other in order if other in uses[room] and other != "ground")
            drawn.append(f'<rect x="{x:.0f}" y="{y}" width="{share:.0f}" height="{height}" rx="6" fill="#eef3f8"/>')
            title = f"{escape(room)}" + ("" if len(layer) > 1 else f": {escape(WHAT[room])}")
            drawn.append(f'<text x="{x + 12:.0f}" y="{y + 18}" font-size="14" fill="#123">{title}</text>')
            below = WHAT[room] if len(layer) > 1 else f"uses {used}" if used else ""
            drawn.append(f'<text x="{x + 12:.0f}" y="{y + 35}" font-size="11" fill="#567">{escape(below)}</text>')
    total = 20 + len(LAYERS) * (height + gap)
    size = f'width="{width}" height="{total}" viewBox="0 0 {width} {total}"'
    body = "\n".join(drawn)
    return f'<svg xmlns="http://www.w3.org/2000/svg" {size} font-family="sans-serif">\n{body}\n</svg>\n'


if __name__ == "__main__":
    Path(__file__).with_suffix(".svg").write_text(draw(), encoding="utf-8")
