"""The account of a table: what its releases spent, what is left below the cap, and what that does and does not mean."""

from __future__ import annotations

import os
import secrets
import shlex
from dataclasses import dataclass, field
from fractions import Fraction
from functools import cached_property
from pathlib import Path
from typing import Any

from microagg.errors import InputError, ParameterError
from microagg.privacy.budget import check_epsilon
from microagg.releases.account.amounts import as_written, at_least, at_most
from microagg.releases.account.entry import Entry, fingerprint, read_entries, start_line
from microagg.releases.account.ledger import OpenLedger, create_ledger, is_kept, ledger_of, opened
from microagg.statements.manifest import sha256_of_file

__all__ = ["Account", "account_in"]

_LONGEST_NOTE = 500


@dataclass(frozen=True)
class Account:
    """What releases of one data file spent, as its ledger says; ``print(account)`` tells it in words.

    Once a ledger is started, ``microagg.release(table, recipe, source=data)`` and ``microagg release data`` find it by
    themselves: a private release is refused if it would bring what is spent above the cap, before any noise is
    drawn, and recorded before anything is written.

    Attributes
    ----------
    data, ledger : Path
        The data file, and the ledger beside it (``data.csv.budget.jsonl``; for its owner only).
    cap : float
        What may be spent in all.
    entries : tuple of Entry
        Releases, and expenses entered by hand.
    started : str
        When, UTC.
    is_private : bool
        Whether nobody but the owner may read the ledger's file.

    Notes
    -----
    *Sequential composition*: releases that are each epsilon-differentially private for the original records are so
    together, for the sum of their epsilons. It holds for nothing else: a release that protects the microaggregated data
    set only, or is k-anonymous, is no part of that promise, and whoever sees it, too, has none. Their epsilons count
    against the cap all the same.

    Examples
    --------
    >>> import pathlib, tempfile, microagg
    >>> with tempfile.TemporaryDirectory() as folder:
    ...     data = pathlib.Path(folder) / "people.csv"
    ...     _ = data.write_text("age\\n20\\n")
    ...     account = microagg.Account.start(data, cap=3)
    ...     account = account.add(0.5, note="a histogram, made with another tool")
    ...     float(account.spent), float(account.left)
    (0.5, 2.5)
    """

    data: Path
    ledger: Path
    cap: float
    entries: tuple[Entry, ...]
    started: str
    is_private: bool = field(default=True, repr=False)
    salt: str = field(default="", repr=False)

    @classmethod
    def start(cls, data: str | os.PathLike[str], *, cap: float) -> Account:
        """Start the ledger of a data file.

        Parameters
        ----------
        data : path
        cap : float
            The largest sum of epsilons: above 0, at most 1e6.

        Raises
        ------
        InputError
            If there is one already, or no such data file.
        """
        path, ledger = Path(data), ledger_of(data)
        cap = _checked_cap(cap)
        if not path.is_file():
            raise InputError(f"there is no data file named {path.name!r} to keep a ledger of")
        create_ledger(ledger, start_line(cap, secrets.token_hex(32)))
        return cls.open(path)

    @classmethod
    def open(cls, data: str | os.PathLike[str]) -> Account:
        """Read the ledger of a data file.

        Raises
        ------
        InputError
            If there is none, or it is damaged; the message has the line, and what mends it.
        """
        path = Path(data)
        with opened(_kept(path), to_write=False) as ledger:
            return account_in(ledger, path)

    def add(self, epsilon: float, *, note: str = "") -> Account:
        """Enter an expense of a release that microagg did not record, made before the ledger or with another tool.

        It is taken as epsilon-differentially private for the original records: that is up to whoever enters it. It is
        entered even above the cap, for it is spent.
        """
        if not isinstance(note, str) or len(note) > _LONGEST_NOTE:
            raise ParameterError(f"note must be a text of at most {_LONGEST_NOTE} characters")
        return self._append({"event": "added", "epsilon": check_epsilon(epsilon), "note": note})

    def set_cap(self, cap: float) -> Account:
        """Declare another cap; the ledger keeps the old one, too."""
        return self._append({"event": "cap", "cap": _checked_cap(cap)})

    def _append(self, line: dict[str, Any]) -> Account:
        with opened(_kept(self.data), to_write=True) as ledger:
            account_in(ledger, self.data)  # a ledger that is not understood is not added to
            ledger.append(line)
            return account_in(ledger, self.data)

    @property
    def spent(self) -> Fraction:
        """The sum of all epsilons but seeded ones, exactly: what the cap holds."""
        return sum((one.spent for one in self.entries), Fraction(0))

    @property
    def spent_on_records(self) -> Fraction:
        """The sum of the epsilons of releases that protect the original records, exactly."""
        return sum((one.spent for one in self.on_records), Fraction(0))

    @property
    def left(self) -> Fraction:
        """What may still be spent, exactly."""
        return max(as_written(self.cap) - self.spent, Fraction(0))

    @property
    def on_records(self) -> tuple[Entry, ...]:
        """Those whose epsilons add up to a promise about the original records."""
        return tuple(one for one in self.entries if one.adds_to_records)

    @property
    def apart(self) -> tuple[Entry, ...]:
        """Those that are no part of that promise."""
        return tuple(one for one in self.entries if not one.adds_to_records)

    @cached_property
    def changed(self) -> tuple[int, ...]:
        """Numbers of the releases that were made of other bytes than the data file has now."""
        known = [one for one in self.entries if one.fingerprint]
        if not known or not self.data.is_file():
            return ()
        now = fingerprint(self.salt, sha256_of_file(self.data))
        return tuple(one.number for one in known if one.fingerprint != now)

    def as_dict(self) -> dict[str, Any]:
        """The account as plain dicts and lists, for JSON."""
        return {
            "data": str(self.data),
            "ledger": str(self.ledger),
            "started": self.started,
            "cap": self.cap,
            "spent": at_least(self.spent),
            "left": at_most(self.left),
            "spent_on_original_records": at_least(self.spent_on_records),
            "data_changed_since": list(self.changed),
            "releases": [one.as_dict() for one in self.entries],
        }

    def __str__(self) -> str:
        from microagg.releases.account.text import account_text

        return account_text(self)


def account_in(ledger: OpenLedger, data: Path) -> Account:
    """The account that an open ledger gives."""
    content = read_entries(ledger.lines, ledger.path)
    return Account(data, ledger.path, content.cap, content.entries, content.started, ledger.is_private, content.salt)


def _kept(data: Path) -> Path:
    ledger = ledger_of(data)
    if not is_kept(ledger):
        raise InputError(
            f"no ledger is kept for {data.name!r}. To start one: microagg budget start {shlex.quote(str(data))} --cap "
            "EPSILON"
        )
    return ledger


def _checked_cap(cap: float) -> float:
    try:
        return check_epsilon(cap)
    except ParameterError as error:
        raise ParameterError(str(error).replace("epsilon", "cap", 1)) from None
