"""MDAV: maximum distance to average vector."""

from __future__ import annotations

from collections.abc import Mapping
from typing import ClassVar, Literal

from microagg._typing import IntArray
from microagg._validation import Choice, Constraint, Integer
from microagg.partition._mdav_search import ALGORITHMS, mdav_cells
from microagg.partition.base import Partitioner
from microagg.space.points import Points

__all__ = ["MDAV"]


class MDAV(Partitioner):
    """Partition records by maximum distance to the average vector (MDAV-generic).

    While at least 3k records remain: take the record r farthest from their centroid and the record s farthest
    from r, and make a cell of each with its k - 1 nearest records. At the end, r and its k - 1 nearest form a
    cell while at least 2k records remain; what is left is the last cell. All cells but the last have exactly k
    records, the last has k to 2k - 1. The workhorse of the field: good cells, no randomness, nothing to tune.

    Parameters
    ----------
    k : int >= 2, default 5
        Smallest allowed number of records in a cell. Larger values protect more and lose more.
    variant : {"generic", "2k"}, default "generic"
        ``"2k"`` follows the listing that later papers print: two cells as long as 2k records remain, and
        leftovers of fewer than k join the last cell. Both give the same partition.
    algorithm : {"auto", "tree", "brute", "plain"}, default "auto"
        How the cells are found, which never changes them: by a search tree, by scanning all remaining records in
        whole numbers with float64 deciding, or by scanning in float64 alone (``"plain"``: slow, for comparison).
        ``"auto"`` takes what is fastest on the data at hand. Records with codes are searched by a tree or by the plain
        scan, which also stands in for ``"brute"``.

    Attributes
    ----------
    labels_ : ndarray of shape (n_records,)
    n_cells_ : int
    sse_ : float

    Notes
    -----
    Privacy: a table in which all records of a cell share one representative is k-anonymous on the attributes
    that were replaced. This class forms cells only; :func:`microagg.release` publishes them.

    Exactness: distances are float64 sums of squares in the order of the columns, ties go to the lowest record
    index, centroids come from compensated sums. The result depends on nothing else. Values beyond 2^256 (or all
    below 2^-256) are first scaled by a power of two.

    Complexity: O(n d) memory; time about n log n in up to four dimensions (also intrinsic ones), O(n^2 d / k) at most.
    How, and why the result is exact: ``docs/algorithms/mdav.md``.

    Departures: [1]_ does not say how ties are broken. The listing of MDAV in some later papers continues while
    more than k records remain, which leaves cells of fewer than k records; that is not MDAV and not done here.

    References
    ----------
    .. [1] Domingo-Ferrer, J. & Torra, V. (2005). Ordinal, continuous and heterogeneous k-anonymity through
       microaggregation. Data Mining and Knowledge Discovery 11(2), 195-212. doi:10.1007/s10618-005-0007-5

    Examples
    --------
    >>> import microagg
    >>> X = [[0.0], [0.1], [0.2], [5.0], [5.1], [9.0], [9.1], [9.2]]
    >>> microagg.MDAV(k=3).fit(X).labels_
    array([0, 0, 0, 1, 1, 1, 1, 1])
    """

    takes_codes: ClassVar[bool] = True
    constraints: ClassVar[Mapping[str, Constraint]] = {
        "k": Integer(2),
        "variant": Choice(("generic", "2k")),
        "algorithm": Choice(ALGORITHMS),
    }

    def __init__(
        self,
        k: int = 5,
        variant: Literal["generic", "2k"] = "generic",
        algorithm: Literal["auto", "tree", "brute", "plain"] = "auto",
    ) -> None:
        self.k = k
        self.variant = variant
        self.algorithm = algorithm

    def _cells_of(self, points: Points) -> IntArray:
        # The smallest number of remaining records from which two cells are formed at once.
        two_cells_from = 3 * self.k if self.variant == "generic" else 2 * self.k
        return mdav_cells(points, int(self.k), two_cells_from, self.algorithm)
