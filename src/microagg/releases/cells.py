"""Cells of records, block by block: formed, and answering with a representative or with records drawn from them."""

from __future__ import annotations

from collections.abc import Mapping, Sequence
from dataclasses import replace
from functools import partial
from typing import TYPE_CHECKING, Any

import numpy as np

from microagg._labels import cells_in_order
from microagg._progress import report
from microagg._random import uniforms_from
from microagg._scaling import times_power_of_two
from microagg._typing import FloatArray, IntArray
from microagg.aggregate.centroid import Cells
from microagg.errors import GuaranteeError, TableError
from microagg.methods.output import Block, MethodOutput, Stages
from microagg.methods.searches import Searches, require_uninterrupted
from microagg.partition.base import exponent_of_differences, within_cell_sse
from microagg.partition.runs import order_of
from microagg.recipe.choices import AggregateForm, Draws
from microagg.recipe.recipe import Recipe
from microagg.releases.drawing.shared import draw_shared
from microagg.releases.guidance import describe_guidance, describe_pairing, shape_space
from microagg.releases.prepare import Prepared, groups_of_block
from microagg.releases.rearrangement import demands_of, joined_facts, limit_words, rearrange_groups
from microagg.releases.representatives import published_columns, sampled_columns, spikes_of
from microagg.releases.units import Units, points_of_units, runs_with_units, units_words
from microagg.schema.encode import EncodedColumn
from microagg.space.blocks import choose_blocks, contiguous_blocks, needs_association
from microagg.space.mixed import mixed_points, mixed_space
from microagg.space.points import Points
from microagg.statements.promises import describe_aggregation, describe_space
from microagg.tables.phrases import columns_phrase

if TYPE_CHECKING:
    import pyarrow as pa

__all__ = ["form_cells"]


def form_cells(prepared: Prepared, recipe: Recipe, seed: int | None) -> MethodOutput:
    """Cells of records, block by block."""
    uniforms = uniforms_from(seed)
    names = tuple(prepared.measured)
    spaces = _Spaces(prepared, recipe)
    if recipe.entry.partitions == "attributes":
        chosen = contiguous_blocks(names, 1)
    else:
        chosen = choose_blocks(
            recipe.blocks.form,
            names,
            size=recipe.blocks.size,
            given=recipe.blocks.attributes,
            points=[spaces.points([name]) for name in names] if needs_association(recipe.blocks.form) else (),
        )
    arrays: dict[str, pa.Array] = {}
    blocks: list[Block] = []
    remarks: list[str] = []
    guides, paired = list(prepared.guides.values()), list(prepared.paired.values())
    units = prepared.units
    demands = demands_of(prepared.frame, recipe, units)
    rearranged_by: list[Mapping[str, Any]] = []
    paired_by: list[Mapping[str, Any]] = []
    guided_by: list[Mapping[str, Any]] = []
    lost = total = 0.0
    for attributes in chosen:
        points = spaces.points(attributes)
        coordinates = partial(spaces.coordinates, attributes)
        groups, of_groups = groups_of_block(prepared, attributes, recipe)
        guided = shape_space(
            points, attributes, guides, recipe, lambda space: _ungrouped(space, recipe, seed), coordinates
        )
        ascending = _ascending(prepared.measured[attributes[0]]) if recipe.entry.partitions == "attributes" else None
        if units is not None and units.together:
            of_units = points_of_units(guided.points, groups.labels, units)
            labels, certified, searches = _partition(*of_units, recipe, seed)
            labels = cells_in_order(labels[units.codes])
        else:
            labels, certified, searches = _partition(guided.points, groups.labels, recipe, seed, ascending)
            on_a_line = ascending is not None or recipe.method == "optimal_univariate"
            if units is not None and on_a_line and (units.in_groups(labels) < recipe.k).any():
                labels = runs_with_units(guided.points, groups.labels, units, recipe.k)
        rearranged = rearrange_groups(guided.points, labels, groups.labels, demands, recipe, seed, units)
        labels = rearranged.labels
        rearranged_by += [rearranged.facts] if rearranged.facts else []
        measured = [prepared.measured[name] for name in attributes]
        cells = Cells(labels, prepared.weights)
        spiked: tuple[str, ...] = ()
        draws: Mapping[str, Any] = {}
        if recipe.aggregate.form is AggregateForm.SAMPLED:
            _require_cells(labels, attributes, recipe.k, units)
            choice, whose = recipe.aggregate, None if units is None else units.codes
            if choice.way_of_drawing is Draws.SHARED:
                drawn = draw_shared(
                    measured,
                    cells,
                    uniforms,
                    recipe.k,
                    paired,
                    share=choice.share,
                    rare=choice.rarest(recipe.k),
                    units=whose,
                )
                arrays |= drawn.arrays(measured)
                draws = drawn.facts(measured, recipe.k)
            else:
                spiked = tuple(spikes_of(measured, recipe.k, whose))
                arrays |= sampled_columns(
                    measured,
                    cells,
                    uniforms,
                    recipe.k,
                    paired,
                    n_moments=choice.moments,
                    content=choice.content,
                    units=whose,
                )
        elif ascending is not None:
            arrays |= _published_alone(measured[0], ascending, cells, points, recipe)
        else:
            arrays |= published_columns(measured, cells, points, recipe)
        fewest = None if units is None else int(units.in_groups(labels).min())
        blocks.append(Block(tuple(attributes), labels, spiked, searches.facts, fewest))
        guidance = describe_guidance(guided, points, attributes, labels, guides, recipe, coordinates)
        pairing = describe_pairing(attributes, labels, paired, recipe, draws)
        remarks += [*of_groups, *certified, *searches.remarks(attributes)]
        remarks += [*guidance.remarks, *pairing.remarks]
        guided_by += [guidance.facts] if guidance.facts else []
        paired_by += [pairing.facts] if pairing.facts else []
        lost += within_cell_sse(points, labels, int(labels.max()) + 1)
        total += within_cell_sse(points, np.zeros(len(points), dtype=np.int64), 1)
    together = joined_facts(rearranged_by)
    remarks += [] if together is None else limit_words(recipe, together)
    remarks += units_words(recipe, [block.sizes.as_dict() for block in blocks])
    loss = 100.0 * lost / total if total > 0 else 0.0
    stages = replace(_describe_stages(recipe, blocks, guided_by, paired_by), rearrange=together)
    return MethodOutput(arrays, tuple(blocks), stages, tuple(remarks), loss)


class _Spaces:
    """The quasi-identifiers as numbers and codes; coordinates where a method works on nothing else.

    All are times one power of two where squares would overflow or vanish, and columns on which records do not differ
    are left out there. Cells, medoids, associations and shares of the loss are the same on any scale. Distortions are
    not.
    """

    def __init__(self, prepared: Prepared, recipe: Recipe) -> None:
        self.measured, self.standardize = prepared.measured, recipe.space.standardize
        partitioner = recipe.entry.partitioner_class
        self.takes_codes = bool(partitioner.takes_codes)
        self.scale = 0
        if partitioner.fixed_order:  # which minds the scale without looking at the data
            return
        whole = self.points(list(prepared.measured))
        guides = mixed_points(list(prepared.guides.values()), self.standardize) if recipe.guides else None
        if guides is not None and (whole.exponent or guides.exponent):
            raise TableError(
                "quasi-identifiers or the attributes that guide the cells are too large or too small for squared "
                'distances between them. Bring all to one scale: [space] standardize = "zscore"'
            )
        self.scale = exponent_of_differences(whole)

    def points(self, attributes: Sequence[str]) -> Points:
        """Some attributes as the recipe's method takes them."""
        measured = [self.measured[name] for name in attributes]
        points = (
            mixed_points(measured, self.standardize)
            if self.takes_codes
            else Points(mixed_space(measured, self.standardize).matrix)
        )
        return points.telling().times_power_of_two(self.scale) if self.scale else points

    def coordinates(self, attributes: Sequence[str]) -> FloatArray:
        """Some attributes as coordinates, one for each category."""
        matrix = mixed_space([self.measured[name] for name in attributes], self.standardize).matrix
        return times_power_of_two(matrix, self.scale) if self.scale else matrix


def _ascending(column: EncodedColumn) -> IntArray:
    """Records in the order of an attribute that has cells of its own; equal values by index, missing ones last."""
    return order_of(np.where(column.missing, np.inf, column.values))


def _partition(
    points: Points, groups: IntArray, recipe: Recipe, seed: int | None, ascending: IntArray | None = None
) -> tuple[IntArray, list[str], Searches]:
    """Form cells within each group; also what was proved about their loss, and how they were searched for.

    Records of an attribute that has cells of its own are taken in its `ascending` order: values that the space cannot
    tell apart, since they are tiny beside others, are then still in their order, and not in that of the records.
    """
    if ascending is None:
        return _partition_groups(points, groups, recipe, seed)
    in_order, certified, searches = _partition_groups(points.take(ascending), groups[ascending], recipe, seed)
    labels = np.empty_like(in_order)
    labels[ascending] = in_order
    return cells_in_order(labels), certified, searches


def _partition_groups(
    points: Points, groups: IntArray, recipe: Recipe, seed: int | None
) -> tuple[IntArray, list[str], Searches]:
    method = recipe.entry
    if points.nominal and not method.partitioner_class.takes_codes:  # categories of a guide joined the space as codes
        points = Points(points.coordinates())
    options = dict(recipe.partition)
    if method.searches_by_chance and seed is not None:
        options.setdefault("random_state", int(seed))
    labels = np.empty(len(points), dtype=np.int64)
    n_cells = 0
    certified: list[str] = []
    all_fitted: list[Any] = []
    order = np.argsort(groups, kind="stable")
    for members in np.split(order, np.cumsum(np.bincount(groups))[:-1]):
        some = points.take(members) if len(members) < len(points) else points
        # Columns on which all members agree add nothing to any distance; which those are depends on the records.
        leaves_out = not some.nominal and not method.partitioner_class.fixed_order  # codes: left out by `fit`
        space = (some.telling() if leaves_out else some).values
        if method.partitioner_class.max_attributes == 1:
            space = space[:, :1]  # where patterns were merged, the second column tells that the value is missing
        fitted = method.partitioner(recipe.k, **options).fit(some if some.nominal else space)
        require_uninterrupted(fitted)
        all_fitted.append(fitted)
        within: IntArray = fitted.labels_.reshape(len(members), -1)[:, 0]
        labels[members] = within + n_cells
        n_cells += int(within.max()) + 1
        if getattr(fitted, "certificate_", None) is not None:
            certified.append(f"of {len(members)} records whose cells were formed together: {fitted.certificate_}")
    report("forming cells", 1.0)
    return cells_in_order(labels), certified, Searches(all_fitted, recipe.partition.get("time_limit"))


def _published_alone(
    column: EncodedColumn, ascending: IntArray, cells: Cells, points: Points, recipe: Recipe
) -> dict[str, pa.Array]:
    """What the cells of one attribute publish, summed in ascending order: no order of records changes a digit."""
    import pyarrow as pa

    place = np.empty_like(ascending)
    place[ascending] = np.arange(len(ascending))
    weights = None if cells.weights is None else cells.weights[ascending]
    in_order = Cells(cells.labels[ascending], weights)
    arrays = published_columns([column.take(ascending)], in_order, points.take(ascending), recipe)
    return {name: array.take(pa.array(place)) for name, array in arrays.items()}


def _ungrouped(space: FloatArray | Points, recipe: Recipe, seed: int | None) -> IntArray:
    """Cells of records that may all share one."""
    points = space if isinstance(space, Points) else Points(space)
    return _partition(points, np.zeros(len(points), dtype=np.int64), recipe, seed)[0]


def _require_cells(labels: IntArray, attributes: Sequence[str], k: int, units: Units | None) -> None:
    """Sampled records cannot be counted afterwards: the sizes of their cells are checked before anything is drawn."""
    counted = "records" if units is None else "units"
    smallest = int((np.bincount(labels) if units is None else units.in_groups(labels)).min())
    if smallest < k:
        raise GuaranteeError(
            f"records cannot be drawn from cells of at least k = {k} {counted}: the smallest cell of "
            f"{columns_phrase(attributes)} has {smallest}. Nothing was written"
        )


def _describe_stages(
    recipe: Recipe,
    blocks: Sequence[Block],
    guided_by: Sequence[Mapping[str, Any]],
    paired_by: Sequence[Mapping[str, Any]],
) -> Stages:
    return Stages(
        cells=tuple(block.sizes for block in blocks),
        space=describe_space(recipe) | ({"guided": list(guided_by)} if guided_by else {}),
        aggregate=describe_aggregation(recipe) | ({"paired": list(paired_by)} if paired_by else {}),
    )
