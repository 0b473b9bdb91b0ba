"""The way through: table, schema, space, partition, aggregate, release."""

from __future__ import annotations

import secrets
import warnings
from dataclasses import replace
from pathlib import Path
from typing import Any

import numpy as np

from microagg._typing import IntArray
from microagg.errors import InputError, ParameterError, TableError
from microagg.methods.output import Block, MethodOutput
from microagg.privacy.guarantee import Guarantee
from microagg.privacy.verify import recount, require_k, require_public, values_out_of_type
from microagg.recipe.output import RowOrder
from microagg.recipe.recipe import Recipe
from microagg.releases.account.spending import Spending
from microagg.releases.drawing.choice import settle_draws
from microagg.releases.input import numbers_of_text
from microagg.releases.prepare import Prepared
from microagg.releases.release import Release
from microagg.releases.strategy import Strategy, strategy_of
from microagg.releases.units import require_units, units_of
from microagg.statements.exposure import Exposure, exposure_of
from microagg.statements.manifest import InputDigest, Manifest
from microagg.statements.promises import describe_schema
from microagg.statements.requirements import count_requirements, require_requirements
from microagg.statements.statement import Statement
from microagg.tables.frames import Frame
from microagg.tables.index import index_with_data
from microagg.tables.joined import refuse_joined_rows
from microagg.tables.missing_codes import frame_without_codes

__all__ = ["INDEX_DROPPED", "release"]


AS_WRITTEN = "the table as it would be written"
INDEX_DROPPED = (
    r"the index of the dataframe \(<index>\) is not a column and was dropped; table\.reset_index\(\) makes it columns, "
    r"to be declared in the recipe"
)


def release(
    table: Any,
    recipe: Recipe,
    *,
    seed: int | None = None,
    source: str | Path | None = None,
    state_total: bool = False,
) -> Release:
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
        The file the table was read from; its bytes are then what the manifest's input fingerprint is taken of. If a
        ledger is kept beside it (:class:`microagg.Account`), a differentially private release is recorded there.
    state_total : bool, default False
        Whether the statement carries what releases of the same file spent so far, by that ledger.

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
        The guarantee does not hold on the released table; or the release would bring what the ledger of `source` has
        as spent above its cap, and no noise was drawn.

    Examples
    --------
    >>> import pyarrow as pa, microagg
    >>> people = pa.table({"age": [20, 22, 61, 64], "sick": [True, False, False, True]})
    >>> recipe = microagg.Recipe(k=2, attributes={
    ...     "age": {"role": "quasi_identifier", "kind": "numeric"}, "sick": "confidential"})
    >>> sorted(microagg.release(people, recipe).table["age"].to_pylist())
    [21, 21, 62, 62]
    """
    _check_arguments(recipe, seed)
    # The ledger of the file, if one is kept: a release above its cap is refused before anything is done.
    spending = Spending.of(source, recipe, seed=seed, stated=state_total)
    with spending.noting_failure():
        return _release(table, recipe, seed, source, spending, state_total=state_total)


def _release(
    table: Any, recipe: Recipe, seed: int | None, source: str | Path | None, spending: Spending, *, state_total: bool
) -> Release:
    # The input: every column declared, every value one that a file can show, codes for "missing" missing.
    frame = _checked_frame(table, recipe)
    without_codes = frame_without_codes(frame, recipe.input.missing)
    recipe = settle_draws(recipe, _counted(without_codes, recipe))
    strategy = strategy_of(recipe)
    strategy.before_noise = spending.pay
    dropped = _say_index_is_dropped(table, private=strategy.is_private)
    digest = InputDigest.of(Path(source) if source is not None else frame.table)
    spending.know(sha256=digest.sha256)
    frame = without_codes

    # The records that take part, their attributes as numbers, missing values settled.
    prepared = strategy.prepare(frame, seed)

    # What the method publishes of the protected attributes: from here on nothing else is known of them.
    output = strategy.make(prepared, seed)

    # The published table: protected columns replaced, identifiers gone, in an order that tells nothing.
    released, origins = _put_together(frame, prepared, output, strategy, seed)
    require_public(strategy.findings(released.table), AS_WRITTEN)

    if prepared.units is not None and strategy.is_counted:
        assert origins is not None
        of_rows = prepared.units.of_rows(prepared.rows, origins)
        require_units(released.table, [block.attributes for block in output.blocks], of_rows, recipe.k, AS_WRITTEN)

    # The promises, and those that can be counted counted on this table.
    guarantees = strategy.guarantees([(block.attributes, block.spiked) for block in output.blocks])
    statement, exposure = _state(released, frame, guarantees, strategy)
    remarks = [*dropped, *prepared.remarks, *output.remarks, *strategy.remarks(seed)]
    budget = strategy.describe_budget(output)
    statement = replace(statement, remarks=tuple(dict.fromkeys(remarks)), seeded=seed is not None, budget=budget)
    spending.know(guarantees=guarantees)
    if strategy.is_private:
        spending.pay()  # it was, before noise: a method that drew none is refused by now
    if state_total:
        statement = replace(statement, total=spending.total)
    date = recipe.about.day
    statement = replace(statement, about=recipe.about.of_release(date))
    manifest = Manifest(
        date=date,
        recipe=recipe.as_dict(),
        stages=(describe_schema(recipe), *output.stages.as_list(recipe.entry, recipe.k)),
        input={"n_records": frame.n_records, "n_columns": len(frame.names), **strategy.describe_input(digest)},
        seeded=seed is not None,
        id=spending.id,
    )
    return Release(
        frame=released,
        recipe=recipe,
        statement=statement,
        manifest=manifest,
        digest=digest,
        blocks=tuple(_in_input_order(block, prepared.rows, frame.n_records) for block in output.blocks),
        information_loss=output.information_loss,
        original=frame,
        origins=origins,
        exposure=exposure,
        spending=spending,
    )


def _check_arguments(recipe: Any, seed: Any) -> None:
    if not isinstance(recipe, Recipe):
        raise ParameterError("recipe must be a microagg.Recipe: Recipe(k=..., attributes={...}) or Recipe.load(path)")
    if seed is not None and (isinstance(seed, bool) or not isinstance(seed, int | np.integer) or seed < 0):
        raise ParameterError("seed must be a whole number of at least 0, or left out")


def _checked_frame(table: Any, recipe: Recipe) -> Frame:
    """The table, if it has the recipe's columns, enough records, and nothing that no file can show."""
    frame = Frame.wrap(table, recipe.schema.check_columns)
    recipe.schema.check_columns(frame.names)
    for finding in values_out_of_type(frame.table.select(recipe.schema.published), written=False):
        raise TableError(f"{finding.detail}: no file can show them. Mend them before, or drop the column")
    if not recipe.entry.mixes_values and frame.n_records < recipe.k:
        raise InputError(f"k = {recipe.k} needs at least {recipe.k} records; the table has {frame.n_records}")
    refuse_joined_rows(frame.table, recipe.input.separator)
    return frame


def _counted(frame: Frame, recipe: Recipe) -> int:
    """How many records there are, or units where what is drawn from counts them."""
    units = units_of(frame, recipe) if recipe.aggregate.paired_with else None
    return frame.n_records if units is None else units.count


def _put_together(
    frame: Frame, prepared: Prepared, output: MethodOutput, strategy: Strategy, seed: int | None
) -> tuple[Frame, IntArray | None]:
    """The published table, and for each of its rows the record of the input that it stands for, if it does."""
    recipe = strategy.recipe
    if output.table is not None:
        return Frame.of(output.table, frame.library), None
    published = set(recipe.schema.published)
    released = strategy.replace_columns(prepared.frame, output.arrays)
    released = released.select([name for name in frame.names if name in published])
    origins = prepared.rows if output.linked else None
    if recipe.output.order is RowOrder.SHUFFLED and origins is not None:
        order = _shuffled(released.n_records, seed)
        released, origins = released.take(order), origins[order]
    return released.without_unused_categories(), origins


def _state(
    released: Frame, original: Frame, guarantees: tuple[Guarantee, ...], strategy: Strategy
) -> tuple[Statement, Exposure | None]:
    """The statement of a table as it would be written: what can be counted is counted, and must hold."""
    recipe = strategy.recipe
    counted = [guarantee.attributes for guarantee in guarantees if guarantee.counted]
    recounts = tuple(recount(released.table, attributes, recipe.k) for attributes in counted)
    for count in recounts:
        require_k(count, AS_WRITTEN)
    required = count_requirements(numbers_of_text(released.table, recipe), recipe) if strategy.is_counted else ()
    require_requirements(required, recipe, AS_WRITTEN)
    exposure = exposure_of(released, recipe, counted, original) if counted else None
    public = None if exposure is None else tuple(exposure.public())
    stated = Statement(guarantees, recounts, released.n_records, exposure=public, requirements=required)
    return stated, exposure


def _say_index_is_dropped(table: Any, *, private: bool) -> tuple[str, ...]:
    """A remark if a pandas index looks like data; aloud if it has several levels, which are columns to many."""
    index = index_with_data(table)
    if index is None or (private and not index.is_named):  # what an index looks like follows from its values
        return ()
    remark = (
        f"the index of the dataframe ({index.description}) is not a column and was dropped; "
        "table.reset_index() makes it columns, to be declared in the recipe"
    )
    if index.n_levels > 1:
        warnings.warn(remark, UserWarning, stacklevel=3)
    return (remark,)


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
