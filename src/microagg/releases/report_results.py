"""Run what a report shows: measures, recounts, correlations and the loss of cells, all before a word is written."""

from __future__ import annotations

from collections.abc import Sequence
from dataclasses import dataclass
from functools import cached_property

import numpy as np

from microagg._typing import FloatArray, IntArray
from microagg.errors import InputError, TableError
from microagg.evaluation.alignment import Rows, rows_of_kind
from microagg.evaluation.correlation import correlation_matrix
from microagg.evaluation.evaluate import judge, reads_bounds
from microagg.evaluation.measures import OWN_BY_DEFAULT, all_measures
from microagg.evaluation.pairs import combinations, pair
from microagg.evaluation.points import attribute_points, row_distances, spread_within
from microagg.evaluation.result import Evaluation, RowKind
from microagg.privacy.guarantee import K_ANONYMITY
from microagg.privacy.verify import Recount, absent_from, recount
from microagg.recipe.choices import AggregateForm
from microagg.recipe.protect import requirements_of
from microagg.releases.alike import classes_of, find_alike, whole_groups
from microagg.releases.input import numbers_of_text
from microagg.reports.document import Report
from microagg.reports.results import (
    BlockSizes,
    CellLoss,
    CellResults,
    ClassesFound,
    Correlations,
    MeasureResults,
    Part,
    ReportResults,
)
from microagg.reports.sections.cells import BLOCKS_SHOWN
from microagg.reports.sections.correlations import CORRELATED
from microagg.reports.sections.measures import MOST_PAIRED
from microagg.reports.source import ReportRequest, ReportSource, random_rows
from microagg.schema.attribute import Kind
from microagg.schema.encode import encode
from microagg.statements.exposure import Exposure, exposure_of
from microagg.statements.requirements import RequirementCount, confidential_values, count_requirements
from microagg.tables.frames import Frame

__all__ = [
    "COMPARED",
    "ON_ALL",
    "QUICK",
    "SAMPLED",
    "Comparison",
    "correlate",
    "make_report",
    "measure_release_alone",
]

COMPARED = 100_000
"""Costly measures of larger tables are taken on about so many records: whole classes, chosen at random."""
_FEWEST, _VALUES = 1_000, 2_000_000

ON_ALL = ("SSE_SST", "IL1s", "JSD", "D_Y", "label_purity", "k", "k_prime", "singled_out", "distinct_l_min")
"""Measures that cost little: every report takes them on all records."""

SAMPLED = ("KS", "wasserstein", "correlation_difference", "rank_correlation_difference", "interval_disclosure_value")
"""Measures that are means over records or attributes: for large tables a sample of whole classes estimates them."""

QUICK = (*ON_ALL, *SAMPLED, "t_closeness")
"""What every report has of tables that are compared whole; none of them needs compiled code."""

_OF_PAIRS = ("correlation_difference", "rank_correlation_difference")
_OF_RELEASE_ALONE = ("k", "k_prime", "singled_out", "distinct_l_min")

Classes = tuple[Sequence[str], IntArray]


def make_report(request: ReportRequest) -> Report:
    """Compute all that the request may show, and write the report from it."""
    comparison = Comparison(request)
    results = ReportResults(
        measures=_measure(comparison) if request.may_compare else None,
        cells=_measure_cells(comparison),
        correlations=correlate(request),
        exposure=_count_exposure(request),
        recount=_recount(request),
        requirements=_count_requirements(request),
        classes=_find_in_classes(request),
        alike=find_alike(request, comparison.classes, comparison.most),
    )
    return Report.of(ReportSource.answer(request, results))


def measure_release_alone(request: ReportRequest) -> Evaluation:
    """Measures that the released table alone decides."""
    on = Comparison(request).whole
    return judge(on.before, on.after, request.schema, on.rows, measures=_OF_RELEASE_ALONE)


@dataclass(frozen=True)
class Sample:
    """Records of both tables that are compared.

    Attributes
    ----------
    before, after : Frame
    rows : Rows
        What is known of the released ones.
    is_whole : bool
        False if records were chosen.
    places : ndarray
        For each compared released record its place in the original, if that is known, else in the release.
    """

    before: Frame
    after: Frame
    rows: Rows
    is_whole: bool
    places: IntArray


@dataclass(frozen=True)
class Comparison:
    """The original and the released table of a request, whole or in part."""

    request: ReportRequest

    @property
    def most(self) -> int:
        """On how many records costly measures are taken at most: fewer if there are many attributes."""
        request = self.request
        if request.full:
            return max(request.released.n_records, request.original.n_records if request.original is not None else 0)
        return min(COMPARED, max(_FEWEST, _VALUES // max(len(request.published), 1)))

    @cached_property
    def whole(self) -> Sample:
        """All records of both tables."""
        before, released, origins = self.request.original, self.request.released, self.request.origins
        assert before is not None
        everything = np.arange(released.n_records)
        return Sample(before, released, self._rows(everything), True, everything if origins is None else origins)

    @cached_property
    def sample(self) -> Sample:
        """The records on which costly measures are taken."""
        before, released, origins = self.request.original, self.request.released, self.request.origins
        assert before is not None
        if max(released.n_records, before.n_records) <= self.most:
            return self.whole
        labels = np.arange(released.n_records) if self.classes is None else self.classes
        chosen = whole_groups(labels, self.most)
        if origins is not None:
            places = origins[chosen]
            rows = Rows(np.arange(len(chosen), dtype=np.int64))
            # Records that were left out are records of the original, too: as large a share of them.
            left_out = np.flatnonzero(np.bincount(origins, minlength=before.n_records) == 0)
            others = left_out[random_rows(len(left_out), len(left_out) * len(chosen) // len(origins))]
            beside = before.take(np.concatenate([places, others]))
            return Sample(beside, released.take(chosen), rows, False, places)
        if before.n_records > self.most:
            before = before.take(random_rows(before.n_records, self.most))
        return Sample(before, released.take(chosen), self._rows(chosen), False, chosen)

    def _rows(self, chosen: IntArray) -> Rows:
        if not self.request.rows_are_records:
            return rows_of_kind(self.request.row_kind)
        if self.request.origins is None:
            return Rows(None, self.request.why_not_aligned or Rows().why_not)
        return Rows(self.request.origins[chosen])

    @cached_property
    def classes(self) -> IntArray | None:
        """Released rows with equal quasi-identifiers, by label; None if they cannot be compared."""
        return classes_of(self.request.released, self.request.schema.quasi_identifiers)


def _measure(comparison: Comparison) -> MeasureResults:
    """Measures of :func:`microagg.evaluate`: all, or a quick choice; for large tables on a sample."""
    request, sample = comparison.request, comparison.sample
    # One record is much of a small table: a mean over all would be a figure about few.
    small = not request.internal and request.released.n_records < 2 * request.least
    too_many_pairs = not request.full and len(request.published) > MOST_PAIRED and not small
    left_out = _OF_PAIRS if too_many_pairs else ()

    def take(on: Sample, names: tuple[str, ...] | None) -> Evaluation:
        wanted = None if names is None else [name for name in names if name not in left_out]
        options = {"bounds_from_data": reads_bounds(request.recipe)}
        return judge(
            *(on.before, on.after, request.schema, on.rows),
            measures=wanted,
            options=options,
            per_record=request.internal,
        )

    quick = not (small or request.full)
    try:
        if not quick:
            everything = None if request.internal else OWN_BY_DEFAULT
            found = take(comparison.whole, _OF_RELEASE_ALONE if small else everything)
        elif sample.is_whole:
            found = take(sample, QUICK)
        else:
            found = _join(take(comparison.whole, ON_ALL), take(sample, SAMPLED))
    except InputError as error:  # another tool's release may lack columns or hold other types
        return MeasureResults(problem=str(error))
    estimated = quick and not sample.is_whole
    return MeasureResults(
        found,
        is_of_release_alone=small,
        leaves_out_pairs=too_many_pairs,
        n_sampled=sample.after.n_records if estimated else None,
        estimated=tuple(name for name in SAMPLED if name in found) if estimated else (),
        places=comparison.whole.places,
    )


def _join(whole: Evaluation, estimated: Evaluation) -> Evaluation:
    """Measures of all records and of a sample, in their usual order. Values per record are of all records only."""
    by_name = {one.name: one for one in (*whole, *estimated)}
    return Evaluation(tuple(by_name[one.name] for one in all_measures() if one.name in by_name), whole.per_record)


def _measure_cells(comparison: Comparison) -> CellResults:
    """Sizes of the cells, or of the classes where cells are not known, and what each lost."""
    request = comparison.request
    if request.is_private and not request.internal:
        return CellResults()
    may_compare = request.may_compare and request.origins is not None
    if request.blocks:
        sizes = [
            BlockSizes("cell", tuple(block.attributes), np.bincount(block.labels[block.labels >= 0]))
            for block in request.blocks[:BLOCKS_SHOWN]
        ]
        first = request.blocks[0]
        loss = _loss(comparison, "cell", first.attributes, first.labels[request.origins]) if may_compare else None
        return CellResults(tuple(sizes), len(request.blocks), loss)
    classes = _classes(request)
    sizes = [BlockSizes("class", tuple(names), np.bincount(labels)) for names, labels in classes[:BLOCKS_SHOWN]]
    loss = _loss(comparison, "class", *classes[0]) if may_compare and classes else None
    return CellResults(tuple(sizes), len(request.partition_blocks), loss)


def _classes(request: ReportRequest) -> list[Classes]:
    """Classes that the released table shows, block by block; none if records were drawn, or rows are not records."""
    drawn = request.recipe.aggregate.form is AggregateForm.SAMPLED
    if drawn or request.is_private or not request.rows_are_records:
        return []
    blocks: list[Sequence[str]] = [request.schema.quasi_identifiers]
    if request.manifest is not None:
        blocks = [tuple(block.get("attributes", ())) for block in request.partition_blocks]
    if any(name not in request.released.names for names in blocks for name in names):
        return []
    try:
        return [(names, combinations(request.released, names)) for names in blocks]
    except TableError:  # values that cannot be compared; the section on measures says so
        return []


def _loss(comparison: Comparison, part: Part, attributes: Sequence[str], all_labels: IntArray) -> CellLoss:
    """Mean squared distance of a cell's records to what it publishes, in percent of that to the overall mean."""
    request = comparison.request
    assert request.original is not None
    assert request.origins is not None
    rows = whole_groups(all_labels, comparison.most)
    before_all, after_all = request.original.take(request.origins[rows]), request.released.take(rows)
    lost = np.zeros(len(rows))
    total = 0.0
    for name in attributes:
        try:
            both = pair(before_all, after_all, name, request.schema[name])
            before, after = attribute_points(both, missing_apart=False)
        except TableError as error:  # a text file need not say what its values were
            return CellLoss(part, f"Cannot be measured: {error}.")
        with np.errstate(over="ignore", invalid="ignore"):
            lost += row_distances(before, after)
            total += spread_within(before, np.zeros(len(rows), dtype=np.int64))
    kept, labels = np.unique(all_labels[rows], return_inverse=True)
    if not (np.isfinite(lost).all() and np.isfinite(total)):
        return CellLoss(part, "Numbers are too large for their squared distances.")
    if total == 0:
        return CellLoss(part, "The quasi-identifiers do not vary: nothing can be lost.")
    sizes = np.bincount(labels)
    shares = 100 * np.bincount(labels, weights=lost) / sizes / total
    return CellLoss(part, "", kept, sizes, shares, is_sample=len(rows) < len(all_labels))


def correlate(request: ReportRequest) -> Correlations | None:
    """Correlations of the first numeric and ordinal attributes; None where values in a row do not belong together."""
    if request.row_kind is RowKind.RANKS:
        return None
    released, original = request.described
    kept: list[tuple[str, FloatArray]] = []
    problems = []
    for name in request.published:
        if request.schema[name].kind not in (Kind.NUMERIC, Kind.ORDINAL) or len(kept) > CORRELATED:
            continue
        try:
            kept.append((name, _numbers(released, name, request)))
        except TableError as error:
            problems.append(str(error))
    has_more, kept = len(kept) > CORRELATED, kept[:CORRELATED]
    names = tuple(name for name, _ in kept)
    after = correlation_matrix([values for _, values in kept], max(2, request.least))
    before = None
    if len(names) > 1 and request.internal and original is not None and all(name in original.names for name in names):
        before = correlation_matrix([_numbers(original, name, request) for name in names])
    return Correlations(names, after, before, tuple(problems), has_more)


def _numbers(frame: Frame, name: str, request: ReportRequest) -> FloatArray:
    """Numbers or ranks of an attribute; another tool may have left its declared bounds."""
    values = encode(frame.column(name), request.schema[name].model_copy(update={"bounds": None})).values
    return np.where(np.isfinite(values), values, np.nan)


def _count_exposure(request: ReportRequest) -> Exposure | None:
    """What k does not hide; None where the public form quotes the statement, or nothing is k-anonymous."""
    if request.statement is not None and not request.internal:
        return None
    if request.statement is not None:
        guarantees = request.statement["guarantees"]
        blocks = [tuple(one["attributes"]) for one in guarantees if one["model"] == K_ANONYMITY]
    else:
        blocks = [request.schema.quasi_identifiers] if _may_be_k_anonymous(request) else []
    if not blocks or any(name not in request.released.names for block in blocks for name in block):
        return None
    try:
        return exposure_of(request.released, request.recipe, blocks, request.original)
    except TableError:  # another tool's values that cannot be compared; the section on measures says so
        return None


def _recount(request: ReportRequest) -> Recount | None:
    """Combinations of quasi-identifiers in a table that came without a statement."""
    names = request.schema.quasi_identifiers
    if request.statement is not None or not _may_be_k_anonymous(request):
        return None
    if any(name not in request.released.names for name in names):
        return None
    return recount(request.released.table, names, request.recipe.k)


def _count_requirements(request: ReportRequest) -> tuple[RequirementCount, ...]:
    """What the recipe requires of confidential values, on a table that came without a statement."""
    if request.statement is not None or not _has_protected(request):
        return ()
    try:
        return count_requirements(
            numbers_of_text(request.released.table, request.recipe), request.recipe, request.released.table
        )
    except TableError:  # the section on measures says which column cannot be compared
        return ()


def _find_in_classes(request: ReportRequest) -> tuple[ClassesFound, ...]:
    """What requirements bound, for each class of the released table: about few records, so for the data holder only."""
    if not request.internal or not _has_protected(request):
        return ()
    typed = Frame.of(numbers_of_text(request.released.table, request.recipe), request.released.library)
    try:
        classes = combinations(request.released, request.schema.quasi_identifiers)
        values = confidential_values(typed, request.recipe)
    except TableError:  # as above
        return ()
    per_class = [(one, one.per_cell(values[one.attribute], classes)) for one in requirements_of(request.recipe)]
    return tuple(ClassesFound(one, found, one.holds(found)) for one, found in per_class)


def _has_protected(request: ReportRequest) -> bool:
    """Whether something is required of confidential values, and the released table has what it takes to count it."""
    needed = [*request.recipe.protect, *request.schema.quasi_identifiers]
    there = not absent_from(request.released.table, needed) and request.released.n_records > 0
    return bool(request.recipe.protect) and there


def _may_be_k_anonymous(request: ReportRequest) -> bool:
    """Whether the recipe's method publishes classes of equal quasi-identifiers that can be counted."""
    return not request.is_private and request.recipe.aggregate.form is not AggregateForm.SAMPLED
