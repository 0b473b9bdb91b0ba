"""The page about units is true: its Python runs, and its recipe is one."""

from __future__ import annotations

import re
import tomllib
from pathlib import Path

import pyarrow as pa

import microagg

PAGE = (Path(__file__).resolve().parents[2] / "docs" / "units.md").read_text(encoding="utf-8")


def block(language: str) -> str:
    (found,) = re.findall(rf"^```{language}\n(.*?)^```$", PAGE, re.DOTALL | re.MULTILINE)
    return found


def test_its_python_gives_cells_of_four_persons():
    names: dict = {"microagg": microagg, "pa": pa}
    exec(block("python"), names)
    release, table = names["release"], names["table"]
    persons: dict = {}
    for age, origin in zip(release.table["age"].to_pylist(), release.origins, strict=True):
        persons.setdefault(age, set()).add(table["person_id"][int(origin)].as_py())
    assert min(map(len, persons.values())) >= 4


def test_its_recipe_is_one():
    told = tomllib.loads(block("toml"))
    attributes = {"person_id": "identifier", "age": {"role": "quasi_identifier", "kind": "numeric"}}
    assert microagg.Recipe(k=4, attributes=attributes, **told).unit.key == "person_id"
