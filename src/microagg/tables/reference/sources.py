"""What each reference table is, where its public source lies, and how that becomes the pinned CSV.

A converter takes the downloaded raw files and the names of the columns and yields the rows of the table as
text. :func:`as_csv` writes them in the one form whose SHA-256 is pinned in :data:`SOURCES`: ASCII, commas, LF
line ends, one header row, an empty field for a missing value.
"""

from __future__ import annotations

import csv
import io
from collections.abc import Callable, Iterable, Iterator, Mapping, Sequence
from dataclasses import dataclass
from pathlib import Path

from microagg.errors import TableError
from microagg.tables.frames.optional import import_optional

__all__ = ["SOURCES", "RawFile", "Source", "as_csv"]

Row = list[str]
Converter = Callable[[Sequence[Path], Sequence[str]], Iterator[Row]]

UCI = "https://archive.ics.uci.edu/ml/machine-learning-databases"
SDCMICRO = "https://raw.githubusercontent.com/sdcTools/sdcMicro/cf3251017482bb215f0a9abf4a930f502399fb72/data"

CASC_LICENCE = "public-use file of the CASC project (taken from the R package sdcMicro, which is GPL-2)"
CASC_CITATION = (
    "Brand, R., Domingo-Ferrer, J. & Mateo-Sanz, J. M. (2002). Reference data sets to test and compare SDC "
    "methods for protection of numerical microdata. European project IST-2000-25069 CASC."
)


@dataclass(frozen=True)
class RawFile:
    """A file of the public source; ``sha256`` is None where no independent record of its hash is known."""

    url: str
    sha256: str | None


@dataclass(frozen=True)
class Source:
    """A reference table: its description, its pinned CSV, and the raw files the CSV is made from."""

    name: str
    title: str
    licence: str
    citation: str
    file_name: str
    sha256: str
    n_records: int
    types: Mapping[str, str]
    """Arrow type of every column, in the order of the file."""
    raw_files: tuple[RawFile, ...]
    convert: Converter
    needs: str | None = None
    """Optional package that the converter reads the raw files with."""


def as_csv(columns: Iterable[str], rows: Iterable[Row]) -> bytes:
    """Write header and rows in the form of the pinned files."""
    text = io.StringIO()
    writer = csv.writer(text, lineterminator="\n")
    writer.writerow(columns)
    writer.writerows(rows)
    return text.getvalue().encode()


def _uci_rows(path: Path) -> Iterator[Row]:
    for line in path.read_text(encoding="ascii").splitlines():
        is_comment = line.startswith("|")
        if line and not is_comment:
            fields = (field.strip() for field in line.split(","))
            yield ["" if field == "?" else field for field in fields]


def _from_uci(paths: Sequence[Path], columns: Sequence[str]) -> Iterator[Row]:
    (path,) = paths
    yield from _uci_rows(path)


def _from_adult(paths: Sequence[Path], columns: Sequence[str]) -> Iterator[Row]:
    for path, split in zip(paths, ("train", "test"), strict=True):
        for row in _uci_rows(path):
            income = row[-1].removesuffix(".")
            yield [*row[:-1], income, split]


def _from_heart(paths: Sequence[Path], columns: Sequence[str]) -> Iterator[Row]:
    for row in _from_uci(paths, columns):
        yield [
            field if column == "oldpeak" else field.removesuffix(".0")
            for column, field in zip(columns, row, strict=True)
        ]


def _from_r(paths: Sequence[Path], columns: Sequence[str]) -> Iterator[Row]:
    rdata = import_optional("rdata", "microagg[datasets]")
    (path,) = paths
    try:
        (frame,) = rdata.read_rda(path, default_encoding="ascii").values()
        values = [frame[column].tolist() for column in columns]
    except Exception as error:  # bytes without a known hash: the reader may fail on them in any way
        raise TableError(f"{path.name} is not an R file with one table of the expected columns.") from error
    for record in zip(*values, strict=True):
        yield [_r_text(value) for value in record]


def _r_text(value: str | float) -> str:
    if isinstance(value, str):
        return value
    return str(int(value)) if float(value).is_integer() else repr(value)


def _types(columns: str, *, text: Iterable[str] = (), floats: Iterable[str] = ()) -> dict[str, str]:
    """Map every column to its Arrow type; what is neither text nor float is a whole number."""
    special = dict.fromkeys(text, "string") | dict.fromkeys(floats, "float64")
    return {column: special.get(column, "int64") for column in columns.split()}


_ADULT_COLUMNS = (
    "age workclass fnlwgt education education-num marital-status occupation relationship race sex "
    "capital-gain capital-loss hours-per-week native-country income split"
)
_ADULT_NUMBERS = {"age", "fnlwgt", "education-num", "capital-gain", "capital-loss", "hours-per-week"}

_WATER_COLUMNS = (
    "date Q-E ZN-E PH-E DBO-E DQO-E SS-E SSV-E SED-E COND-E PH-P DBO-P SS-P SSV-P SED-P COND-P "
    "PH-D DBO-D DQO-D SS-D SSV-D SED-D COND-D PH-S DBO-S DQO-S SS-S SSV-S SED-S COND-S RD-DBO-P RD-SS-P "
    "RD-SED-P RD-DBO-S RD-DQO-S RD-DBO-G RD-DQO-G RD-SS-G RD-SED-G"
)
_WATER_MEASURED_WITH_DECIMALS = ("ZN-", "PH-", "SSV-", "SED-", "RD-")


def _casc(name: str, *, title: str, rda: str, sha256: str, n_records: int, types: Mapping[str, str]) -> Source:
    return Source(
        name=name,
        title=title,
        licence=CASC_LICENCE,
        citation=CASC_CITATION,
        file_name=f"{name}.csv",
        sha256=sha256,
        n_records=n_records,
        types=types,
        # The hashes of the .rda files are not known to us; the check of the converted CSV stands for them.
        raw_files=(RawFile(f"{SDCMICRO}/{rda}", sha256=None),),
        convert=_from_r,
        needs="rdata",
    )


_ALL = (
    _casc(
        "census",
        title="U.S. Census Bureau, Data Extraction System, 1995 (CASC)",
        rda="CASCrefmicrodata.rda",
        sha256="40fb91564d4379274610e941161fd38729adb471bddb9c71d7c01ef142fd0f5b",
        n_records=1080,
        types=_types("AFNLWGT AGI EMCONTRB FEDTAX PTOTVAL STATETAX TAXINC POTHVAL INTVAL PEARNVAL FICA WSALVAL ERNVAL"),
    ),
    _casc(
        "tarragona",
        title="Companies of the Tarragona area, 1995 (CASC)",
        rda="Tarragona.rda",
        sha256="d5f719a134a3476b2157d9675d1a2b211dbc06ad6109685ad1e4b7847cfa45a4",
        n_records=834,
        types=_types(
            "FIXED.ASSETS CURRENT.ASSETS TREASURY UNCOMMITTED.FUNDS PAID.UP.CAPITAL SHORT.TERM.DEBT SALES "
            "LABOR.COSTS DEPRECIATION OPERATING.PROFIT FINANCIAL.OUTCOME GROSS.PROFIT NET.PROFIT"
        ),
    ),
    _casc(
        "eia",
        title="U.S. Energy Information Authority, revenue and sales of utilities, 1996 (CASC)",
        rda="EIA.rda",
        sha256="4df54e21b3451e3c0b6081fa1c9ef5dbd8f09d484925ed2ade759b78b4869d1b",
        n_records=4092,
        types=_types(
            "UTILITYID UTILNAME STATE YEAR MONTH RESREVENUE RESSALES COMREVENUE COMSALES INDREVENUE INDSALES "
            "OTHREVENUE OTHRSALES TOTREVENUE TOTSALES",
            text=("UTILNAME", "STATE"),
        ),
    ),
    Source(
        name="adult",
        title="Adult (Census Income)",
        licence="CC BY 4.0",
        citation=("Becker, B. & Kohavi, R. (1996). Adult. UCI Machine Learning Repository. doi:10.24432/C5XW20"),
        file_name="adult.csv",
        sha256="bf0482767305b8e0fdea738fe4e72ec6ee531a69f99ed34cc196f741c7c43298",
        n_records=48842,
        types=_types(_ADULT_COLUMNS, text=set(_ADULT_COLUMNS.split()) - _ADULT_NUMBERS),
        raw_files=(
            RawFile(f"{UCI}/adult/adult.data", "5b00264637dbfec36bdeaab5676b0b309ff9eb788d63554ca0a249491c86603d"),
            RawFile(f"{UCI}/adult/adult.test", "a2a9044bc167a35b2361efbabec64e89d69ce82d9790d2980119aac5fd7e9c05"),
        ),
        convert=_from_adult,
    ),
    Source(
        name="breast_cancer",
        title="Breast Cancer Wisconsin (Original)",
        licence="CC BY 4.0",
        citation=(
            "Wolberg, W. H. (1992). Breast Cancer Wisconsin (Original). UCI Machine Learning Repository. "
            "doi:10.24432/C5HP4Z. UCI asks to cite Mangasarian, O. L. & Wolberg, W. H. (1990). Cancer "
            "diagnosis via linear programming. SIAM News 23(5)."
        ),
        file_name="breast_cancer_wisconsin.csv",
        sha256="54729ed1c2e051b9af9797404360886d43369d19dccf4fc8673138858383b160",
        n_records=699,
        types=_types(
            "id clump_thickness uniformity_of_cell_size uniformity_of_cell_shape marginal_adhesion "
            "single_epithelial_cell_size bare_nuclei bland_chromatin normal_nucleoli mitoses class"
        ),
        raw_files=(
            RawFile(
                f"{UCI}/breast-cancer-wisconsin/breast-cancer-wisconsin.data",
                "402c585309c399237740f635ef9919dc512cca12cbeb20de5e563a4593f22b64",
            ),
        ),
        convert=_from_uci,
    ),
    Source(
        name="heart",
        title="Heart Disease, Cleveland",
        licence="CC BY 4.0",
        citation=(
            "Janosi, A., Steinbrunn, W., Pfisterer, M. & Detrano, R. Heart Disease. UCI Machine Learning "
            "Repository. doi:10.24432/C52P4X. Principal investigator: Robert Detrano, M.D., Ph.D., V.A. "
            "Medical Center, Long Beach and Cleveland Clinic Foundation."
        ),
        file_name="heart_disease_cleveland.csv",
        sha256="9e5c0982b6399a219dde529c9a208ffa2e22f8cf3659d715dca32801af0129e6",
        n_records=303,
        types=_types(
            "age sex cp trestbps chol fbs restecg thalach exang oldpeak slope ca thal num",
            floats=("oldpeak",),
        ),
        raw_files=(
            RawFile(
                f"{UCI}/heart-disease/processed.cleveland.data",
                "a74b7efa387bc9d108d7d0115d831fe9b414b29ae7124f331b622b4efa0427c8",
            ),
        ),
        convert=_from_heart,
    ),
    Source(
        name="water",
        title="Water Treatment Plant",
        licence="CC BY 4.0",
        citation=(
            "Poch, M. (1993). Water Treatment Plant. Donated by J. Bejar and U. Cortes. UCI Machine Learning "
            "Repository. doi:10.24432/C5FS4C"
        ),
        file_name="water_treatment.csv",
        sha256="5e11568934ed095e095bbffda93b496c8d77f068634a0a9cca6b4df58bcfcd7c",
        n_records=527,
        types=_types(
            _WATER_COLUMNS,
            text=("date",),
            floats=[c for c in _WATER_COLUMNS.split() if c.startswith(_WATER_MEASURED_WITH_DECIMALS)],
        ),
        raw_files=(
            RawFile(
                f"{UCI}/water-treatment/water-treatment.data",
                "af2e632b370646ea9763b11aed54b30423f0c3b8a7fb1b7d23e1c922098a7a8a",
            ),
        ),
        convert=_from_uci,
    ),
)

SOURCES: dict[str, Source] = {source.name: source for source in _ALL}
