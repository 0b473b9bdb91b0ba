"""Cells that hide confidential values: what it costs in loss and in time.

Run with ``python benchmarks/diversity.py [--census] [--adult] [--records 25000 50000 100000] [--seeds 3]``; all of it
without flags. Census and Adult need ``microagg datasets --fetch`` or ``MICROAGG_DATA``. Seconds are CPU time and, where
two cores search, wall time; compiling is done before. pycanon, if installed, judges the released table of Adult.

``--bounds``: what no cells of Adult can undercut. ``--peers PYTHON``: anjana on Adult, where PYTHON is the interpreter
of an environment with ``pip install anjana`` (see `diversity_peers`).
"""

from __future__ import annotations

import argparse
import csv
import json
import os
import subprocess
import tempfile
import time
from collections import Counter
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


def adult_table():
    """The eight quasi-identifiers and occupation; a missing value is a category."""
    import pyarrow as pa

    rows = rows_of("adult")
    return pa.table(
        {"age": [int(row["age"]) for row in rows]}
        | {name: [row[name] or "?" for row in rows] for name in [*ADULT, "occupation"] if name != "age"}
    )


def adult_recipe(k: int = 5, **occupation) -> microagg.Recipe:
    attributes = {name: {"role": "quasi_identifier", "kind": kind} for name, kind in ADULT.items()}
    confidential = {"role": "confidential", "kind": "nominal", **occupation}
    return microagg.Recipe(k=k, method="near_optimal", attributes=attributes | {"occupation": confidential})


def adult(seeds: int) -> None:
    from microagg.studies.individual_ranking.run import adult_taxonomies

    table, recipe = adult_table(), adult_recipe()
    folder = Path(os.environ.get("MICROAGG_DATA") or Path(__file__).resolve().parents[2] / "shared" / "data")
    tree, _ = adult_taxonomies(folder / "adult_taxonomies.json")["occupation"]
    taxonomic = adult_recipe(taxonomy=dict(tree.parents) | {"?": tree.root})
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


def cheapest_cell(size: int, prices, shares, t: float):
    """The counts of a cell of this size that is within t of the shares and costs least, and what it costs."""
    from scipy.optimize import Bounds, LinearConstraint, milp

    m, inf = len(shares), np.inf
    above = np.block([[np.eye(m), -np.eye(m)]])  # count - what is more than its share
    all_counts, all_above = np.r_[np.ones(m), np.zeros(m)], np.r_[np.zeros(m), np.ones(m)]
    found = milp(
        np.r_[prices, np.zeros(m)],
        constraints=LinearConstraint(
            np.vstack([above, all_counts, all_above]),
            np.r_[[-inf] * m, size, -inf],
            np.r_[size * shares, size, t * size],
        ),
        integrality=all_counts,
        bounds=Bounds(0.0, inf),
    )
    return (None, inf) if found.x is None else (np.round(found.x[:m]), found.fun)


def bounds(t: float = 0.3, k: int = 5, most: int = 24) -> None:
    """What no cells of Adult can undercut: how many there are, and what a missing occupation costs."""
    from scipy.optimize import linprog

    table = adult_table()
    counts = np.array(sorted(Counter(table["occupation"].to_pylist()).values(), reverse=True), dtype=float)
    n_records, shares = int(counts.sum()), counts / counts.sum()
    # All values 1 apart. The most cells that the records of each occupation suffice for; cells are added as prices ask.
    cells, sizes = [counts], range(k, most + 1)
    while True:  # ends: there are finitely many cells, and each is added once
        solved = linprog(-np.ones(len(cells)), A_ub=np.array(cells).T, b_ub=counts, method="highs")
        prices = -solved.ineqlin.marginals
        offers = [cheapest_cell(size, prices, shares, t) for size in sizes]
        wanted = [cell for cell, price in offers if price < 1.0 - 1e-7]
        if not wanted:
            break
        cells += wanted
    # Prices at which every cell costs 1 or more prove the bound. Larger cells cost more than any mix within t of all.
    m = len(shares)
    mix = linprog(
        np.r_[prices, np.zeros(m)],
        A_ub=np.block([[np.eye(m), -np.eye(m)], [np.zeros((1, m)), np.ones((1, m))]]),
        b_ub=np.r_[shares, t],
        A_eq=np.r_[np.ones(m), np.zeros(m)][None],
        b_eq=[1.0],
    )
    least = min(price for _, price in offers)
    assert (most + 1) * mix.fun > 1.0
    n_cells = int(prices @ counts / min(least, 1.0) + 1e-6)
    print(f"\nAdult, t = {t}, all values 1 apart: at most {n_cells:,} cells, of {n_records / n_cells:.2f} in the mean")
    smallest = next(size for size, (cell, _) in zip(sizes, offers, strict=True) if cell is not None)
    print(f"no cell of fewer than {smallest} records is within {t}")
    size = n_records // n_cells
    larger = microagg.release(table, adult_recipe(size), seed=0)
    print(f"near-optimal cells of at least {size}, whatever they show: {larger.information_loss:.2f} %")
    # Whoever lacks an occupation lacks a workclass or never worked, and no one else does; no cell has too many of them.
    lacking = np.array(table["occupation"].to_pylist()) == "?"
    workclass = np.array(table["workclass"].to_pylist())
    assert not set(workclass[lacking]) & set(workclass[~lacking])
    categories = [np.array(list(Counter(table[name].to_pylist()).values())) for name in ADULT if name != "age"]
    total = n_records + 0.5 * sum(n_records - (group**2).sum() / n_records for group in categories)
    forced = lacking.sum() * (1.0 - t - lacking.mean()) / total
    print(f"missing occupations lose at least {100 * forced:.2f} % by any distance that puts them 1 from all others")


def loss_of_classes(labels) -> float:
    """100 SSE/SST of Adult's quasi-identifiers as a release counts it; records of class -1 are at the mean of all."""
    table, lost, total = adult_table(), 0.0, 0.0
    kept, sizes = labels >= 0, np.bincount(labels[labels >= 0])
    for name in ADULT:
        values = np.array(table[name].to_pylist())
        # A category is a corner of a simplex, at squared distance 1 from the others; age is standardised.
        columns = (
            [(values - values.mean()) / values.std()]
            if name == "age"
            else [0.5**0.5 * (values == category) for category in np.unique(values)]
        )
        for column in columns:
            means = np.bincount(labels[kept], weights=column[kept], minlength=len(sizes)) / sizes
            published = np.full(len(column), column.mean())
            published[kept] = means[labels[kept]]
            lost += ((column - published) ** 2).sum()
            total += ((column - column.mean()) ** 2).sum()
    return 100.0 * lost / total


def peers(python: str) -> None:
    """anjana beside cells, both judged by pycanon in anjana's environment."""
    import pyarrow.csv

    script, table = str(Path(__file__).with_name("diversity_peers.py")), adult_table()

    def run(*arguments: str):
        done = subprocess.run([python, script, *arguments], capture_output=True, text=True, check=False)
        if done.returncode:
            raise SystemExit(done.stderr.strip().splitlines()[-1])
        return json.loads(done.stdout.splitlines()[-1])

    print("\nAdult, k = 5, l = 3, t = 0.3, all values 1 apart")
    with tempfile.TemporaryDirectory() as folder:
        given, released, classes = (str(Path(folder) / name) for name in ("given.csv", "released.csv", "classes.csv"))
        pyarrow.csv.write_csv(table, given)
        for percent in (0, 10, 50):
            found = run("anjana", given, "occupation", classes, "5", "3", "0.3", str(percent))
            for stage in ("l", "l and t"):
                labels = np.loadtxt(f"{classes}.{stage}", skiprows=1, dtype=np.int64)
                print(f"anjana, {percent} % may go, {stage}: loss {loss_of_classes(labels):.1f} %, {found[stage]}")
        made, cpu, _ = timed(microagg.release, table, adult_recipe().protecting(distinct_l=3, t_closeness=0.3), seed=0)
        pyarrow.csv.write_csv(made.table, released)
        loss, verdict = loss_of_classes(made.labels), run("judge", released, "occupation")
        assert abs(loss - made.information_loss) < 1e-6
        print(f"microagg: loss {loss:.1f} %, {made.n_cells} cells, {cpu:.0f} s, {verdict}")


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
    parser.add_argument("--bounds", action="store_true")
    parser.add_argument("--peers", metavar="PYTHON", help="interpreter of an environment with `pip install anjana`")
    parser.add_argument("--seeds", type=int, default=3)
    chosen = parser.parse_args()
    everything = not (chosen.census or chosen.adult or chosen.records or chosen.bounds or chosen.peers)
    if chosen.census or everything:
        census(chosen.seeds)
    if chosen.adult or everything:
        adult(chosen.seeds)
    if chosen.bounds or everything:
        bounds()
    if chosen.peers:
        peers(chosen.peers)
    if chosen.records or everything:
        speed(chosen.records or [25_000, 50_000, 100_000])


if __name__ == "__main__":
    main()
