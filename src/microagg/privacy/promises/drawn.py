"""The promises about drawn records: from moments of cells, or from values and intervals that many records share."""

from __future__ import annotations

from collections.abc import Mapping, Sequence

from microagg.privacy.guarantee import (
    ASSUMED_OF_CELLS,
    DRAWN,
    MEMBERSHIP,
    ORDER_UNKNOWN,
    PUBLISHED_AS_THEY_ARE,
    Guarantee,
    clauses_of,
    less_diverse,
)
from microagg.privacy.unit_clauses import (
    NOT_PROMISED_OF_UNITS_DRAWN,
    TOGETHER,
    assumed_of_units_drawn,
    records_of_at_least,
    unit_counted,
)
from microagg.tables.phrases import names_phrase

__all__ = ["drawn_from_cells", "drawn_from_shared_values", "sources_words"]


_CHANCE = "chance came from the system's secure source"
_NO_K_ANONYMITY = "k-anonymity: published combinations may occur once, and counting them on the file shows nothing"
_BLOCKS = "combinations of attributes from different blocks: each block has cells of its own"


def sources_words(parameters: Mapping[str, float], *, units: bool = False) -> str:
    """What records were drawn from, in a few words; from the parameters of either promise, and what they count.

    Examples
    --------
    >>> sources_words({"k": 30}), sources_words({"k": 30, "share": 5})
    ('statistics of at least 30 records', 'statistics of at least 30 records, or numbers that at least 5 share')
    >>> sources_words({"k": 30}, units=True)
    'statistics of records of at least 30 units'
    """
    sharing = "units share" if units else "share"
    numbers = f", or numbers that at least {parameters['share']} {sharing}" if "share" in parameters else ""
    return f"statistics of {records_of_at_least(parameters['k'], units=units)}{numbers}"


def _holding(k: int, key: str | None) -> str:
    """How large a cell or an interval is."""
    return f"of at least {k} records" if key is None else f"with records of at least {k} units"


def drawn_from_cells(
    k: int,
    attributes: Sequence[str],
    *,
    order_kept: bool = False,
    one_of_several: bool = False,
    guided_by: Sequence[str] = (),
    paired_with: Sequence[str] = (),
    statistics: str = "mean and covariance",
    spiked: Sequence[str] = (),
    key: str | None = None,
    together: bool = False,
    imputes: bool = False,
) -> Guarantee:
    """The promise of sampled records: every published combination was drawn from statistics of at least k records.

    See :func:`k_anonymity` for the parameters; `paired_with` names attributes by whose models draws were dealt to the
    records of their cell, `statistics` says what numbers were drawn from, `spiked` names those of which draws keep how
    many records of a cell have the value that many share, and `imputes` says that what records lack was filled in. With
    a `key` k counts units. It is weaker than k-anonymity, and cannot be counted on a file.
    """
    of_k = records_of_at_least(k, units=key is not None)
    dealt = (
        f"chance with the odds of models of {names_phrase(paired_with)}, every leaf of which holds {of_k}"
        if paired_with
        else "chance"
    )
    spikes = (
        f"; for {names_phrase(spiked)}, counts say how many records of the cell have the value that many share, and "
        f"other values were drawn from the mean and variance of {of_k} with other values, of this cell "
        "or of several"
        if spiked
        else ""
    )
    return Guarantee(
        model=DRAWN,
        parameters={"k": k},
        unit=unit_counted(key),
        target="the quasi-identifiers of single records",
        against=(
            "someone who compares published quasi-identifiers with those of a person or firm they know: numbers were "
            f"drawn by chance from the {statistics} of a cell {_holding(k, key)}, categories from its "
            f"counts{spikes}; which record of the cell a published one stands beside is {dealt}"
        ),
        attributes=tuple(attributes),
        assumptions=clauses_of(
            *assumed_of_units_drawn(key),
            *ASSUMED_OF_CELLS[1:],
            _CHANCE,
            ORDER_UNKNOWN if order_kept else "",
        ),
        not_promised=clauses_of(
            _NO_K_ANONYMITY,
            "hiding of what a cell shares: where its records agree, draws are what they share; a drawn category is one "
            "that some record of the cell has",
            "hiding of the median or most frequent category that stands in for missing values: it counts in the "
            "statistics of cells as if records had it, and may be the value of one"
            if imputes
            else "",
            "confidential values: each stands beside a draw from its own record's cell",
            f"that {names_phrase(paired_with)} cannot be predicted from the quasi-identifiers: draws were dealt so "
            "that they can"
            if paired_with
            else "",
            less_diverse(guided_by) if guided_by else "",
            PUBLISHED_AS_THEY_ARE,
            *(() if key is None else NOT_PROMISED_OF_UNITS_DRAWN),
            TOGETHER if together else "",
            MEMBERSHIP,
            "differential privacy: cells depend on the records, and their statistics carry no noise",
            _BLOCKS if one_of_several else "",
        ),
    )


def drawn_from_shared_values(
    k: int,
    attributes: Sequence[str],
    *,
    paired_with: Sequence[str],
    rare: int,
    share: int | None = None,
    weighted: bool = False,
    order_kept: bool = False,
    one_of_several: bool = False,
    guided_by: Sequence[str] = (),
    key: str | None = None,
    together: bool = False,
) -> Guarantee:
    """The promise of records whose numbers many records share, or come from intervals of at least k.

    Parameters
    ----------
    k : int
    attributes : sequence of str
    paired_with : sequence of str
        Attributes by whose models places of intervals were chosen, and draws dealt to the records of their cell.
    rare : int
        Categories of fewer records of the table are not published.
    share : int, optional
        How many records must share a number that is published as it is; default: k.
    weighted : bool
        Whether records have sampling weights.
    order_kept, one_of_several, guided_by, key, together
        As in :func:`microagg.privacy.guarantee.k_anonymity`. With a `key`, k, `share` and `rare` count units.
    """
    units = key is not None
    counted = "units" if units else "records"
    of_k = records_of_at_least(k, units=units)
    having = (" unit has" if rare == 1 else " units have") if units else " have"
    shared = k if share is None else share
    parameters: dict[str, float] = {"k": k}
    by_weight = ", by weight and up to rounding" if weighted else ""
    if shared < k:
        parameters["share"] = shared
    return Guarantee(
        model=DRAWN,
        parameters=parameters,
        unit=unit_counted(key),
        target="the quasi-identifiers of single records",
        against=(
            "someone who compares published quasi-identifiers with those of a person or firm they know: each published "
            f"number is one that at least {shared} {counted} of the table share, or is made of mean and spread of an "
            f"interval {_holding(k, key)} of the table{', in which units count alike' * units}; "
            f"each category is one that at least {rare}{having}; "
            f"how often a cell {_holding(k, key)} has each of them was kept{by_weight}, attribute by attribute, and "
            "which of them stand together was drawn by chance with the correlations of the cell; which record of the "
            f"cell a published one stands beside was dealt by chance and models of {names_phrase(paired_with)}, every "
            f"leaf of which holds {of_k}"
        ),
        attributes=tuple(attributes),
        assumptions=clauses_of(
            *assumed_of_units_drawn(key), *ASSUMED_OF_CELLS[1:], _CHANCE, ORDER_UNKNOWN if order_kept else ""
        ),
        not_promised=clauses_of(
            _NO_K_ANONYMITY,
            f"that numbers come from {'records of ' * units}at least k = {k} {counted}: those that {shared} to {k - 1} "
            f"{'units ' * units}share are published as they are, and whoever knows {shared - 1} of these {counted} "
            "learns that another has the number"
            if shared < k
            else "",
            "that no published combination is that of a record: its values are those of records, and chance can bring "
            "together what one of them has; the statement tells how often it did, and how often records that had no "
            "part in the table would",
            "hiding of counts within cells: how many records of a cell have a value, an interval or a category was "
            f"kept, and that may be one{', or those of one unit' * units}",
            "hiding from the others of an interval: mean and spread are told, so whoever knows all of its records but "
            f"two{', which may be those of two units or of one,' * units} can work out these two"
            + ("; whoever knows all but those of one unit can work out mean and spread of these" if units else ""),
            "confidential values: each stands beside a draw from its own record's cell",
            f"that {names_phrase(paired_with)} cannot be predicted from the quasi-identifiers: places of intervals "
            "were chosen, and draws dealt, so that they can",
            f"standard errors: {names_phrase(paired_with)} follow the models more closely than chance would, so errors "
            "computed from the release are too small",
            less_diverse(guided_by) if guided_by else "",
            PUBLISHED_AS_THEY_ARE,
            *(() if key is None else NOT_PROMISED_OF_UNITS_DRAWN),
            TOGETHER if together else "",
            MEMBERSHIP,
            "differential privacy: cells, intervals and models depend on the records and carry no noise",
            _BLOCKS if one_of_several else "",
        ),
    )
