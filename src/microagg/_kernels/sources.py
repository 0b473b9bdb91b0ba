"""One digest over the sources of all kernels: what cached kernels are kept by.

A kernel is compiled together with all that it calls, from whatever file. Numba renews a cached kernel only if the
kernel's own file changed, and would go on using an old version of a function in another file. So kernels are cached in
a folder that is named after a digest of every kernel source: after any change the folder is another one.
"""

from __future__ import annotations

import hashlib
import shutil
import time
from contextlib import suppress
from pathlib import Path

__all__ = ["KernelSources", "remove_old_folders"]

PREFIX = "microagg-kernels-"
KEPT_FOLDERS = 3  # of older digests, the most recently used: switching between two branches compiles nothing
IN_USE = 3600.0  # seconds since its last use after which a folder may be removed


class KernelSources:
    """The sources of all kernels, as they were when this was created.

    Parameters
    ----------
    package : path
        Kernels are the Python files in its folder ``_kernels`` and in those of its subpackages.
    built_with : str
        What else decides how kernels are compiled, such as the version of the compiler.

    Attributes
    ----------
    folder : str or None
        The name of the folder for compiled kernels; None if there are no source files, as in a zip archive.
    """

    def __init__(self, package: Path, built_with: str) -> None:
        self._files = sorted([*package.glob("_kernels/**/*.py"), *package.glob("*/_kernels/**/*.py")])
        self._stamps = self._read_stamps()
        digest = hashlib.sha256(built_with.encode())
        for file in self._files:
            source = file.read_bytes()
            digest.update(f"\0{file.relative_to(package).as_posix()}\0{len(source)}\0".encode())
            digest.update(source)
        self.folder = PREFIX + digest.hexdigest()[:16] if self._files else None

    def are_unchanged(self) -> bool:
        """Whether the files are still those of the digest: a process may outlive an edit."""
        return self._read_stamps() == self._stamps

    def _read_stamps(self) -> list[tuple[int, int] | None]:
        stamps: list[tuple[int, int] | None] = []
        for file in self._files:
            try:
                status = file.stat()
            except OSError:
                stamps.append(None)
            else:
                stamps.append((status.st_mtime_ns, status.st_size))
        return stamps


def remove_old_folders(folder: Path) -> None:
    """Remove the folders of other digests beside `folder`, but for a few that were used last.

    A process that still uses a removed folder compiles again; it finds nothing wrong there.
    """
    others = []
    for other in folder.parent.glob(f"{PREFIX}*"):
        with suppress(OSError):  # another process may be removing it
            if other != folder:
                others.append((other.stat().st_mtime, other))
    for last_used, other in sorted(others, reverse=True)[KEPT_FOLDERS:]:
        if time.time() - last_used > IN_USE:
            shutil.rmtree(other, ignore_errors=True)
