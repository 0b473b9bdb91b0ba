"""Tables of pandas, polars and pyarrow: taken in as Arrow, and given back with the dtypes they had."""

from __future__ import annotations

from collections import Counter
from collections.abc import Callable, Mapping, Sequence
from typing import TYPE_CHECKING, Any

import numpy as np

from microagg.errors import ParameterError, TableError
from microagg.tables.columns import as_one_array
from microagg.tables.frames.optional import import_optional
from microagg.tables.phrases import names_phrase

if TYPE_CHECKING:
    import pyarrow as pa

__all__ = ["arrow_from_native", "native_from_arrow", "table_from_arrow", "table_from_rows"]

_TABLES = {("pandas", "DataFrame"), ("polars", "DataFrame"), ("pyarrow", "Table")}


def arrow_from_native(
    native: Any, check_names: Callable[[Sequence[str]], None] | None = None
) -> tuple[pa.Table, str, dict[str, Any]]:
    """Return a table as Arrow, the name of its library, and the dtype of each column there.

    `check_names` may refuse the names of the columns before a message quotes any of them.
    """
    import narwhals as nw
    import pyarrow as pa

    library = type(native).__module__.partition(".")[0]
    if library == "polars" and type(native).__name__ == "LazyFrame":
        raise TableError("a polars LazyFrame has no records yet: call .collect() first")
    if (library, type(native).__name__) not in _TABLES:
        raise TableError(
            f"expected a pandas, polars or pyarrow table, got {type(native).__module__}.{type(native).__name__}"
        )
    names = list(native.columns if library != "pyarrow" else native.column_names)
    _check_own_names(names)
    if check_names is not None:
        check_names(names)
    frame = nw.from_native(native, eager_only=True)
    columns, fields, dtypes = [], [], {}
    for name in frame.columns:
        series = frame.get_column(name)
        try:
            if series.dtype == nw.Object and library == "polars":
                raise TypeError("arbitrary objects")
            array = _of_categories(native[name]) if library == "pandas" else None
            array = series.to_arrow() if array is None else array
        except (pa.ArrowException, TypeError, ValueError, OverflowError):
            raise TableError(
                f"column {name!r} mixes types or holds objects that are not numbers, text, dates or categories"
            ) from None
        if isinstance(array, pa.ChunkedArray):
            array = array.combine_chunks() if array.num_chunks != 1 else array.chunk(0)
        if isinstance(array, pa.ChunkedArray):  # older pyarrow gives a chunked array back
            array = pa.concat_arrays(array.chunks)
        array = _without_views(array, name)
        columns.append(array)
        given = native.schema.field(name) if library == "pyarrow" else pa.field(name, array.type)
        fields.append(given.with_type(array.type))
        dtypes[name] = native[name].dtype if library != "pyarrow" else array.type
    table = pa.Table.from_arrays(columns, schema=pa.schema(fields)) if fields else pa.table({})
    return table, library, dtypes


def _of_categories(series: Any) -> pa.Array | None:
    """Moments of a zone and periods that are categories of pandas, otherwise None.

    Codes and categories go to Arrow one by one: pyarrow before 25 drops the zone of categories, and takes no periods.
    """
    import pandas as pd
    import pyarrow as pa

    given = series.dtype
    if not isinstance(given, pd.CategoricalDtype):
        return None
    if not isinstance(given.categories.dtype, pd.DatetimeTZDtype | pd.PeriodDtype):
        return None
    codes = series.cat.codes.to_numpy()
    categories = pa.Array.from_pandas(pd.Series(given.categories))
    return pa.DictionaryArray.from_arrays(pa.array(codes, mask=codes < 0), categories, ordered=bool(given.ordered))


def _check_own_names(names: list[Any]) -> None:
    """Refuse names that are not text, and names that several columns share."""
    odd = sum(not isinstance(name, str) for name in names)
    if odd:
        raise TableError(f"column names must be text: {odd} of {len(names)} are not")
    counts = Counter(names)
    if len(counts) < len(names):  # without the names: those of a file without a header are a record
        alike = [str(place) for place, name in enumerate(names, start=1) if counts[name] > 1]
        raise TableError(f"the table has more than one column of the same name: columns {names_phrase(alike)}")


def _without_views(array: pa.Array, name: str) -> pa.Array:
    """Turn text of a kind that Arrow cannot select from yet, as polars writes it, into text of the usual kind.

    Of categories that Arrow can neither sort nor cast, as intervals of pandas, the values alone are kept, and treated
    as such values are.
    """
    import pyarrow as pa

    kind = str(array.type)
    if kind == "string_view":
        return array.cast(pa.large_string())
    if pa.types.is_dictionary(array.type) and _has_parts(array.type.value_type):
        return array.dictionary_decode()
    if pa.types.is_dictionary(array.type) and str(array.type.value_type) == "string_view":
        values = array.dictionary.cast(pa.large_string())
        return pa.DictionaryArray.from_arrays(array.indices, values, ordered=array.type.ordered)
    if kind == "binary_view" or kind.startswith("run_end_encoded"):
        raise TableError(f"column {name!r} holds {kind.partition('<')[0]} values: turn them into text or numbers first")
    return array


def _has_parts(kind: pa.DataType) -> bool:
    """Whether values are lists, structures or of a type that another program added, as intervals and periods are."""
    import pyarrow as pa

    return bool(pa.types.is_nested(kind) or isinstance(kind, pa.BaseExtensionType))


def native_from_arrow(table: pa.Table, library: str, dtypes: Mapping[str, Any]) -> Any:
    """Return an Arrow table as one of a library with these dtypes; a pandas index starts at 0."""
    if library == "pyarrow":
        return table
    names = table.column_names
    if library == "polars":
        import polars as pl

        return pl.DataFrame([pl.Series(n, pl.from_arrow(table.column(n))).cast(dtypes[n]) for n in names])
    import pandas as pd

    columns = {n: _pandas_series(as_one_array(table.column(n)), dtypes[n]) for n in names}
    return pd.DataFrame(columns, index=pd.RangeIndex(table.num_rows), columns=pd.Index(names))


def _pandas_series(array: pa.Array, dtype: Any) -> Any:
    import pandas as pd
    import pyarrow as pa

    if isinstance(dtype, pd.CategoricalDtype):
        codes = array.indices.fill_null(-1).to_numpy(zero_copy_only=False)
        used = pd.Index(array.dictionary.to_pandas()).astype(dtype.categories.dtype)
        return pd.Series(pd.Categorical.from_codes(codes, categories=used, ordered=dtype.ordered))
    if pd.api.types.is_extension_array_dtype(dtype) and hasattr(dtype, "__from_arrow__"):
        return pd.Series(dtype.__from_arrow__(pa.chunked_array([array])), dtype=dtype)
    if isinstance(dtype, np.dtype) and dtype.kind in "iufb" and not array.null_count:
        return pd.Series(array.to_numpy(zero_copy_only=False).astype(dtype))
    if isinstance(dtype, np.dtype) and dtype.kind in "iub":  # missing now, which the dtype has no place for
        nullable = {"i": "Int", "u": "UInt"}.get(dtype.kind)
        name = "boolean" if nullable is None else f"{nullable}{8 * dtype.itemsize}"
        return pd.Series(pd.array(array.to_pylist(), dtype=name))
    if isinstance(dtype, np.dtype) and dtype.kind == "f":
        return pd.Series(array.to_numpy(zero_copy_only=False).astype(dtype))
    if dtype == np.dtype(object):
        return pd.Series(array.to_pylist(), dtype=object)
    return pd.Series(array.to_pandas()).astype(dtype)


def table_from_rows(rows: Sequence[Mapping[str, Any]], kind: str = "pyarrow") -> Any:
    """Make a table of pyarrow, pandas or polars from dicts with the same keys.

    Examples
    --------
    >>> table_from_rows([{"a": 1}, {"a": 2}])["a"].to_pylist()
    [1, 2]
    """
    import pyarrow as pa

    return table_from_arrow(pa.Table.from_pylist([dict(row) for row in rows]), kind)


def table_from_arrow(table: pa.Table, kind: str) -> Any:
    """Return the same table as one of pyarrow, pandas or polars."""
    if kind not in ("pyarrow", "pandas", "polars"):
        raise ParameterError(f"kind must be one of pyarrow, pandas, polars. Got {kind!r} instead.")
    library = import_optional(kind, kind)
    if kind == "polars":
        return library.from_arrow(table)
    return table.to_pandas() if kind == "pandas" else table
