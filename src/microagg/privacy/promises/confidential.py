"""The promises about confidential values: l-diversity and its kin, t-closeness."""

from __future__ import annotations

from collections.abc import Sequence

from microagg.privacy.guarantee import ASSUMED_OF_CELLS, ORDER_UNKNOWN, Guarantee, clauses_of
from microagg.privacy.requirement import MIN_RANGE, T_CLOSENESS, Requirement
from microagg.privacy.unit_clauses import RECORDS_OF_UNITS, assumed_of_units, not_promised_of_values
from microagg.schema.attribute import Attribute, Kind

__all__ = ["confidential_guarantee", "distance_words"]


def distance_words(attribute: Attribute) -> str:
    """How far two values of an attribute are apart for t-closeness."""
    if attribute.kind is not Kind.NOMINAL:
        return "values apart along their order, neighbours among the m different values by 1/(m - 1), missing ones by 1"
    if attribute.taxonomy is None:
        return "all values 1 apart"
    return (
        "values as far apart as their lowest common ancestor in the declared taxonomy is high, relative to its root, "
        "missing ones 1"
    )


def confidential_guarantee(
    requirement: Requirement,
    attributes: Sequence[str],
    attribute: Attribute,
    *,
    order_kept: bool = False,
    key: str | None = None,
) -> Guarantee:
    """The promise that the confidential values of every class of equal `attributes` satisfy a requirement.

    Parameters
    ----------
    requirement : Requirement
    attributes : sequence of str
        The quasi-identifiers; records that publish equal ones are a class.
    attribute : Attribute
        The declaration of the confidential attribute.
    order_kept : bool
        Whether rows are in the input's order.
    key : str or None
        What says whose a record is, where a unit has several. Records are counted all the same, as anybody can count
        them on the file.

    References
    ----------
    .. [1] Machanavajjhala, A., Kifer, D., Gehrke, J. & Venkitasubramaniam, M. (2007). l-diversity: privacy beyond
       k-anonymity. ACM TKDD 1(1), 3. doi:10.1145/1217299.1217302
    .. [2] Li, N., Li, T. & Venkatasubramanian, S. (2007). t-closeness: privacy beyond k-anonymity and l-diversity.
       ICDE 2007, 106-115. doi:10.1109/ICDE.2007.367856
    .. [3] Truta, T. M. & Vinay, B. (2006). Privacy protection: p-sensitive k-anonymity property. ICDEW 2006.
       doi:10.1109/ICDEW.2006.116
    """
    name, kind = requirement.attribute, requirement.kind
    is_close, is_range = kind is T_CLOSENESS, kind is MIN_RANGE
    how = f" ({distance_words(attribute)})" if is_close else ""
    return Guarantee(
        model=kind.model,
        parameters=requirement.parameters,
        unit="one record" if key is None else RECORDS_OF_UNITS,
        target=f"which value of {name!r} a person or firm has",
        against=(
            "someone who knows the quasi-identifiers of a person or firm in the table, and no more, and finds the "
            f"class of records that share their published combination: {kind.definition}{how}"
        ),
        attributes=tuple(attributes),
        assumptions=clauses_of(
            *assumed_of_units(key),
            *ASSUMED_OF_CELLS[1:],
            f"the distribution of {name!r} in the whole released table may be known to everybody" if is_close else "",
            "" if is_range else "a missing value counts as one value of its own",
            ""
            if is_range or is_close or attribute.kind is Kind.NUMERIC
            else "values that programs may read as one (NA and missing, 1 and 01, TRUE and true) count as one",
            ORDER_UNKNOWN if order_kept else "",
        ),
        not_promised=clauses_of(
            f"anything against someone who knows more: who can rule out values of {name!r} for a person, or knows "
            "those of others in the class, learns more",
            "that values which differ mean something different: a class of several grave illnesses still tells that "
            "the illness is grave"
            if attribute.kind is not Kind.NUMERIC
            else "that numbers which differ are far apart"
            if not is_range
            else "how numbers are spread within their range: all but one may be equal",
            "that classes are alike: a value that is rare in the table may be frequent in a class"
            if not is_close
            else "",
            f"that nothing is learnt of {name!r}: its distribution in a class may differ from that in the table as far "
            "as the bound allows"
            if is_close
            else "",
            not_promised_of_values(requirement.kind.key) if key is not None else "",
            "anything against someone who knows the quasi-identifiers of all records and repeats the method: that "
            "cells were rearranged tells something of the values in those that would not have satisfied it",
            "who is in the table at all",
        ),
        confidential=name,
    )
