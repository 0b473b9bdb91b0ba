"""Any dataframe in, the same kind out.

Inside microagg a table is Arrow columns; :class:`Frame` remembers which library and which dtypes they
came from and gives the same back. A pandas index plays no part: records are known by position only.
"""

from __future__ import annotations

import datetime as dt
from collections.abc import Mapping, Sequence
from dataclasses import dataclass
from functools import cached_property
from typing import TYPE_CHECKING, Any

import numpy as np
import numpy.typing as npt

from microagg.errors import ParameterError, TableError
from microagg.tables.labels import with_needed_labels

if TYPE_CHECKING:
    import pyarrow as pa

__all__ = ["Column", "Frame", "columns_phrase", "table_from_arrow", "table_from_rows"]

FloatArray = npt.NDArray[np.float64]
IntArray = npt.NDArray[np.int64]
BoolArray = npt.NDArray[np.bool_]

_TABLES = {("pandas", "DataFrame"), ("polars", "DataFrame"), ("pyarrow", "Table")}

# Above this a float64 cannot hold every integer, so such columns are counted from their smallest value.
_EXACT_INTEGERS = 2**52


def columns_phrase(names: Sequence[str], *, limit: int = 12) -> str:
    """Name columns in a sentence: ``columns 'a', 'b'``, cut after `limit` names.

    Examples
    --------
    >>> columns_phrase(["age"])
    "column 'age'"
    >>> columns_phrase(["a", "b", "c"], limit=2)
    "columns 'a', 'b' and 1 more"
    """
    shown = ", ".join(repr(name if len(name) <= 80 else f"{name[:77]}...") for name in names[:limit])
    more = f" and {len(names) - limit} more" if len(names) > limit else ""
    return f"{'column' if len(names) == 1 else 'columns'} {shown}{more}"


@dataclass(frozen=True)
class Column:
    """One attribute of a table: its Arrow values, and the order of its categories where the dtype has one."""

    name: str
    array: pa.Array
    ordered_categories: tuple[Any, ...] | None = None

    @cached_property
    def values(self) -> pa.Array:
        """The values with any dictionary encoding undone."""
        import pyarrow as pa

        return self.array.dictionary_decode() if pa.types.is_dictionary(self.array.type) else self.array

    @cached_property
    def missing(self) -> BoolArray:
        """True where the value is null or NaN."""
        import pyarrow.compute as pc

        mask: BoolArray = pc.is_null(self.values, nan_is_null=True).to_numpy(zero_copy_only=False)
        return mask

    @property
    def is_boolean(self) -> bool:
        import pyarrow.types as types

        return bool(types.is_boolean(self.values.type))

    @property
    def is_text(self) -> bool:
        import pyarrow.types as types

        t = self.values.type
        return bool(types.is_string(t) or types.is_large_string(t) or types.is_string_view(t))

    @property
    def is_temporal(self) -> bool:
        import pyarrow.types as types

        return bool(types.is_temporal(self.values.type) and not types.is_interval(self.values.type))

    @property
    def is_integer(self) -> bool:
        import pyarrow.types as types

        return bool(types.is_integer(self.values.type))

    @property
    def is_number(self) -> bool:
        """True for integers, floats and decimals; not for booleans, text or dates."""
        import pyarrow.types as types

        t = self.values.type
        return bool(types.is_integer(t) or types.is_floating(t) or types.is_decimal(t))

    @cached_property
    def _integers(self) -> IntArray | None:
        """Integer and temporal values as int64 with missing as 0; None for other types."""
        import pyarrow as pa
        import pyarrow.compute as pc

        t = self.values.type
        if not (self.is_integer or self.is_temporal):
            return None
        array = self.values
        if pa.types.is_uint64(t):
            if len(array) and (pc.max(array).as_py() or 0) > np.iinfo(np.int64).max:
                raise TableError(f"column {self.name!r} holds integers beyond the range of 64-bit signed integers")
        elif pa.types.is_date32(t) or pa.types.is_time32(t):
            array = array.cast(pa.int32())
        integers: IntArray = pc.fill_null(array.cast(pa.int64()), 0).to_numpy(zero_copy_only=False)
        return integers

    @cached_property
    def origin(self) -> int:
        """What :meth:`numbers` counts from: 0, or the smallest value of dates and of very large integers."""
        integers = self._integers
        if integers is None or self.missing.all():
            return 0
        present = integers[~self.missing]
        low, high = int(present.min()), int(present.max())
        if high - low >= 2**62:
            raise TableError(f"column {self.name!r} spans more than 64-bit arithmetic can average")
        return low if self.is_temporal or max(-low, high) > _EXACT_INTEGERS else 0

    @property
    def resolution(self) -> float | None:
        """The step between neighbouring values that the dtype (or, for times, the data) has; None for floats."""
        import pyarrow as pa

        t = self.values.type
        if self.is_integer:
            return 1.0
        if pa.types.is_decimal(t):
            return float(10.0**-t.scale)
        if self.is_temporal:
            return self._temporal_step()
        return None

    @property
    def unit(self) -> int:
        """How many steps of the stored integers make 1 of what a person declares: a day of dates, a second of times."""
        import pyarrow as pa

        t = self.values.type
        if not self.is_temporal or pa.types.is_date32(t):
            return 1
        return 86_400_000 if pa.types.is_date64(t) else {"s": 1, "ms": 10**3, "us": 10**6, "ns": 10**9}[t.unit]

    def _temporal_step(self) -> float:
        """The coarsest of day, hour, minute, second ... in which all times of the column are whole."""
        import pyarrow as pa

        if pa.types.is_date(self.values.type):
            return float(self.unit)
        assert self._integers is not None
        present = self._integers[~self.missing]
        for seconds in (86_400, 3_600, 60, 1):
            step = seconds * self.unit
            if not (present % step).any():
                return float(step)
        return 1.0

    def numbers(self) -> FloatArray:
        """The values as float64, missing as NaN, counted from :attr:`origin`.

        Raises
        ------
        TableError
            If the column holds text, booleans or nested values; the message has counts, not values.
        """
        import pyarrow as pa

        integers = self._integers
        if integers is not None:
            numbers = (integers - self.origin).astype(np.float64)
            numbers[self.missing] = np.nan
            return numbers
        if self.is_number:
            return np.array(self.values.cast(pa.float64()).to_numpy(zero_copy_only=False), dtype=np.float64)
        if pa.types.is_null(self.values.type):
            return np.full(len(self.values), np.nan)
        if self.is_text:
            bad, present = _count_not_numbers(self.values), int((~self.missing).sum())
            said = (
                f"{bad} of {present} values are not numbers"
                if bad
                else "numbers stored as text, or too long for 64 bits"
            )
            raise TableError(f"column {self.name!r} is declared numeric but holds text: {said}")
        raise TableError(f"column {self.name!r} is declared numeric but holds {self.values.type} values")

    def absolute(self) -> FloatArray:
        """The values as float64, missing as NaN, counted from zero: each number depends on its own record only.

        Beyond 2^53 a float cannot hold every integer, and near ones fall together; :meth:`numbers` keeps them
        apart, but counts from the smallest value of the column.
        """
        integers = self._integers
        if integers is None:
            return self.numbers()
        numbers = integers.astype(np.float64)
        numbers[self.missing] = np.nan
        return numbers

    def number_of(self, value: float | dt.date | dt.datetime) -> float:
        """Where a declared bound lies on the scale of :meth:`numbers`."""
        return float(self.absolute_number_of(value) - self.origin)

    def absolute_number_of(self, value: float | dt.date | dt.datetime) -> float:
        """Where a declared bound lies on the scale of :meth:`absolute`."""
        import pyarrow as pa

        t = self.values.type
        takes_dates = self.is_temporal and (pa.types.is_date(t) or pa.types.is_timestamp(t))
        if takes_dates is not isinstance(value, dt.date):
            wanted = "dates" if takes_dates else "seconds" if self.is_temporal else "numbers"
            raise TableError(f"column {self.name!r} holds {t} values: its bounds must be {wanted}")
        if not isinstance(value, dt.date):
            return float(value) * self.unit
        if not isinstance(value, dt.datetime):
            value = dt.datetime(value.year, value.month, value.day)
        utc = value.astimezone(dt.UTC).replace(tzinfo=None) if value.tzinfo is not None else value
        since = utc - dt.datetime(1970, 1, 1)
        return self.unit * (since.days if pa.types.is_date(t) else since.total_seconds())

    def array_of(self, numbers: FloatArray, *, origin: int | None = None) -> pa.Array:
        """The inverse of :meth:`numbers` (``origin=0``: of :meth:`absolute`): this column's type, NaN as missing."""
        import pyarrow as pa

        origin = self.origin if origin is None else origin

        missing = np.isnan(numbers)
        t = self.values.type
        if pa.types.is_null(t):
            return pa.nulls(len(numbers))
        if self._integers is None:
            array = pa.array(numbers, mask=missing, type=pa.float64()).cast(t)
        else:
            integers = np.rint(np.where(missing, 0.0, numbers)).astype(np.int64) + origin
            if self.is_integer:  # rounding to a resolution may step over what the type can hold
                limits = np.iinfo(t.to_pandas_dtype())
                integers = np.clip(integers, max(limits.min, -(2**63)), min(limits.max, 2**63 - 1))
            array = pa.array(integers, mask=missing, type=pa.int64())
            if pa.types.is_date32(t) or pa.types.is_time32(t):
                array = array.cast(pa.int32())
            array = array.cast(t)
        return array.dictionary_encode() if pa.types.is_dictionary(self.array.type) else array

    @cached_property
    def encoded(self) -> tuple[IntArray, tuple[Any, ...]]:
        """Codes (-1 where missing) and the sorted distinct values they stand for."""
        import pyarrow as pa
        import pyarrow.compute as pc

        values = self.values
        if pa.types.is_null(values.type):
            return np.full(len(values), -1, dtype=np.int64), ()
        if pa.types.is_floating(values.type):
            values = pc.if_else(pa.array(self.missing), pa.scalar(None, values.type), values)
        try:
            dictionary = pc.dictionary_encode(values)
            order = pc.sort_indices(dictionary.dictionary).to_numpy()
        except (pa.ArrowNotImplementedError, pa.ArrowInvalid):
            raise TableError(
                f"column {self.name!r} holds {values.type} values, which cannot be compared as categories"
            ) from None
        rank = np.empty(len(order) + 1, dtype=np.int64)
        rank[order] = np.arange(len(order))
        rank[-1] = -1
        codes = rank[pc.fill_null(dictionary.indices, -1).to_numpy(zero_copy_only=False)]
        return codes, tuple(dictionary.dictionary.take(pa.array(order)).to_pylist())


def _count_not_numbers(text: pa.Array) -> int:
    import pyarrow as pa
    import pyarrow.compute as pc

    number = r"^\s*[+-]?(\d+\.?\d*|\.\d+)([eE][+-]?\d+)?\s*$"
    return int(pc.sum(pc.invert(pc.match_substring_regex(text.cast(pa.large_string()), number))).as_py() or 0)


@dataclass(frozen=True)
class Frame:
    """A table of pandas, polars or pyarrow, seen as Arrow columns.

    Build one with :meth:`wrap`; :attr:`native` gives a table of the library it came from.
    """

    table: pa.Table
    library: str
    dtypes: Mapping[str, Any]

    @classmethod
    def wrap(cls, native: Any) -> Frame:
        """Take a pandas, polars or pyarrow table (a :class:`Frame` passes through)."""
        if isinstance(native, Frame):
            return native
        import narwhals as nw
        import pyarrow as pa

        library = type(native).__module__.partition(".")[0]
        if library == "polars" and type(native).__name__ == "LazyFrame":
            raise TableError("a polars LazyFrame has no records yet: call .collect() first")
        if (library, type(native).__name__) not in _TABLES:
            raise TableError(
                f"expected a pandas, polars or pyarrow table, got {type(native).__module__}.{type(native).__name__}"
            )
        _check_names(list(native.columns if library != "pyarrow" else native.column_names))
        frame = nw.from_native(native, eager_only=True)
        columns, fields, dtypes = [], [], {}
        for name in frame.columns:
            series = frame.get_column(name)
            try:
                if series.dtype == nw.Object and library == "polars":
                    raise TypeError("arbitrary objects")
                array = series.to_arrow()
            except (pa.ArrowException, TypeError, ValueError, OverflowError):
                raise TableError(
                    f"column {name!r} mixes types or holds objects that are not numbers, text, dates or categories"
                ) from None
            if isinstance(array, pa.ChunkedArray):
                array = array.combine_chunks() if array.num_chunks != 1 else array.chunk(0)
            if isinstance(array, pa.ChunkedArray):  # older pyarrow gives a chunked array back
                array = pa.concat_arrays(array.chunks)
            columns.append(array)
            fields.append(native.schema.field(name) if library == "pyarrow" else pa.field(name, array.type))
            dtypes[name] = native[name].dtype if library != "pyarrow" else array.type
        table = pa.Table.from_arrays(columns, schema=pa.schema(fields)) if fields else pa.table({})
        return cls(table, library, dtypes)

    @classmethod
    def of(cls, table: pa.Table, library: str) -> Frame:
        """An Arrow table as if it had come from `library`."""
        return cls.wrap(table_from_arrow(table, library))

    @property
    def names(self) -> tuple[str, ...]:
        return tuple(self.table.column_names)

    @property
    def n_records(self) -> int:
        return int(self.table.num_rows)

    def column(self, name: str) -> Column:
        """The column called `name`."""
        import pyarrow as pa

        chunked = self.table.column(name)
        array = chunked.chunk(0) if chunked.num_chunks == 1 else pa.concat_arrays(chunked.chunks or [_empty(chunked)])
        return Column(name, array, self._ordered_categories(name, array))

    def _ordered_categories(self, name: str, array: pa.Array) -> tuple[Any, ...] | None:
        import pyarrow as pa

        if self.library == "polars" and type(self.dtypes[name]).__name__ == "Enum":
            return tuple(self.dtypes[name].categories.to_list())
        if pa.types.is_dictionary(array.type) and array.type.ordered:
            return tuple(array.dictionary.to_pylist())
        return None

    def select(self, names: Sequence[str]) -> Frame:
        """Only the named columns, in the order given."""
        return Frame(self.table.select(list(names)), self.library, {name: self.dtypes[name] for name in names})

    def take(self, rows: IntArray) -> Frame:
        """The records at `rows`, in that order."""
        return Frame(self.table.take(rows), self.library, self.dtypes)

    def with_arrays(self, arrays: Mapping[str, pa.Array]) -> Frame:
        """Replace whole columns by arrays of the same type."""
        table = self.table
        for name, array in arrays.items():
            position = table.column_names.index(name)
            table = table.set_column(position, table.schema.field(position).with_type(array.type), array)
        return Frame(table, self.library, self.dtypes)

    def without_unused_categories(self) -> Frame:
        """Drop categories and labels that no record needs: a list of unused ones would still tell who was there."""
        import pyarrow as pa

        used = {}
        for field in self.table.schema:
            if pa.types.is_dictionary(field.type):
                column = self.column(field.name)
                used[field.name] = _only_used(column.array)
        used_alone = self.with_arrays(used)
        return Frame(with_needed_labels(used_alone.table), self.library, self.dtypes)

    @property
    def native(self) -> Any:
        """A table of the library this frame came from, with its dtypes; a pandas index starts at 0."""
        if self.library == "pyarrow":
            return self.table
        if self.library == "polars":
            import polars as pl

            series = [pl.Series(n, pl.from_arrow(self.table.column(n))).cast(self.dtypes[n]) for n in self.names]
            return pl.DataFrame(series)
        import pandas as pd

        columns = {n: _pandas_series(self.column(n).array, self.dtypes[n]) for n in self.names}
        return pd.DataFrame(columns, index=pd.RangeIndex(self.n_records), columns=pd.Index(list(self.names)))


def _check_names(names: list[Any]) -> None:
    odd = sum(not isinstance(name, str) for name in names)
    if odd:
        raise TableError(f"column names must be text: {odd} of {len(names)} are not")
    if len(set(names)) < len(names):
        twice = sorted({name for name in names if names.count(name) > 1})
        raise TableError(f"{columns_phrase(twice)}: the table has more than one column of that name")


def _empty(chunked: pa.ChunkedArray) -> pa.Array:
    import pyarrow as pa

    return pa.array([], type=chunked.type)


def _only_used(array: pa.DictionaryArray) -> pa.DictionaryArray:
    """Re-encode with the dictionary cut to the values in use; one without an order of its own is sorted.

    Dictionaries usually list values as they first appeared: the list would tell the order of the input.
    """
    import pyarrow as pa
    import pyarrow.compute as pc

    used = np.unique(array.indices.drop_null().to_numpy(zero_copy_only=False))
    if not array.type.ordered and len(used):
        used = used[pc.sort_indices(array.dictionary.take(pa.array(used))).to_numpy()]
    renumber = np.zeros(len(array.dictionary) + 1, dtype=np.int64)
    renumber[used] = np.arange(len(used))
    missing = pc.is_null(array.indices).to_numpy(zero_copy_only=False)
    indices = renumber[pc.fill_null(array.indices, 0).to_numpy(zero_copy_only=False)]
    return pa.DictionaryArray.from_arrays(
        pa.array(indices, mask=missing).cast(array.type.index_type),
        array.dictionary.take(pa.array(used)),
        ordered=array.type.ordered,
    )


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
    if isinstance(dtype, np.dtype) and dtype.kind == "f":
        return pd.Series(array.to_numpy(zero_copy_only=False).astype(dtype))
    if dtype == np.dtype(object):
        return pd.Series(array.to_pylist(), dtype=object)
    return pd.Series(array.to_pandas()).astype(dtype)


def table_from_rows(rows: Sequence[Mapping[str, Any]], kind: str = "pyarrow") -> Any:
    """A table of pyarrow, pandas or polars from dicts with the same keys.

    Examples
    --------
    >>> table_from_rows([{"a": 1}, {"a": 2}])["a"].to_pylist()
    [1, 2]
    """
    import pyarrow as pa

    return table_from_arrow(pa.Table.from_pylist([dict(row) for row in rows]), kind)


def table_from_arrow(table: pa.Table, kind: str) -> Any:
    """The same table of pyarrow, pandas or polars."""
    if kind == "pyarrow":
        return table
    if kind == "polars":
        import polars as pl

        return pl.from_arrow(table)
    if kind == "pandas":
        return table.to_pandas()
    raise ParameterError(f"kind must be one of pyarrow, pandas, polars. Got {kind!r} instead.")
