"""The formats by name, and how a file that is not of its format is refused."""

from __future__ import annotations

from collections import Counter
from collections.abc import Iterator, Sequence
from contextlib import contextmanager
from pathlib import Path

from microagg.errors import TableError

__all__ = ["FORMATS", "check_names", "refusing"]

FORMATS = {
    "csv": "comma-separated text",
    "csv.gz": "comma-separated text compressed with gzip",
    "tsv": "tab-separated text",
    "parquet": "Parquet",
    "feather": "Feather (Arrow IPC file)",
    "sav": "SPSS",
    "dta": "Stata",
    "sas7bdat": "SAS",
    "xpt": "SAS transport",
    "xlsx": "Excel",
}


@contextmanager
def refusing(path: Path, file_format: str) -> Iterator[None]:
    """Turn any error of a library into one that quotes nothing from the file."""
    try:
        yield
    except TableError:
        raise
    except MemoryError:
        raise TableError(f"{path.name} is damaged or too large: reading it takes more memory than there is.") from None
    except Exception:
        raise TableError(
            f"{path.name} cannot be read as {FORMATS[file_format]}: it is cut short, damaged or not of this format."
        ) from None


def check_names(names: Sequence[str], path: Path) -> None:
    unnamed = [str(position) for position, name in enumerate(names, start=1) if not name.strip()]
    if unnamed:
        raise TableError(f"{path.name}: no name in the header at position {', '.join(unnamed)}.")
    repeated = [repr(name) for name, count in Counter(names).items() if count > 1]
    if repeated:
        raise TableError(f"{path.name}: more than one column is called {', '.join(repeated)}.")
