"""All errors found, paper by paper."""

from __future__ import annotations

from microagg.studies.errata import moments, others
from microagg.studies.errata.erratum import Erratum

__all__ = ["ERRATA"]

ERRATA: tuple[Erratum, ...] = (*moments.ERRATA, *others.ERRATA)
