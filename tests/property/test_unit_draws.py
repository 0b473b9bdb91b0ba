"""Drawn records where a unit has one record or many: each published value is of enough units, by a plain recount."""

from __future__ import annotations

import csv
from pathlib import Path
from typing import Any

import numpy as np
import pyarrow as pa
from hypothesis import given, settings
from hypothesis import strategies as st

import microagg
from declarations import nominal, numeric, ordinal
from microagg import GuaranteeError, Recipe
from microagg.aggregate.units import records_of_units
from microagg.errors import InputError
from microagg.releases.check.check import check_release
from microagg.tables.write import write_table

LEVELS = ["low", "middle", "high"]
KEYS = st.lists(st.integers(0, 6), min_size=1, max_size=30)


def keys_of(rng: np.random.Generator, n_records: int) -> list[str]:
    """Whose records are: one of a unit, or a few, or one unit with most of them."""
    shape = rng.choice(["alone", "even", "huge", "skewed"])
    if shape == "alone":
        codes = np.arange(n_records)
    elif shape == "even":
        codes = rng.integers(0, n_records // 3, n_records)
    elif shape == "huge":
        codes = np.where(rng.random(n_records) < 0.6, 0, rng.integers(0, n_records, n_records))
    else:
        codes = (rng.random(n_records) ** 2 * n_records / 2).astype(int)
    return [f"p{code}" for code in codes]


def numbers_of(rng: np.random.Generator, keys: list[str]) -> list[Any]:
    """Numbers that many records share, or few, or those of one unit alone."""
    base = {key: rng.normal() for key in dict.fromkeys(keys)}
    spread = float(rng.choice([0.0, 0.3, 1.0]))
    numbers = np.array([base[key] for key in keys]) + spread * rng.normal(size=len(keys))
    numbers = np.round(numbers * 10, int(rng.choice([0, 1, 5])))
    if rng.random() < 0.4:
        numbers[rng.random(len(keys)) < 0.5] = 0.0
    lacks = rng.random(len(keys)) < (0.1 if rng.random() < 0.4 else 0.0)
    return [None if lack else float(number) for lack, number in zip(lacks, numbers, strict=True)]


def table_and_recipe(rng: np.random.Generator) -> tuple[dict[str, list[Any]], dict[str, Any]]:
    n_records, k = int(rng.integers(40, 150)), int(rng.integers(2, 8))
    columns: dict[str, list[Any]] = {"id": keys_of(rng, n_records)}
    attributes: dict[str, Any] = {"id": "identifier"}
    for name in ("x", "y")[: int(rng.integers(1, 3))]:
        columns[name], attributes[name] = numbers_of(rng, columns["id"]), numeric()
    whose = np.unique(columns["id"], return_inverse=True)[1]
    columns["town"] = [f"t{code % 7}" for code in whose]
    columns["grade"] = [LEVELS[int(place)] for place in rng.choice(3, n_records, p=[0.05, 0.45, 0.5])]
    attributes |= {"town": nominal(), "grade": ordinal(categories=LEVELS)}
    columns["ill"] = [str(one) for one in rng.choice(["no", "flu"], n_records)]
    attributes["ill"] = nominal(role="confidential")
    aggregate: dict[str, Any] = {"form": "sampled", "paired_with": "ill", "draws": "shared"}
    if rng.random() < 0.3:
        aggregate |= {"share": 2, "rare": 2}
    recipe = {
        "k": k,
        "unit": {"key": "id", "together": bool(rng.random() < 0.3)},
        "attributes": attributes,
        "aggregate": aggregate,
        "missing": {"policy": str(rng.choice(["own_cell", "impute", "suppress"])), "small": "merge_small"},
        "output": {"order": str(rng.choice(["shuffled", "kept"]))},
    }
    if rng.random() < 0.3:
        columns["w"] = [1e6 if rng.random() < 0.02 else 1.0 for _ in range(n_records)]
        attributes["w"], recipe["sampling_weight"] = "non_confidential", "w"
    return columns, recipe


def numbers_by_hand(numbers: list[float], keys: list[str], k: int, share: int) -> np.ndarray:
    """What may be published, by a walk over the numbers: those of `share` units, and places of intervals of k."""
    least = max(k, 5)
    having: dict[float, list[str]] = {}
    for number, key in sorted(zip(numbers, keys, strict=True)):
        having.setdefault(number, []).append(key)
    pieces: list[list[float]] = []
    gap: list[float] = []

    def units_in(some: list[float]) -> int:
        return len({key for number in some for key in having[number]})

    def close() -> None:
        if units_in(gap) >= least:
            parts: list[list[float]] = [[]]
            for number in gap:
                if units_in(parts[-1]) >= least:
                    parts.append([])
                parts[-1].append(number)
            if units_in(parts[-1]) < least:
                left_over = parts.pop()
                parts[-1] += left_over
            pieces.extend(parts)
        gap.clear()

    for number, whose in having.items():
        if len(set(whose)) >= share:
            close()
            pieces.append([number])
        else:
            gap.append(number)
    close()
    held = [[(number, key) for number in piece for key in having[number]] for piece in pieces]
    of_records = [[number for number, _ in some] for some in held]
    # Each unit has one part, which its records share.
    parts = [[1 / [other for _, other in some].count(key) for _, key in some] for some in held]
    centres = np.array([average(some, part) for some, part in zip(of_records, parts, strict=True)])
    found = []
    for place, some in enumerate(of_records):
        room = np.abs(np.delete(centres, place) - centres[place]).min(initial=np.inf)
        spread = np.sqrt(average((np.array(some) - centres[place]) ** 2, parts[place]))
        half = min(np.sqrt(3) * spread, room) if len(set(some)) > 1 else 0.0
        found.append(centres[place] + half * np.arange(-10, 11) / 10.5)
    return np.concatenate(found)


def average(numbers: Any, parts: list[float]) -> float:
    return float(numbers[0]) if len(set(numbers)) == 1 else float(np.average(numbers, weights=parts))


def written(folder: Path) -> dict[str, list[str]]:
    with (folder / "table.csv").open(newline="") as file:
        return {name: list(column) for name, *column in zip(*csv.reader(file), strict=True)}


def released_and_counted(number: int, folder: Path) -> str:
    rng = np.random.default_rng([23, number])
    columns, arguments = table_and_recipe(rng)
    source = folder / "input.parquet"
    write_table(pa.table(columns), source)
    try:
        recipe = Recipe(**arguments)
        made = microagg.release(pa.table(columns), recipe, seed=number, source=source)
    except (InputError, GuaranteeError):
        return "refused"
    out = made.save(folder / "out")
    names = [name for name in ("x", "y", "town", "grade") if name in columns]
    took_part = range(len(columns["id"]))
    if recipe.missing.policy == "suppress":
        took_part = [row for row in took_part if all(columns[name][row] is not None for name in names)]
    share = min(recipe.aggregate.share or recipe.k, recipe.k)
    for name, texts in written(out).items():
        rows = [row for row in took_part if name in names and columns[name][row] is not None]
        keys = [columns["id"][row] for row in rows]
        if name in ("x", "y"):
            allowed = numbers_by_hand([columns[name][row] for row in rows], keys, recipe.k, share)
            published = np.array(sorted({float(text) for text in texts if text}))
            off = np.abs(published[:, None] - allowed).min(axis=1, initial=np.inf)
            assert (off <= 1e-9 * np.maximum(np.abs(published), 1)).all()
        elif name in names:
            for category in set(texts):
                assert len(
                    {columns["id"][row] for row in rows if columns[name][row] == category}
                ) >= recipe.aggregate.rarest(recipe.k)
    assert [one for one in check_release(out, original=source) if not one.holds] == []
    units = np.array(columns["id"])[list(took_part)]
    labels = made.partition[list(took_part)]
    fewest = min(len(set(units[labels == label])) for label in set(labels.tolist()))
    (cells,) = (stage["blocks"][0] for stage in made.manifest.stages if stage["stage"] == "partition")
    assert cells["fewest_units"] == fewest >= recipe.k
    return "released"


@settings(max_examples=40, deadline=None)
@given(number=st.integers(0, 10**9))
def test_every_written_value_is_of_enough_units(number, tmp_path_factory):
    released_and_counted(number, tmp_path_factory.mktemp("drawn"))


def test_most_of_these_tables_are_released(tmp_path_factory):
    ends = [released_and_counted(number, tmp_path_factory.mktemp("drawn")) for number in range(12)]
    assert ends.count("released") >= 8


@given(keys=KEYS, k=st.integers(1, 5), seed=st.integers(0, 1000))
def test_so_many_records_are_always_of_k_units_and_one_fewer_need_not_be(keys, k, seed):
    units = np.array(keys)
    least = records_of_units(units, k)
    rng = np.random.default_rng(seed)
    if least <= len(units):
        for _ in range(5):
            assert len(set(rng.permutation(units)[:least])) >= k
    largest = sorted(set(keys), key=keys.count, reverse=True)[: k - 1]
    fewer = [key for key in keys if key in largest]
    assert len(fewer) <= least - 1
    if len(set(keys)) >= k:
        assert len(fewer) == least - 1
    assert records_of_units(np.arange(30), k) == records_of_units(None, k) == k
