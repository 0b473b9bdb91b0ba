"""Near-optimal cells by local search."""

from __future__ import annotations

from collections.abc import Mapping
from typing import ClassVar, Literal

from microagg._halt import INTERRUPT, StopCondition, attend, current_halt
from microagg._typing import IntArray
from microagg._validation import Choice, Constraint, Flag
from microagg.partition.base import Partitioner
from microagg.partition.local_search.certificate import Certificate, certify
from microagg.partition.local_search.efforts import EFFORTS
from microagg.partition.local_search.starts import start_of_search
from microagg.partition.refine import PATIENCE, SEARCH_PARAMETERS, EffortName, improve_cells
from microagg.space.points import Points

__all__ = ["NearOptimal"]

_CERTIFIED_WITHIN = 120.0  # seconds, if no time limit is given


class NearOptimal(Partitioner):
    """Partition records so that nearly as little is lost as can be.

    Starts from MDAV and searches: pools of neighbouring cells are taken together, their records moved and swapped
    between the cells as long as that lowers the SSE; then pools are disturbed by chance and mended again, and changes
    for the worse are accepted ever more rarely (annealing). At the same k, 10 to 55 % less is lost than by MDAV on the
    field's benchmark files, and never more than by the start (see `start_`). Choose MDAV where its simplicity counts:
    no chance, nothing to explain.

    Parameters
    ----------
    k : int >= 2, default 5
        Smallest allowed number of records in a cell.
    effort : {"fast", "default", "best"}, default "default"
        A budget in steps, not in seconds, so that a seed gives the same cells on any machine: for some thousand records
        about 0.2 s, 1 to 2 s, and 10 to 20 s. ``"best"`` makes several searches, on all cores, and puts the best
        partition together from their cells.
    start : {"auto", "mdav", "split"}, default "auto"
        The partition to begin with: MDAV, or MDAV in each block of a median split, which costs n log n only. ``"auto"``
        takes MDAV for up to 20,000 records, and above where its first cells say that it costs less than a short search:
        for a million records of five attributes, not of thirty.
    random_state : int >= 0 or None, default None
        Seed of the search. None draws one from the system's source of randomness.
    time_limit : float > 0 or None, default None
        Seconds after which the search stops, within about a second, with the best partition found. The result then
        depends on the machine. MDAV is given up for a quicker start where it would outlast the limit.
    certificate : bool, default False
        Whether to prove, after the search, how little can be lost at all. Takes up to `time_limit` seconds more, or two
        minutes without one: enough for k = 3 up to some thousand records and k = 5 up to one thousand.

    Attributes
    ----------
    labels_ : ndarray of shape (n_records,)
    n_cells_ : int
    sse_ : float
    start_ : {"mdav", "split", "median splits"}
        What the search began with. With "mdav" it never loses more than MDAV. "median splits": the time limit ended
        before all records had a cell; the others were halved along their widest attribute.
    stopped_by_ : {"budget", "time limit", "interrupt", "solver limit"}
        What ended the search. An interrupt (Ctrl-C) ends the search, not the program: the best partition found so far
        is the result; before there is a start, or pressed twice, it is raised. "solver limit": the last step of
        ``"best"`` took more than a minute, so that another machine may find other cells with the same seed.
    searched_ : float
        Share of the steps that were taken, 0 to 1.
    certificate_ : Certificate or None
        What was proved, with a sentence (``str(certificate_)``); None if it was not asked for.
    lower_bound_ : float or None
        No partition of these records into cells of at least k has a smaller SSE. None if none was proved.

    Notes
    -----
    Cells have k to 2k - 1 records; a table of fewer than 2k records is one cell. The loss is never above the start's.

    Privacy: the cells are k-anonymous like those of any method. Chance serves the search only and protects nothing.

    Complexity: O(n d k) per sweep and O(d k^2) per step, memory O(n (d + k)); the near records of each record are found
    among all pairs up to 6,000 records, in overlapping median splits above. For k above 1,500 nothing is searched.

    `docs/algorithms/near_optimal.md` tells how it works, `docs/results/near_optimal.md` what was measured.

    Examples
    --------
    >>> X = [[0.0], [0.1], [0.2], [5.0], [5.1], [9.0], [9.1], [9.2]]
    >>> NearOptimal(k=2, random_state=0).fit(X).labels_
    array([0, 0, 0, 1, 1, 2, 2, 2])
    """

    searches_by_chance: ClassVar[bool] = True
    takes_codes: ClassVar[bool] = True
    constraints: ClassVar[Mapping[str, Constraint]] = {
        **SEARCH_PARAMETERS,
        "start": Choice(("auto", "mdav", "split")),
        "certificate": Flag(),
    }

    def __init__(
        self,
        k: int = 5,
        effort: EffortName = "default",
        start: Literal["auto", "mdav", "split"] = "auto",
        random_state: int | None = None,
        time_limit: float | None = None,
        certificate: bool = False,
    ) -> None:
        self.k = k
        self.effort = effort
        self.start = start
        self.random_state = random_state
        self.time_limit = time_limit
        self.certificate = certificate

    def _attended_cells(self, points: Points) -> IntArray:
        halt = StopCondition(self.time_limit)
        labels = attend(lambda: self._label(points), halt, keeps=True)
        if halt.reason == INTERRUPT:  # perhaps after the search
            self.stopped_by_ = INTERRUPT
        return labels

    def _cells_of(self, points: Points) -> IntArray:
        k, halt = int(self.k), current_halt()
        start, self.start_ = start_of_search(points, k, self.start, halt)
        halt.patience = PATIENCE  # from here on there is something to hand over
        refined = improve_cells(points, start, k, EFFORTS[self.effort], self.random_state, halt)
        self.stopped_by_, self.searched_ = refined.stopped_by, refined.share
        self.certificate_: Certificate | None = None
        if self.certificate:
            cells_from = [refined.labels, *(run.labels for run in refined.runs)]
            self.certificate_ = certify(points, cells_from, k, halt.then(self.time_limit or _CERTIFIED_WITHIN))
        self.lower_bound_ = self.certificate_.lower_bound if self.certificate_ else None
        return refined.labels

    def _scale_back(self, exponent: int) -> None:
        if self.certificate_ is not None:
            self.certificate_ = self.certificate_.scaled(exponent)
            self.lower_bound_ = self.certificate_.lower_bound
