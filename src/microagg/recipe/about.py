"""``[about]``: what a release is called, whose it is, what it is for, whom to ask, and of which day it is."""

from __future__ import annotations

import datetime as dt
import re
from collections.abc import Callable
from typing import Annotated, Any

from pydantic import AfterValidator, BaseModel, BeforeValidator, ConfigDict, Field

__all__ = ["AboutChoice", "today"]

_LINE, _PARAGRAPH = 200, 1000


def _of_at_most(length: int) -> Callable[[str], str]:
    """A text as one line; refused if it is empty or too long for the top of a page."""

    def line(text: str) -> str:
        text = re.sub(r"\s+", " ", text).strip()
        if not text:
            raise ValueError("is empty: write something, or leave the key out")
        if len(text) > length:
            raise ValueError(f"has {len(text):,} characters, and {length:,} are shown at most: shorten it")
        return text

    return line


def _plain_date(value: Any) -> Any:
    """A day as TOML or JSON writes it; nothing else is one."""
    if isinstance(value, dt.date) and not isinstance(value, dt.datetime):
        return value
    if isinstance(value, str) and re.fullmatch(r"\d{4}-\d\d-\d\d", value):
        try:
            return dt.date.fromisoformat(value)
        except ValueError:
            raise ValueError("is no day of the calendar") from None
    raise ValueError("must be a day such as 2026-03-31")


_Line = Annotated[str, Field(strict=True), AfterValidator(_of_at_most(_LINE))]
_Paragraph = Annotated[str, Field(strict=True), AfterValidator(_of_at_most(_PARAGRAPH))]
_Date = Annotated[dt.date, BeforeValidator(_plain_date)]


class AboutChoice(BaseModel):
    """``[about]``: what a release is called, and who stands behind it.

    It is printed on top of the report and of the statement, and published with the release.

    Parameters
    ----------
    title : str, optional
        What the release is called. At most 200 characters.
    holder : str, optional
        The office or firm that publishes it. At most 200 characters.
    purpose : str, optional
        What the release may be used for. At most 1,000 characters.
    contact : str, optional
        Whom to ask about it. At most 200 characters.
    date : date, optional
        The day of the release, such as ``2026-03-31``. Without it the day on which the release is made, by UTC; it is
        kept in the manifest, so that a report written later has the same date.
        Take care: two releases of one seed, made on two days, differ in it unless it is declared.
    """

    model_config = ConfigDict(extra="forbid", frozen=True)

    title: _Line | None = None
    holder: _Line | None = None
    purpose: _Paragraph | None = None
    contact: _Line | None = None
    date: _Date | None = None

    def of_release(self, date: str) -> dict[str, str]:
        """What the statement of a release of that day says; nothing if the recipe says nothing."""
        said = {key: value for key, value in self.model_dump(mode="json").items() if value is not None}
        return {**said, "date": date} if said else {}

    @property
    def day(self) -> str:
        """The day of a release that is made now."""
        return today() if self.date is None else self.date.isoformat()


def today() -> str:
    """The day it is, by UTC: the same for everybody who is asked at the same moment."""
    return dt.datetime.now(dt.UTC).date().isoformat()
