"""Trees of Adult's categories, which the package holds: outlines that a recipe can name.

The literature takes them from WordNet and prints neither trees nor mapping. These are of WordNet 3.0: every label hangs
in the place of a synset that we chose, under its first hypernyms. WordNet's licence lets copies go with its notice, so
they need no network; see ``LICENSE-WordNet.txt`` in this folder.
"""

from __future__ import annotations

from pathlib import Path

from microagg.errors import InputError

__all__ = ["NAME", "taxonomy_files", "write_taxonomies"]

NAME = "adult_taxonomies"
_HERE = Path(__file__).parent
_LICENCE = "LICENSE-WordNet.txt"


def taxonomy_files() -> dict[str, Path]:
    """The outline of each of Adult's two columns that have one."""
    return {name: _HERE / f"adult_{name}.txt" for name in ("occupation", "native-country")}


def write_taxonomies(folder: str | Path) -> list[Path]:
    """Copy the outlines and WordNet's licence into a folder, which may exist."""
    folder = Path(folder)
    if folder.exists() and not folder.is_dir():
        raise InputError(f"{folder.name!r} is a file; name a folder to write the taxonomies into")
    folder.mkdir(parents=True, exist_ok=True)
    written = []
    for source in (*taxonomy_files().values(), _HERE / _LICENCE):
        target = folder / source.name
        target.write_bytes(source.read_bytes())
        written.append(target)
    return written
