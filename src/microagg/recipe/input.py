"""The ``[input]`` table of a recipe: how the file that holds the table writes it."""

from __future__ import annotations

import datetime as dt
import math
from collections.abc import Mapping
from typing import Annotated, Any, Self

from pydantic import BaseModel, ConfigDict, Field, field_validator, model_validator

from microagg.tables.text.dialect import (
    DEFAULT_MISSING,
    NEGATIVES,
    THOUSANDS,
    Dialect,
    check_date_format,
    check_encoding,
)

__all__ = ["InputChoice"]

_NO_SEPARATOR = '"\r\n\0'


class InputChoice(BaseModel):
    """``[input]``: how the file is read; what is left out is as in a plain UTF-8 CSV.

    Parameters
    ----------
    separator : str, optional
        The one character between fields; default: that of the file's extension.
    decimal : {".", ","}, default "."
        What stands before the decimals of a number, as in 1.5 or 1,5.
    thousands : str, optional
        What stands between groups of three digits: a comma, a point, a blank, an apostrophe.
    negatives : {"sign", "parentheses", "trailing"}, default "sign"
        How numbers below zero are written beside -5: as (5), or as 5-.
    units : list of str
        Marks beside numbers, as in 20% or EUR 5; they are left out, and 20% is 20.
    encoding : str, optional
        How letters are coded in the file, as in "latin-1" or "cp1252"; default: UTF-8.
    sheet : str or int, optional
        Name or number, from 1, of the sheet of a workbook.
    skip_rows : int, default 0
        How many lines of text, or rows of a sheet, stand above the header.
    header : bool, optional
        Whether the first line holds the names of the columns. If it is ``false``, the file starts with a record, and
        `columns` names the columns.
    columns : list of str, optional
        Names of the columns, of a file that has no header.
    date_format : str, or one per column, optional
        How dates are written, as in ``"%d/%m/%Y"``; one form for all columns, or one for each.
        Take care: 03/04/2020 is read both ways without an error if the form is wrong.
    missing_values : list of str
        Fields without quotes of a text file that stand for missing, in every column.
        Take care: a word that is a real category, like NA for Namibia, is then missing, too.
    missing : dict of column to list
        Values that stand for missing in single columns, such as -999, of files and dataframes alike.
        Take care: a code that is not named here is a number like others, and distorts every mean.
    """

    model_config = ConfigDict(extra="forbid", frozen=True)

    separator: str | None = None
    decimal: str = "."
    thousands: str | None = None
    negatives: str = NEGATIVES[0]
    units: tuple[str, ...] = ()
    encoding: str | None = None
    sheet: str | Annotated[int, Field(ge=1, strict=True)] | None = None
    skip_rows: Annotated[int, Field(ge=0, strict=True)] = 0
    header: Annotated[bool, Field(strict=True)] | None = None
    columns: tuple[str, ...] | None = None
    date_format: str | dict[str, str] | None = None
    missing_values: tuple[str, ...] = DEFAULT_MISSING
    missing: dict[str, tuple[Any, ...]] = Field(default_factory=dict)

    @field_validator("separator")
    @classmethod
    def _one_character(cls, value: str | None) -> str | None:
        if value is not None and (len(value) != 1 or value in _NO_SEPARATOR or not value.isascii()):
            raise ValueError('must be one character, like ",", ";", "|" or "\\t" for a tab')
        return value

    @field_validator("decimal")
    @classmethod
    def _point_or_comma(cls, value: str) -> str:
        if value not in (".", ","):
            raise ValueError(f'must be "." or ",". Got {value!r} instead')
        return value

    @field_validator("thousands")
    @classmethod
    def _between_digits(cls, value: str | None) -> str | None:
        if value in ("", "none"):
            return None
        if value is not None and value not in THOUSANDS:
            raise ValueError(f'must be one of ",", ".", " ", "\'", a no-break space or "none". Got {value!r} instead')
        return value

    @field_validator("negatives")
    @classmethod
    def _known_form(cls, value: str) -> str:
        if value not in NEGATIVES:
            raise ValueError(f"must be one of {', '.join(map(repr, NEGATIVES))}. Got {value!r} instead")
        return value

    @field_validator("units", "missing_values", mode="before")
    @classmethod
    def _one_or_several(cls, value: Any) -> Any:
        return (value,) if isinstance(value, str) else value

    @field_validator("units")
    @classmethod
    def _not_a_part_of_numbers(cls, value: tuple[str, ...]) -> tuple[str, ...]:
        bare = tuple(unit.strip() for unit in value)
        if any(not unit or set(unit) & set("0123456789+-.,()") for unit in bare):
            raise ValueError('must be marks beside numbers without digits, signs or points, like ["%"]')
        return bare

    @field_validator("encoding")
    @classmethod
    def _decodes(cls, value: str | None) -> str | None:
        if value is not None:
            check_encoding(value)
        return value

    @field_validator("columns")
    @classmethod
    def _names(cls, value: tuple[str, ...] | None) -> tuple[str, ...] | None:
        if value is not None and (not value or any(not name.strip() for name in value)):
            raise ValueError("must be a name for every column of the file")
        if value is not None and len(set(value)) < len(value):
            raise ValueError("must differ from each other")
        return value

    @field_validator("date_format")
    @classmethod
    def _reads_dates(cls, value: str | dict[str, str] | None) -> str | dict[str, str] | None:
        for pattern in value.values() if isinstance(value, dict) else [value] if value is not None else []:
            check_date_format(pattern)
        return value

    @field_validator("missing", mode="before")
    @classmethod
    def _single_codes(cls, value: Any) -> Any:
        if not isinstance(value, Mapping):
            return value
        codes = {name: tuple(one) if isinstance(one, list | tuple) else (one,) for name, one in value.items()}
        for name, listed in codes.items():
            for code in listed:
                fits = isinstance(code, str | bool | dt.date) or (
                    isinstance(code, int | float) and abs(code) < 1e300 and math.isfinite(code)
                )
                if not fits:
                    raise ValueError(f'{name}: codes for missing are numbers or texts, like [-999, "unknown"]')
        return codes

    @model_validator(mode="after")
    def _fits(self) -> Self:
        if self.thousands == self.decimal:
            raise ValueError(f"decimal and thousands are both {self.decimal!r}; numbers could not be told apart")
        if self.header is False and self.columns is None:
            raise ValueError('header = false needs the names of the columns: columns = ["...", ...]')
        if self.header is not False and self.columns is not None:
            raise ValueError("columns names the columns of a file without a header: add header = false")
        return self

    @property
    def columns_named(self) -> dict[str, tuple[str, ...]]:
        """Keys that name columns, with the names: each must be declared."""
        named = {"missing": tuple(self.missing), "columns": self.columns or ()}
        return named | {"date_format": tuple(self.date_format) if isinstance(self.date_format, dict) else ()}

    @property
    def dialect(self) -> Dialect:
        """The same, as the readers of files take it."""
        per_column = isinstance(self.date_format, dict)
        return Dialect(
            separator=self.separator,
            decimal=self.decimal,
            thousands=self.thousands,
            negatives=self.negatives,
            units=self.units,
            encoding=self.encoding,
            sheet=self.sheet,
            skip_rows=self.skip_rows,
            header=self.header,
            columns=self.columns,
            date_format=self.date_format if isinstance(self.date_format, str) else None,
            date_formats=dict(self.date_format) if per_column else {},  # type: ignore[arg-type]
            missing_values=self.missing_values,
            missing=self.missing,
        )

    @property
    def layout(self) -> Dialect:
        """Only where fields are and in which code, not how their text is read."""
        return Dialect(
            separator=self.separator,
            encoding=self.encoding,
            sheet=self.sheet,
            skip_rows=self.skip_rows,
            header=self.header,
            columns=self.columns,
        )
