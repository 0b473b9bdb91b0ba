"""The rooms of the house: who may know whom. Lazy imports count as much as others."""

from __future__ import annotations

import ast
import importlib.util
import sys
from functools import cache
from pathlib import Path

import pytest

ROOT = Path(__file__).resolve().parents[2]


def _script():
    spec = importlib.util.spec_from_file_location("layers_picture", ROOT / "docs" / "pictures" / "layers.py")
    module = importlib.util.module_from_spec(spec)
    sys.modules[spec.name] = module  # dataclasses look there
    spec.loader.exec_module(module)
    return module


layers = _script()
MODULES = layers.modules()
IMPORTS = layers.imports()
HEIGHT = {room: -place for place, layer in enumerate(layers.LAYERS) for room in layer} | {"facade": 1}

# The catalogue lists where private methods keep their entries; it imports them when they are asked for by name.
POINTS_UP = {"methods.catalogue": "private", "methods.cross_moment": "private"}


def test_every_module_is_in_a_room_that_the_picture_shows():
    unknown = sorted({layers.room_of(module) for module in MODULES} - set(HEIGHT))
    assert not unknown, f"place these rooms in docs/pictures/layers.py: {unknown}"


def test_no_room_knows_one_above_it():
    upward = sorted(
        f"{one.source} -> {one.target}"
        for one in IMPORTS
        if HEIGHT[layers.room_of(one.target)] > HEIGHT[layers.room_of(one.source)]
        and not (one.address and POINTS_UP.get(one.source) == layers.room_of(one.target))
    )
    assert not upward


def test_rooms_beside_each_other_are_not_in_a_circle():
    edges = {
        (layers.room_of(one.source), layers.room_of(one.target))
        for one in IMPORTS
        if layers.room_of(one.source) != layers.room_of(one.target) and not one.address
    }
    assert not circles(set(HEIGHT), edges)


def test_no_modules_import_each_other_in_a_circle():
    edges = {(one.source, one.target) for one in IMPORTS if not one.typing_only and not one.address}
    assert not circles(set(MODULES), edges)


def circles(nodes: set[str], edges: set[tuple[str, str]]) -> list[list[str]]:
    """Nodes that reach each other (Tarjan), in groups of two or more."""
    following: dict[str, list[str]] = {node: [] for node in nodes}
    for source, target in edges:
        following[source].append(target)
    found, index, low, stack, on_stack = [], {}, {}, [], set()

    def visit(node: str) -> None:
        index[node] = low[node] = len(index)
        stack.append(node)
        on_stack.add(node)
        for other in following[node]:
            if other not in index:
                visit(other)
                low[node] = min(low[node], low[other])
            elif other in on_stack:
                low[node] = min(low[node], index[other])
        if low[node] == index[node]:
            group = []
            while not group or group[-1] != node:
                group.append(stack.pop())
                on_stack.discard(group[-1])
            if len(group) > 1:
                found.append(group)

    for node in sorted(nodes):
        if node not in index:
            visit(node)
    return found


def test_circles_are_found():
    assert circles({"a", "b", "c"}, {("a", "b"), ("b", "c")}) == []
    assert [sorted(group) for group in circles({"a", "b", "c"}, {("a", "b"), ("b", "a"), ("b", "c")})] == [["a", "b"]]


@cache
def libraries_of(path: Path) -> set[str]:
    """Top-level names of everything that a module imports."""
    found = set()
    for node in ast.walk(ast.parse(path.read_text(encoding="utf-8"))):
        if isinstance(node, ast.Import):
            found |= {alias.name.partition(".")[0] for alias in node.names}
        elif isinstance(node, ast.ImportFrom) and node.level == 0:
            found.add((node.module or "").partition(".")[0])
    return found


@pytest.mark.parametrize("library", ["pandas", "polars", "pyspark"])
def test_dataframe_libraries_are_met_in_tables_only(library):
    elsewhere = [
        module
        for module, path in MODULES.items()
        if library in libraries_of(path) and layers.room_of(module) not in ("tables", "engines")
    ]
    assert not elsewhere


def test_a_report_measures_nothing():
    used = {
        one.target
        for one in IMPORTS
        if layers.room_of(one.source) == "reports" and layers.room_of(one.target) == "evaluation"
    }
    assert used == {"evaluation.result"}


@pytest.mark.parametrize("room", ["cli", "studio"])
def test_doors_hold_no_mathematics(room):
    computing = [
        module
        for module, path in MODULES.items()
        if layers.room_of(module) == room and libraries_of(path) & {"numpy", "scipy", "sklearn", "numba", "opendp"}
    ]
    assert not computing


def test_files_and_folders_stay_small_enough_to_read():
    long = {module: count for module, path in MODULES.items() if (count := len(path.read_text().splitlines())) > 400}
    folders = {path.parent for path in MODULES.values()}
    full = {folder.name: count for folder in folders if (count := len(list(folder.glob("*.py")))) > 15}
    assert not long
    assert not full


def test_the_picture_is_that_of_the_code():
    assert (ROOT / "docs" / "pictures" / "layers.svg").read_text(encoding="utf-8") == layers.draw()
