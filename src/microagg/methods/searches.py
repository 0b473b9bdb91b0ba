"""What a search for cells came to, in the words of the statement and the figures of the manifest."""

from __future__ import annotations

from collections.abc import Mapping, Sequence
from dataclasses import dataclass
from typing import Any

import numpy as np

from microagg._halt import BUDGET, INTERRUPT, TIME_LIMIT
from microagg.partition.local_search.starts import MDAV, MEDIAN_SPLITS, SPLIT
from microagg.tables.phrases import columns_phrase

__all__ = ["CUT", "ENDS", "OF_SEARCH", "REMARKS", "STARTS", "Searches", "require_uninterrupted", "told_of_limit"]

OF_SEARCH, CUT = "the search for cells of ", " was stopped by its time limit of "

_SOLVER_LIMIT = "solver limit"
ENDS = (BUDGET, TIME_LIMIT, _SOLVER_LIMIT)
"""What may have ended a search for a release."""
STARTS = (MDAV, SPLIT, MEDIAN_SPLITS)
"""What a search may have begun with."""

REMARKS = (
    rf"{OF_SEARCH}<columns>{CUT}<number> s after <count> % of its steps<groups>; with more time less might be lost\. "
    r"What a search finds in a given time depends on the machine: a seed does not repeat it",
    rf"the last step of {OF_SEARCH}<columns> was stopped by its own limit in seconds<groups>: with the same seed "
    r"another machine may find other cells",
    rf"{OF_SEARCH}<columns> did not begin with MDAV's cells, which would have taken too long, but with cells formed "
    r"more quickly<groups>: that it loses no more than MDAV is likely, not certain",
    r"of <count> records whose cells were formed together: (This partition loses <number> %; no lower bound was proved "
    r"within the limits\.|No partition of these records with cells of at least <k> can lose less than <number> %; this "
    r"one loses <number> %\.( The search for a higher bound was not finished\.)?)",
)
"""All that may be said about searches; ``<count>`` and the like as in `check_remarks`."""


def require_uninterrupted(fitted: Any) -> None:
    """A search that is interrupted has its best so far; a release is not made of that, it is given up."""
    if getattr(fitted, "stopped_by_", None) == INTERRUPT:
        raise KeyboardInterrupt


def told_of_limit(options: Mapping[str, Any]) -> list[str]:
    """That searches have a time limit, in words that no record has a part in, for private releases."""
    limit = options.get("time_limit")
    if limit is None:
        return []
    return [
        f"searches for cells had a time limit of {limit:g} s each: what they find depends on the machine, and a seed "
        "does not repeat it"
    ]


@dataclass(frozen=True)
class Searches:
    """The searches for the cells of one block, one for each group of records.

    Attributes
    ----------
    fitted : sequence of partitioners
        Those that do not search say nothing.
    time_limit : float or None
        Seconds, of each search.
    """

    fitted: Sequence[Any]
    time_limit: float | None = None

    @property
    def facts(self) -> dict[str, Any]:
        """What ended the searches and what they began with, for the manifest."""
        stopped = [one.stopped_by_ for one in self._searched]
        if not stopped:
            return {}
        cut = [one.searched_ for one in self._searched if one.stopped_by_ == TIME_LIMIT]
        return {
            "searches": len(stopped),
            "stopped_by": {reason: stopped.count(reason) for reason in dict.fromkeys(stopped)},
            "started_from": {how: self._starts.count(how) for how in dict.fromkeys(self._starts)},
            **({"time_limit": self.time_limit, "share_of_steps": round(float(np.mean(cut)), 4)} if cut else {}),
        }

    def remarks(self, attributes: Sequence[str]) -> list[str]:
        """What a reader must know of searches that were cut, or could not begin with MDAV's cells."""
        found = []
        of = f"{OF_SEARCH}{columns_phrase(attributes)}"
        cut = [one for one in self._searched if one.stopped_by_ == TIME_LIMIT]
        if cut:
            share = 100.0 * float(np.mean([one.searched_ for one in cut]))
            found.append(
                f"{of}{CUT}{self.time_limit:g} s after {share:.0f} % of its steps"
                f"{self._of_groups(len(cut))}; with more time less might be lost. What a search finds in a given time "
                "depends on the machine: a seed does not repeat it"
            )
        unfinished = sum(one.stopped_by_ == _SOLVER_LIMIT for one in self._searched)
        if unfinished:
            found.append(
                f"the last step of {of} was stopped by its own limit in seconds{self._of_groups(unfinished)}: with the "
                "same seed another machine may find other cells"
            )
        others = sum(how != MDAV for how in self._starts)
        if others:
            found.append(
                f"{of} did not begin with MDAV's cells, which would have taken too long, but with cells formed more "
                f"quickly{self._of_groups(others)}: that it loses no more than MDAV is likely, not certain"
            )
        return found

    @property
    def _searched(self) -> list[Any]:
        return [one for one in self.fitted if hasattr(one, "stopped_by_")]

    @property
    def _starts(self) -> list[str]:
        return [one.start_ for one in self._searched]

    def _of_groups(self, count: int) -> str:
        return f" in {count} of {len(self._searched)} groups of records" if len(self._searched) > 1 else ""
