"""What went wrong, in a sentence that quotes no record."""

from __future__ import annotations

from pathlib import Path

from microagg.errors import MicroaggError, SafeNote, place_of

__all__ = ["sentence_of"]


def sentence_of(error: BaseException) -> str:
    """What the page says of an error: our own messages name columns and counts; others may hold values of records."""
    notes = "".join(f" Note: {note}" for note in getattr(error, "__notes__", ()) if isinstance(note, SafeNote))
    if isinstance(error, MicroaggError):
        return f"{error}{notes}"
    if isinstance(error, OSError):
        name = Path(str(error.filename or "")).name
        return f"{error.strerror or type(error).__name__}{f': {name}' if name else ''}{notes}"
    if isinstance(error, MemoryError):
        return "there is not enough memory for this. Try fewer records, or a larger machine"
    hidden = "Its message is withheld, as it may hold values of records: MICROAGG_DEBUG=1 shows it in the terminal"
    return f"{place_of(error)}. {hidden}{notes}"
