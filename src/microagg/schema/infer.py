"""Guess what each column is, with the reason for each guess: a start for a person, never a decision."""

from __future__ import annotations

import math
import re
from collections.abc import Collection, Mapping, Sequence
from dataclasses import dataclass

import numpy as np

from microagg.errors import TableError
from microagg.schema.attribute import Kind, Role
from microagg.schema.notices import Notice
from microagg.schema.schema import toml_key
from microagg.tables.frames import Column, Frame
from microagg.tables.labels import Labels, labels_of

__all__ = ["Guess", "decisions_in", "draft_recipe", "guess_schema"]


def _words(text: str) -> frozenset[str]:
    return frozenset(text.split())


_WORDS = {
    Role.IDENTIFIER: _words("""
        id ids uid uuid guid ssn nif nie dni name names surname firstname lastname email mail phone telephone mobile
        passport iban account license licence plate mrn nhs address street url ip username login
    """),
    Role.QUASI_IDENTIFIER: _words("""
        age sex gender birth born birthday dob zip zipcode postcode postal city town region county state country
        district municipality race ethnicity ethnic marital education occupation job profession nationality native
        language household children height weight admission discharge employees staff sector nace industry
    """),
    Role.CONFIDENTIAL: _words("""
        income salary wage wages earnings diagnosis disease illness icd hiv tax turnover profit debt loan
        medication drug religion political party vote criminal conviction score result outcome
    """),
}
_FEW_VALUES = 10


@dataclass(frozen=True)
class Guess:
    """A guess about one column.

    Attributes
    ----------
    name : str
    role : Role
    kind : Kind or None
    reasons : tuple of str
        Why; without values of records.
    decide : tuple of str
        Questions only a person can answer.
    n_missing : int
    suggested_bounds : pair of float or None
        A wide, round range around the data, to be replaced by what is publicly known.
    n_units : int
        How many different values an identifier has that occurs several times, as that of a person with several
        records; otherwise 0.
    """

    name: str
    role: Role
    kind: Kind | None
    reasons: tuple[str, ...]
    decide: tuple[str, ...]
    n_missing: int = 0
    suggested_bounds: tuple[float, float] | None = None
    n_units: int = 0


def guess_schema(
    frame: Frame, *, codes: Collection[str] = (), notices: Mapping[str, Notice] | None = None
) -> list[Guess]:
    """Guess role and kind of every column.

    Parameters
    ----------
    frame : Frame
    codes : collection of str
        Columns of digits that are codes, not numbers (for example, written with leading zeros).
    notices : mapping of str to Notice, optional
        What was noticed about the values of columns. One whose values are numbers or dates is numeric also where they
        are still text: until it is decided how to read them, a release refuses them.
    """
    known = notices or {}
    return [
        _guess(frame.column(f.name), labels_of(f), f.name in codes, known.get(f.name, Notice()))
        for f in frame.table.schema
    ]


def _guess(column: Column, labels: Labels, is_code: bool, notice: Notice) -> Guess:
    if not _is_comparable(column):
        question = "it cannot be protected: drop it (identifier), or turn it into numbers or text first"
        reason = f"it holds {column.values.type} values"
        return Guess(column.name, Role.IDENTIFIER, None, (reason,), (question,), int(column.missing.sum()))
    n_distinct = len(column.distinct)
    if notice.is_numbers and column.is_text:
        kind, kind_reason, kind_question = Kind.NUMERIC, "numbers or dates, written as text", ""
    else:
        kind, kind_reason, kind_question = _guess_kind(column, labels, n_distinct, is_code)
    role, role_reason, role_question = _guess_role(column, n_distinct, kind)
    bounds = None
    if kind is Kind.NUMERIC and role is Role.QUASI_IDENTIFIER and column.is_number:
        bounds = _round_range(column)
    return Guess(
        name=column.name,
        role=role,
        kind=None if role is Role.IDENTIFIER else kind,
        reasons=(role_reason,) if role is Role.IDENTIFIER else (role_reason, kind_reason),
        decide=tuple(question for question in (role_question, kind_question, notice.question) if question),
        n_missing=int(column.missing.sum()),
        suggested_bounds=bounds,
        n_units=n_distinct if role is Role.IDENTIFIER and 1 < n_distinct < int((~column.missing).sum()) else 0,
    )


def _is_comparable(column: Column) -> bool:
    return column.is_text or column.is_number or column.is_boolean or column.is_temporal


def _guess_kind(column: Column, labels: Labels, n_distinct: int, is_code: bool) -> tuple[Kind, str, str]:
    if labels.value_labels and labels.measure != "scale":
        kind = Kind.ORDINAL if labels.measure == "ordinal" else Kind.NOMINAL
        return kind, f"{len(labels.value_labels)} of its values have labels", ""
    if column.ordered_categories is not None:
        return Kind.ORDINAL, "its categories have an order", ""
    if is_code:
        return Kind.NOMINAL, "digits with leading zeros: a code, not a number", ""
    if column.is_temporal:
        return Kind.NUMERIC, "dates or times", ""
    if column.is_number and n_distinct <= _FEW_VALUES:
        question = (
            f"only {n_distinct} different numbers: are they amounts (numeric), grades (ordinal) or codes (nominal)?"
        )
        return Kind.NUMERIC, "numbers", question
    if column.is_number:
        return Kind.NUMERIC, f"numbers, {n_distinct} different", ""
    question = "are its categories ordered (ordinal)?" if column.is_text and 2 < n_distinct <= _FEW_VALUES else ""
    what = "yes/no" if column.is_boolean else "text"
    return Kind.NOMINAL, f"{what}, {n_distinct} categories", question


def _guess_role(column: Column, n_distinct: int, kind: Kind) -> tuple[Role, str, str]:
    words = _words_of(column.name)
    for role in (Role.IDENTIFIER, Role.QUASI_IDENTIFIER, Role.CONFIDENTIAL):
        hits = sorted(words & _WORDS[role])
        if hits:
            question = "is it never known to outsiders?" if role is Role.CONFIDENTIAL else ""
            return role, f"its name says {hits[0]!r}", question
    present = len(column.missing) - int(column.missing.sum())
    if kind is Kind.NOMINAL and column.is_text and present > _FEW_VALUES and n_distinct > 0.9 * present:
        return Role.IDENTIFIER, f"text, {n_distinct} different values in {present} records", "does it name a record?"
    question = "can outsiders know it (quasi_identifier), must it stay linked to nobody (confidential), or neither?"
    return (
        Role.QUASI_IDENTIFIER,
        "nothing in its name says what it is, so it is treated as known to outsiders",
        question,
    )


def _words_of(name: str) -> set[str]:
    spaced = re.sub(r"([a-z])([A-Z])", r"\1 \2", name)
    return set(re.split(r"[^a-z]+", spaced.lower()))


def _round_range(column: Column) -> tuple[float, float] | None:
    """A range of round numbers that holds all values with so much room that it reveals little about them."""
    try:
        values = column.numbers() + column.origin
    except TableError:  # integers beyond 64 bits: a release will say so
        return None
    finite = values[np.isfinite(values)]
    if not len(finite):
        return None

    def outward(value: float) -> float:
        wide = 1.5 * abs(value)
        power = 10.0 ** math.floor(math.log10(wide))
        return math.copysign(next(step * power for step in (1, 2, 5, 10) if step * power >= wide), value)

    low, high = float(finite.min()), float(finite.max())
    return (outward(low) if low < 0 else 0.0), (outward(high) if high > 0 else 0.0)


def decisions_in(text: str) -> int:
    """How many lines of a draft are marked as questions to a person."""
    return sum("# DECIDE: " in line for line in text.splitlines())


def draft_recipe(
    guesses: Sequence[Guess], *, table_name: str, n_records: int, k: int = 5, input_lines: Sequence[str] = ()
) -> str:
    """The guesses as a commented recipe; what a person must decide is marked ``DECIDE``."""
    body = "\n".join(_draft_lines(guesses, k, input_lines)) + "\n"
    head = [
        f"# Recipe for {json_text(table_name)}: {n_records} records, {len(guesses)} columns.",
        "# Everything below is a guess, with its reason. Change what is wrong. What only a person can answer is marked",
        f"# in capitals: {decisions_in(body)} decisions.",
        "",
    ]
    return "\n".join(head) + "\n" + body


_ABOUT = (
    "# [about]                 # published with the release, on top of its report and statement",
    '# title = "..."           # what it is called',
    '# holder = "..."          # who publishes it',
    '# purpose = "..."         # what it may be used for',
    '# contact = "..."         # whom to ask',
    "",
)


def _draft_lines(guesses: Sequence[Guess], k: int, input_lines: Sequence[str]) -> list[str]:
    lines = [
        'method = "mdav"',
        f"k = {k}            # DECIDE: how many records must share each published combination of quasi-identifiers",
        "",
        *_ABOUT,
        "[space]",
        'standardize = "zscore"   # or "minmax", "bounds", "none"',
        "",
        *input_lines,
    ]
    lines += _unit_section(guesses)
    lines += _missing_section(guesses)
    lines += [
        "# [strata]",
        '# by = ["..."]            # quasi-identifiers that no cell may cross',
        '# small = "refuse"        # or "merge_small": pool strata with fewer than k records',
        "",
        *_protect_example(guesses),
        "# Roles: identifier (dropped), quasi_identifier (outsiders may know it: protected),",
        "#        confidential and non_confidential (published as they are). Kinds: numeric, ordinal, nominal.",
    ]
    for guess in guesses:
        lines += ["", *_attribute_section(guess)]
    return lines


def _unit_section(guesses: Sequence[Guess]) -> list[str]:
    """Whom k counts, to uncomment, where an identifier occurs several times; nothing if none does."""
    repeated = [guess for guess in guesses if guess.n_units]
    if not repeated:
        return []
    most = max(repeated, key=lambda guess: guess.n_units)
    return [
        "# [unit]",
        f"# DECIDE: {json_text(most.name)} has {most.n_units} different values, some of them several times.",
        "# If it tells which records are of one person, firm or household, uncomment: k then counts these, not records",
        f"# key = {json_text(most.name)}",
        "# together = false        # true: all records of one share a cell",
        "",
    ]


def _missing_section(guesses: Sequence[Guess]) -> list[str]:
    incomplete = [g for g in guesses if g.n_missing and g.role is Role.QUASI_IDENTIFIER]
    lines = ["[missing]"]
    if incomplete:
        counts = ", ".join(f"{json_text(g.name)} {g.n_missing}" for g in incomplete)
        lines.append(f"# Missing values in quasi-identifiers: {counts}.")
        lines.append(
            "# DECIDE: own_cell (missing stays missing, cells by pattern), impute, or suppress (leave records out)"
        )
    lines.append('policy = "error"         # or "own_cell", "impute", "suppress"')
    if incomplete:
        lines.append('small = "refuse"         # or "merge_small": pool patterns with fewer than k records')
    return [*lines, ""]


def _protect_example(guesses: Sequence[Guess]) -> list[str]:
    """What may be asked of a confidential attribute, to uncomment; nothing if none looks like one."""
    names = [guess.name for guess in guesses if guess.role is Role.CONFIDENTIAL and guess.kind is not None]
    if not names:
        return []
    return [
        f"# [protect.{toml_key(names[0])}]".ljust(26) + "# k hides whose a record is; this hides what it says",
        "# distinct_l = 3          # at least so many different values among records that share quasi-identifiers",
        "# t_closeness = 0.2       # their distribution there is at most so far from that in the whole table",
        "",
    ]


def _attribute_section(guess: Guess) -> list[str]:
    lines = [f"[attributes.{toml_key(guess.name)}]"]
    lines += [f"# DECIDE: {question}" for question in guess.decide]
    lines.append(f'role = "{guess.role}"'.ljust(28) + f"# {guess.reasons[0]}")
    if guess.kind is not None:
        lines.append(f'kind = "{guess.kind}"'.ljust(28) + f"# {guess.reasons[1]}")
    if guess.suggested_bounds is not None:
        low, high = (f"{bound:g}" for bound in guess.suggested_bounds)
        lines.append(f"# bounds = [{low}, {high}]".ljust(28) + "# replace by what is publicly known, then uncomment")
    return lines


def json_text(text: str) -> str:
    """A name on one line, quoted and escaped."""
    import json

    return json.dumps(text, ensure_ascii=False)
