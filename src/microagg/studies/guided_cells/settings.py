"""The tables of the study of guided cells: what their columns are, and the model that learns from each."""

from __future__ import annotations

from collections.abc import Callable
from dataclasses import dataclass
from typing import Any

import numpy as np

from microagg.tables.reference import datasets

__all__ = ["LABEL", "NOMINAL", "NUMERIC", "SETTINGS", "Setting"]

NUMERIC: dict[str, Any] = {"role": "quasi_identifier", "kind": "numeric"}
NOMINAL: dict[str, Any] = {"role": "quasi_identifier", "kind": "nominal"}
LABEL: dict[str, Any] = {"role": "confidential", "kind": "nominal"}


@dataclass(frozen=True)
class Setting:
    """A table, what its columns are, and the model that learns from it."""

    name: str
    load: Callable[[], Any]
    attributes: dict[str, dict[str, Any]]
    target: str
    model: str

    @property
    def has_classes(self) -> bool:
        """Whether the target has classes; else it is a number."""
        return bool(self.attributes[self.target]["kind"] == "nominal")


def _adult(share: float) -> Any:
    """The six attributes of the discriminant paper; records without missing values, or a stratified sample."""
    import pyarrow as pa
    import pyarrow.compute as pc

    table = datasets.load_adult()
    complete = np.ones(table.num_rows, dtype=bool)
    for name in table.column_names:
        complete &= pc.is_valid(table[name]).to_numpy(zero_copy_only=False)
    names = ["age", "education-num", "marital-status", "sex", "capital-gain", "hours-per-week", "income"]
    table = table.select(names).filter(pa.array(complete))
    if share == 1.0:
        return table
    income = np.array(table["income"].to_pylist())
    rng = np.random.default_rng(0)
    rows = [rng.permutation(np.flatnonzero(income == value)) for value in np.unique(income)]
    return table.take(np.sort(np.concatenate([part[: round(share * len(part))] for part in rows])))


def _breast_cancer() -> Any:
    table = datasets.load_breast_cancer().drop_columns(["id"])
    return table.drop_null()


def _heart() -> Any:
    import pyarrow as pa

    table = datasets.load_heart().drop_null()
    sick = np.where(table["num"].to_numpy() > 0, "yes", "no")
    return table.drop_columns(["num"]).append_column("sick", pa.array(sick))


def _kinds() -> Any:
    """A generated table with five classes that follow numbers (one skewed, one mostly 0) and categories."""
    import pyarrow as pa

    rng = np.random.default_rng(20)
    n = 8000
    age = rng.integers(18, 80, n)
    pay = np.round(rng.lognormal(7.5, 0.6, n), -1)
    benefit = np.where(rng.random(n) < 0.8, 0, rng.integers(20, 900, n))
    region = rng.choice(["north", "south", "east", "west", "centre"], n, p=[0.3, 0.25, 0.2, 0.15, 0.1])
    owner = rng.choice(["yes", "no"], n)
    chances = np.column_stack(
        [
            np.where((age < 35) & (owner == "no"), 2.0, 0.0),
            np.where(pay > 2500, 2.5, 0.0),
            np.where((benefit > 0) & (benefit < 300), 3.0, 0.0),
            np.where((benefit >= 300) | (age > 66), 2.5, 0.0),
            np.where(np.isin(region, ["west", "centre"]) & (owner == "yes"), 2.0, 0.0),
        ]
    )
    kind = (chances + rng.gumbel(size=chances.shape)).argmax(axis=1)
    labels = np.array(["one", "two", "three", "four", "five"])[kind]
    return pa.table({"age": age, "pay": pay, "benefit": benefit, "region": region, "owner": owner, "kind": labels})


def _census() -> Any:
    names = ["AFNLWGT", "AGI", "EMCONTRB", "PTOTVAL", "POTHVAL", "INTVAL", "FEDTAX"]
    return datasets.load_census().select(names)


_ADULT = {
    # Publicly known bounds: those of the questionnaire.
    "age": NUMERIC | {"bounds": [17, 90]},
    "education-num": NUMERIC | {"bounds": [1, 16]},
    "marital-status": NOMINAL,
    "sex": NOMINAL,
    "capital-gain": NUMERIC | {"bounds": [0, 99_999]},
    "hours-per-week": NUMERIC | {"bounds": [1, 99]},
    "income": LABEL,
}
_CANCER = (
    "clump_thickness",
    "uniformity_of_cell_size",
    "uniformity_of_cell_shape",
    "marginal_adhesion",
    "single_epithelial_cell_size",
    "bare_nuclei",
    "bland_chromatin",
    "normal_nucleoli",
    "mitoses",
)
_HEART_NOMINAL = ("sex", "cp", "fbs", "restecg", "exang", "thal")
_HEART_NUMERIC = ("age", "trestbps", "chol", "thalach", "oldpeak", "slope", "ca")

SETTINGS = {
    "adult10": Setting("Adult (10 %)", lambda: _adult(0.1), _ADULT, "income", "gradient_boosting"),
    "adult": Setting("Adult", lambda: _adult(1.0), _ADULT, "income", "gradient_boosting"),
    "breast_cancer": Setting(
        "Breast Cancer",
        _breast_cancer,
        dict.fromkeys(_CANCER, NUMERIC | {"bounds": [1, 10]}) | {"class": LABEL},
        "class",
        "logistic_regression",
    ),
    "heart": Setting(
        "Heart",
        _heart,
        dict.fromkeys(_HEART_NUMERIC, NUMERIC) | dict.fromkeys(_HEART_NOMINAL, NOMINAL) | {"sick": LABEL},
        "sick",
        "logistic_regression",
    ),
    "kinds": Setting(
        "Generated, five classes",
        _kinds,
        dict.fromkeys(("age", "pay", "benefit"), NUMERIC)
        | dict.fromkeys(("region", "owner"), NOMINAL)
        | {"kind": LABEL},
        "kind",
        "gradient_boosting",
    ),
    "census": Setting(
        "Census",
        _census,
        dict.fromkeys(("AFNLWGT", "AGI", "EMCONTRB", "PTOTVAL", "POTHVAL", "INTVAL"), NUMERIC)
        | {"FEDTAX": {"role": "confidential", "kind": "numeric"}},
        "FEDTAX",
        "gradient_boosting",
    ),
}
