"""Requirements on confidential values, counted on a table: what a release must show before and after it is written."""

from __future__ import annotations

from collections.abc import Mapping, Sequence
from dataclasses import asdict, dataclass
from typing import TYPE_CHECKING, Any

from microagg._typing import IntArray
from microagg.errors import GuaranteeError, TableError
from microagg.evaluation.pairs import combinations
from microagg.privacy.requirement import ConfidentialValues, Requirement
from microagg.privacy.verify import Finding, absent_from
from microagg.recipe.protect import requirements_of
from microagg.schema.encode import encode
from microagg.tables.frames import Frame
from microagg.tables.phrases import columns_phrase

if TYPE_CHECKING:
    import pyarrow as pa

    from microagg.recipe.recipe import Recipe

__all__ = ["RequirementCount", "confidential_values", "count_requirements", "find_requirements", "require_requirements"]


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
    names = recipe.protect
    return {name: ConfidentialValues.of(encode(frame.column(name), recipe.attributes[name])) for name in names}


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
