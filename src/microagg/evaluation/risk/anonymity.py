"""Anonymity: how many released records look alike to someone who knows some of their attributes."""

from __future__ import annotations

from collections.abc import Mapping, Sequence

import numpy as np

from microagg._labels import label_combinations
from microagg._typing import IntArray
from microagg.errors import TableError
from microagg.evaluation.context import Context
from microagg.evaluation.definition import Definition, Limit, MeasureResult
from microagg.evaluation.diversity import single_values
from microagg.evaluation.pairs import codes_of
from microagg.evaluation.result import Values
from microagg.evaluation.risk.attacker import sets_of_size
from microagg.evaluation.risk.linkage import known_sets
from microagg.evaluation.utility.papers import ANONYMISATION_OPINION, REAL_ANONYMITY
from microagg.privacy.within_cells import distinct_per_cell
from microagg.schema.attribute import Role
from microagg.schema.units import unit_codes
from microagg.tables.words import Words

__all__ = ["ANONYMITY", "real_anonymity"]


KNOWN_AT_ONCE = 3
MOST_SETS = 100


def real_anonymity(codes: Sequence[IntArray]) -> float:
    """k': records per different combination of codes.

    Parameters
    ----------
    codes : sequence of ndarray of shape (n_records,)
        Whole numbers, equal where the values of an attribute are.

    Examples
    --------
    >>> real_anonymity([np.array([0, 0, 1, 1]), np.array([5, 5, 5, 6])])
    1.3333333333333333

    References
    ----------
    .. [1] Nin, J., Herranz, J. & Torra, V. (2008). How to group attributes in multivariate microaggregation.
       IJUFKS 16(supp01), 121-138. doi:10.1142/S0218488508005285
    """
    labels = label_combinations(codes, len(codes[0]))
    return len(labels) / (int(labels.max()) + 1)


def _k(context: Context) -> MeasureResult:
    sizes = context.cell_sizes
    records = Values("released", sizes[context.cells].astype(np.float64)) if context.per_record else None
    note, details = _units(context)
    return MeasureResult(float(sizes.min()), note, details=details, records=records)


def _units(context: Context) -> tuple[str, Mapping[str, float | None]]:
    """How many units share the combination that the fewest share, where a recipe says whose each record is."""
    key = context.options.get("unit")
    if key is None:
        return "", {}
    if context.rows.origins is None or key not in context.before.names:
        return "records are counted; whose the rows are is not known, so that units are not", {}
    try:
        units = unit_codes(context.before.column(key))[context.rows.origins]
    except TableError as error:
        return f"records are counted, not units: {error}", {}
    fewest = int(distinct_per_cell(units, context.cells)[0].min())
    return f"records are counted; those that share a combination are of at least {fewest} units by {key!r}", {
        "units": float(fewest)
    }


def _k_prime_of_sets(context: Context) -> MeasureResult:
    names = [one.name for one in context.pairs]
    codes = [codes_of(context.after, name) for name in names]
    sets = known_sets(context) or sets_of_size(len(names), KNOWN_AT_ONCE, MOST_SETS, context.rng("known attributes"))
    found = {", ".join(names[j] for j in known): real_anonymity([codes[j] for j in known]) for known in sets}
    values = np.array(list(found.values()))
    return MeasureResult(
        float(values.mean()), f"over {len(sets)} sets of attributes", float(values.std()), details=found
    )


def _unique_values(context: Context) -> MeasureResult:
    names = context.schema.of_role(Role.CONFIDENTIAL, Role.NON_CONFIDENTIAL)
    details: dict[str, float | None] = {
        name: single_values(codes_of(context.after, name)) / context.after.n_records
        for name in names
        if name in context.after.names
    }
    if not details:
        return MeasureResult(None, "no attribute is published as it is")
    return MeasureResult(max(value for value in details.values() if value is not None), details=details)


def _records(context: Context) -> float:
    return float(context.after.n_records)


_N_RECORDS = Limit("the number of released records", _records)

ANONYMITY = (
    Definition(
        "k",
        "risk",
        "anonymity",
        "higher",
        "the fewest released records that share a combination of quasi-identifiers, missing counted as a value",
        _k,
        low=1.0,
        high=_N_RECORDS,
        explained=Words(
            "It counts how many released records share the rarest combination of quasi-identifiers. Whoever knows "
            "those of a person finds at least so many records alike.",
            "It says nothing about confidential values: if the records alike share an illness, k hides nothing. If a "
            "person has several records, k records are fewer than k people.",
            "Samarati & Sweeney (1998), Protecting privacy when disclosing information",
            short="records that share the rarest combination",
        ),
    ),
    Definition(
        "k_prime",
        "risk",
        "anonymity",
        "higher",
        "released records per different combination of all quasi-identifiers",
        lambda context: MeasureResult(context.after.n_records / len(context.cell_sizes)),
        low=1.0,
        high=_N_RECORDS,
        explained=Words(
            "It says how many released records share a combination of quasi-identifiers on average. It is a typical "
            "value, where k is the worst.",
            "It is a mean: a table with a high value may still have records that stand alone. Look at k and "
            "singled_out.",
            REAL_ANONYMITY,
            short="average number of records that share a combination",
        ),
    ),
    Definition(
        "k_prime_of_sets",
        "risk",
        "anonymity",
        "higher",
        "released records per different combination of known quasi-identifiers: mean over the sets in `known`, or over "
        f"all sets of {KNOWN_AT_ONCE}, or over {MOST_SETS} drawn at random if there are more",
        _k_prime_of_sets,
        low=1.0,
        high=_N_RECORDS,
        explained=Words(
            "It says how many released records look alike, on average, to someone who knows three of the "
            "quasi-identifiers. The sets of three can be given.",
            "It is a mean over sets and records. Someone who knows more than three attributes sees smaller groups.",
            REAL_ANONYMITY,
            short="average number of records alike in three quasi-identifiers",
        ),
    ),
    Definition(
        "singled_out",
        "risk",
        "anonymity",
        "lower",
        "share of released records whose combination of quasi-identifiers no other record has",
        lambda context: MeasureResult(float((context.cell_sizes == 1).sum()) / context.after.n_records),
        high=1.0,
        explained=Words(
            "It says which share of released records has a combination of quasi-identifiers that no other record has. "
            "Under k-anonymity it is 0.",
            "A record that stands alone need not be true: values with noise stand alone, too. And 0 does not mean "
            "that nothing is revealed.",
            ANONYMISATION_OPINION,
            short="share of records with a unique combination",
        ),
    ),
    Definition(
        "unique_values",
        "risk",
        "anonymity",
        "lower",
        "share of released records whose value of an attribute published as it is (confidential or not) no other "
        "record has: the largest over attributes; missing values do not count. Whoever knows such a value finds its "
        "record",
        _unique_values,
        high=1.0,
        explained=Words(
            "It looks at attributes that are published as they are. It says which share of records has a value there "
            "that nobody else has, so that whoever knows the value finds the record.",
            "It matters if outsiders can know the value. An exact income may be known to an employer, a random number "
            "to nobody.",
            ANONYMISATION_OPINION,
            short="share of records with a unique unprotected value",
        ),
    ),
)
