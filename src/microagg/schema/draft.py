"""A draft of a recipe for a file: what was read, what was guessed, and the text to edit."""

from __future__ import annotations

from collections.abc import Callable, Collection
from dataclasses import dataclass
from pathlib import Path
from typing import TYPE_CHECKING

from microagg.schema.infer import Guess, draft_recipe, guess_schema
from microagg.schema.input_section import input_lines
from microagg.schema.look import Looked, look_at
from microagg.tables.frames import Frame
from microagg.tables.leading_zeros import columns_with_leading_zeros
from microagg.tables.text.dialect import Dialect

if TYPE_CHECKING:
    import pyarrow as pa

__all__ = ["Draft", "draft_for"]


@dataclass(frozen=True)
class Draft:
    """What a file looks like, and a recipe to begin with.

    Attributes
    ----------
    looked : Looked
        The table as it was read, and why so.
    frame : Frame
        The same table.
    guesses : tuple of Guess
        One for each column.
    text : str
        The recipe, with its reasons and open questions. It can be used only if `has_quasi_identifiers`.
    """

    looked: Looked
    frame: Frame
    guesses: tuple[Guess, ...]
    text: str

    @property
    def has_quasi_identifiers(self) -> bool:
        return any(guess.role == "quasi_identifier" for guess in self.guesses)


def draft_for(
    path: Path,
    dialect: Dialect,
    fixed: Collection[str] = (),
    *,
    k: int = 5,
    ask_more: Callable[[pa.Table], str] | None = None,
) -> Draft:
    """Read a file and guess what its columns are.

    Parameters
    ----------
    path : Path
    dialect : Dialect
        As far as it is known how the file is written.
    fixed : collection of str
        The keys of `dialect` that somebody chose; they are not doubted.
    k : int, default 5
    ask_more : callable, optional
        Returns lines to add to the text, from the table.
    """
    looked = look_at(path, dialect, fixed)
    frame = Frame.wrap(looked.table)
    codes = columns_with_leading_zeros(path, looked.table, looked.dialect)
    guesses = guess_schema(frame, codes=codes, notices=looked.notices)
    lines = input_lines(looked.dialect, looked.decisions, looked.notices)
    text = draft_recipe(guesses, table_name=path.name, n_records=frame.n_records, k=k, input_lines=lines)
    return Draft(looked, frame, tuple(guesses), text + (ask_more(frame.table) if ask_more is not None else ""))
