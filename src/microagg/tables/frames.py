"""Any dataframe in, the same kind out.

Inside microagg a table is Arrow columns; :class:`Frame` remembers which library and which dtypes they
came from and gives the same back. A pandas index plays no part: records are known by position only.
"""

from __future__ import annotations

import datetime as dt
import math
from collections import Counter
from collections.abc import Callable, Mapping, Sequence
from dataclasses import dataclass, replace
from functools import cached_property
from typing import TYPE_CHECKING, Any

import numpy as np
import numpy.typing as npt

from microagg.errors import ParameterError, TableError
from microagg.tables.labels import with_needed_labels
from microagg.tables.native_dtypes import native_dtype
from microagg.tables.phrases import columns_phrase
from microagg.tables.type_ranges import float_range, stored_range, within

if TYPE_CHECKING:
    import pyarrow as pa

__all__ = ["Column", "Frame", "columns_phrase", "table_from_arrow", "table_from_rows"]

FloatArray = npt.NDArray[np.float64]
IntArray = npt.NDArray[np.int64]
BoolArray = npt.NDArray[np.bool_]

_TABLES = {("pandas", "DataFrame"), ("polars", "DataFrame"), ("pyarrow", "Table")}

# Above this a float64 cannot hold every integer, so such columns are counted from their smallest value.
_EXACT_INTEGERS = 2**52


@dataclass(frozen=True)
class Column:
    """One attribute of a table: its Arrow values, and the order of its categories where the dtype has one."""

    name: str
    array: pa.Array
    ordered_categories: tuple[Any, ...] | None = None
    counted_from: int | None = None  # in place of the smallest value, see `origin`

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
        """What :meth:`numbers` counts from: 0, or the smallest value of dates and of very large integers.

        Where one was given (:attr:`counted_from`), as by declared bounds, it is that one, whatever the values are.
        """
        integers = self._integers
        if integers is not None and self.counted_from is not None:
            return self.counted_from
        if integers is None or self.missing.all():
            return 0
        present = integers[~self.missing]
        low, high = int(present.min()), int(present.max())
        if high - low >= 2**62:
            raise TableError(f"column {self.name!r} spans more than 64-bit arithmetic can average")
        return low if self.is_temporal or max(-low, high) > _EXACT_INTEGERS else 0

    @property
    def _stored_range(self) -> tuple[int, int]:
        """What integers of this column may be published: those its type can hold, and what it holds already."""
        limits = stored_range(self.values.type)
        assert limits is not None
        assert self._integers is not None
        present = self._integers[~self.missing]
        if not len(present):
            return limits
        return min(limits[0], int(present.min())), max(limits[1], int(present.max()))

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
        return float(self._bound(value) - self.origin)

    def absolute_number_of(self, value: float | dt.date | dt.datetime) -> float:
        """Where a declared bound lies on the scale of :meth:`absolute`."""
        return float(self._bound(value))

    def counted_from_bounds(self, low: float | dt.date, high: float | dt.date) -> Column:
        """The same column, its :attr:`origin` set by declared bounds alone and by nothing that a record holds.

        Values must lie within the bounds (:meth:`n_outside`).
        """
        if self._integers is None:
            return self
        first, last = (min(max(math.floor(self._bound(bound)), -(2**63)), 2**63 - 1) for bound in (low, high))
        # From the middle where differences to an end could be beyond 64 bits.
        return replace(self, counted_from=first if last - first < 2**63 else (first + last + 1) // 2)

    def n_outside(self, low: float | dt.date, high: float | dt.date) -> int:
        """How many values lie outside declared bounds; integers and moments are compared exactly."""
        first, last = self._bound(low), self._bound(high)
        integers = self._integers
        if integers is None:
            numbers = self.absolute()
            return int(((numbers < first) | (numbers > last)).sum())
        least, most = max(math.ceil(first), -(2**63)), min(math.floor(last), 2**63 - 1)
        if most < -(2**63) or least > 2**63 - 1:
            return int((~self.missing).sum())
        return int((((integers < least) | (integers > most)) & ~self.missing).sum())

    def _bound(self, value: float | dt.date | dt.datetime) -> float:
        """A declared bound on the scale of :meth:`absolute`; of moments a whole number, which no float rounds."""
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
        if pa.types.is_date(t):
            return self.unit * since.days
        return since // dt.timedelta(microseconds=1) * self.unit // 10**6

    def array_of(self, numbers: FloatArray, *, origin: int | None = None) -> pa.Array:
        """The inverse of :meth:`numbers` (``origin=0``: of :meth:`absolute`): this column's type, NaN as missing.

        Numbers beyond what the type can hold, as a time of day after 23:59:59, become the last that it can.
        """
        import pyarrow as pa

        origin = self.origin if origin is None else origin

        missing = np.isnan(numbers)
        t = self.values.type
        if pa.types.is_null(t):
            return pa.nulls(len(numbers))
        if self._integers is None:
            most = float_range(t)
            array = pa.array(np.clip(numbers, -most, most), mask=missing, type=pa.float64()).cast(t)
        else:
            integers = within(np.where(missing, 0.0, numbers), origin, *self._stored_range)
            array = pa.array(integers, mask=missing, type=pa.int64())
            if pa.types.is_date32(t) or pa.types.is_time32(t):
                array = array.cast(pa.int32())
            array = array.cast(t)
        return array.dictionary_encode() if pa.types.is_dictionary(self.array.type) else array

    @cached_property
    def encoded(self) -> tuple[IntArray, tuple[Any, ...]]:
        """Codes (-1 where missing) and the sorted distinct values they stand for."""
        codes, values = self._coded
        return codes, tuple(values.to_pylist())

    @property
    def codes(self) -> IntArray:
        """The codes of `encoded`; also of values that Python cannot hold, such as dates after the year 9999."""
        return self._coded[0]

    @cached_property
    def _coded(self) -> tuple[IntArray, pa.Array]:
        import pyarrow as pa
        import pyarrow.compute as pc

        values = self.values
        if pa.types.is_null(values.type):
            return np.full(len(values), -1, dtype=np.int64), pa.nulls(0)
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
        return codes, dictionary.dictionary.take(pa.array(order))


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
    def wrap(cls, native: Any, check_names: Callable[[Sequence[str]], None] | None = None) -> Frame:
        """Take a pandas, polars or pyarrow table (a :class:`Frame` passes through).

        `check_names` may refuse the names of the columns before any of them is told in a message.
        """
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
        names = list(native.columns if library != "pyarrow" else native.column_names)
        _check_names(names)
        if check_names is not None:
            check_names(names)
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
            array = _without_views(array, name)
            columns.append(array)
            given = native.schema.field(name) if library == "pyarrow" else pa.field(name, array.type)
            fields.append(given.with_type(array.type))
            dtypes[name] = native[name].dtype if library != "pyarrow" else array.type
        table = pa.Table.from_arrays(columns, schema=pa.schema(fields)) if fields else pa.table({})
        return cls(table, library, dtypes)

    @classmethod
    def of(cls, table: pa.Table, library: str) -> Frame:
        """An Arrow table as if it had come from `library`."""
        return cls.wrap(table_from_arrow(table, library))

    @cached_property
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
        import pyarrow as pa

        if not arrays:
            return self
        old = zip(self.table.schema, self.table.columns, strict=True)
        new = [(f.with_type(arrays[f.name].type), arrays[f.name]) if f.name in arrays else (f, c) for f, c in old]
        schema = pa.schema([one for one, _ in new], metadata=self.table.schema.metadata)
        return Frame(pa.Table.from_arrays([column for _, column in new], schema=schema), self.library, self.dtypes)

    def with_new_columns(self, arrays: Mapping[str, pa.Array], fields: Mapping[str, pa.Field]) -> Frame:
        """Replace whole columns by others, whose dtypes are what the library makes of their Arrow types."""
        table, dtypes = self.table, dict(self.dtypes)
        for name, array in arrays.items():
            table = table.set_column(table.column_names.index(name), fields[name], array)
            dtypes[name] = native_dtype(array, self.dtypes[name], self.library)
        return Frame(table, self.library, dtypes)

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
    counts = Counter(names)
    if len(counts) < len(names):  # without the names: those of a file without a header are a record
        alike = [str(place) for place, name in enumerate(names, start=1) if counts[name] > 1]
        more = f" and {len(alike) - 12} more" if len(alike) > 12 else ""
        raise TableError(f"the table has more than one column of the same name: columns {', '.join(alike[:12])}{more}")


def _without_views(array: pa.Array, name: str) -> pa.Array:
    """Text of a kind that Arrow cannot select from yet, as polars writes it, as text of the usual kind."""
    import pyarrow as pa

    kind = str(array.type)
    if kind == "string_view":
        return array.cast(pa.large_string())
    if pa.types.is_dictionary(array.type) and str(array.type.value_type) == "string_view":
        values = array.dictionary.cast(pa.large_string())
        return pa.DictionaryArray.from_arrays(array.indices, values, ordered=array.type.ordered)
    if kind == "binary_view" or kind.startswith("run_end_encoded"):
        raise TableError(f"column {name!r} holds {kind.partition('<')[0]} values: turn them into text or numbers first")
    return array


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
