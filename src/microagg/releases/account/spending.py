"""What one release does to the ledger of its data: it asks for room, pays before noise, and tells what became of it."""

from __future__ import annotations

import os
import secrets
import shlex
import warnings
from collections.abc import Callable, Iterator, Sequence
from contextlib import contextmanager
from pathlib import Path
from typing import Any, cast

from microagg.errors import GuaranteeError, InputError, ParameterError, SafeNote
from microagg.privacy.guarantee import Guarantee
from microagg.privacy.noise import Noise
from microagg.recipe.recipe import Recipe
from microagg.releases.account.account import Account, account_in
from microagg.releases.account.amounts import as_written, at_least, at_most, plain
from microagg.releases.account.entry import fingerprint
from microagg.releases.account.ledger import is_kept, ledger_of, opened
from microagg.statements.total import SpentSoFar

__all__ = ["Spending", "pay_first"]


class Spending:
    """The spending of one release; without a ledger beside its data it does nothing.

    Attributes
    ----------
    id : str
        Random: the release's, in manifest and ledger.
    data : Path or None
        The data file; None if no ledger is kept of it.
    account : Account or None
        The ledger as it was when this release was recorded.
    """

    def __init__(self, data: Path | None = None, ledger: Path | None = None, *, seeded: bool = False) -> None:
        self.id = secrets.token_hex(16)
        self.data, self._ledger, self._seeded = data, ledger, seeded
        self.account: Account | None = None
        self._sha256 = self._method = ""
        self._epsilon: float | None = None
        self._guarantees: Sequence[Guarantee] = ()

    @classmethod
    def of(
        cls, source: str | Path | None, recipe: Recipe, *, seed: int | None = None, stated: bool = False
    ) -> Spending:
        """The spending of a release of a file, before anything is done for it.

        Parameters
        ----------
        source : path or None
        recipe : Recipe
        seed : int or None
            A seeded release is listed, and spends nothing: it protects nothing.
        stated : bool
            Whether the statement is to carry the total.

        Raises
        ------
        GuaranteeError
            If it would bring what is spent above the cap.
        TableError
            If the ledger is damaged, or cannot be read.
        ParameterError, InputError
            If the total is to be stated and there is none.
        """
        ledger = None if source is None else ledger_of(source)
        is_there = ledger is not None and is_kept(ledger)
        if stated:
            _require_total(source, recipe, seed, is_there=is_there)
        if source is None or not is_there:
            return cls()
        made = cls(Path(source), ledger, seeded=seed is not None)
        made._method, made._epsilon = recipe.method, None if recipe.privacy is None else recipe.privacy.epsilon
        if recipe.privacy is not None:
            made._guarantees = (recipe.entry.private.guarantee(recipe),)
        made._require_room(Account.open(source))
        return made

    @property
    def is_paid(self) -> bool:
        """Whether the release is in the ledger."""
        return self.account is not None

    def know(self, *, sha256: str | None = None, guarantees: Sequence[Guarantee] | None = None) -> None:
        """Learn what the ledger notes of the release, once it is known."""
        self._sha256 = self._sha256 if sha256 is None else sha256
        self._guarantees = self._guarantees if guarantees is None else guarantees

    def pay(self) -> None:
        """Record the release, once. Whoever draws noise calls this before.

        Raises
        ------
        GuaranteeError
            If there is no room below the cap any more. Nothing is recorded then.
        TableError
            If the ledger cannot be written, or is damaged.
        """
        if self._ledger is None or self.data is None or self.is_paid:
            return
        with opened(self._ledger, to_write=True) as ledger:
            before = account_in(ledger, self.data)
            self._require_room(before)
            ledger.append(self._line(before.salt))
            self.account = account_in(ledger, self.data)

    def _line(self, salt: str) -> dict[str, Any]:
        first = next(iter(self._guarantees), None)
        covers = self._epsilon is not None and first is not None and all(one.covers_records for one in self._guarantees)
        return {
            "event": "release",
            "id": self.id,
            "method": self._method,
            "epsilon": self._epsilon,
            "promises": list(dict.fromkeys(one.title for one in self._guarantees)),
            "target": None if first is None else first.target,
            "unit": None if first is None else first.unit,
            "covers_records": covers,
            "seeded": self._seeded,
            "fingerprint": fingerprint(salt, self._sha256),
        }

    def _require_room(self, account: Account) -> None:
        if self._epsilon is None or self._seeded:
            return
        after = account.spent + as_written(self._epsilon)
        if after <= as_written(account.cap):
            return
        left, data = at_most(account.left), shlex.quote(str(self.data))
        lower = f"Take [privacy] epsilon = {plain(left)} or less, or raise" if left > 0 else "Raise"
        raise GuaranteeError(
            f"epsilon = {plain(self._epsilon)} would bring what releases of {account.data.name!r} spent from "
            f"{plain(at_least(account.spent))} to {plain(at_least(after))}, above the cap of {plain(account.cap)}; "
            f"{f'the largest epsilon that is left is {plain(left)}' if left > 0 else 'nothing is left'}. No noise was "
            f"drawn and nothing was written. {lower} the cap: microagg budget cap {data} {plain(at_least(after))}"
        )

    @property
    def total(self) -> SpentSoFar | None:
        """What a statement may say, once it is paid."""
        if self.account is None:
            return None
        others = sum(not one.seeded for one in self.account.apart)
        return SpentSoFar(at_least(self.account.spent_on_records), len(self.account.on_records), others)

    @contextmanager
    def noting_failure(self) -> Iterator[None]:
        """If making or writing the release fails after it was paid, note that, in the ledger and on the error."""
        try:
            yield
        except BaseException as error:
            if self.account is not None and self._ledger is not None:
                self._note({"event": "failed", "id": self.id})
                if self._epsilon is not None and not self._seeded:
                    error.add_note(
                        SafeNote(
                            f"epsilon = {plain(self._epsilon)} stays spent in {self._ledger.name}: noise had been "
                            "drawn, and a ledger that takes back what was drawn could be asked again and again"
                        )
                    )
            raise

    @contextmanager
    def of_writing(self, folder: Path) -> Iterator[None]:
        """List a release before it is written, if it is not yet, and note where once it is."""
        self.pay()
        with self.noting_failure():
            yield
        if self._ledger is not None:
            place = os.path.relpath(folder, self._ledger.parent)
            self._note({"event": "written", "id": self.id, "folder": place})

    def _note(self, line: dict[str, Any]) -> None:
        """Add a line that nothing depends on; if that fails, what was spent is recorded all the same."""
        assert self._ledger is not None
        try:
            with opened(self._ledger, to_write=True) as ledger:
                ledger.append(line)
        except InputError as error:
            warnings.warn(f"the release is recorded, but not what became of it: {error}", UserWarning, stacklevel=4)

    @property
    def words(self) -> tuple[str, ...]:
        """What a person is told about the ledger after a release."""
        account = self.account
        if account is None:
            return ()
        name = account.ledger.name
        so_far = (
            f"{plain(at_least(account.spent))} of {plain(account.cap)} is spent, {plain(at_most(account.left))} left"
        )
        if self._seeded:
            return (f"Budget: listed in {name}, not counted: made with a fixed seed, never to be published; {so_far}",)
        if self._epsilon is None:
            lines = [f"Budget: listed in {name}; it has no epsilon; {so_far}"]
        else:
            lines = [f"Budget: epsilon = {plain(self._epsilon)} recorded in {name}; {so_far}"]
        own = next(one for one in account.entries if one.id == self.id)
        if not own.adds_to_records and account.on_records:
            lines.append(
                "Note: this release is no part of what the others in the ledger promise about the original records: "
                "whoever sees it, too, is promised nothing about them by their sum of epsilons"
            )
        return tuple(lines)


def _require_total(source: object, recipe: Recipe, seed: int | None, *, is_there: bool) -> None:
    if recipe.privacy is None:
        raise ParameterError(
            f"a statement carries the total (--state-total, state_total=True) of a differentially private release; "
            f"{recipe.method} has no epsilon"
        )
    if seed is not None:
        raise ParameterError(
            "a release with a fixed seed is not counted: its statement cannot carry the total. Leave out one"
        )
    if source is None:
        raise ParameterError("state_total=True needs source=, the data file whose ledger is kept")
    if not is_there:
        name = shlex.quote(str(source))
        raise InputError(
            f"the statement cannot carry the total: no ledger is kept for {Path(str(source)).name!r}. To start one: "
            f"microagg budget start {name} --cap EPSILON"
        )


class _PaidFirst:
    """Noise that is paid for when it is used first; whatever sources of noise offer, now or later, goes this way."""

    def __init__(self, noise: Noise, pay: Callable[[], None]) -> None:
        self._noise, self._pay = noise, pay

    def __getattr__(self, name: str) -> Any:
        if name.startswith("__"):
            raise AttributeError(name)
        found = getattr(self._noise, name)
        self._pay()
        return found


def pay_first(noise: Noise, pay: Callable[[], None]) -> Noise:
    """The same noise, with `pay` called before anything is drawn."""
    return cast(Noise, _PaidFirst(noise, pay))
