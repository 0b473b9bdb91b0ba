"""Threads of fitted models: small tables are fitted on one, which is faster and does not starve other work."""

from __future__ import annotations

from collections.abc import Iterator
from contextlib import contextmanager

__all__ = ["threads_for"]

_WORTH_MORE_THREADS = 50_000


@contextmanager
def threads_for(n_records: int) -> Iterator[None]:
    """Hold scikit-learn's models to one thread while a table is too small to gain from more."""
    if n_records >= _WORTH_MORE_THREADS:
        yield
        return
    from threadpoolctl import threadpool_limits

    with threadpool_limits(1):
        yield
