"""Campaigns: long hostile tests, case by case, each in a process that may be killed if a case does not end.

A campaign is a function of a case number: it makes the case from that number alone, tries it, and returns a word for
how it ended ("released", "refused", ...). An ``AssertionError`` is a violation of a promise, any other exception a raw
exception, and a case beyond its time a hang; none of the three may occur. The suite runs a few cases of each
(``test_campaigns.py``); ``make campaign`` runs them all and prints what ``docs/results/trust.md`` tells.
"""

from __future__ import annotations

import argparse
import importlib
import json
import multiprocessing as mp
import sys
import time
import traceback
from collections import Counter
from collections.abc import Callable
from dataclasses import dataclass, field
from multiprocessing.connection import Connection, wait
from pathlib import Path

_HOUSE = ("campaign", "test_campaigns")
NAMES = tuple(sorted(path.stem for path in Path(__file__).parent.glob("*.py") if path.stem not in _HOUSE))
BAD = ("violation", "raw exception", "hang")


@dataclass(frozen=True)
class Campaign:
    """A hostile test.

    Attributes
    ----------
    name : str
    promise : str
        What no case may break, in one sentence.
    case : callable
        Takes the number of a case, tries it, and returns how it ended in a word or two.
    quick, long : int
        How many cases the suite and ``make campaign`` run.
    seconds : float
        After so long a case is called a hang.
    packages : tuple of str
        What some of its cases need beside microagg's own dependencies.
    """

    name: str
    promise: str
    case: Callable[[int], str]
    quick: int
    long: int
    seconds: float = 120.0
    packages: tuple[str, ...] = ()


@dataclass
class Tally:
    """How the cases of a campaign ended."""

    name: str
    promise: str
    outcomes: Counter[str] = field(default_factory=Counter)
    bad: list[dict[str, object]] = field(default_factory=list)
    cpu_seconds: float = 0.0

    @property
    def n_cases(self) -> int:
        return sum(self.outcomes.values())

    def as_dict(self) -> dict[str, object]:
        return {
            "campaign": self.name,
            "promise": self.promise,
            "cases": self.n_cases,
            "outcomes": dict(self.outcomes.most_common()),
            "bad": self.bad,
            "seconds": round(self.cpu_seconds, 1),
        }

    def __str__(self) -> str:
        ended = ", ".join(f"{count} {word}" for word, count in self.outcomes.most_common())
        return f"{self.name}: {self.n_cases} cases: {ended} ({self.cpu_seconds:.0f} s)"


def load(name: str) -> Campaign:
    """The campaign of a module of this folder."""
    found: Campaign = importlib.import_module(f"campaigns.{name}").CAMPAIGN
    return found


def try_case(campaign: Campaign, number: int) -> tuple[str, str]:
    """How a case ended, and for a bad end where."""
    try:
        return campaign.case(number), ""
    except AssertionError:
        return "violation", traceback.format_exc(limit=-4)
    except Exception:
        return "raw exception", traceback.format_exc(limit=-6)


def run(campaign: Campaign, first: int, n_cases: int, *, workers: int = 2, tell: bool = False) -> Tally:
    """Run cases in processes of their own; one that does not end is killed, and the rest go on."""
    tally = Tally(campaign.name, campaign.promise)
    begun = time.monotonic()
    numbers = iter(range(first, first + n_cases))
    team = [_Worker(campaign) for _ in range(min(workers, n_cases))]
    busy = [worker for worker in team if worker.start(next(numbers, None))]
    while busy:
        ready = wait([worker.connection for worker in busy], timeout=0.2)
        for worker in list(busy):
            if worker.connection in ready:
                outcome, where = worker.answer()
            elif time.monotonic() > worker.deadline:
                outcome, where = "hang", f"longer than {campaign.seconds:g} s"
                worker.replace()
            else:
                continue
            tally.outcomes[outcome] += 1
            if outcome in BAD:
                tally.bad.append({"case": worker.number, "outcome": outcome, "where": where})
            if tell and tally.n_cases % 500 == 0:
                print(tally, file=sys.stderr, flush=True)
            if not worker.start(next(numbers, None)):
                busy.remove(worker)
    for worker in team:
        worker.stop()
    tally.cpu_seconds = time.monotonic() - begun
    return tally


class _Worker:
    """A process that tries one case after the other."""

    def __init__(self, campaign: Campaign) -> None:
        self.campaign = campaign
        self.number = -1
        self.deadline = 0.0
        self.connection, self.process = self._spawn()

    def _spawn(self) -> tuple[Connection, mp.process.BaseProcess]:
        context = mp.get_context("spawn")
        ours, theirs = context.Pipe()
        process = context.Process(target=_serve, args=(theirs, self.campaign.name, list(sys.path)), daemon=True)
        process.start()
        theirs.close()
        return ours, process

    def start(self, number: int | None) -> bool:
        if number is None:
            return False
        self.number, self.deadline = number, time.monotonic() + self.campaign.seconds
        self.connection.send(number)
        return True

    def answer(self) -> tuple[str, str]:
        try:
            outcome, where = self.connection.recv()
            return outcome, where
        except EOFError:  # the process died: a crash of compiled code
            self.replace()
            return "raw exception", "the process died"

    def replace(self) -> None:
        self.stop()
        self.connection, self.process = self._spawn()

    def stop(self) -> None:
        self.process.kill()
        self.process.join()
        self.connection.close()


def _serve(connection: Connection, name: str, path: list[str]) -> None:
    sys.path[:] = path
    campaign = load(name)
    while True:
        connection.send(try_case(campaign, connection.recv()))


def main() -> int:
    parser = argparse.ArgumentParser(description=__doc__, formatter_class=argparse.RawDescriptionHelpFormatter)
    parser.add_argument("names", nargs="*", help=f"of {', '.join(NAMES)}; default: all")
    parser.add_argument("--cases", type=int, help="how many; default: the campaign's long run")
    parser.add_argument("--first", type=int, default=0, help="number of the first case")
    parser.add_argument("--workers", type=int, default=2)
    parser.add_argument("--output", type=Path, help="a JSON file for the tallies")
    given = parser.parse_args()
    tallies = []
    for name in given.names or NAMES:
        campaign = load(name)
        tally = run(campaign, given.first, given.cases or campaign.long, workers=given.workers, tell=True)
        tallies.append(tally)
        print(tally, flush=True)
        for one in tally.bad[:20]:
            print(f"  case {one['case']}: {one['outcome']}\n{one['where']}", flush=True)
    if given.output is not None:
        given.output.write_text(json.dumps([tally.as_dict() for tally in tallies], indent=2) + "\n", encoding="utf-8")
    return int(any(tally.bad for tally in tallies))


if __name__ == "__main__":
    sys.exit(main())
