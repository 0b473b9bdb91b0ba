"""Results of an evaluation: measures with range, direction and formula, for all records and, internally, for each."""

from __future__ import annotations

import json
from collections.abc import Iterator, Mapping
from dataclasses import asdict, dataclass, field, fields
from enum import StrEnum
from typing import Any, Literal

from microagg._notebook.html import html_of_prose, html_of_rows, html_of_sections
from microagg._notebook.picture import Picture
from microagg._typing import FloatArray

__all__ = ["NOTICE", "About", "Better", "Evaluation", "Measure", "PerRecord", "RowKind", "Sampled", "Values"]

About = Literal["utility", "risk"]
Better = Literal["lower", "higher"]

NOTICE = "internal: these values are about single records and must not be published"


class RowKind(StrEnum):
    """What a row of a released table is."""

    RECORDS = "records"
    MEANS = "means"
    RANKS = "ranks"
    DRAWN = "drawn"

    @property
    def limitation(self) -> str:
        """Why measures that need more have no value; empty for records."""
        return {
            RowKind.RECORDS: "",
            RowKind.DRAWN: "rows of this release were drawn from a model, and none is a record",
            RowKind.MEANS: "rows of this release are repeated means, not records",
            RowKind.RANKS: "rows of this release are ranks, not records: values in a row do not belong together",
        }[self]


@dataclass(frozen=True)
class Measure:
    """One thing that was measured.

    Attributes
    ----------
    name : str
    value : float or None
        None if these tables do not give it; `note` then says why.
    low, high : float or None
        The range of possible values; None where there is no limit.
    better : {"lower", "higher"}
        Which direction is better for whoever the measure speaks for: users of the data (utility) or the people in it
        (risk, diversity).
    formula : str
        How it is computed, in words.
    seconds : float
        What it took. Work that several measures share counts for the first of them.
    spread : float or None
        Standard deviation over repetitions, where there are any.
    note : str
    about : {"utility", "risk"}
    baseline : float or None
        What chance alone would reach, where that is known: a risk at its baseline is not caused by this release.
    details : mapping of str to float or None
        The same per attribute (or per window, per model, ...) where `value` sums up.
    words : str
        What it means, in plain words; empty of measures that others registered without them.
    """

    name: str
    value: float | None
    low: float | None
    high: float | None
    better: Better
    formula: str
    seconds: float = 0.0
    spread: float | None = None
    note: str = ""
    about: About = "utility"
    baseline: float | None = None
    details: Mapping[str, float | None] = field(default_factory=dict)
    words: str = ""

    def as_dict(self) -> dict[str, Any]:
        """All but the words, which `microagg explain` has."""
        return {one.name: getattr(self, one.name) for one in fields(self) if one.name != "words"} | {
            "details": dict(self.details)
        }


@dataclass(frozen=True)
class Values:
    """A number for each record of one of the tables, in its order.

    Attributes
    ----------
    of : {"released", "original"}
    values : ndarray of shape (n_records,)
    """

    of: Literal["released", "original"]
    values: FloatArray = field(repr=False)


@dataclass(frozen=True)
class PerRecord:
    """Measures record by record. It must not be published: it shows whose record is at risk.

    No other form of an evaluation holds these values: they are in no table, text or JSON but :meth:`as_frame`.

    Examples
    --------
    >>> import numpy as np
    >>> internal = PerRecord({"linked": Values("released", np.array([1.0, 0.0]))})
    >>> internal
    PerRecord(names=('linked',), internal: these values are about single records and must not be published)
    >>> internal.as_frame("released").column_names
    ['record', 'linked']
    """

    values: Mapping[str, Values]
    notice: str = NOTICE

    @property
    def names(self) -> tuple[str, ...]:
        return tuple(self.values)

    def __getitem__(self, name: str) -> FloatArray:
        return self.values[name].values

    def __repr__(self) -> str:
        return f"PerRecord(names={self.names!r}, {self.notice})"

    def as_frame(
        self,
        of: Literal["released", "original"] = "released",
        kind: Literal["pyarrow", "pandas", "polars"] = "pyarrow",
    ) -> Any:
        """One row per record of a table, known by its place in it (0, 1, ...), one column per measure."""
        from microagg.tables.frames import table_from_rows

        columns = {name: one.values for name, one in self.values.items() if one.of == of}
        n_records = max((len(values) for values in columns.values()), default=0)
        rows = [{"record": i, **{name: float(values[i]) for name, values in columns.items()}} for i in range(n_records)]
        return table_from_rows(rows, kind)


@dataclass(frozen=True)
class Sampled:
    """On how many records of a table that does not fit in memory measures were estimated.

    Attributes
    ----------
    released, of_released : int
        Records of the release that were looked at, of how many.
    classes, of_classes : int
        Classes of equal quasi-identifiers that these are, of how many.
    in_part : int
        Classes of which only a part of the records was looked at, as they are large.
    original, of_original : int
    noise : float
        How far shares and correlations of two such samples of one table would be apart by chance, roughly.
    estimated : tuple of str
        Measures that were estimated on these records; all others are of all records.
    remarks : tuple of str
        How far figures may be off, and in which direction, where that is known; also in the measures' notes.
    """

    released: int
    of_released: int
    classes: int
    of_classes: int
    in_part: int
    original: int
    of_original: int
    noise: float
    estimated: tuple[str, ...] = ()
    remarks: tuple[str, ...] = ()

    def as_dict(self) -> dict[str, Any]:
        return asdict(self) | {"estimated": list(self.estimated), "remarks": list(self.remarks)}

    def as_text(self) -> str:
        """Sentences that say what was estimated, on how many records, and how sure that is."""
        if not self.estimated:
            return f"All figures are of all {self.of_released:,} released and {self.of_original:,} original records."
        kept = "whole classes" if not self.in_part else f"whole classes but for {self.in_part:,} large ones"
        return (
            f"Estimated on {self.released:,} of {self.of_released:,} released records ({kept}: {self.classes:,} of "
            f"{self.of_classes:,}) and {self.original:,} of {self.of_original:,} original ones: "
            f"{', '.join(self.estimated)}. The other figures are of all records."
        )


@dataclass(frozen=True)
class Evaluation:
    """What was measured of a release, in order.

    Attributes
    ----------
    measures : tuple of Measure
    per_record : PerRecord or None
        Values for single records, if they were asked for. Internal: no other form of an evaluation has them.
    sampled : Sampled or None
        What was looked at of a table that does not fit in memory; None if all records were.

    Examples
    --------
    >>> evaluation = Evaluation((Measure("D_X", 0.1, 0.0, None, "lower", "mean squared distance"),))
    >>> evaluation["D_X"].value
    0.1
    >>> print(evaluation)
    utility  value  by chance  range   better
    D_X        0.1          -  0 .. -  lower
    """

    measures: tuple[Measure, ...]
    per_record: PerRecord | None = field(default=None, repr=False, compare=False)
    sampled: Sampled | None = None

    def __getitem__(self, name: str) -> Measure:
        for measure in self.measures:
            if measure.name == name:
                return measure
        raise KeyError(f"no measure {name!r}; there are: {', '.join(measure.name for measure in self.measures)}")

    def __iter__(self) -> Iterator[Measure]:
        return iter(self.measures)

    def __contains__(self, name: object) -> bool:
        return any(measure.name == name for measure in self.measures)

    def __str__(self) -> str:
        return self.as_text()

    def __repr__(self) -> str:
        return f"<Evaluation: {len(self._had('utility'))} measures of utility, {len(self._had('risk'))} of risk>"

    def _had(self, about: str) -> list[Measure]:
        return [one for one in self.measures if one.about == about and one.value is not None]

    def _repr_html_(self) -> str:
        from microagg.evaluation.text import measure_row

        header = ("value", "by chance", "range", "better")
        tables = [
            html_of_rows((about, *header), [measure_row(one) for one in had])
            for about in ("utility", "risk")
            if (had := self._had(about))
        ]
        sampled = [] if self.sampled is None else [html_of_prose(self.sampled.as_text())]
        return html_of_sections("Evaluation", *tables, *sampled)

    def plot(self) -> Picture:
        """Draw each measure that has a range between the worst and the best it can be; needs the extra ``plot``."""
        from microagg._notebook.measures import PlacedMeasure, draw_measures

        placed = [
            PlacedMeasure(one.name, about, one.value, one.low, one.high, one.baseline, one.better)
            for about in ("utility", "risk")
            for one in self._had(about)
            if one.value is not None and one.low is not None and one.high is not None
        ]
        return draw_measures(placed)

    def as_dict(self) -> dict[str, Any]:
        """The measures by name, as plain dicts; with ``sampled`` before them if not all records were looked at."""
        found = {one.name: {k: v for k, v in one.as_dict().items() if k != "name"} for one in self.measures}
        return found if self.sampled is None else {"sampled": self.sampled.as_dict(), **found}

    def as_json(self) -> str:
        return json.dumps(self.as_dict(), indent=2, ensure_ascii=False, allow_nan=False) + "\n"

    def as_frame(self, kind: Literal["pyarrow", "pandas", "polars"] = "pyarrow", *, details: bool = False) -> Any:
        """The measures as a table, one row each; or their details, one row per measure and attribute."""
        from microagg.tables.frames import table_from_rows

        if details:
            rows = [
                {"name": measure.name, "of": of, "value": value}
                for measure in self.measures
                for of, value in measure.details.items()
            ]
        else:
            rows = [{k: v for k, v in one.as_dict().items() if k != "details"} for one in self.measures]
        return table_from_rows(rows, kind)

    def as_text(self, *, details: bool = False) -> str:
        """The measures as lines of text, first of utility, then of risk; without those that could not be had."""
        from microagg.evaluation.text import evaluation_text

        return evaluation_text(self, details=details)
