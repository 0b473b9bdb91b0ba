"""Stata: ``.dta``."""

from __future__ import annotations

import re
from collections.abc import Mapping
from pathlib import Path
from typing import TYPE_CHECKING, Any, ClassVar

from microagg.errors import TableError
from microagg.tables.columns import listed
from microagg.tables.formats.display_formats import Meaning
from microagg.tables.formats.registry import register_format
from microagg.tables.formats.statistics import (
    Limits,
    StoredColumn,
    Timestamp,
    WritableStatisticsFile,
    count_tagged,
    load_with,
)
from microagg.tables.labels import Labels

if TYPE_CHECKING:
    import pyarrow as pa

__all__ = ["Stata"]

_RESERVED = frozenset(
    {
        *("_all", "_b", "_coef", "_cons", "_n", "_pi", "_pred", "_rc", "_skip", "byte", "double"),
        *("float", "if", "in", "int", "long", "strl", "using", "with"),
    }
)
_SMALLEST_LONG, _LARGEST_LONG = -2_147_483_647, 2_147_483_620


@register_format
class Stata(WritableStatisticsFile):
    name = "dta"
    title = "Stata"
    package = "dta"
    limits = Limits(
        name=re.compile(r"(?!str\d+$)[^\W\d]\w{0,31}"),
        n_bytes_of_name=128,
        reserved=_RESERVED,
        rule_for_names="at most 32 letters, digits and underscores; no digit first; no reserved word such as int",
        n_bytes_of_text=2_000_000_000,
        largest_double=2.0**1023,
    )
    timestamp = Timestamp(re.compile(rb"<timestamp>\x11(\d\d \w{3} \d{4} \d\d:\d\d)</timestamp>"), b"01 Jan 1970 00:00")
    default_formats: ClassVar[Mapping[str, str]] = {
        "date": "%td",
        "datetime": "%tc",
        "time": "%tcHH:MM:SS",
        "whole": "%20.0f",
    }

    def load(self, path: Path, **options: Any) -> tuple[dict[str, list[Any]], Any]:
        import pyreadstat

        return load_with(pyreadstat.read_dta, path, **options)

    def check_end(self, path: Path) -> None:
        with path.open("rb") as stream:
            start = stream.read(11)
            stream.seek(max(path.stat().st_size - 12, 0))
            end = stream.read()
        if start == b"<stata_dta>" and end != b"</stata_dta>":
            raise self.cut_short_error(path)

    def count_declared_missing(self, path: Path) -> dict[str, int]:
        return count_tagged(self, path)

    def cut_label(self, label: str) -> str:
        return label[:80]

    def storable_value_labels(
        self, labels: Labels, meaning: Meaning, values: pa.ChunkedArray
    ) -> dict[float | str, str]:
        if meaning not in ("whole", "other"):
            return {}
        numeric = [(value, label) for value, label in labels.value_labels if not isinstance(value, str)]
        whole = {int(value): label for value, label in numeric if float(value).is_integer()}
        return {value: label for value, label in whole.items() if _SMALLEST_LONG <= value <= _LARGEST_LONG}

    def check_stored(self, stored: Mapping[str, StoredColumn]) -> None:
        """Refuse names that leave no room for the number which pyreadstat appends to name a set of labels."""
        labelled = [name for name, column in stored.items() if column.value_labels]
        room = 32 - len(str(len(labelled)))
        too_long = [name for name in labelled if len(name) > room]
        if too_long:
            raise TableError(
                f"In this Stata file the name of a column with value labels has at most {room} characters, and "
                f"truth values get labels: {listed(too_long)}."
            )

    def integer_type(self, low: int, high: int) -> pa.DataType:
        import pyarrow as pa

        return pa.int32() if low >= _SMALLEST_LONG and high <= _LARGEST_LONG else pa.float64()

    def store(self, frame: Any, path: Path, about: Mapping[str, Any], table: pa.Table) -> None:
        import pyreadstat

        # Every Stata since 14 opens this version; pyreadstat's default is for more than 32,767 columns.
        pyreadstat.write_dta(frame, str(path.absolute()), version=14, **about)
