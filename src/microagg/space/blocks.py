"""Blocks: attributes split into groups, each of which gets cells of its own."""

from __future__ import annotations

from collections import Counter
from collections.abc import Sequence
from dataclasses import dataclass
from enum import StrEnum

import numpy as np
import numpy.typing as npt

from microagg._typing import IntArray
from microagg.errors import RecipeError, did_you_mean
from microagg.space.points import Points
from microagg.tables.phrases import names_phrase

__all__ = [
    "BlockForm",
    "association",
    "choose_blocks",
    "contiguous_blocks",
    "correlated_blocks",
    "needs_association",
    "spread_blocks",
]

Blocks = tuple[tuple[str, ...], ...]


class BlockForm(StrEnum):
    """How attributes are put into blocks."""

    ONE = "one"
    GIVEN = "given"
    CONTIGUOUS = "contiguous"
    CORRELATED = "correlated"
    SPREAD = "spread"


def contiguous_blocks(names: Sequence[str], size: int) -> Blocks:
    """Blocks of `size` neighbouring attributes; the last may have fewer.

    Examples
    --------
    >>> contiguous_blocks(["a", "b", "c"], 2)
    (('a', 'b'), ('c',))
    """
    return tuple(tuple(names[start : start + size]) for start in range(0, len(names), size))


def correlated_blocks(names: Sequence[str], association: npt.NDArray[np.float64], size: int) -> Blocks:
    """Blocks of `size` attributes that go together: little is lost, and records of different blocks share little.

    The two most associated attributes start a block; then the attribute with the largest mean association to the block
    joins it until it is full; and again with what is left. Ties go to the attribute named first.

    Examples
    --------
    >>> correlated_blocks("abcd", np.array([[1, 0, 0.9, 0], [0, 1, 0, 0.8], [0.9, 0, 1, 0], [0, 0.8, 0, 1]]), 2)
    (('a', 'c'), ('b', 'd'))
    """
    left = list(range(len(names)))
    blocks = []
    while left:
        among = association[np.ix_(left, left)].copy()
        np.fill_diagonal(among, -1.0)
        block = [left[i] for i in np.unravel_index(int(among.argmax()), among.shape)][: min(size, len(left))]
        if len(left) == 1:
            block = left[:1]
        while len(block) < min(size, len(left)):
            outside = [i for i in left if i not in block]
            block.append(outside[int(association[np.ix_(outside, block)].mean(axis=1).argmax())])
        left = [i for i in left if i not in block]
        blocks.append(tuple(names[i] for i in sorted(block)))
    return tuple(blocks)


def spread_blocks(names: Sequence[str], association: npt.NDArray[np.float64], size: int) -> Blocks:
    """Blocks of `size` attributes such that the *blocks* go together: their cells then tend to hold the same records.

    Groups of attributes that go together are formed first, as many in each as there will be blocks; the first block
    takes the first of each group, the second the second, and so on.

    Examples
    --------
    >>> spread_blocks("abcd", np.array([[1, 0, 0.9, 0], [0, 1, 0, 0.8], [0.9, 0, 1, 0], [0, 0.8, 0, 1]]), 2)
    (('a', 'b'), ('c', 'd'))
    """
    n_blocks = -(-len(names) // size)
    groups = correlated_blocks(names, association, n_blocks)
    blocks = tuple(tuple(group[place] for group in groups if place < len(group)) for place in range(n_blocks))
    return tuple(block for block in blocks if block)


def given_blocks(names: Sequence[str], given: Sequence[Sequence[str]]) -> Blocks:
    """Blocks as listed, after checking that each attribute is in just one."""
    listed = [name for block in given for name in block]
    known, counts = set(names), Counter(listed)
    unknown = [name for name in listed if name not in known]
    if unknown:
        hint = did_you_mean(unknown[0], names)
        raise RecipeError(f"blocks.attributes names {unknown[0]!r}, which is not a declared quasi_identifier.{hint}")
    twice = sorted(name for name, count in counts.items() if count > 1)
    if twice:
        raise RecipeError(
            f"blocks.attributes overlap: {names_phrase(list(map(repr, twice)))} must be in one block only"
        )
    absent = [name for name in names if name not in counts]
    if absent:
        raise RecipeError(
            f"blocks.attributes miss {names_phrase(list(map(repr, absent)))}: add to a block, for example attributes = "
            f"[..., {list(absent[:12])!r}]"
        )
    if any(not block for block in given):
        raise RecipeError("blocks.attributes has an empty block: leave it out")
    return tuple(tuple(block) for block in given)


def association(attributes: Sequence[npt.NDArray[np.float64] | Points]) -> npt.NDArray[np.float64]:
    """How strongly attributes go together, in [0, 1]: the square root of the RV coefficient.

    For two attributes of one coordinate each (numbers, ranks) this is the absolute correlation; attributes of several
    coordinates (categories) are compared as wholes. A constant attribute goes with nothing.

    Parameters
    ----------
    attributes : sequence of ndarray of shape (n_records, n_coordinates), or of Points
        Each attribute alone. Codes with a weight per mismatch are counted, not turned into coordinates.
    """
    sides = [_side_of(points) for points in attributes]
    own = np.array([np.sqrt(_shared(side, side)) for side in sides])
    result = np.eye(len(sides))
    for i in range(len(sides)):
        for j in range(i):
            scale = own[i] * own[j]
            result[i, j] = result[j, i] = np.sqrt(_shared(sides[i], sides[j]) / scale) if scale > 0 else 0.0
    return result


@dataclass(frozen=True)
class _Codes:
    """A nominal attribute: its codes, and the squared distance of two that differ."""

    codes: IntArray
    weight: float


def _side_of(attribute: npt.NDArray[np.float64] | Points) -> npt.NDArray[np.float64] | _Codes:
    """Codes as they are, if a weight is all there is to them; centred coordinates otherwise."""
    if isinstance(attribute, Points):
        telling = attribute.telling()
        is_plain = len(telling.nominal) == 1 and telling.nominal[0].table is None
        if is_plain and not telling.numbers.any() and telling.n_numbers == 1:
            return _Codes(telling.values[:, 1].astype(np.int64), telling.nominal[0].weight)
        attribute = telling.coordinates()
    centred: npt.NDArray[np.float64] = attribute - attribute.mean(axis=0)
    return centred


def _shared(one: npt.NDArray[np.float64] | _Codes, two: npt.NDArray[np.float64] | _Codes) -> float:
    """The sum of the squared products of all coordinates of one attribute with all of the other."""
    if isinstance(one, _Codes) and isinstance(two, _Codes):
        # Coordinates are 0 or sqrt(weight / 2): their products are counts of pairs, less what independence would give.
        n_codes = int(two.codes.max()) + 1
        pairs, counts = np.unique(one.codes * n_codes + two.codes, return_counts=True)
        first, second = np.divmod(pairs, n_codes)
        of_one, of_two = (np.bincount(side.codes).astype(np.float64) for side in (one, two))
        n_records = len(one.codes)
        expected = of_one[first] * of_two[second] / n_records
        elsewhere = float(of_one @ of_one) * float(of_two @ of_two) / n_records**2 - float((expected**2).sum())
        found = float(((counts - expected) ** 2).sum()) + max(elsewhere, 0.0)
        return found * one.weight * two.weight / 4.0
    if isinstance(one, _Codes):
        one, two = two, one
    assert not isinstance(one, _Codes)
    if isinstance(two, _Codes):
        sums = np.array([np.bincount(two.codes, weights=column) for column in one.T])
        return float((sums**2).sum()) * two.weight / 2.0
    return float(((one.T @ two) ** 2).sum())


def needs_association(form: BlockForm) -> bool:
    """Whether attributes are put into blocks by how strongly they go together."""
    return form in (BlockForm.CORRELATED, BlockForm.SPREAD)


def choose_blocks(
    form: BlockForm,
    names: Sequence[str],
    *,
    size: int | None = None,
    given: Sequence[Sequence[str]] | None = None,
    points: Sequence[npt.NDArray[np.float64] | Points] = (),
) -> Blocks:
    """Put attributes into blocks.

    Parameters
    ----------
    form : BlockForm
    names : sequence of str
        The quasi-identifiers, in the order of the table.
    size : int
        Attributes per block, for ``contiguous``, ``correlated`` and ``spread``.
    given : sequence of sequences of str
        The blocks, for ``given``.
    points : sequence of ndarray of shape (n_records, n_coordinates), or of Points
        Each attribute in the space, for ``correlated`` and ``spread``.
    """
    if form is BlockForm.ONE:
        return (tuple(names),)
    if form is BlockForm.GIVEN:
        return given_blocks(names, given or ())
    assert size is not None
    if form is BlockForm.CONTIGUOUS:
        return contiguous_blocks(names, size)
    form_blocks = correlated_blocks if form is BlockForm.CORRELATED else spread_blocks
    return form_blocks(names, association(points), size)
