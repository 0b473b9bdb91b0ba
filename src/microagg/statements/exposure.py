"""What k does not hide, in numbers: cells that agree, values that are unique, categories that are gone.

k-anonymity keeps a record from being told apart by its quasi-identifiers. It does not keep the confidential values of a
class of equal records from being the same, nor a column that is published as it is from naming its record, nor a small
group from vanishing into a larger one. How far it does not is counted here, exactly for the data holder; the public
form is rounded, and silent about fewer than max(k, 10) records, or units where a unit may have several records.
"""

from __future__ import annotations

import json
from collections.abc import Callable, Mapping, Sequence
from dataclasses import dataclass, replace
from typing import TYPE_CHECKING, Any

import numpy as np

from microagg._typing import IntArray
from microagg.evaluation.diversity import agreeing_records, single_values
from microagg.evaluation.pairs import combinations
from microagg.privacy.guarantee import K_ANONYMITY
from microagg.privacy.verify import Finding
from microagg.schema.attribute import Kind, Role
from microagg.schema.units import unit_codes
from microagg.statements.exposure_text import LEAST_SHOWN, UNITS, coarse_count
from microagg.tables.frames import Frame

if TYPE_CHECKING:
    import pyarrow as pa

    from microagg.recipe.recipe import Recipe

__all__ = ["Categories", "Exposure", "compare_exposure", "exposure_of", "recheck_exposure"]

_NAMED = 5
_EXACT = 20
_NAME = "what k does not hide"


@dataclass(frozen=True)
class Agreement:
    """How many records are in classes that agree in a confidential attribute; in the worst of several blocks."""

    attribute: str
    classes_of: tuple[str, ...]
    records: int


@dataclass(frozen=True)
class Singles:
    """How many values of an attribute that is published as it is occur once."""

    attribute: str
    values: int


@dataclass(frozen=True)
class Categories:
    """Categories of a quasi-identifier before and after, and those that are gone or halved with their records.

    ``units`` has, where a unit may have several records, the units of each category before; None where none may.
    """

    attribute: str
    before: int
    after: int
    vanished: Mapping[str, int]
    shrunk: Mapping[str, tuple[int, int]]
    units: Mapping[str, frozenset[int]] | None = None

    def few(self, least: int) -> set[str]:
        """Categories that are gone or halved and that fewer than `least` records, or units, had."""
        if self.units is None:
            return {label for label, count in self.vanished.items() if count < least}
        return {label for label in (*self.vanished, *self.shrunk) if len(self.units[label]) < least}

    def n_hidden(self, least: int) -> int:
        """Of how many records, or units, those categories are that are gone and cannot be named."""
        few = self.few(least) & set(self.vanished)
        if self.units is None:
            return sum(self.vanished[label] for label in few)
        return len(frozenset().union(*(self.units[label] for label in few)))

    @classmethod
    def between(cls, attribute: str, before: Mapping[str, int], after: Mapping[str, int]) -> Categories:
        """From the records of each category before and after."""
        gone = {label: count for label, count in before.items() if label not in after}
        halved = {
            label: (count, after[label])
            for label, count in before.items()
            if label in after and 2 * after[label] < count
        }
        return cls(
            attribute,
            len(before),
            len(after),
            dict(sorted(gone.items(), key=lambda item: (-item[1], item[0]))),
            dict(sorted(halved.items(), key=lambda item: (item[1][1] - item[1][0], item[0]))),
        )


@dataclass(frozen=True)
class Exposure:
    """What k does not hide, counted. Internal, except for :meth:`public`.

    Attributes
    ----------
    k, n_records : int
    agreements : tuple of Agreement
    singles : tuple of Singles
    categories : tuple of Categories
        Empty where the original is not at hand.
    blocks : tuple of tuples of str
        The attributes of each promise of k-anonymity.
    """

    k: int
    n_records: int
    agreements: tuple[Agreement, ...]
    singles: tuple[Singles, ...]
    categories: tuple[Categories, ...]
    blocks: tuple[tuple[str, ...], ...] = ()

    @property
    def least(self) -> int:
        return max(self.k, LEAST_SHOWN)

    def public(self) -> list[dict[str, Any]]:
        """What may be published: shares in whole percent, counts in two digits, nothing of fewer than max(k, 10).

        How much a category lost is given in tenths: together with how many have it still, more would show how many
        had it.
        """
        n, least = self.n_records, self.least
        entries: list[dict[str, Any]] = []
        for one in self.agreements:
            few = one.records < least or 0 < n - one.records < least
            entries.append(
                {
                    "what": "agreement",
                    "attribute": one.attribute,
                    "classes_of": list(one.classes_of),
                    "share": None if few else round(one.records / n, 2),
                    **({"fewer_than": least, "all_but": one.records >= least} if few else {}),
                }
            )
        entries += [
            {
                "what": "unique_values",
                "attribute": one.attribute,
                "values": coarse_count(one.values),
                "share": round(one.values / n, 2),
            }
            for one in self.singles
            if one.values >= least
        ]
        for gone in self.categories:
            # Figures of those that are not named would show how many there were, if few had them.
            hidden, unnamed = gone.n_hidden(least), gone.few(least)
            named = [label for label in gone.vanished if label not in unnamed]
            shrunk = {
                label: two for label, two in gone.shrunk.items() if two[0] - two[1] >= least and label not in unnamed
            }
            if not gone.vanished and not shrunk:
                continue
            few = 0 < hidden < least
            entries.append(
                {
                    "what": "categories",
                    "attribute": gone.attribute,
                    "before": None if few else coarse_count(gone.before),
                    "after": coarse_count(gone.after),
                    **({"fewer_than": least} if few else {}),
                    **({"counted": UNITS} if few and gone.units is not None else {}),
                    "vanished": named[:_NAMED],
                    "shrunk": [
                        {"category": label, "lost": min(round(1 - after / before, 1), 0.9)}
                        for label, (before, after) in list(shrunk.items())[:_NAMED]
                    ],
                }
            )
        return entries

    def exact(self) -> list[dict[str, Any]]:
        """All of it as it was counted, for the data holder only."""
        n = max(self.n_records, 1)
        return [
            *(
                {
                    "what": "agreement",
                    "attribute": one.attribute,
                    "classes_of": list(one.classes_of),
                    "records": one.records,
                    "share": one.records / n,
                }
                for one in self.agreements
            ),
            *(
                {"what": "unique_values", "attribute": one.attribute, "values": one.values, "share": one.values / n}
                for one in self.singles
                if one.values
            ),
            *(
                {
                    "what": "categories",
                    "attribute": one.attribute,
                    "before": one.before,
                    "after": one.after,
                    "vanished": [f"{label} ({count})" for label, count in list(one.vanished.items())[:_EXACT]],
                    "shrunk": [
                        {"category": label, "lost": 1 - after / before, "before": before, "after": after}
                        for label, (before, after) in list(one.shrunk.items())[:_EXACT]
                    ],
                }
                for one in self.categories
                if one.vanished or one.shrunk
            ),
        ]

    def on_written(self, table: pa.Table, recipe: Recipe) -> Exposure:
        """The same, with all that a reader can count taken from the table as it was written."""
        read = Frame.of(table, "pyarrow")
        counted = _count(read, recipe, self.blocks)
        categories = tuple(replace(one, after=_n_values(read, one.attribute)) for one in self.categories)
        return replace(counted, categories=categories, blocks=self.blocks)


def exposure_of(
    released: Frame, recipe: Recipe, blocks: Sequence[Sequence[str]], original: Frame | None = None
) -> Exposure:
    """Count what k does not hide on a released table of records.

    Parameters
    ----------
    released : Frame
    recipe : Recipe
    blocks : sequence of sequences of str
        The attributes of each promise of k-anonymity.
    original : Frame, optional
        For what became of its categories.
    """
    chosen = tuple(tuple(block) for block in blocks)
    counted = replace(_count(released, recipe, chosen), blocks=chosen)
    if original is None:
        return counted
    named = [
        name
        for name in recipe.schema.quasi_identifiers
        if recipe.schema[name].kind in (Kind.NOMINAL, Kind.ORDINAL)
        and name in released.names
        and name in original.names
    ]
    key = None if recipe.unit is None or recipe.unit.key not in original.names else original.column(recipe.unit.key)
    units = None if key is None or not named else unit_codes(key)
    return replace(counted, categories=tuple(_categories(original, released, name, units) for name in named))


def recheck_exposure(table: pa.Table, recipe: Recipe, statement: Mapping[str, Any]) -> Finding:
    """Count again what a statement says about this, as far as the published table alone shows it.

    That is all but which categories the original had.
    """
    frame = Frame.of(table, "pyarrow")
    try:
        blocks = [tuple(one["attributes"]) for one in statement["guarantees"] if one["model"] == K_ANONYMITY]
        lacking = {attribute for block in blocks for attribute in block}
        lacking |= {one["attribute"] for one in statement["exposure"] if one["what"] == "categories"}
    except (KeyError, TypeError, ValueError, AttributeError):
        return Finding(_NAME, False, "is not in the statement, or damaged")
    if lacking.difference(frame.names):
        return Finding(_NAME, False, "cannot be counted: columns are missing")
    return compare_exposure(
        _count(frame, recipe, blocks), recipe, statement, lambda attribute: _n_values(frame, attribute)
    )


def compare_exposure(
    counted: Exposure, recipe: Recipe, statement: Mapping[str, Any], n_values: Callable[[str], int]
) -> Finding:
    """Compare what a statement says with what was counted; `n_values` tells how many categories are published."""
    try:
        told_entries = [dict(one) for one in statement["exposure"]]
        gone = [entry for entry in told_entries if entry["what"] == "categories"]
    except (KeyError, TypeError, ValueError, AttributeError):
        return Finding(_NAME, False, "is not in the statement, or damaged")
    if _canonical(told_entries) != _canonical([*counted.public(), *gone]):
        return Finding(_NAME, False, "the statement says something else than the table shows")
    if not all(_can_be(entry, n_values, recipe, counted.least) for entry in gone):
        return Finding(_NAME, False, "what the statement says about categories cannot be true")
    return Finding(_NAME, True, f"{len(told_entries)} figures of the statement were counted again on the table")


def _canonical(content: Any) -> str:
    return json.dumps(content, sort_keys=True, default=str)


def _can_be(entry: Mapping[str, Any], n_values: Callable[[str], int], recipe: Recipe, least: int) -> bool:
    """Whether what is stated about an attribute's categories fits the published ones."""
    attribute = recipe.attributes.get(entry["attribute"])
    if attribute is None or attribute.kind not in (Kind.NOMINAL, Kind.ORDINAL):
        return False
    few = entry.get("before") is None
    keys = {"what", "attribute", "before", "after", "vanished", "shrunk", *(["fewer_than"] if few else [])}
    keys |= {"counted"} if few and recipe.unit is not None else set()
    try:
        shrunk = [(one["category"], one["lost"]) for one in entry["shrunk"] if set(one) == {"category", "lost"}]
        named = [str(label) for label in entry["vanished"]]
        return (
            set(entry) == keys
            and entry.get("fewer_than") == (least if few else None)
            and entry.get("counted") == (UNITS if "counted" in keys else None)
            and entry["after"] == coarse_count(n_values(entry["attribute"]))
            and (few or entry["before"] >= entry["after"])
            and len(shrunk) == len(entry["shrunk"]) <= _NAMED
            and len(set(named)) == len(named) <= _NAMED
            and all(isinstance(label, str) and 0.5 <= lost <= 0.9 for label, lost in shrunk)
        )
    except (KeyError, TypeError):
        return False


def _count(released: Frame, recipe: Recipe, blocks: Sequence[Sequence[str]]) -> Exposure:
    schema = recipe.schema
    confidential = [name for name in schema.of_role(Role.CONFIDENTIAL) if name in released.names]
    untouched = [name for name in released.names if name in schema.of_role(Role.CONFIDENTIAL, Role.NON_CONFIDENTIAL)]
    worst: dict[str, Agreement] = {}
    for block in blocks if confidential and released.n_records else ():
        labels = combinations(released, block)
        for name in confidential:
            found = Agreement(name, tuple(block), agreeing_records(released.column(name).codes, labels))
            worst[name] = max(worst.get(name, found), found, key=lambda one: one.records)
    singles = [Singles(name, single_values(released.column(name).codes)) for name in untouched]
    return Exposure(
        recipe.k,
        released.n_records,
        tuple(sorted(worst.values(), key=lambda one: -one.records)),
        tuple(sorted(singles, key=lambda one: -one.values)),
        (),
    )


def _categories(original: Frame, released: Frame, name: str, units: IntArray | None) -> Categories:
    found = Categories.between(name, _counts(original, name), _counts(released, name))
    if units is None:
        return found
    codes, labels = original.column(name).encoded
    wanted = {str(label): code for code, label in enumerate(labels)}
    of_each = {label: frozenset(units[codes == wanted[label]].tolist()) for label in (*found.vanished, *found.shrunk)}
    return replace(found, units=of_each)


def _counts(frame: Frame, name: str) -> dict[str, int]:
    codes, labels = frame.column(name).encoded
    counts = np.bincount(codes[codes >= 0], minlength=len(labels))
    return {str(label): int(count) for label, count in zip(labels, counts, strict=True) if count}


def _n_values(frame: Frame, name: str) -> int:
    codes = frame.column(name).codes
    return int(codes.max(initial=-1)) + 1
