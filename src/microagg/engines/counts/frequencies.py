"""The values of one attribute with how often each occurs, and what is measured of them.

What is measured of a value depends on the value alone, so it is measured once for each distinct one. Refusals count
records: where one is raised, all records are looked at once more, so that it is the one that
:func:`microagg.release` raises.
"""

from __future__ import annotations

from collections.abc import Callable
from dataclasses import dataclass, replace
from typing import TYPE_CHECKING, Any, TypeVar

import numpy as np

from microagg._typing import IntArray
from microagg.errors import TableError
from microagg.private.public_column import PublicColumn, put_on_public_scale
from microagg.schema.attribute import Attribute, Kind
from microagg.schema.encode import EncodedColumn, encode
from microagg.tables.frames import Column
from microagg.tables.labels import labels_of

if TYPE_CHECKING:
    import pyarrow as pa

__all__ = ["Frequencies"]

M = TypeVar("M")


@dataclass(frozen=True)
class Frequencies:
    """Distinct values of an attribute, ascending, missing ones last.

    Attributes
    ----------
    name : str
    field : Arrow field
        As the table has it.
    values : Arrow array
        Without a dictionary; where there are strata, once for each of them.
    counts : ndarray of int64
        Records that have the value.
    staying : ndarray of int64
        Those of them that take part.
    strata : tuple of Arrow arrays
        The stratum, as text, of each attribute that makes strata.
    ordered : tuple or None
        Categories in the order of the column's type.
    """

    name: str
    field: pa.Field
    values: pa.Array
    counts: IntArray
    staying: IntArray
    strata: tuple[pa.Array, ...] = ()
    ordered: tuple[Any, ...] | None = None

    @property
    def stored_format(self) -> str:
        """The display format that a file of a statistics package declares."""
        return labels_of(self.field).format

    @property
    def n_missing(self) -> int:
        return int(self.counts[self.column().missing].sum())

    def whole(self) -> Frequencies:
        """The same without strata, and each value once."""
        import pyarrow as pa

        if not self.strata:
            return self
        coded = self.values.dictionary_encode(null_encoding="encode")
        codes = coded.indices.to_numpy(zero_copy_only=False)
        counts, staying = (np.bincount(codes, one).astype(np.int64) for one in (self.counts, self.staying))
        return replace(self, values=pa.array(coded.dictionary), counts=counts, staying=staying, strata=())

    def taking_part(self) -> Frequencies:
        """The same of the records that take part."""
        import pyarrow as pa

        rows = np.flatnonzero(self.staying)
        if len(rows) == len(self.staying):
            return replace(self, counts=self.staying)
        strata = tuple(one.take(pa.array(rows)) for one in self.strata)
        staying = self.staying[rows]
        return replace(self, values=self.values.take(pa.array(rows)), counts=staying, staying=staying, strata=strata)

    def column(self, times: IntArray | None = None) -> Column:
        """The values as a column of the table's type, each as often as `times` says."""
        import pyarrow as pa

        values = self.values
        if times is not None:
            values = values.take(pa.array(np.repeat(np.arange(len(values)), times)))
        if not pa.types.is_dictionary(self.field.type):
            return Column(self.name, values)
        kind = self.field.type
        coded = values.dictionary_encode()
        if self.ordered is not None:
            labels = pa.array(self.ordered, kind.value_type)
            coded = pa.DictionaryArray.from_arrays(_places(values, labels), labels)
        indices = coded.indices.cast(kind.index_type)
        array = pa.DictionaryArray.from_arrays(indices, coded.dictionary, ordered=kind.ordered)
        return Column(self.name, array, self.ordered)

    def encoded(self, attribute: Attribute) -> EncodedColumn:
        """The distinct values on the scale that the declaration names.

        Raises
        ------
        TableError
            What :func:`~microagg.schema.encode.encode` raises of all records.
        """
        return self._measured(lambda column: encode(column, attribute))

    def public(self, attribute: Attribute, *, clamp: bool, bounds_from_data: bool) -> tuple[PublicColumn, IntArray]:
        """The distinct values on a public scale, and how often each occurs.

        Raises
        ------
        TableError
            What :func:`~microagg.private.public_column.put_on_public_scale` raises of all records.
        """

        def measure(column: Column) -> PublicColumn:
            return put_on_public_scale(
                column,
                attribute,
                stored_format=self.stored_format,
                clamp=clamp,
                bounds_from_data=bounds_from_data,
            )

        if attribute.kind is Kind.NUMERIC and self.column().is_text:
            return measure(self.column(self.counts)), np.ones(int(self.counts.sum()), dtype=np.int64)
        return self._measured(measure), self.counts

    def _measured(self, measure: Callable[[Column], M]) -> M:
        try:
            return measure(self.column())
        except TableError:
            measure(self.column(self.counts))  # raises the same, of as many records as there are
            raise


def _places(values: pa.Array, labels: pa.Array) -> pa.Array:
    import pyarrow as pa
    import pyarrow.compute as pc

    return pc.index_in(values, value_set=labels, skip_nulls=True).cast(pa.int32())
