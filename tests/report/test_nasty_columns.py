"""No column keeps a release from having its report: numbers at the edge of their type, dates, names, categories."""

from __future__ import annotations

import json
import math

import numpy as np
import pyarrow as pa
import pytest
from hypothesis import given, settings
from hypothesis import strategies as st

import microagg
from declarations import nominal, numeric, ordinal
from microagg import MicroaggError, Recipe

N = 64
HALF = np.arange(N) % 2
QUARTERS = np.arange(N) % 4 / 4
SMALLEST = 5e-324
LARGEST = 1.7e308
NUMBERS = {
    "quarters above 1.7e15": 1.7e15 + QUARTERS,
    "1 and the next number": 1.0 + HALF * 2.0**-52,
    "1 and its neighbours": 1.0 + (np.arange(N) % 4 - 1) * 2.0**-52,
    "denormals": np.arange(N) * SMALLEST,
    "two denormals": (1 + HALF) * SMALLEST,
    "one denormal": np.full(N, SMALLEST),
    "denormals and one": np.where(HALF == 1, 1.0, SMALLEST),
    "both ends of doubles": np.where(HALF == 1, LARGEST, -LARGEST),
    "large doubles": np.linspace(-1, 1, N) * LARGEST,
    "large and next": np.where(HALF == 1, LARGEST, np.nextafter(LARGEST, 0)),
    "1e155 to 1e160": np.geomspace(1e155, 1e160, N),
    "constant": np.full(N, 3.0),
    "zeros of both signs": np.where(HALF == 1, -0.0, 0.0),
    "minus 1e-300": np.linspace(-1e-300, 0, N),
    "whole numbers above 2^53": 2**53 + np.arange(N),
    "whole numbers near the end": 2**63 - 1 - np.arange(N),
    "whole numbers of both ends": np.where(HALF == 1, 2**63 - 1, -(2**63)),
    "one far away": np.where(np.arange(N) == 0, 1e300, 1.0),
    "not numbers": np.where(HALF == 1, np.nan, np.arange(N)),
    "infinite": np.where(np.arange(N) < 5, np.inf, np.arange(N)),
}
DAYS = pa.array(np.array([-719_162, 2_932_896] * (N // 2), dtype=np.int32))
OTHERS = {
    "first and last day": (pa.array(DAYS).cast(pa.date32()), "numeric"),
    "days beyond year 9999": (pa.array(DAYS.to_numpy() * 3).cast(pa.date32()), "numeric"),
    "days next to each other": (pa.array(np.arange(N, dtype=np.int32) % 2).cast(pa.date32()), "numeric"),
    "seconds beyond year 9999": (pa.array(np.arange(N) * 10**13 // 2).cast(pa.timestamp("s")), "numeric"),
    "nanoseconds": (pa.array(2**62 + np.arange(N)).cast(pa.timestamp("ns")), "numeric"),
    "times of day": (pa.array((np.arange(N) * 1350).astype(np.int32)).cast(pa.time32("s")), "numeric"),
    "yes and no": (pa.array((HALF == 1).tolist()), "nominal"),
    "all missing": (pa.nulls(N, pa.string()), "nominal"),
    "no number": (pa.nulls(N, pa.float64()), "numeric"),
    "empty words": (pa.array(["", None, " ", "a"] * (N // 4)), "nominal"),
    "all different words": (pa.array([f"w{i}" for i in range(N)]), "nominal"),
    "markup": (pa.array(["<b>", "&amp;", "{{ 1 }}", "\x00\x1b[31m\u202e"] * (N // 4)), "nominal"),
    "long words": (pa.array(["x" * 5000, "y" * 5000] * (N // 2)), "nominal"),
    "ranks": (pa.array(["low", "high"] * (N // 2)), "ordinal"),
}
CASES = {name: (pa.array(values), "numeric") for name, values in NUMBERS.items()} | OTHERS


def whole_report(made):
    """Both forms of a report, as a browser and a program get them."""
    for internal in (False, True):
        for full in (False, True):
            report = made._report({}, internal=internal, full=full)
            assert json.loads(report.as_json())["records"] == made.statement.n_records
            html = report.as_html()
            assert ">nan<" not in html.lower()
            assert "\x1b" not in html
            yield report


def declared(kind):
    more = {"categories": ["low", "high"]} if kind == "ordinal" else {}
    return {"numeric": numeric, "nominal": nominal, "ordinal": ordinal}[kind](**more)


@pytest.mark.parametrize("name", CASES)
@pytest.mark.parametrize("protected", [False, True])
def test_a_report_is_made_of(name, protected):
    column, kind = CASES[name]
    entry = declared(kind) | ({} if protected else {"role": "confidential"})
    attributes = {"column": entry, "age": numeric(), "sex": nominal()}
    table = pa.table({"column": column, "age": np.arange(N) % 9, "sex": ["f", "m"] * (N // 2)})
    recipe = Recipe(k=3, attributes=attributes, missing={"policy": "own_cell", "small": "merge_small"})
    try:
        made = microagg.release(table, recipe)
    except MicroaggError:
        pytest.skip("the release itself is refused, in a sentence")
    for _ in whole_report(made):
        pass


def test_a_report_is_made_of_one_record():
    table = pa.table({"x": [1.0], "y": ["a"]})
    recipe = Recipe(
        method="dp_laplace",
        attributes={"x": numeric(bounds=[0, 2]), "y": {"role": "confidential", "kind": "nominal"}},
        privacy={"epsilon": 1.0},
    )
    assert len(list(whole_report(microagg.release(table, recipe)))) == 4


def test_a_report_is_made_of_ten_thousand_categories():
    rng = np.random.default_rng(0)
    table = pa.table({"age": rng.integers(0, 90, 20_000), "job": [f"job {i // 2}" for i in range(20_000)]})
    attributes = {"age": numeric(), "job": {"role": "confidential", "kind": "nominal"}}
    made = microagg.release(table, Recipe(method="zscores", k=3, attributes=attributes))
    assert len(made._report({}).as_html()) < 200_000
    assert len(made._report({}, internal=True).as_html()) < 200_000


def test_near_equal_numbers_are_told_apart_where_they_may_be():
    from microagg.reports.distributions import numbers_before_and_after, public_numbers
    from microagg.tables.frames import Column

    column = Column("x", pa.array(1.7e15 + np.arange(400) % 4 / 4))
    inside = numbers_before_and_after(column, column)["bins"]
    assert [one["before"] for one in inside if one["before"]] == [100] * 4
    public = public_numbers(column, 10)
    assert [one["after"] for one in public["bins"] if one["after"]] == [0.25] * 4
    assert all(one["from"] is None for one in public["bins"])
    assert "too close together" in public["note"]


@settings(max_examples=150)
@given(
    st.one_of(
        st.lists(st.floats(allow_nan=True, allow_infinity=True), min_size=1, max_size=60),
        st.lists(st.integers(-(2**63), 2**63 - 1), min_size=1, max_size=60),
        st.tuples(
            st.floats(allow_nan=False, allow_infinity=False), st.lists(st.integers(-3, 3), min_size=1, max_size=60)
        ).map(lambda two: [_steps_from(two[0], steps) for steps in two[1]]),
    ),
    st.lists(st.floats(allow_nan=True, allow_infinity=True), min_size=1, max_size=30),
    st.integers(1, 12),
)
def test_any_numbers_can_be_described(first, second, least):
    from microagg.reports.distributions import numbers_before_and_after, public_numbers
    from microagg.tables.frames import Column

    columns = [Column("x", pa.array(values)) for values in (first, [float(one) for one in second])]
    for column in columns:
        shown = public_numbers(column, least)
        bins = shown.get("bins", [])
        assert all(one["width"] > 0 for one in bins)
        assert sum(one["after"] for one in bins) == pytest.approx(1, abs=0.005 * len(bins)) or not bins
    both = numbers_before_and_after(*columns)
    for side, column in zip(("before", "after"), columns, strict=True):
        present = int(np.isfinite(column.absolute()).sum())
        assert sum(one[side] for one in both.get("bins", [])) == present or both["type"] == "none"
    assert "nan" not in json.dumps(both).lower()


def _steps_from(value, steps):
    """The double so many doubles further."""
    for _ in range(abs(steps)):
        value = math.nextafter(value, math.copysign(math.inf, steps))
    return value if np.isfinite(value) else 0.0
