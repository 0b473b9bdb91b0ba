"""SPSS: ``.sav``, and ``.zsav``, which is the same compressed."""

from __future__ import annotations

import re
import sys
from collections import Counter
from collections.abc import Mapping, Sequence
from pathlib import Path
from typing import TYPE_CHECKING, Any, ClassVar

from microagg.errors import TableError
from microagg.tables.columns import listed
from microagg.tables.formats.display_formats import Meaning
from microagg.tables.formats.registry import register_format
from microagg.tables.formats.statistics import (
    Limits,
    Timestamp,
    WritableStatisticsFile,
    cut_to_bytes,
    integer_range,
    load_with,
)
from microagg.tables.labels import Labels, labels_of

if TYPE_CHECKING:
    import pyarrow as pa

__all__ = ["Spss"]

_RESERVED = frozenset({"all", "and", "by", "eq", "ge", "gt", "le", "lt", "ne", "not", "or", "to", "with"})


@register_format
class Spss(WritableStatisticsFile):
    name = "sav"
    title = "SPSS"
    other_extensions = (".zsav",)
    keeps_blanks_at_end = False
    package = "sav"
    limits = Limits(
        name=re.compile(r"[^\W\d_][\w.$#@]*(?<!\.)"),
        n_bytes_of_name=64,
        reserved=_RESERVED,
        rule_for_names="at most 64 bytes; a letter first, then letters, digits and . _ $ # @; "
        "no full stop at the end; no reserved word such as AND",
        n_bytes_of_text=32_767,
        largest_double=sys.float_info.max,
    )
    timestamp = Timestamp(
        re.compile(rb"\A\$FL[23].{88}(\d\d \w{3} \d\d\d\d:\d\d:\d\d)", re.DOTALL), b"01 Jan 7000:00:00"
    )
    default_formats: ClassVar[Mapping[str, str]] = {"date": "DATE11", "datetime": "DATETIME23.2", "time": "TIME8"}

    def load(self, path: Path, **options: Any) -> tuple[dict[str, list[Any]], Any]:
        import pyreadstat

        return load_with(pyreadstat.read_sav, path, **options)

    def missing_ranges(self, path: Path) -> Mapping[str, Sequence[dict[str, Any]]]:
        # pyreadstat names them only to those who want such values delivered.
        _, about = self.load(path, metadataonly=True, user_missing=True)
        ranges: Mapping[str, Sequence[dict[str, Any]]] = about.missing_ranges
        return ranges

    def count_declared_missing(self, path: Path) -> dict[str, int]:
        ranges = self.missing_ranges(path)
        if not ranges:
            return {}
        columns, _ = self.load(path, usecols=list(ranges), user_missing=True)
        counts = {
            name: sum(value is not None and _is_within(value, ranges[name]) for value in values)
            for name, values in columns.items()
        }
        return {name: count for name, count in counts.items() if count}

    def check_column_names(self, names: Sequence[str]) -> None:
        super().check_column_names(names)
        in_lower_case = Counter(name.lower() for name in names)
        alike = [name for name in names if in_lower_case[name.lower()] > 1]
        if alike:
            raise TableError(f"SPSS ignores upper and lower case, so these columns collide: {listed(alike)}.")

    def cut_label(self, label: str) -> str:
        return cut_to_bytes(label, 256)

    def storable_value_labels(
        self, labels: Labels, meaning: Meaning, values: pa.ChunkedArray
    ) -> dict[float | str, str]:
        import pyarrow.compute as pc

        cut = [(value, cut_to_bytes(label, 120)) for value, label in labels.value_labels]
        if meaning == "text":
            # pyreadstat makes a column wide enough for the characters of labelled texts, not for their bytes.
            width = pc.max(pc.binary_length(values)).as_py() or 0
            texts = [(value, label) for value, label in cut if isinstance(value, str)]
            return {value: label for value, label in texts if value.isascii() or len(value.encode()) <= width}
        if meaning not in ("whole", "other"):
            return {}
        return {float(value): label for value, label in cut if not isinstance(value, str)}

    def format_of_integers(self, values: pa.ChunkedArray) -> str:
        return f"F{max(8, *(len(str(end)) for end in integer_range(values)))}.0"

    def store(self, frame: Any, path: Path, about: Mapping[str, Any], table: pa.Table) -> None:
        import pyreadstat

        measures = {field.name: labels_of(field).measure for field in table.schema}
        compress = path.suffix.lower() == ".zsav"
        pyreadstat.write_sav(frame, str(path.absolute()), variable_measure=measures, compress=compress, **about)


def _is_within(value: Any, ranges: Sequence[dict[str, Any]]) -> bool:
    of_text = isinstance(value, str)
    return any(isinstance(one["lo"], str) == of_text and one["lo"] <= value <= one["hi"] for one in ranges)
