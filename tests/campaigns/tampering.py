"""Releases of many kinds, tampered with at random, by a clumsy forger and by one who mends the hashes.

What a reader without a key can find, ``check`` must find. The rest (values changed so that all that is promised still
holds, figures that compare with the original, which a reader does not have) must be found with the receipt, and with
the publisher's key.
"""

from __future__ import annotations

import hashlib
import json
import shutil
import tempfile
from collections.abc import Callable
from pathlib import Path
from typing import Any

import numpy as np
import pyarrow as pa
import pyarrow.parquet as pq

from campaigns.campaign import Campaign
from microagg import InputError
from microagg.releases.check.check import check_release
from microagg.releases.folder.signing import SIGNATURE, sign_manifest, write_key_pair
from microagg.reports.document import Report
from microagg.statements.statement import Statement
from release_kinds import RECIPES, made

Path_ = tuple[Any, ...]
FREE, DUE = "may pass", "must be found"


class Forgery:
    """A folder to tamper with, and what the forger does after."""

    def __init__(self, folder: Path, kind: str, rng: np.random.Generator, clever: int) -> None:
        self.folder, self.kind, self.rng, self.clever = folder, kind, rng, clever

    @property
    def table(self) -> Path:
        return next(self.folder.glob("table.*"))

    @property
    def is_private(self) -> bool:
        return self.kind.startswith("private")

    def read(self, name: str) -> Any:
        return json.loads((self.folder / name).read_text())

    def write(self, name: str, content: Any) -> None:
        (self.folder / name).write_text(json.dumps(content, indent=2, ensure_ascii=False) + "\n")

    def mend(self, touched: str) -> None:
        """Make what follows from the touched file follow again: nothing, hashes, or words and page and hashes."""
        there = (self.folder / touched).exists()
        if self.clever == 2 and touched == "statement.json" and there:
            try:
                words = str(Statement.from_dict(self.read("statement.json")))
            except (KeyError, TypeError, ValueError, AttributeError, IndexError):
                words = (self.folder / "statement.txt").read_text()
            (self.folder / "statement.txt").write_text(words)
        if self.clever == 2 and touched == "report.json" and there:
            try:
                page = Report(self.read("report.json")).as_html()
            except Exception:  # a template may fail in any way on a forged report
                page = (self.folder / "report.html").read_text()
            (self.folder / "report.html").write_text(page)
        if self.clever and touched != "manifest.json":
            manifest = self.read("manifest.json")
            for name in manifest["output"]["sha256"]:
                if (self.folder / name).exists():
                    digest = hashlib.sha256((self.folder / name).read_bytes()).hexdigest()
                    manifest["output"]["sha256"][name] = digest
            self.write("manifest.json", manifest)


# The table


def _rows(forgery: Forgery) -> tuple[list[str], bool]:
    text = forgery.table.read_text()
    return text.splitlines(), text.endswith("\n")


def change_rows(forgery: Forgery) -> str:
    """Drop, add, double or move rows of the table."""
    rng, path = forgery.rng, forgery.table
    how = rng.choice(["drop", "double", "turn"])
    if path.suffix == ".parquet":
        table = pq.read_table(path)
        order = list(range(table.num_rows))
        order = {"drop": order[1:], "double": [*order, 0], "turn": order[::-1]}[how]
        pq.write_table(table.take(order), path)
    else:
        lines, _ = _rows(forgery)
        body = lines[1:]
        body = {"drop": body[1:], "double": [*body, body[0]], "turn": body[::-1]}[how]
        path.write_text("\n".join([lines[0], *body]) + "\n")
    forgery.mend(path.name)
    return FREE if how == "turn" else DUE


def change_cell(forgery: Forgery) -> str:
    """Give the first record a value of its own."""
    path, rng = forgery.table, forgery.rng
    table = pq.read_table(path) if path.suffix == ".parquet" else None
    names = table.column_names if table is not None else [name.strip('"') for name in _rows(forgery)[0][0].split(",")]
    place = int(rng.integers(len(names)))
    if table is not None:
        values = table.column(place).to_pylist()
        values[0] = "zz" if isinstance(values[0], str) else 77.125
        if pa.types.is_integer(table.schema.field(place).type):
            values[0] = 77125
        array = pa.array(values, table.schema.field(place).type)
        pq.write_table(table.set_column(place, table.schema.field(place), array), path)
    else:
        lines, _ = _rows(forgery)
        cells = lines[1].split(",")
        if len(cells) != len(names):  # a comma in a text
            return change_rows(forgery)
        cells[place] = '"zz"' if cells[place].startswith('"') else "77.125"
        path.write_text("\n".join([lines[0], ",".join(cells), *lines[2:]]) + "\n")
    forgery.mend(path.name)
    protected = RECIPES[forgery.kind]["attributes"].get(names[place].lstrip("'"), "")
    counted = isinstance(protected, dict) and protected["role"] == "quasi_identifier"
    drawn = forgery.kind in ("sampled", "values mixed") or forgery.is_private
    return DUE if counted and not drawn else FREE


def change_columns(forgery: Forgery) -> str:
    """Rename, drop or add a column, or add metadata."""
    path = forgery.table
    how = str(forgery.rng.choice(["rename", "drop", "add", "metadata", "labels"]))
    if path.suffix == ".parquet":
        table = pq.read_table(path)
        first = table.column_names[0]
        if how == "rename":
            table = table.rename_columns(["renamed", *table.column_names[1:]])
        elif how == "drop":
            table = table.drop_columns([first])
        elif how == "add":
            table = table.append_column("added", pa.array(["x"] * table.num_rows))
        elif how == "metadata":
            table = table.replace_schema_metadata({"source": "original.csv"})
        else:
            labelled = table.schema.field(0).with_metadata({"microagg.value_labels": '[[987654, "who was left out"]]'})
            table = table.set_column(0, labelled, table.column(0))
        pq.write_table(table, path)
    else:
        lines, _ = _rows(forgery)
        if how == "drop" and "," in lines[0]:
            lines = [line.partition(",")[2] for line in lines]
        elif how == "add":
            lines = [f'{line},"added"' for line in lines]
        else:
            lines[0] = '"renamed"' + lines[0][lines[0].find(",") :]
        path.write_text("\n".join(lines) + "\n")
    forgery.mend(path.name)
    return DUE


# JSON


def _leaves(content: Any, path: Path_ = ()) -> list[Path_]:
    if isinstance(content, dict):
        return [leaf for key, one in content.items() for leaf in _leaves(one, (*path, key))] or [path]
    if isinstance(content, list):
        return [leaf for place, one in enumerate(content) for leaf in _leaves(one, (*path, place))] or [path]
    return [path]


def _changed(value: Any, rng: np.random.Generator) -> Any:
    if isinstance(value, bool):
        return [not value, int(value)][rng.integers(2)]
    if isinstance(value, int):
        return [value + 1, value - 1, float(value), str(value), 10**30][rng.integers(5)]
    if isinstance(value, float):
        return [value * 1.5 + 1, -value - 1, str(value)][rng.integers(3)]
    if isinstance(value, str):
        return [value + " indeed", value[:-1], value.upper() + "X", 7][rng.integers(4)]
    return ["something", 1, True][rng.integers(3)]


def _edit(content: Any, rng: np.random.Generator) -> Path_:
    """Change a leaf, drop it, or put something beside it; return where."""
    leaves = _leaves(content)
    path = leaves[int(rng.integers(len(leaves)))]
    holder = content
    for key in path[:-1]:
        holder = holder[key]
    how = rng.choice(["change", "change", "change", "drop", "add"])
    if how == "change" or not path:
        holder[path[-1]] = _changed(holder[path[-1]], rng)
    elif how == "drop":
        del holder[path[-1]]
    elif isinstance(holder, dict):
        holder["added"] = "by a forger"
        path = (*path[:-1], "added")
    else:
        holder.append(holder[0])
    return path


def change_statement(forgery: Forgery) -> str:
    content = forgery.read("statement.json")
    _edit(content, forgery.rng)
    forgery.write("statement.json", content)
    forgery.mend("statement.json")
    return DUE


def change_words(forgery: Forgery) -> str:
    path = forgery.folder / "statement.txt"
    lines = path.read_text().splitlines()
    place = int(forgery.rng.integers(len(lines)))
    lines[place : place + 1] = [["Nothing."], [], [lines[place], lines[place]]][forgery.rng.integers(3)]
    path.write_text("\n".join(lines) + "\n")
    forgery.mend("statement.txt")
    return DUE


_MIRRORED = ("k", "method")
_FREE_FACTS = ("guided", "paired", "n_cells", "smallest_cell", "largest_cell")


def change_manifest(forgery: Forgery) -> str:
    content = forgery.read("manifest.json")
    path = _edit(content, forgery.rng)
    forgery.write("manifest.json", content)
    if path[0] in ("id", "versions") or path == ("input", "sha256_salted"):
        return FREE
    if path[0] == "recipe" and not (len(path) == 2 and path[1] in _MIRRORED) and path[-1] not in ("role", "added"):
        return FREE
    if path[0] == "stages" and any(fact in path for fact in _FREE_FACTS):
        return FREE
    return DUE


def change_report(forgery: Forgery) -> str:
    if not (forgery.folder / "report.json").exists():
        return change_statement(forgery)
    content = forgery.read("report.json")
    path = _edit(content, forgery.rng)
    forgery.write("report.json", content)
    forgery.mend("report.json")
    of_original = path[0] in ("measures", "cells") or path[:2] == ("attributes", "described")
    # A page need not show every figure; of a private release nothing is told that compares with the original.
    return FREE if of_original and forgery.clever and not forgery.is_private else DUE


def change_page(forgery: Forgery) -> str:
    path = forgery.folder / "report.html"
    if not path.exists():
        return change_words(forgery)
    text = path.read_text()
    place = int(forgery.rng.integers(len(text)))
    path.write_text(text[:place] + "7" + text[place:])
    forgery.mend("report.html")
    return DUE


# Whole files


def swap_files(forgery: Forgery) -> str:
    """Put in files of a release of another kind."""
    others = [kind for kind in RECIPES if RECIPES[kind]["attributes"] != RECIPES[forgery.kind]["attributes"]]
    other = made(others[int(forgery.rng.integers(len(others)))])
    with tempfile.TemporaryDirectory() as scratch:
        names = sorted(path.name for path in forgery.folder.iterdir() if path.name != SIGNATURE)
        name = names[int(forgery.rng.integers(len(names)))]
        away = other.save(Path(scratch) / "other", format=forgery.table.name.partition(".")[2], report=True)
        shutil.copy(away / name, forgery.folder / name)
    forgery.mend(name)
    return DUE


def add_file(forgery: Forgery) -> str:
    (forgery.folder / str(forgery.rng.choice(["original.csv", ".hidden", "table.sav"]))).write_text("x")
    return DUE


def drop_file(forgery: Forgery) -> str:
    names = sorted(path.name for path in forgery.folder.iterdir() if path.name != SIGNATURE)
    name = names[int(forgery.rng.integers(len(names)))]
    (forgery.folder / name).unlink()
    if name != "manifest.json":
        forgery.mend(name)
    return DUE


def drop_report(forgery: Forgery) -> str:
    """Take the report away, and its hashes: a release need not have one."""
    if not (forgery.folder / "report.html").exists():
        return add_file(forgery)
    manifest = forgery.read("manifest.json")
    for name in ("report.html", "report.json"):
        (forgery.folder / name).unlink()
        del manifest["output"]["sha256"][name]
    forgery.write("manifest.json", manifest)
    return FREE


def hide_seed(forgery: Forgery) -> str:
    """Call a seeded release one for publication."""
    manifest = forgery.read("manifest.json")
    manifest["seeded"] = not manifest["seeded"]
    forgery.write("manifest.json", manifest)
    return DUE


WAYS: tuple[Callable[[Forgery], str], ...] = (
    change_rows,
    change_cell,
    change_cell,
    change_columns,
    change_statement,
    change_statement,
    change_words,
    change_manifest,
    change_manifest,
    change_report,
    change_report,
    change_page,
    swap_files,
    add_file,
    drop_file,
    drop_report,
    hide_seed,
)


def _found(folder: Path, **known: Any) -> bool:
    """Whether a check finds something wrong."""
    try:
        return not all(finding.holds for finding in check_release(folder, **known))
    except InputError:
        return True


def _bytes(folder: Path) -> dict[str, bytes]:
    return {path.name: path.read_bytes() for path in folder.iterdir()}


def case(number: int) -> str:
    rng = np.random.default_rng(number)
    kind = list(RECIPES)[int(rng.integers(len(RECIPES)))]
    with tempfile.TemporaryDirectory() as scratch:
        room = Path(scratch)
        publisher, forger = (write_key_pair(room / name) for name in ("publisher", "forger"))
        release = made(kind, seeded=bool(rng.random() < 0.2))
        folder = release.save(
            room / "out",
            format=str(rng.choice(["csv", "csv", "parquet"])),
            report=bool(rng.random() < 0.6),
            sign=publisher[0],
        )
        receipt = release.receipt_path(folder).rename(room / "receipt.json")
        assert not _found(folder, receipt=receipt, signed_by=publisher[1]), (
            f"{kind}: found fault with an honest release"
        )
        before = _bytes(folder)
        clever = int(rng.integers(3))
        forgery = Forgery(folder, kind, rng, clever)
        way = WAYS[int(rng.integers(len(WAYS)))]
        due = way(forgery)
        if _bytes(folder) == before:
            return "nothing changed"
        told = f"{way.__name__} of {kind}, clever {clever}"
        assert _found(folder, receipt=receipt), f"{told}: the receipt did not find it"
        if (folder / "manifest.json").exists():  # the best a forger can do: sign with a key of their own, or not at all
            content = sign_manifest((folder / "manifest.json").read_bytes(), forger[0])
            (folder / SIGNATURE).write_text(content) if rng.random() < 0.5 else (folder / SIGNATURE).unlink()
        assert _found(folder, signed_by=publisher[1]), f"{told}: the key did not find it"
        if _found(folder):
            return "found by a reader"
        assert due == FREE, f"{told}: a reader could have found it"
        return "found by receipt and key alone"


CAMPAIGN = Campaign(
    name="tampering",
    promise="What a reader can find is found by a reader, and everything by receipt or signature.",
    case=case,
    quick=40,
    long=2000,
    seconds=60,
    packages=("cryptography",),
)
