"""Units: whose each record is, where a person, firm or household has several; and cells that hold k of them."""

from __future__ import annotations

from collections.abc import Callable, Mapping, Sequence
from dataclasses import dataclass
from typing import TYPE_CHECKING, Any

import numpy as np
import numpy.typing as npt

from microagg._labels import cells_in_order, label_combinations
from microagg._typing import IntArray
from microagg.errors import GuaranteeError, TableError
from microagg.partition.units.cells import runs_of_units, unit_means, units_per_cell
from microagg.privacy.verify import combinations_of
from microagg.recipe.choices import Draws
from microagg.recipe.recipe import Recipe
from microagg.recipe.unit import epsilon_of_record
from microagg.schema.units import unit_codes
from microagg.space.points import Points
from microagg.tables.frames import Frame
from microagg.tables.phrases import columns_phrase

if TYPE_CHECKING:
    import pyarrow as pa

__all__ = [
    "SURPLUS",
    "Units",
    "keep_at_most",
    "points_of_units",
    "require_enough",
    "require_rows",
    "require_units",
    "runs_with_units",
    "surplus_words",
    "units_of",
    "units_words",
]


@dataclass(frozen=True)
class Units:
    """Whose each record is.

    Attributes
    ----------
    codes : ndarray of shape (n_records,)
        0, 1, ..., by first occurrence.
    key : str
        The column that tells it.
    together : bool
        Whether records of one unit share a cell.
    """

    codes: IntArray
    key: str
    together: bool = False

    @property
    def count(self) -> int:
        return int(self.codes.max(initial=-1)) + 1

    def take(self, records: IntArray) -> Units:
        """Those of some records."""
        return Units(label_combinations([self.codes[records]], len(records)), self.key, self.together)

    def of_rows(self, rows: IntArray, origins: IntArray) -> Units:
        """Those of published rows, which stand for the records at `origins`; `rows` are those of these units."""
        place = np.full(int(rows.max()) + 1, -1, dtype=np.int64)
        place[rows] = np.arange(len(rows))
        return self.take(place[origins])

    def any_of(self, marks: npt.NDArray[np.bool_]) -> npt.NDArray[np.bool_]:
        """For each record, whether one of its unit is marked."""
        marked = np.zeros(self.count, dtype=np.bool_)
        marked[self.codes[marks]] = True
        return marked[self.codes]

    def refuse_crossing(self, groups: IntArray, what: str) -> None:
        """Raise if records of one unit lie in several groups, which no cell may cross."""
        crossing = int((units_per_cell(groups, self.codes) > 1).sum())
        if crossing:
            raise TableError(
                f"{crossing} units of {self.key!r} have records in several {what}, and cannot share one cell without "
                "crossing them. Set [unit] together = false, or leave out [strata]"
            )

    def in_groups(self, groups: IntArray) -> IntArray:
        """How many units have records in each group."""
        return units_per_cell(self.codes, groups)


def units_of(frame: Frame, recipe: Recipe) -> Units | None:
    """The units of a recipe's ``[unit]``; None if every record stands for itself.

    Raises
    ------
    TableError
        If a record has no key: it might be anybody's.
    """
    if recipe.unit is None:
        return None
    key = recipe.unit.key
    return Units(unit_codes(frame.column(key), recipe.input.missing.get(key, ())), key, recipe.unit.together)


def require_enough(units: Units, k: int) -> None:
    """Raise unless there are units for one cell."""
    if units.count < k:
        raise TableError(
            f"k = {k} needs at least {k} units of {units.key!r}; the table has {units.count} "
            f"({len(units.codes)} records)"
        )


def require_rows(n_kept: int, recipe: Recipe) -> None:
    """Raise unless the records that are left of units with too many are enough for cells of k records."""
    assert recipe.unit is not None
    if n_kept < recipe.k:
        raise TableError(
            f"k = {recipe.k} needs at least {recipe.k} records; of units with more than max_records = "
            f"{recipe.unit.max_records} so many are kept, which leaves {n_kept}. Lower k, or raise [unit] max_records"
        )


def keep_at_most(units: Units, most: int, uniforms: Callable[[int], Any]) -> IntArray:
    """Records of which no unit has more than `most`: of those of larger units so many are taken by chance.

    The chance does not depend on what the records say.
    """
    order = np.lexsort((uniforms(len(units.codes)), units.codes))
    sizes = np.bincount(units.codes)
    place = np.arange(len(order)) - np.repeat(np.cumsum(sizes) - sizes, sizes)
    return np.sort(order[place < most])


def runs_with_units(points: Points, groups: IntArray, units: Units, k: int) -> IntArray:
    """Cells of one attribute that has cells of its own: of at least k units, within each group."""
    values = points.coordinates()[:, 0]
    labels = np.empty(len(points), dtype=np.int64)
    n_cells = 0
    order = np.argsort(groups, kind="stable")
    for members in np.split(order, np.cumsum(np.bincount(groups))[:-1]):
        within = runs_of_units(values[members], units.take(members).codes, k)
        labels[members] = within + n_cells
        n_cells += int(within.max()) + 1
    return cells_in_order(labels)


def points_of_units(points: Points, groups: IntArray, units: Units) -> tuple[Points, IntArray]:
    """Units in place of their records, and their groups: what is put into cells where records stay together."""
    of_units = np.zeros(units.count, dtype=np.int64)
    of_units[units.codes] = groups
    return unit_means(points, units.codes), of_units


def require_units(
    table: pa.Table, blocks: Sequence[Sequence[str]], units: Units, k: int, where: str
) -> tuple[int, ...]:
    """How many units share the combination that the fewest share, block by block; they must be k.

    Parameters
    ----------
    table : Arrow table
        As it is, or would be, written.
    blocks : sequence of attributes
    units : Units
        Of the records that its rows stand for.
    k : int
    where : str
        Which table it is, for the error.

    Raises
    ------
    GuaranteeError
    """
    fewest = []
    for attributes in blocks:
        counts = units.in_groups(combinations_of(table, attributes))
        fewest.append(int(counts.min()))
        if counts.min() < k:
            raise GuaranteeError(
                f"{int((counts < k).sum())} combinations of {columns_phrase(attributes)} are shared by fewer than "
                f"k = {k} units of {units.key!r} in {where}. Nothing was written"
            )
    return tuple(fewest)


SURPLUS = r"<count> records of units with more than <max_records> records were left out by chance"
"""The remark on records above ``max_records``; ``<max_records>`` as in `check_remarks`."""


def surplus_words(recipe: Recipe, n_left_out: int) -> list[str]:
    """That records of units with too many were left out, if some were."""
    assert recipe.unit is not None
    if not n_left_out:
        return []
    return [f"{n_left_out} records of units with more than {recipe.unit.max_records} records were left out by chance"]


def units_words(recipe: Recipe, blocks: Sequence[Mapping[str, Any]]) -> list[str]:
    """What the statement says of units that only the data holder can count, from what the manifest says."""
    if recipe.unit is None:
        return []
    if recipe.privacy is not None:
        return [
            f"the budget counts single records: epsilon = {epsilon_of_record(recipe):.6g} for each of the at most "
            f"{recipe.unit.max_records} records of a unit is epsilon = {recipe.privacy.epsilon:g} for all of them"
        ]
    fewest = min(block["fewest_units"] for block in blocks)
    key = repr(recipe.unit.key)
    holds = f"every cell holds records of at least {fewest} units by {key}, which is not published. This was "
    if recipe.aggregate.way_of_drawing is Draws.MOMENTS:
        return [f"{holds}counted before records were drawn, and neither the file nor its receipt shows it"]
    if recipe.aggregate.way_of_drawing is Draws.SHARED:
        return [
            f"{holds}counted before records were drawn, and neither the file nor its receipt shows it; whoever has the "
            "receipt and the input can count again how many units share each published number or make its interval: "
            "microagg check FOLDER --receipt RECEIPT --original INPUT"
        ]
    return [
        f"{holds}counted when the release was made and cannot be counted on the file; whoever has the receipt and the "
        "input can count it again: microagg check FOLDER --receipt RECEIPT --original INPUT"
    ]
