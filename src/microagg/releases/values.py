"""Values of all attributes mixed into one vector, as Mic1D-k does it: there are no cells of records."""

from __future__ import annotations

import numpy as np

from microagg._scaling import near_one
from microagg.errors import InputError, TableError
from microagg.methods.output import MethodOutput, Stages
from microagg.recipe.recipe import Recipe
from microagg.releases.prepare import Prepared
from microagg.releases.representatives import round_values
from microagg.statements.promises import describe_aggregation, describe_space

__all__ = ["VALUES_MIXED", "mix_values"]

VALUES_MIXED = (
    r"values of <n_attributes> attributes were mixed into <count> partitions of <k> values; the partitions are of "
    r"values, not of records, so no k-anonymity of records follows"
)


def mix_values(prepared: Prepared, recipe: Recipe) -> MethodOutput:
    """Values of all attributes in one vector: there are no cells of records."""
    columns = list(prepared.measured.values())
    if not prepared.frame.n_records:
        raise InputError("no record is left to protect: every one lacks a quasi-identifier")
    values = np.column_stack([column.values + column.column.origin for column in columns])
    fitted = recipe.entry.partitioner(recipe.k, **recipe.partition).fit(values)
    arrays, lost, varying = {}, 0.0, 0
    for j, column in enumerate(columns):
        published = round_values(column, fitted.published_[:, j] - column.column.origin)
        arrays[column.name] = column.publish(published)
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
    stages = Stages(space=describe_space(recipe), aggregate=describe_aggregation(recipe))
    return MethodOutput(arrays, stages=stages, remarks=remarks, information_loss=loss)
