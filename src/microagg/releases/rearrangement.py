"""Between partition and aggregate: cells rearranged until each hides the confidential values of its records."""

from __future__ import annotations

from collections import Counter
from collections.abc import Mapping
from dataclasses import dataclass, field
from typing import Any

import numpy as np

from microagg._halt import INTERRUPT, TIME_LIMIT
from microagg._labels import cells_in_order
from microagg._progress import report
from microagg._typing import IntArray
from microagg.partition.rearrange.rearrange import rearrange_cells
from microagg.partition.rearrange.rules import Demands
from microagg.recipe.protect import requirements_of
from microagg.recipe.recipe import Recipe
from microagg.releases.input import numbers_of_text
from microagg.space.points import Points
from microagg.statements.promises import describe_rearrangement
from microagg.statements.requirements import confidential_values
from microagg.tables.frames import Frame

__all__ = ["Rearrangement", "demands_of", "limit_words", "rearrange_groups"]


def limit_words(recipe: Recipe, facts: Mapping[str, Any]) -> list[str]:
    """What the statement must say of a search that its time limit cut, from what the manifest says."""
    if "share_of_steps" not in facts:
        return []
    return [
        "the search for cells that hide confidential values was stopped by its time limit of "
        f"{recipe.rearrange.time_limit:g} s after {100 * facts['share_of_steps']:.0f} % of its steps; with more time "
        "less might be lost. What a search finds in a given time depends on the machine: a seed does not repeat it"
    ]


@dataclass(frozen=True)
class Rearrangement:
    """Cells that satisfy the requirements of a recipe.

    Attributes
    ----------
    labels : ndarray of shape (n_records,)
    facts : dict or None
        For the manifest; None if nothing was required.
    remarks : tuple of str
    """

    labels: IntArray
    facts: Mapping[str, Any] | None = None
    remarks: tuple[str, ...] = field(default=())


def demands_of(frame: Frame, recipe: Recipe) -> Demands | None:
    """What a recipe requires of the confidential values of these records; None if nothing."""
    if not recipe.protect:
        return None
    typed = Frame.of(numbers_of_text(frame.table, recipe), frame.library)
    return Demands(requirements_of(recipe), confidential_values(typed, recipe))


def rearrange_groups(
    points: Points, labels: IntArray, groups: IntArray, demands: Demands | None, recipe: Recipe, seed: int | None
) -> Rearrangement:
    """Rearrange the cells of each group of records that may share one.

    Raises
    ------
    InputError
        If no partition satisfies the requirements; the message has the largest or smallest bound that one would.
    """
    if demands is None:
        return Rearrangement(labels)
    demands.require_possible(groups)
    choice = recipe.rearrange
    found = np.empty_like(labels)
    n_cells, ends, shares = 0, [], []
    order = np.argsort(groups, kind="stable")
    for members in np.split(order, np.cumsum(np.bincount(groups))[:-1]):
        some = points.take(members) if len(members) < len(points) else points
        rearranged = rearrange_cells(
            some,
            cells_in_order(labels[members]),
            recipe.k,
            demands,
            members,
            by=choice.by,
            effort=choice.effort,
            random_state=None if seed is None else int(seed),
            time_limit=choice.time_limit,
        )
        if rearranged.stopped_by == INTERRUPT:
            raise KeyboardInterrupt
        found[members] = rearranged.labels + n_cells
        n_cells += int(rearranged.labels.max()) + 1
        ends.append(rearranged.stopped_by)
        if rearranged.stopped_by == TIME_LIMIT:
            shares.append(rearranged.share)
    report("rearranging cells", 1.0)
    facts = {**(describe_rearrangement(recipe) or {}), "stopped_by": dict(Counter(ends))}
    if shares:
        facts["share_of_steps"] = round(float(np.mean(shares)), 4)
    return Rearrangement(cells_in_order(found), facts, tuple(limit_words(recipe, facts)))
