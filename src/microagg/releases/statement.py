"""The statement: the guarantees of a release with their assumptions, for people and for programs."""

from __future__ import annotations

import json
import textwrap
from dataclasses import dataclass
from typing import Any

from microagg.privacy.guarantee import Guarantee
from microagg.releases.verify import Recount

__all__ = ["Statement"]

SEEDED = "Made with a fixed seed: for research, not for publication."


@dataclass(frozen=True)
class Statement:
    """What a release promises and how that was checked.

    Attributes
    ----------
    guarantees : tuple of Guarantee
    recount : Recount
        The guarantee as counted on the released table.
    remarks : tuple of str
        What was done to records on the way that a reader must know.
    seeded : bool
        True if chance was replaced by a fixed seed.
    """

    guarantees: tuple[Guarantee, ...]
    recount: Recount
    remarks: tuple[str, ...] = ()
    seeded: bool = False

    @property
    def for_publication(self) -> bool:
        return self.recount.holds and not self.seeded

    def as_dict(self) -> dict[str, Any]:
        """The statement as plain dicts and lists."""
        remarks = [*self.remarks, SEEDED] if self.seeded else list(self.remarks)
        return {
            "for_publication": self.for_publication,
            "guarantees": [guarantee.as_dict() for guarantee in self.guarantees],
            "recount": self.recount.as_dict(),
            "remarks": remarks,
        }

    def as_json(self) -> str:
        return json.dumps(self.as_dict(), indent=2, ensure_ascii=False) + "\n"

    def __str__(self) -> str:
        lines = []
        for guarantee in self.guarantees:
            lines += _paragraph(f"{guarantee.title} on {', '.join(guarantee.attributes)}.")
            lines += _paragraph(f"Protects {guarantee.target}.")
            lines += _paragraph(f"Against {guarantee.against}.")
            lines += ["Assumes:", *_bullets(guarantee.assumptions)]
            lines += ["Does not promise:", *_bullets(guarantee.not_promised)]
        count = self.recount
        lines += _paragraph(
            f"Counted on the released table: {count.n_records} records, {count.n_combinations} combinations of "
            f"quasi-identifiers, the rarest shared by {count.smallest} records."
        )
        if self.remarks:
            lines += ["Remarks:", *_bullets(self.remarks)]
        if self.seeded:
            lines += [SEEDED]
        return "\n".join(lines) + "\n"


def _paragraph(text: str) -> list[str]:
    return textwrap.wrap(text, 100)


def _bullets(items: tuple[str, ...]) -> list[str]:
    wrapped = (textwrap.wrap(item, 100, initial_indent="  - ", subsequent_indent="    ") for item in items)
    return [line for item in wrapped for line in item]
