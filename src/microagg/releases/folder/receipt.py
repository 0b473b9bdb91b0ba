"""The receipt: what the data holder keeps of a release, to show its input, know its files again, and judge its rows."""

from __future__ import annotations

import base64
import binascii
import json
import zlib
from collections.abc import Mapping
from dataclasses import dataclass, field
from glob import escape
from pathlib import Path
from typing import Any

import numpy as np

from microagg._typing import IntArray
from microagg.errors import TableError
from microagg.releases.folder.json_files import read_json
from microagg.releases.folder.orphans import PENDING
from microagg.statements.manifest import InputDigest, sha256_of_file

__all__ = ["Receipt", "receipt_beside", "receipts_beside"]

FORMAT = 3
NOTE = "Keep this file, do not publish it: it shows which input the release was made from"
NOTE_OF_ORIGINS = ", and which input record each published row stands for"


@dataclass(frozen=True)
class Receipt:
    """What ties a release to its input; it lies beside the folder of the release, never in it.

    Attributes
    ----------
    input : InputDigest
    id : str
        The manifest's.
    files : mapping of name to SHA-256
        The published files as they were written.
    origins : ndarray or None
        For each published record its place in the input; None if rows are not records.
    """

    input: InputDigest
    id: str
    files: Mapping[str, str] = field(default_factory=dict)
    origins: IntArray | None = field(default=None, repr=False)

    def as_dict(self) -> dict[str, Any]:
        return {
            "format": FORMAT,
            "note": f"{NOTE}{'' if self.origins is None else NOTE_OF_ORIGINS}.",
            "id": self.id,
            "input_sha256": self.input.sha256,
            "salt": self.input.salt,
            "input_sha256_salted": self.input.salted_sha256,
            "files": dict(self.files),
            "origins": None if self.origins is None else _pack(self.origins),
        }

    def as_json(self) -> str:
        return json.dumps(self.as_dict(), indent=2) + "\n"

    def name_beside(self, folder: Path) -> str:
        """Its name beside a folder: one that no other release takes."""
        return f"{folder.name}.receipt-{self.id[:12]}.json"

    @classmethod
    def load(cls, path: str | Path) -> Receipt:
        """Read a receipt.

        Raises
        ------
        TableError
            If it is not there, damaged, or no receipt.
        """
        path = Path(path)
        try:
            content = read_json(path)
            digest = InputDigest(content["salt"], content["input_sha256_salted"], content["input_sha256"])
            files = {str(name): str(sha) for name, sha in content["files"].items()}
            packed = content["origins"]
            return cls(digest, str(content["id"]), files, None if packed is None else _unpack(packed))
        except FileNotFoundError:
            raise TableError(f"{path.name}: no such file.") from None
        except OSError as error:
            raise TableError(f"{path.name} cannot be opened: {error.strerror}.") from None
        except (ValueError, KeyError, TypeError, AttributeError, binascii.Error, zlib.error):
            raise TableError(f"{path.name} is damaged, or is not the receipt of a release.") from None


def receipts_beside(folder: str | Path) -> list[Path]:
    """The receipts that lie beside a folder under its name, of this release or of earlier ones."""
    folder = Path(folder).absolute()
    names = f"{escape(folder.name)}.receipt-*.json"
    # One whose run was killed in the last instant still waits for the next start to put it there.
    waiting = folder.parent.glob(f".{escape(folder.name)}.*{PENDING}/{names}")
    return [path for path in (*sorted(folder.parent.glob(names)), *sorted(waiting)) if path.is_file()]


def receipt_beside(folder: str | Path) -> Receipt | None:
    """The receipt that lies beside the folder of a release and names its table as written; None if there is none.

    Files that are damaged, or no receipts, are passed over: they cannot name the table.
    """
    folder = Path(folder).absolute()
    tables = {path.name: sha256_of_file(path) for path in sorted(folder.glob("table.*"))}
    for path in receipts_beside(folder):
        try:
            receipt = Receipt.load(path)
        except TableError:  # one that is damaged says nothing about this release
            continue
        if any(receipt.files.get(name) == digest for name, digest in tables.items()):
            return receipt
    return None


def _pack(origins: IntArray) -> str:
    """Whole numbers as text: little-endian, 32 bits where they suffice, deflated, base 64."""
    kind = "<u4" if len(origins) == 0 or int(origins.max()) < 2**32 else "<u8"
    return f"{kind}:{base64.b64encode(zlib.compress(origins.astype(kind).tobytes())).decode()}"


def _unpack(text: str) -> IntArray:
    kind, _, packed = text.partition(":")
    if kind not in ("<u4", "<u8"):
        raise ValueError("origins")
    return np.frombuffer(zlib.decompress(base64.b64decode(packed, validate=True)), dtype=kind).astype(np.int64)
