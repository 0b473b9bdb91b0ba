"""Numbers as codes: values that many records share, and intervals of at least k records between them.

Where a unit may have several records, "at least k" counts units, all through.
"""

from __future__ import annotations

from collections.abc import Callable
from dataclasses import dataclass

import numpy as np

from microagg._scaling import exponents_near_one, times_power_of_two
from microagg._typing import BoolArray, FloatArray, IntArray
from microagg.aggregate.units import count_units, counted_word, units_per_code
from microagg.errors import GuaranteeError

__all__ = ["LEAST_OF_INTERVAL", "MISSING", "PLACES", "SharedNumbers", "find_shared_numbers", "require_shared"]


MISSING = -1
"""The code of a missing value."""

PLACES = tuple((place - 10) / 10.5 for place in range(21))
"""Where an interval is published: parts of its half-width on both sides of its mean."""

LEAST_OF_INTERVAL = 5
"""The fewest records of an interval where k is less: mean and spread of two tell both, of three or four nearly all."""

_HALF_WIDTH = 3.0**0.5  # of a uniform distribution, in standard deviations


@dataclass(frozen=True)
class SharedNumbers:
    """An attribute as codes, in the order of what they say.

    Attributes
    ----------
    codes : ndarray of shape (n_records,)
        :data:`MISSING` where the number is.
    speaks : ndarray of bool, shape (n_records,)
        Which records have a part in what their code says. Records of a gap between shared values that holds fewer
        than k of them have none: they are told as the nearest code. Nor have those whose number was filled in.
    centres, half_widths : ndarrays of shape (n_codes,)
        The shared value and 0, or mean and half-width of an interval.
    is_value : ndarray of bool, shape (n_codes,)
        Whether a code is one value that many records share.
    """

    codes: IntArray
    speaks: BoolArray
    centres: FloatArray
    half_widths: FloatArray
    is_value: BoolArray

    @property
    def sizes(self) -> IntArray:
        """How many records have a part in what each code says."""
        return np.bincount(self.codes[self.speaks], minlength=len(self.centres))

    def places(self, published: Callable[[FloatArray], FloatArray]) -> FloatArray:
        """The numbers that stand for each code, of shape (n_codes, n_places); equal ones where a value is shared.

        None is -0.0, which text shows as a number of its own: one record's sign must not become that of all.

        Parameters
        ----------
        published : callable
            From numbers to numbers as they are published: rounded, within bounds.
        """
        return published(self.centres[:, None] + self.half_widths[:, None] * np.array(PLACES)) + 0.0


def find_shared_numbers(
    values: FloatArray,
    k: int,
    *,
    share: int | None = None,
    units: IntArray | None = None,
    filled_in: BoolArray | None = None,
    what: str = "an attribute",
) -> SharedNumbers:
    """Find the values that at least `share` records have, and cut the others into intervals of at least k records.

    Parameters
    ----------
    values : ndarray of shape (n_records,)
        NaN is missing.
    k : int
    share : int, optional
        Default: k.
    units : ndarray of shape (n_records,), optional
        Whose each record is: 0, 1, ...; k and `share` then count units.
    filled_in : ndarray of bool, shape (n_records,), optional
        Records whose number is not their own: they are told as others are, and count for none.
    what : str
        Whose numbers they are, for the error.

    Raises
    ------
    GuaranteeError
        Fewer than k records (or units) have a value, or too few for an interval and no value that is shared: nothing
        can be said about any of them.

    Notes
    -----
    The numbers between two shared values that follow each other are a *gap*. A gap of at least k records is cut, from
    its smallest number on, into intervals of at least k; what is left over joins the last. Nothing is said of a gap
    with fewer: its records are told as the nearest code. Where k is below :data:`LEAST_OF_INTERVAL`, that is meant.

    An interval publishes its mean and half-width, sqrt(3) standard deviations of the population, but no farther than to
    the centre of the code beside it: what is published of an interval depends on numbers that at least k records
    (`share` for shared values) make, and never on where it begins or ends. All of them count alike, whatever their
    sampling weights are: the mean of an interval in which one record has nearly all the weight would be its number.
    So do units where one may have several records: each has one part in mean and spread, shared by its records there.

    Examples
    --------
    >>> found = find_shared_numbers(np.array([0.0, 0.0, 0.0, 2.0, 3.0, 5.0, 7.0, 8.0]), 3)
    >>> found.codes, found.centres, found.is_value
    (array([0, 0, 0, 1, 1, 1, 1, 1]), array([0., 5.]), array([ True, False]))
    """
    known = ~np.isnan(values)
    counted = known if filled_in is None else known & ~filled_in
    distinct, which = np.unique(values[known], return_inverse=True)
    holders = _Holders(which[counted[known]], len(distinct), None if units is None else units[counted])
    is_shared = holders.counts >= (k if share is None else min(share, k))
    least = max(k, LEAST_OF_INTERVAL)
    n_counted = count_units(units, counted)
    if n_counted < (k if is_shared.any() else least):
        raise GuaranteeError(
            f"numbers of fewer than {least} records cannot be told: {what} has {n_counted} values, and none that many "
            "share. Nothing was written"
            if units is None
            else f"numbers of fewer than {least} units cannot be told: {n_counted} units have a value of {what}, and "
            "there is none that many share. Nothing was written"
        )
    code_of, own = _codes_of(distinct, holders, is_shared, least)
    codes = np.full(len(values), MISSING, dtype=np.int64)
    speaks = np.zeros(len(values), dtype=bool)
    codes[known], speaks[known] = code_of[which], own[which] & counted[known]
    centres, spreads = _means_and_spreads(
        values[known], codes[known], speaks[known], None if units is None else units[known]
    )
    is_value = np.zeros(len(centres), dtype=bool)
    is_value[code_of[is_shared]] = True
    centres[code_of[is_shared]] = distinct[is_shared]  # to the last digit
    order = np.argsort(centres, kind="stable")
    centres, is_value = centres[order], is_value[order]
    half = np.where(is_value, 0.0, _HALF_WIDTH * spreads[order])
    beside = np.diff(centres, prepend=-np.inf, append=np.inf)
    half = np.minimum(half, np.minimum(beside[:-1], beside[1:]))
    codes[known] = np.argsort(order)[codes[known]]
    found = SharedNumbers(codes, speaks, centres, half, is_value)
    require_shared(found, values, k, share=share, units=units)
    return found


class _Holders:
    """Who has each distinct number: so many records, or units where one may have several."""

    def __init__(self, which: IntArray, n_numbers: int, units: IntArray | None) -> None:
        self.counts = units_per_code(which, n_numbers, units)
        self._units = None
        if units is not None:
            order = np.argsort(which, kind="stable")
            self._units = np.split(units[order], np.cumsum(np.bincount(which, minlength=n_numbers))[:-1])

    def together(self, first: int, last: int) -> int:
        """How many have one of the numbers from `first` to before `last`."""
        if self._units is None:
            return int(self.counts[first:last].sum())
        return len(np.unique(np.concatenate(self._units[first:last])))

    def cut(self, first: int, last: int, least: int) -> IntArray:
        """Neighbours put together until so many have one of them; those left over join the last."""
        parts = np.empty(last - first, dtype=np.int64)
        part = gathered = 0
        who: set[int] = set()
        for place, count in enumerate(self.counts[first:last].tolist()):
            parts[place] = part
            if self._units is None:
                gathered += count
            else:
                who.update(self._units[first + place].tolist())
                gathered = len(who)
            if gathered >= least:
                part, gathered, who = part + 1, 0, set()
        return np.minimum(parts, part - 1)


def _codes_of(distinct: FloatArray, holders: _Holders, is_shared: BoolArray, least: int) -> tuple[IntArray, BoolArray]:
    """The code of each distinct number, and whether its records have a part in what the code says."""
    codes = np.full(len(distinct), MISSING, dtype=np.int64)
    n_codes = 0
    for first, last in _runs(is_shared):
        if is_shared[first]:
            codes[first:last] = np.arange(n_codes, n_codes + last - first)
            n_codes += last - first
            continue
        if holders.together(first, last) >= least:
            intervals = holders.cut(first, last, least)
            codes[first:last] = n_codes + intervals
            n_codes += int(intervals[-1]) + 1
    own = codes != MISSING
    if not own.all():
        there = np.flatnonzero(own)
        above = np.clip(np.searchsorted(distinct[there], distinct), 1, max(len(there) - 1, 1))
        below, above = there[above - 1], there[np.minimum(above, len(there) - 1)]
        nearest = np.where(distinct - distinct[below] <= distinct[above] - distinct, below, above)
        codes = np.where(own, codes, codes[nearest])
    return codes, own


def _runs(flags: BoolArray) -> list[tuple[int, int]]:
    """First and last place of each run of equal flags."""
    borders = np.flatnonzero(np.diff(flags)) + 1
    return list(zip([0, *borders.tolist()], [*borders.tolist(), len(flags)], strict=True))


def _means_and_spreads(
    values: FloatArray, codes: IntArray, speaks: BoolArray, units: IntArray | None
) -> tuple[FloatArray, FloatArray]:
    """Mean and standard deviation of the records, or units, of each code, from those that have a part in it."""
    values, codes = values[speaks], codes[speaks]
    n_codes = int(codes.max()) + 1
    parts = _parts(codes, None if units is None else units[speaks])
    total = np.bincount(codes, weights=parts, minlength=n_codes)
    # Each code on a scale of its own: squares of huge numbers would overflow, and tiny ones vanish beside these.
    largest = np.zeros(n_codes)
    np.maximum.at(largest, codes, np.abs(values))
    scales = exponents_near_one(largest)
    values = times_power_of_two(values, scales[codes])
    smallest = np.full(n_codes, np.inf)
    np.minimum.at(smallest, codes, values)
    # From the smallest on, so that a common offset costs no digits.
    means = np.bincount(codes, weights=parts * (values - smallest[codes]), minlength=n_codes) / total + smallest
    squares = np.bincount(codes, weights=parts * (values - means[codes]) ** 2, minlength=n_codes) / total
    return times_power_of_two(means, -scales), times_power_of_two(np.sqrt(squares), -scales)


def _parts(codes: IntArray, units: IntArray | None) -> FloatArray:
    """The part of each record in what its code says: equal ones, or equal ones of units that its records share."""
    if units is None:
        return np.ones(len(codes))
    _, of_pair, n_records = np.unique(codes * (int(units.max()) + 1) + units, return_inverse=True, return_counts=True)
    parts: FloatArray = 1.0 / n_records[of_pair]
    return parts


def require_shared(
    found: SharedNumbers, values: FloatArray, k: int, *, share: int | None = None, units: IntArray | None = None
) -> None:
    """Count anew who has a part in what each code says; nothing is drawn from fewer than was promised.

    Raises
    ------
    GuaranteeError
        An interval of fewer than k records (or units), or a shared value of fewer than `share`, or of records with
        others.
    """
    least = np.where(found.is_value, k if share is None else min(share, k), max(k, LEAST_OF_INTERVAL))
    of_speaking = None if units is None else units[found.speaks]
    holders = units_per_code(found.codes[found.speaks], len(found.centres), of_speaking)
    short = int((holders < least).sum())
    of_values = found.speaks & (found.codes >= 0) & found.is_value[found.codes]
    others = int((values[of_values] != found.centres[found.codes[of_values]]).sum())
    if short or others:
        raise GuaranteeError(
            f"{short} intervals or shared values of a number come from fewer {counted_word(units)} than "
            f"promised, and {others} records have no part in what they were counted for. Nothing was written"
        )
