"""Short forms for recipes in tests."""

from __future__ import annotations

from typing import Any


def numeric(**more: Any) -> dict[str, Any]:
    """Declare a numeric quasi-identifier."""
    return {"role": "quasi_identifier", "kind": "numeric", **more}


def nominal(**more: Any) -> dict[str, Any]:
    """Declare a nominal quasi-identifier."""
    return {"role": "quasi_identifier", "kind": "nominal", **more}


def ordinal(**more: Any) -> dict[str, Any]:
    """Declare an ordinal quasi-identifier."""
    return {"role": "quasi_identifier", "kind": "ordinal", **more}
