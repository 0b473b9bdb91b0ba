"""What a ledger says, line by line: releases, expenses entered by hand, caps, and what became of releases."""

from __future__ import annotations

import hashlib
import re
from collections.abc import Mapping, Sequence
from dataclasses import asdict, dataclass, replace
from enum import StrEnum
from fractions import Fraction
from pathlib import Path
from typing import Any

from microagg.errors import TableError
from microagg.privacy.budget import check_epsilon
from microagg.privacy.unit_clauses import WHOLE_UNIT
from microagg.releases.account.amounts import as_written
from microagg.releases.account.ledger import damaged

__all__ = ["FORMAT", "Content", "Entry", "Fate", "fingerprint", "read_entries", "start_line"]

FORMAT = 1
NOTE = (
    "Keep this file beside its data, do not publish or edit it: it adds up what releases of the data spent. "
    "'microagg budget show' reads it."
)


class Fate(StrEnum):
    """What became of a release."""

    WRITTEN = "written"
    FAILED = "failed"
    UNKNOWN = "not written"
    BY_HAND = "entered by hand"


@dataclass(frozen=True)
class Entry:
    """One release, or one expense entered by hand.

    Attributes
    ----------
    number : int
        From 1, in the order of the ledger.
    time : str
        UTC.
    epsilon : float or None
        None if the method has none: a k-anonymous release, say.
    method : str
    promises : tuple of str
        Titles of the guarantees.
    target, unit : str or None
        What the first guarantee protects, and what one individual is taken to contribute.
    covers_records : bool
        Whether the promise is epsilon-differential privacy of whole original records: only such epsilons add up to a
        promise about these.
    seeded : bool
        Whether its noise can be repeated by everybody: it protects nothing, and is not counted.
    fate : Fate
    folders : tuple of str
        Where it was written, seen from the folder of the data.
    id : str
        The manifest's.
    fingerprint : str
        Of the data file when the release was made, salted; empty of an expense entered by hand.
    note : str
        Of an expense entered by hand.
    """

    number: int
    time: str
    epsilon: float | None
    method: str = ""
    promises: tuple[str, ...] = ()
    target: str | None = None
    unit: str | None = None
    covers_records: bool = False
    seeded: bool = False
    fate: Fate = Fate.UNKNOWN
    folders: tuple[str, ...] = ()
    id: str = ""
    fingerprint: str = ""
    note: str = ""

    @property
    def spent(self) -> Fraction:
        """What counts against the cap, exactly."""
        return Fraction(0) if self.epsilon is None or self.seeded else as_written(self.epsilon)

    @property
    def adds_to_records(self) -> bool:
        """Whether its epsilon is part of the sum about the original records."""
        return self.covers_records and not self.seeded

    @property
    def unit_key(self) -> str | None:
        """What tells units apart, quoted, where the promise is about all records of one; None if about single ones."""
        said = re.match(rf"replace {WHOLE_UNIT} by (.+) \(at most \d+\)", self.unit or "")
        return said[1] if said else None

    def as_dict(self) -> dict[str, Any]:
        """The entry as plain dicts and lists, for JSON."""
        return {**asdict(self), "counted": bool(self.spent)}


@dataclass(frozen=True)
class Content:
    """All that a ledger says."""

    started: str
    cap: float
    salt: str
    entries: tuple[Entry, ...]


def start_line(cap: float, salt: str) -> dict[str, Any]:
    """What the first line of a ledger holds."""
    return {"event": "start", "format": FORMAT, "note": NOTE, "cap": cap, "salt": salt}


def fingerprint(salt: str, sha256: str) -> str:
    """The fingerprint of a data file: by the ledger's salt, so that a line alone tells nothing about the data."""
    return hashlib.sha256(bytes.fromhex(salt) + bytes.fromhex(sha256)).hexdigest()


def read_entries(lines: Sequence[Mapping[str, Any]], ledger: Path) -> Content:
    """Understand the lines of a ledger, whose checksums fit.

    Raises
    ------
    TableError
        If one is not what this version writes.
    """
    first = lines[0]
    if first.get("event") == "start" and first.get("format") != FORMAT:
        raise TableError(f"{ledger.name} was begun by another version of microagg: use that one, or a newer one")
    entries: dict[str, Entry] = {}
    cap, number = 0.0, 0
    try:
        if first["event"] != "start":
            raise ValueError("no start")
        cap, salt, started = check_epsilon(first["cap"]), str(first["salt"]), str(first["time"])
        for number, line in enumerate(lines[1:], start=1):
            match line["event"]:
                case "cap":
                    cap = check_epsilon(line["cap"])
                case "added":
                    entries[f"line {number}"] = _added(line, len(entries) + 1)
                case "release" if line["id"] not in entries:
                    entries[line["id"]] = _release(line, len(entries) + 1)
                case "written":
                    made = entries[line["id"]]
                    folders = tuple(dict.fromkeys((*made.folders, str(line["folder"]))))
                    entries[made.id] = replace(made, fate=Fate.WRITTEN, folders=folders)
                case "failed":
                    made = entries[line["id"]]
                    fate = made.fate if made.fate is Fate.WRITTEN else Fate.FAILED
                    entries[made.id] = replace(made, fate=fate)
                case _:
                    raise ValueError("event")
    except (KeyError, TypeError, ValueError, AttributeError):
        why = "it says what this version of microagg does not understand"
        raise damaged(ledger, number + 1, why) from None
    return Content(started, cap, salt, tuple(entries.values()))


def _added(line: Mapping[str, Any], number: int) -> Entry:
    return Entry(
        number,
        str(line["time"]),
        check_epsilon(line["epsilon"]),
        covers_records=True,
        fate=Fate.BY_HAND,
        note=str(line["note"]),
    )


def _release(line: Mapping[str, Any], number: int) -> Entry:
    epsilon, target, unit = line["epsilon"], line["target"], line["unit"]
    if not all(isinstance(line[key], bool) for key in ("covers_records", "seeded")):
        raise TypeError("bool")
    if line["covers_records"] and epsilon is None:
        raise ValueError("covers")
    return Entry(
        number,
        str(line["time"]),
        None if epsilon is None else check_epsilon(epsilon),
        str(line["method"]),
        tuple(str(one) for one in line["promises"]),
        None if target is None else str(target),
        None if unit is None else str(unit),
        line["covers_records"],
        line["seeded"],
        id=str(line["id"]),
        fingerprint=str(line["fingerprint"]),
    )
