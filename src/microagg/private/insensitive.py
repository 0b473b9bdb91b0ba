"""Insensitive MDAV with noise: cells of whole records along a public order, and noise for all of them."""

from __future__ import annotations

from collections.abc import Mapping, Sequence
from typing import TYPE_CHECKING, ClassVar

import numpy as np

from microagg.methods.method import PUBLIC_SPACE, Method
from microagg.methods.output import Block, CellSizes, MethodOutput, Stages
from microagg.partition.insensitive import order_of_domain
from microagg.partition.runs import run_labels, run_sizes
from microagg.privacy.budget import Budget
from microagg.privacy.guarantee import MICROAGGREGATED, ORIGINAL_RECORDS, Guarantee
from microagg.privacy.mechanism import add_laplace
from microagg.privacy.noise import Noise
from microagg.privacy.verify import Finding
from microagg.private.base import PrivateMethod, dp_guarantee, form_of
from microagg.private.findings import check_public_values, check_shared_alone
from microagg.private.public_column import PublicColumn
from microagg.recipe.recipe import Recipe
from microagg.schema.attribute import Kind
from microagg.tables.words import Words

if TYPE_CHECKING:
    import pyarrow as pa

__all__ = ["ENTRY", "PrivateInsensitiveMDAV"]

CENTROIDS, ALIGNED = "centroids", "aligned"


class PrivateInsensitiveMDAV(PrivateMethod):
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

    def guarantee(self, recipe: Recipe) -> Guarantee:
        """Of the original records for ``centroids``; of the microaggregated data set for ``aligned``."""
        aligned = form_of(recipe) == ALIGNED
        return dp_guarantee(
            recipe,
            target=MICROAGGREGATED if aligned else ORIGINAL_RECORDS,
            linked=aligned,
            not_promised=() if aligned else ("values of records: a row is a cell's noisy mean, repeated",),
        )

    def protect(self, columns: Sequence[PublicColumn], recipe: Recipe, noise: Noise, budget: Budget) -> MethodOutput:
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
            arrays[column.name] = column.publish(grid.values(noisy.astype(np.float64) / sizes)[labels])
        names = tuple(column.name for column in columns)
        stages = Stages(cells=(CellSizes.of(names, sizes),), noise={"form": form_of(recipe)})
        remarks = () if aligned else ("a row is a cell's mean, repeated as often as the cell has records; no record's",)
        blocks = (Block(names, labels),) if aligned else ()
        return MethodOutput(arrays, blocks, stages, remarks, budget=budget, linked=aligned)

    def findings(self, table: pa.Table, recipe: Recipe) -> list[Finding]:
        """Public values, and combinations shared by k records."""
        return [check_public_values(table, recipe), check_shared_alone(table, recipe)]


ENTRY = Method(
    name="dp_insensitive_mdav",
    title="Insensitive MDAV with noise",
    summary="Cells along a public order of whole records; every cell may change, so noise grows with n / k.",
    cells_by="microagg.partition.insensitive:InsensitiveMDAV",
    protected_by=PrivateInsensitiveMDAV,
    space=PUBLIC_SPACE,
    aggregate="mean of a cell",
    noise="Laplace, (n / k) x width x attributes / (k epsilon) on each mean",
    guarantee=(
        "epsilon-differential privacy of the original records (form centroids), or of the microaggregated data set "
        "given the partition (form aligned)"
    ),
    reference="Soria-Comas et al. (2014), doi:10.1007/s00778-014-0351-4",
    kinds=(Kind.NUMERIC, Kind.ORDINAL),
    explained=Words(
        "It forms cells along a public order of whole records and adds noise to the mean of each cell. Attributes "
        "stay together in a row.",
        "One record may change every cell a little, so noise grows with the number of cells: small k or many records "
        "drown the data.",
        formula="noise of scale (n / k) x width x attributes / (k x epsilon) on the mean of each cell",
        more="docs/differential_privacy.md",
    ),
)
