"""Look at a file before a recipe is drafted: how it is written, and what its columns would be mistaken for."""

from __future__ import annotations

from collections import Counter
from collections.abc import Collection, Mapping
from dataclasses import dataclass, replace
from pathlib import Path
from typing import TYPE_CHECKING, Any

from microagg.schema.notices import Notice, notice_of_numbers, notice_of_text
from microagg.schema.written_forms import Numbers, numbers_in
from microagg.tables.columns import is_text
from microagg.tables.formats.registry import format_of
from microagg.tables.frames import Column, Frame
from microagg.tables.phrases import columns_phrase
from microagg.tables.read import read_table
from microagg.tables.text.dialect import Decision, Dialect
from microagg.tables.text.written import as_numbers

if TYPE_CHECKING:
    import pyarrow as pa

__all__ = ["Looked", "look_at"]

_MOST_TEXTS = 5000


@dataclass(frozen=True)
class Looked:
    """A file as it was read, and why so.

    Attributes
    ----------
    table : pyarrow.Table
    dialect : Dialect
        As given, completed by what the file looks like.
    decisions : tuple of Decision
        What was completed.
    notices : mapping of str to Notice
        What each column's values look like, where there is something to say.
    """

    table: pa.Table
    dialect: Dialect
    decisions: tuple[Decision, ...]
    notices: Mapping[str, Notice]


def look_at(path: Path, given: Dialect, fixed: Collection[str] = ()) -> Looked:
    """Read a file for a draft.

    Parameters
    ----------
    path : Path
    given : Dialect
    fixed : collection of str
        The keys of `given` that were chosen; they are not doubted.
    """
    file_format = format_of(path)
    dialect, decisions = file_format.sniff(path, given, fixed)
    table = read_table(path, dialect=dialect)
    frame = Frame.wrap(table)
    notices = {name: _notice(frame.column(name)) for name in frame.names}
    if not file_format.is_text:
        notices = {name: _keep_for_typed(notice, file_format.states_types) for name, notice in notices.items()}
    doubles = _forms_of_doubles(path, frame, dialect) if file_format.is_text else {}
    unasked = [name for name, one in doubles.items() if one.doubtful and not notices[name].question]
    notices = {name: notice for name, notice in notices.items() if notice.question or notice.is_numbers}
    dialect, more = _numbers_and_dates(dialect, fixed, notices, doubles)
    codes = {name: notice.missing for name, notice in notices.items() if notice.missing and name not in dialect.missing}
    dialect = replace(dialect, missing={**dialect.missing, **codes})
    if decisions or more or codes:
        readable = [name for name, notice in notices.items() if notice.is_numbers]
        table = read_table(path, dialect=dialect, number_columns=[name for name in readable if name in codes])
    for field, was in zip(table.schema, frame.table.schema, strict=True):
        if _empty(was).is_number and _empty(field).is_text:
            notices[field.name] = Notice("its numbers are not written as those of other columns: how?", True)
    notices = {name: _as_read(notice, dialect) for name, notice in notices.items()}
    if dialect.separator == ";" or dialect.thousands == ".":  # where decimal commas are usual, 1.234 may be a thousand
        notices |= {name: _doubtful(doubles[name], dialect) for name in unasked if name not in notices}
    notices = _with_codes_among_numbers(notices, frame.table, table, dialect)
    return Looked(table, dialect, (*decisions, *more), notices)


def _empty(field: pa.Field) -> Column:
    import pyarrow as pa

    return Column(field.name, pa.nulls(0, field.type))


def _keep_for_typed(notice: Notice, states_types: bool) -> Notice:
    """In a file whose values have types, whole numbers are not dates; if it states types, digits are text by choice."""
    if states_types and notice.numbers is not None and notice.numbers.is_plain:
        return replace(notice, is_numbers=False)
    return replace(notice, date_formats=()) if notice.date_formats and not notice.is_numbers else notice


def _doubtful(numbers: Numbers, dialect: Dialect) -> Notice:
    """Ask about numbers like 1.234 that were read as decimals, or are thousands by what other columns say."""
    if dialect.thousands == ".":
        question = "do its points divide thousands, as it is read, or stand before three decimals?"
    else:
        question = "do its points stand before three decimals, as it is read, or divide thousands?"
    return Notice(question, numbers=numbers)


def _as_read(notice: Notice, dialect: Dialect) -> Notice:
    """The question about numbers like 20,000 with how they are read, now that it is decided."""
    if notice.numbers is None or not notice.numbers.doubtful:
        return notice
    mark, asked = notice.numbers.thousands, "or stand before three decimals"
    read = "thousands" if dialect.thousands == mark else "decimals" if dialect.decimal == mark else None
    if read is None:
        return notice
    return replace(notice, question=notice.question.replace(asked, f"{asked} (they are read as {read})"))


def _with_codes_among_numbers(
    notices: Mapping[str, Notice], first: pa.Table, table: pa.Table, dialect: Dialect
) -> dict[str, Notice]:
    """The notices with codes like -999 among numbers that were text, or other numbers, before it was decided."""
    import pyarrow as pa

    found = dict(notices)
    for name in table.column_names:
        before, values = first[name], table[name]
        notice = found.get(name, Notice())
        numbers: pa.ChunkedArray | None = values
        if notice.is_numbers and is_text(values.type):
            numbers = as_numbers(values, dialect)  # as a release will read it, if it is declared numeric
        elif values.equals(before):
            continue
        if numbers is None or is_text(numbers.type):
            continue
        more = _notice(Frame.wrap(pa.table({name: numbers})).column(name))
        if more.maybe_missing and not set(more.maybe_missing) & set(notice.maybe_missing):
            question = f"{notice.question} And {more.question}" if notice.question else more.question
            codes = (*notice.maybe_missing, *more.maybe_missing)
            found[name] = replace(notice, question=question, maybe_missing=codes)
    return found


def _notice(column: Column) -> Notice:
    import pyarrow.compute as pc

    if column.is_text:
        found = pc.value_counts(column.values.drop_null())
        return notice_of_text(found.field("values").to_pylist(), found.field("counts").to_pylist())
    if column.is_number and column.ordered_categories is None:
        return notice_of_numbers(pc.drop_null(column.values).cast("float64", safe=False).to_numpy(zero_copy_only=False))
    return Notice()


def _forms_of_doubles(path: Path, frame: Frame, dialect: Dialect) -> dict[str, Numbers]:
    """How numbers are written that were read as decimals with points."""
    import pyarrow as pa
    import pyarrow.compute as pc

    doubles = [field.name for field in frame.table.schema if pa.types.is_float64(field.type)]
    if not doubles or dialect.decimal != ".":
        return {}
    written = read_table(path, dialect=dialect, text_columns=doubles)
    return {
        name: numbers_in(pc.unique(written[name].drop_null()).slice(0, _MOST_TEXTS).to_pylist()) for name in doubles
    }


def _numbers_and_dates(
    dialect: Dialect, fixed: Collection[str], notices: Mapping[str, Notice], doubles: Mapping[str, Numbers]
) -> tuple[Dialect, list[Decision]]:
    """How numbers and dates are written, from what the columns say together."""
    written = {name: one.numbers for name, one in notices.items() if one.numbers is not None and name not in doubles}
    found: list[Decision] = []
    commas = [name for name, one in written.items() if one.decimal == "," and not one.doubtful]
    if dialect.separator == ";":  # as programs write where commas stand before decimals
        commas += [name for name, one in written.items() if one.doubtful and one.thousands == ","]
    says_point = any(one.decimal == "." for one in (*written.values(), *doubles.values()))
    if commas and says_point and "decimal" not in fixed:
        reason = f"{columns_phrase(commas, limit=3)} with decimal commas, others with points: no setting reads both"
        found.append(Decision("decimal", None, reason, asks=True))
    elif commas:
        found.append(Decision("decimal", ",", f"{columns_phrase(commas, limit=3)} with decimal commas"))
    decimal = "," if commas and not says_point else dialect.decimal
    if "decimal" in fixed:
        decimal = dialect.decimal
    if decimal == ",":
        written |= {name: one for name, one in doubles.items() if one.doubtful}
    marks = Counter(one.thousands for one in written.values() if one.thousands not in (None, decimal))
    if marks:
        mark = marks.most_common(1)[0][0]
        having = [name for name, one in written.items() if one.thousands == mark]
        found.append(Decision("thousands", mark, f"{columns_phrase(having, limit=3)} with thousands set apart"))
    for form in ("parentheses", "trailing"):
        having = [name for name, one in written.items() if one.negatives == form]
        if having:
            reason = f"{columns_phrase(having, limit=3)} with {'(5)' if form == 'parentheses' else '5-'} for -5"
            found.append(Decision("negatives", form, reason))
    units = {name: next(iter(one.units)) for name, one in written.items() if len(one.units) == 1 and one.units != {""}}
    if units:
        reason = f"{columns_phrase(list(units), limit=3)} with this beside the number, which is left out"
        found.append(Decision("units", tuple(dict.fromkeys(units.values())), reason))
    found += _dates(notices)
    taken = [one for one in found if one.key not in fixed]
    unique = {one.key: one for one in reversed(taken)}
    changes: dict[str, Any] = {one.key: one.value for one in unique.values() if one.value is not None}
    if isinstance(changes.get("date_format"), dict):
        changes["date_formats"] = changes.pop("date_format")
    return replace(dialect, **changes), [one for one in taken if unique[one.key] is one]


def _dates(notices: Mapping[str, Notice]) -> list[Decision]:
    """One format for all where it is the only one; a format for each column if they differ, or some are in doubt."""
    formats = {name: notice.date_formats[0] for name, notice in notices.items() if len(notice.date_formats) == 1}
    doubtful = [name for name, notice in notices.items() if len(notice.date_formats) > 1]
    found = []
    if formats:
        alike = len(set(formats.values())) == 1 and not doubtful and "%Y%m%d" not in formats.values()
        value: Any = next(iter(formats.values())) if alike else formats
        found.append(Decision("date_format", value, f"all values of {columns_phrase(list(formats), limit=3)} fit"))
    return found
