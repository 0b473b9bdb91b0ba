"""What a column is: its role in disclosure, its kind of scale, and what is publicly known of its values."""

from __future__ import annotations

import datetime as dt
import math
from enum import StrEnum
from typing import Annotated, Any

from pydantic import BaseModel, ConfigDict, Field, field_validator, model_validator

from microagg.schema.taxonomy import Taxonomy

__all__ = ["FROM_DATA_FACTOR", "Attribute", "Kind", "Representative", "Role", "domain_from_data"]

FROM_DATA_FACTOR = 1.5  # of the largest value: the papers' domain


def domain_from_data(low: float, high: float) -> tuple[float, float]:
    """The domain of numbers whose bounds are read from the data: 0 (or 1.5 x minimum below it) to 1.5 x maximum.

    Examples
    --------
    >>> domain_from_data(2.0, 10.0), domain_from_data(-4.0, 10.0)
    ((0.0, 15.0), (-6.0, 15.0))
    """
    return FROM_DATA_FACTOR * min(0.0, low), FROM_DATA_FACTOR * max(0.0, high)


class Role(StrEnum):
    """What an attribute means for disclosure."""

    IDENTIFIER = "identifier"
    QUASI_IDENTIFIER = "quasi_identifier"
    CONFIDENTIAL = "confidential"
    NON_CONFIDENTIAL = "non_confidential"


class Kind(StrEnum):
    """The scale an attribute is measured on."""

    NUMERIC = "numeric"
    ORDINAL = "ordinal"
    NOMINAL = "nominal"


class Representative(StrEnum):
    """What a cell publishes in place of its records' values."""

    MEAN = "mean"
    MEDIAN = "median"
    MEDOID = "medoid"
    MODE = "mode"
    TAXONOMIC = "taxonomic"

    @classmethod
    def allowed_for(cls, kind: Kind) -> tuple[Representative, ...]:
        """Those that make sense on a scale."""
        if kind is Kind.NOMINAL:
            return (cls.MODE, cls.TAXONOMIC, cls.MEDOID)
        return (cls.MEAN, cls.MEDIAN, cls.MEDOID)


Bound = float | dt.datetime | dt.date
Positive = Annotated[float, Field(gt=0, allow_inf_nan=False)]


def _date_of(text: str) -> dt.date:
    return dt.date.fromisoformat(text) if len(text) == 10 else dt.datetime.fromisoformat(text)


def _is_everywhere(moment: dt.datetime) -> bool:
    """Whether a moment with a time zone is one in UTC as well, at the ends of time."""
    try:
        return moment.tzinfo is None or moment.astimezone(dt.UTC) is not None
    except OverflowError:
        return False


class Attribute(BaseModel):
    """The declaration of one column.

    Parameters
    ----------
    role : {"identifier", "quasi_identifier", "confidential", "non_confidential"}
        What the column means for disclosure. Identifiers are dropped, quasi-identifiers are microaggregated, the others
        are published as they are.
        Take care: what outsiders may know of a person must be a quasi-identifier. No tool can find that out for you.
    kind : {"numeric", "ordinal", "nominal"}, optional
        The scale of the values: numbers, ordered categories, or categories without order. Quasi-identifiers need it.
        Take care: codes such as postcodes are nominal, although they look like numbers.
    bounds : pair of numbers or dates, optional
        Publicly known smallest and largest value of a numeric attribute; a value outside is refused.
        Take care: bounds are published. They must come from general knowledge, not from the table.
    weight : float > 0, default 1
        How much the attribute counts in the squared distance between records. What counts more is changed less.
    resolution : float > 0, optional
        Published numbers are multiples of it, of dates in days, of times in seconds. By default it is 1 for integers
        and none for floats; differentially private methods have none, as integers may be integers by chance.
    categories : list, optional
        The allowed categories; for an ordinal attribute, in their order. A value that is not listed is refused.
    taxonomy : Taxonomy or ``{child: parent}``, optional
        Tree of a nominal attribute's categories, so that near relatives count as alike. In a recipe file it may be the
        name of a file beside it; from Python ``Taxonomy.load(path)``.
    representative : {"mean", "median", "medoid", "mode", "taxonomic"}, optional
        What a cell publishes for this attribute, where that differs from ``[aggregate]``.
    """

    model_config = ConfigDict(extra="forbid", frozen=True, arbitrary_types_allowed=True)

    role: Role
    kind: Kind | None = None
    bounds: tuple[Bound, Bound] | None = None
    weight: Positive = 1.0
    resolution: Positive | None = None
    categories: tuple[Any, ...] | None = None
    taxonomy: Taxonomy | None = None
    representative: Representative | None = None

    @field_validator("taxonomy", mode="before")
    @classmethod
    def _read_taxonomy(cls, value: Any) -> Any:
        if isinstance(value, str):  # a recipe's file is read by the recipe, which knows where it lies
            raise ValueError("a taxonomy is { child = parent, ... } here; to use a file, pass Taxonomy.load(path)")
        return Taxonomy.from_parents(value) if isinstance(value, dict) else value

    @field_validator("bounds", mode="before")
    @classmethod
    def _read_dates(cls, value: Any) -> Any:
        """Dates come as text from JSON; a date beside a time is that day's midnight."""
        if value is None:
            return None
        what = "bounds must be two numbers or two dates, like [0, 120] or [1900-01-01, 2030-12-31]"
        try:
            low, high = (_date_of(bound) if isinstance(bound, str) else bound for bound in value)
        except (TypeError, ValueError):
            raise ValueError(what) from None
        numbers = [isinstance(bound, int | float) and not isinstance(bound, bool) for bound in (low, high)]
        dates = [isinstance(bound, dt.date) for bound in (low, high)]
        if not (all(numbers) or all(dates)):
            raise ValueError(what)
        if all(dates) and isinstance(low, dt.datetime) is not isinstance(high, dt.datetime):
            low, high = (b if isinstance(b, dt.datetime) else dt.datetime(b.year, b.month, b.day) for b in (low, high))
        zones = [bound.tzinfo is None for bound in (low, high) if isinstance(bound, dt.datetime)]
        if len(set(zones)) > 1:
            raise ValueError("bounds must both have a time zone, or neither")
        return low, high

    @field_validator("bounds")
    @classmethod
    def _check_order(cls, value: tuple[Bound, Bound] | None) -> tuple[Bound, Bound] | None:
        if value is None:
            return None
        low, high = value
        if isinstance(low, float) and not (math.isfinite(low) and math.isfinite(float(high))):  # type: ignore[arg-type]
            raise ValueError("bounds must be finite")
        if any(isinstance(bound, dt.datetime) and not _is_everywhere(bound) for bound in value):
            raise ValueError("bounds with a time zone must lie within the years 1 to 9999 in UTC, too")
        if not low < high:  # type: ignore[operator]
            raise ValueError("the lower bound must be below the upper bound")
        return value

    @field_validator("categories", mode="before")
    @classmethod
    def _single_values(cls, value: Any) -> Any:
        allowed = str | int | float | bool | dt.date
        if value is not None and not (isinstance(value, list | tuple) and all(isinstance(v, allowed) for v in value)):
            raise ValueError("categories must be a list of texts, numbers or dates")
        return value

    @field_validator("categories")
    @classmethod
    def _distinct(cls, value: tuple[Any, ...] | None) -> tuple[Any, ...] | None:
        if value is not None and len(set(value)) < len(value):
            raise ValueError("categories must differ from each other")
        if value is not None and not value:
            raise ValueError("categories must not be empty")
        return value

    @model_validator(mode="after")
    def _fits_its_kind(self) -> Attribute:
        if self.role is Role.QUASI_IDENTIFIER and self.kind is None:
            kinds = ", ".join(repr(str(kind)) for kind in Kind)
            raise ValueError(f"a quasi_identifier needs a kind: one of {kinds}")
        meant_for = {
            "bounds": (Kind.NUMERIC,),
            "resolution": (Kind.NUMERIC,),
            "categories": (Kind.ORDINAL, Kind.NOMINAL),
            "taxonomy": (Kind.NOMINAL,),
        }
        for key, kinds_allowed in meant_for.items():
            if getattr(self, key) is not None and self.kind not in kinds_allowed:
                raise ValueError(f"{key} is for attributes of kind {' or '.join(kinds_allowed)}")
        if self.representative is not None and self.kind is not None:
            allowed = Representative.allowed_for(self.kind)
            if self.representative not in allowed:
                choices = ", ".join(repr(str(choice)) for choice in allowed)
                raise ValueError(f"representative of a {self.kind} attribute must be one of {choices}")
        if self.representative is Representative.TAXONOMIC and self.taxonomy is None:
            raise ValueError("representative = 'taxonomic' needs a taxonomy")
        if self.taxonomy is not None and self.categories is not None and self.taxonomy.absent(self.categories):
            absent = self.taxonomy.absent(self.categories)
            named = ", ".join(repr(label) for label in absent[:5]) + (" ..." if len(absent) > 5 else "")
            raise ValueError(f"{len(absent)} of the declared categories are not in the taxonomy: {named}")
        return self
