"""Random tables as people have them, and as nobody should: every type, every scale, odd text, missing values."""

from __future__ import annotations

import datetime as dt
from collections.abc import Callable
from dataclasses import dataclass, field
from typing import Any

import numpy as np
import pyarrow as pa
import pyarrow.compute

Rng = np.random.Generator

ODD_TEXTS = (
    *("", " ", "  two", "trailing ", "NA", "null", "None", "nan", "007", "08001", "1e5", "-1", "+1", "=1+1", "@cmd"),
    *("-2+3", "it's", 'say "hi"', "a,b", "a;b", "a\tb", "line\nbreak", "back\\slash", "émile", "Ω", "日本", "🙂"),
    *("x" * 60, "\u200b", "\x07bell", "cr\rlf", "true", "2024-01-01", "12:30:00"),
)
PLAIN_TEXTS = ("north", "south", "east", "west", "centre", "abroad")


@dataclass(frozen=True)
class FuzzedColumn:
    """A column: its values, the kind it may be declared as, and public knowledge of it."""

    array: pa.Array
    kind: str
    bounds: tuple[Any, Any] | None = None
    categories: tuple[Any, ...] | None = None
    extras: dict[str, Any] = field(default_factory=dict)


def fuzzed_column(rng: Rng, n: int, *, kinds: tuple[str, ...] = ("numeric", "ordinal", "nominal")) -> FuzzedColumn:
    """One random column of `n` records, sometimes with missing values."""
    kind = str(rng.choice(kinds, p=_shares(kinds)))
    makers = _MAKERS[kind]
    column = makers[int(rng.integers(len(makers)))](rng, n)
    return _with_gaps(column, rng)


def _shares(kinds: tuple[str, ...]) -> Any:
    weights = np.array([{"numeric": 0.6, "ordinal": 0.15, "nominal": 0.25}[kind] for kind in kinds])
    return weights / weights.sum()


def _with_gaps(column: FuzzedColumn, rng: Rng) -> FuzzedColumn:
    share = rng.choice([0.0, 0.05, 0.5, 1.0], p=[0.8, 0.1, 0.08, 0.02])
    gaps = rng.random(len(column.array)) < share
    if not gaps.any():
        return column
    array = column.array
    blank = pa.nulls(len(array), array.type) if not pa.types.is_dictionary(array.type) else None
    if blank is None:
        indices = pa.array(np.where(gaps, 0, array.indices.to_numpy()), mask=gaps).cast(array.indices.type)
        array = pa.DictionaryArray.from_arrays(indices, array.dictionary, ordered=array.type.ordered)
    else:
        array = pa.compute.if_else(pa.array(gaps), blank, array)
    return FuzzedColumn(array, column.kind, column.bounds, column.categories, column.extras)


# Numbers


def _floats(rng: Rng, n: int) -> FuzzedColumn:
    scale = 10.0 ** rng.choice([0, 0, 3, -3, 9, -9, 77, -77, 100, -100, 160, -160, 200, 299, -299])
    shape = rng.integers(4)
    values = (
        rng.normal(size=n)
        if shape == 0
        else rng.lognormal(size=n)
        if shape == 1
        else np.round(rng.normal(size=n), 1)
        if shape == 2
        else rng.integers(0, 5, n).astype(float)
    )
    values = values * scale + 0.0
    return _numeric(values, rng)


def _near_equal(rng: Rng, n: int) -> FuzzedColumn:
    base, steps = (
        (1.0, np.array([0.0, 2.0**-52, 2.0**-51])),
        (1.7e15, np.array([0.0, 0.25, 0.5, 0.75])),
        (0.0, np.array([0.0, 0.1 + 0.2 - 0.3, 0.1 + 0.7 - 0.8, 0.005, 1.0])),
        (1e9, np.array([0.0, 1e-6, 1.0])),
        (7.0, np.array([0.0])),
    )[int(rng.integers(5))]
    return _numeric(base + rng.choice(steps, n), rng)


def _denormal(rng: Rng, n: int) -> FuzzedColumn:
    return _numeric(rng.integers(0, 50, n) * 5e-324, rng)


def _far_apart(rng: Rng, n: int) -> FuzzedColumn:
    return _numeric(rng.choice([1e300, -1e300, 1e-300, 0.0, 1.0], n) * rng.random(n), rng)


def _spiked(rng: Rng, n: int) -> FuzzedColumn:
    return _numeric(np.where(rng.random(n) < 0.6, 0.0, rng.lognormal(8, 1, n)), rng)


def _infinite(rng: Rng, n: int) -> FuzzedColumn:
    values = rng.normal(size=n)
    values[rng.integers(n)] = rng.choice([np.inf, -np.inf])
    return FuzzedColumn(pa.array(values), "numeric", (-10.0, 10.0))


def _single(rng: Rng, n: int) -> FuzzedColumn:
    largest = 10.0 ** rng.choice([0, 30, 38, -40])
    values = np.clip(rng.normal(size=n) * largest, -3.4e38, 3.4e38).astype(np.float32)
    return FuzzedColumn(pa.array(values), "numeric", (float(values.min()) - largest, float(values.max()) + largest))


def _numeric(values: Any, rng: Rng) -> FuzzedColumn:
    low, high = float(values.min()), float(values.max())
    if rng.random() < 0.5 and abs(low) + abs(high) < 1e290:
        low, high = low - abs(low) / 2, high + abs(high) / 2 + (high == 0)
    return FuzzedColumn(pa.array(values), "numeric", (low, high))


_WHOLE = [pa.int8(), pa.int16(), pa.int32(), pa.int64(), pa.uint8(), pa.uint16(), pa.uint32(), pa.uint64()]


def _integers(rng: Rng, n: int) -> FuzzedColumn:
    kind = _WHOLE[int(rng.integers(len(_WHOLE)))]
    limits = np.iinfo(kind.to_pandas_dtype())
    least, most = int(limits.min), int(limits.max)
    form = rng.integers(5)
    if form == 0:  # all there are
        low, high = least, most
    elif form == 1:  # at the upper end
        low, high = most - min(20, most - least), most
    elif form == 2:  # at the lower end
        low, high = least, least + min(20, most - least)
    else:
        low, high = max(least, -50), min(most, 100)
    values = [low + int(step) for step in rng.integers(0, high - low, n, dtype=np.uint64, endpoint=True)]
    return FuzzedColumn(pa.array(values, kind), "numeric", (low, high))


def _decimals(rng: Rng, n: int) -> FuzzedColumn:
    precision, scale = [(4, 2), (10, 0), (18, 6), (38, 10), (38, 37), (5, 5)][int(rng.integers(6))]
    most = min(10**precision - 1, 10 ** int(rng.integers(1, precision + 1)))
    whole = [int(rng.integers(-(2**62), 2**62)) * 10**20 % (2 * most + 1) - most for _ in range(n)]
    from decimal import Decimal, localcontext

    with localcontext() as context:
        context.prec = 60
        values = [Decimal(one).scaleb(-scale) for one in whole]
    array = pa.array(values, pa.decimal128(precision, scale))
    bounds = (-most / 10**scale, most / 10**scale)
    return FuzzedColumn(array, "numeric", bounds)


# Moments


def _dates(rng: Rng, n: int) -> FuzzedColumn:
    low, high = [(-25_000, 20_000), (-719_162, -719_000), (2_932_700, 2_932_896), (19_000, 19_005)][rng.integers(4)]
    days = pa.array(rng.integers(low, high, n, endpoint=True), pa.int32()).cast(pa.date32())
    first = dt.date(1970, 1, 1)
    bounds = (first + dt.timedelta(low), first + dt.timedelta(high))
    array = days.cast(pa.date64()) if rng.random() < 0.2 else days
    return FuzzedColumn(array, "numeric", bounds)


def _times(rng: Rng, n: int) -> FuzzedColumn:
    seconds = [rng.integers(0, 86_400, n), 86_399 - rng.integers(0, 900, n), rng.integers(0, 300, n)][rng.integers(3)]
    times = pa.array(seconds, pa.int32()).cast(pa.time32("s"))
    kind = [pa.time32("s"), pa.time32("ms"), pa.time64("us"), pa.time64("ns")][int(rng.integers(4))]
    array = times.cast(kind)
    if kind != pa.time32("s") and rng.random() < 0.5:
        whole = array.cast(pa.int32() if pa.types.is_time32(kind) else pa.int64()).to_numpy()
        array = pa.array(whole + rng.integers(0, 999, n)).cast(pa.int32() if pa.types.is_time32(kind) else pa.int64())
        array = array.cast(kind)
    return FuzzedColumn(array, "numeric", (0, 86_400))


def _timestamps(rng: Rng, n: int) -> FuzzedColumn:
    unit = str(rng.choice(["s", "ms", "us", "ns"]))
    zone = None if rng.random() < 0.8 else "Europe/Madrid"
    per_second = {"s": 1, "ms": 10**3, "us": 10**6, "ns": 10**9}[unit]
    form = rng.integers(4)
    if form == 0 and unit == "ns":  # what 64 bits of nanoseconds end with
        values = 2**63 - 1 - rng.integers(0, 10**12, n)
        return FuzzedColumn(pa.array(values).cast(pa.timestamp("ns", zone)), "numeric")
    if form == 1 and unit != "ns" and zone is None:
        values = 253_402_300_799 * per_second - rng.integers(0, 10**6, n)
        return FuzzedColumn(pa.array(values).cast(pa.timestamp(unit)), "numeric")
    seconds = rng.integers(1_500_000_000, 1_700_000_000, n)
    fraction = rng.integers(0, per_second, n) if rng.random() < 0.3 else 0
    array = pa.array(seconds * per_second + fraction).cast(pa.timestamp(unit, zone))
    bounds = (dt.datetime(2017, 1, 1), dt.datetime(2024, 1, 1))
    if zone is not None:
        bounds = tuple(bound.replace(tzinfo=dt.UTC) for bound in bounds)
    return FuzzedColumn(array, "numeric", bounds)


def _durations(rng: Rng, n: int) -> FuzzedColumn:
    return FuzzedColumn(pa.array(rng.integers(0, 10**6, n)).cast(pa.duration("s")), "numeric", (0, 10**6))


# Categories


def _texts(rng: Rng, n: int) -> FuzzedColumn:
    pool = ODD_TEXTS if rng.random() < 0.6 else PLAIN_TEXTS
    words = [str(word) for word in rng.choice(np.array(pool, dtype=object), int(rng.integers(1, 6)), replace=False)]
    array = pa.array([words[i] for i in rng.integers(0, len(words), n)], pa.string())
    form = rng.integers(4)
    if form == 0:
        array = array.cast(pa.large_string())
    if form == 1:
        array = array.dictionary_encode()
    return FuzzedColumn(array, "nominal", categories=tuple(sorted(words)))


def _truths(rng: Rng, n: int) -> FuzzedColumn:
    return FuzzedColumn(pa.array(rng.random(n) < 0.4), "nominal", categories=(False, True))


def _coded(rng: Rng, n: int) -> FuzzedColumn:
    return FuzzedColumn(pa.array(rng.integers(0, 4, n)), "nominal", categories=(0, 1, 2, 3))


def _fractions_as_names(rng: Rng, n: int) -> FuzzedColumn:
    return FuzzedColumn(pa.array(rng.choice([0.5, 1.0, 1e300, -0.0, 0.0], n)), "nominal")


def _days_as_names(rng: Rng, n: int) -> FuzzedColumn:
    return FuzzedColumn(pa.array(rng.integers(0, 3, n), pa.int32()).cast(pa.date32()), "nominal")


def _grades(rng: Rng, n: int) -> FuzzedColumn:
    order = ("low", "mid", "high", "top")
    codes = rng.integers(0, int(rng.integers(1, 5)), n)
    if rng.random() < 0.5:
        array = pa.DictionaryArray.from_arrays(pa.array(codes, pa.int8()), pa.array(order), ordered=True)
    else:
        array = pa.array([order[code] for code in codes])
    return FuzzedColumn(array, "ordinal", categories=order)


def _counts_in_order(rng: Rng, n: int) -> FuzzedColumn:
    return FuzzedColumn(pa.array(rng.integers(0, 6, n)), "ordinal", categories=tuple(range(6)))


Maker = Callable[[Rng, int], FuzzedColumn]
_MAKERS: dict[str, list[Maker]] = {
    "numeric": [
        *(_floats, _floats, _floats, _near_equal, _denormal, _far_apart, _spiked, _single, _infinite),
        *(_integers, _integers, _integers, _decimals, _dates, _times, _times, _timestamps, _timestamps, _durations),
    ],
    "ordinal": [_grades, _counts_in_order],
    "nominal": [_texts, _texts, _texts, _truths, _coded, _fractions_as_names, _days_as_names],
}
