"""One shard from its records to what is published of them: an Arrow table and constants in, a table and facts out.

The stages are those of :func:`microagg.release`; what they take from the whole table comes from the constants. Records
are first put into an order that their values alone decide, then into one of chance that the run's secret and the number
of the shard decide: done again, a shard is the same to the last byte, whatever order its records came in.
"""

from __future__ import annotations

from collections.abc import Mapping
from dataclasses import dataclass, replace
from typing import TYPE_CHECKING, Any

import numpy as np

from microagg._scaling import times_power_of_two
from microagg._typing import IntArray
from microagg.aggregate.centroid import Cells
from microagg.engines.planning.constants import Constants
from microagg.engines.planning.survey import column_of, group_keys
from microagg.engines.shards import cut_blocks, generator_for, key_of
from microagg.errors import GuaranteeError
from microagg.methods.searches import require_uninterrupted
from microagg.partition.base import within_cell_sse
from microagg.recipe.recipe import Recipe
from microagg.releases.representatives import published_columns
from microagg.schema.attribute import Representative
from microagg.schema.encode import EncodedColumn
from microagg.space.mixed import mixed_points, mixed_space
from microagg.space.points import Points
from microagg.space.standardize import Standardize
from microagg.tables.frames import Frame

if TYPE_CHECKING:
    import pyarrow as pa

__all__ = ["SearchEnd", "ShardFacts", "canonical_order", "release_shard"]


@dataclass(frozen=True)
class SearchEnd:
    """How one search for cells ended; the names are those of a partitioner."""

    stopped_by_: str
    start_: str
    searched_: float


@dataclass(frozen=True)
class ShardFacts:
    """What was made of one shard.

    Attributes
    ----------
    n_records, n_blocks, n_cells, smallest, largest : int
    lost : float
        Sum of squared distances to the means of cells.
    searches : tuple of SearchEnd
    """

    n_records: int
    n_blocks: int
    n_cells: int
    smallest: int
    largest: int
    lost: float
    searches: tuple[SearchEnd, ...] = ()


_NOTHING_TO_SEARCH = SearchEnd("budget", "mdav", 1.0)  # as a search in records that are all alike ends


def release_shard(
    table: pa.Table, constants: Constants, secret: bytes, shard: int, block_records: int
) -> tuple[pa.Table, ShardFacts]:
    """What is published of the records of one shard, in an order that tells nothing.

    Parameters
    ----------
    table : Arrow table
        The shard's records, in any order: the published columns.
    constants : Constants
    secret : bytes
        The run's.
    shard : int
    block_records : int
        Most records that cells are formed of together.

    Raises
    ------
    GuaranteeError
        If a cell has fewer than k records.
    """
    recipe = constants.recipe
    table = table.take(_arranged(table, secret, shard, "records"))
    columns = {name: column_of(table, name) for name in constants.columns}
    encoded = constants.encode(columns)
    in_space = constants.in_space(encoded)
    groups = constants.groups.number(*group_keys(columns, recipe, table.num_rows))
    labels, facts = _form_cells(in_space, groups, constants, (secret, shard), block_records)
    if facts.smallest < recipe.k:
        raise GuaranteeError(
            f"a cell of {facts.smallest} records was formed, fewer than k = {recipe.k}. Nothing was written"
        )
    weights = None
    if recipe.sampling_weight is not None:
        weights = column_of(table, recipe.sampling_weight).absolute() / constants.largest_weight
    names = [name for name in table.column_names if name in encoded]
    by_medoid = any(recipe.representative_of(name) is Representative.MEDOID for name in names)
    points = _points([in_space[name] for name in names], constants) if by_medoid else Points(np.zeros((len(labels), 1)))
    arrays = published_columns([encoded[name] for name in names], Cells(labels, weights), points, recipe)
    released = Frame.wrap(table).with_arrays(arrays).table
    released = released.take(_arranged(released, secret, shard, "released"))
    return Frame.wrap(released).without_unused_categories().table, facts


def _form_cells(
    in_space: Mapping[str, EncodedColumn],
    groups: IntArray,
    constants: Constants,
    chance: tuple[bytes, int],
    block_records: int,
) -> tuple[IntArray, ShardFacts]:
    """Cells of each group, block by block."""
    recipe = constants.recipe
    coordinates = constants.coordinates(in_space)
    labels = np.empty(len(groups), dtype=np.int64)
    n_cells = n_blocks = 0
    lost = 0.0
    searches: list[SearchEnd] = []
    for group in np.unique(groups):
        members = np.flatnonzero(groups == group)
        if _are_equal(in_space, members):  # nothing is lost however they are put into cells: they pass through
            labels[members] = n_cells
            n_cells, n_blocks = n_cells + 1, n_blocks + 1
            searches += [_NOTHING_TO_SEARCH] if recipe.entry.searches_by_chance else []
            continue
        for block in cut_blocks(coordinates.take(members), block_records, recipe.k):
            rows = members[block]
            some = [replace(column, values=column.values[rows]) for column in in_space.values()]
            points = _points(some, constants)
            within, end = _partition(points, recipe, key_of(*chance, "search", n_blocks))
            searches += [end] if end is not None else []
            n_within = int(within.max()) + 1
            lost += within_cell_sse(points, within, n_within)
            labels[rows] = within + n_cells
            n_cells, n_blocks = n_cells + n_within, n_blocks + 1
    sizes = np.bincount(labels, minlength=n_cells)
    facts = ShardFacts(len(groups), n_blocks, n_cells, int(sizes.min()), int(sizes.max()), lost, tuple(searches))
    return labels, facts


def _are_equal(in_space: Mapping[str, EncodedColumn], members: IntArray) -> bool:
    """Whether records have the same quasi-identifiers; missing is a value."""
    for column in in_space.values():
        values = column.values[members]
        if not np.array_equal(values, np.full(len(values), values[0]), equal_nan=True):
            return False
    return True


def _points(in_space: list[EncodedColumn], constants: Constants) -> Points:
    """Records as the method takes them; columns are standardised already."""
    if constants.recipe.entry.partitioner_class.takes_codes:
        points = mixed_points(in_space, Standardize.NONE)
        return points.telling().times_power_of_two(constants.scale) if constants.scale else points
    matrix = mixed_space(in_space, Standardize.NONE).matrix
    return Points(times_power_of_two(matrix, constants.scale) if constants.scale else matrix)


def _partition(points: Points, recipe: Recipe, key: int) -> tuple[IntArray, SearchEnd | None]:
    """The cells of one block, and how the search for them ended, if there was one."""
    method = recipe.entry
    options: dict[str, Any] = dict(recipe.partition)
    if method.searches_by_chance:
        options["random_state"] = key % 2**32
    space = points if points.nominal else points.telling().values
    fitted = method.partitioner(recipe.k, **options).fit(space)
    require_uninterrupted(fitted)
    end = None
    if hasattr(fitted, "stopped_by_"):
        end = SearchEnd(fitted.stopped_by_, fitted.start_, float(fitted.searched_))
    labels: IntArray = fitted.labels_
    return labels, end


def _arranged(table: pa.Table, secret: bytes, shard: int, purpose: str) -> IntArray:
    """An order of a table's rows that depends on their values, the secret and the shard, and on nothing else."""
    order = canonical_order(table)
    found: IntArray = order[generator_for(secret, "order", purpose, shard).permutation(len(order))]
    return found


def canonical_order(table: pa.Table) -> IntArray:
    """An order of rows that their values alone decide; rows that it leaves as they came are the same in every bit."""
    import pyarrow as pa
    import pyarrow.compute as pc

    keys = {}
    for number, column in enumerate(table.columns):
        kind = column.type
        if pa.types.is_dictionary(kind):
            column, kind = column.cast(kind.value_type), kind.value_type
        if pa.types.is_floating(kind):  # by their bits, which tell 0.0 from -0.0
            column, kind = column.combine_chunks(), pa.float64() if kind == pa.float64() else kind
            whole = {16: pa.int16(), 32: pa.int32(), 64: pa.int64()}[kind.bit_width]
            column = pa.chunked_array([c.view(whole) for c in getattr(column, "chunks", [column])], whole)
        if not pa.types.is_null(kind):
            keys[str(number)] = column
    if not keys:
        return np.arange(table.num_rows)
    found: IntArray = (
        pc.sort_indices(pa.table(keys), sort_keys=[(name, "ascending") for name in keys]).to_numpy().astype(np.int64)
    )
    return found
