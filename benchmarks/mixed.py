"""Mixed tables: numbers and categories together, at the sizes that offices have.

Run with ``python benchmarks/mixed.py [--records 50000 100000 200000 1000000] [--coordinates] [--adult] [--compiling]``.
Each size is released in a process of its own (k = 10, MDAV, the whole of `release`), after a small release that
compiles or loads the kernels. Printed are CPU seconds, the peak memory of the process (imports, kernels and the table
included) and how the time grows. ``--coordinates`` also forms the cells by coordinates, a column per category.
``--adult`` searches near-optimal cells of Adult (needs ``microagg datasets --fetch`` or ``MICROAGG_DATA``).
``--compiling`` tells what each road compiles on a machine where nothing is compiled.
"""

from __future__ import annotations

import argparse
import json
import os
import subprocess
import sys
import tempfile
import time
from collections.abc import Sequence
from pathlib import Path
from typing import Any

import numpy as np
import pyarrow as pa

K = 10
SIZES = (50_000, 100_000, 200_000, 1_000_000)
# Shares of categories, as frequent as those of a census: a few large ones, and many rare ones.
CATEGORIES = {
    "workclass": (70, 8, 6, 4, 4, 3, 0.04, 0.02),
    "marital_status": (46, 33, 14, 3, 3, 1, 0.1),
    "occupation": (13, 13, 12.5, 12, 11.5, 10, 6.5, 5, 4.5, 4.3, 3.2, 2, 0.5, 0.03),
    "relationship": (40, 26, 16, 10.5, 5, 3),
    "race": (85.5, 9.6, 3.1, 1, 0.8),
    "sex": (67, 33),
    "native_country": (91.5, 2, 0.6, *(0.45 * 0.93**i for i in range(38))),
}
NUMBERS = ("age", "education_num")
ADULT = ("age", "education-num", "workclass", "marital-status", "occupation", "relationship", "race", "sex")
ADULT = (*ADULT, "native-country")
COMPILING = """
import sys, time
import numpy as np
from microagg import MDAV, VMDAV, NearOptimal
from microagg.partition.uncompiled.choice import always_by
from microagg.space.points import NominalColumn, Points
from microagg.evaluation.risk.linkage import chance_of_link

rng = np.random.default_rng(0)
numbers = rng.normal(size=(400, 3))
mixed = Points(np.column_stack([numbers, rng.integers(0, 4, size=(400, 2))]), (NominalColumn("a", 4),) * 2)
X = mixed if sys.argv[2] == "codes" else numbers
import numba
start = time.process_time()
with always_by("kernels"):
    if sys.argv[1] == "linkage":
        chance_of_link(X, X, np.arange(400))
    else:
        {
            "mdav, tree": lambda: MDAV(3, algorithm="tree"),
            "mdav, scan": lambda: MDAV(3, algorithm="plain" if sys.argv[2] == "codes" else "brute"),
            "vmdav, scan": lambda: VMDAV(3),
            "near_optimal": lambda: NearOptimal(3, effort="fast", random_state=0),
        }[sys.argv[1]]().fit(X)
print(time.process_time() - start)
"""


def adult_like(n_records: int, seed: int = 0) -> pa.Table:
    """A table like Adult, of any length: two numbers, seven attributes of 83 categories, and an income.

    Thirty kinds of people, more or less frequent, each with its own mean and spread of the numbers and its own shares
    of the categories, so that attributes depend on each other and combinations repeat.
    """
    rng = np.random.default_rng(seed)
    n_kinds = 30
    kind = rng.choice(n_kinds, size=n_records, p=rng.dirichlet(np.full(n_kinds, 1.5)))
    means = {"age": rng.uniform(22, 62, n_kinds), "education_num": rng.uniform(7, 13, n_kinds)}
    spreads = {"age": rng.uniform(4, 12, n_kinds), "education_num": rng.uniform(1, 2.5, n_kinds)}
    limits = {"age": (17, 90), "education_num": (1, 16)}
    columns: dict[str, Any] = {}
    for name in NUMBERS:
        drawn = rng.normal(means[name][kind], spreads[name][kind])
        columns[name] = np.clip(np.rint(drawn), *limits[name]).astype(np.int64)
    for name, weights in CATEGORIES.items():
        shares = np.array(weights) / np.sum(weights)
        of_kind = np.cumsum([rng.dirichlet(5.0 * shares + 1e-3) for _ in range(n_kinds)], axis=1)
        drawn, codes = rng.random(n_records), np.empty(n_records, dtype=np.int32)
        for one in range(n_kinds):
            codes[kind == one] = np.searchsorted(of_kind[one], drawn[kind == one]).clip(0, len(shares) - 1)
        labels = [f"{name} {place}" for place in range(len(shares))]
        columns[name] = pa.DictionaryArray.from_arrays(pa.array(codes), labels).cast(pa.string())
    score = 0.03 * columns["age"] + 0.2 * columns["education_num"] + rng.logistic(size=n_records)
    columns["income"] = np.where(score > 4.5, "high", "low")
    return pa.table(columns)


def recipe_for(names: Sequence[str], numbers: Sequence[str], **more: Any) -> Any:
    from microagg import Recipe

    kinds = {name: "numeric" if name in numbers else "nominal" for name in names}
    attributes = {name: {"role": "quasi_identifier", "kind": kind} for name, kind in kinds.items()}
    return Recipe(k=K, attributes={**attributes, "income": "confidential"}, **more)


def encoded(table: pa.Table, names: Sequence[str], numbers: Sequence[str]) -> list[Any]:
    """The quasi-identifiers of a table, as a release has them before the space is built."""
    from microagg.schema.encode import encode
    from microagg.tables.frames import Frame

    recipe = recipe_for(names, numbers)
    frame = Frame.wrap(table.select(list(names)), lambda _: None)
    return [encode(frame.column(name), recipe.attributes[name]) for name in names]


def peak_gib() -> float:
    """The peak of this process alone; what `resource` tells begins with the parent's."""
    status = Path("/proc/self/status").read_text(encoding="utf-8")
    return int(status.split("VmHWM:")[1].split()[0]) / 2**20


def one(n_records: int) -> None:
    """Release one table; for a process of its own."""
    import microagg

    table = adult_like(n_records)
    recipe = recipe_for([*NUMBERS, *CATEGORIES], NUMBERS)
    from microagg.partition.uncompiled.choice import always_by

    with always_by("kernels"):
        microagg.release(table.slice(0, 5_000), recipe)
    start = time.process_time()
    released = microagg.release(table, recipe)
    taken = time.process_time() - start
    print(json.dumps({"seconds": taken, "peak": peak_gib(), "loss": released.information_loss}))


def releases(sizes: Sequence[int]) -> None:
    print(f"\n=== Release of tables like Adult, 9 quasi-identifiers of 85 values, MDAV, k = {K}")
    seconds = []
    for n_records in sizes:
        shown = subprocess.run(
            [sys.executable, __file__, "--one", str(n_records)], capture_output=True, text=True, check=True
        )
        found = json.loads(shown.stdout)
        seconds.append(found["seconds"])
        print(
            f"    {n_records:>9,} records: {found['seconds']:6.2f} s of CPU, {found['peak']:.2f} GiB, "
            f"loses {found['loss']:.3f} %",
            flush=True,
        )
    if len(sizes) > 1:
        print(f"    grows as n^{np.polyfit(np.log(sizes), np.log(seconds), 1)[0]:.2f}")


def by_coordinates(sizes: Sequence[int]) -> None:
    """Form the same cells by codes and by coordinates, in one run."""
    from microagg import MDAV
    from microagg.space.mixed import mixed_points, mixed_space

    print(f"\n=== MDAV by codes and by coordinates, k = {K}, CPU seconds")
    for n_records in (5_000, *sizes):
        columns = encoded(adult_like(n_records), [*NUMBERS, *CATEGORIES], NUMBERS)
        taken, losses = [], []
        for space in (mixed_points(columns), mixed_space(columns).matrix):
            start = time.process_time()
            losses.append(MDAV(k=K, algorithm="tree").fit(space).sse_)
            taken.append(time.process_time() - start)
        if n_records > 5_000:  # the first compiles
            print(
                f"    {n_records:>9,} records: {taken[0]:6.2f} and {taken[1]:6.2f} s, {taken[1] / taken[0]:.1f} times; "
                f"SSE {losses[0]:.0f} and {losses[1]:.0f} (ties are decided by rounding in the coordinates)",
                flush=True,
            )


def adult(seeds: int) -> None:
    """Near-optimal cells of Adult: all 48,842 records, missing values as a category of their own."""
    from microagg import MDAV, NearOptimal, datasets
    from microagg.space.mixed import mixed_points

    table = datasets.load_adult()
    columns = [
        table[name].cast(pa.string()).fill_null("missing") if pa.types.is_string(table[name].type) else table[name]
        for name in ADULT
    ]
    points = mixed_points(encoded(pa.table(dict(zip(ADULT, columns, strict=True))), ADULT, ADULT[:2]))
    print(f"\n=== Adult, {len(points):,} x {len(ADULT)}, k = {K}")
    NearOptimal(k=K, effort="fast", random_state=0).fit(points.take(np.arange(7_000)))
    MDAV(k=K, algorithm="tree").fit(points.take(np.arange(7_000)))
    total = MDAV(k=len(points)).fit(points).sse_
    start = time.process_time()
    by_mdav = MDAV(k=K).fit(points).sse_
    print(f"    mdav                 {time.process_time() - start:6.2f} s, loses {100 * by_mdav / total:.3f} %")
    for effort in ("fast", "default", "best"):
        losses, taken = [], []
        for seed in range(seeds):
            start = time.process_time()
            losses.append(NearOptimal(k=K, effort=effort, random_state=seed).fit(points).sse_)
            taken.append(time.process_time() - start)
        print(
            f"    near_optimal {effort:<8}{np.mean(taken):6.2f} s, loses {100 * np.mean(losses) / total:.3f} %, "
            f"{np.mean(losses) / by_mdav:.3f} of MDAV's (means of {seeds} seeds)",
            flush=True,
        )


def compiling() -> None:
    """CPU seconds of a first fit with an empty cache, less those of one with a filled cache."""
    print("\n=== Compiling, CPU seconds of a first fit on a machine where nothing is compiled")
    for road in ("mdav, tree", "mdav, scan", "vmdav, scan", "near_optimal", "linkage"):
        for kind in ("numbers", "codes"):
            with tempfile.TemporaryDirectory() as cache:
                command = [sys.executable, "-c", COMPILING, road, kind]
                first, later = (
                    float(
                        subprocess.run(
                            command,
                            env={**os.environ, "NUMBA_CACHE_DIR": cache},
                            capture_output=True,
                            text=True,
                            check=True,
                        ).stdout
                    )
                    for _ in range(2)
                )
            print(f"    {road:<13} {kind:<8} {first:6.2f} s, later {later:5.2f} s", flush=True)


def main(arguments: Sequence[str] | None = None) -> None:
    parser = argparse.ArgumentParser(description=__doc__, formatter_class=argparse.RawDescriptionHelpFormatter)
    parser.add_argument("--records", type=int, nargs="+", default=list(SIZES))
    parser.add_argument("--coordinates", action="store_true")
    parser.add_argument("--adult", action="store_true")
    parser.add_argument("--seeds", type=int, default=3)
    parser.add_argument("--compiling", action="store_true")
    parser.add_argument("--one", type=int, help=argparse.SUPPRESS)
    given = parser.parse_args(arguments)
    if given.one is not None:
        one(given.one)
        return
    if given.adult:
        adult(given.seeds)
    if given.compiling:
        compiling()
    if not given.adult and not given.compiling:
        releases(given.records)
    if given.coordinates:
        by_coordinates([n for n in given.records if n <= 200_000])


if __name__ == "__main__":
    main()
