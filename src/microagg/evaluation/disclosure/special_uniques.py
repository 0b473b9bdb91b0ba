"""Special uniques: records that few of their quasi-identifiers already single out, and their SUDA scores.

A *minimal sample unique* (MSU) of a record is a set of quasi-identifiers on which it is alone, while it is alone on no
smaller set of them. The search walks over sets of quasi-identifiers, every set after its subsets, and looks at classes
instead of records. On the way down a set it leaves out classes that can tell nothing any more: those that are alone
already, as a larger set cannot be minimal for them, and those among whom no record is unique on all quasi-identifiers.
"""

from __future__ import annotations

from collections.abc import Sequence
from dataclasses import dataclass, field
from math import comb, prod

import numpy as np
import numpy.typing as npt

from microagg._labels import label_combinations
from microagg._typing import BoolArray, FloatArray, IntArray
from microagg.evaluation.disclosure.classes import Classes

__all__ = ["SpecialUniques", "affordable_size", "find_special_uniques", "msu_score"]

_MOST_WORK = 100_000_000  # classes times sets of attributes: some seconds
_CLASSES_PER_SET = 2_000  # a set takes as long as so many classes, however few there are
_KEYS_PER_RECORD = 8  # so many possible keys per class are counted in a list, more in a hash table


@dataclass(frozen=True)
class SpecialUniques:
    """Minimal sample uniques and SUDA scores of a table.

    Attributes
    ----------
    largest_size : int
        MSUs of more attributes were not looked for: M of the scores. 0 if there are fewer than two attributes.
    classes : ndarray of shape (n_uniques,)
        The classes of one record.
    scores : ndarray of shape (n_uniques,)
        The SUDA score of each; 0 where there is no MSU of at most `largest_size` attributes.
    smallest : ndarray of shape (n_uniques,)
        How many attributes the smallest MSU of each has; 0 where there is none.
    msus : tuple of int
        How many MSUs of 1, 2, ..., `largest_size` attributes all records have together.
    contributions : ndarray of shape (n_attributes,)
        The share of the sum of scores that comes from MSUs with the attribute. An MSU of two counts for both.
    """

    largest_size: int
    classes: IntArray = field(repr=False)
    scores: FloatArray = field(repr=False)
    smallest: IntArray = field(repr=False)
    msus: tuple[int, ...]
    contributions: FloatArray = field(repr=False)


def msu_score(size: int, largest_size: int, n_attributes: int) -> float:
    """What one MSU adds to a record's score: the product of (n_attributes - i) for i from `size` to `largest_size`.

    Examples
    --------
    >>> msu_score(1, 3, 4), msu_score(2, 3, 4), msu_score(3, 3, 4)
    (6.0, 2.0, 1.0)
    """
    return float(prod(n_attributes - i for i in range(size, largest_size + 1)))


def affordable_size(n_classes: int, n_attributes: int) -> int:
    """The largest size of MSUs that takes some seconds to look for: at most one less than there are attributes.

    Examples
    --------
    >>> affordable_size(1_000, 8), affordable_size(1_000_000, 8), affordable_size(1_000_000, 500)
    (7, 3, 1)
    """
    size, n_sets = 0, 0
    for size in range(1, n_attributes):
        n_sets += comb(n_attributes, size)
        if n_sets * (n_classes + _CLASSES_PER_SET) > _MOST_WORK:
            return max(size - 1, 1)
    return size


def find_special_uniques(classes: Classes, largest_size: int | None = None) -> SpecialUniques:
    """Find all MSUs of at most `largest_size` attributes, and the SUDA scores of the records that have them.

    Parameters
    ----------
    classes : Classes
    largest_size : int, optional
        Default: :func:`affordable_size`. An MSU of all attributes has no score, so that there is one less at most.

    Notes
    -----
    Complexity: O(n_classes) per set of attributes, of which there are the sum of C(n_attributes, size); less where
    classes are alone on small sets already. Memory: one truth value per unique record and set below the largest size.

    References
    ----------
    .. [1] Elliot, M. J., Manning, A. M. & Ford, R. W. (2002). A computational algorithm for handling the special
       uniques problem. IJUFKS 10(5), 493-509. doi:10.1142/S0218488502001600
    """
    n_attributes = len(classes.codes)
    if largest_size is None:
        largest_size = affordable_size(len(classes.sizes), n_attributes)
    largest_size = min(largest_size, n_attributes - 1)
    # Classes of one record come first: whether a class is one of them is then told by its place.
    order = np.argsort(classes.sizes != 1, kind="stable")
    n_alone = int((classes.sizes == 1).sum())
    search = _Search([codes[order] for codes in classes.codes_of_classes], n_alone, largest_size)
    if n_alone and largest_size:
        search.run()
    total = float(search.scores.sum())
    return SpecialUniques(
        largest_size,
        order[:n_alone],
        search.scores,
        search.smallest,
        tuple(search.msus),
        search.contributions / total if total else search.contributions,
    )


class _Search:
    """A walk over sets of attributes, and what it found."""

    def __init__(self, codes: Sequence[IntArray], n_alone: int, largest_size: int) -> None:
        self.codes = [label_combinations([one], len(one)).astype(np.int32) for one in codes]
        self.n_codes = [int(one.max(initial=-1)) + 1 for one in self.codes]
        self.n_alone = n_alone
        self.largest_size = largest_size
        self.scores = np.zeros(n_alone)
        self.smallest = np.zeros(n_alone, dtype=np.int64)
        self.msus = [0] * largest_size
        self.contributions = np.zeros(len(codes))
        self._alone_on: dict[tuple[int, ...], BoolArray] = {(): np.zeros(n_alone, dtype=bool)}

    def run(self) -> None:
        n_classes = len(self.codes[0])
        self._descend((), np.arange(n_classes, dtype=np.int32), np.zeros(n_classes, dtype=np.int64), 1)

    def _descend(self, attributes: tuple[int, ...], active: IntArray, labels: IntArray, n_labels: int) -> None:
        """Add one attribute after another to a set.

        Parameters
        ----------
        attributes : tuple of int
            The set, from its last attribute to its first; only earlier ones are added. So every set comes after all
            its subsets: read as a binary number with the first attribute as its lowest digit, numbers only grow.
        active : ndarray
            The classes that can still have an MSU beyond this set, or keep others from having one, in their order.
        labels : ndarray
            Equal where active classes agree on the set, 0 to `n_labels` - 1.
        """
        n_active_alone = int(np.searchsorted(active, self.n_alone))
        for added in range(attributes[-1] if attributes else len(self.codes)):
            larger = (*attributes, added)
            below, n_below = _refine(labels, n_labels, self.codes[added][active], self.n_codes[added])
            counts = np.bincount(below, minlength=n_below)
            alone = counts[below[:n_active_alone]] == 1
            found = active[:n_active_alone][alone]
            self._enter(larger, found)
            if len(larger) == self.largest_size:
                continue
            flags = self._alone_on[attributes].copy()
            flags[found] = True
            self._alone_on[larger] = flags
            can_tell = np.zeros(n_below, dtype=bool)
            can_tell[below[:n_active_alone]] = True
            can_tell &= counts > 1
            left = can_tell[below]
            if left.any():
                renumbered = np.cumsum(can_tell) - 1
                self._descend(larger, active[left], renumbered[below[left]], int(renumbered[-1]) + 1)

    def _enter(self, attributes: tuple[int, ...], found: IntArray) -> None:
        """Of records that are alone on a set, but not on its largest subset of later attributes, enter the MSUs."""
        minimal = np.ones(len(found), dtype=bool)
        for left_out in attributes[:-1]:
            minimal &= ~self._flags(tuple(one for one in attributes if one != left_out))[found]
        records, size = found[minimal], len(attributes)
        if not len(records):
            return
        score = msu_score(size, self.largest_size, len(self.codes))
        self.scores[records] += score
        known = self.smallest[records]
        self.smallest[records] = np.where(known == 0, size, np.minimum(known, size))
        self.msus[size - 1] += len(records)
        self.contributions[list(attributes)] += score * len(records)

    def _flags(self, attributes: tuple[int, ...]) -> BoolArray:
        """Which records are alone on a set. The walk left out sets that single out no more records than a part."""
        while attributes not in self._alone_on:  # ends at the empty set at the latest
            attributes = attributes[:-1]
        return self._alone_on[attributes]


def _refine(labels: IntArray, n_labels: int, codes: npt.NDArray[np.int32], n_codes: int) -> tuple[IntArray, int]:
    """Labels of records that agree in `labels` and `codes`, and how many labels there may be."""
    keys = labels * n_codes + codes
    if n_labels * n_codes <= _KEYS_PER_RECORD * len(keys) + 1024:
        return keys, n_labels * n_codes
    dense = label_combinations([labels, codes], len(keys))
    return dense, int(dense.max(initial=-1)) + 1
