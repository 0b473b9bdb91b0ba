"""Values of a column as people read them."""

from __future__ import annotations

from typing import TYPE_CHECKING, Any

if TYPE_CHECKING:
    import pyarrow as pa

__all__ = ["shown_values"]


def shown_values(column: pa.Array | pa.ChunkedArray) -> list[Any]:
    """Return the values as Python has them; all as text if it cannot hold one, as nanoseconds without pandas."""
    import pyarrow as pa

    try:
        return list(column.to_pylist())
    except (ValueError, OverflowError):
        return list(column.cast(pa.string()).to_pylist())
