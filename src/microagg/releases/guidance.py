"""Shape the space by what the data is for, and tell what that cost."""

from __future__ import annotations

import math
from collections.abc import Callable, Mapping, Sequence
from dataclasses import dataclass, field
from typing import Any

import numpy as np
import numpy.typing as npt

from microagg._scaling import near_one
from microagg.errors import TableError
from microagg.evaluation.diversity import Diversity, coarse_codes, label_diversity
from microagg.partition.base import within_cell_sse
from microagg.recipe.recipe import Recipe
from microagg.releases.alpha import ALPHAS, choose_alpha, smallest_table
from microagg.schema.attribute import Kind, Role
from microagg.schema.encode import EncodedColumn
from microagg.space.dependence import dependence_space, dependence_weight, total_distortion
from microagg.space.discriminant import Discriminant
from microagg.space.mixed import mixed_space
from microagg.space.prediction import FOLDS, cross_fitted, prediction_space
from microagg.space.standardize import standardize
from microagg.tables.phrases import columns_phrase, names_phrase

__all__ = [
    "Guidance",
    "fault_of_guidance",
    "guidance_words",
    "guided",
    "pairing_words",
    "told",
    "told_of_pairing",
]

FloatArray = npt.NDArray[np.float64]
IntArray = npt.NDArray[np.int64]


@dataclass(frozen=True)
class Guidance:
    """The space in which the cells of a block are formed.

    Attributes
    ----------
    matrix : ndarray
        The quasi-identifiers of the block, changed or with further coordinates.
    facts : dict
        What was done, for the manifest.
    """

    matrix: FloatArray
    facts: Mapping[str, Any] = field(default_factory=dict)


def guided(
    matrix: FloatArray,
    attributes: Sequence[str],
    guides: Sequence[EncodedColumn],
    recipe: Recipe,
    form_cells: Callable[[FloatArray], IntArray],
    predict: Callable[..., FloatArray] = cross_fitted,
) -> Guidance:
    """The space of one block: its quasi-identifiers alone, or as the recipe's [space] shapes them.

    Parameters
    ----------
    matrix : ndarray of shape (n_records, n_coordinates)
        The block's quasi-identifiers.
    attributes : sequence of str
        Their names.
    guides : sequence of EncodedColumn
        The attributes that help, as :func:`microagg.releases.prepare.prepare` settled them.
    form_cells : callable
        From a matrix to cells, as the recipe's method forms them; ``alpha = "auto"`` tries it.
    predict : callable
        As :func:`microagg.space.prediction.cross_fitted`; whoever tries many k may keep what it gave.
    """
    space = recipe.space
    if space.dependence is not None:
        confidential = mixed_space(guides, space.standardize).matrix
        m_x, m_y = len(attributes), len(guides)
        lambda_ = space.dependence.lambda_
        beta = dependence_weight(lambda_, m_x, m_y)
        # At lambda = 1 beta is infinite, which JSON cannot say: the quasi-identifiers are left out instead.
        facts = {"form": "dependence", "lambda": lambda_, "beta": beta if math.isfinite(beta) else None}
        return Guidance(dependence_space(matrix, confidential, lambda_, m_x=m_x, m_y=m_y), facts)
    if space.discriminant is not None:
        _refuse_constant(guides)
        return _discriminant(matrix, guides[0], recipe, form_cells)
    if space.prediction is not None:
        _refuse_constant(guides)
        weight = space.prediction.weight
        predictions = [predict(matrix, near_one(guide.values), classes=guide.kind is Kind.NOMINAL) for guide in guides]
        return Guidance(
            prediction_space(matrix, predictions, weight, m_x=len(attributes)),
            {"form": "prediction", "weight": weight, "folds": FOLDS, "model": "gradient boosting"},
        )
    return Guidance(matrix)


def _discriminant(
    matrix: FloatArray, target: EncodedColumn, recipe: Recipe, form_cells: Callable[[FloatArray], IntArray]
) -> Guidance:
    assert recipe.space.discriminant is not None
    alpha = recipe.space.discriminant.alpha
    classes = target.kind is Kind.NOMINAL
    values = near_one(target.values)  # what is found depends on no unit of the target
    facts: dict[str, Any] = {"form": "discriminant"}
    if isinstance(alpha, str):
        needed = smallest_table(recipe.k)
        if len(matrix) < needed:
            raise TableError(
                f'space.discriminant.alpha = "auto" with k = {recipe.k} needs at least {needed} records to try on; the '
                f"table has {len(matrix)}. Set a number: alpha = 2"
            )
        chosen = choose_alpha(matrix, values, form_cells, classes=classes)
        alpha = chosen.alpha
        facts |= {"tried": list(ALPHAS), "scores": list(chosen.scores)}
    fitted = Discriminant.fit(matrix, values, alpha, classes=classes)
    n_directions = fitted.directions.shape[1]
    facts |= {"alpha": alpha, "n_directions": n_directions, "regularized": fitted.regularized}
    return Guidance(fitted.apply(matrix), facts)


def _refuse_constant(targets: Sequence[EncodedColumn]) -> None:
    for target in targets:
        different = len(np.unique(target.values[~target.missing]))
        if different < 2:
            raise TableError(f"target {target.name!r} has {different} different values: it cannot guide the cells")


@dataclass(frozen=True)
class Told:
    """What guided cells did: the sentences of the statement, and figures for the manifest."""

    remarks: tuple[str, ...]
    facts: Mapping[str, Any]


def told(
    guidance: Guidance,
    matrix: FloatArray,
    attributes: Sequence[str],
    labels: IntArray,
    guides: Sequence[EncodedColumn],
    recipe: Recipe,
) -> Told:
    """Say that the cells of a block were guided, by what, and how diverse the guiding attributes are in them."""
    if not guidance.facts:
        return Told((), {})
    names = [guide.name for guide in guides]
    confidential = mixed_space(guides, recipe.space.standardize).matrix
    n_cells = int(labels.max()) + 1
    d_x = within_cell_sse(matrix, labels, n_cells) / (len(labels) * len(attributes))
    d_y = within_cell_sse(confidential, labels, n_cells) / (len(labels) * len(guides))
    facts = dict(guidance.facts) | {"attributes": names, "D_X": d_x, "D_Y": d_y}
    if recipe.space.dependence is not None:
        facts["D"] = total_distortion(d_x, d_y, recipe.space.dependence.lambda_)
    diversity = cells_diversity(guides, labels)
    facts["diversity"] = diversity.as_dict()
    return Told(guidance_words(facts, attributes, recipe), facts)


def guidance_words(facts: Mapping[str, Any], attributes: Sequence[str], recipe: Recipe) -> tuple[str, ...]:
    """The sentences on the guided cells of a block, from what the manifest tells of them and the recipe."""
    how, shaped = _how(facts)
    names = recipe.guides
    roles = {recipe.attributes[name].role for name in names}
    of = "confidential attributes" if roles == {Role.CONFIDENTIAL} else "attributes published as they are"
    remark = (
        f"cells were formed with the help of {of} ({how}): {columns_phrase(names)}. Records of a cell are "
        "more alike in them than without, so whoever finds a person's cell learns more"
        if shaped
        else f"{how}: cells are those of the quasi-identifiers alone, formed without {columns_phrase(names)}"
    )
    return remark, f"{Diversity(**facts['diversity'])}{_cells_of(attributes, recipe)}"


def _how(facts: Mapping[str, Any]) -> tuple[str, bool]:
    """How cells were guided, in words, and whether the guiding attributes had any influence."""
    if facts["form"] == "dependence":
        return f"dependence, lambda = {facts['lambda']:g}", facts["lambda"] > 0
    if facts["form"] == "prediction":
        return (
            f"predictions by gradient boosting, each record's from {FOLDS - 1} of {FOLDS} folds without it, "
            f"weight = {facts['weight']:g}",
            True,
        )
    how = (
        f", chosen by cross-validation among {', '.join(f'{value:g}' for value in ALPHAS)}" if "tried" in facts else ""
    )
    ridge = "; the covariance within classes is singular and was given a small ridge" if facts["regularized"] else ""
    return f"discriminant, alpha = {facts['alpha']:g}{how}{ridge}", facts["alpha"] > 1


def fault_of_guidance(facts: Mapping[str, Any], recipe: Recipe) -> str:
    """What the manifest tells of guided cells otherwise than the recipe has it; empty if nothing."""
    space, keys = recipe.space, {"form", "attributes", "D_X", "D_Y", "diversity"}
    if space.dependence is not None:
        keys |= {"lambda", "beta", "D"}
        fits = facts["form"] == "dependence" and facts["lambda"] == space.dependence.lambda_
    elif space.prediction is not None:
        keys |= {"weight", "folds", "model"}
        due = ["prediction", space.prediction.weight, FOLDS, "gradient boosting"]
        fits = [facts[key] for key in ("form", "weight", "folds", "model")] == due
    else:
        alpha = None if space.discriminant is None else space.discriminant.alpha
        keys |= {"alpha", "n_directions", "regularized", *(["tried", "scores"] if isinstance(alpha, str) else [])}
        chosen = facts["alpha"] in ALPHAS and list(facts["tried"]) == list(ALPHAS) if isinstance(alpha, str) else None
        fits = facts["form"] == "discriminant" and (facts["alpha"] == alpha if chosen is None else chosen)
    figures = [facts[key] for key in keys & {"D_X", "D_Y", "D"}] + list(facts.get("scores", ()))
    fits = fits and set(facts) == keys and list(facts["attributes"]) == list(recipe.guides)
    return "" if fits and all(type(one) is float for one in figures) else "tells of other guided cells than its recipe"


def told_of_pairing(
    attributes: Sequence[str], labels: IntArray, paired: Sequence[EncodedColumn], recipe: Recipe
) -> Told:
    """Say that the draws of a block were paired with labels, and how diverse these are in the cells."""
    if not paired:
        return Told((), {})
    names = [one.name for one in paired]
    diversity = cells_diversity(paired, labels).as_dict()
    facts = {"paired_with": names, "model": "gradient boosting", "diversity": diversity}
    return Told(pairing_words(facts, attributes, recipe), facts)


def pairing_words(facts: Mapping[str, Any], attributes: Sequence[str], recipe: Recipe) -> tuple[str, ...]:
    """The sentences on the paired draws of a block, from what the manifest tells of them and the recipe."""
    names = recipe.aggregate.paired_with
    remark = (
        f"which draw of a cell stands beside which of its records was decided by chance with the odds of a gradient "
        f"boosting model of {columns_phrase(names)}, every leaf of which holds at least {recipe.k} records. What ties "
        "them to the quasi-identifiers is kept within cells too, so they can be predicted better from the release"
    )
    whose = "" if tuple(names) == recipe.guides else f"of {columns_phrase(names)}: "  # where it is not yet told
    return remark, f"{whose}{Diversity(**facts['diversity'])}{_cells_of(attributes, recipe)}"


def _cells_of(attributes: Sequence[str], recipe: Recipe) -> str:
    """Which cells are spoken of, where there are several partitions."""
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
