"""Insensitive MDAV with noise: cells of whole records along a public order, and noise for all of them."""

from __future__ import annotations

from collections.abc import Mapping, Sequence
from typing import TYPE_CHECKING, Any, ClassVar

import numpy as np

from microagg._validation import Constraint
from microagg.methods.output import Block, Protected
from microagg.partition.insensitive import order_of_domain
from microagg.partition.runs import run_labels, run_sizes
from microagg.privacy.budget import Budget
from microagg.privacy.guarantee import MICROAGGREGATED, ORIGINAL_RECORDS, Guarantee
from microagg.privacy.mechanism import Noise, add_laplace
from microagg.privacy.verify import Finding
from microagg.private.base import form_of, promised
from microagg.private.findings import check_public_values, check_shared_alone
from microagg.private.public_column import PublicColumn
from microagg.recipe.recipe import Recipe

if TYPE_CHECKING:
    import pyarrow as pa

__all__ = ["PrivateInsensitiveMDAV"]

CENTROIDS, ALIGNED = "centroids", "aligned"


class PrivateInsensitiveMDAV:
    """Means of the cells of insensitive MDAV, each with Laplace noise.

    Two forms. ``centroids`` publishes the cells' noisy means in the public order of the cells, each as often as the
    cell has records: epsilon-DP of the original records. ``aligned`` gives each record the mean of its own cell,
    which shows who was put together.

    Notes
    -----
    Sensitivity. Records are sorted by an order of the whole domain and cut into runs whose sizes depend on n and k
    only. If one record is replaced, records between its old and its new place move by one, so every cell loses at
    most one record and gains at most one: its sum of an attribute changes by the width at most. Whole records lie on
    no line, so nothing telescopes: all floor(n/k) cells can change by that much, and the L1 sensitivity of an
    attribute's sums is floor(n/k) width. With noise on the sums, that of a mean has scale floor(n/k) width / (size
    epsilon).

    References
    ----------
    .. [1] Soria-Comas, J., Domingo-Ferrer, J., Sanchez, D. & Martinez, S. (2014). Enhancing data utility in
       differential privacy via microaggregation-based k-anonymity. VLDB Journal 23(5), 771-794.
       doi:10.1007/s00778-014-0351-4
    """

    forms: ClassVar[tuple[str, ...]] = (CENTROIDS, ALIGNED)
    linked_forms: ClassVar[tuple[str, ...]] = (ALIGNED,)
    rows: ClassVar[Mapping[str, str]] = {CENTROIDS: "means"}
    options: ClassVar[Mapping[str, Constraint]] = {}
    defaults: ClassVar[Mapping[str, Any]] = {}
    uses_space: ClassVar[bool] = False

    @classmethod
    def guarantee(cls, recipe: Recipe) -> Guarantee:
        """Of the original records for ``centroids``; of the microaggregated data set for ``aligned``."""
        aligned = form_of(recipe) == ALIGNED
        return promised(
            recipe,
            target=MICROAGGREGATED if aligned else ORIGINAL_RECORDS,
            linked=aligned,
            not_promised=() if aligned else ("values of records: a row is a cell's noisy mean, repeated",),
        )

    @classmethod
    def protect(cls, columns: Sequence[PublicColumn], recipe: Recipe, noise: Noise, budget: Budget) -> Protected:
        """Form the cells along the public order and add noise to their sums."""
        assert recipe.privacy is not None
        aligned = form_of(recipe) == ALIGNED
        scaled = np.column_stack([(column.values - column.low) / (column.high - column.low) for column in columns])
        order = order_of_domain(scaled)
        sizes = run_sizes(len(order), recipe.k, "middle")
        labels = run_labels(order, sizes) if aligned else np.repeat(np.arange(len(sizes)), sizes)
        shares = budget.divide(recipe.privacy.weights or [column.name for column in columns])
        arrays = {}
        for column in columns:
            grid = column.grid
            sums = np.add.reduceat(grid.counts(column.values)[order], np.cumsum(sizes) - sizes)
            noisy = add_laplace(
                sums,
                len(sizes) * grid.steps,
                budget=shares[column.name],
                noise=noise,
                on=f"means of {len(sizes)} cells of {column.name}",
                step=grid.width / grid.steps / recipe.k,
            )
            arrays[column.name] = column.published(grid.values(noisy.astype(np.float64) / sizes)[labels])
        names = tuple(column.name for column in columns)
        cells = {"n_cells": len(sizes), "smallest_cell": int(sizes.min()), "largest_cell": int(sizes.max())}
        stages: dict[str, dict[str, Any]] = {
            "partition": {"blocks": [{"attributes": list(names), **cells}]},
            "noise": {"form": form_of(recipe)},
        }
        remarks = () if aligned else ("a row is a cell's mean, repeated as often as the cell has records; no record's",)
        blocks = (Block(names, labels),) if aligned else ()
        return Protected(arrays, blocks, None, remarks, stages, budget, linked=aligned)

    @classmethod
    def findings(cls, table: pa.Table, recipe: Recipe) -> list[Finding]:
        """Public values, and combinations shared by k records."""
        return [check_public_values(table, recipe), check_shared_alone(table, recipe)]
