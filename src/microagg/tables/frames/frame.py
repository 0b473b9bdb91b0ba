"""Any dataframe in, the same kind out.

Inside microagg a table is Arrow columns; :class:`Frame` remembers which library and which dtypes they
came from and gives the same back. A pandas index plays no part: records are known by position only.
"""

from __future__ import annotations

from collections.abc import Callable, Mapping, Sequence
from dataclasses import dataclass
from functools import cached_property
from typing import TYPE_CHECKING, Any

import numpy as np

from microagg._typing import IntArray
from microagg.tables.columns import as_one_array
from microagg.tables.frames.column import Column
from microagg.tables.frames.libraries import arrow_from_native, native_from_arrow, table_from_arrow
from microagg.tables.frames.native_dtypes import native_dtype
from microagg.tables.labels import with_needed_labels

if TYPE_CHECKING:
    import pyarrow as pa

__all__ = ["Frame"]


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

        `check_names` may refuse the names of the columns before a message quotes any of them.
        """
        if isinstance(native, Frame):
            return native
        return cls(*arrow_from_native(native, check_names))

    @classmethod
    def of(cls, table: pa.Table, library: str) -> Frame:
        """Wrap an Arrow table as if it had come from `library`."""
        return cls.wrap(table_from_arrow(table, library))

    @cached_property
    def names(self) -> tuple[str, ...]:
        return tuple(self.table.column_names)

    @property
    def n_records(self) -> int:
        return int(self.table.num_rows)

    def column(self, name: str) -> Column:
        """Return the column called `name`."""
        array = as_one_array(self.table.column(name))
        return Column(name, array, self._ordered_categories(name, array))

    def _ordered_categories(self, name: str, array: pa.Array) -> tuple[Any, ...] | None:
        import pyarrow as pa

        if self.library == "polars" and type(self.dtypes[name]).__name__ == "Enum":
            return tuple(self.dtypes[name].categories.to_list())
        if pa.types.is_dictionary(array.type) and array.type.ordered:
            return tuple(array.dictionary.to_pylist())
        return None

    def select(self, names: Sequence[str]) -> Frame:
        """Return only the named columns, in the order given."""
        return Frame(self.table.select(list(names)), self.library, {name: self.dtypes[name] for name in names})

    def take(self, rows: IntArray) -> Frame:
        """Return the records at `rows`, in that order."""
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
        """Drop categories and labels that no record needs: a list of unused ones would still show who was there."""
        import pyarrow as pa

        used = {}
        for field in self.table.schema:
            if pa.types.is_dictionary(field.type):
                column = self.column(field.name)
                used[field.name] = _drop_unused_categories(column.array)
        used_alone = self.with_arrays(used)
        return Frame(with_needed_labels(used_alone.table), self.library, self.dtypes)

    @property
    def native(self) -> Any:
        """A table of the library this frame came from, with its dtypes; a pandas index starts at 0."""
        return native_from_arrow(self.table, self.library, self.dtypes)


def _drop_unused_categories(array: pa.DictionaryArray) -> pa.DictionaryArray:
    """Re-encode with the dictionary cut to the values in use; one without an order of its own is sorted.

    Dictionaries usually list values as they first appeared: the list would show the order of the input.
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
