"""What a private release says beside its table, worked out again from its recipe and public facts.

A private method lets nothing but public facts decide what it spends, on what, and with which noise. So a reader can
follow it on a table that holds no record at all.
"""

from __future__ import annotations

from collections.abc import Collection, Mapping, Sequence
from typing import TYPE_CHECKING, Any

from microagg.methods.output import MethodOutput
from microagg.privacy.budget import Budget
from microagg.private.base import bounds_read_from_data
from microagg.private.public_column import blank_column
from microagg.recipe.recipe import Recipe
from microagg.recipe.unit import epsilon_of_record

if TYPE_CHECKING:
    import pyarrow as pa

__all__ = ["follow"]


def follow(
    recipe: Recipe, table: pa.Table, blocks: Sequence[Mapping[str, Any]], times: Collection[str]
) -> MethodOutput:
    """Ledger, remarks and stages of a private release, as its method makes them of public facts.

    Parameters
    ----------
    recipe : Recipe
    table : Arrow table
        What was published: the names of its columns and the number of its rows are looked at.
    blocks : sequence of dict
        The cells as the manifest describes them.
    times : collection of str
        Columns of times of day.

    Raises
    ------
    ValueError
        If the manifest states cells that no records can have.
    """
    private = recipe.entry.private
    if private.uses_blocks:
        names = [name for block in blocks for name in block["attributes"]]
        if any(not 1 <= block["n_cells"] <= table.num_rows for block in blocks):
            raise ValueError("more cells than rows")
    else:
        protected = set(recipe.schema.quasi_identifiers)
        names = [name for name in table.column_names if name in protected]
    from_data = bounds_read_from_data(recipe)
    columns = [
        blank_column(
            name, recipe.attributes[name], table.num_rows, is_time=name in times, bounds_from_data=name in from_data
        )
        for name in names
    ]
    assert recipe.privacy is not None
    budget = Budget(epsilon_of_record(recipe), names)
    followed: MethodOutput = private.follow(columns, recipe, budget, blocks)
    return followed
