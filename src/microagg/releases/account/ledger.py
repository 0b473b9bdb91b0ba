"""The ledger's file: lines of JSON beside the data, for its owner only, that are added to and never changed.

Every line carries its own checksum and that of the line before it, so that a line that was changed, taken out or put
in is noticed. Lines missing at the *end* are not, nor is somebody who forges every checksum: the ledger is for people
who want to know what they spent.

Whoever adds a line holds a lock from before the lines are read until the new one is on the disk. So two releases at
once cannot both find room below the cap.
"""

from __future__ import annotations

import datetime as dt
import errno
import hashlib
import json
import os
import shlex
import stat
from collections.abc import Iterator
from contextlib import contextmanager
from pathlib import Path
from typing import Any

from microagg.errors import InputError, TableError
from microagg.releases.folder.json_files import parse_json
from microagg.releases.folder.places import refuse_place

try:
    import fcntl
except ImportError:  # Windows has no such locks
    fcntl = None  # type: ignore[assignment]

__all__ = ["ENDING", "OpenLedger", "create_ledger", "damaged", "is_kept", "ledger_of", "opened"]

ENDING = ".budget.jsonl"
_NOTHING_BEFORE = "0" * 64


def ledger_of(data: str | os.PathLike[str]) -> Path:
    """Where the ledger of a data file lies: beside the file itself, wherever a link to it may be."""
    path = Path(data)
    if path.name.endswith(ENDING):
        raise InputError(f"{path.name!r} is a ledger: name the data file beside it, {path.name.removesuffix(ENDING)!r}")
    try:
        resolved = path.resolve()
    except (OSError, RuntimeError):  # links that lead in a circle
        raise TableError(f"{path.name!r} cannot be followed to a file: its links lead in a circle.") from None
    return resolved.with_name(resolved.name + ENDING)


def is_kept(ledger: Path) -> bool:
    """Whether there is a ledger, in whatever state."""
    return os.path.lexists(ledger)


def create_ledger(ledger: Path, content: dict[str, Any]) -> None:
    """Write the first line of a ledger that is not there yet, for its owner only.

    Raises
    ------
    InputError
        If there is one, or the place is among published files.
    """
    refuse_place(ledger, what="ledger")
    try:
        handle = os.open(ledger, os.O_RDWR | os.O_APPEND | os.O_CREAT | os.O_EXCL, 0o600)
    except FileExistsError:
        raise InputError(
            f"{ledger.name!r} is there already. To see it: microagg budget show {_data_of(ledger)}; to change its cap: "
            f"microagg budget cap {_data_of(ledger)} CAP"
        ) from None
    except OSError as error:
        raise TableError(
            f"{ledger.name} cannot be made: {error.strerror}. A ledger lies beside its data, in a folder that you may "
            "write to"
        ) from None
    try:
        os.fchmod(handle, 0o600)  # whatever the umask
        OpenLedger(ledger, handle, []).append(content)
        _flush_folder(ledger.parent)
    except BaseException:
        ledger.unlink(missing_ok=True)
        raise
    finally:
        os.close(handle)


class OpenLedger:
    """A ledger that is locked: its lines, and a way to add one.

    Attributes
    ----------
    path : Path
    lines : list of dict
        What each line holds, the first is the start.
    is_private : bool
        Whether nobody but the owner may read or change it.
    """

    def __init__(self, path: Path, handle: int, lines: list[dict[str, Any]]) -> None:
        self.path, self.lines = path, lines
        self._handle = handle
        self.is_private = not os.fstat(handle).st_mode & 0o077

    def append(self, content: dict[str, Any]) -> None:
        """Add a line, with the time and the checksums; it is on the disk when this returns.

        Raises
        ------
        TableError
            If it cannot be written. The ledger is then as it was.
        """
        before = self.lines[-1]["sha256"] if self.lines else _NOTHING_BEFORE
        now = dt.datetime.now(dt.UTC).isoformat(timespec="seconds")
        line = _with_checksum({"time": now, **content, "previous": before})
        data, size = _as_text(line).encode() + b"\n", os.fstat(self._handle).st_size
        try:
            written = os.write(self._handle, data)
            if written < len(data):
                raise OSError(errno.ENOSPC, os.strerror(errno.ENOSPC))
            os.fsync(self._handle)
        except OSError as error:
            os.ftruncate(self._handle, size)  # half a line would be taken for damage
            raise TableError(f"{self.path.name} cannot be written: {error.strerror}. Nothing was recorded") from None
        self.lines.append(line)


@contextmanager
def opened(ledger: Path, *, to_write: bool) -> Iterator[OpenLedger]:
    """Open a ledger, locked, its checksums compared.

    Raises
    ------
    TableError
        If it cannot be opened or locked, or is damaged.
    """
    handle = _open(ledger, to_write)
    try:
        _lock(handle, ledger, to_write)
        yield OpenLedger(ledger, handle, _read_lines(handle, ledger))
    finally:
        os.close(handle)


def _open(ledger: Path, to_write: bool) -> int:
    how = os.O_RDWR | os.O_APPEND if to_write else os.O_RDONLY
    try:
        handle = os.open(ledger, how | os.O_NOFOLLOW | os.O_NONBLOCK)
    except OSError as error:
        if error.errno in (errno.ELOOP, errno.EISDIR, errno.ENXIO):
            raise _no_file(ledger) from None
        why = {errno.EACCES: "it is kept by another user, or you may only read it"}.get(error.errno or 0)
        raise TableError(
            f"{ledger.name}, the ledger of {ledger.name.removesuffix(ENDING)!r}, cannot be opened: "
            f"{error.strerror}{f' ({why})' if why else ''}. Without it nobody knows what was spent: nothing was made. "
            "Whoever keeps it can make the release"
        ) from None
    if not stat.S_ISREG(os.fstat(handle).st_mode):
        os.close(handle)
        raise _no_file(ledger)
    return handle


def _no_file(ledger: Path) -> TableError:
    return TableError(
        f"{ledger.name} is not a file of its own, but a link, a folder or a pipe: put the ledger itself there"
    )


def _lock(handle: int, ledger: Path, to_write: bool) -> None:
    """Wait for the lock; whoever holds it does so for an instant."""
    try:
        if fcntl is None:
            raise OSError
        fcntl.flock(handle, fcntl.LOCK_EX if to_write else fcntl.LOCK_SH)
    except OSError:
        raise TableError(
            f"{ledger.name} cannot be locked on this drive: two releases at once could both find room below the cap. "
            "Keep the data and its ledger on a drive that knows locks"
        ) from None


def _read_lines(handle: int, ledger: Path) -> list[dict[str, Any]]:
    os.lseek(handle, 0, os.SEEK_SET)
    with os.fdopen(os.dup(handle), "rb") as file:
        content = file.read()
    *whole, rest = content.split(b"\n")
    lines: list[dict[str, Any]] = []
    before = _NOTHING_BEFORE
    for number, text in enumerate(whole, start=1):
        try:
            line = parse_json(text.decode("utf-8"))
            fits = line == _with_checksum(line) and text == _as_text(line).encode()
            follows = fits and line["previous"] == before
        except (ValueError, TypeError, KeyError, AttributeError):
            raise damaged(ledger, number, "it is not a line that microagg wrote") from None
        if not fits:
            raise damaged(ledger, number, "it was changed after it was written")
        if not follows:
            raise damaged(ledger, number, "it does not follow the line before it: lines were taken out or put in")
        lines.append(line)
        before = line["sha256"]
    if rest:
        raise damaged(ledger, len(whole) + 1, "it is cut off, as when power fails while it is written", _CUT)
    if not lines:
        raise damaged(ledger, 1, "it is empty")
    return lines


_CUT = (
    "Noise is drawn only after a line is on the disk: if power or the system failed, take the rest of that line out in "
    "a text editor. Else "
)


def damaged(ledger: Path, number: int, why: str, first: str = "To mend it, ") -> TableError:
    """The error about a line that cannot be true, with what mends it."""
    data = _data_of(ledger)
    return TableError(
        f"{ledger.name} is damaged in line {number}: {why}. Nothing was made. {first}put back a copy that you kept; or "
        f"move it away, start another (microagg budget start {data} --cap CAP), and enter what was spent so far "
        f"(microagg budget add {data} EPSILON)"
    )


def _data_of(ledger: Path) -> str:
    return shlex.quote(ledger.name.removesuffix(ENDING))


def _with_checksum(line: dict[str, Any]) -> dict[str, Any]:
    content = {key: value for key, value in line.items() if key != "sha256"}
    return {**content, "sha256": hashlib.sha256(_as_text(content).encode()).hexdigest()}


def _as_text(line: dict[str, Any]) -> str:
    return json.dumps(line, allow_nan=False)


def _flush_folder(folder: Path) -> None:
    handle = os.open(folder, os.O_RDONLY)
    try:
        os.fsync(handle)
    finally:
        os.close(handle)
