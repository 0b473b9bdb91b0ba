"""Say that a kernel is being compiled, once per machine, so that nobody takes the wait for the work."""

from __future__ import annotations

import inspect
import logging
from pathlib import Path
from typing import Any

from microagg._progress import COMPILING, report

__all__ = ["announce_compiling", "needs_compiling"]

_log = logging.getLogger("microagg")


def announce_compiling(kernel: Any) -> None:
    """Log a line and report progress if calling `kernel` will compile it, rather than load it from the cache."""
    if needs_compiling(kernel):
        _log.info("compiling %s (first use on this machine, about ten seconds)", kernel.py_func.__name__)
        report(f"{COMPILING} (first use)", 0.0)


def needs_compiling(kernel: Any) -> bool:
    """Whether calling `kernel` will compile it: not if that was done in this process or for the cache."""
    return not getattr(kernel, "signatures", True) and not _is_cached(kernel)  # without signatures the compiler is off


def _is_cached(kernel: Any) -> bool:
    source = Path(inspect.getfile(kernel.py_func))
    kept = Path(kernel.stats.cache_path).glob(f"{source.stem}.{kernel.py_func.__qualname__}-*.nbi")
    return any(index.stat().st_mtime >= source.stat().st_mtime for index in kept)
