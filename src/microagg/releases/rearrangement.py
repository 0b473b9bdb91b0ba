"""Between partition and aggregate: cells rearranged until each hides the confidential values of its records."""

from __future__ import annotations

from collections import Counter
from collections.abc import Mapping, Sequence
from dataclasses import dataclass
from typing import Any

import numpy as np

from microagg._halt import INTERRUPT, TIME_LIMIT
from microagg._labels import cells_in_order
from microagg._progress import report
from microagg._typing import IntArray
from microagg.partition.rearrange.rearrange import Rearranged, rearrange_cells
from microagg.partition.rearrange.rules import Demands
from microagg.partition.units.cells import unit_demand
from microagg.partition.units.search import cells_of_units
from microagg.recipe.protect import effort_of, rearranges, requirements_of
from microagg.recipe.recipe import Recipe
from microagg.releases.input import numbers_of_text
from microagg.releases.units import Units
from microagg.space.points import Points
from microagg.statements.promises import describe_rearrangement
from microagg.statements.requirements import confidential_values
from microagg.tables.frames import Frame

__all__ = ["Rearrangement", "demands_of", "joined_facts", "limit_words", "rearrange_groups"]


def limit_words(recipe: Recipe, facts: Mapping[str, Any]) -> list[str]:
    """What the statement must say of a search that its time limit cut, from what the manifest says."""
    if "share_of_steps" not in facts:
        return []
    return [
        f"the search for {_sought(recipe)} was stopped by its time limit of "
        f"{recipe.rearrange.time_limit:g} s after {100 * facts['share_of_steps']:.0f} % of its steps; with more time "
        "less might be lost. What a search finds in a given time depends on the machine: a seed does not repeat it"
    ]


def _sought(recipe: Recipe) -> str:
    return "cells that hide confidential values" if recipe.protect else f"cells that hold at least k = {recipe.k} units"


@dataclass(frozen=True)
class Rearrangement:
    """Cells that satisfy the requirements of a recipe.

    Attributes
    ----------
    labels : ndarray of shape (n_records,)
    facts : dict or None
        For the manifest; None if nothing was required.
    """

    labels: IntArray
    facts: Mapping[str, Any] | None = None


def demands_of(frame: Frame, recipe: Recipe, units: Units | None = None) -> Demands | None:
    """What a recipe requires of the confidential values of these records, with units in each cell; None if nothing."""
    if not recipe.protect:
        return None
    requirements = requirements_of(recipe)
    typed = Frame.of(numbers_of_text(frame.table, recipe), frame.library)
    values = dict(confidential_values(typed, recipe))
    if units is not None:
        of_units, values[units.key] = unit_demand(units.codes, recipe.k, units.key)
        requirements = (*requirements, of_units)
    return Demands(requirements, values)


def rearrange_groups(
    points: Points,
    labels: IntArray,
    groups: IntArray,
    demands: Demands | None,
    recipe: Recipe,
    seed: int | None,
    units: Units | None = None,
) -> Rearrangement:
    """Rearrange the cells of each group of records that may share one.

    Raises
    ------
    InputError
        If no partition satisfies the requirements; the message has the largest or smallest bound that one would.
    """
    if not rearranges(recipe):
        return Rearrangement(labels)
    if demands is not None:
        demands.require_possible(groups)
    found = np.empty_like(labels)
    n_cells, ends, shares = 0, [], []
    order = np.argsort(groups, kind="stable")
    for members in np.split(order, np.cumsum(np.bincount(groups))[:-1]):
        some = points.take(members) if len(members) < len(points) else points
        rearranged = _rearranged(some, cells_in_order(labels[members]), members, demands, recipe, seed, units)
        if rearranged.stopped_by == INTERRUPT:
            raise KeyboardInterrupt
        found[members] = rearranged.labels + n_cells
        n_cells += int(rearranged.labels.max()) + 1
        ends.append(rearranged.stopped_by)
        if rearranged.stopped_by == TIME_LIMIT:
            shares.append(rearranged.share)
    report("rearranging cells", 1.0)
    facts: dict[str, Any] = {**(describe_rearrangement(recipe) or {}), "stopped_by": dict(Counter(ends))}
    if shares:
        facts["share_of_steps"] = round(float(np.mean(shares)), 4)
    return Rearrangement(cells_in_order(found), facts)


def _rearranged(
    points: Points,
    labels: IntArray,
    members: IntArray,
    demands: Demands | None,
    recipe: Recipe,
    seed: int | None,
    units: Units | None,
) -> Rearranged:
    """Cells of some records, which hide what they must, or at least hold k units."""
    choice = recipe.rearrange
    settings: dict[str, Any] = {
        "by": choice.by,
        "effort": effort_of(recipe),
        "random_state": _chance(recipe, seed),
        "time_limit": choice.time_limit,
    }
    if demands is not None:
        return rearrange_cells(points, labels, recipe.k, demands, members, **settings)
    assert units is not None
    return cells_of_units(points, labels, recipe.k, units.codes[members], **settings)


def joined_facts(of_blocks: Sequence[Mapping[str, Any]]) -> Mapping[str, Any] | None:
    """What the manifest says of the rearrangements of all blocks together."""
    if not of_blocks:
        return None
    ends: Counter[str] = Counter()
    for one in of_blocks:
        ends.update(one["stopped_by"])
    shares = [one["share_of_steps"] for one in of_blocks if "share_of_steps" in one]
    cut = {"share_of_steps": round(float(np.mean(shares)), 4)} if shares else {}
    return {**of_blocks[0], "stopped_by": dict(ends), **cut}


def _chance(recipe: Recipe, seed: int | None) -> int | None:
    """What the search draws from: of a method that leaves nothing to chance, always the same, so that nothing is."""
    if seed is not None:
        return int(seed)
    return None if recipe.protect or recipe.entry.searches_by_chance else 0
