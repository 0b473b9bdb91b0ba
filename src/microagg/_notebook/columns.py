"""How the values of columns are spread: bars of counts, side by side for numbers, one per category for others."""

from __future__ import annotations

import math
from collections import Counter
from collections.abc import Mapping
from typing import TYPE_CHECKING, Any

import numpy as np

from microagg._notebook.picture import Picture, drawing
from microagg._notebook.values import shown_values
from microagg._typing import FloatArray

if TYPE_CHECKING:
    import pyarrow as pa

__all__ = ["draw_columns"]

_MOST_COLUMNS, _MOST_CATEGORIES, _BINS = 24, 12, 30
_AFTER, _BEFORE = "#0072B2", "#bbbbbb"


def draw_columns(after: Mapping[str, pa.Array], before: Mapping[str, pa.Array]) -> Picture:
    """A panel for each column of `after`, with the same column of `before` behind it, if it is there."""
    names = list(after)[:_MOST_COLUMNS]
    wide = min(3, len(names)) or 1
    high = math.ceil(len(names) / wide) or 1
    with drawing(3.4 * wide, 2.4 * high + 0.4) as made:
        axes = made.figure.subplots(high, wide, squeeze=False).ravel()
        for axis in axes[len(names) :]:
            axis.set_visible(False)
        for axis, name in zip(axes, names, strict=False):
            _draw(axis, after[name], before.get(name))
            axis.set_title(_short(name), size=10)
            axis.tick_params(labelsize=8)
        title = "published (blue), original (grey); INTERNAL: not for publication" if before else "as published"
        left_out = len(after) - len(names)
        made.figure.suptitle(title + (f"; {left_out} more columns are not drawn" if left_out else ""), size=10)
    return made.picture


def _draw(axis: Any, after: pa.Array, before: pa.Array | None) -> None:
    from pyarrow import types as t

    if _is_number(after.type) and (before is None or _is_number(before.type)):
        numbers = [_numbers(one) for one in (before, after) if one is not None]
        there = np.concatenate(numbers)
        if not len(there):
            return
        ends = np.linspace(there.min(), there.max() if there.max() > there.min() else there.min() + 1.0, _BINS + 1)
        for values, colour in zip(numbers, (_BEFORE, _AFTER)[2 - len(numbers) :], strict=True):
            axis.hist(values, bins=ends, color=colour, alpha=0.75)
        if t.is_date(after.type) or t.is_timestamp(after.type):
            ticks = np.linspace(ends[0], ends[-1], 3)
            days = [str(np.datetime64(int(tick), "s"))[:10] for tick in ticks]
            axis.set_xticks(ticks, days)
        return
    counts = [Counter(map(str, shown_values(one.drop_null()))) for one in (before, after) if one is not None]
    most = [name for name, _ in sum(counts, Counter()).most_common(_MOST_CATEGORIES)]
    places = np.arange(len(most))
    for count, colour in zip(counts, (_BEFORE, _AFTER)[2 - len(counts) :], strict=True):
        axis.barh(places, [count[name] for name in most], color=colour, alpha=0.75)
    axis.set_yticks(places, [_short(name) for name in most])
    axis.invert_yaxis()


def _is_number(kind: pa.DataType) -> bool:
    from pyarrow import types as t

    tests = (t.is_integer, t.is_floating, t.is_decimal, t.is_date, t.is_timestamp)
    return any(test(kind) for test in tests)


def _numbers(values: pa.Array) -> FloatArray:
    """Finite values as numbers; moments in seconds."""
    import pyarrow as pa
    from pyarrow import types as t

    values = values.drop_null()
    if t.is_date(values.type) or t.is_timestamp(values.type):
        values = values.cast(pa.timestamp("s"), safe=False).cast(pa.int64())
    found: FloatArray = np.asarray(values.cast(pa.float64(), safe=False).to_numpy(zero_copy_only=False))
    return found[np.isfinite(found)]


def _short(text: str, limit: int = 28) -> str:
    plain = "".join(char if char.isprintable() else repr(char)[1:-1] for char in text)
    return plain if len(plain) <= limit else f"{plain[: limit - 1]}…"
