"""Random tables whose units have one record or many: every class of the written file holds records of k units."""

from __future__ import annotations

import csv
import json
from collections import defaultdict
from typing import Any

import numpy as np
import pyarrow as pa
from hypothesis import given, settings
from hypothesis import strategies as st

import microagg
from declarations import nominal, numeric, ordinal
from microagg import Recipe
from microagg.errors import InputError
from microagg.releases.check.check import check_release
from microagg.tables.write import write_table

Rng = np.random.Generator

METHODS = ("mdav", "vmdav", "near_optimal", "pcp", "zscores", "individual_ranking", "optimal_univariate")
LEVELS = ["low", "middle", "high"]
PROTECTED = (
    {"distinct_l": 2},
    {"p_sensitive": 2},
    {"entropy_l": 1.3},
    {"recursive_c_l": [4.0, 2]},
    {"t_closeness": 0.4},
    {"max_share": 0.8},
)


def keys_of(rng: Rng, n_records: int) -> list[str]:
    """Whose records are: few units or many, of like sizes or one of them huge."""
    shape = rng.choice(["even", "huge", "skewed", "alone"])
    if shape == "alone":
        codes = np.arange(n_records)
    elif shape == "huge":
        codes = np.where(rng.random(n_records) < 0.5, 0, rng.integers(0, n_records, n_records))
    elif shape == "skewed":
        codes = (rng.random(n_records) ** 3 * n_records / 2).astype(int)
    else:
        codes = rng.integers(0, max(n_records // 3, 2), n_records)
    return [str(rng.choice([f"p{code}", f" p{code}", f"P{code} "])) for code in codes]


def column_of(rng: Rng, units: list[str], kind: str) -> list[Any]:
    """Values that records of one unit share, or nearly, or not at all."""
    base = {unit: rng.normal() for unit in dict.fromkeys(unit.strip().lower() for unit in units)}
    spread = float(rng.choice([0.0, 0.1, 1.0]))
    values = np.array([base[unit.strip().lower()] for unit in units]) + spread * rng.normal(size=len(units))
    if kind == "numeric":
        return np.round(values, int(rng.choice([0, 1, 4]))).tolist()
    names = LEVELS if kind == "ordinal" else ["a", "b", "c", "d"]
    return [names[int(abs(value) * 2) % len(names)] for value in values]


def table_and_recipe(rng: Rng) -> tuple[dict[str, list[Any]], dict[str, Any]]:
    n_records, method = int(rng.integers(12, 90)), str(rng.choice(METHODS))
    columns: dict[str, list[Any]] = {"id": keys_of(rng, n_records)}
    attributes: dict[str, Any] = {"id": "identifier"}
    unit: dict[str, Any] = {"key": "id"}
    recipe: dict[str, Any] = {"k": int(rng.integers(2, 6)), "method": method, "unit": unit, "attributes": attributes}
    alone = method in ("individual_ranking", "optimal_univariate")
    for place in range(int(rng.integers(1, 4))):
        kind = str(rng.choice(["numeric", "numeric", "ordinal"] if alone else ["numeric", "numeric", "nominal"]))
        name = f"q{place}"
        columns[name] = column_of(rng, columns["id"], kind)
        attributes[name] = {"numeric": numeric(), "nominal": nominal(), "ordinal": ordinal(categories=LEVELS)}[kind]
        if rng.random() < 0.3:
            columns[name] = [None if rng.random() < 0.1 else value for value in columns[name]]
    columns["ill"] = column_of(rng, columns["id"], "nominal")
    attributes["ill"] = nominal(role="confidential")
    recipe["missing"] = {
        "policy": str(rng.choice(["own_cell", "impute", "suppress"])),
        "small": str(rng.choice(["merge_small", "merge_small", "refuse"])),
    }
    recipe["output"] = {"order": str(rng.choice(["shuffled", "kept"]))}
    if method == "optimal_univariate":
        recipe["blocks"] = {"form": "contiguous", "size": 1}
    elif not alone:
        _more(rng, recipe, columns, attributes)
    if rng.random() < 0.3:
        unit["together"] = True
        if "protect" in recipe:
            recipe["rearrange"] = {"by": "merge"}
    if rng.random() < 0.2:
        columns["weight"] = rng.uniform(1.0, 9.0, n_records).tolist()
        attributes["weight"], recipe["sampling_weight"] = "non_confidential", "weight"
    return columns, recipe


def _more(rng: Rng, recipe: dict[str, Any], columns: dict[str, list[Any]], attributes: dict[str, Any]) -> None:
    """Strata, blocks, requirements on confidential values, guides, ways, limits."""
    draw = rng.random()
    if draw < 0.25:
        columns["region"] = column_of(rng, columns["id"], "nominal")
        attributes["region"] = nominal()
        recipe["strata"] = {"by": ["region"], "small": str(rng.choice(["merge_small", "merge_small", "refuse"]))}
    elif draw < 0.4:
        recipe["blocks"] = {"form": "contiguous", "size": 1}
    elif draw < 0.65:
        recipe["protect"] = {"ill": PROTECTED[int(rng.integers(len(PROTECTED)))]}
    elif draw < 0.75:
        recipe["space"] = {"dependence": {"lambda": 0.5, "attributes": ["ill"]}}
    if rng.random() < 0.5:
        recipe["rearrange"] = {"by": str(rng.choice(["search", "swap", "merge"]))}
        if recipe["rearrange"]["by"] == "search" and rng.random() < 0.5:
            recipe["rearrange"] |= {"effort": str(rng.choice(["fast", "default"])), "time_limit": 0.2}


def fewest_units(rows: list[list[str]], header: list[str], block: list[str], units: list[str]) -> int:
    """Of the classes of a file, read as text, the fewest units of one."""
    places = [header.index(name) for name in block]
    classes = defaultdict(set)
    for row, unit in zip(rows, units, strict=True):
        classes[tuple(row[place] for place in places)].add(unit)
    return min(len(some) for some in classes.values())


def released_and_counted(number: int, folder: Any) -> str:
    rng = np.random.default_rng([22, number])
    columns, arguments = table_and_recipe(rng)
    table = pa.table(columns)
    try:
        recipe = Recipe(**arguments)
        source = folder / "input.parquet"
        write_table(table, source)
        made = microagg.release(table, recipe, seed=number, source=source)
    except InputError:
        return "refused"
    out = folder / "out"
    made.save(out)
    with (out / "table.csv").open(newline="") as file:
        header, *rows = list(csv.reader(file))
    assert "id" not in header
    units = [columns["id"][origin].strip().lower() for origin in made.origins]
    manifest = json.loads((out / "manifest.json").read_text())
    for stage in manifest["stages"]:
        for block in stage.get("blocks", []):
            assert block["fewest_units"] >= recipe.k
            assert fewest_units(rows, header, block["attributes"], units) >= block["fewest_units"]
    broken = [one for one in check_release(out, original=source) if not one.holds]
    assert not broken
    return "released"


@settings(max_examples=60, deadline=None)
@given(number=st.integers(0, 10**9))
def test_every_class_of_a_written_file_holds_records_of_k_units(number, tmp_path_factory):
    released_and_counted(number, tmp_path_factory.mktemp("units"))


def test_most_of_these_tables_are_released(tmp_path_factory):
    ends = [released_and_counted(number, tmp_path_factory.mktemp("units")) for number in range(12)]
    assert ends.count("released") >= 6
