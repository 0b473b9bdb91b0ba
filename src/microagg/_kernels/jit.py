"""How kernels are compiled, and cached until a kernel source changes (see `sources`).

compiled  an ordinary function: it may allocate arrays, and Python may call it.
entry     Python calls it, with arrays to work in; it allocates nothing.
inner     only compiled code calls it; it allocates nothing. Without a wrapper for Python it is compiled in half the
          time: wrappers that unpack a dozen arrays took the other half.
inlined   an inner function that is inlined into its callers. A function that takes dozens of arrays is called with
          hundreds of numbers: in the innermost loops that took half of the time of a scan and a quarter of that of a
          tree search. What is called there is inlined, unless it has many callers.
merged    a long inner function with one caller: compiled as part of it, and not once more by itself.

Those that allocate nothing are compiled without counting references, so what calls them must be, too. Arithmetic
follows NumPy: nothing divides by zero, so no branch is compiled for it.

Some of this is not documented by Numba (see `numba_internals`). Where it is missing, kernels are compiled by documented
means alone, in every process anew, and those that need vectors are not used (`HAS_VECTORS`): results are the same.
"""

from __future__ import annotations

import warnings
from typing import Any

from numba import config, njit

__all__ = ["HAS_VECTORS", "OPTIONS", "compiled", "entry", "inlined", "inner", "is_cached", "is_ready", "merged"]

OPTIONS: dict[str, Any] = {"nogil": True, "error_model": "numpy"}
_INNER: dict[str, Any] = {}
_INLINED: dict[str, Any] = {}
_is_complete = False

if not config.DISABLE_JIT:
    try:
        from microagg._kernels import numba_internals
    except (ImportError, AttributeError) as error:  # a part is missing, or has moved
        warnings.warn(
            f"microagg's kernels run without some parts of Numba ({error}): results are the same, but large tables "
            "take longer, and kernels are compiled anew in every process",
            RuntimeWarning,
            stacklevel=2,
        )
    else:
        _is_complete = True
        OPTIONS |= numba_internals.ALLOCATE_NOTHING
        _INNER |= numba_internals.NOT_FROM_PYTHON
        _INLINED |= numba_internals.FORCE_INLINE

# Whether `simd` can be used: without the compiler it is NumPy.
HAS_VECTORS = _is_complete or bool(config.DISABLE_JIT)

inner = njit(**_INNER, **OPTIONS)
inlined = njit(**_INNER, **_INLINED, **OPTIONS)
merged = njit(inline="always", **_INNER, **OPTIONS)


def compiled(function):
    return _cache(njit(nogil=True)(function))


def entry(function):
    return _cache(njit(**OPTIONS)(function))


def _cache(kernel):
    if _is_complete and not numba_internals.enable_cache(kernel):
        warnings.warn(
            "microagg finds no folder to keep compiled kernels in, and compiles them anew in every process: "
            "set NUMBA_CACHE_DIR to a folder that can be written to",
            RuntimeWarning,
            stacklevel=1,
        )
    return kernel


def is_ready(kernel: Any, *, with_codes: bool = False) -> bool:
    """Whether a kernel was compiled or loaded in this process, for records with or without codes."""
    return any(_takes_codes(signature) == with_codes for signature in kernel.signatures)


def is_cached(kernel: Any, *, with_codes: bool = False) -> bool:
    """Whether a kernel need not be compiled because the cache has it, for records with or without codes."""
    if not _is_complete:
        return False
    return bool(numba_internals.is_cached(kernel, lambda signature: _takes_codes(signature) == with_codes))


def _takes_codes(signature: Any) -> bool:
    """Whether one of the argument types is, or contains, a `Nominal`."""
    return "Nominal(" in str(signature)
