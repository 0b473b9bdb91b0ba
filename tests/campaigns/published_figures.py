"""Published tables and figures, run again on the quick grid: those that are exact or close stay so.

``make campaign`` runs all 28; together they take some minutes on two cores.
"""

from __future__ import annotations

import tempfile
from pathlib import Path

from campaigns.campaign import Campaign
from microagg.errors import TableError
from microagg.studies.reproduction.catalogue import experiments
from microagg.studies.reproduction.comparison import tally
from microagg.studies.reproduction.experiment import Grid
from microagg.studies.reproduction.writing import reproduce
from microagg.tables.reference import datasets

# The fewest rows that are exact, and exact or close, on the quick grid with seed 0 (measured, less a tenth for chance).
LEAST = {
    "mic1d.table4": (12, 22),
    "mic1d.table5": (10, 22),
    "individual_ranking.table1": (30, 80),
    "cross_moment.table1": (36, 36),
    "cross_moment.figure8": (1, 2),
    "dependence.figure14": (2, 3),
}


def case(number: int) -> str:
    # Those that need no reference table come first, so that the suite's slice runs everywhere.
    experiment = sorted(experiments(), key=lambda one: (bool(one.needs), one.name))[number]
    try:
        for name in experiment.needs:
            datasets.path_of(name)
    except TableError:
        return "lacks data"
    with tempfile.TemporaryDirectory() as folder:
        (first,) = reproduce([experiment], folder=Path(folder), grid=Grid.QUICK, workers=1)
        table = (Path(folder) / experiment.name / "table.md").read_text(encoding="utf-8")
    assert first.rows
    assert table.count("\n| ") >= len(first.rows)
    counts = tally(first.rows)
    exact, near = LEAST.get(experiment.name, (0, 0))
    assert counts["exact"] >= exact, f"{experiment.name}: {counts}"
    assert counts["exact"] + counts["close"] >= near, f"{experiment.name}: {counts}"
    assert all(row.why for row in first.rows if row.verdict.value == "not reproduced")
    return "agrees as before" if experiment.name in LEAST else "ran"


CAMPAIGN = Campaign(
    "published_figures",
    "A published figure that was reproduced still is.",
    case,
    quick=1,
    long=28,
    seconds=600.0,
)
