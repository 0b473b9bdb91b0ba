"""An account in words: what was spent on what, and what the sum means."""

from __future__ import annotations

import textwrap
from collections.abc import Sequence
from fractions import Fraction
from typing import TYPE_CHECKING

from microagg.releases.account.amounts import at_least, at_most, plain
from microagg.releases.account.entry import Entry, Fate
from microagg.statements.statement import printable

if TYPE_CHECKING:
    from microagg.releases.account.account import Account

__all__ = ["account_text"]

TOGETHER = (
    "Together they are differentially private for the original records with epsilon = {sum}: epsilons of releases of "
    "the same records add up (sequential composition). It holds for someone who sees these releases and nothing else "
    "that was made from the records."
)
OF_UNITS = (
    "Number {numbers} of these count all records of one unit by {key} together, and spent {sum} on each unit. The "
    "others count single records, and promise nothing of a unit with several."
)
ALL_OF_UNITS = "All of them count all records of one unit by {key} together, so it holds for each unit, too."
STATED_BY_HAND = "What was entered by hand is taken at its word."
APART = (
    "These are no part of a promise about the original records, and their epsilons do not add up to one; what each "
    "promises is in its own statement."
)
VOID = "Whoever sees one of them has no promise from the sum above."
COUNTED = "Their epsilons, {sum} in all, count against the cap all the same, so that nothing is spent unseen."
SEEDED = (
    "A seeded release is not counted: its noise can be repeated and taken off, so it protects nothing at any epsilon. "
    "It is for research, and must never be published."
)
STAYS = (
    "A release that failed, or of which no folder is known, stays spent: noise had been drawn from the records, and a "
    "ledger that takes back what was drawn could be asked again and again."
)
KNOWN = (
    "The ledger knows releases that microagg made of this file since {started}, and what was entered by hand "
    "('microagg budget add'). A copy of the data has no ledger; neither have dataframes without source=. Sweeps, "
    "tradeoffs and evaluations spend nothing as long as nothing of them leaves the house."
)


def account_text(account: Account) -> str:
    """The account for a person."""
    name = account.data.name
    spent, left = _spent(account.spent), plain(at_most(account.left))
    lines = [f"Budget of {name}: {spent} of {plain(account.cap)} is spent, {left} is left."]
    if account.on_records:
        lines += ["", "Releases that protect the original records (unit: replace one record):"]
        lines += _table(account.on_records)
        by_hand = any(one.fate is Fate.BY_HAND for one in account.on_records)
        meaning = [TOGETHER.format(sum=_spent(account.spent_on_records)), *_units(account.on_records)]
        lines += _paragraph(" ".join([*meaning, STATED_BY_HAND] if by_hand else meaning))
    if account.apart:
        lines += ["", "Other releases:", *_table(account.apart)]
        on_others = account.spent - account.spent_on_records
        says = [APART, VOID if account.on_records else "", COUNTED.format(sum=_spent(on_others)) if on_others else ""]
        lines += _paragraph(" ".join(sentence for sentence in says if sentence))
    notes = [*_notes(account), KNOWN.format(started=account.started)]
    lines += ["", *(line for note in notes for line in _paragraph(note, "- "))]
    return "\n".join(printable(line) for line in lines)


def _units(entries: Sequence[Entry]) -> list[str]:
    """What the sum says of units that have several records, by each key that tells them."""
    said = []
    by_key: dict[str, list[Entry]] = {}
    for one in entries:
        if one.unit_key is not None:
            by_key.setdefault(one.unit_key, []).append(one)
    for key, some in by_key.items():
        if len(some) == len(entries):
            said.append(ALL_OF_UNITS.format(key=key))
            continue
        numbers, spent = ", ".join(str(one.number) for one in some), sum((one.spent for one in some), Fraction(0))
        said.append(OF_UNITS.format(numbers=numbers, key=key, sum=_spent(spent)))
    return said


def _notes(account: Account) -> list[str]:
    notes = []
    if any(one.fate in (Fate.FAILED, Fate.UNKNOWN) for one in account.entries):
        notes.append(STAYS)
    if any(one.seeded for one in account.entries):
        notes.append(SEEDED)
    if not account.data.is_file():
        notes.append(f"{account.data.name} is not there.")
    if account.changed:
        which, were = ", ".join(map(str, account.changed)), "was" if len(account.changed) == 1 else "were"
        notes.append(
            f"{account.data.name} has changed since release {which} {were} made. All count: "
            "a person whose record was corrected, or stayed as it was, is in both."
        )
    if not account.is_private:
        notes.append(f"Others may read or change {account.ledger.name}: chmod 600 it.")
    return notes


def _table(entries: Sequence[Entry]) -> list[str]:
    lines = []
    for one in entries:
        epsilon = "no epsilon" if one.epsilon is None else f"epsilon {plain(one.epsilon)}"
        what = one.method or one.note or "no note"
        lines.append(f"{one.number:>5}  {one.time[:16].replace('T', ' ')}  {epsilon:<14} {what}: {_fate(one)}")
        if not one.covers_records:
            lines += textwrap.wrap(_promise(one), 100, initial_indent=" " * 25, subsequent_indent=" " * 25)
    return lines


def _promise(one: Entry) -> str:
    if not one.promises:
        return "promises nothing"
    said = ", ".join(one.promises)
    return f"{said}, unit: {one.unit}; protects {one.target}"


def _fate(one: Entry) -> str:
    said = {
        Fate.WRITTEN: f"in {', '.join(one.folders)}",
        Fate.FAILED: "failed, stays spent" if one.spent else "failed",
        Fate.UNKNOWN: "no folder is known, stays spent" if one.spent else "no folder is known",
        Fate.BY_HAND: "entered by hand",
    }[one.fate]
    return f"{said}; seeded, not counted" if one.seeded else said


def _spent(amount: Fraction) -> str:
    return plain(at_least(amount))


def _paragraph(text: str, bullet: str = "") -> list[str]:
    return textwrap.wrap(text, 110, initial_indent=bullet, subsequent_indent=" " * len(bullet))
