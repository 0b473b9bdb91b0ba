"""The manifest: which recipe, which versions, which files; and the fingerprint that ties it to the input."""

from __future__ import annotations

import hashlib
import json
import platform
import secrets
from collections.abc import Mapping, Sequence
from dataclasses import dataclass, field
from importlib.metadata import version
from pathlib import Path
from typing import TYPE_CHECKING, Any

from microagg._version import __version__

if TYPE_CHECKING:
    import pyarrow as pa

__all__ = ["InputDigest", "Manifest", "sha256_of_file"]

FORMAT = 2
LIBRARIES = ("numpy", "scipy", "scikit-learn", "numba", "narwhals", "pyarrow", "pyreadstat", "pydantic", "opendp")


@dataclass(frozen=True)
class InputDigest:
    """Fingerprints of the input.

    A plain hash of a table would let anyone who knows all records but one try values for the last one until the
    hash agrees. So the manifest holds the hash of a random salt followed by the input; the salt and the plain
    hash stay with the data holder, in the receipt. For a differentially private release the salted hash stays there,
    too: nothing that is published beside the noise depends on a record.
    """

    salt: str
    salted_sha256: str
    sha256: str

    @classmethod
    def of(cls, source: pa.Table | Path) -> InputDigest:
        """Digest a file's bytes, or a table's Arrow stream."""
        salt = secrets.token_bytes(32)
        plain, salted = hashlib.sha256(), hashlib.sha256(salt)

        def add(chunk: bytes | memoryview) -> None:
            plain.update(chunk)
            salted.update(chunk)

        if isinstance(source, Path):
            with source.open("rb") as file:
                while chunk := file.read(1 << 20):
                    add(chunk)
        else:
            _feed_arrow_stream(source, add)
        return cls(salt.hex(), salted.hexdigest(), plain.hexdigest())

    @classmethod
    def of_files(cls, paths: Sequence[Path]) -> InputDigest:
        """Digest the bytes of several files, in the order given, each after its length; of one file as :meth:`of`."""
        if len(paths) == 1:
            return cls.of(paths[0])
        salt = secrets.token_bytes(32)
        plain, salted = hashlib.sha256(), hashlib.sha256(salt)
        for path in paths:
            length = path.stat().st_size.to_bytes(8, "little")
            with path.open("rb") as file:
                chunk = length
                while chunk:
                    plain.update(chunk)
                    salted.update(chunk)
                    chunk = file.read(1 << 20)
        return cls(salt.hex(), salted.hexdigest(), plain.hexdigest())


def _feed_arrow_stream(table: pa.Table, add: Any) -> None:
    import pyarrow as pa

    class Sink:
        closed = False

        def write(self, chunk: Any) -> int:
            add(chunk)
            return len(chunk)

        def flush(self) -> None:
            """Nothing is buffered."""

        def close(self) -> None:
            self.closed = True

        def writable(self) -> bool:
            return True

    bare = table.replace_schema_metadata(None)
    with pa.PythonFile(Sink(), mode="w") as sink, pa.ipc.new_stream(sink, bare.schema) as writer:
        writer.write_table(bare)


@dataclass(frozen=True)
class Manifest:
    """What was run, with what, on what.

    Attributes
    ----------
    date : str
        The day of the release; by it a report that is written later has the same date.
    id : str
        Random: it distinguishes this release from others, and says nothing else.
    seeded : bool
        Whether chance was replaced by a fixed seed.
    recipe : dict
    stages : tuple of dict
        The stages really run, in order.
    input, output : dict
        Sizes and fingerprints; `output` maps file names to SHA-256 once the release is saved.
    """

    recipe: Mapping[str, Any]
    stages: tuple[Mapping[str, Any], ...]
    input: Mapping[str, Any]
    date: str
    output: Mapping[str, Any] = field(default_factory=dict)
    seeded: bool = False
    id: str = field(default_factory=lambda: secrets.token_hex(16))

    def as_dict(self) -> dict[str, Any]:
        return {
            "format": FORMAT,
            "id": self.id,
            "date": self.date,
            "microagg": __version__,
            "versions": {"python": platform.python_version(), **{name: version(name) for name in LIBRARIES}},
            "seeded": self.seeded,
            "recipe": dict(self.recipe),
            "stages": [dict(stage) for stage in self.stages],
            "input": dict(self.input),
            "output": dict(self.output),
        }

    def as_json(self) -> str:
        return json.dumps(self.as_dict(), indent=2, ensure_ascii=False, default=str) + "\n"


def sha256_of_file(path: Path) -> str:
    """SHA-256 of a file's bytes."""
    with path.open("rb") as file:
        return hashlib.file_digest(file, "sha256").hexdigest()
