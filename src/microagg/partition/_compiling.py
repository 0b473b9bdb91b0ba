"""Whether a kernel has to be compiled first: once per machine, and for as long as no kernel source changes."""

from __future__ import annotations

from typing import Any

__all__ = ["needs_compiling"]


def needs_compiling(kernel: Any) -> bool:
    """Whether calling `kernel` will compile it: not if that was done in this process or for the cache."""
    from microagg._kernels.jit import is_cached

    if not hasattr(kernel, "signatures"):  # the compiler is switched off
        return False
    return not kernel.signatures and not is_cached(kernel)
