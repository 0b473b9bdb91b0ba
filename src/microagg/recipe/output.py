"""``[output]``: the order of records, and what becomes of text that a spreadsheet would take for a formula."""

from __future__ import annotations

from enum import StrEnum
from typing import TYPE_CHECKING

from pydantic import BaseModel, ConfigDict

from microagg.errors import TableError
from microagg.tables.phrases import columns_phrase
from microagg.tables.text.formulas import STARTS, escape_formulas, formula_cells

if TYPE_CHECKING:
    import pyarrow as pa

    from microagg.tables.formats.base import FileFormat

__all__ = ["Formulas", "OutputChoice", "RowOrder", "ask_about_formulas", "follow_formula_policy", "formula_words"]

KEPT = "text begins with = + - @, a tab or a return in"
ESCAPED = "a ' was put before text that begins with = + - @, a tab or a return"


class RowOrder(StrEnum):
    """The order of the published records."""

    SHUFFLED = "shuffled"
    KEPT = "kept"


class Formulas(StrEnum):
    """What becomes of text in a text file that begins like a formula."""

    KEEP = "keep"
    ESCAPE = "escape"
    REFUSE = "refuse"


class OutputChoice(BaseModel):
    """``[output]``: the order of records, and text that begins like a formula.

    Parameters
    ----------
    order : {"shuffled", "kept"}, default "shuffled"
        Whether the records of the release stand in a new order, drawn by chance, or in that of the input.
        Take care: whoever knows the order of the input knows whose each row of a release with kept order is.
    formulas : {"keep", "escape", "refuse"}, default "keep"
        What becomes of text in CSV and TSV that a spreadsheet takes for a formula: it begins with ``= + - @``, a tab or
        a return. ``"keep"`` writes it as it is, ``"escape"`` puts a ``'`` before it, ``"refuse"`` writes nothing.
        Take care: a spreadsheet may compute or fetch what kept text names; the statement says in which columns.
    """

    model_config = ConfigDict(extra="forbid", frozen=True)

    order: RowOrder = RowOrder.SHUFFLED
    formulas: Formulas = Formulas.KEEP


def ask_about_formulas(table: pa.Table) -> str:
    """Lines for a drafted recipe, if text of the table begins like a formula; else none."""
    found = formula_cells(table)
    if not found:
        return ""
    where = f"{sum(found.values())} cells or headers of {_one_line(columns_phrase(list(found)))}"
    return (
        f"\n[output]\n# {where} begin with one of {STARTS}, a tab or a return,\n"
        "# which a spreadsheet takes for a formula.\n"
        '# DECIDE: "keep" them in a CSV as they are, "escape" them with a quote before, or "refuse" to write them?\n'
        'formulas = "keep"\n'
    )


def _one_line(text: str) -> str:
    return "".join(char if char.isprintable() else repr(char)[1:-1] for char in text)


def follow_formula_policy(
    table: pa.Table, policy: Formulas, file_format: FileFormat
) -> tuple[pa.Table, tuple[str, ...]]:
    """The table as it is written, and what the statement says of it.

    Raises
    ------
    TableError
        If the policy is to refuse such text and there is some.
    """
    found = formula_cells(table) if file_format.is_text else {}
    if not found:
        # Text with quotes before such a beginning is escaped, too, or reading could not tell.
        return (escape_formulas(table) if policy is Formulas.ESCAPE and file_format.is_text else table), ()
    where = columns_phrase(list(found))
    if policy is Formulas.REFUSE:
        raise TableError(
            f"{sum(found.values())} cells or headers of {where} begin with one of {STARTS}, a tab or a return, which a "
            'spreadsheet takes for a formula, and the recipe refuses them ([output] formulas = "refuse"). Choose '
            '"escape" or "keep", or a format other than CSV. Nothing was written'
        )
    return escape_formulas(table) if policy is Formulas.ESCAPE else table, (formula_words(policy, where),)


def formula_words(policy: Formulas, where: str) -> str:
    """What the statement says of text that begins like a formula and is written."""
    if policy is Formulas.ESCAPE:
        return f"{ESCAPED}, in {where}, so that no spreadsheet takes it for a formula; take it off"
    return f"{KEPT} {where}, and is published as it is: a spreadsheet may take it for a formula"
