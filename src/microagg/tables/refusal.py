"""Refuse a file that cannot be used, in words that quote nothing from it."""

from __future__ import annotations

from collections import Counter
from collections.abc import Iterator, Sequence
from contextlib import contextmanager
from pathlib import Path

from microagg.errors import TableError
from microagg.tables.phrases import names_phrase

__all__ = ["check_is_file", "check_names", "refusing"]


def check_is_file(path: Path) -> None:
    """Refuse a path where no file can be opened."""
    if path.is_dir():
        raise TableError(f"{path.name} is a directory, not a file.")
    try:
        with path.open("rb"):
            pass
    except FileNotFoundError:
        raise TableError(f"{path.name}: no such file.") from None
    except OSError as error:
        raise TableError(f"{path.name} cannot be opened: {error.strerror}.") from None


@contextmanager
def refusing(path: Path, title: str) -> Iterator[None]:
    """Turn any error of a library into one that quotes nothing from the file.

    Parameters
    ----------
    path : Path
    title : str
        What the file should be, such as ``"Parquet"``.
    """
    try:
        yield
    except TableError:
        raise
    except MemoryError:
        raise TableError(f"{path.name} is damaged or too large: reading it takes more memory than there is.") from None
    except Exception:
        raise TableError(
            f"{path.name} cannot be read as {title}: it is cut short, damaged or not of this format."
        ) from None


def check_names(names: Sequence[str], path: Path) -> None:
    """Refuse columns without a name, and columns that share one."""
    unnamed = [str(position) for position, name in enumerate(names, start=1) if not name.strip()]
    if unnamed:
        raise TableError(
            f"{path.name}: no name in the header at position {names_phrase(unnamed)}. Name it in the file, or all "
            "columns in the recipe:\n    [input]\n    header = false\n    skip_rows = 1   # the header that lacks "
            "names\n    columns = [...]"
        )
    counts = Counter(names)
    if len(counts) < len(names):  # without the names: a file without a header starts with a record
        alike = [str(position) for position, name in enumerate(names, start=1) if counts[name] > 1]
        raise TableError(
            f"{path.name}: {len(alike)} columns do not have a name of their own, at position {names_phrase(alike)}. "
            "If the file has no header, add to the recipe:\n    [input]\n    header = false\n    columns = [...]"
        )
