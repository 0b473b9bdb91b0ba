"""Guarantees: what a release promises, and just as plainly what it does not."""

from __future__ import annotations

from collections.abc import Mapping, Sequence
from dataclasses import asdict, dataclass
from typing import Any

from microagg.privacy.models import DRAWN, EPSILON_DP, EPSILON_IDP, K_ANONYMITY
from microagg.privacy.unit_clauses import (
    NOT_PROMISED_OF_UNITS,
    ONE_RECORD_EACH,
    TOGETHER,
    WHOLE_UNIT,
    assumed_of_units,
    assumed_of_units_under_noise,
    unit_counted,
)
from microagg.tables.phrases import names_phrase

__all__ = [
    "ASSUMED_OF_CELLS",
    "DRAWN",
    "EPSILON_DP",
    "EPSILON_IDP",
    "K_ANONYMITY",
    "MEMBERSHIP",
    "MICROAGGREGATED",
    "ORDER_UNKNOWN",
    "ORIGINAL_RECORDS",
    "PUBLISHED_AS_THEY_ARE",
    "Guarantee",
    "clauses_of",
    "differential_privacy",
    "k_anonymity",
    "less_diverse",
]

# What a promise of differential privacy is about. Only a method whose whole output is proved may name the first.
ORIGINAL_RECORDS = "the original records"
MICROAGGREGATED = "the microaggregated data set, given the partition; not the original records"
_WHOLE_RECORD = "one record"


@dataclass(frozen=True)
class Guarantee:
    """One promise.

    Attributes
    ----------
    model : str
        The privacy model, for example ``"k-anonymity"``.
    parameters : dict
        Its parameters, for example ``{"k": 5}``.
    unit : str
        What one individual is taken to contribute.
    target : str
        What is protected.
    against : str
        Who is kept from what.
    attributes : tuple of str
        The attributes that the promise is about.
    assumptions : tuple of str
        What must be true for the promise to hold.
    not_promised : tuple of str
        What a reader might believe it says, and it does not.
    confidential : str or None
        The confidential attribute whose values are hidden, of a requirement on them; None of every other promise.
    """

    model: str
    parameters: dict[str, float]
    unit: str
    target: str
    against: str
    attributes: tuple[str, ...]
    assumptions: tuple[str, ...]
    not_promised: tuple[str, ...]
    confidential: str | None = None

    def as_dict(self) -> dict[str, Any]:
        """The guarantee as plain lists and dicts, for JSON."""
        return {key: value for key, value in asdict(self).items() if key != "confidential" or value is not None}

    @classmethod
    def from_dict(cls, content: Mapping[str, Any]) -> Guarantee:
        """The guarantee that :meth:`as_dict` wrote."""
        lists = ("attributes", "assumptions", "not_promised")
        fields: dict[str, Any] = {key: tuple(value) if key in lists else value for key, value in content.items()}
        return cls(**fields)

    @property
    def counted(self) -> bool:
        """Whether it promises how often combinations occur, which is counted again on a table as it is written."""
        return self.model == K_ANONYMITY

    @property
    def of_confidential_values(self) -> bool:
        """Whether it promises what the confidential values of a class are like, which is counted again, too."""
        return self.confidential is not None

    @property
    def counts_units(self) -> bool:
        """Whether it counts units (persons, households) and not their records."""
        return WHOLE_UNIT in self.unit

    @property
    def private(self) -> bool:
        """Whether it is a promise of differential privacy."""
        return self.model in (EPSILON_DP, EPSILON_IDP)

    @property
    def covers_records(self) -> bool:
        """Whether it is epsilon-DP of whole original records, of one or of all of a unit: only such promises add up."""
        whole = self.unit.startswith((f"replace {_WHOLE_RECORD}", f"replace {WHOLE_UNIT}"))
        return (self.model, self.target) == (EPSILON_DP, ORIGINAL_RECORDS) and whole

    @property
    def protects_groups(self) -> bool:
        """Whether it is about single original records and implies m times epsilon for m of them.

        That goes from table to table, record by record. It does not where noise follows from the table at hand, or
        what is protected is the table of cells.
        """
        return self.model == EPSILON_DP and ORIGINAL_RECORDS in self.target and MICROAGGREGATED not in self.target

    @property
    def title(self) -> str:
        """The model with its parameters, for example ``k-anonymity (k = 5)``."""
        return f"{self.model} ({', '.join(f'{key} = {value}' for key, value in self.parameters.items())})"


ASSUMED_OF_CELLS = (
    ONE_RECORD_EACH,
    "what an outsider can know is covered by the attributes declared quasi_identifier",
    "no other release of the same records is linked with this one",
)


ORDER_UNKNOWN = "nobody outside knows the order of the input's records, which was kept"
PUBLISHED_AS_THEY_ARE = (
    "attributes declared confidential or non_confidential are published as they are; one that is known to outsiders "
    "can single out a record"
)
MEMBERSHIP = "who is in the table at all"


def clauses_of(*clauses: str) -> tuple[str, ...]:
    """Clauses of a promise, in order, without those that are empty because they do not apply."""
    return tuple(clause for clause in clauses if clause)


def less_diverse(guided_by: Sequence[str]) -> str:
    """What is not promised of attributes that helped to form the cells."""
    return f"diversity of {names_phrase(guided_by)} within cells, which were formed with their help"


def k_anonymity(
    k: int,
    attributes: Sequence[str],
    *,
    order_kept: bool = False,
    one_of_several: bool = False,
    medoids: bool = False,
    guided_by: Sequence[str] = (),
    hidden: Sequence[str] = (),
    key: str | None = None,
    together: bool = False,
) -> Guarantee:
    """The promise of k-anonymity on `attributes`; with `order_kept` the rows are in the input's order.

    With `one_of_several` the attributes are one of several blocks, each with cells of its own; with `medoids` cells
    publish values of one of their own records; `guided_by` names attributes published as they are that helped to form
    the cells; `hidden` names confidential attributes of which promises of their own are made; with a `key`, which says
    whose a record is, k counts units and not records, and with `together` all records of a unit are in one cell.

    References
    ----------
    .. [1] Samarati, P. & Sweeney, L. (1998). Protecting privacy when disclosing information: k-anonymity and its
       enforcement through generalization and suppression. SRI International.
    """
    return Guarantee(
        model=K_ANONYMITY,
        parameters={"k": k},
        unit=unit_counted(key),
        target="which published record belongs to which person or firm",
        against=(
            "someone who knows the quasi-identifiers of a person or firm in the table, and no more: whichever "
            "published combination they compare with, "
            + (f"at least {k} records share it" if key is None else f"records of at least {k} units share it")
        ),
        attributes=tuple(attributes),
        assumptions=clauses_of(
            *assumed_of_units(key),
            *ASSUMED_OF_CELLS[1:],
            ORDER_UNKNOWN if order_kept else "",
        ),
        not_promised=clauses_of(
            "confidential values: if all records of a cell share one, it is known for all of them"
            + (f"; of {names_phrase(hidden)} the promises below say more" if hidden else ""),
            less_diverse([name for name in guided_by if name not in hidden]) if set(guided_by) - set(hidden) else "",
            PUBLISHED_AS_THEY_ARE,
            *(() if key is None else NOT_PROMISED_OF_UNITS),
            TOGETHER if together else "",
            MEMBERSHIP,
            "differential privacy: cells depend on the records",
            "hiding of real values: each cell publishes those of one of its own records" if medoids else "",
            "combinations of attributes from different blocks: each block has cells of its own, and together they can "
            "single out a record"
            if one_of_several
            else "",
        ),
    )


def differential_privacy(
    epsilon: float,
    attributes: Sequence[str],
    *,
    target: str,
    model: str = EPSILON_DP,
    unprotected: Sequence[str] = (),
    bounds_from_data: Sequence[str] = (),
    order_kept: bool = False,
    equal_values: bool = True,
    key: str | None = None,
    max_records: int = 1,
    assumptions: Sequence[str] = (),
    not_promised: Sequence[str] = (),
) -> Guarantee:
    """The promise of differential privacy.

    Parameters
    ----------
    epsilon : float
    attributes : sequence of str
        What was protected.
    target : str
        :data:`ORIGINAL_RECORDS` only if the whole output is proved; else :data:`MICROAGGREGATED`, which adds in words
        that the original records are not what is protected.
    model : str
        :data:`EPSILON_DP` or :data:`EPSILON_IDP`. The latter compares the table at hand with its neighbours, and with
        noise of the same scale on both: it says nothing about someone who knows that scale.
    unprotected : sequence of str
        Attributes published as they are beside the protected ones.
    bounds_from_data : sequence of str
        Attributes whose bounds were read from the records: the promise is then conditional on them.
    order_kept : bool
        Whether rows are in the input's order.
    equal_values : bool
        Whether records of one cell publish equal values, which show who was put together.
    key : str or None
        What says whose a record is: the promise is then about all records of one unit, of at most `max_records`.
    max_records : int
    assumptions, not_promised : sequences of str
        What the method adds.

    References
    ----------
    .. [1] Dwork, C., McSherry, F., Nissim, K. & Smith, A. (2006). Calibrating noise to sensitivity in private data
       analysis. TCC, 265-284. doi:10.1007/11681878_14
    """
    of_records = target == ORIGINAL_RECORDS
    if of_records and unprotected:
        target = f"the protected attributes of {target}"
    one = _WHOLE_RECORD if key is None else f"{WHOLE_UNIT} by {key!r} (at most {max_records})"
    whole = one if not unprotected else f"the protected attributes of {one}"
    if bounds_from_data:
        target += (
            ", given the bounds that were read from them" if of_records else ", and given bounds read from the data"
        )
    subject = "that record" if of_records else "that record's part in its cell"
    knows, says = "every record but one", "says"
    if key is not None:
        knows, subject, says = "every record but those of one unit", "those records", "say"
    within = " in the protected attributes" if unprotected else ""
    others = "any other value of the public domain" + (
        " that leaves the bounds as they are" if bounds_from_data else ""
    )
    if model == EPSILON_IDP:
        against = (
            "someone who knows every record but one, and not the scale of the noise, which depends on the records: "
            f"each possible release is as likely as if {subject} said{within} {others}, and the noise had the same "
            f"scale, up to a factor of exp({epsilon:g})"
        )
    else:
        against = (
            f"someone who knows {knows}, and all of the method: whatever {subject} {says}{within}, each "
            f"possible release is as likely as under {others}, up to a factor of exp({epsilon:g})"
        )
    return Guarantee(
        model=model,
        parameters={"epsilon": epsilon},
        unit=f"replace {whole}",
        target=target,
        against=against,
        attributes=tuple(attributes),
        assumptions=clauses_of(
            *assumed_of_units_under_noise(key, max_records),
            "the number of records is public, and so are columns, their labels, and declared bounds, categories and "
            "resolutions, from which types follow: none of these was read off the records",
            "no record could be outside the public domain: a table with missing values, undeclared categories, or "
            "values outside the bounds that the recipe does not clamp is refused, and the refusal is not published",
            "the receipt, which holds the input's fingerprint, stays with the data holder",
            "noise came from OpenDP's exact samplers, fed by the system's secure source",
            "other releases of the same records count: their epsilons add up",
            f"the bounds of {names_phrase(bounds_from_data)} were read from the data (1.5 x the largest value, and "
            "where there are negative ones the smallest): the promise is conditional on them, and does not cover what "
            "they reveal about these values"
            if bounds_from_data
            else "",
            *assumptions,
        ),
        not_promised=clauses_of(
            "" if of_records else _originals_unprotected(equal_values),
            *not_promised,
            f"anything about {names_phrase(unprotected)}, published as they are beside the protected attributes"
            if unprotected
            else "",
            "hiding of which row is whose: the order of the input's records was kept" if order_kept else "",
            f"{MEMBERSHIP}: the number of records is taken as public; records are replaced, not removed",
            "protection from general truths: what is learned about everyone can be applied to anyone, in the table or "
            "not",
        ),
    )


def _originals_unprotected(equal_values: bool) -> str:
    shown = (
        ", and records of one cell publish equal values, so the release shows which records were put together"
        if equal_values
        else "; what cells publish reveals much of it"
    )
    return (
        "differential privacy of the original records, at any epsilon: the partition depends on the records and "
        f"carries no noise{shown}"
    )
