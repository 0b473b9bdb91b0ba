"""Information loss of MDAV on the field's benchmark files, as published.

100 SSE/SST on z-scored attributes: Domingo-Ferrer & Torra (2005) and the papers that compare with it. The eleven
attributes of EIA are UTILITYID and the ten revenue and sales columns.
"""

from __future__ import annotations

import numpy as np
import pytest

import microagg
from declarations import numeric

EIA = ("UTILITYID", *(f"{kind}{what}" for kind in ("RES", "COM", "IND") for what in ("REVENUE", "SALES")))
EIA = (*EIA, "OTHREVENUE", "OTHRSALES", "TOTREVENUE", "TOTSALES")
PUBLISHED = [
    ("census", None, {3: 5.6922, 5: 9.0884, 10: 14.1559}),
    ("tarragona", None, {3: 16.9326, 5: 22.4619, 10: 33.1929}),
    ("eia", EIA, {3: 0.4829, 5: 1.6667, 10: 3.8397}),
]


@pytest.mark.parametrize(("name", "columns", "losses"), PUBLISHED, ids=[row[0] for row in PUBLISHED])
def test_mdav_loses_what_the_literature_prints(reference_data, name, columns, losses):
    table = reference_data(name).select(columns or slice(None)) if columns else reference_data(name)
    X = np.column_stack([table[column].to_numpy() for column in table.column_names]).astype(float)
    X = (X - X.mean(axis=0)) / X.std(axis=0)
    found = {k: round(100 * microagg.MDAV(k=k).fit(X).sse_ / X.size, 4) for k in losses}
    assert found == losses


@pytest.mark.parametrize(("name", "columns", "losses"), PUBLISHED, ids=[row[0] for row in PUBLISHED])
def test_a_release_loses_the_same(reference_data, name, columns, losses):
    table = reference_data(name)
    attributes = {
        column: numeric() if columns is None or column in columns else "identifier" for column in table.column_names
    }
    found = {
        k: round(microagg.release(table, microagg.Recipe(k=k, attributes=attributes)).information_loss, 4)
        for k in losses
    }
    assert found == losses
