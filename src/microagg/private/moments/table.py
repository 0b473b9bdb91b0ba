"""The moments of cells as a table: one row for each statistic of each cell."""

from __future__ import annotations

from collections.abc import Sequence
from typing import TYPE_CHECKING

import numpy as np
import numpy.typing as npt

from microagg.aggregate.moments import CrossMoments
from microagg.privacy.verify import Finding
from microagg.private.base import bounds_read_from_data
from microagg.schema.attribute import Attribute

if TYPE_CHECKING:
    import pyarrow as pa

    from microagg.recipe.recipe import Recipe

__all__ = ["COLUMNS", "check_moments_table", "moments_table"]

COLUMNS = ("block", "cell", "n_records", "moment", "attributes", "value")
_SEPARATOR = " x "
_ROUNDING = 1e-9


def moments_table(
    moments: CrossMoments,
    attributes: Sequence[str],
    lows: npt.NDArray[np.float64],
    scales: npt.NDArray[np.float64],
    *,
    block: int,
) -> pa.Table:
    """Statistics in the units of the attributes.

    Parameters
    ----------
    moments : CrossMoments
    attributes : sequence of str
    lows, scales : ndarray of shape (n_attributes,)
        A value v of the moments' space stands for ``low + scale v``.
    block : int
        Which group of attributes this is.
    """
    import pyarrow as pa

    elements = [(j,) for j in range(len(attributes))] + list(moments.pairs) + list(moments.triples)
    kinds = [("mean", "covariance", "coskewness")[len(element) - 1] for element in elements]
    kinds = ["variance" if len(set(e)) == 1 and len(e) == 2 else kind for e, kind in zip(elements, kinds, strict=True)]
    factors = np.array([np.prod(scales[list(element)]) for element in elements])
    values = moments.statistics * factors
    values[:, : len(attributes)] += lows
    n_cells, n_elements = values.shape
    named = [_SEPARATOR.join(attributes[j] for j in element) for element in elements]
    return pa.table(
        {
            "block": np.full(n_cells * n_elements, block, dtype=np.int64),
            "cell": np.repeat(np.arange(n_cells), n_elements),
            "n_records": np.repeat(moments.sizes, n_elements),
            "moment": pa.array(np.tile(np.array(kinds, dtype=object), n_cells), type=pa.string()),
            "attributes": pa.array(np.tile(np.array(named, dtype=object), n_cells), type=pa.string()),
            "value": values.ravel(),
        }
    )


def check_moments_table(table: pa.Table, recipe: Recipe) -> Finding:
    """Every statistic is there and finite, and every mean lies within the public bounds."""
    import pyarrow.compute as pc

    if tuple(table.column_names) != COLUMNS:
        return Finding("table of moments", False, f"does not have the columns {', '.join(COLUMNS)}")
    numbers = pc.cast(table["value"], "float64").to_numpy()
    if table["value"].null_count or not np.isfinite(numbers).all():
        return Finding("table of moments", False, "has values that are missing or not finite")
    of_means = np.asarray(pc.equal(table["moment"], "mean").to_numpy(zero_copy_only=False), dtype=bool)
    named = np.asarray(table["attributes"].to_numpy(zero_copy_only=False), dtype=object)
    unknown = sorted(set(named[of_means]) ^ set(recipe.schema.quasi_identifiers))
    if unknown:
        return Finding("table of moments", False, f"means are not of the protected attributes: {', '.join(unknown)}")
    from_data = bounds_read_from_data(recipe)
    for name in recipe.schema.quasi_identifiers:
        own = numbers[of_means & (named == name)]
        if name not in from_data and not _within(own, recipe.attributes[name]):
            return Finding("table of moments", False, f"means of {name!r} lie outside its bounds")
    return Finding("table of moments", True, f"{table.num_rows} statistics, every mean within the public bounds")


def _within(means: npt.NDArray[np.float64], attribute: Attribute) -> bool:
    assert attribute.bounds is not None
    low, high = (float(bound) for bound in attribute.bounds)  # type: ignore[arg-type]  # dates are refused
    slack = _ROUNDING * (high - low)
    return bool(((means >= low - slack) & (means <= high + slack)).all())
