"""Whether NumPy or a kernel answers. Both give the same cells, so the choice is one of seconds and of nothing else.

A kernel must be compiled, once per machine, or at least loaded, once per process. NumPy's seconds are estimated by
counting operations. They are compared with a share of what the kernel would cost before it does anything: a share,
because a kernel that is there will be used again. A process that asks often, as a sweep does, changes to the kernel
when all that it did by NumPy adds up to that much.
"""

from __future__ import annotations

import sys
from collections.abc import Callable, Iterator
from contextlib import contextmanager
from typing import Any, Literal

from microagg.partition._compiling import is_in_process, needs_compiling

__all__ = ["always_by", "numpy_costs_less"]

_LOADING = 0.2  # seconds that NumPy may take before a kernel is loaded: half of what importing and loading takes
_SHARE_OF_COMPILING = 1 / 3

_always: Literal["numpy", "kernels"] | None = None
_seconds_by_numpy: dict[str, float] = {}


def numpy_costs_less(
    work: str, seconds: float, load_kernel: Callable[[], Any], compiling: float, *, with_codes: bool = False
) -> bool:
    """Whether NumPy should do some work that takes it about `seconds`; if so, they are counted.

    Parameters
    ----------
    work : str
        What is done; the seconds of one kind of work are added up.
    seconds : float
        What NumPy takes, estimated from the size of the table alone.
    load_kernel : callable
        Import the kernel that would do the work. It is not called for tables that are done before that.
    compiling : float
        Seconds that compiling the kernel takes.
    with_codes : bool
        Whether the kernel is wanted for records with codes, for which it is compiled once more.
    """
    if _always is not None:
        return _always == "numpy"
    in_all = _seconds_by_numpy.get(work, 0.0) + seconds
    costs_less = in_all <= _price_of_kernel(in_all, load_kernel, compiling, with_codes)
    if costs_less:
        _seconds_by_numpy[work] = in_all
    return costs_less


def _price_of_kernel(seconds: float, load_kernel: Callable[[], Any], compiling: float, with_codes: bool) -> float:
    """Seconds that NumPy may take before the kernel does the work."""
    if "numba" not in sys.modules and seconds <= _LOADING:
        return _LOADING  # whether it is compiled does not matter, and to ask would be to import it
    kernel = load_kernel()
    if is_in_process(kernel, with_codes=with_codes):
        return 0.0
    return compiling * _SHARE_OF_COMPILING if needs_compiling(kernel, with_codes=with_codes) else _LOADING


@contextmanager
def always_by(who: Literal["numpy", "kernels"] | None) -> Iterator[None]:
    """Take the choice away, for tests; None gives it back. It holds for all threads of this process."""
    global _always
    before, _always = _always, who
    try:
        yield
    finally:
        _always = before
