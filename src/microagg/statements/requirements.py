"""Requirements on confidential values, counted on a table: what a release must show before and after it is written."""

from __future__ import annotations

from collections.abc import Mapping, Sequence
from dataclasses import asdict, dataclass
from typing import TYPE_CHECKING, Any

import numpy as np

from microagg._typing import IntArray
from microagg.errors import GuaranteeError, TableError
from microagg.evaluation.pairs import combinations
from microagg.privacy.requirement import ConfidentialValues, Requirement
from microagg.privacy.verify import Finding, absent_from
from microagg.recipe.protect import requirements_of
from microagg.schema.alike import key_as_read
from microagg.schema.attribute import Kind
from microagg.schema.encode import EncodedColumn, encode
from microagg.tables.formats.statistics import cut_to_bytes
from microagg.tables.frames import Frame
from microagg.tables.labels import labels_of
from microagg.tables.phrases import columns_phrase

if TYPE_CHECKING:
    import pyarrow as pa

    from microagg.recipe.recipe import Recipe

__all__ = ["RequirementCount", "confidential_values", "count_requirements", "find_requirements", "require_requirements"]


_LONGEST_LABEL = 120  # bytes, in SPSS files


@dataclass(frozen=True)
class RequirementCount:
    """One requirement, counted on the classes of a table.

    Attributes
    ----------
    attribute : str
        The confidential one.
    requirement : str
        Its key in a recipe.
    bound : float
    found : float
        Of the class that is worst.
    n_classes, n_missing : int
        Classes, and those that miss the requirement.
    rarest : int
        l of recursive (c, l)-diversity; 0 for the others.
    """

    attribute: str
    requirement: str
    bound: float
    found: float
    n_classes: int
    n_missing: int
    rarest: int = 0

    @property
    def holds(self) -> bool:
        return self.n_classes > 0 and self.n_missing == 0

    @property
    def description(self) -> str:
        """What was found, in words."""
        return f"{self.n_classes} classes, in the worst one {self.requirement} is {self.found:.6g}"

    def as_dict(self) -> dict[str, Any]:
        content = asdict(self) | {"holds": self.holds}
        return content if self.rarest else {key: value for key, value in content.items() if key != "rarest"}

    @classmethod
    def from_dict(cls, content: Mapping[str, Any]) -> RequirementCount:
        return cls(**{key: value for key, value in content.items() if key != "holds"})


def confidential_values(frame: Frame, recipe: Recipe) -> dict[str, ConfidentialValues]:
    """The values of the attributes that a recipe protects.

    Raises
    ------
    TableError
        If one does not fit its declaration.
    """
    found = {}
    for name in recipe.protect:
        _refuse_equal_labels(name, frame.table.schema.field(name))
        column = encode(frame.column(name), recipe.attributes[name])
        if column.kind is Kind.NUMERIC:
            _refuse_lost_digits(column)
        found[name] = ConfidentialValues.of(column)
    return found


def _refuse_equal_labels(name: str, field: pa.Field) -> None:
    """Values that have one label, or one after SPSS has cut it, are one value to who reads labels."""
    labels = [cut_to_bytes(str(label), _LONGEST_LABEL) for _, label in labels_of(field).value_labels]
    if len({key_as_read(label) for label in labels}) < len(labels):
        raise TableError(
            f"several values of column {name!r} have the same value label, or the same after {_LONGEST_LABEL} bytes: a "
            "reader of labels would take them for one. Give each a label of its own, or none"
        )


def _refuse_lost_digits(column: EncodedColumn) -> None:
    """Whole numbers that differ must differ as floats, too: what is promised is about the numbers on the file."""
    import pyarrow as pa
    import pyarrow.compute as pc

    values = column.column.values
    if pa.types.is_floating(values.type) or not (
        pa.types.is_primitive(values.type) or pa.types.is_decimal(values.type)
    ):
        return
    lost = pc.count_distinct(values).as_py() - len(np.unique(column.values[~column.missing]))
    if lost > 0:
        raise TableError(
            f"{lost} values of column {column.name!r} differ from others only beyond the 15 digits that can be "
            "compared; round the column before it is protected"
        )


def count_requirements(
    typed: pa.Table, recipe: Recipe, written: pa.Table | None = None
) -> tuple[RequirementCount, ...]:
    """Count all requirements of a recipe on a table.

    Parameters
    ----------
    typed : Arrow table
        With numbers as numbers.
    recipe : Recipe
    written : Arrow table, optional
        The same rows as they are written, by which classes are told apart.
    """
    if not recipe.protect or not typed.num_rows:
        return ()
    shown = Frame.of(typed if written is None else written, "pyarrow")
    classes = combinations(shown, recipe.schema.quasi_identifiers)
    values = confidential_values(Frame.of(typed, "pyarrow"), recipe)
    return tuple(_count(one, values[one.attribute], classes) for one in requirements_of(recipe))


def _count(requirement: Requirement, values: ConfidentialValues, classes: IntArray) -> RequirementCount:
    found = requirement.per_cell(values, classes)
    return RequirementCount(
        requirement.attribute,
        requirement.kind.key,
        requirement.bound,
        requirement.worst(found),
        len(found),
        int((~requirement.holds(found)).sum()),
        requirement.rarest,
    )


def require_requirements(counts: Sequence[RequirementCount], recipe: Recipe, where: str) -> None:
    """Raise unless every requirement was found to hold."""
    due = requirements_of(recipe)
    if len(counts) != len(due):
        raise GuaranteeError(
            f"what is required of confidential values cannot be counted on {where}. Nothing was written"
        )
    for count, requirement in zip(counts, due, strict=True):
        if not count.holds:
            raise GuaranteeError(
                f"{requirement.title} does not hold on {where}: {count.n_missing} of {count.n_classes} classes of "
                "equal quasi-identifiers miss it. Nothing was written"
            )


def find_requirements(typed: pa.Table, recipe: Recipe, written: pa.Table | None = None) -> list[Finding]:
    """What a check finds of each requirement on a table."""
    due = requirements_of(recipe)
    absent = absent_from(typed, [*recipe.protect, *recipe.schema.quasi_identifiers]) if due else []
    if absent:
        return [Finding(one.title, False, f"cannot be counted without {columns_phrase(absent)}") for one in due]
    try:
        counts = count_requirements(typed, recipe, written)
    except TableError as error:
        return [Finding(one.title, False, f"cannot be counted: {error}") for one in due]
    if len(counts) != len(due):
        return [Finding(one.title, False, "cannot be counted without records") for one in due]
    return [
        Finding(one.title, count.holds, count.description + ("" if count.holds else f"; {count.n_missing} miss it"))
        for one, count in zip(due, counts, strict=True)
    ]
