"""Settle missing values and sampling weights before any cell is formed."""

from __future__ import annotations

from collections.abc import Mapping, Sequence
from contextlib import suppress
from dataclasses import dataclass, replace

import numpy as np

from microagg._labels import label_combinations
from microagg._random import uniforms_from
from microagg._typing import FloatArray, IntArray
from microagg.aggregate.centroid import Cells, cell_medians, cell_modes
from microagg.errors import TableError
from microagg.recipe.choices import Draws, MissingPolicy
from microagg.recipe.recipe import Recipe
from microagg.releases.groups import Grouping, group_records
from microagg.releases.units import Units, keep_at_most, require_enough, require_rows, surplus_words, units_of
from microagg.schema.attribute import Attribute, Kind
from microagg.schema.encode import EncodedColumn, encode
from microagg.statements.exposure_text import count_of_many, count_of_many_words
from microagg.tables.frames import Column, Frame
from microagg.tables.phrases import columns_phrase, names_phrase

__all__ = ["Prepared", "groups_of_block", "pattern_remark", "prepare", "refuse_missing", "strata_remark", "unprepared"]


_SMALLEST_SHARE = 1e-15  # of the largest sampling weight


@dataclass(frozen=True)
class Prepared:
    """Records ready to be put into cells.

    Attributes
    ----------
    frame : Frame
        The records that will be published.
    rows : ndarray
        Their places in the input.
    measured : dict of name to EncodedColumn
        The quasi-identifiers, in the order of the table; missing values settled by the policy.
    guides : dict of name to EncodedColumn
        Attributes that help to form the cells and are published as they are; missing values settled by the policy.
    paired : dict of name to EncodedColumn
        Attributes that draws are paired with, published as they are; no missing value is filled in.
    weights : ndarray or None
    remarks : tuple of str
    units : Units or None
        Whose each record is; None if every one stands for itself.
    """

    frame: Frame
    rows: IntArray
    measured: dict[str, EncodedColumn]
    guides: dict[str, EncodedColumn]
    paired: dict[str, EncodedColumn]
    weights: FloatArray | None
    remarks: tuple[str, ...]
    units: Units | None = None


REMARKS = {
    MissingPolicy.SUPPRESS: (r"<count> records with a missing quasi-identifier( or without <columns>)? were left out",),
    MissingPolicy.IMPUTE: (
        r"missing values of <columns> were replaced by the column's median \(numeric, ordinal\) or most frequent "
        r"category \(nominal\) before cells were formed",
        r"missing values of <columns> were replaced by the column's median or most frequent category where cells were "
        r"formed, and are published as missing",
    ),
    MissingPolicy.OWN_CELL: (
        r"(records share a cell only with records that lack the same quasi-identifiers, and missing stays missing|"
        r"units share a cell only with units of which records lack the same quasi-identifiers, and a cell publishes "
        r"a value only where all its records have one)"
        r"(, but for patterns of missing values with fewer than k <counted> \(<records>\), which were merged; a cell "
        r"publishes a value only where all its records have one)?",
    ),
}
"""Remarks on missing values under each policy; ``<count>`` and the like as in `check_remarks`."""
STRATA = (
    r"no cell crosses the strata of <strata>"
    r"(, but for strata with fewer than k <counted> \(<records>\), which were merged; their cells <published>)?"
)
"""The remark on strata."""


def prepare(frame: Frame, recipe: Recipe) -> Prepared:
    """Measure the quasi-identifiers and carry out the missing-value policy."""
    protected = set(recipe.schema.quasi_identifiers)
    names = [name for name in frame.names if name in protected]
    data_free = recipe.entry.data_free_space
    measured = [encode(frame.column(name), recipe.attributes[name], data_free=data_free) for name in names]
    guides, paired = (
        [_measure_guide(frame.column(name), recipe.attributes[name]) for name in names_of]
        for names_of in (recipe.guides, recipe.aggregate.paired_with)
    )
    weights = _sampling_weights(frame, recipe)
    units = units_of(frame, recipe)
    rows = np.arange(frame.n_records)
    remarks: list[str] = []
    if recipe.sampling_weight is not None:
        remarks.append(f"representatives are weighted by {recipe.sampling_weight!r}")

    incomplete = [column for column in measured if column.missing.any()]
    guides_incomplete = [column for column in guides if column.missing.any()]
    paired_incomplete = [column for column in paired if column.missing.any() and column.name not in recipe.guides]
    labels_incomplete = [*guides_incomplete, *paired_incomplete]
    if recipe.missing.policy is MissingPolicy.ERROR:
        _refuse_missing("quasi-identifiers", incomplete)
        _refuse_missing("attributes that help to form the cells", guides_incomplete)
        _refuse_missing("attributes that draws are paired with", paired_incomplete)
    if (incomplete or labels_incomplete) and recipe.missing.policy is MissingPolicy.SUPPRESS:
        rows = np.flatnonzero(~np.any([column.missing for column in [*incomplete, *labels_incomplete]], axis=0))
        if len(rows) < recipe.k:
            raise TableError(f"only {len(rows)} records are complete; k = {recipe.k} needs at least {recipe.k}")
        what = "a missing quasi-identifier"
        if labels_incomplete:
            what += f" or without {columns_phrase([column.name for column in labels_incomplete])}"
        remarks.append(f"{frame.n_records - len(rows)} records with {what} were left out")
        frame = frame.take(rows)
        measured = [column.take(rows) for column in measured]
        guides = [column.take(rows) for column in guides]
        paired = [column.take(rows) for column in paired]
        weights = weights[rows] if weights is not None else None
        units = units.take(rows) if units is not None else None
    if units is not None:
        require_enough(units, recipe.k)
    if incomplete and recipe.missing.policy is MissingPolicy.IMPUTE:
        measured = [_impute(column, weights) if column.missing.any() else column for column in measured]
        remarks.append(
            f"missing values of {columns_phrase([column.name for column in incomplete])} were replaced by the "
            "column's median (numeric, ordinal) or most frequent category (nominal) before cells were formed"
        )
    fills_in = recipe.space.guide is not None and recipe.space.guide.fills_in_missing
    if guides_incomplete and recipe.missing.policy is MissingPolicy.IMPUTE and fills_in:
        guides = [_impute(column, weights) if column.missing.any() else column for column in guides]
        remarks.append(
            f"missing values of {columns_phrase([column.name for column in guides_incomplete])} were replaced by the "
            "column's median or most frequent category where cells were formed, and are published as missing"
        )
    return Prepared(
        frame,
        rows,
        {column.name: column for column in measured},
        {column.name: column for column in guides},
        {column.name: column for column in paired},
        weights,
        tuple(remarks),
        units,
    )


def unprepared(frame: Frame, recipe: Recipe, seed: int | None) -> Prepared:
    """Records with nothing settled: a differentially private method measures them on public scales by itself.

    Of units with more records than the recipe's `max_records`, so many are taken by chance.
    """
    rows = np.arange(frame.n_records)
    units = units_of(frame, recipe)
    remarks: list[str] = []
    if units is not None:
        assert recipe.unit is not None
        assert recipe.unit.max_records is not None
        rows = keep_at_most(units, recipe.unit.max_records, uniforms_from(seed))
        require_rows(len(rows), recipe)
        remarks += surplus_words(recipe, frame.n_records - len(rows))
        frame, units = frame.take(rows) if len(rows) < frame.n_records else frame, units.take(rows)
    return Prepared(frame, rows, {}, {}, {}, None, tuple(remarks), units)


def _refuse_missing(what: str, incomplete: Sequence[EncodedColumn]) -> None:
    refuse_missing(what, {column.name: int(column.missing.sum()) for column in incomplete})


def refuse_missing(what: str, missing: Mapping[str, int]) -> None:
    """Raise if columns have missing values, so many each."""
    if missing:
        counts = names_phrase([f"{name!r} ({count})" for name, count in missing.items()])
        raise TableError(
            f"{what} have missing values: {counts}. Say what to do with them: "
            '[missing] policy = "own_cell", "impute" or "suppress"'
        )


def _measure_guide(column: Column, attribute: Attribute) -> EncodedColumn:
    """Measure a column that is published as it is: its numbers may have been kept as the text of a file."""
    import pyarrow as pa

    if attribute.kind is Kind.NUMERIC and column.is_text:
        # What is not a number stays text, and is refused with its count by `encode`.
        with suppress(pa.ArrowInvalid):
            column = Column(column.name, column.values.cast(pa.float64()))
    return encode(column, attribute)


def _sampling_weights(frame: Frame, recipe: Recipe) -> FloatArray | None:
    if recipe.sampling_weight is None:
        return None
    weights = frame.column(recipe.sampling_weight).absolute()
    unusable = int((~np.isfinite(weights) | (weights <= 0)).sum())
    largest: float = weights.max(initial=0.0)
    refuse_weights(recipe, len(weights), unusable, float(weights.min(initial=np.inf)), largest)
    return weights / largest  # only their ratios count, and sums of these cannot overflow


def refuse_weights(recipe: Recipe, n_records: int, unusable: int, smallest: float, largest: float) -> None:
    """Raise unless the sampling weights are numbers above 0 that can be added to each other."""
    if unusable:
        raise TableError(
            f"sampling weights {recipe.sampling_weight!r}: {unusable} of {n_records} are missing or not above 0"
        )
    if smallest < _SMALLEST_SHARE * largest:
        raise TableError(
            f"sampling weights {recipe.sampling_weight!r} differ by more than a factor of {1 / _SMALLEST_SHARE:.0e}: "
            "the smallest would count as nothing"
        )


def _impute(column: EncodedColumn, weights: FloatArray | None) -> EncodedColumn:
    present = column.values[~column.missing]
    if not len(present):
        raise TableError(f"column {column.name!r} has no value at all to impute from")
    everyone = Cells(np.zeros(len(present), dtype=np.int64), None if weights is None else weights[~column.missing])
    if column.kind is Kind.NOMINAL:
        filler = cell_modes(present, everyone)[0]
    else:
        filler = cell_medians(present, everyone, lower=column.kind is Kind.ORDINAL)[0]
    return replace(column, values=np.where(column.missing, filler, column.values))


def groups_of_block(prepared: Prepared, block: Sequence[str], recipe: Recipe) -> tuple[Grouping, tuple[str, ...]]:
    """Groups that no cell of this block may cross: strata, and within them patterns of missing values."""
    n_records = prepared.frame.n_records
    remarks: list[str] = []
    units = prepared.units
    together = units if units is not None and units.together else None
    groups = Grouping(np.zeros(n_records, dtype=np.int64))
    if recipe.strata.by:
        what = f"strata of {strata_phrase(recipe)}"
        strata = label_combinations([prepared.measured[name].values for name in recipe.strata.by], n_records)
        groups = group_records(strata, recipe.k, recipe.strata.small, what, units=units)
        if together is not None:
            together.refuse_crossing(groups.labels, what)
        remarks.append(strata_remark(recipe, groups.merged_records if groups.merged_groups else None))
    patterns = [prepared.measured[name].missing for name in block if prepared.measured[name].missing.any()]
    if not patterns:
        return groups, tuple(remarks)
    if together is not None:  # what one of its records lacks, the unit lacks
        patterns = [together.any_of(pattern) for pattern in patterns]
    within = group_records(
        label_combinations(patterns, n_records),
        recipe.k,
        recipe.missing.small,
        "patterns of missing values",
        within=groups.labels,
        units=units,
    )
    remarks.append(pattern_remark(recipe, within.merged_records if within.merged_groups else None))
    return within, tuple(remarks)


def strata_remark(recipe: Recipe, merged: int | None) -> str:
    """What is said of strata; `merged` records or units of small ones were pooled, None if there were none."""
    exception = (
        ""
        if merged is None
        else f", but for strata with fewer than k {counted_in(recipe)} ({_at_least(merged, recipe.k)}), which were "
        f"merged; their cells {published_of_merged(recipe)}"
    )
    return f"no cell crosses the strata of {strata_phrase(recipe)}{exception}"


def pattern_remark(recipe: Recipe, merged: int | None) -> str:
    """What is said of patterns of missing values; `merged` is as for :func:`strata_remark`."""
    exception = (
        ""
        if merged is None
        else f", but for patterns of missing values with fewer than k {counted_in(recipe)} "
        f"({_at_least(merged, recipe.k)}), which were merged; a cell publishes a value only where all its records have "
        "one"
    )
    if recipe.unit is not None and recipe.unit.together:
        return (
            "units share a cell only with units of which records lack the same quasi-identifiers, and a cell publishes "
            f"a value only where all its records have one{exception}"
        )
    return (
        "records share a cell only with records that lack the same quasi-identifiers, and missing stays missing"
        f"{exception}"
    )


def counted_in(recipe: Recipe) -> str:
    """What k counts."""
    return "records" if recipe.unit is None else "units"


def strata_phrase(recipe: Recipe) -> str:
    return " x ".join(repr(name) for name in recipe.strata.by)


def published_of_merged(recipe: Recipe) -> str:
    """What cells of merged strata publish."""
    drawn = recipe.aggregate.way_of_drawing
    if drawn is Draws.SHARED:
        return "publish what many records share, which need not be one of their strata"
    return "publish the most frequent stratum" if drawn is None else "draw among their strata"


def _at_least(merged: int, k: int) -> str:
    """How many records or units a public remark is about: in two digits, and of few not how few."""
    return f"{count_of_many_words(count_of_many(merged, k), k)} in all"
