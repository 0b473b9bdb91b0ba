"""Public reference tables of the microaggregation literature.

The package holds no data. A table is looked for in the folder named by the environment variable
``MICROAGG_DATA``, then in the user's cache (``MICROAGG_CACHE`` names another one), and is otherwise fetched
from its public source into the cache. Whatever its way, a file without the pinned SHA-256 is refused. ::

    from microagg.datasets import load_census
    table = load_census()                  # pyarrow.Table
    frame = load_census(kind="pandas")
"""

from __future__ import annotations

from dataclasses import dataclass
from pathlib import Path
from typing import Any, Literal, get_args

from microagg.errors import ParameterError, did_you_mean
from microagg.tables.frames.optional import import_optional
from microagg.tables.reference.sources import SOURCES, Source
from microagg.tables.reference.store import Where, check_file, fetch_into_cache, find

__all__ = [
    "Dataset",
    "available",
    "fetch",
    "load_adult",
    "load_breast_cancer",
    "load_census",
    "load_eia",
    "load_heart",
    "load_tarragona",
    "load_water",
    "path_of",
]

Kind = Literal["pyarrow", "pandas", "polars"]


@dataclass(frozen=True)
class Dataset:
    """What is known of a reference table without opening it."""

    name: str
    title: str
    n_records: int
    n_attributes: int
    licence: str
    citation: str
    file_name: str
    sha256: str
    where: Where
    """Where a file of that name lies; its content is checked when it is used."""


def available() -> list[Dataset]:
    """List the reference tables and where each is found.

    Returns
    -------
    list of Dataset
        ``where`` is ``"folder"`` (the one of ``MICROAGG_DATA``), ``"cache"`` or ``"not here"``.

    Examples
    --------
    >>> [dataset.name for dataset in available()]
    ['census', 'tarragona', 'eia', 'adult', 'breast_cancer', 'heart', 'water']
    """
    return [_describe(source) for source in SOURCES.values()]


def path_of(name: str) -> Path:
    """Return the checked CSV file of a reference table, fetching it if it is not here.

    Parameters
    ----------
    name : str
        A name listed by :func:`available`.

    Raises
    ------
    ParameterError
        If no table has that name.
    TableError
        If the file found does not have the pinned content, or cannot be fetched.
    """
    source = _source(name)
    where, path = find(source)
    if path is None:
        return fetch_into_cache(source)
    return check_file(path, where, source)


def fetch(name: str) -> Path:
    """Fetch a reference table from its public source into the cache.

    A file that is already there is kept if it has the pinned content, and replaced if it has not.

    Parameters
    ----------
    name : str
        A name listed by :func:`available`.

    Returns
    -------
    Path
        The CSV file in the cache.

    Raises
    ------
    ParameterError
        If no table has that name.
    TableError
        If the source cannot be reached or does not give the pinned content; the cache is then as before.
    """
    return fetch_into_cache(_source(name))


def load_census(*, kind: Kind = "pyarrow") -> Any:
    """Load Census: 1080 records, 13 attributes, all whole numbers, none missing.

    Parameters
    ----------
    kind : {"pyarrow", "pandas", "polars"}, default "pyarrow"
        The library of the returned table. Whole numbers stay whole: in pandas, such an attribute with missing
        values has the type ``Int64``.

    Returns
    -------
    pyarrow.Table, pandas.DataFrame or polars.DataFrame
        AFNLWGT, AGI, EMCONTRB, FEDTAX, PTOTVAL, STATETAX, TAXINC, POTHVAL, INTVAL, PEARNVAL, FICA, WSALVAL,
        ERNVAL.

    Raises
    ------
    ParameterError
        If `kind` is another word.
    TableError
        If the file found does not have the pinned content, or cannot be fetched, or the library is missing.

    Notes
    -----
    Origin: U.S. Bureau of the Census, Data Extraction System, year 1995; one of the three reference files of
    the CASC project. Licence: public-use file of the CASC project.

    References
    ----------
    .. [1] Brand, R., Domingo-Ferrer, J. & Mateo-Sanz, J. M. (2002). Reference data sets to test and compare
       SDC methods for protection of numerical microdata. European project IST-2000-25069 CASC.
    """
    return _load("census", kind)


def load_tarragona(*, kind: Kind = "pyarrow") -> Any:
    """Load Tarragona: 834 records, 13 attributes, all whole numbers, none missing.

    Parameters, return types and errors are those of :func:`load_census`.

    Columns: FIXED.ASSETS, CURRENT.ASSETS, TREASURY, UNCOMMITTED.FUNDS, PAID.UP.CAPITAL, SHORT.TERM.DEBT,
    SALES, LABOR.COSTS, DEPRECIATION, OPERATING.PROFIT, FINANCIAL.OUTCOME, GROSS.PROFIT, NET.PROFIT.

    Notes
    -----
    Origin: companies of the Tarragona area, year 1995; one of the three reference files of the CASC project.
    Licence: public-use file of the CASC project.

    References
    ----------
    .. [1] Brand, R., Domingo-Ferrer, J. & Mateo-Sanz, J. M. (2002). Reference data sets to test and compare
       SDC methods for protection of numerical microdata. European project IST-2000-25069 CASC.
    """
    return _load("tarragona", kind)


def load_eia(*, kind: Kind = "pyarrow") -> Any:
    """Load EIA: 4092 records, 15 attributes (UTILNAME and STATE are text), none missing.

    Parameters, return types and errors are those of :func:`load_census`.

    Columns: UTILITYID, UTILNAME, STATE, YEAR, MONTH, RESREVENUE, RESSALES, COMREVENUE, COMSALES, INDREVENUE,
    INDSALES, OTHREVENUE, OTHRSALES, TOTREVENUE, TOTSALES. The "11 attributes" of the literature are most
    likely UTILITYID and the ten of revenue and sales: with them MDAV gives the published losses.

    Notes
    -----
    Origin: U.S. Energy Information Authority; one of the three reference files of the CASC project. Licence:
    public-use file of the CASC project.

    References
    ----------
    .. [1] Brand, R., Domingo-Ferrer, J. & Mateo-Sanz, J. M. (2002). Reference data sets to test and compare
       SDC methods for protection of numerical microdata. European project IST-2000-25069 CASC.
    """
    return _load("eia", kind)


def load_adult(*, kind: Kind = "pyarrow") -> Any:
    """Load Adult: 48842 records, 15 attributes and ``split``; 45222 records have no missing value.

    Parameters, return types and errors are those of :func:`load_census`.

    Columns: age, workclass, fnlwgt, education, education-num, marital-status, occupation, relationship, race,
    sex, capital-gain, capital-loss, hours-per-week, native-country, income, split (train, then test). Values
    are missing in workclass, occupation and native-country.

    Notes
    -----
    Origin: UCI Adult (Census Income). Labels keep UCI's spellings (``Holand-Netherlands``, ``Columbia``,
    ``Trinadad&Tobago``). Licence: CC BY 4.0.

    References
    ----------
    .. [1] Becker, B. & Kohavi, R. (1996). Adult. UCI Machine Learning Repository. doi:10.24432/C5XW20
    """
    return _load("adult", kind)


def load_breast_cancer(*, kind: Kind = "pyarrow") -> Any:
    """Load Breast Cancer Wisconsin (Original): 699 records, id, 9 attributes of 1 to 10, class (2 or 4).

    Parameters, return types and errors are those of :func:`load_census`.

    Columns: id (not unique), clump_thickness, uniformity_of_cell_size, uniformity_of_cell_shape,
    marginal_adhesion, single_epithelial_cell_size, bare_nuclei (16 missing), bland_chromatin,
    normal_nucleoli, mitoses, class (2 benign, 4 malignant).

    Notes
    -----
    Origin: UCI Breast Cancer Wisconsin (Original). Licence: CC BY 4.0.

    References
    ----------
    .. [1] Wolberg, W. H. (1992). Breast Cancer Wisconsin (Original). UCI Machine Learning Repository.
       doi:10.24432/C5HP4Z
    .. [2] Mangasarian, O. L. & Wolberg, W. H. (1990). Cancer diagnosis via linear programming.
       SIAM News 23(5).
    """
    return _load("breast_cancer", kind)


def load_heart(*, kind: Kind = "pyarrow") -> Any:
    """Load Heart Disease, Cleveland: 303 records, 13 attributes and num; 297 have no missing value.

    Parameters, return types and errors are those of :func:`load_census`.

    Columns: age, sex, cp, trestbps, chol, fbs, restecg, thalach, exang, oldpeak (the only one with decimals),
    slope, ca (4 missing), thal (2 missing), num (0 to 4).

    Notes
    -----
    Origin: UCI Heart Disease, ``processed.cleveland.data``. Licence: CC BY 4.0. The donors ask that
    publications name the principal investigator: Robert Detrano, M.D., Ph.D., V.A. Medical Center, Long Beach
    and Cleveland Clinic Foundation.

    References
    ----------
    .. [1] Janosi, A., Steinbrunn, W., Pfisterer, M. & Detrano, R. Heart Disease. UCI Machine Learning
       Repository. doi:10.24432/C52P4X
    """
    return _load("heart", kind)


def load_water(*, kind: Kind = "pyarrow") -> Any:
    """Load Water Treatment Plant: 527 days, date and 38 measurements; 380 days have no missing value.

    Parameters, return types and errors are those of :func:`load_census`.

    Columns: date (text, ``D-day/month/year``), Q-E, ZN-E, PH-E, DBO-E, DQO-E, SS-E, SSV-E, SED-E, COND-E,
    PH-P, DBO-P, SS-P, SSV-P, SED-P, COND-P, PH-D, DBO-D, DQO-D, SS-D, SSV-D, SED-D, COND-D, PH-S, DBO-S,
    DQO-S, SS-S, SSV-S, SED-S, COND-S, RD-DBO-P, RD-SS-P, RD-SED-P, RD-DBO-S, RD-DQO-S, RD-DBO-G, RD-DQO-G,
    RD-SS-G, RD-SED-G.

    Notes
    -----
    Origin: UCI Water Treatment Plant. Licence: CC BY 4.0.

    References
    ----------
    .. [1] Poch, M. (1993). Water Treatment Plant. UCI Machine Learning Repository. doi:10.24432/C5FS4C
    """
    return _load("water", kind)


def _source(name: str) -> Source:
    if name not in SOURCES:
        raise ParameterError(
            f"There is no reference table {name!r}; there are {', '.join(SOURCES)}.{did_you_mean(name, SOURCES)}"
        )
    return SOURCES[name]


def _describe(source: Source) -> Dataset:
    where, _ = find(source)
    return Dataset(
        name=source.name,
        title=source.title,
        n_records=source.n_records,
        n_attributes=len(source.types),
        licence=source.licence,
        citation=source.citation,
        file_name=source.file_name,
        sha256=source.sha256,
        where=where,
    )


def _load(name: str, kind: Kind) -> Any:
    if kind not in get_args(Kind):
        raise ParameterError(
            f"The 'kind' of a table must be one of {', '.join(get_args(Kind))}. Got {kind!r} instead."
            f"{did_you_mean(str(kind), get_args(Kind))}"
        )
    library = import_optional(kind, kind)
    table = _read(path_of(name), _source(name))
    if kind == "polars":
        return library.from_arrow(table)
    return _as_pandas(table) if kind == "pandas" else table


def _read(path: Path, source: Source) -> Any:
    import pyarrow as pa
    from pyarrow import csv

    options = csv.ConvertOptions(
        column_types=pa.schema([pa.field(column, arrow_type) for column, arrow_type in source.types.items()]),
        null_values=[""],
        strings_can_be_null=True,
        quoted_strings_can_be_null=False,
    )
    return csv.read_csv(path, convert_options=options)


def _as_pandas(table: Any) -> Any:
    """Convert, keeping whole numbers whole where values are missing (pandas would make them floats)."""
    import pandas as pd
    import pyarrow as pa

    nullable = {pa.int64(): pd.Int64Dtype()}
    with_gaps = [column for column in table.column_names if table[column].null_count and table[column].type in nullable]
    frame = table.to_pandas()
    return frame.assign(**{c: table[c].to_pandas(types_mapper=nullable.get) for c in with_gaps})
