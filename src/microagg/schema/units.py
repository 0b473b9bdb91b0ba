"""Whose each record is, by the column that says so."""

from __future__ import annotations

from collections.abc import Sequence
from decimal import Context, Decimal, InvalidOperation
from typing import TYPE_CHECKING, Any

import numpy as np

from microagg._typing import IntArray
from microagg.errors import TableError
from microagg.schema.alike import MISSING_WORDS, plain_text
from microagg.tables.frames import Column
from microagg.tables.missing_codes import code_as_text

if TYPE_CHECKING:
    import pyarrow as pa

__all__ = ["unit_codes"]

_LONGEST_NUMBER = 400  # characters
_EXACT = Context(prec=2 * _LONGEST_NUMBER)
_CONTROLS = r"[\x00-\x08\x0e-\x1f\x7f]"
_WHOLE = "^(0|-?[1-9][0-9]*)$"
_NUMBER = r"^[+-]?[0-9.][0-9._]*(e[+-]?[0-9_]+)?$"


def unit_codes(column: Column, missing: Sequence[Any] = ()) -> IntArray:
    """The units of records: 0, 1, ..., by first occurrence.

    Keys that may be one key, written in two ways, are one: numbers by their value (1, 1.0 and 01), words without blanks
    around them and in small letters. Two units taken for one are hidden no less; one that is taken for two would be.

    Parameters
    ----------
    column : Column
        The keys.
    missing : sequence
        What is declared to stand for a missing key, in whatever way it is written: -999 is also -999.0.

    Raises
    ------
    TableError
        If a record has no key, or one that may be read as missing: it might be anybody's.
    """
    import pyarrow as pa
    import pyarrow.compute as pc

    column = _with_plain_keys(column)
    values = column.values
    if pa.types.is_floating(values.type):
        values = pc.add(values.cast(pa.float64()), 0.0)  # -0.0 is 0.0
    try:
        encoded = values.dictionary_encode()
    except (pa.ArrowNotImplementedError, pa.ArrowInvalid):
        raise TableError(f"column {column.name!r} holds {values.type} values, which cannot tell units apart") from None
    keys: IntArray = pc.fill_null(encoded.indices, -1).to_numpy(zero_copy_only=False).astype(np.int64)
    if column.is_text:
        keys = np.append(_codes_as_read(encoded.dictionary, missing), -1)[keys]
    keys[column.missing] = -1
    n_missing = int((keys < 0).sum())
    if n_missing:
        raise TableError(
            f"{n_missing} of {len(keys)} records have no {column.name!r}, so nobody can tell whose they are: [unit] "
            "needs the key of every record. Fill it in, or take out these records"
        )
    return _by_first_occurrence(keys)


def _with_plain_keys(column: Column) -> Column:
    """The column with bytes as the text that they are, if all are, and what another program added as it is stored.

    Some programs store text without saying so; a UUID is stored as its 16 bytes.
    """
    import pyarrow as pa

    values = column.values
    if isinstance(values.type, pa.BaseExtensionType):
        return Column(column.name, values.storage)
    if pa.types.is_fixed_size_binary(values.type):
        values = values.cast(pa.large_binary())
    elif not (pa.types.is_binary(values.type) or pa.types.is_large_binary(values.type)):
        return column
    try:
        return Column(column.name, values.cast(pa.large_string()))
    except pa.ArrowInvalid:
        return column


def _codes_as_read(texts: pa.Array, declared_missing: Sequence[Any]) -> IntArray:
    """For each text the number of its key; -1 for what may be read as missing."""
    import pyarrow as pa

    declared = pa.array([code_as_text(code) for code in declared_missing], pa.large_string())
    codes = _numbered(pa.concat_arrays([texts.cast(pa.large_string()), declared]))
    found, absent = codes[: len(texts)], codes[len(texts) :]
    return np.where(np.isin(found, absent), -1, found)


def _numbered(texts: pa.Array) -> IntArray:
    """For each text the number of its key, as it is read; -1 for what programs read as missing."""
    import pyarrow as pa
    import pyarrow.compute as pc

    has_controls = pc.any(pc.match_substring_regex(texts, _CONTROLS), min_count=0).as_py()
    if pc.all(pc.string_is_ascii(texts), min_count=0).as_py() and not has_controls:
        words = pc.ascii_lower(pc.ascii_trim_whitespace(texts))
    else:
        words = pa.array([None if text is None else plain_text(text) for text in texts.to_pylist()], pa.string())
    unusual = pc.and_(pc.match_substring_regex(words, _NUMBER), pc.invert(pc.match_substring_regex(words, _WHOLE)))
    if pc.any(unusual, min_count=0).as_py():
        rewritten = pa.array([_as_one(word) for word in words.filter(unusual).to_pylist()], words.type)
        words = pc.replace_with_mask(words, unusual, rewritten)
    missing = pc.or_kleene(pc.is_null(words), pc.is_in(words, pa.array(sorted(MISSING_WORDS), words.type)))
    codes: IntArray = pc.fill_null(words.dictionary_encode().indices, -1).to_numpy(zero_copy_only=False)
    return np.where(missing.to_numpy(zero_copy_only=False), -1, codes.astype(np.int64))


def _as_one(word: str) -> str:
    """One way to write a number, to its last digit; what is none as it is."""
    try:
        number = Decimal(word) if len(word) <= _LONGEST_NUMBER else None
    except InvalidOperation:
        return word
    if number is None or abs(number.adjusted()) > _LONGEST_NUMBER:
        return word
    return format(number.normalize(_EXACT), "f") if number else "0"


def _by_first_occurrence(keys: IntArray) -> IntArray:
    _, first, codes = np.unique(keys, return_index=True, return_inverse=True)
    place = np.empty(len(first), dtype=np.int64)
    place[np.argsort(first, kind="stable")] = np.arange(len(first))
    return place[codes]
