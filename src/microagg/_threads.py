"""Threads: how many a computation may start; models of small tables are fitted on one, which is faster."""

from __future__ import annotations

import os
from collections.abc import Iterator
from contextlib import contextmanager

__all__ = ["THREADS", "cores", "threads_for"]

THREADS = "MICROAGG_THREADS"
"""The environment variable that says how many threads one computation may start."""

_WORTH_MORE_THREADS = 50_000


def cores() -> int:
    """How many threads to start: one per core, or as many as ``MICROAGG_THREADS`` says (in a worker of a sweep 1)."""
    wanted = os.environ.get(THREADS, "")
    if wanted.isdigit() and int(wanted) > 0:
        return int(wanted)
    from joblib import cpu_count

    return int(cpu_count())  # of the cores that affinity and the limits of a container leave to this process


@contextmanager
def threads_for(n_records: int) -> Iterator[None]:
    """Hold scikit-learn's models to one thread while a table is too small to gain from more."""
    if n_records >= _WORTH_MORE_THREADS:
        yield
        return
    from threadpoolctl import threadpool_limits

    with threadpool_limits(1):
        yield
