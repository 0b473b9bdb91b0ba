"""The way through: table, schema, space, partition, aggregate, release."""

from __future__ import annotations

import secrets
from collections.abc import Sequence
from dataclasses import dataclass, replace
from pathlib import Path
from typing import TYPE_CHECKING, Any

import numpy as np
import numpy.typing as npt

from microagg._progress import report
from microagg.aggregate.centroid import (
    Cells,
    cell_means,
    cell_medians,
    cell_medoids,
    cell_modes,
    cell_taxonomic_centres,
    round_to_resolution,
)
from microagg.errors import InputError, ParameterError, TableError
from microagg.partition.base import cells_in_order, within_cell_sse
from microagg.privacy.guarantee import k_anonymity
from microagg.releases.catalogue import method_named
from microagg.releases.groups import Grouping, combine, group_records
from microagg.releases.manifest import InputDigest, Manifest
from microagg.releases.recipe import MissingPolicy, Recipe, RowOrder
from microagg.releases.release import Release
from microagg.releases.statement import Statement
from microagg.releases.verify import recount, require_k
from microagg.schema.attribute import Kind, Representative
from microagg.schema.measure import Measured, measure
from microagg.space.mixed import mixed_space
from microagg.tables.frames import Frame, columns_phrase

if TYPE_CHECKING:
    import pyarrow as pa

__all__ = ["release"]

FloatArray = npt.NDArray[np.float64]
IntArray = npt.NDArray[np.int64]


def release(table: Any, recipe: Recipe, *, seed: int | None = None, source: str | Path | None = None) -> Release:
    """Make a release of a table: k-anonymous, recounted, with its statement and manifest.

    Parameters
    ----------
    table : pandas.DataFrame, polars.DataFrame or pyarrow.Table
        Never modified.
    recipe : Recipe
        What each column is, and how the release is made.
    seed : int, optional
        Fixes the order of the published records, for research; the statement then says so. Without it the order
        comes from the system's source of randomness.
    source : path, optional
        The file the table was read from; its bytes are then what the manifest's input fingerprint is taken of.

    Returns
    -------
    Release
        ``release.table`` is of the same library as `table`, with its dtypes and column order.

    Raises
    ------
    InputError
        The table does not fit the recipe. Nothing was written; the message names columns and counts, not values.
    GuaranteeError
        The guarantee does not hold on the released table.

    Examples
    --------
    >>> import pyarrow as pa, microagg
    >>> people = pa.table({"age": [20, 22, 61, 64], "sick": [True, False, False, True]})
    >>> recipe = microagg.Recipe(k=2, attributes={
    ...     "age": {"role": "quasi_identifier", "kind": "numeric"}, "sick": "confidential"})
    >>> sorted(microagg.release(people, recipe).table["age"].to_pylist())
    [21, 21, 62, 62]
    """
    frame = Frame.wrap(table)
    recipe.schema.check_columns(frame.names)
    if frame.n_records < recipe.k:
        raise InputError(f"k = {recipe.k} needs at least {recipe.k} records; the table has {frame.n_records}")
    if seed is not None and (isinstance(seed, bool) or not isinstance(seed, int | np.integer) or seed < 0):
        raise ParameterError("seed must be a whole number of at least 0, or left out")
    digest = InputDigest.of(Path(source) if source is not None else frame.table)

    prepared = _prepare(frame, recipe)
    space = mixed_space(prepared.measured, recipe.space.standardize)
    labels = _partition(space.matrix, prepared.groups.labels, recipe)
    cells = Cells(labels, prepared.weights)
    arrays = _aggregate(prepared.measured, cells, space.matrix, recipe)

    released = prepared.frame.with_arrays(arrays)
    released = released.select([name for name in frame.names if name in recipe.schema.published])
    order_kept = recipe.output.order is RowOrder.KEPT
    if not order_kept:
        released = released.take(_shuffled(released.n_records, seed))
    released = released.without_unused_categories()

    count = recount(released.table, recipe.schema.quasi_identifiers, recipe.k)
    require_k(count, "the table as it would be written")
    statement = Statement(
        guarantees=(k_anonymity(recipe.k, recipe.schema.quasi_identifiers, order_kept=order_kept),),
        recount=count,
        remarks=tuple(prepared.remarks),
        seeded=seed is not None,
    )
    manifest = Manifest(
        recipe=recipe.as_dict(),
        stages=tuple(_stages_run(recipe, space.attributes, cells)),
        input={
            "n_records": frame.n_records,
            "n_columns": len(frame.names),
            "sha256_salted": digest.salted_sha256,
        },
    )
    partition = np.full(frame.n_records, -1, dtype=np.int64)
    partition[prepared.rows] = labels
    return Release(
        frame=released,
        recipe=recipe,
        statement=statement,
        manifest=manifest,
        digest=digest,
        partition=partition,
        information_loss=_information_loss(space.matrix, labels),
    )


@dataclass(frozen=True)
class _Prepared:
    """Records ready to be put into cells: missing values settled, groups of at least k records."""

    frame: Frame
    rows: IntArray
    measured: tuple[Measured, ...]
    weights: FloatArray | None
    groups: Grouping
    remarks: list[str]


def _prepare(frame: Frame, recipe: Recipe) -> _Prepared:
    attributes = [name for name in frame.names if name in recipe.schema.quasi_identifiers]
    measured = tuple(measure(frame.column(name), recipe.attributes[name]) for name in attributes)
    weights = _sampling_weights(frame, recipe)
    rows = np.arange(frame.n_records)
    remarks: list[str] = []
    if recipe.sampling_weight is not None:
        remarks.append(f"representatives are weighted by {recipe.sampling_weight!r}")

    incomplete = [column for column in measured if column.missing.any()]
    if incomplete and recipe.missing.policy is MissingPolicy.ERROR:
        counts = ", ".join(f"{column.name!r} ({int(column.missing.sum())})" for column in incomplete)
        raise TableError(
            f"quasi-identifiers have missing values: {counts}. Say what to do with them: "
            '[missing] policy = "own_cell", "impute" or "suppress"'
        )
    if incomplete and recipe.missing.policy is MissingPolicy.SUPPRESS:
        rows = np.flatnonzero(~np.any([column.missing for column in incomplete], axis=0))
        if len(rows) < recipe.k:
            raise TableError(f"only {len(rows)} records are complete; k = {recipe.k} needs at least {recipe.k}")
        remarks.append(f"{frame.n_records - len(rows)} records with a missing quasi-identifier were left out")
        frame = frame.take(rows)
        measured = tuple(column.take(rows) for column in measured)
        weights = weights[rows] if weights is not None else None
    if incomplete and recipe.missing.policy is MissingPolicy.IMPUTE:
        measured = tuple(_impute(column) if column.missing.any() else column for column in measured)
        remarks.append(
            f"missing values of {columns_phrase([column.name for column in incomplete])} were replaced by the "
            "column's median (numeric, ordinal) or most frequent category (nominal) before cells were formed"
        )
    groups = _groups(measured, recipe, remarks)
    return _Prepared(frame, rows, measured, weights, groups, remarks)


def _sampling_weights(frame: Frame, recipe: Recipe) -> FloatArray | None:
    if recipe.sampling_weight is None:
        return None
    weights = frame.column(recipe.sampling_weight).numbers()
    unusable = int((~np.isfinite(weights) | (weights <= 0)).sum())
    if unusable:
        raise TableError(
            f"sampling weights {recipe.sampling_weight!r}: {unusable} of {len(weights)} are missing or not above 0"
        )
    return weights


def _impute(column: Measured) -> Measured:
    present = column.values[~column.missing]
    if not len(present):
        raise TableError(f"column {column.name!r} has no value at all to impute from")
    everyone = Cells(np.zeros(len(present), dtype=np.int64))
    if column.kind is Kind.NOMINAL:
        filler = cell_modes(present, everyone)[0]
    else:
        filler = cell_medians(present, everyone, lower=column.kind is Kind.ORDINAL)[0]
    return replace(column, values=np.where(column.missing, filler, column.values))


def _groups(measured: Sequence[Measured], recipe: Recipe, remarks: list[str]) -> Grouping:
    """Strata first, then patterns of missing values within them."""
    n_records = len(measured[0].values)
    strata = [column.values for column in measured if column.name in recipe.strata.by]
    groups = Grouping(np.zeros(n_records, dtype=np.int64))
    if strata:
        by = " x ".join(repr(name) for name in recipe.strata.by)
        groups = group_records(combine(strata, n_records), recipe.k, recipe.strata.small, f"strata of {by}")
        remarks.append(f"no cell crosses the strata of {by}")
        if groups.merged_groups:
            remarks.append(
                f"{groups.merged_groups} strata had fewer than k records ({groups.merged_records} in all) and were "
                "merged; their cells publish the most frequent stratum"
            )
    patterns = [column.missing for column in measured if column.missing.any()]
    if not patterns:
        return groups
    within = group_records(
        combine(patterns, n_records), recipe.k, recipe.missing.small, "patterns of missing values", within=groups.labels
    )
    remarks.append("records share a cell only with records that lack the same quasi-identifiers; missing stays missing")
    if within.merged_groups:
        remarks.append(
            f"{within.merged_groups} patterns of missing values had fewer than k records ({within.merged_records} in "
            "all) and were merged; a cell publishes a value only where all its records have one"
        )
    return within


def _partition(matrix: FloatArray, groups: IntArray, recipe: Recipe) -> IntArray:
    """Form cells within each group."""
    method = method_named(recipe.method)
    labels = np.empty(len(matrix), dtype=np.int64)
    n_cells = 0
    order = np.argsort(groups, kind="stable")
    for members in np.split(order, np.cumsum(np.bincount(groups))[:-1]):
        points = matrix[members]
        # Coordinates on which all members agree add nothing to any distance.
        telling = points[:, (points != points[0]).any(axis=0)]
        if not telling.shape[1]:
            telling = np.zeros((len(members), 1))
        partitioner = method.partitioner(recipe.k, **recipe.partition).fit(telling)
        labels[members] = partitioner.labels_ + n_cells
        n_cells += partitioner.n_cells_
    report("forming cells", 1.0)
    return cells_in_order(labels)


def _aggregate(measured: Sequence[Measured], cells: Cells, matrix: FloatArray, recipe: Recipe) -> dict[str, pa.Array]:
    """What each record's cell publishes, column by column."""
    medoids: IntArray | None = None
    arrays = {}
    for column in measured:
        choice = recipe.representative_of(column.name)
        if choice is Representative.MEDOID:
            medoids = cell_medoids(matrix, cells) if medoids is None else medoids
            values = np.where(_any_missing(column, cells), np.nan, column.values[medoids])
        else:
            values = _representatives(column, choice, cells)
        arrays[column.name] = column.published(values[cells.labels])
    return arrays


def _any_missing(column: Measured, cells: Cells) -> npt.NDArray[np.bool_]:
    missing: npt.NDArray[np.bool_] = np.bincount(cells.labels, weights=column.missing) > 0
    return missing


def _representatives(column: Measured, choice: Representative, cells: Cells) -> FloatArray:
    if column.kind is Kind.NUMERIC:
        values = (
            cell_means(column.values, cells) if choice is Representative.MEAN else cell_medians(column.values, cells)
        )
        rounded = round_to_resolution(values, column.resolution)
        return rounded if column.bounds is None else np.clip(rounded, *column.bounds)
    if column.kind is Kind.ORDINAL:
        if choice is Representative.MEDIAN:
            return cell_medians(column.values, cells, lower=True)
        return _nearest_observed(cell_means(column.values, cells), column.values)
    if choice is Representative.TAXONOMIC:
        assert column.attribute.taxonomy is not None
        distances = column.attribute.taxonomy.distances(column.labels)
        unseen = np.ones(len(column.labels), dtype=bool)
        unseen[column.values[~column.missing].astype(np.int64)] = False
        distances[:, unseen] = np.inf
        return cell_taxonomic_centres(column.values, distances, cells)
    return cell_modes(column.values, cells)


def _nearest_observed(ranks: FloatArray, observed: FloatArray) -> FloatArray:
    """Move mean ranks to the nearest rank that some record has; the lower of two."""
    grid = np.unique(observed[~np.isnan(observed)])
    if not len(grid):
        return ranks
    above = (
        np.clip(np.searchsorted(grid, ranks), 1, max(len(grid) - 1, 1)) if len(grid) > 1 else np.zeros(len(ranks), int)
    )
    below = np.maximum(above - 1, 0)
    nearest = np.where(ranks - grid[below] <= grid[above] - ranks, grid[below], grid[above])
    return np.where(np.isnan(ranks), np.nan, nearest)


def _shuffled(n_records: int, seed: int | None) -> IntArray:
    """A random order of the records, from the system's secure source unless a seed is given."""
    if seed is not None:
        return np.random.default_rng(seed).permutation(n_records)
    keys = np.frombuffer(secrets.token_bytes(8 * n_records), dtype=np.uint64)
    return np.argsort(keys, kind="stable")


def _information_loss(matrix: FloatArray, labels: IntArray) -> float:
    """100 SSE/SST in the space in which cells were formed; 0 where all records are equal."""
    total = within_cell_sse(matrix, np.zeros(len(matrix), dtype=np.int64), 1)
    return 100.0 * within_cell_sse(matrix, labels, int(labels.max()) + 1) / total if total > 0 else 0.0


def _stages_run(recipe: Recipe, coordinates: Sequence[str], cells: Cells) -> list[dict[str, Any]]:
    schema = recipe.schema
    return [
        {"stage": "schema", "roles": {name: str(schema[name].role) for name in schema}},
        {
            "stage": "space",
            "standardize": str(recipe.space.standardize),
            "weights": {name: schema[name].weight for name in schema.quasi_identifiers},
            "n_coordinates": len(coordinates),
        },
        {
            "stage": "partition",
            "method": recipe.method,
            "k": recipe.k,
            "n_cells": len(cells.sizes),
            "smallest_cell": int(cells.sizes.min()),
            "largest_cell": int(cells.sizes.max()),
        },
        {
            "stage": "aggregate",
            "representatives": {name: str(recipe.representative_of(name)) for name in schema.quasi_identifiers},
        },
    ]
