"""Where the files of the reference tables lie, and how a missing one is fetched, checked and kept."""

from __future__ import annotations

import hashlib
import os
import tempfile
from collections.abc import Iterator
from contextlib import contextmanager
from pathlib import Path
from typing import Literal

from microagg.errors import TableError
from microagg.tables.frames.optional import import_optional
from microagg.tables.reference.sources import RawFile, Source, as_csv

__all__ = ["Where", "check_file", "fetch_into_cache", "find"]

Where = Literal["folder", "cache", "not here"]

DATA_VARIABLE = "MICROAGG_DATA"
CACHE_VARIABLE = "MICROAGG_CACHE"


def find(source: Source) -> tuple[Where, Path | None]:
    """Say where a file of the table's name lies, without looking into it."""
    folder = _data_folder()
    if folder is not None and (folder / source.file_name).is_file():
        return "folder", folder / source.file_name
    cached = _cache_folder() / source.file_name
    if cached.is_file():
        return "cache", cached
    return "not here", None


def check_file(path: Path, where: Where, source: Source) -> Path:
    """Return `path` if it has the pinned content.

    Raises
    ------
    TableError
        If it has another content.
    """
    remedy = (
        f"Put the right file there, or unset {DATA_VARIABLE}."
        if where == "folder"
        else f"Replace it with: microagg datasets --fetch {source.name}"
    )
    _check_content(path.read_bytes(), source, what=str(path), remedy=remedy)
    return path


def fetch_into_cache(source: Source) -> Path:
    """Return the table's file in the cache, fetched from the public source unless the right one is there.

    Raises
    ------
    TableError
        If the source cannot be reached, does not give the pinned content, or the cache cannot be written.
    """
    cached = _cache_folder() / source.file_name
    if cached.is_file() and _sha256(cached.read_bytes()) == source.sha256:
        return cached
    content = _download(source)
    _check_content(
        content,
        source,
        what=f"What was fetched for {source.name!r} and converted",
        remedy=f"Nothing was kept. {_by_hand(source)}",
    )
    _write_atomically(cached, content)
    return cached


def _data_folder() -> Path | None:
    named = os.environ.get(DATA_VARIABLE)
    if not named:
        return None
    folder = Path(named).expanduser()
    if not folder.is_dir():
        raise TableError(f"The environment variable {DATA_VARIABLE} names {folder}, which is not a folder.")
    return folder


def _cache_folder() -> Path:
    named = os.environ.get(CACHE_VARIABLE)
    if named:
        return Path(named).expanduser()
    import pooch

    return Path(pooch.os_cache("microagg")).expanduser()


def _sha256(content: bytes) -> str:
    return hashlib.sha256(content).hexdigest()


def _check_content(content: bytes, source: Source, *, what: str, remedy: str) -> None:
    found = _sha256(content)
    if found != source.sha256:
        raise TableError(
            f"{what} is not the reference file {source.file_name}: "
            f"its SHA-256 is {found}, not {source.sha256}. {remedy}"
        )


def _by_hand(source: Source) -> str:
    return (
        f"Get it where there is a network with: microagg datasets --fetch {source.name}; or put "
        f"{source.file_name} into a folder and name the folder in the environment variable {DATA_VARIABLE}."
    )


def _download(source: Source) -> bytes:
    """Fetch the raw files into a folder that does not outlive the call, and convert them."""
    if source.needs is not None:
        import_optional(source.needs, "microagg[datasets]")
    with tempfile.TemporaryDirectory(prefix="microagg-") as folder:
        paths = [_retrieve(raw, Path(folder), source) for raw in source.raw_files]
        return as_csv(source.types, source.convert(paths, list(source.types)))


def _retrieve(raw: RawFile, folder: Path, source: Source) -> Path:
    import pooch

    file_name = raw.url.rpartition("/")[2]
    try:
        with _quiet_pooch():
            return Path(pooch.retrieve(raw.url, known_hash=raw.sha256, fname=file_name, path=folder))
    except OSError as error:  # requests' errors are OSErrors, and pooch lets them through
        raise TableError(
            f"{source.name!r} could not be fetched from {raw.url} ({_reason(error)}). {_by_hand(source)}"
        ) from None
    except ValueError:  # pooch's word for a hash that differs
        raise TableError(
            f"{raw.url} does not give the file with SHA-256 {raw.sha256}. Nothing was kept. {_by_hand(source)}"
        ) from None


@contextmanager
def _quiet_pooch() -> Iterator[None]:
    import pooch

    logger = pooch.get_logger()
    level = logger.level
    logger.setLevel("ERROR")
    try:
        yield
    finally:
        logger.setLevel(level)


def _reason(error: OSError) -> str:
    response = getattr(error, "response", None)
    return type(error).__name__ if response is None else f"HTTP status {response.status_code}"


def _write_atomically(path: Path, content: bytes) -> None:
    """Write beside the target and rename, so that no reader ever meets half a file."""
    try:
        path.parent.mkdir(parents=True, exist_ok=True)
        with tempfile.TemporaryDirectory(prefix=".microagg-", dir=path.parent) as folder:
            unfinished = Path(folder) / path.name
            unfinished.write_bytes(content)
            unfinished.replace(path)
    except OSError as error:
        raise TableError(
            f"{path} could not be written ({error.strerror}). Name another cache folder in the environment "
            f"variable {CACHE_VARIABLE}."
        ) from error
