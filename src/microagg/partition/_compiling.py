"""Whether a kernel has to be compiled first: once per machine, and for as long as no kernel source changes."""

from __future__ import annotations

from typing import Any

__all__ = ["is_in_process", "needs_compiling"]


def needs_compiling(kernel: Any, *, with_codes: bool = False) -> bool:
    """Whether calling `kernel` will compile it: not if that was done in this process or for the cache.

    It is compiled once for records of numbers and once for those with codes.
    """
    return not is_in_process(kernel, with_codes=with_codes) and not _is_cached(kernel, with_codes)


def is_in_process(kernel: Any, *, with_codes: bool = False) -> bool:
    """Whether `kernel` was compiled or loaded in this process, or the compiler is switched off."""
    from microagg._kernels.jit import is_ready

    return not hasattr(kernel, "signatures") or is_ready(kernel, with_codes=with_codes)


def _is_cached(kernel: Any, with_codes: bool) -> bool:
    from microagg._kernels.jit import is_cached

    return is_cached(kernel, with_codes=with_codes)
