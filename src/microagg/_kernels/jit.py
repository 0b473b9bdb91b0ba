"""How kernels are compiled: entries, which Python calls, and inner functions, which only compiled code calls.

An inner function gets no wrapper for Python; wrappers that unpack a dozen arrays took half of the compile time. Kernels
allocate nothing, so no references are counted (`_nrt`); whoever calls them must be compiled likewise (`OPTIONS`).
Arithmetic follows NumPy: nothing here divides by zero, so no branch is compiled for it.

A function that takes dozens of arrays is called with hundreds of numbers: in the innermost loops that took half of the
time of a scan and a quarter of that of a tree search. What is called there is `inlined`, unless it has many callers. A
long function with one caller is `merged`: compiled as part of it, and not once more by itself.

Numba renews the cache of an entry when the entry's own file changes. After changing an inner function in another file,
remove ``__pycache__``.
"""

from __future__ import annotations

from numba import njit

OPTIONS = {"nogil": True, "error_model": "numpy", "no_cfunc_wrapper": True, "_nrt": False}
entry = njit(cache=True, **OPTIONS)
inner = njit(no_cpython_wrapper=True, **OPTIONS)
inlined = njit(no_cpython_wrapper=True, forceinline=True, **OPTIONS)
merged = njit(inline="always", no_cpython_wrapper=True, **OPTIONS)
