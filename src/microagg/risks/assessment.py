"""What an assessment of risk found: counts, shares and names of columns, never a value of a record."""

from __future__ import annotations

import json
from collections.abc import Mapping
from dataclasses import asdict, dataclass, field, is_dataclass
from typing import Any

from microagg.evaluation.disclosure.scenarios import Scenario
from microagg.evaluation.result import PerRecord
from microagg.risks.text import describe_risk

__all__ = [
    "AgreeingRecords",
    "CombinationCounts",
    "EstimatedRisk",
    "MatchChance",
    "PopulationCounts",
    "RiskAssessment",
    "SpecialUniqueCounts",
    "UnitCounts",
]


@dataclass(frozen=True)
class UnitCounts:
    """That units were counted: records of one unit with equal quasi-identifiers are one record of the assessment.

    Attributes
    ----------
    key : str
        The column that says whose a record is.
    records : int
        Of the table.
    units : int
        Whose they are.
    """

    key: str
    records: int
    units: int


@dataclass(frozen=True)
class CombinationCounts:
    """How records share combinations of quasi-identifiers. All but `classes` and `smallest` count records.

    Attributes
    ----------
    classes : int
        Different combinations.
    smallest : int
        The records of the smallest class: the k that the table has.
    unique, in_pairs : int
        Records whose combination no other record has, and exactly one other.
    below_k : int
        Records in classes of fewer than the recipe's k.
    unique_without : mapping of str to int
        For each quasi-identifier the records that would be unique if it alone were not known, the fewest first.
    """

    classes: int
    smallest: int
    unique: int
    in_pairs: int
    below_k: int
    unique_without: Mapping[str, int]


@dataclass(frozen=True)
class AgreeingRecords:
    """Records in classes whose values of a confidential attribute all agree, missing counted as a value.

    Attributes
    ----------
    attribute : str
    records : int
        In all such classes; a class of one record always agrees with itself.
    in_shared_classes : int
        In those of two or more records: k-anonymity would not hide their value.
    """

    attribute: str
    records: int
    in_shared_classes: int


@dataclass(frozen=True)
class MatchChance:
    """The chance that a match with a unique record is right, for somebody drawn from those who match one.

    Attributes
    ----------
    fraction : float
        The share of the population that is in the table.
    fraction_from : str
        Where it is from, in words.
    chance : float
        Counted where there is a population table, else estimated (data intrusion simulation).
    standard_error : float or None
        0 where it was counted; None where it is not known, as there are no pairs to estimate it from.
    largest : float
        The largest DIS-SUDA score: the chance, dealt out to the unique records by their SUDA scores.
    """

    fraction: float
    fraction_from: str
    chance: float
    standard_error: float | None
    largest: float
    is_counted: bool = False


@dataclass(frozen=True)
class SpecialUniqueCounts:
    """Records that few quasi-identifiers already single out.

    Attributes
    ----------
    largest_size : int
        Minimal sample uniques (MSUs) of more attributes were not looked for.
    is_complete : bool
        Whether larger ones could not have a score anyway.
    records : int
        With at least one MSU.
    by_size : mapping of int to int
        For each size, the records whose smallest MSU has it.
    msus : mapping of int to int
        For each size, how many MSUs all records have together.
    largest_score, mean_score : float
        SUDA scores; the mean is over the unique records.
    contributions : mapping of str to float
        For each quasi-identifier the share of all scores that comes from MSUs with it, the largest first.
    match : MatchChance or None
        None where the sampling fraction is not known.
    """

    largest_size: int
    is_complete: bool
    records: int
    by_size: Mapping[int, int]
    msus: Mapping[int, int]
    largest_score: float
    mean_score: float
    contributions: Mapping[str, float]
    match: MatchChance | None = None


@dataclass(frozen=True)
class EstimatedRisk:
    """Individual risk in the population, estimated from sampling weights after Benedetti and Franconi.

    Attributes
    ----------
    weight : str
        The column of weights.
    population : float
        Their sum, of each unit once: how many people the population is estimated to have.
    largest, average : float
        Of the individual risk.
    expected : float
        The expected number of records that are named rightly: the sum of the risks (global risk).
    spread : float
        The standard deviation of that number, where records are found independently of each other.
    above : mapping of float to int
        For each threshold the records whose risk is above it.
    records_underweighted : int
        Records in classes whose weights sum to less than their records; they count as all that there are.
    average_of_unique : float or None
        The average over unique records; None if there are none.
    is_understated : bool
        Whether that is below the chance that a match with a unique record is right, by more than two standard errors.
        It cannot be: the mean of 1/F is at least 1 over the mean of F.
    """

    weight: str
    population: float
    largest: float
    average: float
    expected: float
    spread: float
    above: Mapping[float, int]
    records_underweighted: int
    average_of_unique: float | None
    is_understated: bool


@dataclass(frozen=True)
class PopulationCounts:
    """How often the combinations of the table occur in a population table; exact.

    Attributes
    ----------
    population : int
        Records of the population table.
    k_map : int
        The smallest number of them that share a combination which the table has, too. 0 if they share none.
    without : int
        Records of the table whose combination the population does not have.
    unique : int
        Records of the table whose combination the population has once.
    below_k : int
        Records of the table whose combination the population has at least once, but fewer than k times.
    incomplete : int
        Records of the table whose combination the population has less often than the table, `without` included: it
        cannot be the population that the table is of.
    """

    population: int
    k_map: int
    without: int
    unique: int
    below_k: int
    incomplete: int


@dataclass(frozen=True)
class RiskAssessment:
    """What a table gives away as it is. ``print`` shows it in sentences; :meth:`as_dict` is for programs.

    It is for whoever holds the data: exact counts of few records are not for publication.

    Attributes
    ----------
    n_records, k : int
        k is the recipe's.
    quasi_identifiers : tuple of str
    records_with_missing : int
        Records that lack the value of a quasi-identifier. Missing counts as a value of its own.
    combinations : CombinationCounts
    agreeing : tuple of AgreeingRecords
        One for each confidential attribute.
    special_uniques : SpecialUniqueCounts or None
        None for a single quasi-identifier.
    estimated : EstimatedRisk or None
        None without sampling weights.
    population : PopulationCounts or None
        None without a population table.
    prosecutor : Scenario
        Of an intruder who looks for a person known to be in the table.
    journalist : Scenario or None
        Of one who does not know who is in it. From the population table, or else from sampling weights.
    per_record : PerRecord or None
        Values for single records, if they were asked for. They must not be published, and no other form has them.
    unit : UnitCounts or None
        Whom the assessment counts, where that is not every record.
    """

    n_records: int
    k: int
    quasi_identifiers: tuple[str, ...]
    records_with_missing: int
    combinations: CombinationCounts
    agreeing: tuple[AgreeingRecords, ...]
    special_uniques: SpecialUniqueCounts | None
    estimated: EstimatedRisk | None
    population: PopulationCounts | None
    prosecutor: Scenario
    journalist: Scenario | None
    per_record: PerRecord | None = field(default=None, repr=False)
    unit: UnitCounts | None = None

    @property
    def marketer(self) -> Mapping[str, float]:
        """The share of records that an intruder is expected to name rightly who tries to name all.

        ``"table"``: who has a list of the table's people; ``"population"``: who has one of the whole population.
        """
        shares = {"table": self.prosecutor.average}
        return shares if self.journalist is None else shares | {"population": self.journalist.average}

    def as_dict(self) -> dict[str, Any]:
        """All figures as plain dicts and lists; nothing of single records."""
        content = {name: value for name, value in vars(self).items() if name not in ("per_record", "unit")}
        if self.unit is not None:
            content["unit"] = self.unit
        found = {name: _plain(value) for name, value in content.items()}
        return found | {"marketer": dict(self.marketer)}

    def as_json(self) -> str:
        return json.dumps(self.as_dict(), indent=2, ensure_ascii=False)

    def __str__(self) -> str:
        return describe_risk(self)


_COUNTED_BY = {"above": ("threshold", "records"), "by_size": ("size", "records"), "msus": ("size", "msus")}


def _counted_by(name: str, counts: Mapping[float, int]) -> list[dict[str, float]]:
    by, what = _COUNTED_BY[name]
    return [{by: key, what: count} for key, count in counts.items()]


def _plain(value: Any) -> Any:
    """Dataclasses as dicts, tuples as lists; a mapping from numbers as a list of what is counted by what."""
    if isinstance(value, Mapping):
        # A column may have the name of a figure, but what belongs to it is a number.
        by_number = {key for key, one in value.items() if key in _COUNTED_BY and isinstance(one, Mapping)}
        return {key: _counted_by(key, one) if key in by_number else _plain(one) for key, one in value.items()}
    if isinstance(value, tuple):
        return [_plain(one) for one in value]
    if is_dataclass(value) and not isinstance(value, type):
        return _plain(asdict(value))
    return value
