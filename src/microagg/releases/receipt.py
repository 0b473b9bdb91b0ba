"""The receipt: what the data holder keeps of a release, to show its input, know its files again, and judge its rows."""

from __future__ import annotations

import base64
import binascii
import json
import zlib
from collections.abc import Mapping
from dataclasses import dataclass, field
from pathlib import Path
from typing import Any

import numpy as np
import numpy.typing as npt

from microagg.errors import TableError
from microagg.releases.manifest import InputDigest
from microagg.releases.storage import write_file_whole

__all__ = ["Receipt", "receipt_beside"]

FORMAT = 2
NOTE = (
    "Keep this file, do not publish it: it shows which input the release was made from, and which input record each "
    "published row stands for."
)


@dataclass(frozen=True)
class Receipt:
    """What ties a release to its input; it lies beside the folder of the release, never in it.

    Attributes
    ----------
    input : InputDigest
    files : mapping of name to SHA-256
        The published files as they were written.
    origins : ndarray or None
        For each published record its place in the input; None if rows are no records.
    """

    input: InputDigest
    files: Mapping[str, str] = field(default_factory=dict)
    origins: npt.NDArray[np.int64] | None = field(default=None, repr=False)

    def as_dict(self) -> dict[str, Any]:
        return {
            "format": FORMAT,
            "note": NOTE,
            "input_sha256": self.input.sha256,
            "salt": self.input.salt,
            "input_sha256_salted": self.input.salted_sha256,
            "files": dict(self.files),
            "origins": None if self.origins is None else _packed(self.origins),
        }

    def save(self, path: Path) -> None:
        """Write the receipt whole or not at all, for its owner only."""
        write_file_whole(path, json.dumps(self.as_dict(), indent=2) + "\n")

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
            content = json.loads(path.read_text(encoding="utf-8"))
            digest = InputDigest(content["salt"], content["input_sha256_salted"], content["input_sha256"])
            files = {str(name): str(sha) for name, sha in content.get("files", {}).items()}
            packed = content.get("origins")
            return cls(digest, files, None if packed is None else _unpacked(packed))
        except FileNotFoundError:
            raise TableError(f"{path.name}: no such file.") from None
        except (ValueError, KeyError, TypeError, AttributeError, binascii.Error, zlib.error):
            raise TableError(f"{path.name} is damaged, or no receipt of a release.") from None


def receipt_beside(folder: str | Path) -> Receipt | None:
    """The receipt that lies beside the folder of a release and names its table as written; None if there is none."""
    from microagg.releases.manifest import sha256_of_file

    folder = Path(folder).absolute()
    tables = {path.name: sha256_of_file(path) for path in sorted(folder.glob("table.*"))}
    for path in sorted(folder.parent.glob(f"{folder.name}.receipt-*.json")):
        receipt = Receipt.load(path)
        if any(receipt.files.get(name) == digest for name, digest in tables.items()):
            return receipt
    return None


def _packed(origins: npt.NDArray[np.int64]) -> str:
    """Whole numbers as text: little-endian, 32 bits where they suffice, deflated, base 64."""
    kind = "<u4" if len(origins) == 0 or int(origins.max()) < 2**32 else "<u8"
    return f"{kind}:{base64.b64encode(zlib.compress(origins.astype(kind).tobytes())).decode()}"


def _unpacked(text: str) -> npt.NDArray[np.int64]:
    kind, _, packed = text.partition(":")
    if kind not in ("<u4", "<u8"):
        raise ValueError("origins")
    return np.frombuffer(zlib.decompress(base64.b64decode(packed, validate=True)), dtype=kind).astype(np.int64)
