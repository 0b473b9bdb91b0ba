"""The statement: the guarantees of a release with their assumptions, for people and for programs."""

from __future__ import annotations

import json
import textwrap
from collections.abc import Mapping, Sequence
from dataclasses import dataclass, field
from typing import Any

from microagg._notebook.html import html_of_prose, html_of_sections
from microagg.privacy.guarantee import Guarantee
from microagg.privacy.unit_clauses import RECORDS_OF_UNITS, WHOLE_UNIT, records_of_at_least
from microagg.privacy.verify import Recount
from microagg.statements.exposure_text import TITLE, describe_exposure
from microagg.statements.requirements import RequirementCount
from microagg.statements.total import SpentSoFar
from microagg.tables.phrases import names_phrase

__all__ = ["Statement", "nothing_to_count", "printable"]

_SHOWN = 12  # blocks of attributes, or expenses, that the text lists one by one; the JSON has them all

SEEDED = "Made with a fixed seed: for research, not for publication."


_NOTHING_TO_COUNT = (
    "Nothing can be counted on the released table. When it was made, it was checked that every cell has {of_k}."
)
MADE_NOT_COUNTED = (
    "None of this can be counted on the released table: it is about how the table was made. It was checked that the "
    "table holds only values of the public domain."
)
NO_GUARANTEE = "No guarantee is stated: see the remarks."


@dataclass(frozen=True)
class Statement:
    """What a release promises and how that was checked.

    Attributes
    ----------
    guarantees : tuple of Guarantee
        Empty if the method proves nothing about records.
    recounts : tuple of Recount
        For each guarantee that can be counted, what was counted on the released table.
    n_records : int
    remarks : tuple of str
        What was done to records on the way that a reader must know.
    seeded : bool
        True if chance was replaced by a fixed seed.
    budget : dict or None
        For a differentially private release: epsilon, what was spent, and what each mechanism spent.
    requirements : tuple of RequirementCount
        What was counted on the released table of what its confidential values must be like.
    exposure : tuple of dict or None
        For a k-anonymous release: what k does not hide, in numbers, rounded. See :mod:`microagg.statements.exposure`.
    total : SpentSoFar or None
        For a differentially private release, if asked for: what releases of the same table spent so far.
    about : mapping of str
        What the recipe's ``[about]`` says of the release, and its date; empty if it says nothing.
    """

    guarantees: tuple[Guarantee, ...]
    recounts: tuple[Recount, ...]
    n_records: int
    remarks: tuple[str, ...] = ()
    seeded: bool = False
    budget: Mapping[str, Any] | None = None
    exposure: tuple[Mapping[str, Any], ...] | None = None
    requirements: tuple[RequirementCount, ...] = ()
    total: SpentSoFar | None = None
    about: Mapping[str, str] = field(default_factory=dict)

    @property
    def for_publication(self) -> bool:
        """True if something is promised, it was found to hold, and chance was real."""
        counted = [*(one.holds for one in self.recounts), *(one.holds for one in self.requirements)]
        return bool(self.guarantees) and all(counted) and not self.seeded

    def as_dict(self) -> dict[str, Any]:
        """The statement as plain dicts and lists."""
        return {
            **({"about": dict(self.about)} if self.about else {}),
            "for_publication": self.for_publication,
            "n_records": self.n_records,
            "guarantees": [guarantee.as_dict() for guarantee in self.guarantees],
            "recounts": [count.as_dict() for count in self.recounts],
            **({"requirements": [count.as_dict() for count in self.requirements]} if self.requirements else {}),
            **({} if self.exposure is None else {"exposure": [dict(one) for one in self.exposure]}),
            **({} if self.budget is None else {"budget": dict(self.budget)}),
            **({} if self.total is None else {"total": self.total.as_dict()}),
            "remarks": self._all_remarks(),
        }

    @classmethod
    def from_dict(cls, content: Mapping[str, Any]) -> Statement:
        """The statement that :meth:`as_dict` wrote; what it derives is derived again.

        Raises
        ------
        KeyError, TypeError, ValueError
            If this is not a statement.
        """
        remarks = [str(remark) for remark in content["remarks"]]
        seeded = remarks[-1:] == [SEEDED]
        counts = [{key: value for key, value in count.items() if key != "holds"} for count in content["recounts"]]
        return cls(
            guarantees=tuple(Guarantee.from_dict(one) for one in content["guarantees"]),
            recounts=tuple(Recount(**count | {"attributes": tuple(count["attributes"])}) for count in counts),
            n_records=content["n_records"],
            remarks=tuple(remarks[:-1] if seeded else remarks),
            seeded=seeded,
            budget=content.get("budget"),
            requirements=tuple(RequirementCount.from_dict(one) for one in content.get("requirements", ())),
            exposure=None if "exposure" not in content else tuple(dict(one) for one in content["exposure"]),
            about={str(key): str(value) for key, value in content.get("about", {}).items()},
            total=None if "total" not in content else SpentSoFar.from_dict(content["total"]),
        )

    def as_json(self) -> str:
        return json.dumps(self.as_dict(), indent=2, ensure_ascii=False) + "\n"

    def __repr__(self) -> str:
        return f"<Statement: {self._promised()}; {'' if self.for_publication else 'not '}for publication>"

    def _repr_html_(self) -> str:
        return html_of_sections(f"Statement: {self._promised()}", html_of_prose(str(self)))

    def _promised(self) -> str:
        titles = list(dict.fromkeys(guarantee.title for guarantee in self.guarantees))
        return printable(f"{', '.join(titles) or 'nothing is promised'}, {self.n_records:,} records")

    def __str__(self) -> str:
        lines = [line for key, value in self.about.items() for line in _paragraph(f"{key.capitalize()}: {value}")]
        lines += [] if self.guarantees else [NO_GUARANTEE]
        counts = {count.attributes: count for count in self.recounts}
        of_values = [guarantee for guarantee in self.guarantees if guarantee.of_confidential_values]
        others = [guarantee for guarantee in self.guarantees if not guarantee.of_confidential_values]
        for guarantee in others[:_SHOWN]:
            lines += _paragraph(f"{guarantee.title} on {names_phrase(guarantee.attributes)}.")
            if not guarantee.counted:
                lines += _paragraph(MADE_NOT_COUNTED if guarantee.private else nothing_to_count(guarantee.unit))
                continue
            count = counts[guarantee.attributes]
            lines += _paragraph(
                f"Counted on the released table: {count.n_records} records, {count.n_combinations} combinations, the "
                f"rarest shared by {count.smallest} records."
            )
        if len(others) > _SHOWN:
            lines += _paragraph(
                f"The same holds on {len(others) - _SHOWN:,} more blocks of attributes; statement.json names them."
            )
        for guarantee, required in zip(of_values, self.requirements, strict=True):
            lines += _paragraph(f"{guarantee.title} of {guarantee.confidential!r} in every class of equal ones.")
            lines += _paragraph(f"Counted on the released table: {required.description}.")
        # Guarantees on several blocks differ in their attributes only; those of one sort on values, in the attribute.
        sorts: dict[tuple[str, str], list[Guarantee]] = {}
        for guarantee in of_values:
            sorts.setdefault((guarantee.model, guarantee.against), []).append(guarantee)
        told: set[str] = set()
        for guarantee in [*others[:1], *(some[0] for some in sorts.values())]:
            if guarantee.of_confidential_values:
                alike = sorts[guarantee.model, guarantee.against]
                names = names_phrase(tuple(dict.fromkeys(str(one.confidential) for one in alike)))
                lines += _paragraph(f"{guarantee.model[:1].upper()}{guarantee.model[1:]} of {names}:")
            if self.budget is not None or guarantee.counts_units or guarantee.unit == RECORDS_OF_UNITS:
                lines += _paragraph(f"Unit: {guarantee.unit}.")
            if self.budget is not None:
                lines += self._spending(" for each record of a unit" if guarantee.counts_units else "")
            lines += _paragraph(f"Protects {guarantee.target}.")
            lines += _paragraph(f"Against {guarantee.against}.")
            for title, clauses in (("Assumes", guarantee.assumptions), ("Does not promise", guarantee.not_promised)):
                added = [clause for clause in clauses if clause not in told]
                lines += [f"{title}{' also' if told.intersection(clauses) else ''}:", *_bullets(added)] if added else []
                told.update(added)
        exposed = describe_exposure(self.exposure or ())
        if exposed:
            lines += [TITLE, *_bullets(exposed)]
        remarks = self._all_remarks()
        if remarks:
            lines += ["Remarks:", *_bullets(remarks)]
        return "\n".join(printable(line) for line in lines) + "\n"

    def _spending(self, whose: str) -> list[str]:
        assert self.budget is not None
        lines = [
            f"epsilon {one['epsilon']:.6g} by {one['mechanism']} on {one['on']}"
            + (f", scale {one['scale']:.6g}" if one.get("scale") is not None else "")
            + f", {one['draws']} {'draw' if one['draws'] == 1 else 'draws'}"
            for one in self.budget["expenses"]
        ]
        if len(lines) > _SHOWN:
            lines[_SHOWN:] = [f"and by {len(lines) - _SHOWN:,} more, which statement.json lists"]
        spent = f"Budget{whose}: spent {self.budget['spent']:.6g} of epsilon = {self.budget['epsilon']:g}:"
        total = [] if self.total is None else ["Releases of the same table so far:", *_bullets(self.total.sentences)]
        return [spent, *_bullets(lines), *total]

    def _all_remarks(self) -> list[str]:
        return [*self.remarks, SEEDED] if self.seeded else list(self.remarks)


def nothing_to_count(unit: str) -> str:
    """That a promise about cells cannot be counted on the table; `unit` is what the promise counts."""
    return _NOTHING_TO_COUNT.format(of_k=records_of_at_least("k", units=WHOLE_UNIT in unit))


def printable(line: str) -> str:
    """Control characters (of a column's name) as escapes: a statement is shown on terminals."""
    return "".join(char if char.isprintable() else repr(char)[1:-1] for char in line)


def _paragraph(text: str) -> list[str]:
    return textwrap.wrap(text, 100)


def _bullets(items: Sequence[str]) -> list[str]:
    wrapped = (textwrap.wrap(item, 100, initial_indent="  - ", subsequent_indent="    ") for item in items)
    return [line for item in wrapped for line in item]
