"""Mixed tables: numbers and categories together, at the sizes that offices have.

Run with ``python benchmarks/mixed.py [--records 50000 100000 200000 1000000] [--coordinates] [--categories 10000]``.
Each size is released in a process of its own (k = 10, MDAV, the whole of `release`), which compiles first; printed are
CPU seconds and the peak memory of the process, imports, compiling and the table included, and how both grow.
``--coordinates`` forms the cells by coordinates, too, a column per category, and compares times and labels.
"""

from __future__ import annotations

import numpy as np
import pyarrow as pa

K = 10
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
    columns: dict[str, object] = {}
    for name in NUMBERS:
        drawn = rng.normal(means[name][kind], spreads[name][kind])
        columns[name] = np.clip(np.rint(drawn), *limits[name]).astype(np.int64)
    for name, weights in CATEGORIES.items():
        shares = np.array(weights) / np.sum(weights)
        of_kind = np.cumsum([rng.dirichlet(5.0 * shares + 1e-3) for _ in range(n_kinds)], axis=1)
        codes = (rng.random(n_records)[:, None] > of_kind[kind]).sum(axis=1).clip(0, len(shares) - 1)
        columns[name] = pa.DictionaryArray.from_arrays(
            pa.array(codes, pa.int32()), [f"{name} {place}" for place in range(len(shares))]
        ).cast(pa.string())
    score = 0.03 * columns["age"] + 0.2 * columns["education_num"] + rng.logistic(size=n_records)  # type: ignore[operator]
    columns["income"] = np.where(score > 4.5, "high", "low")
    return pa.table(columns)
