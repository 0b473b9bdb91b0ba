"""SAS, which is only read: ``.sas7bdat`` and the transport file ``.xpt``."""

from __future__ import annotations

from pathlib import Path
from typing import Any

from microagg.tables.formats.registry import register_format
from microagg.tables.formats.statistics import StatisticsFile, count_tagged, load_with

__all__ = ["Sas", "SasTransport"]


@register_format
class Sas(StatisticsFile):
    name = "sas7bdat"
    title = "SAS"
    package = "sas"

    def load(self, path: Path, **options: Any) -> tuple[dict[str, list[Any]], Any]:
        import pyreadstat

        return load_with(pyreadstat.read_sas7bdat, path, **options)

    def count_declared_missing(self, path: Path) -> dict[str, int]:
        return count_tagged(self, path)


@register_format
class SasTransport(StatisticsFile):
    """A file that does not say how many records it has, nor which values are declared as missing."""

    name = "xpt"
    title = "SAS transport"
    package = "sas"

    def load(self, path: Path, **options: Any) -> tuple[dict[str, list[Any]], Any]:
        import pyreadstat

        return load_with(pyreadstat.read_xport, path, **options)

    def check_end(self, path: Path) -> None:
        if path.stat().st_size % 80 != 0:
            raise self.cut_short_error(path)
