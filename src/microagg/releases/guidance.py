"""Shape the space as the recipe's guide does, and describe what that did and cost."""

from __future__ import annotations

from collections.abc import Callable, Mapping, Sequence
from dataclasses import dataclass, replace
from typing import Any

import numpy as np

from microagg._typing import FloatArray, IntArray
from microagg.errors import GuaranteeError, ParameterError
from microagg.evaluation.diversity import Diversity, coarse_codes, label_diversity
from microagg.partition.base import within_cell_sse
from microagg.privacy.unit_clauses import records_of_at_least
from microagg.recipe.recipe import Recipe
from microagg.releases.drawing.choice import drawn_words
from microagg.schema.attribute import Kind, Role
from microagg.schema.encode import EncodedColumn
from microagg.space.guides import Guide, GuidedSpace, PlainSpace
from microagg.space.mixed import mixed_points
from microagg.space.points import Points
from microagg.space.standardize import standardize
from microagg.statements.exposure_text import count_of_many_words
from microagg.tables.phrases import columns_phrase, names_phrase

__all__ = [
    "StageDescription",
    "cells_diversity",
    "describe_guidance",
    "describe_pairing",
    "fault_of_guidance",
    "guidance_words",
    "pairing_words",
    "shape_space",
]


_COMMON_FACTS = frozenset({"form", "attributes", "D_X", "D_Y", "diversity"})


@dataclass(frozen=True)
class StageDescription:
    """What a stage did: the sentences of the statement, and the facts of the manifest."""

    remarks: tuple[str, ...]
    facts: Mapping[str, Any]


def shape_space(
    points: Points,
    attributes: Sequence[str],
    guides: Sequence[EncodedColumn],
    recipe: Recipe,
    form_cells: Callable[[FloatArray | Points], IntArray],
    coordinates: Callable[[], FloatArray] | None = None,
) -> GuidedSpace:
    """Build the space of one block: its quasi-identifiers alone, or as the guide of the recipe shapes them.

    Parameters
    ----------
    points : Points
        The block's quasi-identifiers.
    attributes : sequence of str
        Their names.
    guides : sequence of EncodedColumn
        The attributes that help, as :func:`microagg.releases.prepare.prepare` settled them.
    form_cells : callable
        From a matrix or points to cells, as the recipe's method forms them; a guide may try it.
    coordinates : callable or None
        Builds the block's coordinates, for guides that need them.
    """
    guide = recipe.space.guide
    if guide is None:
        return GuidedSpace(points)
    standardize = recipe.space.standardize
    plain = PlainSpace(points, tuple(attributes), guides, standardize, recipe.k, form_cells, coordinates)
    shaped = guide.shape(plain)
    return replace(shaped, facts={"form": guide.name, **shaped.facts})


def describe_guidance(
    guided: GuidedSpace,
    points: Points,
    attributes: Sequence[str],
    labels: IntArray,
    guides: Sequence[EncodedColumn],
    recipe: Recipe,
    coordinates: Callable[[], FloatArray],
) -> StageDescription:
    """Say that the cells of a block were guided, by what, and how diverse the guiding attributes are in them."""
    guide = recipe.space.guide
    if guide is None:
        return StageDescription((), {})
    confidential = mixed_points(guides, recipe.space.standardize)
    n_cells = int(labels.max()) + 1
    d_x = within_cell_sse(points, labels, n_cells) / (len(labels) * len(attributes))
    d_y = within_cell_sse(confidential, labels, n_cells) / (len(labels) * len(guides))
    facts = {
        **guided.facts,
        "attributes": [attribute.name for attribute in guides],
        "D_X": d_x,
        "D_Y": d_y,
        **guide.figures(d_x, d_y),
        "diversity": cells_diversity(guides, labels).as_dict(),
    }
    if fault_of_guidance(facts, recipe):  # or a check of the release would find fault with its manifest
        raise ParameterError(
            f"the guide {type(guide).__name__} gave the facts {', '.join(facts)}, which its own facts_fit and "
            "fact_keys do not allow"
        )
    if (guide.is_idle or not guide.did_shape(facts)) and not _is_left_as_it_was(points, coordinates, guided):
        raise GuaranteeError(
            f"the guide {type(guide).__name__} changed the space of the cells, and says by is_idle or did_shape that "
            "it did not. Nothing was written"
        )
    return StageDescription(guidance_words(facts, attributes, recipe), facts)


def _is_left_as_it_was(points: Points, coordinates: Callable[[], FloatArray], guided: GuidedSpace) -> bool:
    """Whether distances are those of the quasi-identifiers alone: coordinates that all records share add nothing."""
    if isinstance(guided.space, Points):
        return guided.space.has_distances_of(points)
    matrix = coordinates()
    n_coordinates = matrix.shape[1]
    added = guided.space[:, n_coordinates:]
    return np.array_equal(guided.space[:, :n_coordinates], matrix) and bool((added == added[:1]).all())


def guidance_words(facts: Mapping[str, Any], attributes: Sequence[str], recipe: Recipe) -> tuple[str, ...]:
    """The sentences about the guided cells of a block, from the facts in the manifest and the recipe."""
    guide = _guide_of(recipe)
    how = guide.describe(facts)
    names = recipe.guides
    roles = {recipe.attributes[name].role for name in names}
    of = "confidential attributes" if roles == {Role.CONFIDENTIAL} else "attributes published as they are"
    remark = (
        f"cells were formed with the help of {of} ({how}): {columns_phrase(names)}. Records of a cell are "
        "more alike in them than without, so whoever finds a person's cell learns more"
        if guide.did_shape(facts)
        else f"{how}: cells are those of the quasi-identifiers alone, formed without {columns_phrase(names)}"
    )
    return remark, f"{Diversity(**facts['diversity'])}{_cells_of(attributes, recipe)}"


def fault_of_guidance(facts: Mapping[str, Any], recipe: Recipe) -> str:
    """How the manifest contradicts the recipe about guided cells; empty if it does not."""
    guide = _guide_of(recipe)
    fits = facts["form"] == guide.name and guide.facts_fit(facts)
    fits = fits and set(facts) == _COMMON_FACTS | guide.fact_keys
    fits = fits and list(facts["attributes"]) == list(recipe.guides)
    fits = fits and all(type(facts[key]) is float for key in ("D_X", "D_Y"))
    return "" if fits else "states other guided cells than its recipe"


def _guide_of(recipe: Recipe) -> Guide:
    """The guide of a recipe whose cells are guided."""
    assert recipe.space.guide is not None, "the recipe has no guide"
    return recipe.space.guide


def describe_pairing(
    attributes: Sequence[str],
    labels: IntArray,
    paired: Sequence[EncodedColumn],
    recipe: Recipe,
    draws: Mapping[str, Any],
) -> StageDescription:
    """Say that the draws of a block were paired with labels, and how diverse these are in the cells.

    `draws` are facts about draws of what many records share (:meth:`SharedDraws.facts`).
    """
    if not paired:
        return StageDescription((), {})
    names = [one.name for one in paired]
    diversity = cells_diversity(paired, labels).as_dict()
    facts = {"paired_with": names, "model": "gradient boosting", "diversity": diversity, **draws}
    return StageDescription(pairing_words(facts, attributes, recipe), facts)


def pairing_words(facts: Mapping[str, Any], attributes: Sequence[str], recipe: Recipe) -> tuple[str, ...]:
    """The sentences about the paired draws of a block, from the facts in the manifest and the recipe."""
    names = recipe.aggregate.paired_with
    remark = (
        f"which draw of a cell stands beside which of its records was decided by chance with the odds of a gradient "
        f"boosting model of {columns_phrase(names)}, every leaf of which holds {_of_k(recipe)}. What ties them "
        "to the quasi-identifiers is kept within cells too, so they can be predicted better from the release"
    )
    whose = (
        "" if tuple(names) == recipe.guides else f"of {columns_phrase(names)}: "
    )  # where no sentence before has said it
    diversity = f"{whose}{Diversity(**facts['diversity'])}{_cells_of(attributes, recipe)}"
    if "equal" not in facts:
        return remark, diversity, drawn_words(recipe)
    return _dealing_words(names, recipe), diversity, drawn_words(recipe), *_sharing_words(facts, attributes, recipe)


def _of_k(recipe: Recipe) -> str:
    return records_of_at_least(recipe.k, units=recipe.unit is not None)


def _dealing_words(names: Sequence[str], recipe: Recipe) -> str:
    return (
        "which draw of a cell stands beside which of its records was decided by chance with the odds of a gradient "
        f"boosting model of {columns_phrase(names)}, every leaf of which holds {_of_k(recipe)}, and then so that "
        "what the model cannot tell cancels among draws that are alike. So models learn more from the release, and "
        "standard errors computed from it are too small"
    )


def _sharing_words(facts: Mapping[str, Any], attributes: Sequence[str], recipe: Recipe) -> tuple[str, ...]:
    """How often draws equal records, beside how often new records would; and which categories were pooled."""
    equal, units = facts["equal"], recipe.unit is not None
    whose, others = ("those of other units", "no other unit in") if units else ("the others", "nobody else in")
    often = (
        f"{100 * equal['released']:.1f} % of the released records equal one of the table on all quasi-identifiers that "
        f"share cells, and {100 * equal['untouched']:.1f} % of records with no part in the table would; "
        f"{100 * equal['released_unique']:.1f} % equal one that {others} the table equals, and "
        f"{100 * equal['untouched_unique']:.1f} % would (judged by each record of the table and {whose})"
        f"{_cells_of(attributes, recipe)}"
    )
    pooled = facts.get("pooled", {})
    if not pooled:
        return (often,)
    counts = ", ".join(f"{count_of_many_words(count, recipe.k)} of column {name!r}" for name, count in pooled.items())
    least = recipe.aggregate.rarest(recipe.k)
    if units:
        counts = ", ".join(
            f"{count_of_many_words(count, recipe.k)} units have them in column {name!r}"
            for name, count in pooled.items()
        )
        return often, f"categories that fewer than {least} units have were published as more frequent ones: {counts}"
    return often, f"categories that fewer than {least} records have were published as more frequent ones: {counts}"


def _cells_of(attributes: Sequence[str], recipe: Recipe) -> str:
    """Which cells a sentence is about, if there are several partitions."""
    return "" if len(attributes) == len(recipe.schema.quasi_identifiers) else f" (cells of {names_phrase(attributes)})"


def cells_diversity(guides: Sequence[EncodedColumn], labels: IntArray) -> Diversity:
    """How diverse attributes published as they are turn out within cells."""
    exact, coarse = [], []
    for guide in guides:
        codes = np.where(guide.missing, np.inf, guide.values)
        exact.append(codes)
        numeric = guide.kind is Kind.NUMERIC
        coarse.append(coarse_codes(standardize(guide.values, "zscore")) if numeric else codes)
    return label_diversity(exact, coarse, labels)
