"""Finished parts as files, so that a run that was stopped goes on, and is never misled by half a file."""

from __future__ import annotations

import hashlib
import json
import os
from functools import cache
from pathlib import Path

import microagg
from microagg.studies.reproduction.experiment import Part, Point

__all__ = ["KeptParts", "code_digest", "write_whole"]


@cache
def code_digest() -> str:
    """A digest of microagg's own code: what another version of it found is not taken for this one's."""
    root = Path(microagg.__file__).parent
    digest = hashlib.sha256()
    for path in sorted(root.rglob("*.py")):
        digest.update(path.relative_to(root).as_posix().encode())
        digest.update(path.read_bytes())
    return digest.hexdigest()


def write_whole(path: Path, content: bytes) -> None:
    """Write beside the target and rename, so that no reader ever meets half a file."""
    path.parent.mkdir(parents=True, exist_ok=True)
    draft = path.with_name(f".{path.name}.{os.getpid()}")
    draft.write_bytes(content)
    draft.replace(path)


class KeptParts:
    """The folder of finished parts."""

    def __init__(self, folder: Path) -> None:
        self.folder = folder
        self.code = code_digest()

    def _path(self, part: Part) -> Path:
        return self.folder / f"{part.key(self.code)}.json"

    def read(self, part: Part) -> list[Point] | None:
        """What the part found, or None if it must be run: no file, or one that is not whole or not of this part."""
        try:
            kept = json.loads(self._path(part).read_text(encoding="utf-8"))
        except (OSError, ValueError):
            return None
        whole = (
            isinstance(kept, dict) and kept.get("key") == part.key(self.code) and isinstance(kept.get("points"), list)
        )
        return list(kept["points"]) if whole else None

    def keep(self, part: Part, points: list[Point]) -> list[Point]:
        """Write what a part found, and hand it back as it will be read."""
        key = part.key(self.code)
        about = {"key": key, "function": f"{part.function.__module__}.{part.function.__qualname__}"}
        text = json.dumps({**about, "arguments": dict(part.arguments), "points": points})
        write_whole(self._path(part), text.encode())
        return list(json.loads(text)["points"])
