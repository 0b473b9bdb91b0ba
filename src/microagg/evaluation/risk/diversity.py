"""Diversity: how much the confidential values differ within the cells of a release."""

from __future__ import annotations

from collections.abc import Callable, Sequence

import numpy as np
import numpy.typing as npt

from microagg._typing import IntArray
from microagg.evaluation.context import Context
from microagg.evaluation.definition import Definition, Limit, MeasureResult, Need
from microagg.evaluation.diversity import (
    STEP,
    Diversity,
    agreeing_records,
    coarse_codes,
    label_diversity,
)
from microagg.evaluation.result import Values
from microagg.evaluation.utility.papers import DEPENDENCE, L_DIVERSITY
from microagg.privacy.requirement import ConfidentialValues
from microagg.privacy.within_cells import (
    entropy_per_cell,
    largest_share_per_cell,
    range_per_cell,
    recursive_per_cell,
)
from microagg.schema.attribute import Kind, Role
from microagg.schema.encode import EncodedColumn
from microagg.space.standardize import standardize
from microagg.tables.words import OUR_OWN, Words

__all__ = ["DIVERSITY", "STEP_WORDS", "confidential_codes", "exact_and_coarse", "shuffled_cells"]


N_SHUFFLES = 3
_MOST_RECURSIVE = 10

STEP_WORDS = f"(numbers in steps of {STEP} standard deviations)"


def exact_and_coarse(attributes: Sequence[EncodedColumn]) -> tuple[list[IntArray], list[IntArray]]:
    """Each attribute's values as codes 0, 1, ...: all apart, and numbers in steps of 0.2 standard deviations."""
    exact: list[IntArray] = []
    coarse: list[IntArray] = []
    for attribute in attributes:
        codes = ConfidentialValues.of(attribute).different
        exact.append(codes)
        in_steps = attribute.kind is Kind.NUMERIC
        coarse.append(_dense(coarse_codes(standardize(attribute.values, "zscore"))) if in_steps else codes)
    return exact, coarse


def _dense(values: npt.NDArray[np.generic]) -> IntArray:
    codes: IntArray = np.unique(values, return_inverse=True)[1].astype(np.int64)
    return codes


def _diversity(context: Context) -> Diversity:
    return context.cached("label diversity", lambda: label_diversity(*confidential_codes(context), context.cells))


def confidential_codes(context: Context) -> tuple[list[IntArray], list[IntArray]]:
    """The confidential attributes as codes: all values apart, and numbers in steps."""
    return context.cached("confidential codes", lambda: exact_and_coarse(context.confidential))


def shuffled_cells(context: Context) -> list[IntArray]:
    """Cells of the same sizes with records drawn at random: what any cells of that size would show."""
    rng = context.rng("shuffled cells")
    return context.cached("shuffled cells", lambda: [rng.permutation(context.cells) for _ in range(N_SHUFFLES)])


def _by_chance(context: Context) -> list[Diversity]:
    def compute() -> list[Diversity]:
        return [label_diversity(*confidential_codes(context), cells) for cells in shuffled_cells(context)]

    return context.cached("label diversity by chance", compute)


def _measure_of(read: Callable[[Diversity], float]) -> Callable[[Context], MeasureResult]:
    def compute(context: Context) -> MeasureResult:
        by_chance = float(np.mean([read(found) for found in _by_chance(context)]))
        return MeasureResult(float(read(_diversity(context))), context.unmeasured, baseline=by_chance)

    return compute


def _entropy(context: Context) -> MeasureResult:
    exact, _ = confidential_codes(context)
    found = [entropy_per_cell(codes, context.cells) for codes in exact]
    details = {one.name: float(per_cell.min()) for one, per_cell in zip(context.confidential, found, strict=True)}
    worst = np.min(found, axis=0)
    by_chance = [min(entropy_per_cell(codes, cells).min() for codes in exact) for cells in shuffled_cells(context)]
    return MeasureResult(
        float(worst.min()),
        context.unmeasured,
        baseline=float(np.mean(by_chance)),
        details=details,
        records=Values("released", worst[context.cells]) if context.per_record else None,
    )


def _recursive(context: Context) -> MeasureResult:
    exact, _ = confidential_codes(context)
    most = min(_diversity(context).smallest, _MOST_RECURSIVE)
    if most < 2:
        return MeasureResult(None, "no c holds: a cell has one value only of some confidential attribute")
    found = {
        f"l = {rarest}": max(float(recursive_per_cell(codes, context.cells, rarest).max()) for codes in exact)
        for rarest in range(2, most + 1)
    }
    return MeasureResult(found["l = 2"], context.unmeasured, details=found)


def _largest_share(context: Context) -> MeasureResult:
    exact, _ = confidential_codes(context)
    found = [largest_share_per_cell(codes, context.cells) for codes in exact]
    details = {one.name: float(per_cell.max()) for one, per_cell in zip(context.confidential, found, strict=True)}
    by_chance = [
        max(largest_share_per_cell(codes, cells).max() for codes in exact) for cells in shuffled_cells(context)
    ]
    return MeasureResult(max(details.values()), context.unmeasured, baseline=float(np.mean(by_chance)), details=details)


def _smallest_range(context: Context) -> MeasureResult:
    numbers = [one for one in context.confidential if one.kind is Kind.NUMERIC]
    if not numbers:
        return MeasureResult(None, "no confidential attribute is numeric")
    values = {one.name: ConfidentialValues.of(one).values for one in numbers if not one.missing.all()}
    deviations = {name: float(np.nanstd(found)) for name, found in values.items()}
    details = {name: float(range_per_cell(found, context.cells).min()) for name, found in values.items()}
    relative = [details[name] / deviation for name, deviation in deviations.items() if deviation > 0.0]
    if not relative:
        return MeasureResult(None, "no numeric confidential attribute has different values", details=details)
    return MeasureResult(min(relative), context.unmeasured, details=details)


def _agreement(context: Context) -> MeasureResult:
    names = [name for name in context.schema.of_role(Role.CONFIDENTIAL) if name in context.after.names]
    if not names:
        return MeasureResult(None, "no confidential attribute is published")
    codes = [context.after.column(name).codes for name in names]
    n_records = context.after.n_records
    details: dict[str, float | None] = {
        name: agreeing_records(one, context.cells) / n_records for name, one in zip(names, codes, strict=True)
    }
    by_chance = [max(agreeing_records(one, cells) for one in codes) / n_records for cells in shuffled_cells(context)]
    worst = max(value for value in details.values() if value is not None)
    return MeasureResult(worst, baseline=float(np.mean(by_chance)), details=details)


_LARGEST_CELL = Limit("the size of the largest cell", lambda context: context.largest_cell)

DIVERSITY = (
    Definition(
        "agreement",
        "risk",
        "diversity",
        "lower",
        "share of records in cells that agree in a confidential attribute, missing counted as a value: the largest "
        "over attributes, with or without a kind. What is true of the whole cell is known of each of its records",
        _agreement,
        high=1.0,
        explained=Words(
            "It says which share of records sits in a cell whose records all have the same confidential value. For "
            "these people the value is known, whatever k is.",
            "It can be high by chance if one value is frequent, and 0 although nearly all records of a cell agree. "
            "See largest_share.",
            f"{L_DIVERSITY} (the homogeneity attack)",
            short="share of records in cells of one confidential value",
        ),
    ),
    Definition(
        "l_avg",
        "risk",
        "diversity",
        "higher",
        f"mean over cells of the number of different values {STEP_WORDS} of the least diverse confidential attribute",
        _measure_of(lambda found: found.l_avg),
        low=1.0,
        high=_LARGEST_CELL,
        needs=(Need.CELLS,),
        explained=Words(
            "It says how many different confidential values a cell has on average, close numbers counted as one. More "
            "values leave an intruder with more doubt.",
            "It is a mean: some cells may hold one value only. It grows with the size of cells, so compare with what "
            "chance reaches.",
            DEPENDENCE,
            short="average number of confidential values in a cell, close ones as one",
        ),
    ),
    Definition(
        "distinct_l_min",
        "risk",
        "diversity",
        "higher",
        "the fewest different values that the least diverse confidential attribute has in any cell",
        _measure_of(lambda found: found.smallest),
        low=1.0,
        high=_LARGEST_CELL,
        needs=(Need.CELLS,),
        explained=Words(
            "It counts the different confidential values of the least diverse cell. At 1, some people's value is "
            "known for sure.",
            "Different values need not be equally likely: nine of ten records may share one. Numbers that differ by a "
            "little count as different.",
            L_DIVERSITY,
            short="fewest confidential values in a cell",
        ),
    ),
    Definition(
        "distinct_l_mean",
        "risk",
        "diversity",
        "higher",
        "mean over cells of the number of different values of the least diverse confidential attribute",
        _measure_of(lambda found: found.mean),
        low=1.0,
        high=_LARGEST_CELL,
        needs=(Need.CELLS,),
        explained=Words(
            "It says how many different confidential values a cell has on average. It is the typical case, where "
            "distinct_l_min is the worst.",
            "It is a mean: look at distinct_l_min, too. Numbers that differ by a little count as different.",
            L_DIVERSITY,
            short="average number of confidential values in a cell",
        ),
    ),
    Definition(
        "label_purity",
        "risk",
        "diversity",
        "lower",
        f"mean over cells of the share of records with the most frequent value {STEP_WORDS} of the purest attribute",
        _measure_of(lambda found: found.purity),
        high=1.0,
        needs=(Need.CELLS,),
        explained=Words(
            "It says how large the share of a cell's most frequent confidential value is on average. The nearer to 1, "
            "the surer an intruder may be.",
            "Where one value is frequent everywhere, cells are pure by chance alone. Compare with what chance reaches.",
            OUR_OWN,
            short="average share of a cell's most frequent confidential value",
        ),
    ),
    Definition(
        "p_sensitivity",
        "risk",
        "diversity",
        "higher",
        "p of p-sensitive k-anonymity: every confidential attribute has at least p different values in every cell",
        _measure_of(lambda found: found.smallest),
        low=1.0,
        high=_LARGEST_CELL,
        needs=(Need.CELLS,),
        explained=Words(
            "It is the p of p-sensitive k-anonymity: in every cell, every confidential attribute has at least p "
            "different values.",
            "It is the number of distinct_l_min under its other name, and has the same limits: values may be very "
            "unequally likely.",
            "Truta & Vinay (2006), doi:10.1109/ICDEW.2006.116",
            short="fewest values of any confidential attribute in a cell",
        ),
    ),
    Definition(
        "entropy_l",
        "risk",
        "diversity",
        "higher",
        "exp of the smallest entropy that a confidential attribute's values have in a cell: entropy l-diversity holds "
        "up to this l",
        _entropy,
        low=1.0,
        high=_LARGEST_CELL,
        needs=(Need.CELLS,),
        explained=Words(
            "It says to how many equally likely confidential values the least diverse cell comes. It is stricter than "
            "counting, because rare values count little.",
            "If one value is frequent in the whole table, no cell can reach a high number, and that is nobody's fault.",
            L_DIVERSITY,
            short="least evenness of confidential values in a cell",
        ),
    ),
    Definition(
        "largest_share",
        "risk",
        "diversity",
        "lower",
        "largest share of a cell's records that have one value of a confidential attribute: max_share holds from this "
        "on",
        _largest_share,
        high=1.0,
        needs=(Need.CELLS,),
        explained=Words(
            "It is the largest share that one confidential value has in any cell. Whoever guesses that value for a "
            "person of that cell is right so often.",
            "A value that most people have anyway has a large share in every cell. One small cell decides it.",
            "Wong et al. (2006), (alpha, k)-anonymity, doi:10.1145/1150402.1150499",
            short="largest share of one confidential value in a cell",
        ),
    ),
    Definition(
        "smallest_range",
        "risk",
        "diversity",
        "higher",
        "smallest range that a confidential attribute's numbers have in a cell, in standard deviations of the "
        "attribute; the details have each attribute's own, up to which min_range holds",
        _smallest_range,
        needs=(Need.CELLS,),
        explained=Words(
            "It says how far apart the confidential numbers of a cell are, in the cell where they are closest. A "
            "small range tells everybody of that cell nearly their number.",
            "One outlier stretches the range of a cell whose other numbers are all alike.",
            "Zhang et al. (2007), (k, e)-anonymity, doi:10.1109/ICDE.2007.367857",
            short="smallest range of confidential numbers in a cell",
        ),
    ),
    Definition(
        "recursive_c",
        "risk",
        "diversity",
        "lower",
        "largest r_1 / (r_2 + ... + r_m) over cells and confidential attributes, with r the counts of values from the "
        "most frequent: recursive (c, 2)-diversity holds for every c above it; other l in the details",
        _recursive,
        needs=(Need.CELLS,),
        explained=Words(
            "It compares, in each cell, the most frequent confidential value with all others together. At 3, one "
            "value has three times the records of the rest.",
            "It is infinite, and so has no value, where a cell holds a single value. Frequent values of the whole "
            "table raise it everywhere.",
            L_DIVERSITY,
            short="most frequent value against the others, in the worst cell",
        ),
    ),
)
