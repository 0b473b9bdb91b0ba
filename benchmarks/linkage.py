"""Risk measures against brute force and pycanon: the search for near records, closeness, and all sets of attributes.

Run with ``make bench`` or ``python benchmarks/linkage.py [--quick] [--mixed]``. Times are CPU seconds in the same run,
after a first call that compiles. Brute force is given a share of the queries and scaled up; it takes no more per query
for all of them. Peak memory is measured in a process of its own, all imports and compiling included.

Mixed records are linked in processes of their own, as numbers and codes and by coordinates, one for each category.
"""

from __future__ import annotations

import argparse
import json
import re
import subprocess
import sys
import tempfile
import time
from collections.abc import Callable
from pathlib import Path

import numpy as np
import pyarrow as pa
import pyarrow.feather
from mixed import NUMBERS, adult_like

N_COLUMNS = 10
MANY_CATEGORIES = 10_000


def seconds(work: Callable[[], object]) -> float:
    start = time.process_time()
    work()
    return time.process_time() - start


def releases(n_records: int) -> dict[str, tuple[np.ndarray, np.ndarray]]:
    """Original points and released ones: microaggregated, noisy, and drawn anew (nothing is near)."""
    from microagg.partition import MDAV

    rng = np.random.default_rng(0)
    points = rng.normal(size=(n_records, N_COLUMNS)) @ np.linalg.qr(rng.normal(size=(N_COLUMNS, N_COLUMNS)))[0]
    labels = MDAV(k=5).fit(points).labels_
    centres = np.column_stack([np.bincount(labels, column) / np.bincount(labels) for column in points.T])[labels]
    return {
        "microaggregated, k = 5": (points, centres),
        "noise of 0.3 deviations": (points, points + 0.3 * rng.normal(size=points.shape)),
        "drawn anew": (points, rng.normal(size=points.shape)),
    }


def brute_force(points: np.ndarray, queries: np.ndarray) -> dict[str, float]:
    """CPU seconds that all pairs take: written down plainly, and as matrix products (scikit-learn's way).

    Both on one thread: threads that wait for each other on a busy machine would count as work.
    """
    from scipy.spatial.distance import cdist
    from sklearn.metrics import pairwise_distances_argmin_min
    from threadpoolctl import threadpool_limits

    few, more = queries[::500], queries[::20]

    def plain() -> None:
        for start in range(0, len(few), 100):
            cdist(few[start : start + 100], points, "sqeuclidean").argmin(axis=1)

    with threadpool_limits(1):
        return {
            "all pairs": seconds(plain) * len(queries) / len(few),
            "matrix products": seconds(lambda: pairwise_distances_argmin_min(more, points)) * len(queries) / len(more),
        }


def near_records(n_records: int) -> None:
    from microagg.evaluation.risk.linkage import chance_of_link
    from microagg.evaluation.risk.nearest import distances_to_closest

    for name, (points, released) in releases(n_records).items():
        rows = np.arange(n_records)
        distances_to_closest(points[:500], released[:500])
        chance_of_link(points[:500], released[:500], rows[:500])
        times = {
            "linkage": seconds(lambda: chance_of_link(points, released, rows)),  # noqa: B023
            "distance to closest": seconds(lambda: distances_to_closest(points, released)),  # noqa: B023
        }
        peers = brute_force(points, released)
        sample = slice(None, None, max(n_records // 200, 1))
        check = distances_to_closest(points, released[sample]) - np.sqrt(
            [((points - query) ** 2).sum(axis=1).min() for query in released[sample]]
        )
        print(f"    {name}: largest difference to plain distances {np.abs(check).max():.0e}")
        for what, taken in times.items():
            ratios = ", ".join(f"{peer} {their:.0f} s, ratio {their / taken:.0f}" for peer, their in peers.items())
            print(f"        {what}: {taken:.1f} s; {ratios} (bar: at least 10)")


def mixed_releases(n_records: int) -> dict[str, tuple[pa.Table, pa.Table]]:
    """Two numbers and seven nominal attributes: microaggregated, a fifth of all values swapped, and drawn anew."""
    import microagg
    from microagg import Recipe

    rng = np.random.default_rng(0)
    original = adult_like(n_records).drop_columns(["income"])
    attributes = {name: {"role": "quasi_identifier", "kind": kind} for name, kind in kinds_of(original).items()}
    recipe = Recipe(k=10, output={"order": "kept"}, attributes=attributes)
    everyone = np.arange(n_records)
    swapped = {
        name: original[name].take(np.where(rng.random(n_records) < 0.2, rng.permutation(n_records), everyone))
        for name in original.column_names
    }
    anew = adult_like(n_records, seed=1).drop_columns(["income"])
    found = {
        "microaggregated, k = 10": (original, microagg.release(original, recipe).table),
        "a fifth of the values swapped": (original, pa.table(swapped)),
        "drawn anew": (original, anew),
    }
    if n_records >= 10 * MANY_CATEGORIES:  # with fewer records the coordinates are not refused, and take minutes
        found |= {f"drawn anew, and {MANY_CATEGORIES} places": (with_places(original, 0), with_places(anew, 1))}
    return found


def kinds_of(table: pa.Table) -> dict[str, str]:
    return {name: "numeric" if name in NUMBERS else "nominal" for name in table.column_names}


def with_places(table: pa.Table, seed: int) -> pa.Table:
    codes = np.random.default_rng(seed).integers(0, MANY_CATEGORIES, len(table))
    return table.append_column("place", pa.array(np.char.add("place ", codes.astype(str))))


def mixed_records(n_records: int) -> None:
    for name, tables in mixed_releases(n_records).items():
        print(f"    {name}:")
        with tempfile.TemporaryDirectory() as folder:
            for side, table in zip(("original", "released"), tables, strict=True):
                pa.feather.write_feather(table, Path(folder, side))
            found = {way: in_a_process_of_its_own(way, folder) for way in ("codes", "coordinates")}
            results = {way: np.load(Path(folder, f"{way}.npz")) for way, one in found.items() if "refused" not in one}
        for way, one in found.items():
            if "refused" in one:
                print(f"        {way}: refused: {one['refused']}")
                continue
            times = ", ".join(f"{what} {one[what]:.1f} s" for what in ("linkage", "distance to closest"))
            print(f"        {way}: {times}, peak memory {one['peak']:.2f} GiB")
        if len(results) == 2:
            gaps = [
                np.abs(results["codes"][what] - results["coordinates"][what]).max() for what in ("links", "closest")
            ]
            ratios = [found["coordinates"][what] / found["codes"][what] for what in ("linkage", "distance to closest")]
            print(f"        ratios {ratios[0]:.1f} and {ratios[1]:.1f}, largest differences {max(gaps):.0e}")


def in_a_process_of_its_own(way: str, folder: str) -> dict[str, float]:
    command = [sys.executable, __file__, "--way", way, "--folder", folder]
    return json.loads(subprocess.run(command, stdout=subprocess.PIPE, text=True, check=True).stdout)


def link_mixed(way: str, folder: str) -> dict[str, float | str]:
    """CPU seconds, from two tables to the answers, and peak memory in GiB of this process."""
    from microagg.errors import TableError
    from microagg.evaluation.pairs import Pair, pair
    from microagg.evaluation.points import points_of
    from microagg.evaluation.risk.linkage import chance_of_link
    from microagg.evaluation.risk.nearest import distances_to_closest
    from microagg.schema.attribute import Attribute
    from microagg.tables.frames import Frame

    def coordinates(pairs: list[Pair], *, own_scale: bool = False) -> tuple[np.ndarray, np.ndarray]:
        parts = [one.points(own_scale=own_scale) for one in pairs]
        return np.hstack([first for first, _ in parts]), np.hstack([second for _, second in parts])

    places = points_of if way == "codes" else coordinates
    tables = [pa.feather.read_table(Path(folder, side)) for side in ("original", "released")]

    def measure(n_records: int) -> tuple[np.ndarray, np.ndarray, float, float]:
        frames = [Frame.wrap(table.slice(0, n_records)) for table in tables]
        kinds = kinds_of(tables[0]).items()
        pairs = [pair(*frames, name, Attribute(role="quasi_identifier", kind=kind)) for name, kind in kinds]
        start = time.process_time()
        links = chance_of_link(*places(pairs, own_scale=True), np.arange(n_records))
        middle = time.process_time()
        closest = distances_to_closest(*places(pairs))
        return links, closest, middle - start, time.process_time() - middle

    try:
        measure(500)
        links, closest, linkage, nearest = measure(len(tables[0]))
    except TableError as error:
        return {"refused": str(error)}
    np.savez(Path(folder, f"{way}.npz"), links=links, closest=closest)
    peak = int(re.search(r"VmHWM:\s+(\d+)", Path("/proc/self/status").read_text())[1]) / 2**20  # type: ignore[index]
    return {"linkage": linkage, "distance to closest": nearest, "peak": peak}


def probabilistic(n_records: int) -> None:
    from microagg.evaluation.risk.probabilistic import agreement_counts, agreement_weights, chance_of_match

    points, released = releases(n_records)["microaggregated, k = 5"]
    edges = np.quantile(points, np.arange(1, 10) / 10, axis=0)
    sides = [
        np.column_stack([np.searchsorted(edges[:, j], side[:, j]) for j in range(N_COLUMNS)])
        for side in (points, released)
    ]

    def link() -> None:
        weights = agreement_weights(agreement_counts(*sides), n_records).weights
        chance_of_match(*sides, np.arange(n_records), weights)

    taken = seconds(link)
    few = sides[1][::500]
    start = time.process_time()
    for record in few:
        (sides[0] == record).sum(axis=1).argmax()
    plain = (time.process_time() - start) * n_records / len(few)
    print(f"    {taken:.1f} s; comparing all pairs once {plain:.0f} s, ratio {plain / taken:.0f}")


def peak_memory(n_records: int) -> float:
    """GiB of a process that links and measures the distance to the closest of 10 columns (on Linux)."""
    script = rf"""
import re, numpy as np
from pathlib import Path
from microagg.evaluation.risk.linkage import chance_of_link
from microagg.evaluation.risk.nearest import distances_to_closest
rng = np.random.default_rng(0)
points = rng.normal(size=({n_records}, {N_COLUMNS}))
released = points + 0.3 * rng.normal(size=points.shape)
chance_of_link(points, released, np.arange({n_records}))
distances_to_closest(points, released)
print(int(re.search(r"VmHWM:\s+(\d+)", Path("/proc/self/status").read_text())[1]) / 2**20)
"""
    return float(subprocess.run([sys.executable, "-c", script], capture_output=True, text=True, check=True).stdout)


def closeness(n_records: int) -> None:
    """t-closeness of a number of 74 values and a category, in cells of five records on average."""
    try:
        import pandas as pd
        from pycanon.anonymity import t_closeness
    except ImportError:
        print("    pycanon is not installed, so nothing to compare with: pip install --no-deps pycanon")
        return
    from microagg.evaluation.risk.closeness import earth_movers_nominal, earth_movers_ordered

    rng = np.random.default_rng(0)
    labels = np.unique(rng.integers(0, n_records // 5, n_records), return_inverse=True)[1]
    age, job = rng.integers(17, 91, n_records), rng.choice([*"abcdefghijklmn"], n_records)
    ours: list[float] = []

    def measure() -> None:
        ours.extend([earth_movers_ordered(age.astype(float), labels).max(), earth_movers_nominal(job, labels).max()])

    taken = seconds(measure)
    # Theirs takes time in proportion to the number of cells times the values: a part of the cells, scaled up.
    part = labels < labels.max() // 50
    frame = pd.DataFrame({"cell": labels, "age": age, "job": job})
    few = frame[part].reset_index(drop=True)
    check = [earth_movers_ordered(few["age"].to_numpy(float), few["cell"].to_numpy()).max()]
    start = time.process_time()
    theirs = [t_closeness(few, ["cell"], ["age"])]
    t_closeness(few, ["cell"], ["job"])
    their_time = (time.process_time() - start) * (labels.max() + 1) / few["cell"].nunique()
    print(
        f"    {taken:.2f} s, pycanon {their_time:.0f} s (a fiftieth of the cells, scaled up), ratio "
        f"{their_time / taken:.0f} (bar: at least 100); they differ by {abs(check[0] - theirs[0]):.0e}"
    )


def all_sets() -> None:
    import microagg
    from microagg import Recipe

    names = ["AGI", "FICA", "INTVAL", "EMCONTRB", "TAXINC", "WSALVAL", "ERNVAL", "PEARNVAL", "POTHVAL"]
    try:
        census = microagg.datasets.load_census().select(names)
    except microagg.errors.MicroaggError as problem:
        print(f"    {problem}")
        return
    attributes = {name: {"role": "quasi_identifier", "kind": "numeric"} for name in names}
    recipe = Recipe(k=5, output={"order": "kept"}, blocks={"form": "contiguous", "size": 3}, attributes=attributes)
    released = microagg.release(census, recipe).table

    def measure() -> None:
        microagg.evaluate(census, released, recipe, aligned=True, measures="distance_linkage_of_sets")

    print(f"    {seconds(measure):.1f} s (bar: below 30)")


def main() -> None:
    parser = argparse.ArgumentParser(description=__doc__)
    parser.add_argument("--quick", action="store_true", help="a tenth of the records")
    parser.add_argument("--mixed", action="store_true", help="nothing but mixed records")
    parser.add_argument("--way", choices=["codes", "coordinates"], help=argparse.SUPPRESS)
    parser.add_argument("--folder", help=argparse.SUPPRESS)
    chosen = parser.parse_args()
    if chosen.way:
        print(json.dumps(link_mixed(chosen.way, chosen.folder)))
        return
    n_records = 10_000 if chosen.quick else 100_000
    print(f"mixed records, {n_records} with two numbers and seven nominal attributes:")
    mixed_records(n_records)
    if chosen.mixed:
        return
    print(f"near records, {n_records} x {N_COLUMNS}:")
    near_records(n_records)
    print(f"    peak memory {peak_memory(n_records):.2f} GiB (bar: below 1)")
    print(f"probabilistic linkage, {n_records} x {N_COLUMNS}, microaggregated with k = 5:")
    probabilistic(n_records)
    print(f"t-closeness, {n_records // 2} records:")
    closeness(n_records // 2)
    print("linkage over all 511 sets of 9 attributes, Census in blocks:")
    all_sets()


if __name__ == "__main__":
    main()
