"""Assess a table before any release: a table and a recipe in, counts and estimates out."""

from __future__ import annotations

from collections.abc import Iterable, Mapping, Sequence
from typing import Any

import numpy as np

from microagg._labels import label_combinations
from microagg._progress import report
from microagg._typing import FloatArray, IntArray
from microagg._validation import Integer, Optional, Real, check_parameters
from microagg.errors import ParameterError, TableError, shown
from microagg.evaluation.disclosure.classes import Classes, classes_of, population_sizes, unique_without
from microagg.evaluation.disclosure.individual_risk import (
    individual_risk,
    match_probability,
    people_can_be,
    unusable_weights,
)
from microagg.evaluation.disclosure.scenarios import journalist_risks, scenario_of
from microagg.evaluation.disclosure.special_uniques import SpecialUniques, find_special_uniques
from microagg.evaluation.diversity import agreeing_records
from microagg.evaluation.result import PerRecord, Values
from microagg.recipe.recipe import Recipe
from microagg.risks.assessment import (
    AgreeingRecords,
    CombinationCounts,
    EstimatedRisk,
    MatchChance,
    PopulationCounts,
    RiskAssessment,
    SpecialUniqueCounts,
    UnitCounts,
)
from microagg.schema.attribute import Role
from microagg.schema.schema import Schema
from microagg.schema.units import unit_codes
from microagg.tables.frames import Frame
from microagg.tables.missing_codes import frame_without_codes
from microagg.tables.phrases import columns_phrase

__all__ = ["THRESHOLDS", "risk"]

THRESHOLDS = (0.1,)
_RULE_OF_THREE = 3


def risk(
    table: Any,
    recipe: Recipe,
    population: Any = None,
    *,
    thresholds: Iterable[float] = THRESHOLDS,
    largest_msu: int | None = None,
    sampling_fraction: float | None = None,
    per_record: bool = False,
) -> RiskAssessment:
    """Say what a table gives away as it is, before any release.

    Parameters
    ----------
    table : pandas.DataFrame, polars.DataFrame or pyarrow.Table
    recipe : Recipe
        Which columns are quasi-identifiers and confidential, the k that is asked for, the ``sampling_weight``, and
        with ``[unit]`` whose each record is: records of one unit with equal quasi-identifiers then count once.
    population : table, optional
        The population that the table is a sample of, with its quasi-identifiers. Its frequencies are counted; with
        ``[unit]``, and the key in it, those of its units.
    thresholds : iterable of float in [0, 1), default (0.1,)
        Records with a chance above are counted.
    largest_msu : int, optional
        Look for minimal sample uniques of at most so many quasi-identifiers. Default: as many as takes some seconds.
    sampling_fraction : float in (0, 1], optional
        The share of the population that is in the table, for DIS-SUDA. Default: by the sampling weights. With a
        population table it is counted.
    per_record : bool, default False
        Keep values for single records in ``RiskAssessment.per_record``. They are internal: never publish them.

    Returns
    -------
    RiskAssessment
        ``print`` it, or take ``as_dict()``.

    Examples
    --------
    >>> import pyarrow as pa, microagg
    >>> people = pa.table({"age": [20, 20, 61, 64], "sex": ["f", "f", "f", "m"], "pay": [1.0, 2.0, 3.0, 5.0]})
    >>> recipe = microagg.Recipe(k=2, attributes={
    ...     "age": {"role": "quasi_identifier", "kind": "numeric"},
    ...     "sex": {"role": "quasi_identifier", "kind": "nominal"}, "pay": "confidential"})
    >>> found = microagg.risk(people, recipe)
    >>> found.combinations.unique, found.special_uniques.records, found.prosecutor.average
    (2, 2, 0.75)
    """
    if not isinstance(recipe, Recipe):
        raise ParameterError("recipe must be a microagg.Recipe: Recipe(k=..., attributes={...}) or Recipe.load(path)")
    check_parameters(
        "risk",
        {"largest_msu": Optional(Integer(1)), "sampling_fraction": Optional(Real(0.0, 1.0, open_low=True))},
        {"largest_msu": largest_msu, "sampling_fraction": sampling_fraction},
    )
    if sampling_fraction is not None and population is not None:
        raise ParameterError("sampling_fraction is for a table without a population: with one, it is counted")
    limits = _checked(thresholds)
    # Roles as they are declared: a method that protects the whole table would take all for quasi-identifiers.
    schema = Schema(recipe.attributes)
    names = schema.quasi_identifiers
    if not names:
        raise ParameterError("the recipe declares no quasi-identifier: there is nothing that a record is known by")
    frame = frame_without_codes(Frame.wrap(table, schema.check_columns), recipe.input.missing)
    if not frame.n_records:
        raise TableError("the table has no records")
    report("counting: combinations", 0.0)
    whole, units, pairs = frame, None, None
    if recipe.unit is not None:
        units = _units(frame, recipe.unit.key, recipe)
        pairs = _pairs(units, classes_of(frame, names).labels)
        frame = frame.take(np.unique(pairs, return_index=True)[1])
    weights, of_people = _weights(whole, recipe, pairs), _weights(whole, recipe, units)
    classes = classes_of(frame, names)
    report("counting: population", 0.2)
    in_population = None if population is None else _count_population(frame, population, names, recipe)
    report("counting: special uniques", 0.3)
    special = find_special_uniques(classes, largest_msu)
    report("counting: intruders", 0.9)
    n, sizes = frame.n_records, classes.sizes
    represented = None if weights is None else classes.sums(weights)
    risks = None if represented is None else individual_risk(sizes, represented)
    journalist = risks if in_population is None else journalist_risks(sizes, in_population[0])
    match = _match_chance(classes, special, sampling_fraction, in_population, weights)
    lacking = np.any([codes < 0 for codes in classes.codes], axis=0)
    found = RiskAssessment(
        n_records=n,
        k=recipe.k,
        quasi_identifiers=tuple(names),
        records_with_missing=int(lacking.sum()),
        combinations=CombinationCounts(
            classes=len(sizes),
            smallest=int(sizes.min()),
            unique=int((sizes == 1).sum()),
            in_pairs=2 * int((sizes == 2).sum()),
            below_k=int(sizes[sizes < recipe.k].sum()),
            unique_without=_unique_without(classes, names),
        ),
        agreeing=_agreeing(whole, schema, classes, pairs),
        special_uniques=_special_counts(special, names, match) if len(names) > 1 else None,
        estimated=_estimated(recipe, sizes, represented, risks, of_people, limits, match),
        population=None if in_population is None else _population_counts(sizes, *in_population, recipe.k),
        prosecutor=scenario_of(1.0 / sizes, sizes, limits),
        journalist=None if journalist is None else scenario_of(journalist, sizes, limits),
        per_record=_per_record(classes, special, match, risks, journalist, pairs) if per_record else None,
        unit=_unit_counts(recipe, units),
    )
    report("counting", 1.0)
    return found


def _checked(thresholds: Iterable[float]) -> tuple[float, ...]:
    allowed = Real(0.0, 1.0)
    found = tuple(thresholds) if isinstance(thresholds, Iterable) else (thresholds,)
    for one in found:
        if not allowed.allows(one) or one >= 1.0:
            raise ParameterError(f"a threshold must be a number of at least 0 and below 1. Got {shown(one)} instead.")
    return tuple(sorted({float(one) for one in found}))


def _weights(frame: Frame, recipe: Recipe, once: IntArray | None) -> FloatArray | None:
    """The sampling weights of what counts once, if not every record does: of its records the smallest."""
    name = recipe.sampling_weight
    if name is None:
        return None
    weights = frame.column(name).absolute()
    if unusable := unusable_weights(weights):
        raise TableError(
            f"sampling weights {name!r}: {unusable} of {len(weights)} are missing or not above 0. Give every record a "
            "weight, or leave sampling_weight out of the recipe"
        )
    if not people_can_be(weights):
        raise TableError(
            f"sampling weights {name!r} sum to more people than can be: give each record the number of people that it "
            "stands for"
        )
    if once is None:
        return weights
    smallest = np.full(int(once.max()) + 1, np.inf)
    np.minimum.at(smallest, once, weights)
    return smallest


def _count_population(frame: Frame, population: Any, names: Iterable[str], recipe: Recipe) -> tuple[IntArray, int]:
    """How many of the population each class has, and how many there are altogether."""
    everyone = frame_without_codes(Frame.wrap(population), recipe.input.missing)
    absent = [name for name in names if name not in everyone.names]
    if absent:
        raise TableError(f"the population table lacks the quasi-identifiers {columns_phrase(absent)}")
    if not everyone.n_records:
        raise TableError("the population table has no records")
    if recipe.unit is not None and recipe.unit.key in everyone.names:  # records of one unit that are alike count once
        try:
            units = _units(everyone, recipe.unit.key, recipe)
        except TableError as error:
            raise TableError(f"the population table: {error}") from None
        pairs = _pairs(units, classes_of(everyone, tuple(names)).labels)
        everyone = everyone.take(np.unique(pairs, return_index=True)[1])
    return population_sizes(frame, everyone, tuple(names)), everyone.n_records


def _unique_without(classes: Classes, names: Sequence[str]) -> Mapping[str, int]:
    counts = dict(zip(names, (int(count) for count in unique_without(classes)), strict=True))
    return dict(sorted(counts.items(), key=lambda item: item[1]))


def _units(frame: Frame, key: str, recipe: Recipe) -> IntArray:
    return unit_codes(frame.column(key), recipe.input.missing.get(key, ()))


def _unit_counts(recipe: Recipe, units: IntArray | None) -> UnitCounts | None:
    if recipe.unit is None or units is None:
        return None
    return UnitCounts(recipe.unit.key, len(units), int(units.max()) + 1)


def _pairs(units: IntArray, labels: IntArray) -> IntArray:
    """For each record the number of its unit and class together: what counts once."""
    return label_combinations([units, labels], len(units))


def _agreeing(frame: Frame, schema: Schema, classes: Classes, pairs: IntArray | None) -> tuple[AgreeingRecords, ...]:
    unique = int((classes.sizes == 1).sum())
    found = []
    for name in schema.of_role(Role.CONFIDENTIAL):
        codes = frame.column(name).codes
        records = agreeing_records(codes if pairs is None else _codes_of_pairs(codes, pairs), classes.labels)
        found.append(AgreeingRecords(name, records, records - unique))
    return tuple(sorted(found, key=lambda one: -one.records))


def _codes_of_pairs(codes: IntArray, pairs: IntArray) -> IntArray:
    """The value of each unit in a class; where its records do not agree, one that nobody else has."""
    first = np.unique(pairs, return_index=True)[1]
    differ = np.zeros(len(first), dtype=np.bool_)
    differ[pairs[codes != codes[first][pairs]]] = True
    beyond = int(codes.max(initial=0)) + 1
    return np.where(differ, beyond + np.arange(len(first)), codes[first])


def _match_chance(
    classes: Classes,
    special: SpecialUniques,
    fraction: float | None,
    in_population: tuple[IntArray, int] | None,
    weights: FloatArray | None,
) -> MatchChance | None:
    """How often a match with a unique record is right, and the largest share that a record has in it by SUDA."""
    n, unique = len(classes.labels), classes.sizes == 1
    n_unique = int(unique.sum())
    if not n_unique:
        return None
    chance: float
    error: float | None = 0.0
    if in_population is not None:
        fraction, said = min(n / in_population[1], 1.0), "by the population table"
        chance = n_unique / float(np.maximum(in_population[0][unique], 1).sum())
    else:
        said = "as given"
        if fraction is None and weights is not None:
            fraction, said = min(n / float(weights.sum()), 1.0), "by the sampling weights"
        if fraction is None:
            return None
        chance, error = match_probability(n_unique, int((classes.sizes == 2).sum()), fraction)
    total = float(special.scores.sum())
    largest = min(chance * n_unique * float(special.scores.max()) / total, 1.0) if total else chance
    return MatchChance(fraction, said, chance, error, largest, in_population is not None)


def _special_counts(special: SpecialUniques, names: Iterable[str], match: MatchChance | None) -> SpecialUniqueCounts:
    sizes = range(1, special.largest_size + 1)
    shares = dict(zip(names, (float(share) for share in special.contributions), strict=True))
    return SpecialUniqueCounts(
        largest_size=special.largest_size,
        is_complete=special.largest_size == len(shares) - 1,
        records=int((special.smallest > 0).sum()),
        by_size={size: int((special.smallest == size).sum()) for size in sizes},
        msus=dict(zip(sizes, special.msus, strict=True)),
        largest_score=float(special.scores.max(initial=0.0)),
        mean_score=float(special.scores.mean()) if len(special.scores) else 0.0,
        contributions=dict(sorted(shares.items(), key=lambda item: -item[1])),
        match=match,
    )


def _estimated(
    recipe: Recipe,
    sizes: IntArray,
    represented: FloatArray | None,
    risks: FloatArray | None,
    of_people: FloatArray | None,
    limits: tuple[float, ...],
    match: MatchChance | None,
) -> EstimatedRisk | None:
    if represented is None or risks is None or of_people is None:
        return None
    assert recipe.sampling_weight is not None
    summed = scenario_of(risks, sizes, limits)
    unique = sizes == 1
    of_unique = float(risks[unique].mean()) if unique.any() else None
    return EstimatedRisk(
        weight=recipe.sampling_weight,
        population=float(of_people.sum()),
        largest=summed.largest,
        average=summed.average,
        expected=float((risks * sizes).sum()),
        spread=float(np.sqrt((risks * (1.0 - risks) * sizes).sum())),
        above=summed.above,
        # A sum of weights of exactly 1 may be rounded below their number.
        records_underweighted=int(sizes[represented < sizes * (1.0 - 1e-12)].sum()),
        average_of_unique=of_unique,
        is_understated=of_unique is not None and match is not None and _at_least(match, sizes) > of_unique,
    )


def _at_least(match: MatchChance, sizes: IntArray) -> float:
    """The chance that a match is right, less two standard errors; without pairs, as if there were three.

    No event in many trials is compatible with up to three expected ones (the rule of three, 95 %).
    """
    if match.standard_error is not None:
        return match.chance - 2.0 * match.standard_error
    return match_probability(int((sizes == 1).sum()), _RULE_OF_THREE, match.fraction)[0]


def _population_counts(sizes: IntArray, shared: IntArray, n_population: int, k: int) -> PopulationCounts:
    there = shared > 0
    return PopulationCounts(
        population=n_population,
        k_map=int(shared[there].min()) if there.any() else 0,
        without=int(sizes[~there].sum()),
        unique=int(sizes[shared == 1].sum()),
        below_k=int(sizes[there & (shared < k)].sum()),
        incomplete=int(sizes[shared < sizes].sum()),
    )


def _per_record(
    classes: Classes,
    special: SpecialUniques,
    match: MatchChance | None,
    risks: FloatArray | None,
    journalist: FloatArray | None,
    pairs: IntArray | None,
) -> PerRecord:
    """Values for single records, in the order of the table."""
    labels = classes.labels if pairs is None else classes.labels[pairs]
    scores = np.zeros(len(classes.sizes))
    scores[special.classes] = special.scores
    of_classes = {"class_size": classes.sizes.astype(np.float64), "suda": scores}
    total = float(special.scores.sum())
    if match is not None and total:
        of_classes["dis_suda"] = np.minimum(match.chance * len(special.scores) * scores / total, 1.0)
    if risks is not None:
        of_classes["individual_risk"] = risks
    if journalist is not None:
        of_classes["journalist_risk"] = journalist
    return PerRecord({name: Values("original", values[labels]) for name, values in of_classes.items()})
