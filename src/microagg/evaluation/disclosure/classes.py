"""Classes: records that have the same combination of quasi-identifiers, and how many have it in a population."""

from __future__ import annotations

from collections.abc import Sequence
from dataclasses import dataclass, replace
from functools import cached_property

import numpy as np

from microagg._labels import label_combinations
from microagg._typing import FloatArray, IntArray
from microagg.evaluation.pairs import codes_of, join
from microagg.tables.frames import Frame

__all__ = ["Classes", "classes_of", "population_sizes", "unique_without"]


@dataclass(frozen=True)
class Classes:
    """The classes of a table.

    Attributes
    ----------
    labels : ndarray of shape (n_records,)
        The class of each record, 0 to n_classes - 1.
    codes : tuple of ndarray of shape (n_records,)
        For each quasi-identifier whole numbers that are equal where its values are; missing is a value of its own.
    """

    labels: IntArray
    codes: tuple[IntArray, ...]

    @cached_property
    def sizes(self) -> IntArray:
        """f: how many records each class has."""
        return np.bincount(self.labels).astype(np.int64)

    @cached_property
    def codes_of_classes(self) -> tuple[IntArray, ...]:
        """For each quasi-identifier the code that the records of a class share, class by class."""
        first = np.empty(len(self.sizes), dtype=np.int64)
        first[self.labels[::-1]] = np.arange(len(self.labels) - 1, -1, -1)
        return tuple(codes[first] for codes in self.codes)

    def sums(self, values: FloatArray) -> FloatArray:
        """What the records of each class have together, as of sampling weights."""
        return np.bincount(self.labels, weights=values).astype(np.float64)


def classes_of(table: Frame, names: Sequence[str]) -> Classes:
    """Put records with equal values of all named columns into classes.

    Numbers are compared as they are: 1 and 1.0 are equal, 1 and 1.1 are not. A missing value equals a missing value and
    nothing else.
    """
    codes = tuple(codes_of(table, name) for name in names)
    return Classes(label_combinations(codes, table.n_records), codes)


def population_sizes(table: Frame, population: Frame, names: Sequence[str]) -> IntArray:
    """F: how many records of a population have the combination of each class of a table; exact, 0 where none has.

    Classes are numbered as :func:`classes_of` numbers them.

    Notes
    -----
    Complexity: O(n + population) for the first quasi-identifier; for each further one only records of the population
    that agree with some record of the table on all before are looked at.
    """
    n_records = table.n_records
    labels, kept = np.zeros(n_records, dtype=np.int64), None
    of_population = np.zeros(population.n_records, dtype=np.int64)
    for name in names:
        there = population.column(name)
        if kept is not None:
            there = replace(there, array=there.array.take(kept))
        codes = join(table.column(name), there).codes
        # Labels are given by first occurrence: those of the table's records come first, and are those of its classes.
        joined = label_combinations([np.concatenate([labels, of_population]), codes], len(codes))
        labels, of_population = joined[:n_records], joined[n_records:]
        shared = np.flatnonzero(of_population <= labels.max(initial=-1))
        of_population = of_population[shared]
        kept = shared if kept is None else kept[shared]
    return np.bincount(of_population, minlength=int(labels.max(initial=-1)) + 1).astype(np.int64)


def unique_without(classes: Classes) -> IntArray:
    """For each quasi-identifier, how many records would be unique if it alone were not known.

    Notes
    -----
    Complexity: O(n_classes) per quasi-identifier. Records that agree on all others are labelled once from the first
    quasi-identifier on and once from the last back, and each of the two is continued instead of begun anew.

    Examples
    --------
    >>> codes = (np.array([0, 0, 1, 2]), np.array([0, 1, 1, 1]))
    >>> unique_without(Classes(label_combinations(codes, 4), codes))
    array([1, 2])
    """
    codes, n_classes = classes.codes_of_classes, len(classes.sizes)
    after = [np.zeros(n_classes, dtype=np.int64)]
    for one in codes[:0:-1]:
        after.append(label_combinations([after[-1], one], n_classes))
    before, found = after[0], []
    for one, rest in zip(codes, reversed(after), strict=True):
        labels = label_combinations([before, rest], n_classes)
        # A class of several records stays one, whatever else is not known.
        found.append(int((np.bincount(labels, weights=classes.sizes) == 1).sum()))
        before = label_combinations([before, one], n_classes)
    return np.array(found, dtype=np.int64)
