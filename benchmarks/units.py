"""What k units cost beside k records: loss and time, where units have one to five records.

Run with ``make bench`` or ``python benchmarks/units.py [--quick]``. Census and Adult need ``microagg datasets --fetch``
or ``MICROAGG_DATA``. Records are put into units of one to five: by chance, so that records of a unit are strangers, or
records that are near each other along the first principal component, so that they are alike. Losses are percent of the
total sum of squares; near-optimal cells are the mean of three seeds. The last table has 100,000 records of five
attributes, drawn so that 80 % of the variance lies between units, or none. Seconds are CPU time of whole releases,
compiling done before; the bar is three times the seconds without units.
"""

from __future__ import annotations

import argparse
import csv
import os
import time
from pathlib import Path

import numpy as np
import pyarrow as pa

import microagg

METHODS = ("mdav", "near_optimal")
ADULT = {"age": "numeric", "education-num": "numeric", "sex": "nominal", "race": "nominal", "marital-status": "nominal"}
SEEDS = {"mdav": (0,), "near_optimal": (0, 1, 2)}
BAR = 3.0


def rows_of(name: str) -> list[dict[str, str]]:
    folder = Path(os.environ.get("MICROAGG_DATA") or Path(__file__).resolve().parents[2] / "shared" / "data")
    with (folder / f"{name}.csv").open(encoding="utf-8") as file:
        return list(csv.DictReader(file, skipinitialspace=True))


def census() -> dict[str, np.ndarray]:
    rows = rows_of("census")
    return {name: np.array([float(row[name]) for row in rows]) for name in rows[0]}


def adult() -> dict[str, np.ndarray]:
    rows = [row for row in rows_of("adult") if all(row[name] != "?" for name in ADULT)][:10_000]
    return {
        name: np.array([float(row[name]) if kind == "numeric" else row[name] for row in rows])
        for name, kind in ADULT.items()
    }


def keys(columns: dict[str, np.ndarray], alike: bool) -> np.ndarray:
    """Units of one to five records: neighbours on a line, or strangers."""
    rng = np.random.default_rng(0)
    n_records = len(next(iter(columns.values())))
    sizes = rng.integers(1, 6, n_records)
    of_places = np.repeat(np.arange(n_records), sizes)[:n_records]
    order = rng.permutation(n_records)
    if alike:
        numbers = np.column_stack([np.unique(column, return_inverse=True)[1] for column in columns.values()])
        scaled = (numbers - numbers.mean(axis=0)) / numbers.std(axis=0)
        order = np.argsort(scaled @ np.linalg.svd(scaled, full_matrices=False)[2][0], kind="stable")
    found = np.empty(n_records, dtype=np.int64)
    found[order] = of_places
    return found


def drawn(n_records: int, alike: float) -> dict[str, np.ndarray]:
    """A table whose units have that share of the variance between them."""
    rng = np.random.default_rng(1)
    units = np.repeat(np.arange(n_records), rng.integers(1, 6, n_records))[:n_records]
    values = np.sqrt(1 - alike) * rng.normal(size=(n_records, 5))
    values += np.sqrt(alike) * rng.normal(size=(n_records, 5))[units]
    order = rng.permutation(n_records)
    return {"id": units[order]} | {f"x{j}": values[order, j] for j in range(5)}


def release(columns: dict[str, np.ndarray], k: int, method: str, unit: dict | None) -> tuple[float, float]:
    """The loss in percent, over seeds, and the CPU seconds of one release."""
    attributes = {
        name: {"role": "quasi_identifier", "kind": "nominal" if values.dtype.kind == "U" else "numeric"}
        for name, values in columns.items()
        if name != "id"
    }
    recipe = microagg.Recipe(k=k, method=method, unit=unit, attributes={"id": "identifier", **attributes})
    table = pa.table(columns)
    losses, started = [], time.process_time()
    for seed in SEEDS[method]:
        losses.append(microagg.release(table, recipe, seed=seed).information_loss)
    return float(np.mean(losses)), (time.process_time() - started) / len(losses)


def main() -> None:
    parser = argparse.ArgumentParser(description=__doc__.splitlines()[0])
    parser.add_argument("--quick", action="store_true", help="10,000 records instead of 100,000, and no Adult")
    quick = parser.parse_args().quick
    ways = (None, {"key": "id"}, {"key": "id", "together": True})
    warm = drawn(6_500, 0.8)
    for method in METHODS:
        for unit in ways:
            release({name: column[:500] for name, column in warm.items()}, 5, method, unit)
            release(warm, 5, method, unit)
    print("loss in percent: k records, k units, k units with all their records in one cell")
    for name, columns in {"Census": census(), **({} if quick else {"Adult, 10,000": adult()})}.items():
        for alike in (False, True):
            table = {"id": keys(columns, alike), **columns}
            for method in METHODS:
                for k in (3, 10):
                    lost = [release(table, k, method, unit)[0] for unit in ways]
                    print(
                        f"{name:>14} {'alike' if alike else 'strangers':>9} {method:>12} k = {k:<3}"
                        + "".join(f"{one:8.3f}" for one in lost),
                        flush=True,
                    )
    n_records = 10_000 if quick else 100_000
    print(f"{n_records:,} x 5, k = 5: CPU seconds and loss without units, with them; bar {BAR:g} times the seconds")
    for share in (0.0, 0.8):
        for method in METHODS:
            SEEDS[method] = (0,)
            (without, before), (lost, seconds) = (
                release(drawn(n_records, share), 5, method, unit) for unit in ways[:2]
            )
            verdict = "within" if seconds <= BAR * before else "ABOVE"
            print(
                f"{share:.0%} between units {method:>12}: {before:6.1f} s {without:.3f} %, {seconds:6.1f} s "
                f"{lost:.3f} %, {seconds / before:.1f} times, {verdict} the bar",
                flush=True,
            )


if __name__ == "__main__":
    main()
