"""The formats by name, and how a file that is not of its format is refused."""

from __future__ import annotations

from collections import Counter
from collections.abc import Iterator, Sequence
from contextlib import contextmanager
from pathlib import Path

from microagg.errors import TableError

__all__ = ["DELIMITERS", "FORMATS", "check_names", "refusing"]

FORMATS = {
    "csv": "comma-separated text",
    "csv.gz": "comma-separated text compressed with gzip",
    "tsv": "tab-separated text",
    "txt": "plain text",
    "parquet": "Parquet",
    "feather": "Feather (Arrow IPC file)",
    "sav": "SPSS",
    "dta": "Stata",
    "sas7bdat": "SAS",
    "xpt": "SAS transport",
    "xlsx": "Excel",
}
DELIMITERS = {"csv": ",", "csv.gz": ",", "tsv": "\t", "txt": None}  # None: the recipe must say


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
        raise TableError(
            f"{path.name}: no name in the header at position {listed(unnamed)}. Name it in the file, or all columns in "
            "the recipe:\n    [input]\n    header = false\n    skip_rows = 1   # the header that lacks names\n"
            "    columns = [...]"
        )
    counts = Counter(names)
    if len(counts) < len(names):  # without the names: a file without a header starts with a record
        alike = [str(position) for position, name in enumerate(names, start=1) if counts[name] > 1]
        raise TableError(
            f"{path.name}: {len(alike)} columns do not have a name of their own, at position {listed(alike)}. If the "
            "file has no header, add to the recipe:\n    [input]\n    header = false\n    columns = [...]"
        )


def listed(words: Sequence[str], limit: int = 12) -> str:
    """Words in a row, cut after `limit` of them."""
    return ", ".join(words[:limit]) + (f" and {len(words) - limit} more" if len(words) > limit else "")
