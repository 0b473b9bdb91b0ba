"""``microagg.init``: what the columns of a table seem to be, as a commented recipe to read and edit."""

from __future__ import annotations

import os
from collections.abc import Collection
from dataclasses import dataclass, field
from pathlib import Path
from typing import TYPE_CHECKING, Any

from microagg._notebook.html import html_of_rows, html_of_sections
from microagg.errors import ParameterError
from microagg.recipe.output import ask_about_formulas
from microagg.recipe.recipe import Recipe
from microagg.schema.infer import Guess, decisions_in, draft_recipe, guess_schema
from microagg.schema.input_section import input_lines
from microagg.schema.look import look_at
from microagg.tables.databases.address import is_address
from microagg.tables.databases.spool import fetched, spooled_table
from microagg.tables.frames import Frame
from microagg.tables.leading_zeros import columns_with_leading_zeros
from microagg.tables.text.dialect import STANDARD, Decision, Dialect

if TYPE_CHECKING:
    import pyarrow as pa

__all__ = ["Draft", "draft_of_file", "init"]


@dataclass(frozen=True)
class Draft:
    """A recipe that was guessed: a place to start from, not one to release with unread.

    Attributes
    ----------
    text : str
        TOML with a comment on every guess; what a person must decide is marked ``DECIDE``.
    guesses : tuple of Guess
        Column by column: `name`, `role`, `kind`, `reasons`, `decide`.
    n_records : int
    decisions : tuple of Decision
        How a file is written, as far as that was found out.
    dialect : Dialect
        The same, as readers of files take it.
    """

    text: str = field(repr=False)
    guesses: tuple[Guess, ...]
    n_records: int
    decisions: tuple[Decision, ...] = ()
    dialect: Dialect = field(default=STANDARD, repr=False)

    @property
    def has_quasi_identifiers(self) -> bool:
        """Whether anything is protected: without, it is no recipe yet."""
        return any(guess.role == "quasi_identifier" for guess in self.guesses)

    @property
    def n_to_decide(self) -> int:
        """How many decisions are marked."""
        return decisions_in(self.text)

    @property
    def recipe(self) -> Recipe:
        """The recipe as it was guessed."""
        return Recipe.loads(self.text)

    def save(self, path: str | Path) -> Path:
        """Write the text to a new file, to be edited."""
        path = Path(path)
        with path.open("x", encoding="utf-8") as file:
            file.write(self.text)
        return path

    def __str__(self) -> str:
        return self.text

    def __repr__(self) -> str:
        return f"<Draft of a recipe: {len(self.guesses)} columns guessed, {self.n_to_decide} to decide>"

    def _repr_html_(self) -> str:
        rows = [(one.name, one.role, one.kind, "DECIDE" if one.decide else "") for one in self.guesses]
        title = "Draft of a recipe: read .text, decide, then use .recipe or .save(path)"
        return html_of_sections(title, html_of_rows(("column", "role", "kind", ""), rows))


def draft_of_file(path: Path, k: int, given: Dialect = STANDARD, fixed: Collection[str] = ()) -> tuple[Draft, pa.Table]:
    """A draft for a file, and the table as it was read; the keys `fixed` of the dialect `given` are not doubted."""
    looked = look_at(path, given, fixed)
    frame = Frame.wrap(looked.table)
    codes = columns_with_leading_zeros(path, looked.table, looked.dialect)
    guesses = guess_schema(frame, codes=codes, notices=looked.notices)
    lines = input_lines(looked.dialect, looked.decisions, looked.notices)
    text = draft_recipe(guesses, table_name=path.name, n_records=frame.n_records, k=k, input_lines=lines)
    text += ask_about_formulas(frame.table)
    draft = Draft(text, tuple(guesses), frame.n_records, tuple(looked.decisions), looked.dialect)
    if draft.has_quasi_identifiers:
        Recipe.loads(text)  # a draft that could not be used would be worse than none
    return draft, looked.table


def init(table: Any, *, k: int = 5) -> Draft:
    """Guess roles, kinds and bounds of a table's columns into a commented recipe to edit; as ``microagg init``.

    Parameters
    ----------
    table : pandas.DataFrame, polars.DataFrame, pyarrow.Table or path
        Or the address of a table in a database.
    k : int, default 5
        How many records must share each published combination.

    Examples
    --------
    >>> import pyarrow as pa, microagg
    >>> draft = microagg.init(pa.table({"age": [20, 22, 61, 64] * 5, "town": ["Ulm", "Bonn"] * 10}), k=2)
    >>> draft
    <Draft of a recipe: 2 columns guessed, 2 to decide>
    >>> str(draft.recipe.attributes["age"].role)
    'quasi_identifier'
    """
    if isinstance(k, bool) or not isinstance(k, int) or k < 1:
        raise ParameterError("k must be a whole number of at least 1")
    if isinstance(table, str) and is_address(table):
        with fetched(table) as file:
            return draft_of_file(file, k)[0]
    if isinstance(table, str | os.PathLike):
        return draft_of_file(Path(table), k)[0]
    with spooled_table(Frame.wrap(table).table, "dataframe") as file:  # looked at as a file that keeps types
        return draft_of_file(file, k)[0]
