"""Count a guarantee again on a table as it will be, or was, written."""

from __future__ import annotations

from collections.abc import Mapping, Sequence
from dataclasses import asdict, dataclass
from typing import TYPE_CHECKING, Any

import numpy as np

from microagg._labels import label_combinations
from microagg._typing import IntArray
from microagg.errors import GuaranteeError, TableError
from microagg.tables.phrases import columns_phrase, names_phrase
from microagg.tables.type_ranges import values_out_of_range

if TYPE_CHECKING:
    import pyarrow as pa

__all__ = [
    "Finding",
    "Recount",
    "absent_from",
    "combinations_of",
    "find_drawn",
    "find_k",
    "finding_of_recount",
    "finding_out_of_type",
    "recount",
    "require_k",
    "require_public",
    "values_out_of_type",
]


@dataclass(frozen=True)
class Finding:
    """One thing that was checked."""

    name: str
    holds: bool
    detail: str

    def as_dict(self) -> dict[str, Any]:
        return asdict(self)


@dataclass(frozen=True)
class Recount:
    """How often combinations of quasi-identifiers occur in a table.

    Attributes
    ----------
    attributes : tuple of str
        What was counted.
    n_records, n_combinations : int
    smallest : int
        The number of records of the rarest combination: the k that the table has (0 without records).
    records_below : int
        Records in combinations rarer than the k that was promised.
    k : int
        What was promised.
    """

    attributes: tuple[str, ...]
    n_records: int
    n_combinations: int
    smallest: int
    records_below: int
    k: int

    @property
    def holds(self) -> bool:
        return self.n_records > 0 and self.smallest >= self.k

    def as_dict(self) -> dict[str, Any]:
        return asdict(self) | {"holds": self.holds}


def recount(table: pa.Table, attributes: Sequence[str], k: int) -> Recount:
    """Count the combinations of `attributes`; a missing value counts as a value of its own."""
    sizes = np.bincount(combinations_of(table, attributes))
    below = sizes[sizes < k]
    return Recount(
        attributes=tuple(attributes),
        n_records=int(table.num_rows),
        n_combinations=len(sizes),
        smallest=int(sizes.min(initial=table.num_rows)),
        records_below=int(below.sum()),
        k=k,
    )


def combinations_of(table: pa.Table, attributes: Sequence[str]) -> IntArray:
    """For each record the number of its combination of `attributes`; missing is a value of its own."""
    import pyarrow as pa
    import pyarrow.compute as pc

    codes = []
    for name in attributes:
        column = table.column(name).combine_chunks()
        values = column.dictionary_decode() if hasattr(column, "dictionary_decode") else column
        try:
            encoded = pc.dictionary_encode(values)
        except pa.ArrowNotImplementedError:
            raise TableError(f"column {name!r} holds {values.type} values, which cannot be counted") from None
        encoded = encoded.combine_chunks() if hasattr(encoded, "combine_chunks") else encoded
        codes.append(pc.fill_null(encoded.indices, -1).to_numpy(zero_copy_only=False))
    return label_combinations(codes, table.num_rows)


def absent_from(table: pa.Table, names: Sequence[str]) -> list[str]:
    """The names that no column of a table has."""
    there = set(table.column_names)
    return [name for name in names if name not in there]


def find_k(table: pa.Table, attributes: Sequence[str], k: int) -> Finding:
    """Whether every combination of the attributes is shared by at least k records."""
    name = f"k-anonymity (k = {k}) on {names_phrase(attributes)}"
    absent = absent_from(table, attributes)
    if absent:
        return Finding(name, False, f"cannot be counted without {columns_phrase(absent)}")
    return finding_of_recount(recount(table, attributes, k))


def finding_of_recount(count: Recount) -> Finding:
    """What a count of combinations shows of the k that was promised."""
    name = f"k-anonymity (k = {count.k}) on {names_phrase(count.attributes)}"
    detail = f"{count.n_records} records, {count.n_combinations} combinations, the rarest shared by {count.smallest}"
    if not count.holds:
        detail += f"; {count.records_below} records are in combinations rarer than k = {count.k}"
    return Finding(name, count.holds, detail)


def find_drawn(table: pa.Table, attributes: Sequence[str], k: int, smallest: int | None) -> Finding:
    """Whether the columns of drawn records are there: a file shows nothing else of the promise."""
    name = f"drawn from cells of at least k = {k} records: {names_phrase(attributes)}"
    absent = absent_from(table, attributes)
    if absent:
        return Finding(name, False, f"without {columns_phrase(absent)}")
    message = "nothing can be counted on the file; only that the columns are there was checked"
    if smallest is None:
        return Finding(name, True, message)
    return Finding(name, smallest >= k, f"{message}. By the manifest the smallest cell has {smallest} records")


def values_out_of_type(table: pa.Table, *, written: bool = True) -> list[Finding]:
    """One broken finding if values are not what their type can hold and show; none if all are.

    Such are a time after 23:59:59.999 and a date after the year 9999: most programs would show another, or fail. Texts
    of a table that is not `written` are taken as they are.
    """
    counts = {name: values_out_of_range(table.column(name), written=written) for name in table.column_names}
    return finding_out_of_type(counts)


def finding_out_of_type(counts: Mapping[str, int]) -> list[Finding]:
    """The finding of :func:`values_out_of_type`, from how many such values each column has."""
    beyond = {name: count for name, count in counts.items() if count}
    if not beyond:
        return []
    detail = f"{sum(beyond.values())} times or dates do not exist, in {columns_phrase(list(beyond))}"
    return [Finding("values", False, detail)]


def require_k(count: Recount, where: str) -> None:
    """Raise unless the promised k was found."""
    if not count.holds:
        raise GuaranteeError(
            f"k-anonymity (k = {count.k}) does not hold on {where}: the rarest combination of "
            f"{columns_phrase(count.attributes)} has {count.smallest} records, and {count.records_below} of "
            f"{count.n_records} records are in combinations rarer than {count.k}. Nothing was written"
        )


def require_public(findings: Sequence[Finding], where: str) -> None:
    """Raise unless everything that was found on a table is as it must be."""
    broken = [finding for finding in findings if not finding.holds]
    if broken:
        details = "; ".join(f"{finding.name}: {finding.detail}" for finding in broken)
        raise GuaranteeError(f"{where} does not look like what the method makes: {details}. Nothing was written")
