"""The dtype of pandas, polars or pyarrow for a column that has another type than the input's."""

from __future__ import annotations

from typing import TYPE_CHECKING, Any

if TYPE_CHECKING:
    import pyarrow as pa

__all__ = ["native_dtype"]


def native_dtype(array: pa.Array, given: Any, library: str) -> Any:
    """What a library makes of an array's Arrow type, whatever the values are.

    Of the dtype that the input had, only what was chosen and not guessed is kept: how pandas stores text and whether
    it has dates as datetime64, and that polars has an Enum.

    Parameters
    ----------
    array : pyarrow.Array
        Its dictionary, if it has one, holds every category that could be published.
    given : dtype
        Of the input's column.
    library : {"pandas", "polars", "pyarrow"}
    """
    if library == "pyarrow":
        return array.type
    return _of_polars(array, given) if library == "polars" else _of_pandas(array, given)


def _of_polars(array: pa.Array, given: Any) -> Any:
    import polars as pl
    import pyarrow as pa

    if pa.types.is_dictionary(array.type) and pa.types.is_string(array.type.value_type):
        return pl.Enum(array.dictionary.to_pylist()) if isinstance(given, pl.Enum) else pl.Categorical
    plain = array.type.value_type if pa.types.is_dictionary(array.type) else array.type
    return pl.Series(pl.from_arrow(pa.array([], plain))).dtype


def _of_pandas(array: pa.Array, given: Any) -> Any:
    import pandas as pd
    import pyarrow as pa

    if pa.types.is_dictionary(array.type):
        ordered = isinstance(given, pd.CategoricalDtype) and bool(given.ordered)
        return pd.CategoricalDtype(pd.Index(array.dictionary.to_pandas()), ordered=ordered)
    if pa.types.is_string(array.type) and pd.api.types.is_string_dtype(given):
        return given
    if pa.types.is_date(array.type) and pd.api.types.is_datetime64_any_dtype(given):
        return pd.Series([], dtype="datetime64[us]").dtype
    return array.slice(0, 0).to_pandas().dtype
