"""Cells that hide confidential values: what it costs in loss and in time.

Run with ``python benchmarks/diversity.py [--census] [--adult] [--records 25000 50000 100000] [--seeds 3]``; all of it
without flags. Census and Adult need ``microagg datasets --fetch`` or ``MICROAGG_DATA``. Seconds are CPU time and, where
two cores search, wall time; compiling is done before. pycanon, if installed, judges the released table of Adult.
"""

from __future__ import annotations

import argparse
import csv
import os
import time
from pathlib import Path

import numpy as np

import microagg
from microagg.partition.base import within_cell_sse
from microagg.privacy.requirement import T_CLOSENESS, ConfidentialValues, Requirement
from microagg.schema.attribute import Kind

TRIAL = {"FEDTAX": (55.0, 41.3, 16.3), "FICA": (31.0, 16.4, 4.6)}  # exchanges between cells of fixed sizes, about 10 s
BOUNDS = (0.05, 0.13, 0.25)
WAYS = ("closeness_first", "merge", "swap", "search")
ADULT = {
    "age": "numeric",
    "sex": "nominal",
    "race": "nominal",
    "marital-status": "nominal",
    "education": "nominal",
    "native-country": "nominal",
    "workclass": "nominal",
    "income": "nominal",
}


def timed(work, *arguments, **settings):
    """What work returns, its CPU seconds and its wall seconds."""
    cpu, wall = time.process_time(), time.perf_counter()
    found = work(*arguments, **settings)
    return found, time.process_time() - cpu, time.perf_counter() - wall


def rows_of(name: str) -> list[dict[str, str]]:
    folder = Path(os.environ.get("MICROAGG_DATA") or Path(__file__).resolve().parents[2] / "shared" / "data")
    with (folder / f"{name}.csv").open(encoding="utf-8") as file:
        return list(csv.DictReader(file, skipinitialspace=True))


def ranks(values):
    """Values with ties broken by the order of the records, as the trial had them."""
    found = np.empty(len(values))
    found[np.argsort(values, kind="stable")] = np.arange(len(values))
    return found


def census(seeds: int) -> None:
    rows = rows_of("census")
    column = {name: np.array([float(row[name]) for row in rows]) for name in ("TAXINC", "POTHVAL", "FEDTAX", "FICA")}
    X = np.column_stack([column["TAXINC"], column["POTHVAL"]])
    X = (X - X.mean(axis=0)) / X.std(axis=0)
    total = within_cell_sse(X, np.zeros(len(X), dtype=np.int64), 1)
    start = microagg.MDAV(2).fit(X).labels_
    microagg.rearrange(start, X, column["FICA"], 2, effort="fast", t_closeness=0.3)  # compiles
    print("Census, TAXINC and POTHVAL, k = 2: loss in %")
    print("| confidential | t | trial |", " | ".join(WAYS), "| best | cells | s (wall) |")
    for name, values in (
        ("FEDTAX", column["FEDTAX"]),
        ("FICA, ties broken", ranks(column["FICA"])),
        ("FICA", column["FICA"]),
    ):
        for place, t in enumerate(BOUNDS):
            losses, found, seconds = {}, None, []
            for way in WAYS:
                runs = []
                for seed in range(seeds if way == "search" else 1):
                    found, _, wall = timed(
                        microagg.rearrange, start, X, values, 2, by=way, random_state=seed, t_closeness=t
                    )
                    runs.append(100 * within_cell_sse(X, found, found.max() + 1) / total)
                    seconds.append(wall)
                losses[way] = runs
            worst = Requirement(T_CLOSENESS, "y", t).per_cell(ConfidentialValues("y", values, Kind.NUMERIC), found)
            assert worst.max() <= t
            means = " | ".join(f"{np.mean(losses[way]):.1f}" for way in WAYS)
            trial = TRIAL[name[:6].rstrip(", ")][place]
            print(
                f"| {name} | {t} | {trial} | {means} | {min(losses['search']):.1f} | {found.max() + 1} | "
                f"{np.mean(seconds[-seeds:]):.1f} |",
                flush=True,
            )


def adult(seeds: int) -> None:
    import pyarrow as pa

    from microagg.studies.individual_ranking.run import adult_taxonomies

    rows = rows_of("adult")
    table = pa.table(
        {"age": [int(row["age"]) for row in rows]}
        | {name: [row[name] or "?" for row in rows] for name in [*ADULT, "occupation"] if name != "age"}
    )
    attributes = {name: {"role": "quasi_identifier", "kind": kind} for name, kind in ADULT.items()}
    plain = {"role": "confidential", "kind": "nominal"}
    recipe = microagg.Recipe(k=5, method="near_optimal", attributes=attributes | {"occupation": plain})
    folder = Path(os.environ.get("MICROAGG_DATA") or Path(__file__).resolve().parents[2] / "shared" / "data")
    tree, _ = adult_taxonomies(folder / "adult_taxonomies.json")["occupation"]
    parents = dict(tree.parents) | {"?": tree.root}
    taxonomic = recipe.changed({"attributes": attributes | {"occupation": {**plain, "taxonomy": parents}}})
    microagg.release(table.slice(0, 500), recipe.protecting(distinct_l=2), seed=0)  # compiles
    cases = [
        ("k alone", recipe),
        ("l = 3", recipe.protecting(distinct_l=3)),
        ("t = 0.3, by taxonomy", taxonomic.protecting(t_closeness=0.3)),
        ("l = 3 and t = 0.3, by taxonomy", taxonomic.protecting(distinct_l=3, t_closeness=0.3)),
        ("t = 0.3, all values 1 apart", recipe.protecting(t_closeness=0.3)),
        ("l = 3 and t = 0.3, all values 1 apart", recipe.protecting(distinct_l=3, t_closeness=0.3)),
    ]
    cases += [
        (f"the same by {way}", recipe.protecting(distinct_l=3, t_closeness=0.3).changed({"rearrange.by": way}))
        for way in ("merge", "swap")
    ]
    print("\nAdult, 8 quasi-identifiers, occupation confidential, k = 5")
    print("| required | loss % | of k alone | cells | CPU s | wall s | found | pycanon |")
    alone = None
    for name, chosen in cases:
        runs = [timed(microagg.release, table, chosen, seed=seed) for seed in range(seeds)]
        made = runs[0][0]
        loss = float(np.mean([one.information_loss for one, _, _ in runs]))
        alone = loss if alone is None else alone
        cpu, wall = (float(np.mean([run[place] for run in runs])) for place in (1, 2))
        found = ", ".join(f"{one.requirement} {one.found:.4g}" for one in made.statement.requirements)
        print(
            f"| {name} | {loss:.2f} | {loss / alone:.2f} | {made.n_cells} | {cpu:.0f} | {wall:.0f} | {found} | "
            f"{judged(made.table)} |",
            flush=True,
        )


def judged(table) -> str:
    """What pycanon finds on the table, with all values 1 apart."""
    try:
        from pycanon import anonymity
    except ImportError:
        return "not installed"
    frame = table.to_pandas()
    l_found = anonymity.l_diversity(frame, list(ADULT), ["occupation"])
    t_found = anonymity.t_closeness(frame, list(ADULT), ["occupation"])
    return f"l {l_found}, t {t_found:.4g}"


def speed(sizes: list[int]) -> None:
    print("\nn x 5 normal numbers, one number that depends on them (correlation 0.5), k = 5, t = 0.15")
    print("| records | CPU s | wall s | loss % | of near-optimal's |")
    seconds = []
    for n_records in sizes:
        rng = np.random.default_rng(1)
        X = rng.normal(size=(n_records, 5))
        y = np.round(1000 * np.exp(0.5 * X.sum(axis=1) / 5**0.5 + 0.75**0.5 * rng.normal(size=n_records)))
        start = microagg.MDAV(5).fit(X).labels_
        if not seconds:
            microagg.rearrange(start, X, y, 5, effort="fast", t_closeness=0.15)  # compiles
        near = microagg.NearOptimal(5, random_state=0).fit(X)
        found, cpu, wall = timed(microagg.rearrange, start, X, y, 5, random_state=0, t_closeness=0.15)
        sse, total = within_cell_sse(X, found, found.max() + 1), within_cell_sse(X, np.zeros(n_records, dtype=int), 1)
        seconds.append(cpu)
        print(
            f"| {n_records:,} | {cpu:.0f} | {wall:.0f} | {100 * sse / total:.2f} | {sse / near.sse_:.2f} |", flush=True
        )
    if len(sizes) > 1:
        print(f"grows as n^{np.polyfit(np.log(sizes), np.log(seconds), 1)[0]:.2f}")


def main() -> None:
    parser = argparse.ArgumentParser(description=__doc__, formatter_class=argparse.RawDescriptionHelpFormatter)
    parser.add_argument("--census", action="store_true")
    parser.add_argument("--adult", action="store_true")
    parser.add_argument("--records", type=int, nargs="+")
    parser.add_argument("--seeds", type=int, default=3)
    chosen = parser.parse_args()
    everything = not (chosen.census or chosen.adult or chosen.records)
    if chosen.census or everything:
        census(chosen.seeds)
    if chosen.adult or everything:
        adult(chosen.seeds)
    if chosen.records or everything:
        speed(chosen.records or [25_000, 50_000, 100_000])


if __name__ == "__main__":
    main()
