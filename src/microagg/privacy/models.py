"""The privacy models that guarantees name, each with what is said of it in plain words.

Those on confidential values are in :mod:`microagg.privacy.requirement`, beside how they are counted.
"""

from __future__ import annotations

from dataclasses import dataclass

from microagg.tables.words import OUR_OWN, Words

__all__ = ["DRAWN", "EPSILON_DP", "EPSILON_IDP", "K_ANONYMITY", "MODELS", "PrivacyModel"]

K_ANONYMITY = "k-anonymity"
DRAWN = "drawn from cells of at least k"
EPSILON_DP = "epsilon-differential privacy"
EPSILON_IDP = "epsilon-individual differential privacy"


@dataclass(frozen=True)
class PrivacyModel:
    """What kind of promise a guarantee is.

    Attributes
    ----------
    range : str
        What its parameter may be.
    better : str
        In which direction of the parameter it protects more.
    explained : Words
    """

    range: str
    better: str
    explained: Words


_K = ("k: a whole number of at least 2", "a larger k protects more")
_EPSILON = ("epsilon: a number above 0", "a smaller epsilon protects more")

MODELS = {
    K_ANONYMITY: PrivacyModel(
        *_K,
        Words(
            "Every published combination of quasi-identifiers belongs to at least k records. Whoever knows those of a "
            "person finds k records that could be theirs, and cannot tell which is.",
            "It says nothing about confidential values: if all k records share an illness, it is known. It trusts "
            "that you declared every attribute that outsiders may know, and that a person has one record.",
            "Samarati & Sweeney (1998), Protecting privacy when disclosing information",
            "min over published combinations c of #{records with combination c} >= k",
            "docs/guarantees.md#k-anonymity",
        ),
    ),
    DRAWN: PrivacyModel(
        *_K,
        Words(
            "Published records are drawn by chance from statistics of at least k records. No combination is copied "
            "from a person; one can equal a person's by chance.",
            "It is weaker than k-anonymity: a published combination may occur once, and nothing can be counted on the "
            "file. What all records of a cell share shows in every draw.",
            OUR_OWN,
            "released record ~ normal(mean, covariance) of a cell with n >= k records, categories ~ the cell's counts; "
            "or, value by value, ~ the cell's counts of values and intervals that >= k records share",
            "docs/guarantees.md#drawn-from-cells-of-at-least-k",
        ),
    ),
    EPSILON_DP: PrivacyModel(
        *_EPSILON,
        Words(
            "What is published would have come out nearly as likely whatever a single record had said. So nobody can "
            "be sure what it said, however much they know about all others.",
            "A large epsilon promises little: at 10 the factor is 22,026. It does not hide what is true of people in "
            "general, and the epsilons of several releases of the same records add up.",
            "Dwork et al. (2006), doi:10.1007/11681878_14",
            "P(output | table) <= exp(epsilon) x P(output | table with one record replaced)",
            "docs/differential_privacy.md",
        ),
    ),
    EPSILON_IDP: PrivacyModel(
        *_EPSILON,
        Words(
            "It compares the table at hand with its neighbours only, and lets the amount of noise depend on the "
            "records. It needs less noise than differential privacy.",
            "It is weaker than differential privacy: the amount of noise itself can tell something about the records, "
            "and is not covered.",
            "Soria-Comas et al. (2017), Individual differential privacy, doi:10.1109/TIFS.2017.2663337",
            "P(output | this table) <= exp(epsilon) x P(output | this table with one record replaced), and vice versa",
            "docs/guarantees.md#moments-of-cells-under-differential-privacy",
        ),
    ),
}
"""By the name that a statement gives them."""
