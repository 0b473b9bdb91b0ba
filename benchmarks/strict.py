"""How well a whole table under differential privacy of its original records keeps what the original says.

    python benchmarks/strict.py                                    # five tables, epsilon 0.5, 1 and 2, ten runs each
    python benchmarks/strict.py --tables census4 --epsilons 1 --runs 3
    python benchmarks/strict.py --records 1000000 --attributes 8   # the bar: 20 processor seconds and 1 GiB
    python benchmarks/strict.py --export FOLDER                    # tables as benchmarks/strict_peers.py reads them
    python benchmarks/strict.py --peers FOLDER                     # measures FOLDER/<table>/<peer>/<epsilon>/<seed>.csv

Domains are 0 to 1.5 times the largest value for the files, as the papers have them, and declared ones for Adult.
Measures:

- W: Wasserstein distance of each number, in standard deviations of the original, mean over numbers;
- KS: Kolmogorov-Smirnov distance of each number, mean;
- rho: difference of Spearman's correlations, mean over pairs of numbers;
- two-way: error of 300 random queries on two attributes (ranges, or a category), as a share of the records;
- pMSE: mean squared distance from 1/2 of the propensity that gradient boosting gives 2,500 records of each table;
- AUC, accuracy: of gradient boosting that learns Adult's income from the release, on Adult's test records.
"""

from __future__ import annotations

import argparse
import json
import os
import resource
import time
from collections.abc import Iterator
from dataclasses import dataclass
from functools import cache
from pathlib import Path
from typing import Any

os.environ.setdefault("OMP_NUM_THREADS", "1")

import numpy as np
import pyarrow as pa
from scipy.stats import rankdata
from sklearn.ensemble import HistGradientBoostingClassifier
from sklearn.metrics import accuracy_score, roc_auc_score
from sklearn.model_selection import cross_val_predict

import microagg
from microagg import datasets

CENSUS_4 = ["FEDTAX", "POTHVAL", "INTVAL", "FICA"]
EIA_4 = ["RESREVENUE", "RESSALES", "COMREVENUE", "COMSALES"]
ADULT_BOUNDS = {
    "age": (0, 120),
    "fnlwgt": (0, 2_000_000),
    "education-num": (1, 16),
    "capital-gain": (0, 100_000),
    "capital-loss": (0, 10_000),
    "hours-per-week": (0, 100),
}
ADULT_NOMINAL = (
    "workclass", "marital-status", "occupation", "relationship", "race", "sex", "native-country", "income",
)  # fmt: skip
MEASURES = ("W", "KS", "rho", "two-way", "pMSE", "AUC", "accuracy", "CPU s")


@dataclass
class Table:
    """A table in codes: points of a public grid, or numbers of categories."""

    name: str
    codes: np.ndarray
    columns: list[str]
    sizes: list[int]
    nominal: list[bool]
    lowest: list[int]
    test: np.ndarray | None = None

    @property
    def numbers(self) -> list[int]:
        return [j for j, is_nominal in enumerate(self.nominal) if not is_nominal]

    def arrow(self) -> pa.Table:
        return pa.table(
            {
                name: pa.array([str(code) for code in self.codes[:, j]]) if self.nominal[j] else self.codes[:, j]
                for j, name in enumerate(self.columns)
            }
        )

    def recipe(self, method: str, epsilon: float) -> microagg.Recipe:
        attributes: dict[str, Any] = {}
        for name, size, is_nominal in zip(self.columns, self.sizes, self.nominal, strict=True):
            attributes[name] = {"role": "confidential"} | (
                {"kind": "nominal", "categories": [str(code) for code in range(size)]}
                if is_nominal
                else {"kind": "numeric", "bounds": [0, size - 1], "resolution": 1}
            )
        attributes[self.columns[0]]["role"] = "quasi_identifier"
        return microagg.Recipe(method=method, privacy={"epsilon": epsilon}, attributes=attributes)

    def codes_of(self, released: pa.Table) -> np.ndarray:
        columns = [np.asarray(released[name].to_pylist()).astype(np.int64) for name in self.columns]
        return np.column_stack(columns)


def of_numbers(name: str, table: pa.Table, columns: list[str]) -> Table:
    values = [np.abs(np.asarray(table[column], dtype=float)) for column in columns]
    sizes = [int(np.ceil(1.5 * one.max())) + 1 for one in values]
    codes = np.column_stack([np.rint(one).astype(np.int64) for one in values])
    return Table(name, codes, columns, sizes, [False] * len(columns), [0] * len(columns))


def adult(*, mixed: bool) -> Table:
    rows = datasets.load_adult()
    numbers = [name for name in ADULT_BOUNDS if not (mixed and name == "fnlwgt")]
    columns = [*numbers, *(ADULT_NOMINAL if mixed else ())]
    codes, sizes = [], []
    for name in columns:
        if name in ADULT_BOUNDS:
            low, high = ADULT_BOUNDS[name]
            codes.append(np.asarray(rows[name]).astype(np.int64) - low)
            sizes.append(high - low + 1)
        else:
            texts = np.array([text or "?" for text in rows[name].to_pylist()])
            labels, places = np.unique(texts, return_inverse=True)
            codes.append(places)
            sizes.append(len(labels))
    every = np.column_stack(codes)
    train = np.array([one == "train" for one in rows["split"].to_pylist()])
    nominal = [name not in ADULT_BOUNDS for name in columns]
    test = every[~train] if mixed else None
    title = "adult_mixed" if mixed else "adult_num"
    return Table(title, every[train], columns, sizes, nominal, [0] * len(columns), test)


def generated(n_records: int, n_attributes: int) -> Table:
    """Skewed numbers that depend on each other, of which nobody tuned anything."""
    rng = np.random.default_rng(0)
    common = rng.normal(size=(n_records, 2))
    columns = []
    for _ in range(n_attributes):
        mixed = common @ rng.normal(size=2) + rng.normal(size=n_records)
        columns.append(np.rint(np.minimum(np.exp(6 + mixed / 2), 99_999)).astype(np.int64))
    names = [f"x{j}" for j in range(n_attributes)]
    sizes = [100_000] * n_attributes
    return Table("generated", np.column_stack(columns), names, sizes, [False] * n_attributes, [0] * n_attributes)


@cache
def table_named(name: str) -> Table:
    if name == "census4":
        return of_numbers(name, datasets.load_census(), CENSUS_4)
    if name == "census13":
        census = datasets.load_census()
        return of_numbers(name, census, census.column_names)
    if name == "eia4":
        return of_numbers(name, datasets.load_eia(), EIA_4)
    if name == "tarragona13":
        tarragona = datasets.load_tarragona()
        return of_numbers(name, tarragona, tarragona.column_names)
    if name == "generated":
        return generated(5000, 6)
    if name in ("adult_num", "adult_mixed"):
        return adult(mixed=name == "adult_mixed")
    raise SystemExit(f"no table named {name!r}")


def measure(table: Table, drawn: np.ndarray) -> dict[str, float]:
    """All measures of one release."""
    before, after, numbers = table.codes, drawn, table.numbers
    found = {
        "W": float(np.mean([_wasserstein(before[:, j], after[:, j]) / before[:, j].std() for j in numbers])),
        "KS": float(np.mean([_kolmogorov(before[:, j], after[:, j]) for j in numbers])),
        "rho": float(np.abs(_spearman(before[:, numbers]) - _spearman(after[:, numbers])).mean()),
        "two-way": float(np.mean([abs(_share(before, q) - _share(after, q)) for q in _queries(table)])),
        "pMSE": _propensity(before, after),
    }
    if table.test is not None:
        found |= _learnt(table, after)
    return found


def _wasserstein(x: np.ndarray, y: np.ndarray) -> float:
    at = (np.arange(2000) + 0.5) / 2000
    return float(np.abs(np.quantile(x, at, method="inverted_cdf") - np.quantile(y, at, method="inverted_cdf")).mean())


def _kolmogorov(x: np.ndarray, y: np.ndarray) -> float:
    at = np.unique(np.concatenate([x, y]))
    return float(
        np.abs(np.searchsorted(np.sort(x), at, "right") - np.searchsorted(np.sort(y), at, "right")).max() / len(x)
    )


def _spearman(values: np.ndarray) -> np.ndarray:
    ranks = np.column_stack([rankdata(column) for column in values.T])
    spread = ranks.std(axis=0)
    ranks = (ranks - ranks.mean(axis=0)) / np.where(spread > 0, spread, 1.0)
    return (ranks.T @ ranks / len(ranks))[np.triu_indices(values.shape[1], 1)]


def _queries(table: Table) -> Iterator[list[tuple[int, int, int]]]:
    """Pairs of conditions ``(column, low, high)``, from pairs of records: fixed by the table."""
    rng = np.random.default_rng(7)
    for _ in range(300):
        query = []
        for j in rng.choice(len(table.columns), 2, replace=False):
            one, other = table.codes[rng.integers(len(table.codes), size=2), j]
            query.append((j, one, one) if table.nominal[j] else (j, min(one, other), max(one, other)))
        yield query


def _share(codes: np.ndarray, query: list[tuple[int, int, int]]) -> float:
    return float(np.all([(codes[:, j] >= low) & (codes[:, j] <= high) for j, low, high in query], axis=0).mean())


def _propensity(before: np.ndarray, after: np.ndarray) -> float:
    rng = np.random.default_rng(11)
    count = min(2500, len(before))
    rows = np.vstack([one[rng.permutation(len(one))[:count]] for one in (before, after)]).astype(float)
    model = HistGradientBoostingClassifier(max_iter=40, max_leaf_nodes=15, random_state=0)
    share = cross_val_predict(model, rows, np.repeat([0, 1], count), cv=3, method="predict_proba")[:, 1]
    return float(((share - 0.5) ** 2).mean())


def _learnt(table: Table, drawn: np.ndarray) -> dict[str, float]:
    assert table.test is not None
    target, features = drawn[:, -1], drawn[:, :-1].astype(float)
    truth = table.test[:, -1]
    if len(np.unique(target)) < 2:
        return {"AUC": 0.5, "accuracy": float((truth == target[0]).mean())}
    model = HistGradientBoostingClassifier(max_iter=80, random_state=0, categorical_features=table.nominal[:-1])
    share = model.fit(features, target).predict_proba(table.test[:, :-1].astype(float))[:, 1]
    return {"AUC": float(roc_auc_score(truth, share)), "accuracy": float(accuracy_score(truth, share > 0.5))}


def line(name: str, who: str, epsilon: float, rows: list[dict[str, float]]) -> str:
    means = {key: np.mean([row[key] for row in rows]) for key in MEASURES if key in rows[0]}
    return f"{name:12s} {who:22s} {epsilon:<5g} " + "  ".join(f"{key} {value:.3f}" for key, value in means.items())


def ours(names: list[str], epsilons: list[float], runs: int, method: str) -> None:
    for name in names:
        table = table_named(name)
        arrow = table.arrow()
        for epsilon in epsilons:
            rows = []
            for seed in range(runs):
                started = time.process_time()
                made = microagg.release(arrow, table.recipe(method, epsilon), seed=seed)
                seconds = time.process_time() - started
                rows.append(measure(table, table.codes_of(made.table)) | {"CPU s": seconds})
            print(line(name, method, epsilon, rows), flush=True)


def peers(folder: Path) -> None:
    """Measure what other synthesizers released; their seconds are in ``cpu.jsonl``, one line for each release."""
    seconds = {}
    if (folder / "cpu.jsonl").exists():
        for text in (folder / "cpu.jsonl").read_text().splitlines():
            one = json.loads(text)
            seconds[one["table"], one["peer"], float(one["epsilon"]), int(one["seed"])] = one["cpu_seconds"]
    for found in sorted({path.parent for path in folder.glob("*/*/*/*.csv")}):
        name, peer, epsilon = found.parts[-3:]
        table, rows = table_named(name), []
        for path in sorted(found.glob("*.csv")):
            drawn = np.genfromtxt(path, delimiter=",", skip_header=1).astype(np.int64)
            spent = seconds.get((name, peer, float(epsilon), int(path.stem)), float("nan"))
            rows.append(measure(table, drawn) | {"CPU s": spent})
        print(line(name, f"{peer} ({len(rows)})", float(epsilon), rows), flush=True)


def export(folder: Path, names: list[str]) -> None:
    for name in names:
        table = table_named(name)
        (folder / name).mkdir(parents=True, exist_ok=True)
        header = ",".join(table.columns)
        np.savetxt(folder / name / "table.csv", table.codes, fmt="%d", delimiter=",", header=header, comments="")
        kinds = ["nominal" if one else "numeric" for one in table.nominal]
        domain = {
            column: {"kind": kind, "size": size}
            for column, kind, size in zip(table.columns, kinds, table.sizes, strict=True)
        }
        (folder / name / "domain.json").write_text(json.dumps(domain, indent=1))


def speed(n_records: int, n_attributes: int) -> None:
    table = generated(n_records, n_attributes)
    arrow, recipe = table.arrow(), table.recipe("strict", 1.0)
    before = resource.getrusage(resource.RUSAGE_SELF).ru_maxrss / 2**20
    started = time.process_time()
    microagg.release(arrow, recipe)
    seconds = time.process_time() - started
    peak = resource.getrusage(resource.RUSAGE_SELF).ru_maxrss / 2**20
    print(f"{n_records:,} x {n_attributes}: {seconds:.1f} processor seconds, peak {peak:.2f} GiB ({before:.2f} before)")


def main() -> None:
    parser = argparse.ArgumentParser(description=__doc__, formatter_class=argparse.RawDescriptionHelpFormatter)
    parser.add_argument("--tables", nargs="+", default=["census4", "census13", "eia4", "adult_num", "adult_mixed"])
    parser.add_argument("--epsilons", nargs="+", type=float, default=[0.5, 1.0, 2.0])
    parser.add_argument("--runs", type=int, default=10)
    parser.add_argument("--method", default="dp_ranked_graph")
    parser.add_argument("--peers", type=Path)
    parser.add_argument("--export", type=Path)
    parser.add_argument("--records", type=int)
    parser.add_argument("--attributes", type=int, default=8)
    chosen = parser.parse_args()
    if chosen.records:
        speed(chosen.records, chosen.attributes)
    elif chosen.export:
        export(chosen.export, chosen.tables)
    elif chosen.peers:
        peers(chosen.peers)
    else:
        ours(chosen.tables, chosen.epsilons, chosen.runs, chosen.method)


if __name__ == "__main__":
    main()
