"""Reports of tables made to break them: no release goes without its report, and figures are those of evaluate()."""

from __future__ import annotations

import json
import tempfile
import warnings
from pathlib import Path

import numpy as np
import pyarrow as pa

import microagg
from campaigns.campaign import Campaign
from microagg import MicroaggError, Recipe
from microagg.releases.check.check import check_release
from microagg.releases.report_results import ON_ALL

WORDS = ("", " ", "a", "A", "<b>&", "{{ 7 }}", "\x1b[31m", "\u202e", "NA", "nan", "0", "0.0", "=1+1", "x" * 300)
ROLES = ("quasi_identifier", "confidential", "non_confidential")
EDGES = (0.0, -0.0, 5e-324, 1e-310, 1e-300, 1.0, 1 + 2**-52, 1.7e15, 1.7e15 + 0.25, 2.0**53, 1e150, 1e160, 1.7e308)


def case(number: int) -> str:
    rng = np.random.default_rng(number)
    n_records = int(rng.choice([4, 11, 25, 60, 150]))
    names = rng.permutation(["a b", "<i>", "q", "=x", "\u202e", "long" * 20])[: rng.integers(2, 6)]
    columns, attributes = {}, {}
    for i, name in enumerate(names.tolist()):
        column, kind = _column(rng, n_records)
        role = "quasi_identifier" if i == 0 else str(rng.choice(ROLES))
        columns[name], attributes[name] = column, {"role": role, "kind": kind}
    method = str(rng.choice(["mdav", "vmdav", "pcp", "individual_ranking"]))
    missing = {"policy": str(rng.choice(["own_cell", "suppress", "impute"])), "small": "merge_small"}
    try:
        recipe = Recipe(method=method, k=int(rng.choice([2, 3, 10])), attributes=attributes, missing=missing)
        made = microagg.release(pa.table(columns), recipe)
    except MicroaggError:
        return "refused"
    with tempfile.TemporaryDirectory() as folder, warnings.catch_warnings():
        warnings.simplefilter("error")
        try:
            saved = made.save(Path(folder) / "out", format=str(rng.choice(["csv", "parquet"])), report=True)
        except MicroaggError:
            return "refused on writing"
        assert all(finding.holds for finding in check_release(saved)), "a check fails"
        facts = json.loads(made.report(Path(folder) / "page.html", internal=True).with_suffix(".json").read_text())
        _same_figures(facts, pa.table(columns), made)
    return "reported"


def _same_figures(facts: dict, table: pa.Table, made: microagg.Release) -> None:
    told = {one["name"]: one["value"] for about in ("utility", "risk") for one in facts["measures"][about]}
    for one in microagg.evaluate(table, made, measures=ON_ALL):
        assert told[one.name] == one.value, f"{one.name} is told in two ways"


def _column(rng: np.random.Generator, n_records: int) -> tuple[pa.Array, str]:
    """A column of values at the edge, with gaps or without, and its kind."""
    sort = rng.integers(6)
    some = rng.integers(1, 6)
    if sort == 0:
        edges = np.array(EDGES)
        chosen = rng.choice(np.concatenate([edges, -edges]), some)
        values = rng.choice(chosen, n_records).tolist()
    elif sort == 1:
        base = float(rng.choice(EDGES))
        values = [base + float(i) * np.spacing(base) for i in rng.integers(-3, 4, n_records)]
        values = [value if np.isfinite(value) else base for value in values]
    elif sort == 2:
        values = (rng.normal(size=n_records) * 10.0 ** rng.integers(-12, 13)).tolist()
    elif sort == 3:
        values = rng.integers(-(2**62), 2**62, n_records).tolist()
    elif sort == 4:
        days = rng.choice([-719_162, -1, 0, 365, 2_932_896], n_records).astype(np.int32)
        return pa.array(days).cast(pa.date32()), "numeric"
    else:
        values = rng.choice(WORDS, n_records).tolist()
    if rng.random() < 0.3:
        values = [None if gone else value for gone, value in zip(rng.random(n_records) < 0.3, values, strict=True)]
    return pa.array(values), "nominal" if sort == 5 else "numeric"


CAMPAIGN = Campaign(
    name="reports",
    promise="A release is written with its report, whatever its columns hold, and the report has evaluate's figures.",
    case=case,
    quick=40,
    long=3000,
    seconds=60,
)
