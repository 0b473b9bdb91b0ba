"""How long to search: budgets in steps, and how they depend on the number of records and on k."""

from __future__ import annotations

from dataclasses import dataclass

__all__ = ["EFFORTS", "Effort", "annealing_steps", "number_of_runs"]

_RECOMBINED_UP_TO = 10_000  # records; above, set partitioning takes too long


@dataclass(frozen=True)
class Effort:
    """How long to search.

    Attributes
    ----------
    sweeps : int
        At most this many sweeps.
    steps : float
        Annealing steps per record, for k = 3 and up to 1,000 records (see `annealing_steps`).
    shrink : float
        How fast the steps per record fall with the number of records above 1,000; with 1, the steps stay the same.
    least : float
        Where the steps per record stop to fall (for k = 3).
    longer : float
        How many times these steps are spent in all.
    several : bool
        Whether they are spent on several runs, whose cells are recombined (see `number_of_runs`).
    hottest : float
        The temperature at the start, relative to a pool's SSE; with 0, only gains are accepted. Short runs cool better
        from less.
    """

    sweeps: int
    steps: float
    shrink: float
    least: float
    longer: float = 1.0
    several: bool = False
    hottest: float = 0.1


EFFORTS = {
    "fast": Effort(sweeps=6, steps=14.0, shrink=1.0, least=2.5, hottest=0.05),
    "default": Effort(sweeps=6, steps=240.0, shrink=0.95, least=10.0),
    "best": Effort(sweeps=6, steps=240.0, shrink=1.0, least=4.0, longer=11.0, several=True),
}


def number_of_runs(effort: Effort, n_records: int, k: int) -> int:
    """Independent searches to recombine: more for small k, where that pays; one where records are many."""
    return max(2, min(8, 24 // k)) if effort.several and n_records <= _RECOMBINED_UP_TO else 1


def annealing_steps(effort: Effort, n_records: int, k: int) -> int:
    """Steps of one run: a step costs about k^1.3, and large tables get fewer steps per record.

    Examples
    --------
    >>> annealing_steps(EFFORTS["default"], 1_000, 3)
    240000
    >>> annealing_steps(EFFORTS["default"], 100_000, 10)
    209053
    """
    per_record = max(effort.steps / max(1.0, n_records / 1_000) ** effort.shrink, effort.least)
    share = effort.longer / number_of_runs(effort, n_records, k)
    return int(per_record * (3.0 / k) ** 1.3 * share * n_records)
