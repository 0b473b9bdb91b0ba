"""Actual anonymity k' and losses of the other partitions on the field's benchmark files.

k' is the number of records over the number of distinct published combinations of some attributes, the mean over several
sets of attributes (Nin, One dimension microaggregation, section 2.3 and Tables 1 to 5).
"""

from __future__ import annotations

import numpy as np
import pyarrow as pa
import pytest

import microagg
from declarations import numeric
from microagg import Recipe
from microagg.partition import VMDAV, Mic1D, Projection
from microagg.space.blocks import contiguous_blocks

# Attributes a1 to a9 of Tables 1 and 2. The correlated blocks are a1-a3, a4-a6, a7-a9.
WATER = ("PH-E", "PH-P", "PH-D", "DQO-E", "COND-P", "COND-D", "DBO-S", "SS-S", "SED-S")
CENSUS = ("AGI", "FICA", "INTVAL", "EMCONTRB", "TAXINC", "WSALVAL", "ERNVAL", "PEARNVAL", "POTHVAL")
# Table 3, correlated: what an intruder knows lies in one, two or three blocks.
KNOWN = {
    "1G": "123 456 789",
    "2G": "125 137 236 145 246 569 678 189 279",
    "3G": "147 158 169 247 258 269 347 358 369",
}
EIA = ("UTILITYID", *(f"{kind}{what}" for kind in ("RES", "COM", "IND") for what in ("REVENUE", "SALES")))
EIA = (*EIA, "OTHREVENUE", "OTHRSALES", "TOTREVENUE", "TOTSALES")


def matrix(table: pa.Table, names: tuple[str, ...]) -> np.ndarray:
    return np.column_stack([table[name].to_numpy() for name in names]).astype(float)


def actual_anonymity(published: np.ndarray) -> float:
    return len(published) / len(np.unique(published, axis=0))


def anonymity_within_blocks(table: pa.Table, names: tuple[str, ...], k: int, standardize: str) -> float:
    """The mean k' over the three blocks of a release by MDAV."""
    blocks = contiguous_blocks(names, 3)
    attributes = {name: numeric() if name in names else "identifier" for name in table.column_names}
    recipe = Recipe(
        k=k,
        attributes=attributes,
        space={"standardize": standardize},
        blocks={"form": "given", "attributes": blocks},
    )
    released = microagg.release(table, recipe).table
    return float(np.mean([actual_anonymity(matrix(released, block)) for block in blocks]))


@pytest.mark.parametrize(("k", "published"), [(5, 5.00), (25, 25.12), (50, 51.43)])
def test_census_in_blocks_has_the_anonymity_of_table_4(reference_data, k, published):
    assert round(anonymity_within_blocks(reference_data("census"), CENSUS, k, "zscore"), 2) == published


@pytest.mark.parametrize(("k", "published"), [(5, 5.09), (15, 15.20), (25, 25.33)])
def test_water_treatment_in_blocks_has_the_anonymity_of_table_5(reference_data, k, published):
    complete = reference_data("water").drop_null()
    assert complete.num_rows == 380
    assert round(anonymity_within_blocks(complete, WATER, k, "minmax"), 2) == published


# By trial: raw values, two passes, a short last partition come nearest to the tables, whose own figures are
# (8.37, 9.87, 5.77), (20.10, 22.09, 13.89), (72.83, 76.08, 55.02) for Census and (3.25, 3.39, 1.76),
# (7.87, 7.55, 4.67), (12.95, 13.61, 9.14) for Water-treatment. What is held here is that trial.
@pytest.mark.parametrize(
    ("name", "names", "k", "trial"),
    [
        ("census", CENSUS, 3000, (5.74, 8.03, 6.16)),
        ("census", CENSUS, 4000, (13.7, 16.7, 13.4)),
        ("census", CENSUS, 5000, (56.9, 60.2, 51.7)),
        ("water", WATER, 500, (3.42, 2.74, 2.22)),
        ("water", WATER, 800, (7.82, 6.80, 6.01)),
        ("water", WATER, 900, (14.7, 13.3, 12.7)),
    ],
)
def test_mic1d_has_the_anonymity_of_the_trial(reference_data, name, names, k, trial):
    published = Mic1D(k=k).fit(matrix(reference_data(name).drop_null(), names)).published_
    found = [
        np.mean([actual_anonymity(published[:, [int(digit) - 1 for digit in known]]) for known in sets.split()])
        for sets in KNOWN.values()
    ]
    assert found == pytest.approx(trial, rel=2e-3)


# Best of gamma = 0, 0.2, 0.5, 1, 1.1, 100 SSE/SST on z-scores: by a study of our own with a separate program.
LOSSES = [
    ("census", None, {3: 5.662, 5: 9.007, 10: 14.043}),
    ("tarragona", None, {3: 16.520, 5: 22.872, 10: 33.253}),
    ("eia", EIA, {3: 0.488, 5: 1.145, 10: 2.805}),
]


def zscores(table: pa.Table, names: tuple[str, ...] | None) -> np.ndarray:
    X = matrix(table, names or tuple(table.column_names))
    return (X - X.mean(axis=0)) / X.std(axis=0)


@pytest.mark.parametrize(("name", "names", "losses"), LOSSES, ids=[row[0] for row in LOSSES])
def test_vmdav_loses_what_another_program_found(reference_data, name, names, losses):
    X = zscores(reference_data(name), names)
    best = {k: min(VMDAV(k=k, gamma=gamma).fit(X).sse_ for gamma in (0, 0.2, 0.5, 1, 1.1)) for k in losses}
    assert {k: round(100 * sse / X.size, 3) for k, sse in best.items()} == losses


# Tables 4 and 5 print a k' of about 25.12 and 51.43 for both projections: floor(n/k) cells, so fixed runs.
@pytest.mark.parametrize("axis", ["principal", "zscores"])
@pytest.mark.parametrize(("k", "published"), [(25, 25.12), (50, 51.43)])
def test_projections_with_fixed_runs_have_the_anonymity_of_table_4(reference_data, axis, k, published):
    X = zscores(reference_data("census"), CENSUS)
    cells = [Projection(k=k, axis=axis, cut="fixed").fit(X[:, start : start + 3]).n_cells_ for start in (0, 3, 6)]
    assert round(float(np.mean([len(X) / n_cells for n_cells in cells])), 2) == published
