"""The way through: table, schema, space, partition, aggregate, release."""

from __future__ import annotations

import secrets
import warnings
from collections.abc import Mapping, Sequence
from dataclasses import replace
from pathlib import Path
from typing import TYPE_CHECKING, Any

import numpy as np
import numpy.typing as npt

from microagg._labels import cells_in_order
from microagg._progress import report
from microagg._random import uniforms_from
from microagg._scaling import exponent_near_one, near_one, times_power_of_two
from microagg.aggregate.centroid import Cells
from microagg.errors import GuaranteeError, InputError, ParameterError, TableError
from microagg.methods.catalogue import method_named
from microagg.methods.output import Block, Protected
from microagg.methods.searches import Searches, require_uninterrupted
from microagg.partition.base import within_cell_sse
from microagg.privacy.mechanism import noise_from
from microagg.privacy.verify import recount, require_k, require_public, values_out_of_type
from microagg.private.base import protect, told_budget
from microagg.private.public_types import with_public_columns
from microagg.recipe.choices import AggregateForm
from microagg.recipe.output import RowOrder
from microagg.recipe.recipe import Recipe
from microagg.releases.guidance import guided, told, told_of_pairing
from microagg.releases.prepare import Prepared, as_they_are, groups_of_block, prepare
from microagg.releases.release import Release
from microagg.releases.representatives import published_columns, rounded, sampled_columns, spikes_of
from microagg.space.blocks import choose_blocks, contiguous_blocks
from microagg.space.mixed import mixed_space
from microagg.statements.exposure import exposure_of
from microagg.statements.manifest import InputDigest, Manifest
from microagg.statements.promises import SEEDED_NOISE, describe_aggregation, guarantees_of, stages_run
from microagg.statements.statement import Statement
from microagg.tables.frames import Frame, columns_phrase
from microagg.tables.index import index_with_data
from microagg.tables.joined import refuse_joined_rows
from microagg.tables.missing_codes import frame_without_codes

if TYPE_CHECKING:
    import pyarrow as pa

__all__ = ["release"]

FloatArray = npt.NDArray[np.float64]
IntArray = npt.NDArray[np.int64]


def release(table: Any, recipe: Recipe, *, seed: int | None = None, source: str | Path | None = None) -> Release:
    """Make a release of a table: recounted, with its statement and manifest.

    Parameters
    ----------
    table : pandas.DataFrame, polars.DataFrame or pyarrow.Table
        Never modified.
    recipe : Recipe
        What each column is, and how the release is made.
    seed : int, optional
        Fixes the order of the published records, the cells of methods that search by chance, what is drawn with
        ``[aggregate] form = "sampled"``, and the noise of differentially private methods, for research; the statement
        then says so. Without it chance comes from the system's source of randomness.
    source : path, optional
        The file the table was read from; its bytes are then what the manifest's input fingerprint is taken of.

    Returns
    -------
    Release
        ``release.table`` is of the same library as `table`, with its dtypes and column order; protected columns of a
        differentially private release have the types that the recipe decides, as dtypes may follow from values.

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
    if not isinstance(recipe, Recipe):
        raise ParameterError("recipe must be a microagg.Recipe: Recipe(k=..., attributes={...}) or Recipe.load(path)")
    frame = Frame.wrap(table, recipe.schema.check_columns)
    recipe.schema.check_columns(frame.names)
    for finding in values_out_of_type(frame.table.select(recipe.schema.published), written=False):
        raise TableError(f"{finding.detail}: no file can show them. Mend them before, or drop the column")
    method = method_named(recipe.method)
    dropped = _say_index_is_dropped(table, private=method.is_private)
    if method.labels != "values" and frame.n_records < recipe.k:
        raise InputError(f"k = {recipe.k} needs at least {recipe.k} records; the table has {frame.n_records}")
    if seed is not None and (isinstance(seed, bool) or not isinstance(seed, int | np.integer) or seed < 0):
        raise ParameterError("seed must be a whole number of at least 0, or left out")
    refuse_joined_rows(frame.table, recipe.input.separator)
    digest = InputDigest.of(Path(source) if source is not None else frame.table)
    frame = frame_without_codes(frame, recipe.input.missing)

    prepared = as_they_are(frame) if method.is_private else prepare(frame, recipe)
    if method.is_private:
        protected = protect(frame, recipe, noise_from(seed))
    elif method.labels == "values":
        protected = _mix_values(prepared, recipe)
    else:
        protected = _form_cells(prepared, recipe, seed)
    origins = prepared.rows if protected.linked and protected.table is None else None
    if protected.table is not None:
        released = Frame.of(protected.table, frame.library)
    else:
        if method.is_private:
            released = with_public_columns(prepared.frame, protected.arrays, recipe)
        else:
            released = prepared.frame.with_arrays(protected.arrays)
        published = set(recipe.schema.published)
        released = released.select([name for name in frame.names if name in published])
        if recipe.output.order is RowOrder.SHUFFLED and origins is not None:
            order = _shuffled(released.n_records, seed)
            released, origins = released.take(order), origins[order]
        released = released.without_unused_categories()

    if method.is_private:
        require_public(method.private.findings(released.table, recipe), "the table as it would be written")
    guarantees = guarantees_of(recipe, [(block.attributes, block.spiked) for block in protected.blocks])
    counted = [guarantee for guarantee in guarantees if guarantee.counted]
    recounts = tuple(recount(released.table, guarantee.attributes, recipe.k) for guarantee in counted)
    for count in recounts:
        require_k(count, "the table as it would be written")
    blocks_counted = [guarantee.attributes for guarantee in counted]
    exposure = exposure_of(released, recipe, blocks_counted, frame) if counted else None
    seeded_noise = (SEEDED_NOISE,) if method.is_private and seed is not None else ()
    statement = Statement(
        guarantees=guarantees,
        recounts=recounts,
        n_records=released.n_records,
        remarks=tuple(dict.fromkeys([*dropped, *prepared.remarks, *protected.remarks, *seeded_noise])),
        seeded=seed is not None,
        budget=None if protected.budget is None else told_budget(protected.budget, recipe),
        exposure=None if exposure is None else tuple(exposure.public()),
    )
    manifest = Manifest(
        recipe=recipe.as_dict(),
        stages=tuple(stages_run(recipe, protected.stages)),
        input={
            "n_records": frame.n_records,
            "n_columns": len(frame.names),
            **({} if method.is_private else {"sha256_salted": digest.salted_sha256}),
        },
        seeded=seed is not None,
    )
    return Release(
        frame=released,
        recipe=recipe,
        statement=statement,
        manifest=manifest,
        digest=digest,
        blocks=tuple(_in_input_order(block, prepared.rows, frame.n_records) for block in protected.blocks),
        information_loss=protected.information_loss,
        original=frame,
        origins=origins,
        exposure=exposure,
    )


INDEX_DROPPED = (
    r"the index of the dataframe \(<index>\) is no column and was dropped; table\.reset_index\(\) makes it columns, to "
    r"be declared in the recipe"
)
VALUES_MIXED = (
    r"values of <n_attributes> attributes were mixed into <count> partitions of <k> values; the partitions are of "
    r"values, not of records, so no k-anonymity of records follows"
)


def _say_index_is_dropped(table: Any, *, private: bool) -> tuple[str, ...]:
    """A remark if a pandas index looks like data; aloud if it has several levels, which are columns to many."""
    index = index_with_data(table)
    if index is None or (private and not index.is_named):  # what an index looks like follows from its values
        return ()
    remark = (
        f"the index of the dataframe ({index.said}) is no column and was dropped; "
        "table.reset_index() makes it columns, to be declared in the recipe"
    )
    if index.n_levels > 1:
        warnings.warn(remark, UserWarning, stacklevel=3)
    return (remark,)


def _form_cells(prepared: Prepared, recipe: Recipe, seed: int | None) -> Protected:
    """Cells of records, block by block."""
    uniforms = uniforms_from(seed)
    names = tuple(prepared.measured)
    spaces = _spaces_near_one(prepared, recipe)
    if method_named(recipe.method).labels == "attributes":
        chosen = contiguous_blocks(names, 1)
    else:
        chosen = choose_blocks(
            recipe.blocks.form,
            names,
            size=recipe.blocks.size,
            given=recipe.blocks.attributes,
            coordinates=list(spaces.values()),
        )
    arrays: dict[str, pa.Array] = {}
    blocks: list[Block] = []
    remarks: list[str] = []
    guides, paired = list(prepared.guides.values()), list(prepared.paired.values())
    paired_by: list[Mapping[str, Any]] = []
    guided_by: list[Mapping[str, Any]] = []
    lost = total = 0.0
    for attributes in chosen:
        matrix = np.ascontiguousarray(np.hstack([spaces[name] for name in attributes]))
        groups, said = groups_of_block(prepared, attributes, recipe)
        guidance = guided(matrix, attributes, guides, recipe, lambda points: _ungrouped(points, recipe, seed))
        labels, certified, searches = _partition(guidance.matrix, groups.labels, recipe, seed)
        measured = [prepared.measured[name] for name in attributes]
        cells = Cells(labels, prepared.weights)
        spiked: tuple[str, ...] = ()
        if recipe.aggregate.form is AggregateForm.SAMPLED:
            _require_cells(labels, attributes, recipe.k)
            choice = recipe.aggregate
            spiked = tuple(spikes_of(measured, recipe.k))
            arrays |= sampled_columns(
                measured, cells, uniforms, recipe.k, paired, n_moments=choice.moments, content=choice.content
            )
        else:
            arrays |= published_columns(measured, cells, matrix, recipe)
        blocks.append(Block(tuple(attributes), labels, spiked, searches.facts))
        guidance_told = told(guidance, matrix, attributes, labels, guides, recipe)
        pairing_told = told_of_pairing(attributes, labels, paired, recipe)
        remarks += [*said, *certified, *searches.remarks(attributes), *guidance_told.remarks, *pairing_told.remarks]
        guided_by += [guidance_told.facts] if guidance_told.facts else []
        paired_by += [pairing_told.facts] if pairing_told.facts else []
        lost += within_cell_sse(matrix, labels, int(labels.max()) + 1)
        total += within_cell_sse(matrix, np.zeros(len(matrix), dtype=np.int64), 1)
    loss = 100.0 * lost / total if total > 0 else 0.0
    stages = _stages_of_cells(recipe, blocks, guided_by, paired_by)
    return Protected(arrays, tuple(blocks), loss, tuple(remarks), stages)


def _spaces_near_one(prepared: Prepared, recipe: Recipe) -> dict[str, FloatArray]:
    """The coordinates of each quasi-identifier; all times one power of two where squares would overflow or vanish.

    Cells, medoids, associations and shares of the loss are the same on any scale. Distortions are not.
    """
    columns = prepared.measured.items()
    spaces = {name: mixed_space([column], recipe.space.standardize).matrix for name, column in columns}
    if method_named(recipe.method).partitioner_class.fixed_order:  # which minds the scale without looking at the data
        return spaces
    scale = exponent_near_one(spaces.values())
    guides = [mixed_space(list(prepared.guides.values()), recipe.space.standardize).matrix] if recipe.guides else []
    if guides and (scale or exponent_near_one(guides)):
        raise TableError(
            "quasi-identifiers or the attributes that guide the cells are too large or too small for squared distances "
            'between them. Bring all to one scale: [space] standardize = "zscore"'
        )
    return {name: times_power_of_two(points, scale) for name, points in spaces.items()} if scale else spaces


def _partition(
    matrix: FloatArray, groups: IntArray, recipe: Recipe, seed: int | None
) -> tuple[IntArray, list[str], Searches]:
    """Form cells within each group; also what was proved about their loss, and how they were searched for."""
    method = method_named(recipe.method)
    options = dict(recipe.partition)
    if method.searches_by_chance and seed is not None:
        options.setdefault("random_state", int(seed))
    labels = np.empty(len(matrix), dtype=np.int64)
    n_cells = 0
    certified: list[str] = []
    all_fitted: list[Any] = []
    order = np.argsort(groups, kind="stable")
    for members in np.split(order, np.cumsum(np.bincount(groups))[:-1]):
        points = matrix[members]
        # Coordinates on which all members agree add nothing to any distance; which those are depends on the records.
        keep_all = method.partitioner_class.fixed_order
        telling = points if keep_all else points[:, (points != points[0]).any(axis=0)]
        if not telling.shape[1]:
            telling = np.zeros((len(members), 1))
        fitted = method.partitioner(recipe.k, **options).fit(np.ascontiguousarray(telling))
        require_uninterrupted(fitted)
        all_fitted.append(fitted)
        within: IntArray = fitted.labels_.reshape(len(members), -1)[:, 0]
        labels[members] = within + n_cells
        n_cells += int(within.max()) + 1
        if getattr(fitted, "certificate_", None) is not None:
            certified.append(f"of {len(members)} records whose cells were formed together: {fitted.certificate_}")
    report("forming cells", 1.0)
    return cells_in_order(labels), certified, Searches(all_fitted, recipe.partition.get("time_limit"))


def _ungrouped(matrix: FloatArray, recipe: Recipe, seed: int | None) -> IntArray:
    """Cells of records that may all share one."""
    return _partition(matrix, np.zeros(len(matrix), dtype=np.int64), recipe, seed)[0]


def _mix_values(prepared: Prepared, recipe: Recipe) -> Protected:
    """Values of all attributes in one vector: there are no cells of records."""
    columns = list(prepared.measured.values())
    if not prepared.frame.n_records:
        raise InputError("no record is left to protect: every one lacks a quasi-identifier")
    values = np.column_stack([column.values + column.column.origin for column in columns])
    fitted = method_named(recipe.method).partitioner(recipe.k, **recipe.partition).fit(values)
    arrays, lost, varying = {}, 0.0, 0
    for j, column in enumerate(columns):
        published = rounded(column, fitted.published_[:, j] - column.column.origin)
        arrays[column.name] = column.published(published)
        before, after = near_one(np.stack([column.values, published]))  # so that squares neither overflow nor vanish
        variance = float(before.var())
        if variance > 0:
            with np.errstate(over="ignore"):  # looked at below
                lost += float(np.float64(((after - before) ** 2).mean()) / variance)
            varying += 1
    remarks = (
        f"values of {len(columns)} attributes were mixed into {fitted.n_cells_} partitions of {recipe.k} values; the "
        "partitions are of values, not of records, so no k-anonymity of records follows",
    )
    loss = 100.0 * lost / varying if varying else 0.0
    if not np.isfinite(loss):
        raise TableError(
            "the attributes lie too far apart to mix their values. Bring them to scales that can be compared"
        )
    return Protected(arrays, (), loss, remarks, _stages_of_cells(recipe, (), ()))


def _require_cells(labels: IntArray, attributes: Sequence[str], k: int) -> None:
    """Sampled records cannot be counted afterwards: the sizes of their cells are checked before anything is drawn."""
    smallest = int(np.bincount(labels).min())
    if smallest < k:
        raise GuaranteeError(
            f"records cannot be drawn from cells of at least k = {k} records: the smallest cell of "
            f"{columns_phrase(attributes)} has {smallest}. Nothing was written"
        )


def _in_input_order(block: Block, rows: IntArray, n_records: int) -> Block:
    labels = np.full(n_records, -1, dtype=np.int64)
    labels[rows] = block.labels
    return replace(block, labels=labels)


def _shuffled(n_records: int, seed: int | None) -> IntArray:
    """A random order of the records, from the system's secure source unless a seed is given."""
    if seed is not None:
        return np.random.default_rng(seed).permutation(n_records)
    keys = np.frombuffer(secrets.token_bytes(8 * n_records), dtype=np.uint64)
    return np.argsort(keys, kind="stable")


def _stages_of_cells(
    recipe: Recipe,
    blocks: Sequence[Block],
    guided_by: Sequence[Mapping[str, Any]],
    paired_by: Sequence[Mapping[str, Any]] = (),
) -> dict[str, dict[str, Any]]:
    return {
        "space": {
            "standardize": str(recipe.space.standardize),
            "weights": {name: recipe.schema[name].weight for name in recipe.schema.quasi_identifiers},
            **({"guided": list(guided_by)} if guided_by else {}),
        },
        "partition": {"blocks": [block.facts() for block in blocks]},
        "aggregate": describe_aggregation(recipe) | ({"paired": list(paired_by)} if paired_by else {}),
    }
