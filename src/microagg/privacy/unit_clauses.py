"""What promises say where a person, firm or household has several records, and all of them count as one unit."""

from __future__ import annotations

__all__ = [
    "NOT_PROMISED_OF_UNITS",
    "NOT_PROMISED_OF_UNITS_DRAWN",
    "ONE_RECORD_EACH",
    "RECORDS_OF_UNITS",
    "TOGETHER",
    "WHOLE_UNIT",
    "assumed_of_units",
    "assumed_of_units_drawn",
    "assumed_of_units_under_noise",
    "not_promised_of_values",
    "records_of_at_least",
    "unit_counted",
]

ONE_RECORD_EACH = "each person or firm has one record in the table"
"""What is assumed where records are counted."""
WHOLE_UNIT = "all records of one unit"
_COUNTED_BY_HOLDER = (
    "the data holder counted units when the release was made; the file shows records, of which there are at least as "
    "many"
)
_COUNTED_BEFORE_DRAWING = (
    "the data holder counted units before records were drawn; the file shows nothing of cells, intervals and units"
)
NOT_PROMISED_OF_UNITS = (
    "hiding of which records belong to one unit: where attributes that are published as they are tell it, what is "
    "known of one record is known of all of them",
    "equal parts of units in a cell: one with many records weighs as much as they do in what the cell publishes, and "
    "someone who knows all of them can take them away",
)
NOT_PROMISED_OF_UNITS_DRAWN = (
    NOT_PROMISED_OF_UNITS[0],
    "equal parts of units in what was drawn from: one with many records in a cell or a leaf weighs as much as they do "
    "there, so that what a cell tells may be close to its own numbers, and someone who knows all of them can take them "
    "away",
)
RECORDS_OF_UNITS = "one record, of which a unit (a person, firm or household) may have several"
"""What a promise about confidential values counts: what anybody can count on the file."""
TOGETHER = "hiding of the most records that a unit can have: all of them are in one cell"


def assumed_of_units(key: str | None) -> tuple[str, ...]:
    """What is assumed of records where cells are counted; `key` says whose they are, None: each is somebody else's."""
    return (ONE_RECORD_EACH,) if key is None else (_same_key(key), _COUNTED_BY_HOLDER)


def assumed_of_units_drawn(key: str | None) -> tuple[str, ...]:
    """The same of records that were drawn: a file shows nothing of their cells."""
    return (ONE_RECORD_EACH,) if key is None else (_same_key(key), _COUNTED_BEFORE_DRAWING)


def unit_counted(key: str | None) -> str:
    """Whom a promise about records counts: one record, or all of one unit."""
    return "one record" if key is None else f"{WHOLE_UNIT} (a person, firm or household), by {key!r}"


def records_of_at_least(k: float | str, *, units: bool) -> str:
    """So many records, or records of so many units.

    Examples
    --------
    >>> records_of_at_least(5, units=False), records_of_at_least(5, units=True)
    ('at least 5 records', 'records of at least 5 units')
    """
    return f"records of at least {k} units" if units else f"at least {k} records"


def not_promised_of_values(requirement: str) -> str:
    """What a requirement on the confidential values of records does not say of units."""
    if requirement in ("distinct_l", "p_sensitive", "min_range"):
        return "that different values are those of different units: one unit may have several of them"
    return (
        "the same of units: shares are shares of records, so that one unit with many records weighs as much as they "
        "do, and a value that most units of a class have may be that of few records"
    )


def assumed_of_units_under_noise(key: str | None, max_records: int) -> tuple[str, ...]:
    """The same under differential privacy, where at most `max_records` of a unit take part."""
    if key is None:
        return (ONE_RECORD_EACH,)
    sizes = (
        f"how many records each unit has is public; of units with more than {max_records} so many were kept, by chance "
        "that does not depend on what they say"
    )
    return (_same_key(key), sizes)


def _same_key(key: str) -> str:
    return (
        f"records of one person, firm or household have the same {key!r}, which is not published, and those of "
        "different ones have different ones"
    )
