"""Finished results that a report shows; whoever asks for the report computes them."""

from __future__ import annotations

from collections.abc import Mapping, Sequence
from dataclasses import dataclass, field
from typing import Literal

from microagg._typing import BoolArray, FloatArray, IntArray
from microagg.evaluation.result import Evaluation
from microagg.privacy.requirement import Requirement
from microagg.privacy.verify import Recount
from microagg.statements.exposure import Exposure
from microagg.statements.requirements import RequirementCount

__all__ = [
    "Alike",
    "BlockSizes",
    "CellLoss",
    "CellResults",
    "ClassesFound",
    "Correlations",
    "MeasureResults",
    "Part",
    "ReportResults",
]

Part = Literal["cell", "class"]
"""A cell is what was formed; a class is what the released table shows: records with equal quasi-identifiers."""

Matrix = Sequence[Sequence[float | None]]


@dataclass(frozen=True)
class BlockSizes:
    """How large the cells, or classes, of one block of attributes are."""

    part: Part
    attributes: tuple[str, ...]
    sizes: IntArray


@dataclass(frozen=True)
class CellLoss:
    """What each cell, or class, of the first block lost.

    Attributes
    ----------
    part : {"cell", "class"}
    problem : str
        Why nothing could be computed; empty if it could.
    labels, sizes : ndarray
        The cells that were looked at and the number of records in each.
    shares : ndarray of float
        Mean squared distance of the cell's records to what it publishes, in percent of that to the overall mean.
    is_sample : bool
        Whether only some cells were looked at.
    """

    part: Part
    problem: str = ""
    labels: IntArray | None = None
    sizes: IntArray | None = None
    shares: FloatArray | None = None
    is_sample: bool = False


@dataclass(frozen=True)
class CellResults:
    """Cells of a release, or classes of a table whose cells are not known.

    Attributes
    ----------
    blocks : tuple of BlockSizes
    n_blocks : int
        Blocks there are; more than `blocks` has if only the first ones were counted.
    loss : CellLoss or None
        None where the records must not or cannot be compared.
    """

    blocks: tuple[BlockSizes, ...] = ()
    n_blocks: int = 0
    loss: CellLoss | None = None


@dataclass(frozen=True)
class Alike:
    """How many records look like each released one, and how far classes agree in confidential attributes.

    Attributes
    ----------
    after : ndarray
        For each number of records that look alike, how many records of the released table are in such classes.
    before : ndarray or None
        The same of the original; None where it must not be shown, or cannot be counted.
    agreement : mapping of str to ndarray
        For each confidential attribute, and each released record that was looked at, the share of the most frequent
        value in its class.
    """

    after: IntArray
    before: IntArray | None = None
    agreement: Mapping[str, FloatArray] = field(default_factory=dict)


@dataclass(frozen=True)
class ClassesFound:
    """What a requirement on confidential values bounds, found for each class of the released table.

    Attributes
    ----------
    requirement : Requirement
    found : ndarray of float
        Infinite where no bound would do.
    holds : ndarray of bool
        Whether the class satisfies the requirement.
    """

    requirement: Requirement
    found: FloatArray
    holds: BoolArray


@dataclass(frozen=True)
class Correlations:
    """Pearson's correlation of every two numeric or ordinal attributes.

    Attributes
    ----------
    names : tuple of str
    after : matrix of float or None
        None where one of the two is constant, or too few records have both.
    before : matrix or None
        Those of the original; None where they are not to be shown.
    problems : tuple of str
        Why attributes were left out.
    has_more : bool
        Whether there are more attributes than were correlated.
    """

    names: tuple[str, ...] = ()
    after: Matrix = ()
    before: Matrix | None = None
    problems: tuple[str, ...] = ()
    has_more: bool = False


@dataclass(frozen=True)
class MeasureResults:
    """Measures of utility and risk that were taken for a report.

    Attributes
    ----------
    evaluation : Evaluation or None
        None if the tables could not be compared.
    problem : str
        Why they could not.
    is_of_release_alone : bool
        Whether the table is so small that only what it shows itself was measured.
    leaves_out_pairs : bool
        Whether measures of every two attributes were left out, as there are too many.
    n_sampled : int or None
        On how many records costly measures were estimated; None if on all.
    estimated : tuple of str
        Those measures.
    places : ndarray or None
        For each released record its place in the original, if that is known, else in the release.
    """

    evaluation: Evaluation | None = None
    problem: str = ""
    is_of_release_alone: bool = False
    leaves_out_pairs: bool = False
    n_sampled: int | None = None
    estimated: tuple[str, ...] = ()
    places: IntArray | None = field(default=None, repr=False)


@dataclass(frozen=True)
class ReportResults:
    """All that was computed for a report.

    Attributes
    ----------
    measures : MeasureResults or None
        None where nothing may be compared with the original.
    cells : CellResults
    correlations : Correlations or None
        None where values in one row do not belong together.
    exposure : Exposure or None
        What k does not hide, counted; None where a statement is quoted, or nothing is k-anonymous.
    recount : Recount or None
        How often combinations of quasi-identifiers occur in a table that came without a statement.
    requirements : tuple of RequirementCount
        What the recipe requires of confidential values, counted on a table that came without a statement.
    classes : tuple of ClassesFound
        The same class by class; empty unless the report is internal.
    alike : Alike or None
        None where rows are no records, or their classes cannot be found.
    """

    measures: MeasureResults | None = None
    cells: CellResults = CellResults()
    correlations: Correlations | None = None
    exposure: Exposure | None = None
    recount: Recount | None = None
    requirements: tuple[RequirementCount, ...] = ()
    classes: tuple[ClassesFound, ...] = ()
    alike: Alike | None = None
